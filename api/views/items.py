"""Items: brought in batches, completed, withdrawn, and their facts. By the rules of the import."""

from collections.abc import Callable, Sequence
from typing import Any

from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import item_for
from annotation.models import ItemSource
from annotation.services.revisions import item_withdrawals
from api.protocol.contents import problem
from api.protocol.operations import operation, query_parameter
from api.protocol.preconditions import check_match, with_etag
from api.protocol.problems import Conflict, InvalidParameter, Refused
from api.schemas import items as shapes
from api.schemas.rows import row_serializer
from api.views.base import ResourceView
from api.views.rows import RowDetail
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.models.items import RETURNED
from benchmarks.services import item_batches
from benchmarks.services.intake.judging import lock_stage
from benchmarks.services.item_batches import BatchRow
from jobs.models import JobRow
from people.models import User
from releases.rows.items import ITEMS

ATOMIC = query_parameter("atomic", "1: all rows or none; one that is refused undoes the rest.")
NEW, KNOWN, MISSING, REFUSED = 201, 200, 404, 422


class ItemBatch(ResourceView):
    @operation(
        "items_batch", "Bring up to 1,000 items, with a result for each row", scope="write", body=shapes.NewItems,
        reply=shapes.ItemRowResults, parameters=(ATOMIC,), needs_key=True,
    )  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        stage, rows = stage_of(benchmark, self.content), self.content["rows"]
        if stage.pictures == Stage.Pictures.SET and len(rows) > item_batches.MOST_SET_ROWS:
            text = _("Items of this stage are sets of pictures: send at most %(most)s rows at once.")
            raise Refused(text % {"most": item_batches.MOST_SET_ROWS})
        options = {name: self.content.get(name, False) for name in ("complete", "correct_facts")}
        return batch_response(request, item_batches.import_rows(stage, request.user, rows, **options))


class FactBatch(ResourceView):
    @operation(
        "facts_put", "Set facts of up to 5,000 items, with a result for each row", scope="write", body=shapes.FactRows,
        reply=shapes.ItemRowResults, parameters=(ATOMIC,), matched=False,
    )  # fmt: skip
    def put(self, request: Request, slug: str) -> Response:
        stage = stage_of(benchmark_for(request.user, slug, can="work_on"), self.content)
        rows = [(row["key"], row["facts"]) for row in self.content["rows"]]
        return batch_response(request, item_batches.set_facts(stage, request.user, rows))


class ItemDetail(RowDetail):
    """The row of the export, and its change."""

    http_method_names = ["get", "head", "patch"]
    kind, scope = ITEMS, ITEMS.scope

    @operation(
        "item_update", "Fill in what an item lacks; a value that is there is never replaced", scope="write",
        body=shapes.ItemContent, reply=row_serializer(ITEMS),
    )  # fmt: skip
    def patch(self, request: Request, slug: str, row_id: int) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        item = locked_item(benchmark, row_id)
        check_match(request, self.row(request, benchmark, row_id))
        if item.withdrawn_because == RETURNED:
            raise Conflict(_("This item was returned. Import its next revision, or change that one."))
        if ItemSource.objects.filter(item=item).exists():
            raise Conflict(_("This item is made of others. Change what it is made of."))
        refuse(item_batches.fill_in(item, request.user, self.content))
        return with_etag(request, self.row(request, benchmark, row_id))


class ItemFactsView(ResourceView):
    @operation("item_facts", "Facts of an item, the newest last", reply=shapes.ItemFacts)
    def get(self, request: Request, slug: str, item_id: int) -> Response:
        return with_etag(request, facts_json(item_for(benchmark_for(request.user, slug, can="work_on"), item_id)))

    @operation("item_facts_put", "Set facts of an item; earlier values stay beside them", scope="write",
               body=shapes.FactValues, reply=shapes.ItemFacts)  # fmt: skip
    def put(self, request: Request, slug: str, item_id: int) -> Response:
        item = locked_item(benchmark_for(request.user, slug, can="work_on"), item_id)
        check_match(request, facts_json(item))
        if item.withdrawn_because == RETURNED:
            raise Conflict(_("This item was returned. Import its next revision, or change that one."))
        refuse(item_batches.set_facts(item.stage, request.user, [(item.key, self.content["facts"])])[0])
        return with_etag(request, facts_json(item))


