"""One press creates the cohorts that a recipe names, each with a link; who may press, and who reads who may."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from benchmarks.models import Benchmark
from benchmarks.recipes.registry import recipe
from people.models import Cohort, Invitation
from tests.forms import inputs_of
from tests.personas import World

pytestmark = pytest.mark.django_db
PAGE = "/b/questions/cohorts/"
NEW = 10  # of the recipe's eleven countries, the team has Brazil


@pytest.fixture
def benchmark(world: World) -> Benchmark:
    """CulturalVQA, of which mara is the owner. The team has Egypt and Brazil."""
    form = {"recipe": "culturalvqa", "name": "Questions", "slug": "questions", "team": world.team.pk, "question": ""}
    assert world.client(world.mara).post("/benchmarks/new/", form).status_code == 302
    return Benchmark.objects.get(slug="questions")


def page(client: Client, path: str = PAGE) -> str:
    reply = client.get(path)
    assert reply.status_code == 200
    return reply.content.decode()


def labels_of(html: str) -> list[str]:
    return [value for name, value in inputs_of(html) if name == "labels"]


def create(client: Client, labels: list[str]) -> str:
    reply = client.post(PAGE, {"labels": labels}, follow=True)
    assert reply.status_code == 200
    return reply.content.decode()


def links_in(html: str) -> list[str]:
    return re.findall(r'value="http://testserver(/invitation/[^"]+)"', html)


def test_one_press_creates_all_cohorts_with_languages_zone_and_a_link_each(world: World, benchmark: Benchmark) -> None:
    admin = world.client(world.team_admin)
    offered = labels_of(page(admin))
    assert len(offered) == NEW and "Brazil" not in offered
    html = create(admin, offered)
    assert f"{NEW} cohorts created" in html and "The links are shown only once." in html
    india = Cohort.objects.get(team=world.team, label="India")
    assert (india.languages, india.time_zone, india.country) == (["hi", "en"], "Asia/Kolkata", "IN")
    assert india.names["ar"] == "الهند" and india.name == "India"
    assert Cohort.objects.get(team=world.team, label="Iran").direction == "rtl"
    links = links_in(html)
    assert len(links) == len(set(links)) == NEW
    assert Invitation.objects.filter(cohort__team=world.team).count() == NEW


def test_who_wants_two_of_many_cohorts_begins_with_none_selected(world: World, benchmark: Benchmark) -> None:
    admin = world.client(world.team_admin)
    assert 'href="?select=none"' in page(admin) and 'href="?select=all"' in page(admin)
    assert labels_of(page(admin, f"{PAGE}?select=none")) == []
    assert len(labels_of(page(admin, f"{PAGE}?select=all"))) == NEW
    reply = admin.post(f"{PAGE}?select=none", {"labels": ["India", "Iran"]})
    assert "2 cohorts created" in reply.text
    assert "select=none" not in page(world.client(world.mara)), "who creates none has none to select"


def test_a_link_of_the_page_lets_one_person_join_its_cohort(world: World, benchmark: Benchmark) -> None:
    link = links_in(create(world.client(world.team_admin), ["India"]))[0]
    world.client(world.tarek).post(link, {"agree": "on"})
    assert world.tarek.cohort_memberships.filter(cohort__label="India", left_at=None).exists()
    world.client(world.caio).post(link, {"agree": "on"})
    assert not world.caio.cohort_memberships.filter(cohort__label="India").exists()


def test_pressing_twice_creates_nothing_more_and_existing_cohorts_stay_as_they_are(
    world: World, benchmark: Benchmark
) -> None:
    Cohort.objects.filter(pk=world.brazil.pk).update(time_zone="America/Manaus", languages=["pt", "es"])
    admin, all_labels = world.client(world.team_admin), [spec.label for spec in recipe("culturalvqa").cohorts]
    assert len(links_in(create(admin, all_labels))) == NEW
    before = list(Cohort.objects.order_by("pk").values())
    again = create(admin, all_labels)
    assert "Nothing was created." in again and not links_in(again)
    assert list(Cohort.objects.order_by("pk").values()) == before
    assert Invitation.objects.count() == NEW
    world.brazil.refresh_from_db()
    assert (world.brazil.time_zone, world.brazil.languages) == ("America/Manaus", ["pt", "es"])
    assert not links_in(page(admin)), "the links are on no later page"


def test_some_of_the_cohorts_can_be_chosen_and_nothing_chosen_is_refused(world: World, benchmark: Benchmark) -> None:
    admin = world.client(world.team_admin)
    refused = admin.post(PAGE, {})
    assert refused.status_code == 400 and "Select at least one cohort." in refused.content.decode()
    assert admin.post(PAGE, {"labels": ["Atlantis"]}).status_code == 400
    create(admin, ["India", "China"])
    assert set(Cohort.objects.filter(team=world.team).values_list("label", flat=True)) == {
        "Egypt", "Brazil", "India", "China"
    }  # fmt: skip


def test_researchers_create_cohorts_only_where_the_team_allows_it(world: World, benchmark: Benchmark) -> None:
    mara, admin = world.client(world.mara), world.client(world.team_admin)
    html = page(mara)
    assert "These people can create the cohorts" in html and "Admin" in html and not labels_of(html)
    assert mara.post(PAGE, {"labels": ["India"]}).status_code == 404
    team_page = f"/teams/{world.team.slug}/"
    assert mara.post(f"{team_page}settings", {"researchers_make_cohorts": "on"}).status_code == 404
    assert admin.post(f"{team_page}settings", {"researchers_make_cohorts": "on"}).status_code == 302
    assert 'name="researchers_make_cohorts"' in page(admin, team_page)
    assert "Save settings" not in page(mara, team_page)
    assert "checked" in page(admin, team_page).split('name="researchers_make_cohorts"')[1].split(">")[0]

    assert len(links_in(create(mara, ["India"]))) == 1
    india = Cohort.objects.get(label="India")
    assert page(mara, f"/cohorts/{india.pk}/invite"), "who created the cohort invites more people"
    assert mara.get(f"/cohorts/{world.egypt.pk}/invite").status_code == 404, "the others stay with their managers"

    admin.post(f"{team_page}settings", {})
    assert mara.post(PAGE, {"labels": ["China"]}).status_code == 404


def own_cohorts(*rows: tuple[str, str, str], count: int = 2, **more: str) -> dict[str, str]:
    """What a browser sends of the form of a benchmark whose recipe names no cohort."""
    fields = {
        f"cohorts-{at}-{name}": value
        for at, row in enumerate(rows)
        for name, value in zip(("label", "country", "languages"), row, strict=True)
    }
    return (
        {"cohorts-TOTAL_FORMS": str(max(2, len(rows))), "cohorts-INITIAL_FORMS": "0", "count": str(count)}
        | fields
        | more
    )


def test_several_cohorts_of_an_own_benchmark_are_created_in_one_form_that_leads_to_the_chain(world: World) -> None:
    admin, path = world.client(world.team_admin), f"/b/{world.benchmark.slug}/cohorts/"
    world.benchmark.roles.create(user=world.team_admin, name="researcher")
    html = page(admin, path)
    assert html.count('name="cohorts-0-label"') == html.count('name="cohorts-1-label"') == 1
    more = admin.post(path, own_cohorts(("Kenya", "KE", "sw en"), ("", "", ""), more="1")).content.decode()
    assert 'name="cohorts-2-label"' in more and 'value="Kenya"' in more, "a row more, and nothing is lost"
    assert not Cohort.objects.filter(label="Kenya").exists()
    reply = admin.post(path, own_cohorts(("Kenya", "KE", "sw en"), ("Diaspora", "", "ar"), ("", "", ""), count=3))
    html = reply.content.decode()
    assert "2 cohorts created" in html and len(set(links_in(html))) == 6
    assert "Open the whole chain" in html, "the way back"
    kenya, diaspora = Cohort.objects.get(label="Kenya"), Cohort.objects.get(label="Diaspora")
    assert (kenya.country, kenya.languages, kenya.direction) == ("KE", ["sw", "en"], "ltr")
    assert (diaspora.country, diaspora.direction) == ("", "rtl")
    assert (kenya.time_zone, diaspora.time_zone) == ("Africa/Nairobi", "UTC")
    assert "Kenya" in page(admin, path) and not links_in(page(admin, path))


def test_a_row_of_a_country_alone_is_named_after_it_unless_the_team_has_that_cohort(world: World) -> None:
    admin, path = world.client(world.team_admin), f"/b/{world.benchmark.slug}/cohorts/"
    world.benchmark.roles.create(user=world.team_admin, name="researcher")
    assert "1 cohort created" in admin.post(path, own_cohorts(("", "KE", "sw"))).text
    assert Cohort.objects.get(label="Kenya").country == "KE"
    again = admin.post(path, own_cohorts(("", "KE", "")))
    assert again.status_code == 400 and "The team has a cohort with this label." in again.text
    nameless = admin.post(path, own_cohorts(("", "", "sw")))
    assert nameless.status_code == 400 and "Write a label, or choose a country." in nameless.text


def test_a_row_has_names_in_other_languages_and_a_zone_that_is_never_guessed(world: World) -> None:
    admin, path = world.client(world.team_admin), f"/b/{world.benchmark.slug}/cohorts/"
    form = own_cohorts(("", "CL", "es"), **{"cohorts-0-names": "ar: تشيلي\npt: Chile"})
    refused = admin.post(path, form)
    assert refused.status_code == 400 and "Chile has several time zones. Choose one." in refused.text
    assert "تشيلي" in refused.text and not Cohort.objects.filter(label="Chile").exists(), "nothing is lost"
    assert "1 cohort created" in admin.post(path, form | {"cohorts-0-time_zone": "America/Santiago"}).text
    cohort = Cohort.objects.get(label="Chile")
    assert cohort.time_zone == "America/Santiago" and cohort.names == {"ar": "تشيلي", "pt": "Chile"}
    wrong = own_cohorts(("Kenya", "KE", ""), **{"cohorts-0-names": "Quênia"})
    assert "is not “code: name”" in admin.post(path, wrong).text
    wrong = own_cohorts(("Kenya", "KE", ""), **{"cohorts-0-time_zone": "Mars/Olympus"})
    assert admin.post(path, wrong).status_code == 400 and not Cohort.objects.filter(label="Kenya").exists()


def test_a_country_of_a_recipe_brings_its_zone_and_names_unless_the_row_says_others(world: World) -> None:
    admin, path = world.client(world.team_admin), f"/b/{world.benchmark.slug}/cohorts/"
    rows = own_cohorts(("", "AU", "en"), ("Sertão", "BR", "pt"), **{"cohorts-1-time_zone": "America/Fortaleza"})
    assert "2 cohorts created" in admin.post(path, rows).text
    australia, backland = Cohort.objects.get(label="Australia"), Cohort.objects.get(label="Sertão")
    assert australia.time_zone == "Australia/Sydney" and australia.names["ar"] == "أستراليا"
    assert backland.time_zone == "America/Fortaleza" and backland.names == {}, "a region is not its country"


def test_rows_that_cannot_be_cohorts_are_named_and_nothing_is_created(world: World) -> None:
    admin, path = world.client(world.team_admin), f"/b/{world.benchmark.slug}/cohorts/"
    wrong = {
        "at least one cohort": own_cohorts(("", "", ""), ("", "", "")),
        "is written twice": own_cohorts(("Kenya", "KE", "sw"), ("Kenya", "", "")),
        "with this label": own_cohorts(("Kenya", "KE", "sw"), ("Egypt", "", "")),
        "is not a language code": own_cohorts(("Kenya", "KE", "Swahili!"), ("", "", "")),
    }
    for words, form in wrong.items():
        reply = admin.post(path, form)
        assert reply.status_code == 400 and words in reply.content.decode(), words
    assert not Cohort.objects.filter(label="Kenya").exists() and not Invitation.objects.exists()
    assert world.client(world.mara).post(path, own_cohorts(("Kenya", "KE", "sw"))).status_code == 404
    assert "These people can create the cohorts" in page(world.client(world.mara), path)


def test_a_reviewer_reads_who_can_create_them_and_strangers_learn_nothing(world: World, benchmark: Benchmark) -> None:
    world.team.researchers_make_cohorts = True
    world.team.save()
    benchmark.roles.create(user=world.reviewer, name="reviewer")
    reviewer = world.client(world.reviewer)
    html = page(reviewer)
    assert "Mara" in html and "Admin" in html and not labels_of(html)
    assert reviewer.post(PAGE, {"labels": ["India"]}).status_code == 404
    for person in (world.stranger, world.rival, world.nour, world.manager):
        client = world.client(person)
        assert client.get(PAGE).status_code == client.post(PAGE, {"labels": ["India"]}).status_code == 404
    assert not Cohort.objects.filter(label="India").exists()


def test_the_invitations_end_after_fourteen_days(world: World, benchmark: Benchmark) -> None:
    create(world.client(world.team_admin), ["India"])
    left = Invitation.objects.get().expires_at - timezone.now()
    assert timedelta(days=13) < left <= timedelta(days=14)
