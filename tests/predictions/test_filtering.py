"""Precision and recall against a limit, labels of people by majority, draws by score; look-alikes are proposals."""

import math
from pathlib import Path

import numpy as np
import pytest

from annotation.models import Rating
from benchmarks.models import ItemFact
from benchmarks.rules.derivations import sample as drawing
from benchmarks.rules.derivations.contract import DerivationError, DerivationSource, Result
from benchmarks.rules.filters import FilterRule
from predictions.models import Entry
from predictions.queries.calibration_labels import labelled_scores
from predictions.queries.results import vectors_of
from predictions.retrieval import calibration, scoring
from predictions.services.encoders import near_duplicates
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.shapes import a_collection, a_run
from tests.samples import assign, open_campaign

SCORE_RULE = FilterRule("score", "fact", {"key": "clip_score", "least": 23})
SCORES, RIGHT = [10.0, 20.0, 23.0, 25.0, 30.0, 31.0], [False, True, False, True, True, True]


def test_precision_and_recall_by_hand() -> None:
    """At 23: kept 23, 25, 30, 31, of which 3 are right: 3/4. Right are 20, 25, 30, 31, of which 3 are kept: 3/4."""
    one = calibration.point(SCORES, RIGHT, 23)
    assert (one.kept, one.right, one.precision, one.recall, one.f1) == (4, 3, 0.75, 0.75, 0.75)
    nothing = calibration.point(SCORES, RIGHT, 99)
    assert (nothing.kept, nothing.precision, nothing.recall, nothing.f1) == (0, None, 0.0, None)
    assert calibration.point([1.0], [False], 0).recall is None


def test_precision_and_recall_have_wilsons_interval_and_their_counts() -> None:
    """8 of 10: 0.4902 to 0.9433, as statistics handbooks have it."""
    found = calibration.wilson(8, 10)
    assert found is not None and [round(end, 4) for end in found] == [0.4902, 0.9433]
    assert calibration.wilson(0, 0) is None and calibration.wilson(5, 5) == (pytest.approx(0.5655, abs=1e-4), 1.0)
    one = calibration.point(SCORES, RIGHT, 30)  # kept 30, 31, both right; right are 4
    assert (one.kept, one.right, one.relevant) == (2, 2, 4)
    assert one.precision_ends == calibration.wilson(2, 2) and one.recall_ends == calibration.wilson(2, 4)


def test_the_curve_has_every_score_and_recall_only_falls() -> None:
    points = calibration.curve(SCORES, RIGHT)
    assert [one.threshold for one in points] == SCORES
    assert [one.recall for one in points] == [1, 1, 0.75, 0.75, 0.5, 0.25]
    best = calibration.best(SCORES, RIGHT)
    assert best is not None and best.threshold == 20  # 4 of 5 and all: F1 8/9
    many = calibration.curve(np.arange(1000.0), np.arange(1000) > 500, most=41)
    assert len(many) == 41 and many[0].threshold == 0 and many[-1].threshold == 999
    assert calibration.curve([], []) == [] and calibration.best([], []) is None


def test_the_best_is_of_all_limits_of_two_decimals() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=400).round(9).tolist() + [0.25] * 20
    right = [bool(one) for one in rng.random(420) < 1 / (1 + np.exp(-np.array(scores)))]
    best = calibration.best(scores, right)
    limits = [math.floor(round(score * 100, 6)) / 100 for score in scores]
    every = [calibration.point(scores, right, limit) for limit in limits]
    assert best is not None and best == max(every, key=lambda one: (one.f1 or 0, one.threshold))
    assert best.f1 is not None and best.f1 > max(one.f1 or 0 for one in calibration.curve(scores, right, 21))
    assert calibration.exact_text(best.threshold) == f"{best.threshold:.2f}".rstrip("0")
    assert calibration.thresholds([0.29, 23.456, 23.4567, -1.005]).tolist() == [-1.01, 0.29, 23.45]
    assert calibration.exact_text(23) == "23"


@built_once
def labelled(world: World) -> None:
    """Six scored items; two people say 1 to 5 of five of them, and are divided over one."""
    items = world.add_items(6)
    for item, score in zip(items, SCORES, strict=True):
        ItemFact.objects.create(item=item, key="clip_score", value=score, source="m", version="run 1")
    opened = open_campaign(world, world.egypt)
    for number, slot in enumerate(opened.slots.order_by("position")[:5]):
        assign(opened, world.nour, slot, code="5" if RIGHT[number] else "1")
        assign(opened, world.tarek, slot, code="1" if number == 4 else "4" if RIGHT[number] else "2")


@pytest.mark.django_db
def test_people_say_what_is_right_by_majority_and_the_divided_are_left_out(world: World, labelled: None) -> None:
    asked = (world.stage, SCORE_RULE, world.stage, "relevance", {"4", "5"})
    labels = labelled_scores(*asked)
    assert list(labels.scores) == SCORES[:4] and list(labels.right) == RIGHT[:4]
    assert (labels.people, labels.tied, labels.unlabelled) == (2, 1, 1)
    Rating.objects.filter(rater__user=world.tarek).update(counted=False)
    alone = labelled_scores(*asked)
    assert (len(alone.items), alone.people, alone.tied) == (5, 1, 0)


