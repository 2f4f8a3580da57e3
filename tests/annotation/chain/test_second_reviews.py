"""A second, blind decision on drawn answers, and a third person's where the two differ."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import (
    Annotation,
    Assignment,
    Campaign,
    ItemContributor,
    Review,
    ReviewBatch,
    SecondReview,
    SecondReviewShare,
)
from annotation.queries.second_reviews import SecondProgress, second_progress, waiting_conflicts, waiting_seconds
from annotation.services.queue import recount
from annotation.services.review import reviews, second_draws, second_reviews
from annotation.services.review.reviews import ReviewRefused
from benchmarks.models import Item, Role
from people.models import TeamMember, User
from people.services.raters import rater_of
from releases.rows.decisions import REVIEWS
from releases.rows.kinds import RowScope
from tests.annotation.chain.factories import ASKED, QUESTION, a_stage, live_items, process_derivations
from tests.annotation.chain.written_answers import write_answers
from tests.personas import World

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]


class Scene:
    """Four answers of Nour; all first decisions are drawn for a second one."""

    def __init__(self, world: World, percent: float = 100) -> None:
        self.world = world
        self.stage = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review")
        self.later = a_stage(world.benchmark, "reply", {"fields": QUESTION["fields"][1:]}, derivation=ASKED)
        self.campaign, self.answers = write_answers(self.stage, world.egypt, {rater_of(world.nour): 4})
        second_draws.set_share(self.stage, percent, 1, world.owner, timezone.now())

    @property
    def base(self) -> str:
        return f"/b/{self.world.benchmark.slug}/review/"

    def first(self, place: int, decision: str, reviewer: User | None = None) -> Review:
        return reviews.decide(
            self.answers[place].pk, reviewer or self.world.reviewer, decision, timezone.now(), reason="rules"
        )

    def turn(self, place: int, name: str, decision: str, reviewer: User) -> None:
        second_reviews.decide_round(self.answers[place].pk, name, reviewer, decision, timezone.now(), reason="unclear")

    def state(self, place: int) -> str:
        return Assignment.objects.get(pk=self.answers[place].assignment_id).state

    def waiting(self, user: User) -> tuple[int, int]:
        """Second reviews and conflicts that wait for a person."""
        benchmark = self.world.benchmark
        return waiting_seconds(benchmark, user).count(), waiting_conflicts(benchmark, user).count()


@pytest.fixture
def scene(world: World) -> Any:
    yield Scene(world)
    assert list(recount.iter_differences()) == []


def refused(deed: Callable[[], object]) -> str:
    with pytest.raises(ReviewRefused) as error:
        deed()
    return error.value.reason


@pytest.mark.parametrize(
    ("of_answer", "decision", "reason"),
    [
        ({"live": False, "counted": False, "uncounted_because": "superseded"}, "accept", "newer"),
        ({"live": False, "counted": False, "uncounted_because": "taken_back"}, "accept", "gone"),
        ({"counted": False, "uncounted_because": "excluded"}, "accept", "gone"),
        ({}, "return", "closed"),
        ({}, "accept", ""),
        ({}, "reject", ""),
    ],
)
def test_a_second_decision_is_refused_where_its_answer_ended(
    world: World, of_answer: dict[str, Any], decision: str, reason: str
) -> None:
    scene = Scene(world)
    scene.first(0, "accept")
    Campaign.objects.filter(pk=scene.campaign.pk).update(state=Campaign.State.CLOSED)
    if of_answer:
        Annotation.objects.filter(pk=scene.answers[0].pk).update(**of_answer)
    if reason:
        assert refused(lambda: scene.turn(0, "second", decision, world.mara)) == reason
        assert SecondReview.objects.get().reviewer is None
    else:
        scene.turn(0, "second", decision, world.mara)
        assert SecondReview.objects.get().reviewer == world.mara


def test_a_second_decision_that_agrees_changes_nothing(scene: Scene) -> None:
    world = scene.world
    scene.first(0, "accept")
    assert scene.waiting(world.reviewer) == (0, 0) and scene.waiting(world.mara) == (1, 0)
    assert refused(lambda: scene.turn(0, "second", "accept", world.reviewer)) == "first"
    scene.turn(0, "second", "accept", world.mara)
    assert scene.state(0) == "accepted" and scene.waiting(world.owner) == (0, 0)
    assert refused(lambda: scene.turn(0, "second", "reject", world.owner)) == "decided"
    assert refused(lambda: scene.turn(0, "third", "reject", world.owner)) == "decided"


def test_a_conflict_goes_to_a_third_person_whose_decision_stands(scene: Scene) -> None:
    world = scene.world
    scene.first(0, "accept")
    scene.turn(0, "second", "reject", world.mara)
    process_derivations()
    assert scene.state(0) == "accepted" and len(live_items(scene.later)) == 1, "the first stands until then"
    assert [scene.waiting(user)[1] for user in (world.reviewer, world.mara, world.owner)] == [0, 0, 1]
    for user in (world.reviewer, world.mara):
        assert refused(lambda user=user: scene.turn(0, "third", "reject", user)) == "first"
    scene.turn(0, "third", "reject", world.owner)
    process_derivations()
    assert scene.state(0) == "rejected" and live_items(scene.later) == []
    answer = Annotation.objects.get(pk=scene.answers[0].pk)
    assert (answer.counted, answer.uncounted_because) == (False, "rejected")
    assert Review.objects.get(annotation=answer, undone_at=None).reviewer == world.owner
    assert refused(lambda: scene.turn(0, "third", "accept", world.owner)) == "decided"


def test_a_third_person_brings_a_rejected_answer_back(scene: Scene) -> None:
    scene.first(0, "reject")
    scene.turn(0, "second", "accept", scene.world.mara)
    scene.turn(0, "third", "accept", scene.world.owner)
    process_derivations()
    assert scene.state(0) == "accepted" and len(live_items(scene.later)) == 1
    assert Annotation.objects.get(pk=scene.answers[0].pk).counted


def test_nobody_decides_twice_or_on_their_own_answer(scene: Scene) -> None:
    world = scene.world
    TeamMember.objects.create(team=world.team, user=world.nour, role="member")
    Role.objects.create(benchmark=world.benchmark, user=world.nour, name=Role.Name.REVIEWER)
    scene.first(0, "accept")
    assert scene.waiting(world.nour) == (0, 0)
    assert refused(lambda: scene.turn(0, "second", "accept", world.nour)) == "own"


def test_a_first_decision_is_not_undone_behind_the_back_of_the_second(scene: Scene) -> None:
    world, first = scene.world, scene.first(0, "accept")
    scene.turn(0, "second", "reject", world.mara)
    assert refused(lambda: reviews.undo(first.pk, world.reviewer, timezone.now())) == "checked"
    reviews.undo(first.pk, world.owner, timezone.now(), runs=True)
    assert scene.state(0) == "submitted" and scene.waiting(world.owner) == (0, 0)
    assert refused(lambda: scene.turn(0, "third", "reject", world.owner)) == "decided"
    scene.first(0, "reject")
    assert scene.waiting(world.mara) == (1, 0), "the new first decision is drawn as the one before"


def test_a_second_decision_is_undone_by_who_made_it_until_a_third_person_decides(
    scene: Scene, client_of: ClientOf
) -> None:
    world, path = scene.world, f"{scene.base}{scene.answers[0].pk}/decide/"
    scene.first(0, "accept")
    scene.turn(0, "second", "reject", world.mara)
    undo = {"decision": "undo", "turn": "second", "list": "state=accepted"}
    assert (
        refused(lambda: second_reviews.undo_second(scene.answers[0].pk, world.reviewer, timezone.now())) == "not_yours"
    )
    assert client_of(world.stranger).post(path, undo).status_code == 404
    mara = client_of(world.mara)
    for page in (f"{scene.base}?state=accepted", f"{scene.base}{scene.answers[0].pk}/"):
        assert "Undo second review" in mara.get(page).content.decode()
    mara.post(path, undo)
    assert scene.state(0) == "accepted" and scene.waiting(world.mara) == (1, 0) and scene.waiting(world.owner) == (1, 0)
    assert "Undo second review" not in mara.get(f"{scene.base}{scene.answers[0].pk}/").content.decode()
    assert refused(lambda: second_reviews.undo_second(scene.answers[0].pk, world.mara, timezone.now())) == "gone"
    scene.turn(0, "second", "reject", world.mara)
    scene.turn(0, "third", "reject", world.owner)
    assert refused(lambda: second_reviews.undo_second(scene.answers[0].pk, world.mara, timezone.now())) == "settled"
    mara.post(path, undo)
    assert SecondReview.objects.get().decision == "reject" and scene.state(0) == "rejected"


def test_the_export_has_each_round_of_a_decision(scene: Scene) -> None:
    world = scene.world
    for place in (0, 1):
        first = scene.first(place, "accept")
        scene.turn(place, "second", "reject", world.mara)
    scene.turn(0, "third", "return", world.owner)
    reviews.undo(first.pk, world.owner, timezone.now(), runs=True)
    rows = list(REVIEWS.rows(RowScope(world.benchmark, (scene.campaign.pk,))))
    shown = [(row["round"], row["decision"], row["reviewer"], row["undone_at"] is None) for row in rows]
    assert shown == [
        ("first", "accept", "reviewer-1", False), ("second", "reject", "reviewer-2", True),
        ("first", "accept", "reviewer-1", False), ("second", "reject", "reviewer-2", False),
        ("third", "return", "reviewer-3", True),
    ]  # fmt: skip


def test_a_return_is_drawn_for_a_second_review_and_the_rejection_after_it_is_not(scene: Scene) -> None:
    """The rejection judges that the author was silent, which a second reader of the answer cannot check."""
    world, returned = scene.world, scene.first(0, "return")
    assert scene.waiting(world.mara) == (1, 0)
    scene.first(0, "reject")
    assert scene.waiting(world.mara) == (0, 0) and SecondReview.objects.get().first == returned
    assert second_draws.set_share(scene.stage, 100, 1, world.owner, timezone.now()) == 0, "nor is it drawn later"
    assert refused(lambda: scene.turn(0, "second", "accept", world.mara)) == "decided"


def test_an_undone_first_decision_takes_its_open_second_with_it(scene: Scene) -> None:
    first = scene.first(0, "accept")
    reviews.undo(first.pk, scene.world.reviewer, timezone.now())
    assert scene.waiting(scene.world.mara) == (0, 0)


def test_the_share_draws_by_seed_and_a_higher_one_only_adds(world: World) -> None:
    numbers = range(1, 4001)
    low, high = (
        {number for number in numbers if second_draws.is_drawn(7, number, percent)} for percent in (10.0, 30.0)
    )
    assert low < high and 0.08 < len(low) / 4000 < 0.12 and 0.27 < len(high) / 4000 < 0.33
    assert not any(second_draws.is_drawn(7, number, 0) for number in numbers)
    scene = Scene(world, percent=0)
    scene.first(0, "accept")
    scene.first(1, "reject")
    assert scene.waiting(world.mara) == (0, 0)
    assert second_draws.set_share(scene.stage, 100, 2, world.owner, timezone.now()) == 2, "those made before, too"
    scene.turn(0, "second", "accept", world.mara)
    assert second_draws.set_share(scene.stage, 0, 3, world.owner, timezone.now()) == 0
    assert SecondReview.objects.get().decision == "accept", "what was decided stays"


def test_a_share_that_is_set_later_draws_only_decisions_that_stand_and_were_made_one_by_one(world: World) -> None:
    """Not one that was undone, and none that a press made for many."""
    scene = Scene(world, percent=0)
    undone, pressed, single = (scene.first(place, "accept") for place in range(3))
    reviews.undo(undone.pk, world.reviewer, timezone.now())
    batch = ReviewBatch.objects.create(
        stage=scene.stage, author=rater_of(world.nour), seed=1, drawn=5, population=9, limit=0.1, by=world.reviewer,
        at=timezone.now(),
    )  # fmt: skip
    Review.objects.filter(pk=pressed.pk).update(batch=batch)
    assert second_draws.set_share(scene.stage, 100, 2, world.owner, timezone.now()) == 1
    assert SecondReview.objects.get().first == single


def test_the_seed_of_a_stage_stays_as_it_was_set_first(scene: Scene) -> None:
    second_draws.set_share(scene.stage, 30, 99, scene.world.owner, timezone.now())
    share = SecondReviewShare.objects.get()
    assert (share.seed, share.percent) == (1, 30)


def test_those_who_had_a_part_in_an_item_undo_no_second_decision_on_it(scene: Scene) -> None:
    world = scene.world
    scene.first(0, "accept")
    scene.turn(0, "second", "reject", world.mara)
    item = scene.answers[0].assignment.unit.item
    ItemContributor.objects.create(item=item, rater=rater_of(world.owner))
    undo = second_reviews.undo_second
    assert refused(lambda: undo(scene.answers[0].pk, world.owner, timezone.now(), runs=True)) == "own"
    ItemContributor.objects.all().delete()
    undo(scene.answers[0].pk, world.owner, timezone.now(), runs=True)
    assert SecondReview.objects.get().decision == ""


def test_the_newest_second_decision_is_undone_and_none_whose_first_was_undone(scene: Scene) -> None:
    world = scene.world
    for place in range(2):
        first = scene.first(place, "accept")
        scene.turn(place, "second", "reject", world.mara)
        reviews.undo(first.pk, world.owner, timezone.now(), runs=True)
    undo = second_reviews.undo_second
    assert refused(lambda: undo(scene.answers[1].pk, world.mara, timezone.now())) == "gone"
    scene.first(0, "reject")
    scene.turn(0, "second", "accept", world.mara)
    undo(scene.answers[0].pk, world.mara, timezone.now())
    kept = SecondReview.objects.filter(first__annotation=scene.answers[0]).order_by("pk")
    assert [second.decision for second in kept] == ["reject", ""]


def test_a_second_acceptance_names_no_reason_and_a_rejection_keeps_its_own(scene: Scene) -> None:
    for place, decision in enumerate(("accept", "reject")):
        scene.first(place, "accept")
        scene.turn(place, "second", decision, scene.world.mara)
    assert list(SecondReview.objects.order_by("pk").values_list("reason", flat=True)) == ["", "unclear"]


def test_the_second_reviewer_sees_nothing_of_the_first(scene: Scene, client_of: ClientOf) -> None:
    world, answer = scene.world, scene.answers[0]
    reviews.decide(answer.pk, world.reviewer, "reject", timezone.now(), reason="rules", comment="Stolen words")
    client = client_of(world.mara)
    [row] = client.get(scene.base, {"state": "second"}).context["list"].rows
    assert (row.turn, row.decision, row.open, row.can_undo) == ("second", None, True, False)
    assert client.get(scene.base, {"state": "rejected"}).context["list"].rows == []
    assert len(client.get(scene.base, {"state": "submitted"}).context["list"].rows) == 3
    text = client.get(f"{scene.base}{answer.pk}/").content.decode()
    assert "Stolen words" not in text and "Rejected" not in text and 'name="turn" value="second"' in text
    own = client_of(world.reviewer)
    assert "Stolen words" in own.get(f"{scene.base}{answer.pk}/").content.decode()
    assert "Stolen words" in own.get(scene.base, {"state": "rejected"}).content.decode()


def test_second_and_third_decide_from_the_list_and_the_third_sees_both_without_names(
    scene: Scene, client_of: ClientOf
) -> None:
    world, answer = scene.world, scene.answers[0]
    scene.first(0, "accept")
    path, posted = f"{scene.base}{answer.pk}/decide/", {"decision": "reject", "reason": "unclear", "turn": "second"}
    reply = client_of(world.mara).post(path, posted, headers={"x-requested-with": "emic"})
    assert reply.status_code == 200 and "differs from the first" in reply.content.decode()
    third = client_of(world.owner)
    text = third.get(scene.base, {"state": "conflict"}).content.decode().split('id="mine"')[0]
    listed = text.split('id="answers"')[1].split('id="pace"')[0]
    assert "Accepted" in listed and "It is not clear" in listed and "Mara" not in listed and "Reviewer" not in listed
    third.post(f"{scene.base}{answer.pk}/", {"decision": "accept", "turn": "third"})
    assert SecondReview.objects.get().final.reviewer == world.owner and scene.state(0) == "accepted"


@pytest.mark.parametrize(("name", "status"), [("owner", 302), ("mara", 302), ("reviewer", 404), ("rival", 404)])
def test_those_who_run_the_benchmark_set_the_share(scene: Scene, client_of: ClientOf, name: str, status: int) -> None:
    path = f"{scene.base}stages/{scene.stage.pk}/second/"
    client = client_of(getattr(scene.world, name))
    assert client.post(path, {"percent": "15"}).status_code == status
    if status == 302:
        assert client.post(path, {"percent": "101"}).status_code == 422


@pytest.mark.parametrize("name", ["nour", "manager", "rival", "stranger", "team_admin"])
def test_others_find_no_agreement_of_reviewers(scene: Scene, client_of: ClientOf, name: str) -> None:
    client = client_of(getattr(scene.world, name))
    assert client.get(f"{scene.base}agreement/").status_code == 404
    assert client.get(f"{scene.base}agreement.csv").status_code == 404


def test_agreement_of_reviewers_has_its_n_and_its_reasons(scene: Scene, client_of: ClientOf) -> None:
    """Two of four agree. Of the three answers that are left when one decision is undone, one does."""
    world, client = scene.world, client_of(scene.world.reviewer)
    assert "No ratings" in client.get(f"{scene.base}agreement/").content.decode()
    for place, (first, second) in enumerate(
        [("accept",) * 2, ("reject",) * 2, ("accept", "reject"), ("reject", "accept")]
    ):
        scene.first(place, first)
        scene.turn(place, "second", second, world.mara)
    [head, agreement, alpha] = client.get(f"{scene.base}agreement.csv").content.decode().splitlines()
    row = dict(zip(head.split(","), agreement.split(","), strict=True))
    assert (row["number"], float(row["value"]), row["n_units"], row["n_raters"]) == ("agreement", 0.5, "4", "2")
    # Coincidences: accept-accept 2, reject-reject 2, accept-reject 2 x 2; D_o = 4/8, D_e = 2 x 4 x 4 / (8 x 7)
    row = dict(zip(head.split(","), alpha.split(","), strict=True))
    assert float(row["value"]) == pytest.approx(1 - 0.5 / (32 / 56)) and row["resampled"] == "units"
    assert bool(row["low"]) != bool(row["interval_reason"]), "an interval, or the reason why there is none"
    scene.turn(2, "third", "reject", world.owner)
    assert ",0.5," in client.get(f"{scene.base}agreement.csv").content.decode(), "a third decision is no rating"


def test_who_returned_an_answer_cannot_end_the_conflict_by_rejecting_it(scene: Scene) -> None:
    world = scene.world
    for place, second in enumerate(("accept", "return")):
        scene.first(place, "return")
        scene.turn(place, "second", second, world.mara)
    assert refused(lambda: scene.first(0, "reject")) == "checked" and scene.state(0) == "returned"
    assert scene.waiting(world.owner) == (0, 1)
    scene.turn(0, "third", "accept", world.owner)
    scene.first(1, "reject")
    assert [scene.state(place) for place in range(2)] == ["accepted", "rejected"]


def test_progress_counts_decisions_that_stand_and_conflicts_that_somebody_can_decide(world: World) -> None:
    scene = Scene(world)
    assert second_progress(scene.stage) == SecondProgress(percent=100, drawn=0, decided=0, conflicts=0)
    decided = [scene.first(place, "accept") for place in range(4)]
    scene.turn(0, "second", "accept", world.mara)
    for place in (1, 2):
        scene.turn(place, "second", "return", world.mara)
    assert second_progress(scene.stage) == SecondProgress(percent=100, drawn=4, decided=3, conflicts=2)
    scene.turn(2, "third", "return", world.owner)
    assert second_progress(scene.stage) == SecondProgress(percent=100, drawn=4, decided=3, conflicts=1)
    reviews.undo(decided[3].pk, world.reviewer, timezone.now())
    assert second_progress(scene.stage) == SecondProgress(percent=100, drawn=3, decided=3, conflicts=1)
    ended = {"live": False, "counted": False, "uncounted_because": "superseded"}
    Annotation.objects.filter(pk=scene.answers[1].pk).update(**ended)
    assert second_progress(scene.stage).conflicts == scene.waiting(world.owner)[1] == 0
    SecondReviewShare.objects.all().delete()
    assert second_progress(scene.stage).percent == 0


@pytest.mark.parametrize("ended", ["superseded", "taken_back", "excluded", "withdrawn_item"])
def test_a_draw_that_nobody_can_decide_any_more_does_not_wait(world: World, ended: str) -> None:
    scene = Scene(world)
    for place in range(2):
        scene.first(place, "return")
    scene.turn(0, "second", "return", world.mara)
    if ended == "withdrawn_item":
        items = Item.objects.filter(units__assignments__annotations__in=[answer.pk for answer in scene.answers[:2]])
        items.update(withdrawn_at=timezone.now())
    else:
        live = {"live": ended == "excluded", "counted": False, "uncounted_because": ended}
        Annotation.objects.filter(pk__in=[answer.pk for answer in scene.answers[:2]]).update(**live)
    assert second_progress(scene.stage) == SecondProgress(percent=100, drawn=1, decided=1, conflicts=0)
    assert second_draws.set_share(scene.stage, 100, 1, world.owner, timezone.now()) == 0
    assert scene.waiting(world.mara) == scene.waiting(world.owner) == (0, 0)


def test_a_second_decision_made_while_the_share_falls_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The draw reads what is undecided first; somebody decides before it takes the rest away."""
    scene = Scene(world)
    for place in range(2):
        scene.first(place, "accept")

    def decide_meanwhile(_seed: int, annotation_id: int, _percent: float) -> bool:
        if annotation_id == scene.answers[0].pk:
            scene.turn(0, "second", "accept", world.mara)
        return False

    taken_away = SecondReview.objects.get(first__annotation=scene.answers[1].pk)
    monkeypatch.setattr(second_draws, "is_drawn", decide_meanwhile)
    second_draws.set_share(scene.stage, 0, 1, world.owner, timezone.now())
    assert SecondReview.objects.get().reviewer == world.mara
    late = refused(lambda: second_reviews.decide_second(taken_away.pk, world.mara, "accept", timezone.now()))
    assert late == "gone"
