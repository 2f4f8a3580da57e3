"""The rows of cohorts on the board of a benchmark: done of wanted, what waits for whom, what is stuck and why."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Campaign
from annotation.pages.kept_pictures import waiting_pictures_by_origin
from annotation.pages.mixed_pairs import mixed_text, remedy_address
from annotation.pages.unpaired import pair_settings_address, should_have_pairs
from annotation.queries.board_counts import ChainCounts, CohortCounts, chain_counts, count_recent_answers
from annotation.queries.exhausted_cohorts import Exhaustion
from annotation.services.derivation.run_choice import stages_without_choice
from benchmarks.models import Stage
from benchmarks.pages.board import ALL_COHORTS, Cell, Note, Reading, Row, Rows, Sum, address, board_number
from benchmarks.pages.plugin_pages import page_filling
from benchmarks.queries.model_conditions import is_judging
from benchmarks.rules.derivations.cultures import SEPARATOR
from benchmarks.rules.forecast import Forecast, forecast
from people.models import Cohort

STUCK_NAMED = 3  # cohorts that a sum names
IDLE_DAYS = 5  # without work, or without a decision, while something waits: then a cell is stuck
PAIRED_WITHIN = timedelta(minutes=3)  # of the last answer: pairs are made in the background


EmptyReasons = Callable[[Reading], Mapping[int, Note]]
_EMPTY_REASONS: list[EmptyReasons] = []


def register_empty_reasons(reasons: EmptyReasons) -> None:
    """What another app says of stages that follow others and have no items, by the stage's id."""
    if reasons not in _EMPTY_REASONS:
        _EMPTY_REASONS.append(reasons)


def cohort_rows(reading: Reading) -> Rows:
    """A row for each cohort that was asked, and one for all of them together."""
    counts = chain_counts(reading.stages, reading.at)
    reasons = _empty_reasons(reading, counts)
    _add_waiting_pictures(reading, counts)
    rows = [_row(reading, counts, cohort, reasons) for cohort in counts.cohorts]
    totals = ((stage.pk, _total_cell(reading, stage, counts)) for stage in reading.stages)
    cells = {stage: cell for stage, cell in totals if cell is not None}
    people = sum(counts.members.values())
    note = ngettext("%(n)s person", "%(n)s people", people) % {"n": board_number(people)}
    asked = list(counts.totals.values())
    is_stuck = any(row.is_stuck for row in rows) or any(cell.is_stuck for cell in cells.values())
    end = _end(reading, counts.totals, is_stuck=is_stuck)
    total = Row(_("All cohorts"), cells, note, end, key=ALL_COHORTS)
    sums = (
        [_recent_sum(reading, people), *_end_sum(total, rows, asked, reading.at.date())]
        if any(row.wanted or row.answered for row in asked)
        else []
    )
    return Rows(rows or [Row(_("No cohort is asked yet"), {})], "", total, sums)


def _add_waiting_pictures(reading: Reading, counts: ChainCounts) -> None:
    """Pictures of sheets that people disagree about wait for one more of each cohort that is asked about them."""
    waiting, labels = waiting_pictures_by_origin(reading.stages), {row.pk: row.label for row in counts.cohorts}
    own = {stage.pk for stage in reading.stages if stage.own_items_only}
    for stage, by_origin in waiting.items():
        counts.totals[stage].pictures = by_origin.total()
    for (stage, cohort), of_cell in counts.cells.items():
        by_origin = waiting.get(stage, Counter())
        of_cell.pictures = by_origin[labels[cohort]] if stage in own else by_origin.total()


def _recent_sum(reading: Reading, members: int) -> Sum:
    """Answers of the last day, and from how many of the people of these cohorts."""
    n, people = count_recent_answers(reading.stages, reading.at - timedelta(days=1))
    note = ngettext("from %(n)s of %(all)s person", "from %(n)s of %(all)s people", members)
    return Sum(
        0, _("Answers in the last 24 hours"), board_number(n),
        [note % {"n": board_number(people), "all": board_number(members)}],
    )  # fmt: skip


