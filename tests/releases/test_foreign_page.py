"""The page for the files of another tool: from an empty benchmark to results, and closed to everybody else."""

import re
from typing import Any

from django.core.files.base import ContentFile
from django.test import Client

from annotation.models import Annotation, Campaign, Rating
from annotation.services.sheets import stages
from benchmarks.models import Benchmark, Item, Stage
from jobs.models import Job
from jobs.services import runner
from tests.module_world import built_once
from tests.personas import World
from tests.releases.foreign_samples import LABEL_STUDIO, content, needs_peers
from tests.releases.test_foreign_import import pictures_zip

pytestmark = needs_peers


@built_once
def empty(world: World) -> Benchmark:
    """A benchmark without a stage."""
    Stage.objects.filter(benchmark=world.benchmark).delete()
    return world.benchmark


def page_of(benchmark: Benchmark) -> str:
    return f"/b/{benchmark.slug}/import/other-tool/"


def choose(client: Client, benchmark: Benchmark, *paths: str, **more: Any) -> str:
    """The address of the preview."""
    files = [ContentFile(content(path), path.rpartition("/")[2]) for path in paths]
    posted = {"exports": files, "pictures": ContentFile(pictures_zip(), "pictures.zip"), **more}
    reply = client.post(page_of(benchmark), posted)
    assert reply.status_code == 302, reply.content.decode()
    return str(reply.headers["Location"])


def selected(html: str) -> dict[str, str]:
    """The form as a browser would post it."""
    posted: dict[str, str] = {}
    for name, body in re.findall(r'<select name="(\w+)".*?>(.*?)</select>', html, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', body) or re.search(r'<option value="([^"]*)"', body)
        posted[name] = chosen.group(1) if chosen else ""
    return posted


def import_all(client: Client, benchmark: Benchmark, *paths: str, **more: str) -> Job:
    """Preview, create the sheet, and import with what is proposed."""
    address = choose(client, benchmark, *paths)
    made = client.post(address, {**selected(client.get(address).content.decode()), "do": "sheet"})
    address = str(made.headers["Location"])
    html = client.get(address).content.decode()
    reply = client.post(address, {**selected(html), **more, "do": "import"})
    assert reply.status_code == 302, reply.content.decode()
    job = Job.objects.filter(kind="import_foreign").latest("pk")
    runner.run(job.pk)
    job.refresh_from_db()
    return job


def test_preview_shows_what_the_files_hold(world: World, empty: Benchmark) -> None:
    client = world.client(world.mara)
    html = client.get(choose(client, empty, *LABEL_STUDIO)).content.decode()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
    assert "Recognised as Label Studio, written by Label Studio" in text
    assert "12 · 12 with a picture" in text
    assert "34 · 44 boxes" in text
    assert "3 rotated boxes" in text
    assert "2 (12), 3 (12), 4 (10)" in re.sub(r" ([,)])", r"\1", text)
    assert "This benchmark has no stage yet." in text
    assert not Item.objects.filter(stage__benchmark=empty).exists()


def test_label_studio_goes_from_an_empty_benchmark_to_results(world: World, empty: Benchmark) -> None:
    client = world.client(world.mara)
    job = import_all(client, empty, *LABEL_STUDIO, cohort=str(world.egypt.pk))
    assert (job.state, job.result["counts"].get("error")) == ("done", None)
    stage = Stage.objects.get(benchmark=empty)
    kinds = [(field["key"], field["kind"]) for field in stage.sheet["fields"]]
    assert kinds == [("box", "box"), ("kind", "choice"), ("tags", "choice"), ("relevance", "rating"),
                     ("answer", "text"), ("place", "choice")]  # fmt: skip
    assert stage.items.count() == 12
    campaign = Campaign.objects.get(stage=stage)
    assert (campaign.state, Annotation.objects.filter(assignment__campaign=campaign, live=True).count()) == (
        "paused",
        34,
    )
    assert Rating.objects.filter(campaign=campaign, counted=True, cohort=world.egypt, field="relevance").count() == 34
    page = client.get(f"/b/{empty.slug}/campaigns/{campaign.pk}/answers/import/").content.decode()
    assert "export.json" in page  # withdrawn there, as other imports are


