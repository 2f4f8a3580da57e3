"""An endpoint makes an image for each sentence: each request once, with its cost, and again only when somebody asks."""

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.services.revisions import returns
from benchmarks.models import FormerJudge, Item, ItemReturn, Stage
from jobs.models import Job
from jobs.services import runner
from people.models import Rater
from predictions.models import Attempt, ImageOrder, ImagePlan, Reply
from predictions.services.endpoints import endpoints
from predictions.services.images import image_job, remakes
from predictions.services.sending import requests
from predictions.tasks import follow_linked_items
from tests.annotation.chain.factories import a_field, a_stage, answer, claim_sheet, create_open_campaign
from tests.annotation.queue.factories import a_person
from tests.killed_workers import finish_despite_kills
from tests.personas import World
from tests.predictions.model_server import STUMBLES, UNAUTHORISED, Act, ReceivedRequest, Server
from tests.predictions.request_helpers import an_endpoint

pytestmark = pytest.mark.django_db
KEEP = {
    "fields": [
        a_field(
            "keep", "choice", options=[{"code": code, "label": {"en": code.title()}} for code in ("keep", "again")]
        ),
        {**a_field("remark", "text"), "required": False},
    ]
}
BLOCKED = Act(status=400, raw='{"error": {"code": "moderation_blocked", "message": "no"}}')
PRICE = {"painter": {"generated": "512x512=0.02, 0.04"}}


class Scene:
    """Sentences, the stage of their images, and a service that makes them."""

    def __init__(self, world: World, server: Server) -> None:
        self.world, self.server = world, server
        self.prompts = a_stage(world.benchmark, "prompts", KEEP, display="words", pictures="none")
        self.images = a_stage(world.benchmark, "generated", KEEP)
        self.endpoint = an_endpoint(world, server.base_url, offers=["images", "seed"])
        endpoints.set_prices(self.endpoint, PRICE, world.team_admin, timezone.now())

    @property
    def path(self) -> str:
        return f"/b/{self.world.benchmark.slug}/images/{self.images.pk}/"

    def add_sentences(self, *concepts: str) -> None:
        for concept in concepts:
            Item.objects.create(
                stage=self.prompts, key=f"br/{concept}", concept=concept, origin="Brazil", text=f"A photo of {concept}"
            )

    def post(self, path: str = "", user: Any = None, **data: Any) -> Any:
        return self.world.client(user or self.world.mara).post(path or self.path, data)

    def start(self, **more: Any) -> ImagePlan:
        data = {
            "source": self.prompts.pk,
            "endpoint": self.endpoint.pk,
            "model": "painter",
            "size": "512x512",
            "seed": 7,
        }
        reply = self.post(**(data | {"do": "start"} | more))
        assert reply.status_code == 302, reply.content.decode()
        return ImagePlan.objects.latest("pk")

    def act(self, do: str, **more: Any) -> None:
        assert self.post(f"{self.path}action/", do=do, **more).status_code == 302

    def page(self) -> str:
        return str(self.world.client(self.world.mara).get(self.path).content.decode())

    def work(self, plan: ImagePlan) -> ImagePlan:
        """What the worker does, slice after slice, until the plan's job is over."""
        for _slice in range(20):
            plan.refresh_from_db()
            assert plan.job_id is not None
            ImageOrder.objects.update(not_before=None)
            Job.objects.filter(pk=plan.job_id, state="queued").update(lease_until=None)
            runner.run(plan.job_id)
            if Job.objects.get(pk=plan.job_id).state != "queued":
                break
        plan.refresh_from_db()
        return plan

    def states(self) -> dict[str, str]:
        return {order.item.concept: order.state for order in ImageOrder.objects.select_related("item")}

    def live(self) -> list[Item]:
        return list(Item.objects.filter(stage=self.images, withdrawn_at=None).order_by("key"))

    def asked_prompts(self) -> list[str]:
        return sorted(asked.body["prompt"] for asked in self.server.asked)


@pytest.fixture
def scene(world: World, scripted_server: Server) -> Scene:
    return Scene(world, scripted_server)