def _end_sum(total: Row, rows: Sequence[Row], asked: Sequence[CohortCounts], today: date) -> Iterator[Sum]:
    """When all will be there; else why nobody knows. Nothing where no answer is wanted yet."""
    missing = sum(counts.missing for counts in asked)
    text = ngettext("%(n)s answer missing", "%(n)s answers missing", missing) % {"n": board_number(missing)}
    if not total.end:
        return
    stuck = [row.name for row in rows if row.is_stuck]
    if total.end == _("Stuck"):
        names = ", ".join(stuck[:STUCK_NAMED]) + (" …" if len(stuck) > STUCK_NAMED else "")
        yield Sum(3, _("Complete by"), "", [_("No forecast: stuck"), names, text])
    elif total.end == _("No forecast"):
        waits, pictures = not missing, sum(counts.pictures for counts in asked)
        reason = _("No forecast: answers wait for others") if waits else _("No forecast: too few days of work")
        if waits and pictures:
            reason = _("No forecast: %(waiting)s") % {"waiting": _waiting_pictures_text(pictures)}
        yield Sum(3, _("Complete by"), "", [reason, *([] if waits else [text])])
    elif missing:
        notes = [text, _("at the median of the last seven days"), *_end_range(asked, today)]
        yield Sum(3, _("Complete by"), total.end, notes)
    elif total.end != _("Complete"):
        yield Sum(3, _("Complete by"), "", [total.end])
    else:
        yield Sum(3, _("Complete by"), total.end, [])


def _empty_reasons(reading: Reading, counts: ChainCounts) -> dict[int, Note]:
    """Why stages that follow others have no items for a cohort, by stage: nobody has chosen a run whose answers they
    take, no pair results from stages that have all their answers, or items are about two cultures."""
    chosen = Note(_("No items: no run is chosen yet"))
    reasons = {stage.pk: chosen for stage in stages_without_choice(reading.stages)}
    for of_app in _EMPTY_REASONS:
        reasons |= of_app(reading)
    for stage in reading.stages:
        if source := _unpaired_source(reading, stage, counts):
            reasons.setdefault(stage.pk, _unpaired_note(reading, stage, source))
        elif mixed := _mixed_note(reading, stage):
            reasons[stage.pk] = mixed
    return reasons


def _mixed_note(reading: Reading, stage: Stage) -> Note | None:
    """Items of two cultures, where each cohort gets only its own."""
    n = reading.items[stage.pk].mixed
    if not n or not stage.own_items_only or not stage.target_answers:
        return None
    url = remedy_address(reading.benchmark, stage) if reading.works else ""
    return Note(_("Stuck: %(problem)s") % {"problem": mixed_text(stage, n)}, url, "late")


def _unpaired_note(reading: Reading, stage: Stage, source: Stage) -> Note:
    """Pairs by likeness may be none, which holds nothing up."""
    url = pair_settings_address(reading.benchmark, stage) if reading.works else ""
    if should_have_pairs(stage):
        return Note(_("Stuck: no pairs from “%(stage)s”") % {"stage": source.name}, url, "late")
    return Note(_("No items of “%(stage)s” are alike enough") % {"stage": source.name}, url)


def _unpaired_source(reading: Reading, stage: Stage, counts: ChainCounts) -> Stage | None:
    """The first stage that this one pairs, if they are complete and it has no item."""
    if (stage.derivation or {}).get("kind") != "pair" or reading.items[stage.pk].total:
        return None
    sources = [source for source in reading.stages if source.key in stage.derivation.get("from", ())]
    totals = [counts.totals[source.pk] for source in sources]
    if not totals or any(not total.wanted or total.missing or total.waiting or total.undecided for total in totals):
        return None
    pks = {source.pk for source in sources}
    answered = [cell.last_seen for (source, _cohort), cell in counts.cells.items() if source in pks and cell.last_seen]
    return None if answered and reading.at - max(answered) < PAIRED_WITHIN else sources[0]


