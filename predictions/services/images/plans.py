"""Image plans: each sentence of a stage gets an image, made by an endpoint, as an item of another stage.

Locks: the stage that gets the items, then the plan, then its orders in the order of their ids.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from benchmarks.models import Item, Stage
from benchmarks.queries.availability import is_kept
from benchmarks.services.intake.judging import lock_stage
from jobs.models import record
from jobs.services import lifecycle as jobs
from people.models import User
from predictions.models import Endpoint, ImageOrder, ImagePlan
from predictions.services.endpoints import endpoints
from predictions.services.sending.prices import RequestPrice
from predictions.services.sending.prices import price_of as price_of_request
from predictions.services.sending.requests import ImageRequest, derived_seed

KIND = "make_images"
MOST_PROMPT = 4000
State = ImagePlan.State
OrderState = ImageOrder.State
RETRIED = (OrderState.FAILED, OrderState.OVER_BUDGET)


class ImagePlanRefused(Exception):
    """Nothing was started or changed; the message says why and what to do."""


@dataclass(frozen=True)
class ImageSettings:
    """What a person chooses: who makes the images, how, and for how much."""

    endpoint: Endpoint
    model: str
    size: str = ""
    quality: str = ""
    seed: int = 0
    budget: Decimal | None = None


@dataclass(frozen=True)
class ImageOutlook:
    """How many images would be made, and what they cost; `cost` is None where nobody has said it."""

    images: int
    price: Decimal | None

    @property
    def cost(self) -> Decimal | None:
        return None if self.price is None else self.price * self.images


def outlook(source: Stage, chosen: ImageSettings, at: datetime) -> ImageOutlook:
    _prices, price = endpoints.image_price_of(chosen.endpoint, chosen.model, chosen.size, at)
    return ImageOutlook(prompts_of(source).count(), price)


def prompts_of(source: Stage) -> "QuerySet[Item]":
    """Items that say what an image is to show."""
    return Item.objects.filter(is_kept(), stage=source).exclude(text="")


def live_plan(stage: Stage) -> ImagePlan | None:
    """The plan of the stage that was not stopped; there is at most one."""
    return ImagePlan.objects.filter(stage=stage).exclude(state=State.CANCELLED).first()


def start(source: Stage, stage: Stage, chosen: ImageSettings, actor: User, at: datetime) -> ImagePlan:
    """Order an image for each prompt, and begin. Raises ImagePlanRefused."""
    check(chosen, at)
    with transaction.atomic():
        lock_stage(stage)
        if live_plan(stage) is not None:
            raise ImagePlanRefused(_("This stage has a plan already. Stop it first, or add the new sentences to it."))
        plan = ImagePlan.objects.create(
            source=source, stage=stage, endpoint=chosen.endpoint, model=chosen.model, size=chosen.size,
            quality=chosen.quality, seed=chosen.seed, budget=chosen.budget, created_by=actor,
        )  # fmt: skip
        if not _add_orders(plan):
            raise ImagePlanRefused(_("No sentence waits for an image. Create sentences in “%(stage)s” first.")
                                   % {"stage": source.name})  # fmt: skip
        _begin(plan, actor, "images.started")
    return plan


def check(chosen: ImageSettings, at: datetime) -> None:
    """Raises ImagePlanRefused where no request of such a plan could be sent."""
    if chosen.endpoint.kind != Endpoint.Kind.OPENAI:
        raise ImagePlanRefused(_("This endpoint makes no images. Choose a server that speaks the OpenAI protocol."))
    if chosen.endpoint.retired_at:
        raise ImagePlanRefused(_("This endpoint was retired. Choose another one."))
    if chosen.budget is None:
        return
    _prices, price = endpoints.image_price_of(chosen.endpoint, chosen.model, chosen.size, at)
    if price is None:
        text = _("A budget needs a price. Add the price of a generated picture for “%(model)s” at the endpoint.")
        raise ImagePlanRefused(text % {"model": chosen.model})
    if price > chosen.budget:
        raise ImagePlanRefused(_("The budget is below the price of one image (%(price)s $).") % {"price": price})


def _add_orders(plan: ImagePlan) -> int:
    """Order what no order, and no live item of the stage, is there for."""
    ordered = ImageOrder.objects.filter(plan=plan).values("item")
    finished = ImageOrder.objects.filter(plan__stage=plan.stage_id, created__withdrawn_at=None, created__isnull=False)
    rows = prompts_of(plan.source).exclude(pk__in=ordered).exclude(pk__in=finished.values("item"))
    orders = [
        ImageOrder(plan=plan, item=item, prompt=item.text[:MOST_PROMPT], seed=derived_seed(plan.seed, item.key, 1))
        for item in rows.order_by("pk").iterator(chunk_size=2000)
    ]
    ImageOrder.objects.bulk_create(orders, batch_size=1000)
    return len(orders)


def _begin(plan: ImagePlan, actor: User | None, verb: str) -> None:
    """Send the job of the plan. Needs a transaction."""
    scope = plan.stage.benchmark.scope
    title = _("Images for “%(stage)s”") % {"stage": plan.stage.name}
    job = jobs.start(KIND, title, scope=scope, actor=actor, params={"plan": plan.pk})
    ImagePlan.objects.filter(pk=plan.pk).update(state=State.RUNNING, stopped_because="", job=job)
    plan.job, plan.state, plan.stopped_because = job, State.RUNNING, ""
    record(actor, verb, scope=scope, target=f"image-plan:{plan.pk}")


def resume(plan: ImagePlan, actor: User) -> None:
    """Go on: with sentences that came later, and with images that failed. Raises ImagePlanRefused."""
    with transaction.atomic():
        lock_stage(plan.stage)
        locked = _lock(plan)
        if locked.state == State.RUNNING:
            raise ImagePlanRefused(_("The images are being made already."))
        if locked.state == State.CANCELLED:
            raise ImagePlanRefused(_("This plan was stopped. Start a new one."))
        retried = ImageOrder.objects.filter(plan=locked, state__in=RETRIED)
        n = retried.update(state=OrderState.PENDING, reason="", message="", tries=0, not_before=None, ended_at=None)
        n += _add_orders(locked)
        if not n and not open_orders(locked).exists():
            raise ImagePlanRefused(_("Every sentence has an image. Nothing is left to make."))
        _begin(locked, actor, "images.resumed")


def pause(plan: ImagePlan, actor: User) -> None:
    """Send nothing more; requests in flight are still read. Raises ImagePlanRefused."""
    with transaction.atomic():
        locked = _lock(plan)
        if locked.state != State.RUNNING:
            raise ImagePlanRefused(_("The plan is not running now."))
        _set_state(locked, State.PAUSED, "person", actor, "images.paused")
        if locked.job is not None:
            jobs.request_cancel(locked.job, actor)


def cancel(plan: ImagePlan, actor: User) -> None:
    """Stop for good; the images that were made stay. Raises ImagePlanRefused."""
    with transaction.atomic():
        locked = _lock(plan)
        if locked.state == State.CANCELLED:
            raise ImagePlanRefused(_("This plan was stopped already."))
        _set_state(locked, State.CANCELLED, "stopped", actor, "images.cancelled")
        if locked.job is not None:
            jobs.request_cancel(locked.job, actor)


def raise_budget(plan: ImagePlan, budget: Decimal, actor: User) -> None:
    """What waited for money is made. Raises ImagePlanRefused."""
    with transaction.atomic():
        locked = _lock(plan)
        if locked.budget is None or budget <= locked.budget:
            raise ImagePlanRefused(_("Give a budget above the present one."))
        ImagePlan.objects.filter(pk=locked.pk).update(budget=budget)
        scope = locked.stage.benchmark.scope
        record(actor, "images.budget_raised", scope=scope, target=f"image-plan:{locked.pk}", budget=str(budget))
    if locked.state == State.PAUSED:
        resume(plan, actor)


def _lock(plan: ImagePlan) -> ImagePlan:
    rows = ImagePlan.objects.select_related("stage__benchmark", "source", "endpoint", "job")
    return rows.select_for_update(no_key=True, of=("self",)).get(pk=plan.pk)


def _set_state(plan: ImagePlan, state: str, because: str, actor: User | None, verb: str) -> None:
    ImagePlan.objects.filter(pk=plan.pk).update(state=state, stopped_because=because)
    record(actor, verb, scope=plan.stage.benchmark.scope, target=f"image-plan:{plan.pk}")


def order_revision(item: Item, comment: str) -> ImageOrder | None:
    """Order the next revision of an image that was returned with a comment, and begin; None where it is ordered
    already. Raises ImagePlanRefused where its plan was stopped."""
    former = ImageOrder.objects.select_related("plan", "item").get(created=item)
    plan, revision = _lock(former.plan), former.revision + 1
    if plan.state == State.CANCELLED:
        raise ImagePlanRefused(_("The plan of this image was stopped."))
    order, is_new = ImageOrder.objects.get_or_create(
        plan=plan, item=former.item, revision=revision,
        defaults={
            "replaces": item, "prompt": revised_prompt(former.item.text, comment),
            "seed": derived_seed(plan.seed, former.item.key, revision),
        },
    )  # fmt: skip
    if not is_new:
        return None
    if plan.state == State.DONE:
        _begin(plan, None, "images.revision_ordered")
    return order


def withdraw_revision(item: Item) -> None:
    """The return of this image is undone: what was ordered and not begun is not made."""
    ImageOrder.objects.filter(replaces=item, state__in=(OrderState.PENDING, *RETRIED), attempts_made=0).delete()


def open_orders(plan: ImagePlan) -> "QuerySet[ImageOrder]":
    """What is still to be made; a sentence that was withdrawn, or that a filter dropped, needs no image."""
    return ImageOrder.objects.filter(is_kept("item__"), plan=plan, state__in=(OrderState.PENDING, OrderState.RUNNING))


def revised_prompt(prompt: str, comment: str) -> str:
    """The prompt with what is to be changed."""
    return f"{prompt[:MOST_PROMPT]}\n\n{comment.strip()[:MOST_PROMPT]}".strip()


def request_of(plan: ImagePlan, order: ImageOrder) -> ImageRequest:
    return ImageRequest(plan.endpoint, plan.model, order.prompt, order.seed, plan.size, plan.quality)


def price_of(plan: ImagePlan, at: datetime) -> RequestPrice:
    """Of one image of the plan."""
    return price_of_request(ImageRequest(plan.endpoint, plan.model, "", 0, plan.size, plan.quality), at)
