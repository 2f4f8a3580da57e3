"""What people decide about the questions of a survey. Each press is an act, which can be undone as a whole.

Every decision locks the survey's row first, as the import of the next version does, and is refused once there is one.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobs.models import record
from papers.valueground.survey.models import OptionPair, Survey, SurveyQuestion
from papers.valueground.survey.queries import counted_codes, current_pairs, source_of
from papers.valueground.survey.rules import blocking, flags_of, new_code, scale_of
from papers.valueground.survey.rules import counted_codes as codes_after
from papers.valueground.survey.services.option_items import write_option_items
from papers.valueground.survey.services.versions import apply
from people.models import User

State = SurveyQuestion.State
LOOKED_FIRST = 10
"""So many questions without a flag are looked at before the others are confirmed together."""
LARGEST_PLACE = 1000


class DecisionRefused(Exception):
    """The decision cannot be taken; the message says why, and what to do."""


def confirm(question: SurveyQuestion, actor: User) -> uuid.UUID:
    """The pair as it is proposed. Raises DecisionRefused where a flag asks for a person's own pair."""
    with _deciding([question]) as (locked,):
        pair = current_pairs([locked])[locked.pk]
        if pair.state == State.CONFIRMED:
            raise DecisionRefused(_("%(key)s is confirmed already.") % {"key": locked.key})
        if pair.a is None or pair.b is None or blocking(pair.flags):
            text = _("%(key)s needs a pair that you choose. Press “Change”, check the places, then save.")
            raise DecisionRefused(text % {"key": locked.key})
        return _decide([(locked, pair, {"state": State.CONFIRMED, "reason": "", "note": ""})], actor, "confirmed")


def change(question: SurveyQuestion, a: int, b: int, places: Mapping[int, int | None], actor: User) -> uuid.UUID:
    """Confirm another pair: `a` and `b` are codes of the files, `places` their new codes, None for no answer.

    Codes that `places` leaves out stay as they are. Raises DecisionRefused.
    """
    with _deciding([question]) as (locked,):
        adjustment = {code: place for code, place in places.items() if place != code}
        counted = counted_codes([locked]).get(locked.pk, set())
        source = source_of(locked, counted, adjustment)
        codes = {*scale_of(source.options, adjustment), *codes_after(source)}
        new_a, new_b = new_code(a, adjustment), new_code(b, adjustment)
        if any(place is not None and not 1 <= place <= LARGEST_PLACE for place in places.values()):
            text = _("A place must be a whole number from 1 to %(most)s, or empty for no answer.")
            raise DecisionRefused(text % {"most": LARGEST_PLACE})
        if new_a is None or new_b is None or new_a < 1 or new_b < 1 or not {new_a, new_b} <= codes:
            raise DecisionRefused(_("Options A and B both need a place. Write a number beside each of them."))
        if new_a == new_b:
            raise DecisionRefused(_("Options A and B have one place. Choose two options, or two places."))
        pair = current_pairs([locked])[locked.pk]
        flags = list(flags_of(source, new_a, new_b))
        if "zero" in flags:
            raise DecisionRefused(_("Code 0 needs a place, or an empty place if it is no answer."))
        values = {
            "a": new_a, "b": new_b, "how": "options", "flags": flags,
            "adjustment": {str(code): place for code, place in adjustment.items()},
            "state": State.CONFIRMED, "reason": "", "note": "",
        }  # fmt: skip
        return _decide([(locked, pair, values)], actor, "changed")


def exclude(question: SurveyQuestion, reason: str, note: str, actor: User) -> uuid.UUID:
    """Leave a question out, with a reason; `other` needs a note. Raises DecisionRefused."""
    if reason not in SurveyQuestion.Reason.values:
        raise DecisionRefused(_("Choose a reason for the exclusion."))
    if reason == SurveyQuestion.Reason.OTHER and not note.strip():
        raise DecisionRefused(_("Write the reason in the note."))
    with _deciding([question]) as (locked,):
        pair = current_pairs([locked])[locked.pk]
        values = {"state": State.EXCLUDED, "reason": reason, "note": note.strip()[:500]}
        return _decide([(locked, pair, values)], actor, "excluded")


def include(question: SurveyQuestion, actor: User) -> uuid.UUID:
    """Take an excluded question in again: it is to be decided. Raises DecisionRefused."""
    with _deciding([question]) as (locked,):
        if locked.state != State.EXCLUDED:
            raise DecisionRefused(_("%(key)s is not excluded.") % {"key": locked.key})
        pair = current_pairs([locked])[locked.pk]
        return _decide([(locked, pair, {"state": State.TO_DECIDE, "reason": "", "note": ""})], actor, "included")


def look(question: SurveyQuestion, actor: User) -> None:
    """Somebody looked at the question without deciding it. A second look changes nothing."""
    with _deciding([question]) as (locked,):
        if locked.looked_at is None:
            locked.looked_at, locked.looked_by = timezone.now(), actor
            locked.save(update_fields=["looked_at", "looked_by"])