def _row(reading: Reading, counts: ChainCounts, cohort: Cohort, reasons: Mapping[int, Note]) -> Row:
    """`reasons`: why stages have no items."""
    cells, asked = {}, {}
    for stage in reading.stages:
        of_cell = counts.cells.get((stage.pk, cohort.pk))
        if of_cell is not None:
            is_empty = not of_cell.wanted and not of_cell.answered
            is_shared = stage.target_in_all and counts.totals[stage.pk].wanted > 0
            reason = Note(_("Other cohorts answer its items")) if is_shared else reasons.get(stage.pk)
            empty = _empty_cell(reading, stage, cohort, of_cell, reason) if is_empty else None
            cells[stage.pk] = empty or _cell(reading, counts, stage, cohort)
            asked[stage.pk] = of_cell
        elif n := reading.items[stage.pk].of_origin[cohort.label] if not stage.target_answers else 0:
            cells[stage.pk] = Cell(n, None, reading.items_url(stage, origin=cohort.label))
    people = counts.members.get(cohort.pk, 0)
    note = ngettext("%(n)s person", "%(n)s people", people) % {"n": board_number(people)}
    is_stuck = any(cell.is_stuck for cell in cells.values())
    return Row(cohort.name, cells, note, _end(reading, asked, is_stuck=is_stuck), key=cohort.pk)


def _empty_cell(reading: Reading, stage: Stage, cohort: Cohort, counts: CohortCounts, reason: Note | None) -> Cell:
    """What returns to it is waited for; else it has no items for a reason, follows another stage, or is stuck."""
    if waits := _waits(reading, stage, counts, cohort):
        return Cell(0, None, "", waits)
    note = reason or Note(_empty_text(reading, stage))
    return Cell(0, None, "", [note], is_stuck=note.kind == "late")


def _cell(reading: Reading, chain: ChainCounts, stage: Stage, cohort: Cohort) -> Cell:
    counts = chain.cells[stage.pk, cohort.pk]
    waits = _waits(reading, stage, counts, cohort)
    if stage.own_items_only:
        waits += _fact_waits(reading, stage, reading.items[stage.pk].waiting[cohort.label])
    stuck = _stuck(reading, chain, stage, cohort)
    url = reading.items_url(stage, cohort=cohort.pk)
    pace = [] if stuck else _pace(counts, reading.at.date())
    notes = [*_decided(reading, stage, counts, cohort), *waits, *stuck, *pace]
    return Cell(counts.answered, counts.wanted, url, notes, is_stuck=bool(stuck))


def _total_cell(reading: Reading, stage: Stage, counts: ChainCounts) -> Cell | None:
    total, items = counts.totals[stage.pk], reading.items[stage.pk]
    waits = [*_fact_waits(reading, stage, sum(items.waiting.values())), *_unasked_notes(reading, stage, counts)]
    mixed = [note] if (note := _mixed_note(reading, stage)) and total.rows else []
    if not total.wanted and not total.answered:
        dropped = ngettext("%(n)s dropped", "%(n)s dropped", items.dropped) % {"n": board_number(items.dropped)}
        notes = [Note(dropped, _filters_url(reading, stage, "dropped"))] if items.dropped else []
        if stage.target_answers and not total.rows:
            notes.append(Note(_("Not open")))
        n, url = sum(items.of_origin.values()), reading.items_url(stage)
        notes += _waits(reading, stage, total, None)
        notes += [*waits, *mixed]
        return Cell(n, None, url, notes, is_stuck=bool(mixed)) if items.total or notes else None
    notes = [*_decided(reading, stage, total, None), *_waits(reading, stage, total, None), *waits, *mixed]
    return Cell(total.answered, total.wanted, reading.items_url(stage), notes, is_stuck=bool(mixed))


