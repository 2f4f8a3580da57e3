"""The feed of events: append-only, the oldest first, none lost and none twice for a reader who keeps `after`."""

from typing import Any

from django.core import signing
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.authentication import allowed_benchmarks
from api.protocol.event_verbs import VERBS
from api.protocol.operations import PAGE_SIZE, operation, query_parameter
from api.protocol.paging import page_size
from api.protocol.problems import ApiProblem, InvalidParameter
from api.schemas.events import EventFeed
from api.views.base import ResourceView
from benchmarks.access import benchmark_for, benchmarks_to_work_on
from jobs.queries.event_feed import FeedEvent, FeedPosition, current_position, feed_epoch, read_events

SALT = "api.events"
SCOPE = "benchmark:"
PARAMETERS = (
    query_parameter("after", "From the page before. `now`: only what comes from now on. Without it from the first."),
    query_parameter("scope", "benchmark:<slug>; may be repeated. All that you work on without it.", many=True),
    query_parameter("verb", "May be repeated. All without it.", many=True),
    PAGE_SIZE,
)


class FeedRestarted(ApiProblem):
    status, code = 410, "feed-restarted"


class EventsView(ResourceView):
    spans = True

    @operation(
        "events",
        "What happened in your benchmarks, the oldest first",
        parameters=PARAMETERS,
        reply=EventFeed,
        more_problems=(410,),
        description="Verbs: " + "; ".join(f"`{verb}`: {known.meaning}" for verb, known in VERBS.items()),
    )
    def get(self, request: Request) -> Response:
        slugs, size, epoch = _scopes(request), page_size(request), feed_epoch()
        position = _position(request.query_params.get("after", ""), epoch)
        events = read_events(slugs, _verbs(request), position, size + 1)
        page = events[:size]
        after = _written(epoch, page[-1].position if page else position)
        results = [_event_json(event, slugs[event.scope], epoch) for event in page]
        return Response({"results": results, "after": after, "more": len(events) > size})


def _scopes(request: Request) -> dict[str, str]:
    """Slug by scope, of the benchmarks that the person works on. Raises Http404 and InvalidParameter."""
    chosen, named = allowed_benchmarks(request), request.query_params.getlist("scope")
    if any(not name.startswith(SCOPE) for name in named):
        raise InvalidParameter("scope", _("A scope is benchmark:<slug>."))
    if named:
        rows = [benchmark_for(request.user, name.removeprefix(SCOPE), can="work_on") for name in named]
    else:
        rows = list(benchmarks_to_work_on(request.user))
    return {row.scope: row.slug for row in rows if chosen is None or row.pk in chosen}


def _verbs(request: Request) -> list[str]:
    """Raises InvalidParameter."""
    verbs = request.query_params.getlist("verb")
    if unknown := [verb for verb in verbs if verb not in VERBS]:
        words = _("There is no verb “%(verb)s”. There are: %(names)s.")
        raise InvalidParameter("verb", words % {"verb": unknown[0][:60], "names": ", ".join(VERBS)})
    return verbs or list(VERBS)


def _position(after: str, epoch: str) -> FeedPosition:
    """Raises InvalidParameter and FeedRestarted."""
    if after in ("", "now"):
        return current_position() if after else FeedPosition()
    try:
        known, xact, number = signing.loads(after, salt=SALT)
    except (signing.BadSignature, ValueError) as error:
        raise InvalidParameter("after", _("This position is not valid. Begin without one.")) from error
    if known != epoch:
        raise FeedRestarted(_("The database was restored since. Begin without a position."))
    return FeedPosition(xact, number)


def _written(epoch: str, position: FeedPosition) -> str:
    return signing.dumps([epoch, position.xact, position.id], salt=SALT)


def _event_json(event: FeedEvent, slug: str, epoch: str) -> dict[str, Any]:
    shown = {name: event.data[name] for name in VERBS[event.verb].data if name in event.data}
    return {
        "id": event.id,
        "at": event.at,
        "verb": event.verb,
        "benchmark": slug,
        "target": event.target,
        "data": shown,
        "after": _written(epoch, event.position),
    }
