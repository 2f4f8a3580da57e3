"""Campaigns, runs, releases, exports and events in Python: what they hold, and what becomes of lost connections."""

import hashlib
import re
import sys
import zipfile
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

import emic_client
from annotation.models import Annotation, Campaign, Outcome, RuleVersion, Unit
from benchmarks.models import Item
from benchmarks.services.benchmarks import create_from_recipe
from emic_client import resources
from emic_client.downloads import download
from emic_client.events import Events
from emic_client.runs import Run
from papers.valueground.survey.models import Survey
from tests.annotation.chain.factories import RULE
from tests.api.test_resolutions import ANOTHER, Adjudication
from tests.client.conftest import Connect
from tests.client.downloaded import check_sums
from tests.client.test_connection import TOKEN, Script, ok, problem
from tests.contracts import openapi
from tests.evaluation.data import NOON
from tests.importing import draw_pictures
from tests.personas import World

NAMES = {
    resources.CampaignRecord: "Campaign", resources.CohortProgress: "CohortProgressLine", resources.RunRecord: "Run",
    resources.RunPlan: "RunPlanReply", resources.RunCost: "RunCost", resources.ReleaseRecord: "ReleaseDetail",
    resources.ReleaseFile: "ReleaseFile", resources.ExportRecord: "Export", resources.Event: "Event",
    resources.TeamRecord: "Team", resources.Cohort: "Cohort", resources.PlanRecord: "Plan",
    resources.PlanPreview: "PlanPreview", resources.PlanCost: "PlanCost", resources.WebhookRecord: "Webhook",
    resources.DeliveryRecord: "Delivery", resources.ReviewBatchRecord: "ReviewBatchLine",
    resources.ResolutionRecord: "ResolutionLine",
    resources.StageInput: "StageInputLine", resources.SecondReviews: "SecondReviewProgress",
    resources.ServiceAccount: "ServiceAccountLine", resources.ServiceToken: "ServiceTokenDone",
}  # fmt: skip
SHAPES = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "array": "list"}
FORMATS = {"date-time": "datetime", "date": "date"}


def shape(member: Any) -> str:
    """The type that Python gives to a member of the description, without what is in lists and objects."""
    for several in ("oneOf", "allOf"):
        if several in member:
            kinds = [shape(one) for one in member[several]]
            return " | ".join(sorted(kinds, key=lambda kind: kind == "None"))
    kinds = member.get("type", "object")
    names = [_name(member, kind) for kind in (kinds if isinstance(kinds, list) else [kinds])]
    return " | ".join(names)


def _name(member: Any, kind: str) -> str:
    return "None" if kind == "null" else FORMATS.get(member.get("format", ""), SHAPES.get(kind, "dict"))


def test_the_records_are_those_of_the_description() -> None:
    """After a member was added to the API: add it to client/emic_client/resources.py."""
    schemas = openapi.current()["components"]["schemas"]
    for record, name in NAMES.items():
        expected = {member: shape(described) for member, described in schemas[name]["properties"].items()}
        types = {field.name: re.sub(r"\[.*\]", "", str(field.type)) for field in fields(record)}
        types |= {name: expected[name] for name in types if types[name] == "Any" and name in expected}  # of any kind
        assert {member: kind for member, kind in types.items() if kind != f"{expected.get(member)} | None"} == {
            member: kind for member, kind in expected.items() if types.get(member) != f"{kind} | None"
        }, name
        assert record.__dataclass_params__.frozen, name  # type: ignore[attr-defined]


# ---- what a live site does -------------------------------------------------------------------------------------------


