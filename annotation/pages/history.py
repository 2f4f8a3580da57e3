"""What a person has answered and skipped, newest first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from django.db.models import Prefetch, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy, pgettext_lazy

from annotation.displays.shown_item import build_shown
from annotation.fields.bound_field import AnswerView, answer_views
from annotation.fields.contract import ShownImage
from annotation.models import Annotation, Assignment, Review
from annotation.pages.decisions import DecisionView, decision_view
from annotation.pages.recipe_names import recipe_name
from annotation.pages.sheet_view import language, localiser_for, shown_context, skip_options
from annotation.pages.status_text import Chip, format_date, not_counted_note, state_chip, time_zone_for
from annotation.queries.gate import SHUTS_OUT, check_gates
from annotation.services.sheets.sheet_versions import sheet_of
from jobs.formats.numbers import parse_id
from people.models import User

PAGE = 50
State = Assignment.State
LISTED = (State.SUBMITTED, State.RETURNED, State.ACCEPTED, State.REJECTED, State.SKIPPED)
UNSEEN = SHUTS_OUT - {"campaign_closed"}  # what was answered is still listed; its picture is not
CHANGE = {
    State.SUBMITTED: gettext_lazy("Edit"),
    State.RETURNED: pgettext_lazy("verb", "Correct"),
    State.SKIPPED: gettext_lazy("Answer"),
}


@dataclass(frozen=True)
class HistoryRow:
    """One row of the history."""

    assignment_id: int
    at: datetime
    when: str
    work: str
    about: str
    answers: list[AnswerView]
    skipped: str
    note: str
    chip: Chip
    change: str
    picture: ShownImage | None
    review: DecisionView | None = None


@dataclass(frozen=True)
class Cursor:
    """Where a page of the history ends: keyset, so that page 100 costs what page 1 does."""

    at: datetime
    id: int

    def __str__(self) -> str:
        return f"{self.at.isoformat()}_{self.id}"

    @property
    def urlsafe(self) -> str:
        return quote(str(self), safe="")

    @classmethod
    def read(cls, text: str) -> "Cursor | None":
        moment, _sign, number = text.rpartition("_")
        try:
            at = datetime.fromisoformat(moment)
        except ValueError:
            return None
        if timezone.is_naive(at) or not parse_id(number):
            return None
        return cls(at, parse_id(number))


def history_page(
    user: User, limit: int, before: Cursor | None = None, states: Sequence[str] = LISTED
) -> tuple[list[HistoryRow], Cursor | None]:
    """A page of what this person did here, and where the next begins. What came in a file they did elsewhere."""
    rows = Assignment.objects.filter(rater__user=user, state__in=states, participation__isnull=False)
    rows = rows.order_by("-changed_at", "-pk")
    if before is not None:
        rows = rows.filter(changed_at__lte=before.at).filter(Q(changed_at__lt=before.at) | Q(pk__lt=before.id))
    reviews = Prefetch("reviews", Review.objects.filter(undone_at=None), to_attr="decisions")
    live = Annotation.objects.filter(live=True).select_related("sheet_version").prefetch_related(reviews)
    rows = rows.select_related("campaign__stage", "participation__cohort__cohort", "unit__item").prefetch_related(
        Prefetch("annotations", queryset=live, to_attr="live_ones"), "unit__item__images__image", "unit__item__facts"
    )
    assignments = list(rows[: limit + 1])
    refused = _no_work_reasons(assignments)
    shown = [_history_row(user, row, refused) for row in assignments[:limit]]
    more = Cursor(assignments[limit - 1].changed_at, assignments[limit - 1].pk) if len(assignments) > limit else None
    return shown, more


def _no_work_reasons(rows: Sequence[Assignment]) -> dict[int, str | None]:
    """By campaign cohort: why this person, whose rows they all are, may not work there now."""
    if not rows:
        return {}
    gates = check_gates(
        {row.participation.cohort_id for row in rows if row.participation}, rows[0].rater_id, timezone.now()
    )
    return {cohort: gate.refused for cohort, gate in gates.items()}


def _history_row(user: User, row: Assignment, refusals: Mapping[int, str | None]) -> HistoryRow:
    lives: list[Annotation] = getattr(row, "live_ones", [])
    live = lives[0] if lives else None
    cohort = row.participation.cohort.cohort if row.participation else None
    speech = localiser_for(cohort)
    sheet = sheet_of(live.sheet_version) if live else None
    reasons = {option.code: speech.say(option.label) for option in skip_options(row.campaign.stage.skip_reasons)}
    refused = refusals[row.participation.cohort_id] if row.participation else None
    pictures = () if refused in UNSEEN else build_shown(row.unit, cohort).images
    zone = time_zone_for(user, cohort)
    decisions: list[Review] = getattr(live, "decisions", [])
    return HistoryRow(
        assignment_id=row.pk,
        at=live.submitted_at if live else row.changed_at,
        when=format_date(live.submitted_at if live else row.changed_at, zone),
        work=recipe_name(row.campaign.name),
        about="" if refused in UNSEEN else shown_context(row),
        answers=answer_views(sheet.fields, speech, live.answers) if sheet and live else [],
        skipped=reasons.get(row.skip_reason, row.skip_reason) if row.state == State.SKIPPED else "",
        note=not_counted_note(live),
        chip=state_chip(row, live),
        change="" if refused in SHUTS_OUT else str(CHANGE.get(State(row.state), "")),
        picture=pictures[0] if pictures else None,
        review=decision_view(decisions[0], row.campaign.stage, zone, language(), named=False) if decisions else None,
    )