def _unasked_notes(reading: Reading, stage: Stage, counts: ChainCounts) -> list[Note]:
    """Items of cultures whose cohort is not asked in the open stage, where each gets only its own: they are counted in
    no cohort's cell."""
    if not stage.own_items_only or not counts.totals[stage.pk].rows:
        return []
    asked = {cohort.label for cohort in counts.cohorts if (stage.pk, cohort.pk) in counts.cells}
    of_culture = reading.items[stage.pk].of_culture
    unasked = {label: n for label, n in sorted(of_culture.items()) if label not in asked and SEPARATOR not in label}
    n, names = sum(unasked.values()), [label or _("no culture") for label in unasked]
    if not n:
        return []
    text = ngettext(
        "%(n)s item of %(cultures)s is in no open cohort", "%(n)s items of %(cultures)s are in no open cohort", n
    )
    shown = ", ".join(names[:STUCK_NAMED]) + (" …" if len(names) > STUCK_NAMED else "")
    url = reading.items_url(stage, origin=names[0]) if len(unasked) == 1 and "" not in unasked else ""
    return [Note(text % {"n": board_number(n), "cultures": shown}, url)]


def _empty_text(reading: Reading, stage: Stage) -> str:
    """A stage that is open and has nothing to work on yet."""
    if not stage.derivation:
        return _("No items yet")
    names = {other.key: other.name for other in reading.stages}
    sources = [names.get(key, key) for key in stage.derivation.get("from", ())]
    return _("Follows %(stage)s") % {"stage": f"“{sources[0]}”"} if sources else _("No items yet")


def _decided(reading: Reading, stage: Stage, counts: CohortCounts, cohort: Cohort | None) -> list[Note]:
    """What reviewers or the rule said."""
    if stage.acceptance == Stage.Acceptance.ON_SUBMIT:
        return []
    whose = str(cohort.pk) if cohort else "0"
    texts = (
        (counts.accepted, _("%(n)s accepted"), "accepted"),
        (counts.rejected, _("%(n)s rejected"), "rejected"),
        (counts.undecided, _("%(n)s undecided"), "undecided"),
    )
    return [
        Note(text % {"n": board_number(n)}, reading.items_url(stage, cohort=f"{whose}.{state}"))
        for n, text, state in texts
        if n
    ]


def _waits(reading: Reading, stage: Stage, counts: CohortCounts, cohort: Cohort | None) -> list[Note]:
    """What somebody else is to do first."""
    query: dict[str, str | int] = {"stage": stage.pk}
    if cohort:
        query["cohort"] = cohort.pk
    queue = address("annotation:review_queue", reading.benchmark, **query) if reading.reviews else ""
    returned = f"{queue}&state=returned" if queue else ""
    open_disputes = counts.missing if (stage.derivation or {}).get("kind") == "disagree" else 0
    waits = []
    if n := counts.waiting:
        waits.append((n, ngettext("%(n)s waits for review", "%(n)s wait for review", n), queue))
    if n := counts.returned:
        waits.append((n, ngettext("%(n)s returned to its author", "%(n)s returned to authors", n), returned))
    if n := counts.revisions:
        waits.append((n, ngettext("%(n)s waits for a revision", "%(n)s wait for a revision", n), ""))
    if n := counts.for_fact:
        waits.append((n, ngettext("%(n)s waits for a fact", "%(n)s wait for a fact", n), ""))
    if n := open_disputes:
        waits.append((n, ngettext("%(n)s waits for adjudication", "%(n)s wait for adjudication", n), ""))
    notes = [Note(text % {"n": board_number(n)}, url, "wait") for n, text, url in waits]
    if n := counts.pictures:
        url = address("annotation:kept_pictures", reading.benchmark, stage.pk, show="waits") if reading.works else ""
        notes.append(Note(_waiting_pictures_text(n), url, "wait"))
    return notes


