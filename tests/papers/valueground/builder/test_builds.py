"""Builds against a scripted server: each request once, each result with its cost, and every case ends as declared."""

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotation.services.revisions import returns
from benchmarks.models import ItemReturn
from jobs.models import Job
from papers.valueground.builder.models import Build, BuildPlan, BuildStep
from papers.valueground.builder.queries import plan_totals
from papers.valueground.builder.services import build_job, plans, review_items
from papers.valueground.builder.services.plans import BuildRefused
from papers.valueground.builder.states import CONFIGURATION_NAMES
from predictions.models import Attempt, Reply
from predictions.services.endpoints import endpoints
from tests.papers.valueground.builder.build_script import CONTRAST, SEMANTIC, verdict
from tests.papers.valueground.builder.builder_scene import BuilderScene, picture, schema_of
from tests.personas import World
from tests.predictions.model_server import STUMBLES, UNAUTHORISED, Act, ReceivedRequest, Server

pytestmark = pytest.mark.django_db
BLOCKED = Act(status=400, raw='{"error": {"code": "moderation_blocked", "message": "no"}}')


@pytest.fixture
def scene(world: World, scripted_server: Server) -> BuilderScene:
    return BuilderScene(world, scripted_server)


def test_a_build_that_is_accepted_at_once_goes_to_review_with_its_cost(scene: BuilderScene) -> None:
    build = scene.build()
    assert build.state == "accepted" and build.plan.state == "done"
    assert scene.kinds(build) == [
        "plan", "check code", "check collapse", "base", "instruct", "edit a", "edit b", "compare", "critic", "route",
    ]  # fmt: skip
    [item] = scene.items()
    assert (item.key, item.concept, item.condition, item.pk) == ("Q1-one", "Q1", "one", build.item_id)
    assert [image.role for image in item.images.order_by("role")] == ["a", "b"]
    assert item.images.get(role="a").alt.startswith("People say yes to this")
    assert item.context["option_a"] == "Most people can be trusted" and Decimal(item.context["cost"]) == build.cost
    pictures = Decimal("0.04") + 2 * Decimal("0.03")
    assert build.cost > pictures and build.unaccounted == 0
    seeds = {asked.body.get("seed") for asked in scene.server.asked}
    assert set(BuildStep.objects.exclude(seed=None).values_list("seed", flat=True)) == {int(seed) for seed in seeds}
    edit = BuildStep.objects.get(kind="edit", target="a")
    assert edit.parent_image == BuildStep.objects.get(kind="base").image and edit.prompt and edit.image
    assert scene.repeats() == 0


def test_edits_are_revised_and_drawn_again_only_where_they_failed(scene: BuilderScene) -> None:
    scene.answer(critic=[verdict("revise_edits", b=CONTRAST), verdict("regenerate", a=CONTRAST), verdict()])
    build = scene.build()
    assert build.state == "accepted" and build.edit_round == 2
    assert [kind for kind in scene.kinds(build) if "edit" in kind] == ["edit a", "edit b", "edit b", "edit a"]
    assert len(scene.asked("pair_instruct")) == 2 and "The lamp moved." in scene.asked("pair_instruct")[1].text


def test_a_new_base_picture_is_drawn_where_the_plan_says_so(scene: BuilderScene) -> None:
    scene.answer(critic=[verdict("regenerate", a=CONTRAST), verdict()])
    build = scene.build(regenerate="base")
    assert (
        build.state == "accepted"
        and len(scene.asked(path="/generations")) == 2
        and len(scene.asked(path="/edits")) == 4
    )


def test_a_replan_tells_the_planner_and_a_contradiction_is_overridden(scene: BuilderScene) -> None:
    scene.answer(critic=[verdict("accept", a=SEMANTIC), verdict("replan"), verdict("replan"), verdict()])
    build = scene.build()
    assert build.state == "accepted" and (build.plan_round, build.edit_round) == (1, 1)
    assert scene.overrides(build) == ["accept_semantic", "no_issue", "no_issue_twice", ""]
    assert "Picture A, semantic: It fits both answers." in scene.asked("pair_plan")[1].text
    assert "You asked for a change but named no issue" in scene.asked("pair_critic")[2].text