def test_a_release_is_built_compared_and_brought_whole(
    world: World, campaign: Campaign, connect: Connect, worker: None, tmp_path: Path
) -> None:
    benchmark = connect(world.mara, "write", "export").benchmarks.get(world.benchmark.slug)
    release = benchmark.releases.create("1.0.0", formats=["csv"], images="names").build().wait()
    assert (release.state, release.data.rows["relevance/ratings"]) == ("ready", 8)
    assert "has no licence" in str(release.data.errors)
    listed = benchmark.releases.list()[0]
    assert listed.data.errors is None is listed.data.warnings, "nobody looked, which is not that there are none"
    assert listed.refresh().data.errors == release.data.errors
    with pytest.raises(emic_client.Forbidden):
        release.publish(confirmed=True)
    folder = release.download(tmp_path / "one")
    assert check_sums(folder) == len(release.files()) - 1
    changed = folder / "csv" / "relevance" / "ratings.csv"
    changed.write_text("mine")
    assert check_sums(release.download(folder)) == len(release.files()) - 1, "a changed file is brought again"
    assert (
        benchmark.releases.get("1.0.0").id == benchmark.releases.get(release.id).id == benchmark.releases.list()[0].id
    )
    with pytest.raises(emic_client.NotFound):
        benchmark.releases.get("2.0.0")
    second = benchmark.releases.create(formats=["csv"], images="names").build().wait()
    assert second.version == "1.1.0" and second.diff("1.0.0")["tables"][0]["added"] == 0
    with pytest.raises(emic_client.Refused, match="Choose a higher one"):
        benchmark.releases.create("1.0.0")


def test_an_export_is_written_and_brought(
    world: World, campaign: Campaign, connect: Connect, worker: None, tmp_path: Path
) -> None:
    benchmark = connect(world.mara, "export").benchmarks.get(world.benchmark.slug)
    path = benchmark.exports.create("relevance", format="jsonl").wait().download(tmp_path)
    with zipfile.ZipFile(path) as archive:
        assert any(name.endswith("/ratings.jsonl") for name in archive.namelist())
    assert [export.data.format for export in benchmark.exports] == ["jsonl"]


def test_a_campaign_is_made_and_driven(world: World, connect: Connect) -> None:
    world.add_items(2)
    benchmark = connect(world.mara, "write").benchmarks.get(world.benchmark.slug)
    campaign = benchmark.campaigns.create("relevance", cohorts={"Egypt": 2}, name="First")
    assert campaign.open().state == "open" and campaign.data.cohorts[0]["label"] == "Egypt"
    assert [(row.label, row.wanted, row.submitted) for row in campaign.progress()] == [("Egypt", 4, 0)]
    assert campaign.pause().state == "paused" and campaign.resume().state == "open"
    assert [cohort["label"] for cohort in campaign.add_cohort(world.brazil.pk, 1).data.cohorts] == ["Egypt", "Brazil"]
    assert campaign.close().state == "closed" == benchmark.campaigns.get(campaign.id).state
    with pytest.raises(emic_client.Refused):
        campaign.open()
    with pytest.raises(emic_client.Refused, match="no such cohort"):
        benchmark.campaigns.create("relevance", cohorts={"Atlantis": 2})


def test_pictures_come_out_of_a_zip_and_only_those_that_are_missing(
    world: World, connect: Connect, worker: None, tmp_path: Path
) -> None:
    pictures = draw_pictures(["a.png", "b.png"])
    with zipfile.ZipFile(tmp_path / "pictures.zip", "w") as archive:
        for name, data in pictures.items():
            archive.writestr(name, data)
        archive.writestr("__MACOSX/._a.png", b"x")
    (tmp_path / "captions.csv").write_text("img_file,Image ID,country\na.png,1,Brazil\nb.png,2,Egypt\n")
    items = connect(world.mara, "write", "export").benchmarks.get(world.benchmark.slug).items
    puts: list[str] = []
    send = items._connection.request

    def counted(method: str, path: str, **options: Any) -> Any:
        puts.extend([path] * (method == "PUT"))
        return send(method, path, **options)

    items._connection.request = counted  # type: ignore[method-assign]
    for number in (2, 0):
        puts.clear()
        job = items.upload(
            tmp_path / "pictures.zip", tmp_path / "captions.csv", mapping={"file": "img_file", "key": "Image ID"}
        )
        assert job.wait().state == "done" and len(puts) == number
    assert [(item.key, item.origin) for item in items()] == [("1", "Brazil"), ("2", "Egypt")], (
        "own names keep their role"
    )
    with zipfile.ZipFile(tmp_path / "whole.zip", "w") as archive:
        archive.writestr("manifest.csv", "file,key,country\nc.png,3,Egypt\n")
        archive.writestr("c.png", draw_pictures(["x", "y", "c.png"])["c.png"])
    puts.clear()
    assert items.upload(tmp_path / "whole.zip").wait().counts == {"created": 1} and not puts