def _waiting_pictures_text(n: int) -> str:
    """Pictures about which people disagree, or were not sure, go no further."""
    text = ngettext("%(n)s picture waits for adjudication", "%(n)s pictures wait for adjudication", n)
    return text % {"n": board_number(n)}


def _fact_waits(reading: Reading, stage: Stage, n: int) -> list[Note]:
    """In a stage whose items a page of the recipe makes, people decide on that page what the filters wait for."""
    if not n:
        return []
    page, text = page_filling(stage), ngettext("%(n)s waits for a fact", "%(n)s wait for a fact", n)
    url = _filters_url(reading, stage, "waiting")
    if page is not None:
        text = ngettext("%(n)s waits for a decision", "%(n)s wait for a decision", n)
        url = address("benchmarks:plugin_page", reading.benchmark, page.key) if reading.works else ""
    return [Note(text % {"n": board_number(n)}, url, "wait")]


def _filters_url(reading: Reading, stage: Stage, show: str) -> str:
    if not reading.works:
        return ""
    return f"{address('benchmarks:filters', reading.benchmark, stage.pk, show=show)}#items"


def _stuck(reading: Reading, chain: ChainCounts, stage: Stage, cohort: Cohort) -> list[Note]:
    """Why nothing goes on here; nothing where it does, or where all is done."""
    counts, at = chain.cells[stage.pk, cohort.pk], reading.at
    notes = []
    days = (at - counts.oldest).days if counts.oldest else 0
    if days >= IDLE_DAYS:
        text = ngettext("Stuck: no review for %(n)s day", "Stuck: no review for %(n)s days", days) % {"n": days}
        notes.append(Note(text, "", "late"))
    if not counts.missing or not counts.rows:
        return notes
    running = [row.target_answers for row in counts.rows if row.campaign.state != Campaign.State.CLOSED]
    least = 1 if stage.target_in_all else max(running, default=1)
    text = _reason(chain, counts, cohort, least, at)
    campaign = counts.rows[-1].campaign_id
    url = address("annotation:coverage", reading.benchmark, campaign=campaign)
    return [*notes, Note(text, url, "late")] if text else notes


def _reason(chain: ChainCounts, counts: CohortCounts, cohort: Cohort, wanted: int, at: datetime) -> str:
    """The first that holds. `wanted`: how many people it takes."""
    people = chain.members.get(cohort.pk, 0)
    running = [row for row in counts.rows if row.campaign.state != Campaign.State.CLOSED]
    if not running:
        return _("Stuck: closed, %(n)s missing") % {"n": board_number(counts.missing)}
    if cohort.paused_at or all(row.paused or row.campaign.state == Campaign.State.PAUSED for row in running):
        return _("Stuck: paused")
    if any(row.campaign.opens_on and row.campaign.opens_on > at.date() for row in running):
        return ""
    if not people:
        return _("Stuck: nobody has joined")
    if people < wanted:
        text = ngettext(
            "Stuck: %(n)s person wanted, %(joined)s joined", "Stuck: %(n)s people wanted, %(joined)s joined", wanted
        )
        return text % {"n": wanted, "joined": people}
    if all(row.pk in chain.exhausted for row in running):
        return _exhausted_text(chain.exhausted[running[-1].pk], counts.missing, people)
    opened = [row.campaign.opened_at for row in running if row.campaign.opened_at]
    days = (at - max(filter(None, (counts.last_seen, min(opened, default=None))), default=at)).days
    if days >= IDLE_DAYS:
        return ngettext("Stuck: no answer for %(n)s day", "Stuck: no answer for %(n)s days", days) % {"n": days}
    return ""