def test_identical_pictures_never_reach_the_critic(scene: BuilderScene) -> None:
    edits: list[str] = []

    def script(asked: ReceivedRequest) -> Act | None:
        if not asked.path.endswith("/edits"):
            return None
        edits.append(asked.path)
        return picture("same", b"") if len(edits) <= 2 else None

    scene.answer(script)
    build = scene.build()
    assert build.state == "accepted" and scene.overrides(build) == ["identical", ""]
    assert len(scene.asked("pair_critic")) == 1 and len(edits) == 4


def test_refused_pictures_are_never_sent_again_and_three_end_the_build(scene: BuilderScene) -> None:
    scene.answer(lambda asked: BLOCKED if asked.path.endswith("/generations") else None)
    build = scene.build()
    assert (build.state, build.reason) == ("refused", "image_refused") and not scene.items()
    assert len(scene.asked(path="/generations")) == 3 == Reply.objects.filter(body__has_key="refusal").count()
    assert scene.repeats() == 0


def test_rounds_that_are_used_up_keep_the_newest_pair_as_best_effort(scene: BuilderScene) -> None:
    scene.answer(critic=[verdict("regenerate", a=CONTRAST, b=CONTRAST)])
    build = scene.build(best_effort_to_review=True, replan_when_spent=True)
    assert (build.state, build.plan_round, build.edit_round) == ("best_effort", 2, 2)
    assert len(scene.asked("pair_plan")) == 3 and len(scene.asked("pair_critic")) == 9
    assert len(scene.asked(path="/generations")) + len(scene.asked(path="/edits")) == 21
    [item] = scene.items()
    newest = BuildStep.objects.filter(build=build, kind="edit", target="a").order_by("-number").first()
    assert newest and item.images.get(role="a").image_id == newest.image_id


def test_unreadable_replies_are_asked_again_with_their_fault_then_the_build_fails_and_resumes(
    scene: BuilderScene,
) -> None:
    scene.answer(lambda asked: Act(text="Well, let me see") if schema_of(asked) == "pair_critic" else None)
    build = scene.build()
    assert (build.state, build.reason) == ("failed", "invalid_json") and "not valid JSON" in build.message
    assert len(scene.asked("pair_critic")) == 3
    assert "Your last reply could not be used" in scene.asked("pair_critic")[1].text
    scene.answer()
    plans.restart(build, scene.world.owner)
    scene.work(build.plan)
    build.refresh_from_db()
    assert build.state == "accepted" and len(scene.asked("pair_critic")) == 4 and len(scene.asked(path="/edits")) == 2


def test_a_model_that_declines_ends_the_build(scene: BuilderScene) -> None:
    scene.answer(lambda asked: Act(text="", refusal="I would rather not.") if schema_of(asked) == "pair_plan" else None)
    build = scene.build()
    assert (build.state, build.reason, build.message) == ("refused", "declined", "I would rather not.")


def test_an_error_of_the_server_is_retried_and_a_wrong_key_pauses_the_plan(scene: BuilderScene) -> None:
    scene.answer(
        lambda asked: STUMBLES if asked.path.endswith("/edits") and len(scene.asked(path="/edits")) < 3 else None
    )
    build = scene.build()
    assert build.state == "accepted" and Attempt.objects.filter(outcome="transient").count() == 2
    scene.questions = [scene.add_question(2)]
    scene.answer(lambda asked: UNAUTHORISED)
    plan = scene.work(scene.plan())
    assert (plan.state, plan.stopped_because) == ("paused", "not_allowed")
    scene.answer()
    plans.resume(plan, scene.world.owner)
    assert scene.work(plan).state == "done" and len(scene.items()) == 2


