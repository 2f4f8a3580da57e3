"""The page *Targets* of a team: its members see the sets, those who work on a benchmark change them."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from benchmarks.models import CohortLabel, Item, LabelSet
from benchmarks.services.label_sets import create_typed, ensure
from people.models import User
from tests.personas import World

pytestmark = pytest.mark.django_db
HOME = "/teams/nile-lab/targets/"


def text_of(reply: Any) -> str:
    return str(reply.content.decode())


def save(world: World, **data: Any) -> Any:
    return world.client(world.mara).post(f"{HOME}new/", {"kind": "cultures"} | data)


def test_a_member_sees_the_sets_and_a_researcher_adds_a_built_in_one(world: World) -> None:
    client = world.client(world.mara)
    page = text_of(client.get(HOME))
    assert "No set is in use yet" in page and "Countries of the world" in page and "Countries of GlobalRG" in page
    assert HOME in text_of(client.get("/teams/nile-lab/")), "reached from the team's page"
    reply = client.post(HOME, {"add": "countries"})
    row = LabelSet.objects.get()
    assert reply.status_code == 302 and reply.headers["Location"] == f"{HOME}{row.pk}/"
    page = text_of(client.get(reply.headers["Location"]))
    assert "Egypt" in page and "African-Islamic" in page and "countries@1" in page and "ISO 3166-1" in page
    assert client.post(HOME, {"add": "no-such-set"}).status_code == 404
    listed = text_of(client.get(HOME))
    assert "No set is in use yet" not in listed and listed.count("Countries of the world") == 1, (
        "named once, with its number"
    )


def test_labels_are_typed_one_per_line(world: World) -> None:
    reply = save(world, name="Faiths", kind="religions", lines="Sufism\nCandomblé\n")
    row = LabelSet.objects.get()
    assert reply.headers["Location"] == f"{HOME}{row.pk}/" and row.kind == "religions"
    page = text_of(world.client(world.mara).get(f"{HOME}{row.pk}/"))
    assert "2 labels" in page and "Candomblé" in page


def test_a_file_is_imported_and_the_same_file_makes_no_new_version(world: World) -> None:
    def send(text: str, **more: Any) -> Any:
        upload = SimpleUploadedFile("labels.csv", text.encode(), "text/csv")
        return world.client(world.mara).post(f"{HOME}new/", {"kind": "countries", "file": upload} | more, follow=True)

    assert "Version 1 is stored" in text_of(send("label,country\nGeorgia,GE\n", name="Caucasus"))
    assert "Version 1 has the same content" in text_of(send("label,country\nGeorgia,GE\n", label_set="caucasus"))
    page = text_of(send("label,country\nGeorgia,GE\nArmenia,AM\n", label_set="caucasus"))
    assert "Version 2 is stored" in page and "Versions" in page
    assert list(LabelSet.objects.order_by("version").values_list("version", flat=True)) == [1, 2]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"name": "", "lines": "A"}, "Give the new set a name"),
        ({"name": "Lands", "lines": "A\nA"}, "occurs twice"),
        ({"name": "Lands", "lines": ""}, "There is no label"),
        ({"name": "Countries", "lines": "A"}, "belongs to a built-in set"),
        ({"name": "Lands", "label_set": "of-another-team", "lines": "A"}, "valid choice"),
    ],
)
def test_invalid_labels_are_refused_with_the_reason(world: World, data: dict[str, str], words: str) -> None:
    create_typed(world.other_team, "Of another team", "A", world.rival)
    reply = save(world, **data)
    assert reply.status_code == 400 and words in text_of(reply)
    assert not LabelSet.objects.filter(team=world.team).exists()


def test_a_file_with_a_fault_names_the_row(world: World) -> None:
    upload = SimpleUploadedFile("labels.csv", b"label,country\nA,Ruritania\n", "text/csv")
    reply = save(world, name="Lands", file=upload)
    assert reply.status_code == 400 and "Row 2" in text_of(reply) and "is no country" in text_of(reply)


def test_a_cohort_gets_its_label(world: World) -> None:
    row, _new = create_typed(world.team, "Lands", "Egypt\nBrazil", world.mara)
    client, egypt = world.client(world.mara), row.labels.get(key="egypt")
    to = f"{HOME}{row.pk}/cohorts/"
    assert client.post(to, {f"cohort-{world.egypt.pk}": egypt.pk}).status_code == 302
    assert CohortLabel.objects.get().label == egypt
    page = text_of(client.get(f"{HOME}{row.pk}/"))
    assert f'<option value="{egypt.pk}" selected>' in page
    assert client.post(to, {f"cohort-{world.egypt.pk}": "999999"}).status_code == 404, "a label of no set"
    assert client.post(to, {f"cohort-{world.egypt.pk}": ""}).status_code == 302
    assert not CohortLabel.objects.exists()


def test_the_page_says_which_stages_use_a_set(world: World) -> None:
    row = ensure(world.team, "countries")
    client = world.client(world.mara)
    assert "uses this set" in text_of(client.get(f"{HOME}{row.pk}/"))
    [item] = world.add_items(1)
    Item.objects.filter(pk=item.pk).update(context={"label_set": "Countries of the world"})
    page = text_of(client.get(f"{HOME}{row.pk}/"))
    assert "Relevance rating" in page and world.benchmark.name in page
    unseen = text_of(world.client(world.reviewer).get(f"{HOME}{row.pk}/"))
    assert "Relevance rating" in unseen, "a reviewer sees the benchmark"


def test_a_hostile_label_is_shown_as_text(world: World) -> None:
    row, _new = create_typed(world.team, "<b>Lands", "<script>alert(1)</script>", world.mara)
    page = text_of(world.client(world.mara).get(f"{HOME}{row.pk}/"))
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page and "<b>Lands" not in page


@pytest.mark.parametrize("who", ["stranger", "rival", "nour", "manager"])
def test_nobody_else_sees_or_changes_them(world: World, who: str) -> None:
    row, _new = create_typed(world.team, "Lands", "Egypt", world.mara)
    user: User = getattr(world, who)
    client = world.client(user)
    for path in (HOME, f"{HOME}new/", f"{HOME}labels.csv", f"{HOME}{row.pk}/"):
        assert client.get(path).status_code == 404, path
    for path in (HOME, f"{HOME}new/", f"{HOME}{row.pk}/cohorts/"):
        assert client.post(path, {"add": "countries", "name": "X", "lines": "Y"}).status_code == 404, path
    assert LabelSet.objects.count() == 1


def test_a_reviewer_sees_the_sets_and_changes_none(world: World) -> None:
    row, _new = create_typed(world.team, "Lands", "Egypt", world.mara)
    client = world.client(world.reviewer)
    page = text_of(client.get(f"{HOME}{row.pk}/"))
    assert "Egypt" in page and ">Save<" not in page and "Add a set" not in text_of(client.get(HOME))
    assert client.get(f"{HOME}new/").status_code == 404
    assert client.post(HOME, {"add": "countries"}).status_code == 404
    assert client.post(f"{HOME}{row.pk}/cohorts/", {}).status_code == 404


def test_a_set_of_another_team_is_not_found(world: World) -> None:
    theirs, _new = create_typed(world.other_team, "Lands", "Egypt", world.rival)
    client = world.client(world.mara)
    assert client.get(f"{HOME}{theirs.pk}/").status_code == 404
    assert client.post(f"{HOME}{theirs.pk}/cohorts/", {}).status_code == 404


def test_the_sample_file_is_downloaded(world: World) -> None:
    reply = world.client(world.mara).get(f"{HOME}labels.csv")
    assert b"Georgia" in b"".join(reply.streaming_content) and "attachment" in reply.headers["Content-Disposition"]