def test_each_sentence_gets_one_image_with_its_cost_and_later_ones_are_added(scene: Scene) -> None:
    scene.add_sentences("dance", "music")
    look = scene.post(source=scene.prompts.pk, endpoint=scene.endpoint.pk, model="painter", size="512x512", seed=7)
    assert "2 images would be made" in look.content.decode() and "0.04" in look.content.decode()
    assert not ImagePlan.objects.exists() and scene.server.counts()["total"] == 0
    plan = scene.work(scene.start())
    assert plan.state == "done" and scene.states() == {"dance": "made", "music": "made"}
    first, second = scene.live()
    assert (first.key, first.concept, first.origin) == ("br/dance", "dance", "Brazil")
    assert first.context["prompt"] == "A photo of dance" and Decimal(first.context["cost"]) == Decimal("0.02")
    assert first.images.get().alt == "A photo of dance" and first.sources.get().source.stage == scene.prompts
    seeds = {asked.body["prompt"]: asked.body["seed"] for asked in scene.server.asked}
    assert seeds["A photo of dance"] == first.context["seed"] == requests.derived_seed(7, "br/dance", 1)
    assert list(Attempt.objects.values_list("outcome", "cost", "call")) == [("reply", Decimal("0.02"), None)] * 2
    scene.add_sentences("ritual")
    scene.act("resume")
    assert scene.work(plan).state == "done" and len(scene.live()) == 3
    assert scene.server.counts()["total"] == 3, "what has a reply is not sent again"
    assert "3 of 3 images made" in scene.page() and second in scene.live()


def test_a_sentence_that_a_filter_drops_meanwhile_is_not_paid_for(scene: Scene) -> None:
    scene.add_sentences("dance", "music")
    plan = scene.start()
    music = Item.objects.filter(stage=scene.prompts, concept="music")
    music.update(intake=Item.Intake.DROPPED)
    assert scene.work(plan).state == "done" and scene.asked_prompts() == ["A photo of dance"]
    music.update(intake=Item.Intake.KEPT)
    scene.act("resume")
    assert scene.work(plan).state == "done" and scene.states() == {"dance": "made", "music": "made"}


def test_the_same_plan_after_a_stop_takes_its_replies_from_the_cache(scene: Scene) -> None:
    scene.add_sentences("dance")
    scene.work(scene.start())
    scene.act("cancel")
    Item.objects.filter(stage=scene.images).update(withdrawn_at=timezone.now(), key="old")
    scene.work(scene.start())
    assert scene.server.counts()["total"] == 1 and len(scene.live()) == 1
    assert ImageOrder.objects.latest("pk").cached and ImageOrder.objects.latest("pk").cost == 0


def test_a_refusal_is_stored_and_never_sent_again_while_an_error_of_the_server_is_retried(scene: Scene) -> None:
    def act(asked: ReceivedRequest) -> Act | None:
        return BLOCKED if "funeral" in asked.text else STUMBLES if "dance" in asked.text and asked.seen == 1 else None

    scene.server.answer_by(act)
    scene.add_sentences("dance", "funeral")
    plan = scene.work(scene.start())
    assert plan.state == "done" and scene.states() == {"dance": "made", "funeral": "refused"}
    assert scene.asked_prompts() == ["A photo of dance"] * 2 + ["A photo of funeral"]
    assert "refuses to make this picture" in Reply.objects.get(body__has_key="refusal").body["refusal"]
    assert "A photo of funeral" in scene.page() and "Refused by the service" in scene.page()
    scene.act("resume")
    assert scene.server.counts()["total"] == 3, "there is nothing left to make"


def test_a_wrong_key_pauses_the_plan_and_loses_no_order(scene: Scene) -> None:
    scene.server.set(default=UNAUTHORISED)
    scene.add_sentences("dance")
    plan = scene.work(scene.start())
    assert (plan.state, plan.stopped_because) == ("paused", "not_allowed") and "Authentication failed" in scene.page()
    scene.server.set(default=Act())
    scene.act("resume")
    assert scene.work(plan).state == "done" and scene.states() == {"dance": "made"}


def test_a_budget_is_never_passed_and_what_waits_for_money_is_made_when_it_comes(scene: Scene) -> None:
    scene.add_sentences(*"abcde")
    plan = scene.work(scene.start(budget="0.05"))
    assert (plan.state, plan.stopped_because) == ("paused", "budget") and scene.server.counts()["total"] == 2
    assert image_job.spent_on(plan) == Decimal("0.04")
    scene.act("budget", budget="0.04")
    assert ImagePlan.objects.get().budget == Decimal("0.05"), "it can only be raised"
    scene.act("budget", budget="1")
    assert scene.work(plan).state == "done" and len(scene.live()) == 5
    assert sum(Attempt.objects.values_list("cost", flat=True)) == image_job.spent_on(plan) == Decimal("0.10")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"model": "unknown", "budget": "1"}, "A budget needs a price"),
        ({"budget": "0.01"}, "below the price of one image"),
        ({"size": "large"}, "Give width and height in pixels"),
        ({}, "No sentence waits for an image"),
    ],
)
def test_a_plan_that_cannot_succeed_is_refused(scene: Scene, changes: dict[str, str], problem: str) -> None:
    endpoints.set_prices(scene.endpoint, {"painter": {"generated": "0.02"}}, scene.world.team_admin, timezone.now())
    data = {"source": scene.prompts.pk, "endpoint": scene.endpoint.pk, "model": "painter", "do": "start", "seed": 0}
    reply = scene.post(**(data | changes))
    assert reply.status_code == 400 and problem in reply.content.decode()
    assert not ImagePlan.objects.exists() and not Job.objects.exists()


