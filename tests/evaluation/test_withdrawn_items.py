"""Ratings of a withdrawn item enter no number, and pages of numbers notice that it was withdrawn or restored."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from annotation.queries.answers import watermark
from annotation.services.review import reviews
from benchmarks.models import Item, Stage
from evaluation.metrics.proportions import share_of
from evaluation.rendering.report import Cell, Row
from evaluation.services import snapshots
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import Table
from evaluation.tables.table_inputs import TableInputs
from people.services.raters import rater_of
from tests.annotation.chain.factories import (
    GOOD,
    QUESTION,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    items,
    process_derivations,
)
from tests.evaluation.sample_tables import tables_are
from tests.personas import World
from tests.releases.test_export import download_files

DERIVED = {"kind": "promote", "from": ["ask"], "params": {"text": "question"}}


def build_share(inputs: TableInputs) -> Table:
    """The share of good answers: of coded ratings, and counted again from the whole answers."""
    observed = inputs.observed("good", "good", ("person",))
    codes = [observed.codes[code] for code in observed.code.tolist()]
    whole = [row.answer for row in inputs.answers("good", "good", ("person",))]
    rows = [
        Row(
            name, (Cell(share_of(values.count("1"), len(values), method="share"), text=""), Cell(text=str(len(values))))
        )
        for name, values in (("Codes", codes), ("Answers", [str(one) for one in whole]))
    ]
    return inputs.table(corner="From", columns=["Good", "n"], rows=rows)


SHARE = TableSpec("share", "Table 1", "Good questions", "Ratings.", build_share)


class Ratings:
    """Three reviewed questions of bia, each rated by two people of Egypt; tarek disagrees about the first."""

    def __init__(self, world: World) -> None:
        self.world = world
        Stage.objects.filter(benchmark=world.benchmark).delete()
        ask = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review")
        self.good = a_stage(world.benchmark, "good", GOOD, derivation=DERIVED, staffing="others")
        items(ask, 3)
        campaign = create_open_campaign(ask, world.brazil)
        written = [
            answer(claim_sheet(rater_of(world.bia), campaign, world.brazil), question=f"{n}?", answer="Tea")
            for n in range(3)
        ]
        self.decisions = [reviews.decide(one.pk, world.reviewer, "accept", timezone.now()) for one in written]
        process_derivations()
        self.campaign = create_open_campaign(self.good, world.egypt, target=2)
        self.first = self.item_of(written[0].pk)
        for user in (world.nour, world.tarek):
            while work := claim_sheet(rater_of(user), self.campaign, world.egypt):
                disagrees = user == world.tarek and work.unit.item_id == self.first.pk
                answer(work, good="0" if disagrees else "1")

    def item_of(self, annotation: int) -> Item:
        return Item.objects.get(stage=self.good, sources__annotation=annotation)

    def reject_first(self) -> None:
        review = self.decisions[0]
        reviews.undo(review.pk, self.world.reviewer, timezone.now())
        reviews.decide(
            review.annotation_id, self.world.reviewer, "reject", timezone.now(), reason="unclear", comment="No"
        )
        process_derivations()

    def accept_first(self) -> None:
        annotation = self.decisions[0].annotation
        rejection = annotation.reviews.get(undone_at=None)
        reviews.undo(rejection.pk, self.world.reviewer, timezone.now())
        reviews.decide(annotation.pk, self.world.reviewer, "accept", timezone.now())
        process_derivations()

    def read(self, rest: str) -> Any:
        reply = self.world.client(self.world.mara).get(f"/b/{self.world.benchmark.slug}/{rest}")
        assert reply.status_code == 200, rest
        return reply

    def agreement(self) -> tuple[int, int, float]:
        """Rated units, units asked and percent agreement, as the agreement page's JSON gives them."""
        [row] = self.read("agreement.json?stage=good&measure=percent").json()["rows"]
        [cell] = row["cells"]
        return cell["rated"]["n_units"], cell["n_units_asked"], cell["estimates"]["percent"]["value"]

    def table(self) -> list[tuple[str, str]]:
        """Each row's label and its number of ratings, as the table's JSON gives them."""
        return [(row["label"], str(row["cells"][1]["shown"])) for row in self.read("tables/share.json").json()["rows"]]


@pytest.fixture
def ratings(world: World) -> Iterator[Ratings]:
    with tables_are(world.benchmark, [SHARE]):
        yield Ratings(world)


def test_ratings_of_a_withdrawn_item_leave_agreement_and_tables_and_return_with_it(ratings: Ratings) -> None:
    before = ratings.agreement(), ratings.table()
    assert before[0] == (3, 3, pytest.approx(2 / 3)) and before[1] == [("Codes", "6"), ("Answers", "6")]
    ratings.reject_first()
    assert ratings.agreement() == (2, 2, 1.0) and ratings.table() == [("Codes", "4"), ("Answers", "4")]
    ratings.accept_first()
    assert (ratings.agreement(), ratings.table()) == before


def test_people_have_no_more_answers_counted_in_results_than_the_results_have(ratings: Ratings) -> None:
    def counts() -> list[list[str]]:
        shown = ratings.read(f"people/?cohort={ratings.world.egypt.pk}&stage=good").context["table"]
        rows = [row for group in shown["groups"] for row in group["rows"]]
        heads = [str(column["label"]) for column in shown["columns"]]
        places = [heads.index(head) for head in ("Done", "Counted in results") if head in heads]
        return [[row["cells"][place]["text"] for place in places] for row in rows]

    assert counts() == [["3"], ["3"]], "one column says both"
    ratings.reject_first()
    assert counts() == [["3", "2"], ["3", "2"]]


def test_an_export_keeps_ratings_of_a_withdrawn_item_and_marks_them(ratings: Ratings) -> None:
    ratings.reject_first()
    world = ratings.world
    files = download_files(world.client(world.mara), world, stage=ratings.good.pk)
    rows = [json.loads(line) for line in files["ratings.jsonl"].decode().splitlines()]
    assert sorted((row["withdrawn"], row["counted"]) for row in rows) == [(False, True)] * 4 + [(True, True)] * 2


@pytest.mark.parametrize("stored", [False, True])
def test_a_page_of_numbers_notices_a_withdrawn_item_and_its_return(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    if stored:
        monkeypatch.setattr(snapshots.get_or_compute, "__kwdefaults__", {"threshold": 0})
    for change in (ratings.reject_first, ratings.accept_first):
        mark = watermark(ratings.world.benchmark)
        live = f"agreement/live/?stage=good&seen={mark}"
        if not stored:
            client = ratings.world.client(ratings.world.mara)
            assert client.get(f"/b/{ratings.world.benchmark.slug}/{live}").status_code == 204
        ratings.read("tables/share/?fresh=1")
        change()
        assert watermark(ratings.world.benchmark) > mark
        assert ratings.read(live).status_code == 200
        assert ("have changed since" in ratings.read("tables/share/").content.decode()) == stored