def test_doccano_goes_from_an_empty_benchmark_to_results(world: World, empty: Benchmark) -> None:
    client = world.client(world.mara)
    job = import_all(client, empty, "doccano/text-classification.jsonl.zip", cohort=str(world.egypt.pk))
    assert (job.state, job.result["counts"]) == ("done", {"created": 47})
    assert job.done == job.total
    stage = Stage.objects.get(benchmark=empty)
    assert (stage.display, stage.pictures, stage.items.count()) == ("question", "none", 12)


def test_mapping_can_be_changed_before_the_import(world: World, empty: Benchmark) -> None:
    client = world.client(world.mara)
    raters = ContentFile(b"user,rater,model\n2,Ana,\n3,vlm-1,yes\n", "raters.csv")
    address = choose(client, empty, *LABEL_STUDIO, raters=raters)
    made = client.post(address, {**selected(client.get(address).content.decode()), "do": "sheet"})
    address = str(made.headers["Location"])
    posted = selected(client.get(address).content.decode()) | {"cohort": str(world.egypt.pk), "rotated": "upright"}
    countries = next(name for name, value in posted.items() if value == "country")
    left_out = next(name for name, value in posted.items() if value == "place")
    again = client.post(address, {**posted, countries: "-", left_out: "-", "do": "look"})
    assert again.status_code == 200
    assert selected(again.content.decode())[countries] == "-"
    twice = client.post(address, {**posted, countries: "key", "do": "import"})
    assert twice.status_code == 400
    assert "Another column is this already." in twice.content.decode()
    client.post(address, {**posted, countries: "-", left_out: "-", "do": "import"})
    job = Job.objects.filter(kind="import_foreign").latest("pk")
    runner.run(job.pk)
    item = Item.objects.get(stage__benchmark=empty, key="item-01")
    assert (item.origin, item.context) == ("", {})
    annotations = Annotation.objects.filter(assignment__unit__item__stage__benchmark=empty, live=True)
    assert set(annotations.values_list("rater__name", "rater__kind")) == {
        ("Ana", "person"), ("vlm-1", "model"), ("label_studio:4", "person"),
    }  # fmt: skip
    assert sum(len(one.answers.get("box", ())) for one in annotations) == 44
    assert not any("place" in one.answers for one in annotations)


def test_who_answered_is_kept_when_the_sheet_is_made_and_asked_before_an_import(world: World, empty: Benchmark) -> None:
    client = world.client(world.mara)
    address = choose(client, empty, "cvat/annotations-potato.xml")
    posted = {**selected(client.get(address).content.decode()), "rater": "Ana"}
    address = str(client.post(address, {**posted, "do": "sheet"}).headers["Location"])
    html = client.get(address).content.decode()
    assert 'value="Ana"' in html
    posted = {**selected(html), "cohort": str(world.egypt.pk), "do": "import"}
    refused = client.post(address, posted)
    assert refused.status_code == 400
    assert "The file does not say who answered. Fill in a name." in refused.content.decode()
    assert client.post(address, {**posted, "do": "look"}).status_code == 200
    assert client.post(address, {**posted, "rater": "Ana"}).status_code == 302


COLUMN = re.compile(r'<label for="id_(column_\d+)"><bdi>(.*?)</bdi></label>')


def columns_of(html: str) -> dict[str, str]:
    """What each column is, by its name."""
    posted = selected(html)
    return {name: posted[field] for field, name in COLUMN.findall(html)}


def test_what_columns_are_is_kept_when_the_sheet_is_made(world: World, empty: Benchmark) -> None:
    """By their names: another text puts the columns into another order."""
    client = world.client(world.mara)
    address = choose(client, empty, "csv/comma-utf8.csv")
    html = client.get(address).content.decode()
    before = columns_of(html)
    assert (before["Caption (EN)"], before["País"], before["WTF?!"]) == ("text", "origin", "")
    changed = {**before, "Caption (EN)": "", "País": "-", "WTF?!": "text"}
    chosen = {field: changed[name] for field, name in COLUMN.findall(html)}
    posted = {**selected(html), **chosen, "cohort": str(world.egypt.pk), "do": "sheet"}
    html = client.get(str(client.post(address, posted).headers["Location"])).content.decode()
    assert columns_of(html) == changed
    assert selected(html)["cohort"] == str(world.egypt.pk)
    other = choose(client, empty, "csv/comma-utf8.csv")
    assert columns_of(client.get(other).content.decode()) == before, "another upload has its own"


