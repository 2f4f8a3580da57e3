"""Which calls of a run may end otherwise when they are asked again: only those are offered."""

from collections.abc import Collection

from django.db.models import Q, QuerySet

from annotation.models import Campaign
from predictions.models import Call, Endpoint, Run
from predictions.prompts.contract import MissingInput
from predictions.prompts.registry import UnknownPrompt
from predictions.queries.progress import MISSING, UNASKED, in_states
from predictions.services.runs.engine.context import build_read_context, decoding_of, request_identity
from predictions.services.runs.engine.prepare import can_send
from predictions.services.runs.unit_selection import load_units, scene_seed

STATES = (Call.State.FAILED, UNASKED, "no_response", "refused", "unparseable", "out_of_range")
SAME_ANSWER = (Endpoint.Kind.OPEN_CLIP, Endpoint.Kind.DETECTOR, Endpoint.Kind.GROUNDING)
"""Endpoints that give the same reply to the same request."""
BATCH = 200


def can_ask(run: Run) -> bool:
    """Whether the run can ask anything any more."""
    endpoint, campaign = run.endpoint, run.campaign
    if run.withdrawn_at or endpoint is None or endpoint.retired_at or campaign is None:
        return False
    moved = run.options.get("address", endpoint.base_url) != endpoint.base_url
    return not moved and campaign.state != Campaign.State.CLOSED


def retryable(run: Run, states: Collection[str], most: int | None = None) -> "QuerySet[Call]":
    """The calls in these states that a retry can change. What was not sent for want of an input is among them only if
    the input is there now. `most`: look at so many of these at most."""
    if not can_ask(run):
        return Call.objects.none()
    same = run.endpoint is not None and run.endpoint.kind in SAME_ANSWER
    wanted = set(states) & ({Call.State.FAILED, UNASKED} if same else set(STATES))
    rows = Call.objects.filter(in_states(wanted), run=run)
    if Call.State.FAILED not in wanted or not rows.filter(MISSING).exists():
        return rows
    return rows.exclude(MISSING & ~Q(pk__in=_complete_now(run, most)))


def _complete_now(run: Run, most: int | None) -> list[int]:
    """Calls that lacked an input when their turn came, and lack nothing now."""
    endpoint = run.endpoint
    try:
        context = build_read_context(run)
    except UnknownPrompt:
        return []
    if endpoint is None:
        return []
    endpoint.offers = run.options.get("offers", endpoint.offers)
    identity = request_identity(
        endpoint, run.model, run.revision, context.prompt, run.prompt_options, decoding_of(run.decoding)
    )
    pks = list(Call.objects.filter(MISSING, run=run).order_by("pk").values_list("pk", flat=True)[:most])
    call_ids = []
    for start in range(0, len(pks), BATCH):
        calls = Call.objects.filter(pk__in=pks[start : start + BATCH])
        there = load_units([call.unit_id for call in calls if call.unit_id])
        for call in (one for one in calls if one.unit_id in there):
            scene, shown = context.scenes.of(there[call.unit_id])  # type: ignore[index]
            try:
                can_send(
                    context.scenes.build_requests(scene, shown, scene_seed(run.seed, scene, context.scenes.prompt)),
                    identity,
                )
            except MissingInput:
                continue
            call_ids.append(call.pk)
    return call_ids