def test_a_budget_holds_for_the_whole_plan_and_what_waited_goes_on_when_it_is_raised(scene: BuilderScene) -> None:
    scene.questions += [scene.add_question(n) for n in (2, 3)]
    plan = scene.work(scene.plan(budget=Decimal("0.25")))
    totals = plan_totals(plan)
    assert (plan.state, plan.stopped_because) == ("paused", "budget") and totals.committed <= Decimal("0.25")
    assert totals.states["over_budget"] >= 1 and totals.in_flight == 0
    with pytest.raises(BuildRefused):
        plans.raise_budget(plan, Decimal("0.1"), scene.world.owner)
    plans.raise_budget(plan, Decimal("5"), scene.world.owner)
    assert scene.work(plan).state == "done" and plan_totals(plan).states == {"accepted": 3}
    assert scene.repeats() == 0
    assert plan_totals(plan).mean == sum(Build.objects.values_list("cost", flat=True)) / 3


@pytest.mark.parametrize(
    ("configuration", "state", "generated", "critics"),
    [("planner", "best_effort", 2, 0), ("planner_critic", "accepted", 3, 2)],
)
def test_configurations_without_an_editor_draw_each_side(
    scene: BuilderScene, configuration: str, state: str, generated: int, critics: int
) -> None:
    scene.answer(critic=[verdict("revise_edits", b=CONTRAST), verdict()])
    build = scene.build(configuration=configuration)
    assert build.state == state and not scene.asked(path="/edits")
    assert (len(scene.asked(path="/generations")), len(scene.asked("pair_critic"))) == (generated, critics)
    [item] = scene.items()
    assert (
        item.key == f"Q1-one-{configuration.replace('_', '-')}"
        and item.context["configuration"] == CONFIGURATION_NAMES[configuration]
    )


def test_a_short_answer_is_rewritten_once_for_all_sources(scene: BuilderScene) -> None:
    scene.questions = [scene.add_question(2, options={"1": "Mentioned", "2": "Not mentioned"})]
    plan = scene.work(scene.plan(sources=[scene.source("one"), scene.source("two")]))
    assert (
        plan_totals(plan).states == {"accepted": 2} and len(scene.asked("pair_rewrite")) == 2 and scene.repeats() == 0
    )
    assert "People think that this is so." in scene.asked("pair_plan")[0].text
    assert [item.key for item in scene.items()] == ["Q2-one", "Q2-two"]


def test_a_comment_withdraws_the_pair_and_makes_one_next_revision(scene: BuilderScene) -> None:
    first = scene.build()
    now = timezone.now()
    revision = review_items.send_back_with_comment(first, "The man looks angry.", scene.world.reviewer, now, "b")
    assert scene.items() == [] and ItemReturn.objects.get().comment == "The man looks angry."
    assert returns.call_makers(now) == 1 and Build.objects.count() == 2, "the maker finds the revision ordered"
    scene.work(first.plan)
    revision.refresh_from_db()
    assert revision.state == "accepted" and scene.kinds(revision)[0] == "critic" and revision.revision == 2
    assert scene.overrides(revision) == ["comment_open", ""]
    assert "The man looks angry." in scene.asked("pair_instruct")[1].text
    [item] = scene.items()
    assert (item.key, item.revision, item.replaces) == ("Q1-one.v2", 2, first.item)
    assert item.images.get(role="a").image == first.item.images.get(role="a").image
    with pytest.raises(BuildRefused):
        review_items.send_back_with_comment(revision, " ", scene.world.reviewer, now)


def test_a_comment_that_is_taken_back_before_anything_was_asked_leaves_no_revision(scene: BuilderScene) -> None:
    build = scene.build()
    review_items.send_back_with_comment(build, "Calmer.", scene.world.reviewer, timezone.now())
    returns.undo_return(ItemReturn.objects.get().pk, scene.world.reviewer, timezone.now())
    assert Build.objects.get() == build and scene.items() == [build.item]


def test_a_comment_that_is_taken_back_while_a_request_is_in_flight_writes_it_off(scene: BuilderScene) -> None:
    build = scene.build()
    now, price = timezone.now(), Decimal("0.02")
    revision = review_items.send_back_with_comment(build, "Calmer.", scene.world.reviewer, now)
    Build.objects.filter(pk=revision.pk).update(holder="9:1", lease_until=now + build_job.LEASE)
    step = BuildStep.objects.create(
        build=revision, number=1, kind="instruct", plan_round=0, edit_round=0, request_key="0" * 64, reserved=price,
        at=now, sent_at=now,
    )  # fmt: skip
    returns.undo_return(ItemReturn.objects.get().pk, scene.world.reviewer, now)
    revision.refresh_from_db()
    step.refresh_from_db()
    assert (revision.state, revision.holder, revision.unaccounted) == ("stopped", "", price)
    assert (step.reserved, step.sent_at, step.attempts_made) == (0, None, 1)
    assert [attempt.outcome for attempt in Attempt.objects.filter(scope=step.scope)] == ["lost"]


