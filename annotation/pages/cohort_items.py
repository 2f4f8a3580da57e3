"""The filter of the items page by cohort: the items that it was asked about, or those with a decision."""

from collections.abc import Sequence

from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Assignment, Outcome, Slot
from benchmarks.models import Item, Stage
from benchmarks.queries.item_filters import Filter
from jobs.formats.numbers import parse_id
from people.models import Cohort, Rater

DECISIONS = ("accepted", "rejected", "undecided")


def choices(stage: Stage) -> Sequence[tuple[str, str]]:
    """A cohort as its id, a decision as id.decision; 0 stands for all cohorts."""
    cohorts = list(Cohort.objects.filter(campaigns__campaign__stage=stage).distinct())
    names = [(str(cohort.pk), cohort.name) for cohort in sorted(cohorts, key=lambda cohort: cohort.name)]
    if stage.acceptance == Stage.Acceptance.ON_SUBMIT:
        return names
    words = {"accepted": _("accepted"), "rejected": _("rejected"), "undecided": _("undecided")}
    rows = [("0", _("All cohorts")), *names]
    decided = [(f"{pk}.{key}", f"{name}: {words[key]}") for pk, name in rows for key in DECISIONS]
    return [*names, *decided]


def narrow(items: QuerySet[Item], value: str) -> QuerySet[Item]:
    cohort, _dot, decision = value.partition(".")
    pk = parse_id(cohort)
    if not decision:
        return items.filter(Exists(Slot.objects.filter(unit__item=OuterRef("pk"), cohort__cohort=pk)))
    answers = Assignment.objects.filter(unit__item=OuterRef("pk"), state=decision, rater__kind=Rater.Kind.PERSON)
    outcomes = Outcome.objects.filter(unit__item=OuterRef("pk"), state=decision)
    if pk:
        answers = answers.filter(slot__cohort__cohort=pk)
        outcomes = outcomes.filter(unit__slots__cohort__cohort=pk, unit__slots__cohort__campaign=F("campaign"))
    return items.filter(Exists(answers) | Exists(outcomes))


FILTER = Filter("cohort", gettext_lazy("Cohort"), choices, narrow)
