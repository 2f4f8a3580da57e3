"""The job of an image plan: claim orders, send them, and write each result with its item in one transaction.

It resumes from what is committed. Lost with a worker are at most the requests in flight: they are counted as attempts,
added to `ImagePlan.unaccounted` at their price, and sent once more. An order whose request has a reply sends nothing.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from django.db import transaction
from django.db.models import F, Q, Sum
from django.urls import reverse
from django.utils import timezone

from annotation.models import ItemSource
from annotation.services.derivation.derived_items import sync_campaign_slots
from benchmarks.models import Image, Item, ItemImage, Stage
from benchmarks.queries.availability import is_kept
from benchmarks.rules.revisions import revision_key, split_revision
from benchmarks.services.intake import arrivals
from benchmarks.services.intake.judging import lock_stage
from jobs.models import Job, record
from jobs.services.job_context import JobCancelled, JobContext, JobFailed, Requeue, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from predictions.backends.contract import CallError
from predictions.models import ImageOrder, ImagePlan, Reply
from predictions.services.endpoints import endpoints
from predictions.services.images import plans
from predictions.services.runs.engine.retries import may_retry, retry_delay
from predictions.services.sending.pool import RequestPool, SendResult
from predictions.services.sending.requests import known_reply
from predictions.services.sending.results import image_of, record_lost, record_result
from predictions.texts.call_reasons import pause_reason_text

LEASE = timedelta(minutes=10)
MOST_AT_ONCE = 8
BEAT_SECONDS = 5.0
SLOT_WAIT = timedelta(seconds=1)  # before an order that found no place at the endpoint is claimed again
State = ImageOrder.State


def run(work: JobContext) -> None:
    rows = ImagePlan.objects.select_related("stage__benchmark__team", "source", "endpoint")
    plan = rows.get(pk=work.params["plan"])
    if plan.state == ImagePlan.State.CANCELLED or plan.job_id != work.job.pk:
        raise JobCancelled
    ImagePlan.objects.filter(pk=plan.pk).update(state=ImagePlan.State.RUNNING, stopped_because="")
    pool: RequestPool[ImageOrder] = RequestPool(_holder(work), MOST_AT_ONCE)
    try:
        pool.connect(plan.endpoint, "image")
        _ImageWork(work, plan, pool).run()
    except endpoints.EndpointRefused as refused:
        _pause(plan, "retired")
        raise JobFailed(str(refused)) from refused
    except JobCancelled:
        _pause(plan, "person")
        raise
    finally:
        pool.close()


def _holder(work: JobContext) -> str:
    return f"{work.job.pk}:{work.job.attempts}"


def next_link(job: Job) -> NextLink | None:
    plan = ImagePlan.objects.select_related("stage__benchmark").filter(pk=job.params.get("plan")).first()
    if plan is None:
        return None
    address = reverse("predictions:images", args=[plan.stage.benchmark.slug, plan.stage_id])
    return NextLink(plan.stage.name, address)


MAKE = JobKind(plans.KIND, run, next_link)


class _ImageWork:
    """One attempt of the job."""

    def __init__(self, work: JobContext, plan: ImagePlan, pool: RequestPool[ImageOrder]) -> None:
        self.work, self.plan, self.pool, self.holder = work, plan, pool, _holder(work)
        self.price = plans.price_of(plan, timezone.now())

    def run(self) -> None:
        reclaim(self.plan, self.holder, self.price.most, timezone.now())
        self.work.expect(ImageOrder.objects.filter(plan=self.plan).count())
        turn = TimeSlice(self.work)
        most = max(1, min(MOST_AT_ONCE, self.plan.endpoint.most_in_flight))
        while True:
            turn.is_over()
            self.work.check()
            orders = claim(self.plan, self.holder, most, timezone.now())
            if not orders:
                return self._end()
            unsent = [order for order in orders if not self._take_known_reply(order)]
            self._send_all(self._affordable(unsent))

    def _end(self) -> None:
        """Nothing can be sent now: done, or there is something to wait for."""
        with transaction.atomic():  # the plan's row first: nobody orders a revision in the midst
            plan = ImagePlan.objects.select_for_update(no_key=True, of=("self",)).get(pk=self.plan.pk)
            waiting = plans.open_orders(plan).order_by("not_before").first()
            if waiting is not None:
                left = waiting.not_before - timezone.now() if waiting.not_before else timedelta(0)
                raise Requeue(max(timedelta(seconds=1), left))
            if plan.state != ImagePlan.State.RUNNING or plan.job_id != self.work.job.pk:
                raise JobCancelled
            if not ImageOrder.objects.filter(plan=plan, state=State.OVER_BUDGET).exists():
                ImagePlan.objects.filter(pk=plan.pk).update(state=ImagePlan.State.DONE)
                scope, actor = self.plan.stage.benchmark.scope, self.work.job.created_by
                record(actor, "images.done", scope=scope, target=f"image-plan:{plan.pk}", implied=True)
                return
        self._give_up("budget")

    def _take_known_reply(self, order: ImageOrder) -> bool:
        """Whether the very request was answered before: then nothing is sent."""
        reply = known_reply(self.plan.stage.benchmark.team, plans.request_of(self.plan, order).key)
        if reply is None:
            return False
        with transaction.atomic():
            stage = lock_stage(self.plan.stage)
            if self._lock(order):
                order.cached = True
                finish_order(stage, self.plan, order, reply, image_of(reply))
                self._step()
        return True

    def _affordable(self, orders: Sequence[ImageOrder]) -> list[ImageOrder]:
        """Those that the budget has room for; all others of the plan wait for more money."""
        plan, price = self.plan, self.price.most
        if plan.budget is None:
            return list(orders)
        if price is None:
            self._give_up("price")
        room = plan.budget - spent_on(plan)
        n = max(0, min(len(orders), int(room / price))) if price else len(orders)
        if n < len(orders):
            left = Q(state=State.PENDING) | Q(pk__in=[order.pk for order in orders[n:]], holder=self.holder)
            ImageOrder.objects.filter(left, plan=plan).update(
                state=State.OVER_BUDGET, reason="budget", holder="", lease_until=None
            )
        return list(orders[:n])

    def _send_all(self, orders: Sequence[ImageOrder]) -> None:
        """All at once; each result is written as it comes. A cancellation waits for those in flight."""
        if not orders:
            return
        at = timezone.now()
        ImageOrder.objects.filter(pk__in=[order.pk for order in orders], holder=self.holder).update(asked_at=at)
        cancelled: JobCancelled | None = None
        trouble = ""
        for order in orders:
            self.pool.submit(order, plans.request_of(self.plan, order))
        while self.pool.in_flight:
            for order, result in self.pool.collect(BEAT_SECONDS):
                trouble = self._write(order, result) or trouble
            try:
                self.work.beat()
            except JobCancelled as asked:
                cancelled = asked
        if cancelled is not None:
            raise cancelled
        if trouble:
            self._give_up(trouble)

    def _write(self, order: ImageOrder, result: SendResult) -> str:
        """The attempt, the reply with its image, the cost and the item: all of it or nothing. Return why the plan has
        to stop, or nothing."""
        plan, now = self.plan, timezone.now()
        with transaction.atomic():
            stage = lock_stage(plan.stage)
            if not self._lock(order):
                return ""
            if not result.sent:
                order.not_before = now + SLOT_WAIT
                _wait_again(order)
                order.save()
                return ""
            order.attempts_made += 1
            order.tries += 1
            recorded = record_result(
                stage.benchmark.team, plans.request_of(plan, order), result, scope=order.scope,
                number=order.attempts_made, price=self.price,
            )  # fmt: skip
            order.cost += recorded.cost or 0
            if recorded.unaccounted:
                ImagePlan.objects.filter(pk=plan.pk).update(unaccounted=F("unaccounted") + recorded.unaccounted)
            if recorded.reply is not None:
                finish_order(stage, plan, order, recorded.reply, recorded.image)
            elif result.error is not None:
                self._fail(order, result.error, now)
            else:
                _end_order(order, State.FAILED, "permanent", recorded.problem, now)
            self._step()
        stops = result.error is not None and result.error.trouble == "not_allowed"
        return "not_allowed" if stops else ""

    def _fail(self, order: ImageOrder, error: CallError, now: datetime) -> None:
        if error.trouble == "not_allowed":
            _wait_again(order)
            order.save()
        elif may_retry(error, order.tries):
            order.not_before = now + retry_delay(order.tries, error.retry_after, order.scope)
            _wait_again(order)
            order.save()
        else:
            _end_order(order, State.FAILED, error.trouble, error.words, now)

    def _lock(self, order: ImageOrder) -> bool:
        """Whether this attempt still holds the order. Needs the transaction that writes it."""
        rows = ImageOrder.objects.select_for_update(no_key=True)
        return bool(list(rows.filter(pk=order.pk, state=State.RUNNING, holder=self.holder).values_list("pk")))

    def _step(self) -> None:
        ended = ImageOrder.objects.filter(plan=self.plan).exclude(state__in=(State.PENDING, State.RUNNING))
        self.work.step(done=ended.count(), cursor={})

    def _give_up(self, because: str) -> None:
        """Nothing more can be sent: what is claimed waits again. Raises JobFailed."""
        claimed = ImageOrder.objects.filter(plan=self.plan, state=State.RUNNING, holder=self.holder)
        claimed.update(state=State.PENDING, holder="", lease_until=None, asked_at=None)
        _pause(self.plan, because)
        raise JobFailed(pause_reason_text(because))


def claim(plan: ImagePlan, holder: str, most: int, at: datetime) -> list[ImageOrder]:
    """Hold at most `most` orders that can be sent now."""
    due = Q(not_before=None) | Q(not_before__lte=at)
    with transaction.atomic():
        if not ImagePlan.objects.filter(pk=plan.pk, state=ImagePlan.State.RUNNING).exists():
            raise JobCancelled
        rows = ImageOrder.objects.select_for_update(no_key=True, skip_locked=True, of=("self",))
        wanted = rows.filter(due, is_kept("item__"), plan=plan, state=State.PENDING)
        orders = list(wanted.select_related("item", "replaces").order_by("pk")[:most])
        for order in orders:
            order.state, order.holder, order.lease_until = State.RUNNING, holder, at + LEASE
            order.asked_at = order.not_before = None
        ImageOrder.objects.bulk_update(orders, ["state", "holder", "lease_until", "asked_at", "not_before"])
    return orders


def reclaim(plan: ImagePlan, holder: str, price: Decimal | None, at: datetime) -> int:
    """Orders of attempts that ended without a word wait again; return how many of them had been sent. Their requests
    may be charged."""
    job = holder.partition(":")[0]
    gone = Q(lease_until__lt=at) | Q(holder__startswith=f"{job}:")
    with transaction.atomic():
        rows = ImageOrder.objects.select_for_update(no_key=True).filter(gone, plan=plan, state=State.RUNNING)
        orders = list(rows.exclude(holder=holder).order_by("pk"))
        sent = [order for order in orders if order.asked_at is not None]
        for order in sent:
            order.attempts_made += 1
            record_lost(order.scope, order.attempts_made, order.asked_at or at)
        for order in orders:
            _wait_again(order)
        ImageOrder.objects.bulk_update(orders, ["state", "holder", "lease_until", "asked_at", "attempts_made"])
        if sent and price:
            ImagePlan.objects.filter(pk=plan.pk).update(unaccounted=F("unaccounted") + price * len(sent))
    return len(sent)


def spent_on(plan: ImagePlan) -> Decimal:
    """US dollars, with what may have been spent."""
    dollars = ImageOrder.objects.filter(plan=plan).aggregate(sum=Sum("cost"))["sum"] or Decimal(0)
    return Decimal(dollars) + ImagePlan.objects.values_list("unaccounted", flat=True).get(pk=plan.pk)


def finish_order(stage: Stage, plan: ImagePlan, order: ImageOrder, reply: Reply, image: Image | None) -> None:
    """End the order by its reply: with an item of the stage, or as refused. Needs the locks of stage and order."""
    now = timezone.now()
    order.reply = reply
    if image is None:
        return _end_order(order, State.REFUSED, "content_filter", str(reply.body.get("refusal", "")), now)
    order.created = _create_item(stage, plan, order, image)
    _end_order(order, State.MADE, "", "", now)
    arrivals.judge_and_notify(stage, [order.created.pk])
    transaction.on_commit(partial(sync_campaign_slots, stage.pk, [order.created.pk]), robust=True)
    return None


def _wait_again(order: ImageOrder) -> None:
    """Nobody holds it any more. Saves nothing."""
    order.state, order.holder, order.lease_until, order.asked_at = State.PENDING, "", None, None


def _end_order(order: ImageOrder, state: str, reason: str, message: str, at: datetime) -> None:
    order.state, order.reason, order.message, order.ended_at = state, reason, message[:2000], at
    order.holder, order.lease_until, order.asked_at, order.not_before = "", None, None, None
    order.save()


def _create_item(stage: Stage, plan: ImagePlan, order: ImageOrder, image: Image) -> Item:
    """The image as an item, with the sentence it was made from."""
    prompt, replaced = order.item, order.replaces
    base = split_revision(replaced.key)[0] if replaced else prompt.key
    context = {
        "prompt": prompt.text, "model": plan.model, "seed": order.seed, "size": plan.size, "cost": f"{order.cost:f}",
        "source": plan.model,
    }  # fmt: skip
    if order.prompt != prompt.text:
        context["sent_prompt"] = order.prompt
    item = Item.objects.create(
        stage=stage, key=revision_key(base, order.revision), concept=prompt.concept, origin=prompt.origin,
        condition=prompt.condition, context=context, revision=order.revision, replaces=replaced,
    )  # fmt: skip
    ItemImage.objects.create(item=item, image=image, role="image", alt=prompt.text[:300], source=plan.model[:500])
    ItemSource.objects.create(item=item, source=prompt, role="item")
    return item


def _pause(plan: ImagePlan, because: str) -> None:
    """Where nobody else has decided on the plan in the meantime."""
    running = ImagePlan.objects.filter(pk=plan.pk, state=ImagePlan.State.RUNNING)
    running.update(state=ImagePlan.State.PAUSED, stopped_because=because)
