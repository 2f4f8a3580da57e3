"""Samples per author: what is drawn, when the others may be accepted together, and who may not."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation, Assignment, ItemContributor, Review, ReviewBatch, SampledAnswer
from annotation.queries.review_batches import other_answers, sample_counts
from annotation.services.answers import exclusions, submit
from annotation.services.review import batches, reviews
from annotation.services.review.batches import BatchRefused, SampleSize
from benchmarks.models import FormerJudge, Role
from jobs.models import Event
from people.models import Rater, User
from people.services.raters import rater_of
from tests.annotation.chain.factories import ASKED, QUESTION, a_stage, answer, live_items, process_derivations
from tests.annotation.chain.written_answers import write_answers
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]


class Scene:
    """A stage that is accepted by review, with answers of several authors of Egypt."""

    def __init__(self, world: World, sizes: Sequence[int] = (9, 9)) -> None:
        self.world = world
        self.stage = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review")
        self.later = a_stage(world.benchmark, "reply", {"fields": QUESTION["fields"][1:]}, derivation=ASKED)
        self.authors = [rater_of(user) for user in world.add_annotators(world.egypt, len(sizes))]
        answers = dict(zip(self.authors, sizes, strict=True))
        self.campaign, self.answers = write_answers(self.stage, world.egypt, answers)

    @property
    def base(self) -> str:
        return f"/b/{self.world.benchmark.slug}/review/samples/"

    @property
    def of_stage(self) -> str:
        return f"/b/{self.world.benchmark.slug}/review/stages/{self.stage.pk}/"

    def draw(self, number: int = 5, limit: float = 0.2, seed: int = 1, **more: Any) -> list[ReviewBatch]:
        size = more.pop("size", SampleSize(number=number))
        at = more.pop("at", timezone.now())
        batches.draw_samples(self.stage, self.world.reviewer, size, limit, seed, at, **more)
        return list(ReviewBatch.objects.filter(replaced_at=None, accepted_at=None).order_by("author"))

    def decide(self, batch: ReviewBatch, rejected: int = 0) -> None:
        """Decide the whole sample."""
        for number, sampled in enumerate(batch.sample.select_related("annotation").order_by("pk")):
            if not Review.objects.filter(annotation=sampled.annotation, undone_at=None).exists():
                decision, reason = ("reject", "unclear") if number < rejected else ("accept", "")
                reviews.decide(sampled.annotation_id, self.world.reviewer, decision, timezone.now(), reason=reason)

    def state(self, annotation: Annotation) -> str:
        return Assignment.objects.get(pk=annotation.assignment_id).state

    def states(self, author: Rater) -> list[str]:
        rows = Assignment.objects.filter(rater=author, campaign=self.campaign)
        return sorted(rows.values_list("state", flat=True))

    def others(self, batch: ReviewBatch) -> list[Annotation]:
        return list(other_answers(self.world.benchmark, self.world.reviewer, batch))


@built_once
def scene(world: World) -> Scene:
    return Scene(world)


def refused(deed: Callable[[], object]) -> str:
    with pytest.raises(BatchRefused) as error:
        deed()
    return error.value.reason


def accept(scene: Scene, batch: ReviewBatch) -> int:
    return batches.accept_others(batch.pk, scene.world.reviewer, timezone.now())


def undo(scene: Scene, batch: ReviewBatch, user: User | None = None, **more: Any) -> int:
    return batches.undo_acceptance(batch.pk, user or scene.world.reviewer, timezone.now(), **more)


@pytest.mark.parametrize(
    ("size", "population", "wanted"),
    [
        (SampleSize(number=5), 60, 5),
        (SampleSize(number=2), 60, 5),
        (SampleSize(number=12), 60, 12),
        (SampleSize(number=12), 9, 9),
        (SampleSize(percent=10), 60, 6),
        (SampleSize(percent=10), 61, 7),
        (SampleSize(percent=1), 60, 5),
        (SampleSize(percent=10), 3, 3),
        (SampleSize(percent=2.2), 1500, 33),  # which is 33.00000000000001 in binary fractions
        (SampleSize(percent=100), 60, 60),
    ],
)
def test_a_sample_has_so_many_answers_and_at_least_five(size: SampleSize, population: int, wanted: int) -> None:
    assert size.of(population) == wanted


def test_the_same_seed_draws_the_same_answers_and_another_one_others(scene: Scene) -> None:
    def sample(seed: int) -> list[set[int]]:
        drawn = [set(batch.sample.values_list("annotation", flat=True)) for batch in scene.draw(seed=seed)]
        SampledAnswer.objects.all().delete()
        ReviewBatch.objects.all().delete()
        return drawn

    first = sample(4)
    assert sample(4) == first and sample(5) != first
    assert [len(drawn) for drawn in first] == [5, 5]


def test_the_others_are_accepted_once_the_sample_is_decided_and_items_follow(scene: Scene) -> None:
    mine, _theirs = scene.draw()
    assert (mine.drawn, mine.population, mine.seed, mine.limit) == (5, 9, 1, 0.2)
    assert refused(lambda: accept(scene, mine)) == "undecided"
    scene.decide(mine, rejected=1)
    others = scene.others(mine)
    assert accept(scene, mine) == 4
    assert scene.states(scene.authors[0]) == ["accepted"] * 8 + ["rejected"]
    assert scene.states(scene.authors[1]) == ["submitted"] * 9
    written = Review.objects.filter(batch=mine)
    assert {review.annotation_id for review in written} == {annotation.pk for annotation in others}
    process_derivations()
    assert len(live_items(scene.later)) == 8
    implied = Event.objects.filter(verb="answer.accepted", implied=True)
    assert implied.count() == 4 and Event.objects.get(verb="review.batch_accepted").data["answers"] == 4


def test_accepting_twice_and_undoing_twice_change_nothing(scene: Scene) -> None:
    batch = scene.draw()[0]
    scene.decide(batch)
    assert (accept(scene, batch), accept(scene, batch)) == (4, 0)
    assert Review.objects.filter(batch=batch).count() == 4
    process_derivations()
    assert len(live_items(scene.later)) == 9
    assert (undo(scene, batch), undo(scene, batch)) == (4, 0)
    process_derivations()
    assert len(live_items(scene.later)) == 5, "what was decided one by one stays"
    assert scene.states(scene.authors[0]) == ["accepted"] * 5 + ["submitted"] * 4
    assert accept(scene, batch) == 4, "after the undo it may be accepted anew"


def test_undo_leaves_alone_what_somebody_decided_since(scene: Scene) -> None:
    batch = scene.draw()[0]
    scene.decide(batch)
    accept(scene, batch)
    review = Review.objects.filter(batch=batch).order_by("pk")[0]
    reviews.undo(review.pk, scene.world.reviewer, timezone.now())
    reviews.decide(review.annotation_id, scene.world.mara, "reject", timezone.now(), reason="rules")
    assert undo(scene, batch) == 3
    assert scene.state(review.annotation) == "rejected"


def test_undo_leaves_alone_items_that_its_person_had_a_part_in_or_judged_before(scene: Scene) -> None:
    batch, owner = scene.draw()[0], scene.world.owner
    scene.decide(batch)
    accept(scene, batch)
    part, judged = (review.annotation.assignment.unit.item for review in Review.objects.filter(batch=batch)[:2])
    ItemContributor.objects.create(item=part, rater=rater_of(owner))
    FormerJudge.objects.create(item=judged, user=owner)
    assert undo(scene, batch, owner, runs=True) == 2
    left = Review.objects.filter(batch=batch, undone_at=None)
    assert set(left.values_list("annotation__assignment__unit__item", flat=True)) == {part.pk, judged.pk}


def test_a_sample_whose_acceptance_is_undone_is_replaced_where_a_newer_one_was_drawn(scene: Scene) -> None:
    batch = scene.draw()[0]
    scene.decide(batch)
    accept(scene, batch)
    review = Review.objects.filter(batch=batch).order_by("pk")[0]
    reviews.undo(review.pk, scene.world.reviewer, timezone.now())
    newer = scene.draw(authors=[batch.author_id])[0]
    assert undo(scene, batch) == 3
    assert refused(lambda: accept(scene, batch)) == "replaced"
    assert ReviewBatch.objects.get(author=batch.author_id, replaced_at=None) == newer


def test_above_the_limit_nothing_is_accepted_and_a_larger_sample_contains_the_first(scene: Scene) -> None:
    batch = scene.draw(limit=0.15)[0]
    scene.decide(batch, rejected=1)
    assert refused(lambda: accept(scene, batch)) == "above"
    members = set(batch.sample.values_list("annotation", flat=True))
    larger = scene.draw(number=8, limit=0.15, seed=9, authors=[batch.author_id])[0]
    assert members < set(larger.sample.values_list("annotation", flat=True))
    assert (larger.drawn, larger.population) == (8, 9)
    assert refused(lambda: accept(scene, batch)) == "replaced"
    assert refused(lambda: scene.draw(number=8, authors=[batch.author_id])) == "large_enough"
    scene.decide(larger)
    counts = sample_counts([larger.pk])[larger.pk]
    assert (counts.accepted, counts.refused, counts.undecided) == (7, 1, 0), "the first rejection still counts"
    assert accept(scene, larger) == 1


def test_returned_withdrawn_and_newer_answers_are_left_out(scene: Scene) -> None:
    batch = scene.draw()[0]
    returned, taken_back, changed, plain = scene.others(batch)
    now = timezone.now()
    reviews.decide(returned.pk, scene.world.reviewer, "return", now, reason="unclear")
    Annotation.objects.filter(pk=taken_back.pk).update(counted=False, uncounted_because="consent_withdrawn")
    submit.reopen(changed.assignment_id, changed.rater, now)
    answer(changed.assignment, question="Changed?", answer="Tea")
    scene.decide(batch)
    assert accept(scene, batch) == 1
    assert [scene.state(one) for one in (returned, taken_back, changed, plain)] == [
        "returned", "submitted", "submitted", "accepted",
    ]  # fmt: skip


def test_a_returned_sample_counts_as_refused_even_after_its_correction(scene: Scene) -> None:
    batch = scene.draw(limit=0.1)[0]
    first = batch.sample.order_by("pk")[0].annotation
    reviews.decide(first.pk, scene.world.reviewer, "return", timezone.now(), reason="unclear")
    submit.reopen(first.assignment_id, first.rater, timezone.now())
    newer = answer(first.assignment, question="Better?", answer="Tea")
    reviews.decide(newer.pk, scene.world.reviewer, "accept", timezone.now())
    scene.decide(batch)
    assert sample_counts([batch.pk])[batch.pk].refused == 1
    assert refused(lambda: accept(scene, batch)) == "above"


def test_a_sample_of_an_excluded_author_has_nothing_left_and_accepts_nothing(scene: Scene) -> None:
    batch = scene.draw()[0]
    scene.decide(batch)
    exclusions.exclude(scene.world.benchmark, scene.authors[0], "copied", scene.world.owner, timezone.now())
    assert refused(lambda: accept(scene, batch)) == "undecided"
    page = scene.world.client(scene.world.reviewer).get(scene.base).context["page"]
    assert [row.state for row in page.rows] == ["open", "empty"]


def test_a_decision_between_two_steps_of_reading_and_writing_is_not_overwritten(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "STEP", 2)
    batch = scene.draw()[0]
    scene.decide(batch)
    last = scene.others(batch)[-1]
    original = batches._accept_step

    def decide_meanwhile(*arguments: Any) -> int:
        if Assignment.objects.get(pk=last.assignment_id).state == "submitted":
            reviews.decide(last.pk, scene.world.mara, "reject", timezone.now(), reason="rules")
        return original(*arguments)

    monkeypatch.setattr(batches, "_accept_step", decide_meanwhile)
    assert accept(scene, batch) == 3
    assert scene.state(last) == "rejected" and Review.objects.get(annotation=last).reviewer == scene.world.mara


def test_an_acceptance_that_fails_half_way_has_written_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "STEP", 2)
    batch = scene.draw()[0]
    scene.decide(batch)
    notes: list[int] = []
    original = batches._note

    def fail_in_the_second_step(*arguments: Any) -> None:
        notes.append(1)
        if len(notes) == 2:
            raise RuntimeError("killed")
        original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(batches, "_note", fail_in_the_second_step)
        with pytest.raises(RuntimeError):
            accept(scene, batch)
    assert not Review.objects.filter(batch=batch).exists() and scene.states(scene.authors[0]).count("submitted") == 4
    assert accept(scene, batch) == 4


def test_one_press_accepts_for_all_authors_whose_samples_passed_and_another_goes_on(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = scene.draw()
    scene.decide(mine)
    assert batches.accept_passed(scene.stage, scene.world.reviewer, timezone.now()).authors == 1
    scene.decide(theirs, rejected=1)
    undo(scene, mine)
    monkeypatch.setattr(batches, "MOST_PER_PRESS", 4)
    first = batches.accept_passed(scene.stage, scene.world.reviewer, timezone.now())
    assert (first.authors, first.answers, first.left) == (1, 4, 1)
    second = batches.accept_passed(scene.stage, scene.world.reviewer, timezone.now())
    assert (second.authors, second.answers, second.left) == (1, 4, 0)


def test_one_press_for_several_authors_is_undone_by_one_press(scene: Scene, client_of: ClientOf) -> None:
    client = client_of(scene.world.reviewer)
    for batch in scene.draw():
        scene.decide(batch)
    client.post(f"{scene.of_stage}accept/")
    press = client.get(scene.base).context["page"].press
    assert (press.authors, press.answers) == (2, 8)
    Role.objects.filter(benchmark=scene.world.benchmark, user=scene.world.mara).update(name=Role.Name.REVIEWER)
    other = client_of(scene.world.mara)
    assert other.get(scene.base).context["page"].press is None
    other.post(f"{scene.of_stage}undo/", {"press": press.key})
    assert Review.objects.filter(batch__isnull=False, undone_at=None).count() == 8, "another reviewer undoes nothing"
    for _twice in range(2):
        client.post(f"{scene.of_stage}undo/", {"press": press.key})
        assert Review.objects.filter(undone_at=None).count() == 10
    assert scene.states(scene.authors[0]) == ["accepted"] * 5 + ["submitted"] * 4


def test_a_press_is_undone_for_all_authors_but_the_person_who_undoes_it(scene: Scene) -> None:
    world, at = scene.world, timezone.now()
    for batch in scene.draw():
        scene.decide(batch)
    assert batches.accept_passed(scene.stage, world.mara, at).authors == 2
    Rater.objects.filter(pk=rater_of(world.owner).pk).update(user=None, kind="model", name="Spare", team=world.team)
    Rater.objects.filter(pk=scene.authors[0].pk).update(user=world.owner)
    assert batches.undo_press(scene.stage, at, world.owner, timezone.now(), runs=True) == 4
    assert scene.states(scene.authors[0]) == ["accepted"] * 9
    assert scene.states(scene.authors[1]) == ["accepted"] * 5 + ["submitted"] * 4


def test_only_who_accepted_and_those_who_run_the_benchmark_undo(scene: Scene) -> None:
    batch = scene.draw()[0]
    scene.decide(batch)
    batches.accept_others(batch.pk, scene.world.mara, timezone.now())
    assert refused(lambda: undo(scene, batch)) == "not_yours"
    assert undo(scene, batch, scene.world.owner, runs=True) == 4


def test_authors_neither_draw_nor_accept_nor_undo_their_own(scene: Scene, client_of: ClientOf) -> None:
    world = scene.world
    Rater.objects.filter(pk=rater_of(world.reviewer).pk).update(user=None, kind="model", name="Spare", team=world.team)
    Rater.objects.filter(pk=scene.authors[0].pk).update(user=world.reviewer)
    drawn = scene.draw()
    assert [batch.author_id for batch in drawn] == [scene.authors[1].pk]
    at = timezone.now()
    batches.draw_samples(scene.stage, world.owner, SampleSize(number=5), 0.2, 1, at, authors=[scene.authors[0].pk])
    batch = ReviewBatch.objects.get(author=scene.authors[0])
    assert (
        refused(lambda: accept(scene, batch)) == "own" and accept_page(client_of(world.reviewer), scene, batch) == 404
    )
    for sampled in batch.sample.all():
        reviews.decide(sampled.annotation_id, world.owner, "accept", at)
    assert batches.accept_passed(scene.stage, world.reviewer, at).authors == 0
    assert batches.accept_others(batch.pk, world.owner, at) == 4
    assert refused(lambda: undo(scene, batch, runs=True)) == "own"


def accept_page(client: Client, scene: Scene, batch: ReviewBatch) -> int:
    return int(client.post(f"{scene.base}{batch.pk}/accept/").status_code)


@pytest.mark.parametrize("name", ["nour", "manager", "rival", "stranger", "team_admin", "site_admin"])
def test_who_does_not_review_finds_no_samples(scene: Scene, client_of: ClientOf, name: str) -> None:
    [batch, _other] = scene.draw()
    scene.decide(batch)
    client = client_of(getattr(scene.world, name))
    posted = {"size": "8", "unit": "answers", "limit": "50"}
    assert client.get(scene.base).status_code == 404
    for path in ("draw/", "accept/", "undo/"):
        assert client.post(f"{scene.of_stage}{path}", posted).status_code == 404
    for path in (f"{batch.pk}/accept/", f"{batch.pk}/undo/"):
        assert client.post(f"{scene.base}{path}").status_code == 404
    assert ReviewBatch.objects.count() == 2 and not Review.objects.filter(batch=batch).exists()


def test_the_sample_comes_first_in_the_queue_and_all_is_one_press_away(scene: Scene, client_of: ClientOf) -> None:
    client, base = client_of(scene.world.reviewer), f"/b/{scene.world.benchmark.slug}/review/"
    assert len(client.get(base).context["list"].rows) == 18
    batch = scene.draw(authors=[scene.authors[1].pk])[0]
    sampled = set(batch.sample.values_list("annotation", flat=True))
    first = client.get(base)
    assert {row.line.annotation_id for row in first.context["list"].rows} == sampled
    assert "sample=all" in first.content.decode()
    assert len(client.get(base, {"sample": "all"}).context["list"].rows) == 18
    reply = client.get(base, {"after": "0"})
    assert int(reply.url.rstrip("/").rsplit("/", 1)[1]) in sampled


def test_a_form_that_makes_no_sense_is_refused_with_words(scene: Scene, client_of: ClientOf) -> None:
    client = client_of(scene.world.reviewer)
    posted = {"size": "120", "unit": "percent", "limit": "101"}
    reply = client.post(f"{scene.of_stage}draw/", posted)
    text = reply.content.decode()
    assert reply.status_code == 422 and "at most 100 percent" in text and "less than or equal to 100" in text
    assert not ReviewBatch.objects.exists()
    reply = client.post(
        f"{scene.of_stage}draw/", posted | {"size": "5", "limit": "10", "author": "nobody"}, follow=True
    )
    assert "No sample was drawn" in reply.content.decode()


def test_the_number_of_queries_of_the_page_does_not_grow_with_the_authors(scene: Scene, client_of: ClientOf) -> None:
    client = client_of(scene.world.reviewer)
    numbers = []
    for authors in ([scene.authors[0].pk], [scene.authors[1].pk]):
        scene.draw(authors=authors)
        with CaptureQueriesContext(connection) as captured:
            client.get(scene.base)
        numbers.append(len(captured))
    assert numbers[0] == numbers[1] < 45


def review_all(world: World, sizes: Sequence[int], client: Client) -> tuple[int, int]:
    """Draw, decide on the samples and accept the others, through pages: decisions, and further presses."""
    scene, authors = Scene(world, sizes), len(sizes)
    form = {"size": "5", "unit": "answers", "limit": "20", "seed": "3"}
    client.post(f"{scene.of_stage}draw/", form)
    presses, decisions = 1, 0
    queue = f"/b/{world.benchmark.slug}/review/"
    rejected = set()  # one of five for each second author
    while True:
        rows = [row for row in client.get(queue, {"sample": "yes", "per": "200"}).context["list"].rows if row.open]
        if not rows:
            break
        for row in rows:
            reject = row.line.author not in rejected and len(rejected) < authors // 2
            rejected |= {row.line.author} if reject else set()
            posted = {"decision": "reject", "reason": "rules"} if reject else {"decision": "accept"}
            client.post(f"{queue}{row.line.annotation_id}/decide/", posted, headers={"x-requested-with": "emic"})
            decisions += 1
    while client.get(scene.base).context["page"].passed_answers:
        client.post(f"{scene.of_stage}accept/")
        presses += 1
    answers = Annotation.objects.filter(assignment__campaign__stage=scene.stage)
    states = list(answers.values_list("assignment__state", flat=True))
    assert states.count("rejected") == authors // 2 and states.count("accepted") == len(states) - authors // 2
    return decisions, presses


def test_four_authors_take_five_decisions_each_and_two_presses(world: World, client_of: ClientOf) -> None:
    assert review_all(world, [12] * 4, client_of(world.reviewer)) == (20, 2)


@pytest.mark.slow
def test_2378_answers_of_40_authors_take_200_decisions_and_at_most_60_presses(
    world: World, client_of: ClientOf
) -> None:
    decisions, presses = review_all(world, [60] * 18 + [59] * 22, client_of(world.reviewer))
    assert decisions == 200 and presses <= 60
    assert Annotation.objects.count() == 2378