@pytest.mark.django_db
def test_an_upper_limit_keeps_what_is_small_and_another_end_leaves_out_what_it_drops(
    world: World, labelled: None
) -> None:
    upper = FilterRule("score", "fact", {"key": "clip_score", "most": 20})
    labels = labelled_scores(world.stage, upper, world.stage, "relevance", {"1", "2"})
    assert list(labels.scores) == [-10, -20, -23, -25]
    assert calibration.point(labels.scores, labels.right, -20).kept == 2
    both = FilterRule("score", "fact", {"key": "clip_score", "least": 5, "most": 23})
    labels = labelled_scores(world.stage, both, world.stage, "relevance", {"4", "5"})
    assert list(labels.scores) == SCORES[:3] and labels.beyond == 2


def test_a_draw_may_follow_a_fact() -> None:
    results = [
        Result(DerivationSource(number, "s", f"i{number:03}", facts={"clip_score": 40.0 if number % 4 == 0 else 5.0}))
        for number in range(400)
    ]
    params = {"n": 100, "weight": "item.facts.clip_score"}
    drawing.check(params)
    drafts = drawing.derive(results, params, 7)
    high = sum(int(draft.key.removeprefix("i")[:3]) % 4 == 0 for draft in drafts)
    assert len(drafts) == 100 and high > 55  # of the 100 with eight times the weight; chance is 25
    assert [one.key for one in drafts] == [one.key for one in drawing.derive(results[::-1], params, 7)]
    with pytest.raises(DerivationError):
        drawing.check({"n": 1, "weight": "item.facts."})


@pytest.mark.django_db
def test_look_alikes_are_found_inside_a_concept_with_examples_on_both_sides(world: World, models_root: Path) -> None:
    collection = a_collection(world, 3)
    first = Entry.objects.filter(collection=collection).order_by("pk")[0]
    for name in ("copy-a", "copy-b"):
        Entry.objects.create(collection=collection, key=name, image=first.image, about=first.about)
    Entry.objects.create(collection=collection, key="elsewhere", image=first.image, about={"concept": "other"})
    run = a_run(world, collection, "embedding")
    proposals = near_duplicates.search(run, 0.9999)
    same = sorted([first.key, "copy-a", "copy-b"])
    assert {(one.first.key, one.second.key) for one in proposals.pairs} >= {(same[0], same[1]), (same[1], same[2])}
    assert proposals.pairs[0].similarity == pytest.approx(1) and same in [sorted(group) for group in proposals.groups]
    assert all("elsewhere" not in group for group in proposals.groups)
    assert all(one.similarity < 0.9999 for one in proposals.below) and proposals.below
    assert proposals.concepts == 5 and proposals.compared == 3 * 66 + 91  # 3 shapes of 12, one of 14, one alone
    entries, vectors = vectors_of(run)
    units = scoring.normalise_rows(vectors)
    plain = sum(
        units[a] @ units[b] >= 0.9 - 1e-12
        for a in range(len(entries)) for b in range(a)
        if entries[a].about["concept"] == entries[b].about["concept"]
    )  # fmt: skip
    assert len(near_duplicates.search(run, 0.9).pairs) == plain


@pytest.mark.django_db
def test_however_alike_all_are_the_page_holds_so_many_pairs_and_says_so(
    world: World, models_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run(world, a_collection(world, 3), "embedding")
    whole = near_duplicates.search(run, -1)
    assert not whole.cut and not whole.left_out and whole.found == whole.compared == len(whole.pairs)
    monkeypatch.setattr(near_duplicates, "BLOCK", 30)
    assert near_duplicates.search(run, -1) == whole, "in whatever pieces it is looked at"
    monkeypatch.setattr(near_duplicates, "MOST_PAIRS", 5)
    cut = near_duplicates.search(run, -1)
    assert cut.cut and cut.found == whole.found and list(cut.pairs) == list(whole.pairs[:5])
    assert list(cut.above) == list(whole.above), "those next to the threshold are no part of the best"
    assert {key for group in cut.groups for key in group} == {one.key for pair in cut.pairs for one in pair.shown}
    monkeypatch.setattr(near_duplicates, "MOST_COMPARED", 70)
    few = near_duplicates.search(run, 0.9)
    assert few.compared <= 70 and few.left_out > 0
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/encoders/{run.pk}/near-duplicates/?threshold=-1")
    text = page.content.decode()
    assert page.context["threshold"] == "0.5" and "were not compared" in text and "from 0.5 to 1" in text
    assert page.context["found"].cut and "a higher threshold shows all" in text


def test_as_many_entries_are_compared_as_there_is_time_for() -> None:
    for pairs, entries in ((0, 1), (1, 2), (2, 2), (3, 3), (15_000_000, 5477), (-5, 1)):
        assert near_duplicates._max_entries(pairs) == entries
