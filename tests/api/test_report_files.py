"""Reports, tables and figures by REST: each form as its page gives it, and nothing sent twice."""

import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from annotation.models import Campaign, Tally
from benchmarks.models import LabelSet
from evaluation.models import Snapshot
from evaluation.services import snapshots
from jobs.connections import broker
from people.models import Cohort
from people.services.raters import save_details
from tests.api.clients import program
from tests.api.test_numbers import address, problem, without_time
from tests.api.test_protocol import send
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.evaluation.figures.study import study
from tests.evaluation.sample_tables import SMALL, tables_are
from tests.evaluation.test_selection import by_a_model
from tests.evaluation.test_table_pages import EMPTY
from tests.personas import World

PAIRS = [  # address by REST, address of the page's file
    ("agreement.csv", "agreement.csv"), ("agreement.tex", "agreement.tex"),
    ("reports/agreement/", "agreement.json"), ("reports/agreement.csv", "agreement.csv"),
    ("reports/questions.csv", "agreement/questions.csv"), ("reports/questions.tex", "agreement/questions.tex"),
    ("reports/models/", "models.json"), ("reports/models.csv", "models.csv"),
    ("reports/judge/", "judge.json"), ("reports/judge.csv", "judge.csv"),
    ("reports/reviewers.csv", "review/agreement.csv"),
    ("tables/small.csv", "tables/small.csv"), ("tables/small.tex", "tables/small.tex"),
]  # fmt: skip
FIGURES = ["figures/distribution.csv", "figures/distribution.svg", "figures/distribution.png"]


@pytest.fixture
def campaign(world: World) -> Iterator[Campaign]:
    world.add_items(20)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural[:5], {world.nour: "11223", world.tarek: "12233"})
    with tables_are(world.benchmark, [SMALL, EMPTY]):
        yield campaign


def without_moments(text: str) -> str:
    """A CSV without when it was computed."""
    lines = [line.split(",") for line in text.splitlines()]
    if "computed_at" not in lines[0]:
        return text
    place = len(lines[0]) - lines[0].index("computed_at")
    return "\n".join(",".join(line[:-place] + line[len(line) - place + 1 :]) for line in lines)


def test_each_form_is_the_file_of_its_page(world: World, campaign: Campaign) -> None:
    client, browser = program(world.mara), world.client(world.mara)
    for rest, page in PAIRS:
        cache.clear()
        reply, file = client.get(address(world, rest)), browser.get(f"/b/{world.benchmark.slug}/{page}")
        assert (reply.status_code, file.status_code) == (200, 200), (rest, reply.content)
        assert reply["Content-Type"] == file["Content-Type"], rest
        if rest.endswith("/"):
            assert without_time(reply.json()) == without_time(file.json()), rest
        else:
            assert without_moments(reply.content.decode()) == without_moments(file.content.decode()), rest
            assert reply["Content-Disposition"].startswith("attachment"), rest


def test_figures_are_the_files_of_the_page(world: World) -> None:
    study(world)
    client, browser = program(world.mara), world.client(world.mara)
    for rest in FIGURES:
        reply, file = client.get(address(world, rest)), browser.get(f"/b/{world.benchmark.slug}/{rest}")
        assert reply.status_code == 200, reply.content
        assert (reply.content, reply["Content-Type"]) == (file.content, file["Content-Type"]), rest
        assert reply["Content-Security-Policy"].startswith("default-src 'none'")
    drawn = client.get(address(world, "figures/distribution.png")).content
    assert drawn[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">I", drawn[16:20])[0] > 1000
    data = client.get(address(world, "figures/distribution/")).json()
    assert data["alt"] and data["words"] and len(data["rows"][0]) == len(data["columns"])
    lines = client.get(address(world, "figures/")).json()["figures"]
    assert client.get(next(line["address"] for line in lines if line["key"] == "distribution")).status_code == 200


def test_who_has_a_report_is_answered_304_until_something_changes(world: World, campaign: Campaign) -> None:
    client = program(world.mara)
    addresses = ["agreement/", "agreement.csv", "reports/models/", "reports/models.csv", "tables/small/",
                 "tables/small.tex", "figures/distribution.svg", "figures/distribution/"]  # fmt: skip
    tags = {rest: client.get(address(world, rest))["ETag"] for rest in addresses}
    assert len(set(tags.values())) == len(tags)
    for rest, tag in tags.items():
        cache.clear()
        again = client.get(address(world, rest), headers={"if-none-match": tag})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag), rest
        other = client.get(address(world, rest) + "?counted=all", headers={"if-none-match": tag})
        assert other.status_code == 200, f"{rest}: another selection is another report"
    table(campaign, world.egypt, of_condition(world.items, "natural")[5:7], {world.nour: "15", world.tarek: "25"})
    for rest, tag in tags.items():
        cache.clear()
        assert client.get(address(world, rest), headers={"if-none-match": tag}).status_code == 200, rest