def action_view(name: str, summary: str, act: Callable[[Item, User], None]) -> Any:
    """A POST that calls a service with the item and the person; the reply is the item."""

    class ItemAction(ItemDetail):
        http_method_names = ["post"]

        @operation(f"item_{name}", summary, scope="write", reply=row_serializer(ITEMS))
        def post(self, request: Request, slug: str, row_id: int) -> Response:
            benchmark = benchmark_for(request.user, slug, can="work_on")
            act(item_for(benchmark, row_id), request.user)
            return with_etag(request, self.row(request, benchmark, row_id))

    return ItemAction.as_view()


ACTIONS: tuple[tuple[str, str, Callable[[Item, User], None]], ...] = (
    (
        "withdraw",
        "Withdraw an item: nobody is given it, and its answers count nowhere",
        lambda item, user: item_withdrawals.withdraw(item, user, timezone.now()),
    ),
    ("restore", "Bring an item back that a person withdrew", item_withdrawals.restore),
)


def stage_of(benchmark: Benchmark, content: dict[str, Any]) -> Stage:
    """The stage that is named, or the first whose items are imported. Raises Refused."""
    key = content.get("stage")
    stages = [s for s in benchmark.stages.order_by("pk") if (s.key == key if key else not s.derivation)]
    if not stages:
        text = _("There is no such stage.")
        raise Refused(text, errors=[problem("/stage", "unknown", text)])
    stages[0].benchmark = benchmark
    return stages[0]


def locked_item(benchmark: Benchmark, item_id: int) -> Item:
    """The item, once nobody else changes items of its stage. Needs a transaction. Raises Http404."""
    stage = Stage.objects.filter(items=item_id, benchmark=benchmark).first()
    if stage is None:
        raise Http404
    lock_stage(stage)
    return Item.objects.select_related("stage__benchmark__team").get(pk=item_id)


def batch_response(request: Request, rows: Sequence[BatchRow]) -> Response:
    """A result for each row; with `atomic` a row that is refused undoes all. Raises Conflict and InvalidParameter."""
    atomic = request.query_params.get("atomic", "0")
    if atomic not in ("0", "1"):
        raise InvalidParameter("atomic", _("There are: %(names)s.") % {"names": "0, 1"})
    if atomic == "1" and (wrong := [(n, row) for n, row in enumerate(rows) if row.is_error]):
        errors = [problem(f"/rows/{n}", row.code, row.message) for n, row in wrong]
        raise Conflict(_("Nothing was written: some rows are refused."), errors=errors)
    return Response({"results": [result_json(n, row) for n, row in enumerate(rows)]})


def result_json(index: int, row: BatchRow) -> dict[str, Any]:
    shown: dict[str, Any] = {"index": index, "status": NEW if row.outcome == JobRow.Outcome.CREATED else KNOWN}
    shown["outcome"] = str(row.outcome)
    if row.item is not None:
        shown["id"] = row.item
    if row.is_error:
        shown["status"] = MISSING if row.code == "unknown_item" else REFUSED
        shown["problem"] = {"code": row.code or "refused", "detail": row.message}
    elif row.message:
        shown["note"] = row.message
    return shown


def refuse(row: BatchRow) -> None:
    """Raises Refused for a row that was not taken."""
    if row.is_error:
        raise Refused(row.message, errors=[problem("", row.code or "refused", row.message)])


def facts_json(item: Item) -> dict[str, Any]:
    rows = item.facts.order_by("pk").values("key", "value", "source", "version", "created_at")
    return {"facts": list(rows)}