def test_teams_and_their_cohorts_are_listed(world: World, connect: Connect) -> None:
    emic = connect(world.team_admin, "admin")
    team = emic.teams.get("nile-lab")
    assert (team.name, [cohort.label for cohort in team.cohorts]) == ("Nile Lab", ["Egypt", "Brazil"])
    assert team.cohorts.create("Iran", country="IR", languages=["fa"]).id in [cohort.id for cohort in team.cohorts]
    with pytest.raises(emic_client.NotFound):
        connect(world.stranger, "admin").teams.get("nile-lab")


# ---- without a site --------------------------------------------------------------------------------------------------


def feed(script: Script, **options: Any) -> Any:
    return Events(script.connection()).follow(**options)


def page(*numbers: int, after: str, more: bool = False) -> httpx.Response:
    results = [{"id": number, "verb": "answer.submitted", "at": "2026-03-01T12:00:00Z"} for number in numbers]
    return ok(results=results, after=after, more=more)


def test_events_are_followed_from_position_to_position() -> None:
    script = Script(page(1, 2, after="b", more=True), page(3, after="c"), page(after="c"), page(4, after="d"))
    events = iter(feed(script, after="a", benchmark="breads", verb="answer.submitted"))
    assert [next(events).id for _event in range(4)] == [1, 2, 3, 4]
    assert [request.url.params["after"] for request in script.requests] == ["a", "b", "c", "c"]
    assert script.requests[0].url.params["scope"] == "benchmark:breads" and script.waits == [2, 2]


def test_following_ends_after_a_quiet_time_and_keeps_its_position() -> None:
    times = iter([0.0, 1.0, 3.0, 8.0])
    script = Script(page(1, after="b"), page(after="c"), page(after="c"))
    events = feed(script, after="a", timeout=5, clock=lambda: next(times))
    assert [event.id for event in events] == [1] and events.after == "c"
    with pytest.raises(emic_client.Gone):
        next(iter(feed(Script(problem(410, code="feed-restarted")), after="old")))


def part(data: bytes, status: int = 200, cut: int | None = None) -> httpx.Response:
    """A reply that breaks off after `cut` bytes."""

    def body() -> Any:
        yield data[:cut]
        if cut is not None:
            raise httpx.ReadError("gone")

    return httpx.Response(status, content=body())


def test_a_lost_download_goes_on_where_it_was(tmp_path: Path) -> None:
    data = b"0123456789" * 10
    digest = hashlib.sha256(data).hexdigest()
    script = Script(part(data, cut=40), httpx.ConnectError("gone"), part(data[40:], 206, cut=10), part(data[50:], 206))
    target = download(script.connection(), "/file", tmp_path / "x.csv", digest)
    assert target.read_bytes() == data and [path.name for path in tmp_path.iterdir()] == ["x.csv"]
    assert [request.headers.get("Range") for request in script.requests] == [
        None, "bytes=40-", "bytes=40-", "bytes=50-",
    ]  # fmt: skip
    assert script.requests[1].headers["If-Range"] == f'"{digest}"'
    assert download(script.connection(), "/file", target, digest) == target and len(script.requests) == 4
    (tmp_path / f"z.csv.{digest[:12]}.part").write_bytes(data)  # whole, and the program ended before it was renamed
    past = Script(problem(416, code="range-not-satisfiable"))
    assert download(past.connection(), "/file", tmp_path / "z.csv", digest).read_bytes() == data
    whole = Script(part(data, cut=40), part(data))  # another version since: the site sends the whole
    assert download(whole.connection(), "/file", tmp_path / "y.csv", digest).read_bytes() == data