def confirm_unflagged(survey: Survey, actor: User) -> tuple[uuid.UUID, int]:
    """Confirm every proposal without a flag, and return how many. Raises DecisionRefused until enough of them were
    looked at."""
    with transaction.atomic():
        _lock(survey.pk)
        unflagged = OptionPair.objects.filter(question__survey=survey, current=True, flags=[], a__isnull=False)
        rows = unflagged.filter(state=State.PROPOSED).values_list("question", flat=True)
        questions = list(SurveyQuestion.objects.select_for_update().filter(pk__in=rows).order_by("pk"))
        if not questions:
            raise DecisionRefused(_("No proposal without a flag is left."))
        least = min(LOOKED_FIRST, unflagged.count())
        missing = least - unflagged.filter(question__looked_at__isnull=False).count()
        if missing > 0:
            text = ngettext(
                "Look at %(n)s more question without a flag first. Press “Next” or “Confirm” there.",
                "Look at %(n)s more questions without a flag first. Press “Next” or “Confirm” there.",
                missing,
            )
            raise DecisionRefused(text % {"n": missing})
        pairs = current_pairs(questions)
        values = {"state": State.CONFIRMED, "reason": "", "note": ""}
        act = _decide([(question, pairs[question.pk], values) for question in questions], actor, "confirmed", False)
        return act, len(questions)


def undo(survey: Survey, act: uuid.UUID, actor: User) -> int:
    """Take an act back, and return for how many questions. Raises DecisionRefused if it does not stand any more."""
    with transaction.atomic():
        _lock(survey.pk)
        pairs = list(OptionPair.objects.filter(question__survey=survey, act=act, current=True).order_by("question_id"))
        if not pairs:
            raise DecisionRefused(_("There is nothing to undo: somebody decided again, or undid it already."))
        questions = _locked_questions([pair.question_id for pair in pairs])
        former = OptionPair.objects.filter(question__in=questions, undone_at=None, current=False)
        newest = {pair.question_id: pair for pair in former.order_by("question_id", "-pk").distinct("question_id")}
        ids = [pair.pk for pair in pairs]
        OptionPair.objects.filter(pk__in=ids).update(current=False, undone_at=timezone.now())
        OptionPair.objects.filter(pk__in=[pair.pk for pair in newest.values()]).update(current=True)
        for question in questions:
            apply(question, newest[question.pk])
        SurveyQuestion.objects.bulk_update(questions, ["state", "reason", "adjustment"], batch_size=500)
        _record(actor, survey, "undone", questions, act)
        write_option_items(survey, [question.key for question in questions])
        return len(questions)


@contextmanager
def _deciding(questions: Sequence[SurveyQuestion]) -> Iterator[list[SurveyQuestion]]:
    """A transaction with the survey's row and the questions locked, in this order."""
    with transaction.atomic():
        _lock(questions[0].survey_id)
        yield _locked_questions([question.pk for question in questions])


def _lock(survey_id: int) -> Survey:
    survey = Survey.objects.select_for_update(no_key=True).get(pk=survey_id)
    if Survey.objects.filter(benchmark=survey.benchmark_id, version__gt=survey.version).exists():
        raise DecisionRefused(_("A newer version of the survey was imported. Open the page again."))
    return survey


def _locked_questions(ids: Collection[int]) -> list[SurveyQuestion]:
    return list(SurveyQuestion.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk"))


def _decide(
    decisions: Sequence[tuple[SurveyQuestion, OptionPair, Mapping[str, object]]], actor: User, verb: str,
    looked: bool = True,
) -> uuid.UUID:  # fmt: skip
    """New current pairs, made from the former ones with `values` in their place. The questions are locked."""
    act, at = uuid.uuid4(), timezone.now()
    OptionPair.objects.filter(pk__in=[pair.pk for _question, pair, _values in decisions]).update(current=False)
    pairs = []
    for question, pair, values in decisions:
        names = ("a", "b", "how", "flags", "adjustment")
        kept = {name: getattr(pair, name) for name in names} | dict(values)
        pairs.append(OptionPair(question=question, by=actor, at=at, act=act, **kept))
        apply(question, pairs[-1])
        if looked and question.looked_at is None:
            question.looked_at, question.looked_by = at, actor
    OptionPair.objects.bulk_create(pairs, batch_size=500)
    questions = [question for question, _pair, _values in decisions]
    fields = ["state", "reason", "adjustment", "looked_at", "looked_by"]
    SurveyQuestion.objects.bulk_update(questions, fields, batch_size=500)
    survey = Survey.objects.select_related("benchmark").get(pk=questions[0].survey_id)
    _record(actor, survey, verb, questions, act)
    write_option_items(survey, [question.key for question in questions])
    return act


def _record(actor: User, survey: Survey, verb: str, questions: Sequence[SurveyQuestion], act: uuid.UUID) -> None:
    scope = Survey.objects.select_related("benchmark").get(pk=survey.pk).benchmark.scope
    keys = [question.key for question in questions[:50]]
    record(
        actor, f"survey_question.{verb}", scope=scope, target=f"survey:{survey.pk}", n=len(questions), keys=keys,
        act=str(act),
    )  # fmt: skip