def test_a_stopped_plan_sends_nothing_more_and_goes_on_where_it_was(scene: BuilderScene) -> None:
    plan = scene.plan()
    plans.stop(plan, scene.world.owner)
    assert Build.objects.get().state == "stopped" and scene.server.counts()["total"] == 0
    with pytest.raises(BuildRefused):
        plans.stop(plan, scene.world.owner)
    plans.resume(plan, scene.world.owner)
    assert scene.work(plan).state == "done" and Build.objects.get().state == "accepted"


def refusals(scene: BuilderScene) -> dict[str, tuple[dict[str, Any], str]]:
    other = endpoints.create(
        scene.world.team,
        scene.world.team_admin,
        timezone.now(),
        kind="open_clip",
        name="Encoder",
        base_url="",
        offers=[],
    )
    unseeing = endpoints.create(
        scene.world.team, scene.world.team_admin, timezone.now(), kind="openai", name="Texts",
        base_url=scene.server.base_url, offers=["schema"],
    )  # fmt: skip
    unconfirmed = scene.add_question(9, state="proposed")
    return {
        "no question": ({"questions": []}, "No question is confirmed"),
        "unconfirmed": ({"questions": [unconfirmed]}, "Q9 is not confirmed"),
        "no source": ({"sources": []}, "at least one source"),
        "twice": ({"sources": [scene.source(), scene.source()]}, "a key of its own"),
        "cannot edit": ({"sources": [scene.source(image_endpoint=other)]}, "cannot edit pictures"),
        "blind critic": ({"sources": [scene.source(chat_endpoint=unseeing)]}, "cannot be the critic"),
        "chat price": ({"sources": [scene.source(chat_model="x")], "budget": Decimal(1)}, "price of “x”"),
        "image price": ({"sources": [scene.source(image_model="x")], "budget": Decimal(1)}, "generated picture"),
        "tiny budget": ({"budget": Decimal("0.01")}, "below the price of one picture"),
    }


def test_a_plan_that_cannot_succeed_is_refused(scene: BuilderScene) -> None:
    for name, (changes, problem) in refusals(scene).items():
        with pytest.raises(BuildRefused, match=problem):
            scene.plan(**changes)
        assert not BuildPlan.objects.exists(), name
    scene.plan()
    with pytest.raises(BuildRefused, match="has a build of “one” already"):
        scene.plan()


@pytest.mark.parametrize("state", build_job.states.WORKING)
def test_a_kill_in_any_state_loses_at_most_what_was_in_flight(
    scene: BuilderScene, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """The kill comes as the result of a step in that state is about to be committed."""
    scene.answer(critic=[verdict("regenerate", a=CONTRAST), verdict()])
    apply, killed = build_job.states.apply, []

    def apply_once(progress: Any, result: Any, rules: Any) -> Any:
        if progress.state == state and not killed:
            killed.append(result)
            raise KeyboardInterrupt
        return apply(progress, result, rules)

    plan = scene.plan()
    monkeypatch.setattr(build_job.states, "apply", apply_once)
    with pytest.raises(KeyboardInterrupt):
        scene.work(plan)
    monkeypatch.setattr(build_job.states, "apply", apply)
    Job.objects.update(state="queued", lease_until=None)
    scene.work(plan)
    build = Build.objects.get()
    lost = Attempt.objects.filter(outcome="lost").count()
    assert build.state == "accepted" and killed and lost <= 2
    assert scene.repeats() <= lost, "what has a reply is not sent again"
    assert (build.unaccounted > 0) == (lost > 0)
    numbers = list(build.steps.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