def test_what_is_not_as_announced_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(emic_client.BrokenStream):
        download(Script(part(b"other")).connection(), "/file", tmp_path / "x.csv", "0" * 64)
    with pytest.raises(emic_client.Unreachable):
        download(
            Script(*(part(b"abc", cut=0) for _try in range(6))).connection(), "/file", tmp_path / "x.csv", "0" * 64
        )
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "a\\..\\x", "C:/x", ""])
def test_a_release_writes_nothing_outside_its_folder(path: str, tmp_path: Path) -> None:
    files = {"files": [{"path": path, "sha256": "0" * 64, "bytes": 1, "rows": None, "media_type": "", "address": ""}]}
    release = emic_client.Release(Script(ok(**files)).connection(), "/b/", {"id": 1, "version": "1.0.0"})
    with pytest.raises(ValueError, match="no path inside a release"):
        release.download(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_release_goes_to_the_hub_by_the_users_own_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, Any]] = []

    class HfApi:
        def create_repo(self, repo_id: str, **options: Any) -> str:
            calls.append(("create", options))
            return f"https://hub.test/datasets/{repo_id}"

        def upload_folder(self, **options: Any) -> None:
            calls.append(("upload", sorted(path.name for path in Path(options["folder_path"]).iterdir())))
            calls.append(("patterns", options["allow_patterns"]))

        def create_tag(self, repo_id: str, **options: Any) -> None:
            calls.append(("tag", options["tag"]))

    hub = ModuleType("huggingface_hub")
    hub.HfApi = HfApi  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    digest = hashlib.sha256(b"card").hexdigest()
    files = {
        "files": [{"path": "README.md", "sha256": digest, "bytes": 4, "rows": None, "media_type": "text/markdown"}]
    }
    script = Script(ok(**files), part(b"card"))
    release = emic_client.Release(script.connection(), "/b/", {"id": 1, "version": "1.0.0", "state": "published"})
    assert release.push_to_hub("lab/breads", private=True) == "https://hub.test/datasets/lab/breads"
    assert calls == [
        ("create", {"repo_type": "dataset", "exist_ok": True, "private": True}),
        ("upload", ["README.md"]), ("patterns", ["README.md"]), ("tag", "1.0.0"),
    ]  # fmt: skip
    calls.clear()
    (tmp_path / ".env").write_text("SECRET=1")  # a folder of the person's own
    release = emic_client.Release(
        Script(ok(**files), part(b"card")).connection(), "/b/", {"id": 1, "version": "1.0.0", "state": "published"}
    )
    release.push_to_hub("lab/breads", folder=tmp_path)
    assert calls[2] == ("patterns", ["README.md"])


def test_a_run_that_did_not_end_well_is_an_exception() -> None:
    script = Script(ok(id=1, model="m", state="failed", stopped_because="Every call failed."))
    with pytest.raises(emic_client.RunFailed, match=r"is failed\. Every call failed\."):
        Run(script.connection(), "/runs/", {"id": 1}).wait()
    with pytest.raises(emic_client.RunFailed, match="Start it first"):
        Run(Script(ok(id=1, model="m", state="draft", stopped_because="")).connection(), "/runs/", {"id": 1}).wait()
    script = Script(ok(id=1, model="m", state="paused", stopped_because="budget"))
    assert Run(script.connection(), "/runs/", {"id": 1}).wait(strict=False).state == "paused"


def test_no_object_shows_the_token() -> None:
    connection = Script().connection()
    shown = [
        emic_client.Release(connection, "/b/", {"id": 1, "version": "1.0.0"}), Run(connection, "/runs/", {"id": 1}),
        emic_client.Campaign(connection, "/c/", {"id": 1}), emic_client.Export(connection, "/b/", {"id": 1}),
        Events(connection), emic_client.Team(connection, {"slug": "lab"}),
    ]  # fmt: skip
    assert not [thing for thing in shown if TOKEN in repr(thing)]


def test_what_changed_is_read_apart_from_what_is_gone(
    world: World, campaign: Campaign, connect: Connect, worker: None
) -> None:
    benchmark = connect(world.mara, "export").benchmarks.get(world.benchmark.slug)
    ratings = benchmark.ratings(counted="all")
    assert len(list(ratings)) == 8 and ratings.changed_after
    assert list(benchmark.ratings(changed_after=ratings.changed_after)) == []
    first = Annotation.objects.order_by("pk")[0]
    Annotation.objects.filter(pk=first.pk).update(counted=False, uncounted_because="excluded")
    later = benchmark.ratings(changed_after=ratings.changed_after)
    assert [(row.annotation, row.counted) for row in later] == [(first.pk, False)] and later.gone == []
    Annotation.objects.filter(pk=first.pk).update(uncounted_because="consent_withdrawn")
    again = benchmark.ratings(changed_after=later.changed_after)
    assert again.to_pandas().empty
    assert [(row["annotation"], row["gone"]) for row in again.gone] == [(first.pk, "consent_withdrawn")]


