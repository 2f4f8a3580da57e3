"""Which cohorts will get which of the items that a stage is made of, in sentences for whoever composes it."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation
from annotation.services.derivation.derived_counts import DerivedCount
from annotation.services.sheets.stages import own_culture_stages
from benchmarks.models import Benchmark, Stage
from benchmarks.queries.availability import is_kept
from benchmarks.queries.cultures import culture
from benchmarks.rules.derivations.answer_carrying import holds_answers_of
from people.models import Cohort

MOST_NAMED = 12


def cohort_lines(stage: Stage, content: Mapping[str, Any], count: DerivedCount) -> list[str]:
    """Empty where people are not asked, and where every cohort gets items that are about no culture."""
    if not content.get("target_answers"):
        return []
    if content.get("own_items_only"):
        return _own_lines(stage, count)
    will_be_about = not count.items and holds_answers_of(content.get("derivation") or {}, own_culture_stages(stage))
    if not count.about and not will_be_about:
        return []
    if (content.get("layout") or {}).get("culture"):
        return [_("Every cohort gets all of them, and the sheet names the culture that an answer is about.")]
    if not count.about:
        return [_("Every cohort gets all of them, and the sheet does not name the culture that an answer is about.")]
    text = _(
        "Every cohort gets all of them, and the sheet does not name the culture that an answer is about: %(counts)s."
    )
    return [text % {"counts": _listed(count.cultures)}]


def _own_lines(stage: Stage, count: DerivedCount) -> list[str]:
    cohorts = {cohort.label: cohort.name for cohort in Cohort.objects.filter(team=stage.benchmark.team_id)}
    if not count.items or not count.cultures:
        return [_("Each cohort will get only the items of its own culture.")]
    own = {name: count.cultures[label] for label, name in cohorts.items() if count.cultures.get(label)}
    others = count.items - sum(own.values())
    lines = (
        [_("Each cohort gets only the items of its own culture: %(counts)s.") % {"counts": _listed(own)}] if own else []
    )
    if others:
        text = ngettext(
            "%(n)s item is of two cultures, or of none that has a cohort, and no cohort gets it.",
            "%(n)s items are of two cultures, or of none that has a cohort, and no cohort gets them.",
            others,
        )
        lines.append(text % {"n": others})
    return lines


def _listed(counts: Mapping[str, int]) -> str:
    named = sorted((label.replace("|", " + "), n) for label, n in counts.items() if label)
    shown = [f"{label} {n}" for label, n in named[:MOST_NAMED]]
    rest = sum(n for _label, n in named[MOST_NAMED:])
    return ", ".join([*shown, _("others %(n)s") % {"n": rest}] if rest else shown)


def own_culture_lines(benchmark: Benchmark) -> list[str]:
    """Of each stage that asks cohorts about their own culture, how many answers about each can be judged now. Two
    queries."""
    stages = {stage.pk: stage.name for stage in benchmark.stages.all() if stage.asks_own_culture}
    answers = Annotation.objects.filter(
        is_kept("assignment__unit__item__"), live=True, counted=True, assignment__campaign__stage__in=stages
    )
    rows = answers.order_by().annotate(of_culture=culture("assignment__unit__item__"))
    counts: dict[int, dict[str, int]] = {pk: {} for pk in stages}
    grouped = rows.values_list("assignment__campaign__stage", "assignment__unit__target", "of_culture")
    for stage, target, of_item, n in grouped.annotate(n=Count("pk")):
        label = target or of_item
        counts[stage][label] = counts[stage].get(label, 0) + n
    text = _("“%(stage)s” asks each cohort about its own culture. Its answers now: %(counts)s.")
    return [text % {"stage": stages[pk], "counts": _listed(counts[pk])} for pk in stages if counts[pk]]