def test_a_worker_killed_between_reply_and_commit_sends_only_what_was_in_flight_once_more(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.add_sentences(*"abcdef")
    type(scene.endpoint).objects.update(most_in_flight=2)
    write, written = image_job.finish_order, []

    def finish_order(*arguments: Any) -> None:
        if len(written) == 3:
            raise KeyboardInterrupt  # as a kill: nothing of this transaction is committed
        written.append(arguments)
        write(*arguments)

    monkeypatch.setattr(image_job, "finish_order", finish_order)
    plan = scene.start()
    with pytest.raises(KeyboardInterrupt):
        scene.work(plan)
    assert ImageOrder.objects.filter(state="made").count() == len(scene.live()) == Reply.objects.count() == 3
    monkeypatch.setattr(image_job, "finish_order", write)
    Job.objects.update(state="queued", lease_until=None)
    plan = scene.work(plan)
    lost = Attempt.objects.filter(outcome="lost").count()
    assert plan.state == "done" and len(scene.live()) == 6 and 1 <= lost <= 2
    assert scene.server.counts()["total"] == 6 + lost and plan.unaccounted == lost * Decimal("0.02")
    assert Reply.objects.count() == 6


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_eighty_images_survive_ten_kills_and_what_is_committed_is_never_asked_again(scene: Scene) -> None:
    scene.add_sentences(*(f"thing {n}" for n in range(80)))
    plan = scene.start()
    committed: dict[str, int] = {}

    def note_committed() -> None:
        """How often each image was asked for that was committed when a worker was killed."""
        ImageOrder.objects.update(not_before=None)
        requests = Counter(scene.asked_prompts())
        for prompt in ImageOrder.objects.filter(state="made").values_list("prompt", flat=True):
            committed.setdefault(prompt, requests[prompt])

    assert plan.job_id is not None
    finish_despite_kills(
        plan.job_id, kills=10, requests=lambda: scene.server.counts()["total"], gap=(6, 12), prepare=note_committed
    )
    plan.refresh_from_db()
    assert plan.state == "done" and len(scene.live()) == 80 == Reply.objects.count()
    requests = Counter(scene.asked_prompts())
    assert len(committed) > 10 and {prompt: requests[prompt] for prompt in committed} == committed
    lost = Attempt.objects.filter(outcome="lost").count()
    assert len(requests) == 80 and requests.total() - 80 <= lost <= 10 * image_job.MOST_AT_ONCE
    price = Decimal("0.02")
    assert sum(ImageOrder.objects.values_list("cost", flat=True)) == 80 * price
    assert plan.unaccounted == lost * price > 0 and image_job.spent_on(plan) == (80 + lost) * price


def test_make_again_orders_a_revision_with_the_remark_for_people_who_did_not_judge_the_first(scene: Scene) -> None:
    scene.add_sentences("dance")
    plan = scene.work(scene.start())
    [first] = scene.live()
    cohort = scene.world.egypt
    campaign = create_open_campaign(scene.images, cohort)
    judge = a_person(cohort)
    assert judge.user is not None
    scene.world.give_consent(scene.world.team, judge.user)
    answer(claim_sheet(judge, campaign, cohort), keep="again", remark="Show a stage")
    now = timezone.now()
    assert remakes.return_images(now) == 1 and remakes.return_images(now) == 0
    assert returns.call_makers(now) == 1 and returns.call_makers(now) == 0
    scene.work(plan)
    [second] = scene.live()
    assert (second.key, second.revision, second.replaces) == ("br/dance.v2", 2, first)
    assert scene.server.asked[-1].body["prompt"] == "A photo of dance\n\nShow a stage"
    assert scene.server.asked[-1].body["seed"] != first.context["seed"]
    assert second.context["prompt"] == "A photo of dance" and second.context["sent_prompt"].endswith("Show a stage")
    assert list(FormerJudge.objects.filter(item=second).values_list("user", flat=True)) == [judge.user_id]
    assert ItemReturn.objects.get().comment == "Show a stage" and Rater.objects.filter(pk=judge.pk).exists()


def test_an_image_leaves_and_returns_with_its_prompt_unless_it_was_withdrawn_for_another_reason(scene: Scene) -> None:
    scene.add_sentences("dance", "food")
    scene.work(scene.start())
    dance, food = Item.objects.filter(stage=scene.images).order_by("concept")
    prompts = Item.objects.filter(stage=scene.prompts)
    Item.objects.filter(pk=food.pk).update(withdrawn_at=timezone.now(), withdrawn_because="by hand")
    prompts.update(withdrawn_at=timezone.now())
    assert follow_linked_items() == 1 and scene.live() == []
    prompts.update(withdrawn_at=None)
    assert follow_linked_items() == 1 and scene.live() == [dance]
    assert follow_linked_items() == 0, "nothing is left to do"


def test_a_return_that_is_undone_before_the_image_is_made_makes_none(scene: Scene) -> None:
    scene.add_sentences("dance")
    plan = scene.work(scene.start())
    [first] = scene.live()
    row = returns.return_item(first.pk, scene.world.reviewer, "Brighter", timezone.now())
    returns.call_makers(timezone.now())
    returns.undo_return(row.pk, scene.world.reviewer, timezone.now())
    scene.work(plan)
    assert scene.live() == [first] and scene.server.counts()["total"] == 1


def test_a_pause_stops_before_the_next_request_and_goes_on(scene: Scene) -> None:
    scene.add_sentences("dance")
    plan = scene.start()
    scene.act("pause")
    assert scene.work(plan).state == "paused" and scene.server.counts()["total"] == 0
    assert "Paused by a user" in scene.page()
    scene.act("resume")
    assert scene.work(plan).state == "done"


def test_only_those_who_work_on_the_benchmark_see_plans_or_start_them(scene: Scene) -> None:
    scene.add_sentences("dance")
    world = scene.world
    for user in (world.stranger, world.annotators[0], world.reviewer):
        client = world.client(user)
        assert client.get(scene.path).status_code == 404 and scene.post(user=user, do="start").status_code == 404
        assert client.get(f"/b/{world.benchmark.slug}/images/").status_code == 404
        assert scene.post(f"{scene.path}action/", user=user, do="resume").status_code == 404
    collecting = a_stage(world.benchmark, "photographs", KEEP)
    Stage.objects.filter(pk=collecting.pk).update(target_answers=0, name="Photographs")
    stages = world.client(world.mara).get(f"/b/{world.benchmark.slug}/images/").content.decode()
    assert "Photographs" in stages, "it may get images while it is empty"
    Item.objects.create(stage=collecting, key="photo")
    stages = world.client(world.mara).get(f"/b/{world.benchmark.slug}/images/").content.decode()
    assert "Photographs" not in stages, "its pictures are imported"
    assert '<option value="painter">' in scene.page(), "what the endpoint has a price for is offered"
    assert "Generated" in world.client(world.mara).get(f"/b/{world.benchmark.slug}/images/").content.decode()
    assert world.client(world.mara).get(f"/b/{world.benchmark.slug}/images/{scene.prompts.pk}/").status_code == 404


def test_an_order_of_another_attempt_is_sent_again_only_when_its_lease_is_over(scene: Scene) -> None:
    scene.add_sentences("dance")
    plan, now = scene.start(), timezone.now()
    [order] = image_job.claim(plan, "999:1", 8, now)
    assert image_job.claim(plan, "1:1", 8, now) == [] and image_job.reclaim(plan, "1:1", None, now) == 0
    ImageOrder.objects.filter(pk=order.pk).update(lease_until=now - timedelta(seconds=1), asked_at=now)
    assert image_job.reclaim(plan, "1:1", Decimal("0.02"), now) == 1
    plan.refresh_from_db()
    assert plan.unaccounted == Decimal("0.02") and Stage.objects.filter(pk=scene.images.pk).exists()


def test_the_page_says_that_a_price_is_unknown_and_that_an_endpoint_is_missing(scene: Scene) -> None:
    endpoints.set_prices(scene.endpoint, {}, scene.world.team_admin, timezone.now())
    scene.add_sentences("dance")
    assert "The team has no endpoint" not in scene.page()
    plan = scene.start()
    assert "the endpoint has no price for this model" not in scene.page(), "nothing was made, and nothing was spent"
    scene.work(plan)
    page = scene.page()
    assert "the endpoint has no price for this model" in page and "<dd>$ 0" not in page
    scene.act("cancel")
    endpoints.retire(scene.endpoint, scene.world.team_admin, timezone.now())
    page = scene.page()
    assert "The team has no endpoint that makes images." in page
    assert reverse("predictions:endpoints", args=[scene.world.team.slug]) in page
