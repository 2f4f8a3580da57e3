"""The culture that an answer is about, as it is named to those who judge the answer: people and models alike."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from django.utils.translation import gettext, gettext_noop

from annotation.displays.layout import AnswerCulture, Layout, ResolvedLayout, resolve_layout
from annotation.fields.contract import Shown
from benchmarks.models import Stage
from benchmarks.rules.derivations.cultures import split_cultures
from people.models import Cohort

ONE = gettext_noop("Answer about: {culture}")
SEVERAL = gettext_noop("Answers about: {culture}")
SIDES = (gettext_noop("Answer A about: {culture}"), gettext_noop("Answer B about: {culture}"))
WITH_SEVERAL = frozenset({"pair", "disagree"})  # derivations whose items have several answers


def layout_for_person(stage: Stage, shown: Shown, cohort: Cohort | None, language: str) -> ResolvedLayout:
    """The stage's layout with the words of an item. Cultures are named as their cohorts call themselves: one query, if
    another cohort's is named."""
    layout = Layout.from_json(stage.layout)
    resolved = resolve_layout(layout, shown, language)
    cultures = answer_cultures(stage, layout, shown)
    if not cultures:
        return resolved
    names = _cohort_names(stage, cohort, {row.culture for row in cultures}, language)
    named = (AnswerCulture(gettext(row.sentence), names.get(row.culture, row.culture)) for row in cultures)
    return replace(resolved, cultures=tuple(named))


def answer_cultures(stage: Stage, layout: Layout, shown: Shown) -> tuple[AnswerCulture, ...]:
    """In English, by their labels; empty where the layout does not name them, or the item holds no such answer."""
    labels = split_cultures(shown.answer_target) if layout.culture else ()
    if len(labels) > 1:
        return tuple(AnswerCulture(SIDES[n], label) for n, label in enumerate(labels) if label)
    several = (stage.derivation or {}).get("kind") in WITH_SEVERAL
    return tuple(AnswerCulture(SEVERAL if several else ONE, label) for label in labels)


def _cohort_names(stage: Stage, own: Cohort | None, labels: Iterable[str], language: str) -> Mapping[str, str]:
    """Of the team's cohorts with these labels, by label."""
    known = {own.label: own} if own is not None else {}
    missing = [label for label in labels if label not in known]
    if missing:
        rows = Cohort.objects.filter(team__benchmarks__stages=stage.pk, label__in=missing)
        known |= {cohort.label: cohort for cohort in rows}
    return {label: cohort.name_in(language) for label, cohort in known.items()}