def test_others_do_not_see_the_page_nor_its_files(world: World, empty: Benchmark) -> None:
    address = choose(world.client(world.mara), empty, *LABEL_STUDIO)
    for person in (world.stranger, world.annotators[0], world.rival):
        assert world.client(person).get(page_of(empty)).status_code == 404
        assert world.client(person).get(address).status_code == 404
        assert world.client(person).post(address, {"do": "import"}).status_code == 404
    assert world.client(None).get(page_of(empty)).status_code == 302


def test_an_upload_opens_in_its_own_benchmark_only(world: World, empty: Benchmark) -> None:
    address = choose(world.client(world.mara), empty, *LABEL_STUDIO)
    other = Benchmark.objects.exclude(pk=empty.pk).filter(team=empty.team).first()
    tampered = address.replace("files=", "files=x")
    targets = [tampered] + ([address.replace(empty.slug, other.slug)] if other else [])
    for target in targets:
        reply = world.client(world.owner).get(target)
        assert reply.status_code == 302
        assert reply.headers["Location"].endswith("/import/other-tool/")


def test_files_that_no_tool_wrote_are_refused_with_a_sentence(world: World, empty: Benchmark) -> None:
    client = world.client(world.mara)
    reply = client.post(page_of(empty), {"exports": [ContentFile(b"a,b\n1,2\n", "table.csv")]})
    page = client.get(reply.headers["Location"], follow=True).content.decode()
    assert "These are not the files of a tool that is known." in page
    assert client.post(page_of(empty), {}).status_code == 400
    raters = ContentFile(b"name\nx\n", "raters.csv")
    reply = client.post(page_of(empty), {"exports": [ContentFile(b"{}", "a.json")], "raters": raters})
    assert "must name the columns user and rater" in reply.content.decode()


TABLE = "key,text,annotator,rating,kind\n" + "".join(
    f"k{number},a text about number {number},ann{rater},{number % 3 + 1},{'food' if number % 2 else 'cloth'}\n"
    for number in range(6) for rater in (1, 2)
)  # fmt: skip


def sheet_of(*keys: str) -> dict[str, Any]:
    fields = [{"key": key, "label": {"en": key}, "kind": "text", "config": {"long": True, "max_length": 100},
               "required": False} for key in keys]  # fmt: skip
    return {**stages.BLANK, "display": "question", "pictures": "none", "sheet": {"fields": fields}}


def test_the_stage_that_fits_is_proposed_and_another_one_gets_its_own_proposal(world: World, empty: Benchmark) -> None:
    fits = stages.create(empty, "From a table", world.mara, like=sheet_of("kind", "rating", "note"))
    other = stages.create(empty, "From a table", world.mara, like=sheet_of("rating", "remark"))
    client = world.client(world.mara)
    address = client.post(page_of(empty), {"exports": [ContentFile(TABLE.encode(), "t.csv")]})["Location"]
    html = client.get(address).content.decode()
    posted = selected(html) | {"shown_stage": str(fits.pk), "cohort": str(world.egypt.pk)}
    assert (posted["stage"], posted["question_0"], posted["question_1"]) == (str(fits.pk), "rating", "kind")
    assert "From a table (stage 1)" in html and "From a table (stage 2)" in html
    assert f'name="shown_stage" value="{fits.pk}"' in html
    moved = {**posted, "stage": str(other.pk), "do": "look"}
    again = client.post(address, moved)
    chosen = selected(again.content.decode())
    assert (again.status_code, chosen["question_0"], chosen["question_1"]) == (200, "rating", "-")
    back = {**chosen, "question_1": "remark", "shown_stage": str(other.pk), "stage": str(fits.pk), "do": "look"}
    chosen = selected(client.post(address, back).content.decode())
    assert chosen["question_1"] == "kind", "the other stage has no such field, so it is proposed again"
    by_hand = selected(client.post(address, {**moved, "question_0": "-", "question_1": "rating"}).content.decode())
    assert (by_hand["question_0"], by_hand["question_1"]) == ("-", "rating"), "what a person chose stays"
    unseen = client.post(address, {**moved, "do": "import"})
    assert unseen.status_code == 200 and "Another stage was chosen." in unseen.content.decode()
    assert not Job.objects.filter(kind="import_foreign").exists()