def _exhausted_text(exhaustion: Exhaustion, n: int, people: int) -> str:
    """Nobody of the cohort may give what is missing. The first sentence fits all, the second says why; where others
    might, the third asks for them. `people`: how many there are."""
    text = _("Stuck: %(n)s missing, and nobody left may answer.") % {"n": board_number(n)}
    for_contributors = exhaustion.staffing == Stage.Staffing.CONTRIBUTORS
    if exhaustion.staffed and for_contributors:
        reason = _("Only people who had a part in the items may.")
    elif exhaustion.staffed and exhaustion.had:
        reason = _("People answered or skipped them, or had a part in them.")
    elif exhaustion.staffed:
        reason = _("People had a part in them.")
    elif exhaustion.limited:
        reason = _("People reached their limit, or are excluded.")
    else:
        reason = _("Everybody has answered or skipped them.")
    if not exhaustion.staffed or for_contributors:
        return f"{text} {reason}"
    more = ngettext(
        "The cohort has %(n)s person: invite more.", "The cohort has %(n)s people: invite more.", people
    ) % {"n": people}  # fmt: skip
    return f"{text} {reason} {more}"


def _pace(counts: CohortCounts, today: date) -> list[Note]:
    """Complete, or how many answers come in a day and when the last one will."""
    if not counts.missing:
        return [] if counts.waits else [Note(_("Complete"))]
    outlook = forecast(counts.per_day, counts.missing, today)
    if outlook.on is None or not outlook.per_day:
        return []
    numbers = {"n": board_number(round(outlook.per_day)), "day": _day(outlook.on)}
    return [Note(_("%(n)s a day, until %(day)s") % numbers)]


def _end(reading: Reading, parts: Mapping[int, CohortCounts], *, is_stuck: bool) -> str:
    """When all that is wanted now will be there: the latest of the stages; no day where one of them has no forecast.
    Nothing is promised of a row with a stuck cell, and what waits for somebody else, or has no items yet, is not
    complete. `parts` by the stage's id."""
    if is_stuck:
        return _("Stuck")
    today = reading.at.date()
    outlooks: list[Forecast] = [forecast(part.per_day, part.missing, today) for part in parts.values() if part.wanted]
    if not outlooks:
        return ""
    if all(outlook.reason == "complete" for outlook in outlooks):
        if any(part.waits for part in parts.values()):
            return _("No forecast")
        empty = (stage for stage in reading.stages if _waits_for_items(reading, stage, parts.get(stage.pk)))
        stage = next(empty, None)
        return _("Complete") if stage is None else _("“%(stage)s” has no items yet") % {"stage": stage.name}
    open_parts = [outlook for outlook in outlooks if outlook.reason != "complete"]
    days = [outlook.on for outlook in open_parts if outlook.on]
    return _day(max(days)) if len(days) == len(open_parts) else _("No forecast")


def _end_range(parts: Sequence[CohortCounts], today: date) -> Iterator[str]:
    """The range of the day on which the last of the stages is complete."""
    outlooks = [forecast(part.per_day, part.missing, today) for part in parts if part.missing]
    earliest = max(outlook.earliest for outlook in outlooks if outlook.earliest)
    latest = [outlook.latest for outlook in outlooks if outlook.latest]
    if len(latest) < len(outlooks):
        yield _("not before %(day)s") % {"day": _day(earliest)}
    elif max(latest) > earliest:
        yield _("%(first)s to %(last)s, by the pace of single days") % {
            "first": _day(earliest),
            "last": _day(max(latest)),
        }


def _waits_for_items(reading: Reading, stage: Stage, counts: CohortCounts | None) -> bool:
    """Whether people are asked in a stage that nobody has given items: no import, or no answers of models to judge.
    Another stage that follows may have none for good: nothing was accepted, or nobody disagreed."""
    if counts is None or reading.items[stage.pk].total or (stage.derivation and not is_judging(stage)):
        return False
    return any(row.campaign.state != Campaign.State.CLOSED for row in counts.rows)


def _day(day: date) -> str:
    return str(date_format(day, "SHORT_DATE_FORMAT"))