def test_a_new_name_of_a_cohort_is_a_change(world: World, campaign: Campaign) -> None:
    client = program(world.mara)
    tags = {rest: client.get(address(world, rest))["ETag"] for rest in ("agreement/", "tables/small/")}
    Cohort.objects.filter(pk=world.egypt.pk).update(label="Lower Egypt")
    for rest, tag in tags.items():
        assert client.get(address(world, rest), headers={"if-none-match": tag}).status_code == 200, rest


@pytest.mark.parametrize(
    ("rest", "status", "parameter"),
    [
        ("reports/none/", 404, None),
        ("reports/models.tex", 404, None),
        ("tables/none.csv", 404, None),
        ("figures/none.svg", 404, None),
        ("tables/empty.csv", 409, None),
        ("agreement.csv?measure=mean", 400, "measure"),
        ("agreement/?cohrt=1", 400, "cohrt"),
        ("reports/judge/?truth=gold", 400, "truth"),
        ("reports/reviewers/?stage=main", 400, "stage"),
        ("tables/small.tex?decimals=9", 400, "decimals"),
        ("tables/small/?rows=9", 400, "rows"),
        ("figures/distribution.png?colour=red", 400, "colour"),
    ],
)
def test_what_is_not_there_is_a_problem_in_every_form(
    world: World, campaign: Campaign, rest: str, status: int, parameter: str | None
) -> None:
    for accept in ("*/*", "application/json"):
        reply = program(world.mara).get(address(world, rest), headers={"accept": accept})
        assert (reply.status_code, problem(reply).get("parameter")) == (status, parameter)


def test_files_are_for_those_who_may_see_the_pages(world: World, campaign: Campaign) -> None:
    for rest in [rest for rest, _page in PAIRS] + FIGURES:
        cache.clear()
        clients = [program(world.stranger), Client(), program(world.mara, "answer")]
        assert [problem(client.get(address(world, rest)))["status"] for client in clients] == [404, 401, 403], rest
    refused = program(world.team_admin).get(address(world, "reports/reviewers/"))
    assert problem(refused)["status"] == 404, "they do not review"
    assert program(world.reviewer).get(address(world, "reports/reviewers/")).json() == {"stages": []}


def test_a_kept_report_is_computed_again_when_asked(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(broker.current_app, "send_task", lambda name, args, **_more: sent.append((name, args)))
    client = program(world.mara)
    for rest in ("agreement/refresh/", "tables/small/refresh/"):
        assert send(client, "POST", address(world, rest)).json() == {"requested": False}, "nothing is kept"
    Tally.objects.filter(cohort=campaign.cohorts.order_by("pk")[0], shard=0).update(submitted=snapshots.THRESHOLD)
    for rest in ("agreement/", "tables/small/"):
        client.get(address(world, rest))
    assert Snapshot.objects.count() == 2
    cache.clear()
    for rest in ("agreement/refresh/", "tables/small/refresh/"):
        reply = send(client, "POST", address(world, rest))
        assert (reply.status_code, reply.json()) == (202, {"requested": True})
    assert [args[1] for _name, args in sent] == ["agreement", "table small"]
    wrong = send(client, "POST", address(world, "tables/small/refresh/?rows=1"))
    assert problem(wrong)["parameter"] == "rows"
    monkeypatch.setattr(snapshots, "MOST_ASKED", 0)
    assert int(send(client, "POST", address(world, "agreement/refresh/"))["Retry-After"]) == snapshots.WHILE
    for user in (world.reviewer, world.stranger):
        refused = send(program(user), "POST", address(world, "agreement/refresh/"))
        assert problem(refused)["status"] == 404


def test_a_report_is_listed_with_its_forms(world: World) -> None:
    lines = program(world.mara).get(address(world, "reports/")).json()["reports"]
    assert {line["key"]: line["forms"] for line in lines} == {
        "agreement": ["json", "csv", "tex"], "questions": ["json", "csv", "tex"], "models": ["json", "csv"],
        "judge": ["json", "csv"], "reviewers": ["json", "csv"],
    }  # fmt: skip
    refused = program(world.mara).get(lines[0]["address"])
    assert (refused.status_code, json.loads(refused.content)["detail"]) == (409, "No campaign has been opened yet.")


def test_what_a_team_says_of_models_and_cultures_is_a_change_of_a_table(world: World, campaign: Campaign) -> None:
    """The ratings of the model came in a file: no run of it says that something has changed."""
    client = program(world.mara)
    by_a_model(campaign, world, {of_condition(world.items, "natural")[0]: "1"}, name="Seer 7")
    changes: dict[str, Callable[[], object]] = {
        "details": lambda: save_details(world.team, "Seer 7", {"released": "2024-05"}, world.mara),
        "label set": lambda: LabelSet.objects.create(team=world.team, key="lands", name="Lands", version=1),
    }
    for name, change in changes.items():
        tag = client.get(address(world, "tables/small/"))["ETag"]
        change()
        reply = client.get(address(world, "tables/small/"), headers={"if-none-match": tag})
        assert reply.status_code == 200, name