def test_items_outcomes_and_decisions_are_read_by_what_changed(
    world: World, campaign: Campaign, connect: Connect, worker: None
) -> None:
    benchmark = connect(world.mara, "export").benchmarks.get(world.benchmark.slug)
    items = benchmark.items()
    assert len(list(items)) > 1
    assert list(benchmark.items(changed_after=items.changed_after)) == []
    Item.objects.filter(pk=world.items[0].pk).update(concept="Bread")
    assert [row.concept for row in benchmark.items(changed_after=items.changed_after)] == ["Bread"]
    unit, rule = Unit.objects.all()[0], RuleVersion.objects.create(stage=world.stage, number=1, definition=RULE)
    Outcome.objects.create(unit=unit, campaign=campaign, rule_version=rule, state="accepted", answers=1, at=NOON)
    outcomes = benchmark.outcomes()
    assert [row.state for row in outcomes] == ["accepted"]
    Outcome.objects.get().delete()
    later = benchmark.outcomes(changed_after=outcomes.changed_after)
    assert list(later) == [] and [row["gone"] for row in later.gone] == ["not_decided"]


def test_an_item_in_dispute_is_settled_changed_and_read(world: World, connect: Connect) -> None:
    asked = Adjudication(world)
    assert asked.third.user is not None
    own = connect(asked.third.user, "answer").benchmarks.resolutions(world.benchmark.slug)
    claimed = own.claim(asked.scene.campaigns["settling"].pk)
    assert claimed["id"] == asked.assignment and claimed["sheet"]["fields"]
    first = own.settle(claimed["id"], ANOTHER)
    assert first is not None and first.data.reason == "both are off"
    second = first.change({"decision": "undecided", "reason": "two of them"})
    assert second is not None and (second.data.version, second.data.answer) == (2, None)
    with pytest.raises(emic_client.Conflict):
        first.change(ANOTHER)
    reader = connect(world.mara, "export").benchmarks.get(world.benchmark.slug).resolutions
    assert [row.id for row in reader.list()] == [second.id] and reader.get(first.id).data.ended_at
    assert second.withdraw().data.ended_at and [row.data.version for row in reader] == [3]


def test_a_stage_names_the_runs_it_judges_and_its_second_reviews(
    world: World, campaign: Campaign, connect: Connect, worker: None
) -> None:
    benchmark = connect(world.mara, "write", "export").benchmarks.get(world.benchmark.slug)
    [stage] = benchmark.stages.list()
    assert (stage.key, stage.inputs(), stage.second_reviews().percent) == ("relevance", [], 0.0)
    for act in (lambda: stage.choose_inputs(["none"]), lambda: stage.set_second_reviews(10)):
        with pytest.raises(emic_client.Conflict):
            act()
    world.benchmark.stages.update(acceptance="by_review")
    assert benchmark.stages.get("relevance").set_second_reviews(10).percent == 10.0
    with pytest.raises(emic_client.NotFound):
        benchmark.stages.get("../x")


def test_rows_of_a_plugin_are_read_as_the_site_sends_them(world: World, connect: Connect) -> None:
    benchmark = create_from_recipe(world.team, "valueground", "ValueGround", "valueground", world.owner)
    Survey.objects.create(benchmark=benchmark, key="wvs", version=1, name="Values")
    client = connect(world.owner, "export")
    (survey,) = client.benchmarks.get("valueground").plugin_rows("valueground", "surveys")
    assert (survey["key"], survey["version"], survey["name"]) == ("wvs", 1, "Values")
    with pytest.raises(emic_client.NotFound):
        list(client.benchmarks.get(world.benchmark.slug).plugin_rows("valueground", "surveys"))
