"""What the composer's pages show."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.composer.actions import DROPPED
from annotation.composer.controls import Control, Languages
from annotation.composer.labels import NAMES
from annotation.composer.pair_settings import pair_sentence
from annotation.composer.source_settings import source_names
from annotation.composer.stage_context import StageContext
from annotation.composer.stage_settings import (
    QuestionSection,
    Section,
    header_section,
    questions,
    sections,
)
from annotation.composer.stale_translations import previous_texts
from annotation.composer.validation import StageProblem, readable_sheet
from annotation.fields.registry import KINDS
from annotation.models import Campaign, StageDraft
from annotation.pages.judging_cohorts import cohort_lines
from annotation.pages.status_text import format_moment, time_zone_for
from annotation.services.derivation.derived_counts import (
    MOST_ITEMS,
    DerivedCount,
    context_names,
    example_values,
    item_choices,
    preview_derived,
)
from annotation.services.derivation.run_choice import prompt_variants
from annotation.services.sheets import sheet_versions, stages
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.filter_texts import filter_name, rule_text
from benchmarks.pages.filters import read_rules
from benchmarks.queries.filter_counts import fact_keys
from benchmarks.queries.label_sets import newest_sets, offered_sets
from benchmarks.recipes.registry import RECIPES
from benchmarks.rules.coverage import SET_PREFIX
from people.locales.draft_marks import text_language_name
from people.locales.languages import interface_names
from people.models import Cohort, User

REWORDED = gettext_lazy(
    "Only texts changed. Select the running campaigns that should use the new texts. Drafts and answers are kept."
)

__all__ = ["NAMES", "StageForm", "StageRow", "stage_form", "stage_rows", "template_choices", "template_content"]


@dataclass(frozen=True)
class StageForm:
    """A stage's form. `effect`: what publishing will mean for campaigns that run."""

    seen: str
    saved: str
    head: Sequence[Control]
    questions: Sequence[QuestionSection]
    sections: Sequence[Section]
    languages: Languages
    spoken: Mapping[str, str]
    kinds: Sequence[tuple[str, Any]]
    problems: Sequence[StageProblem]
    dropped: str
    effect: str
    reworded: Sequence[Campaign]
    checked: bool
    conflict: str = ""
    newest: str = ""

    @property
    def wrong(self) -> Sequence[StageProblem]:
        """What is shown beside the settings: once somebody tried to publish, else nothing shouts while one writes."""
        return self.problems if self.checked else ()

    @property
    def blocking(self) -> int:
        """What must be mended before it can be opened."""
        return sum(problem.blocks for problem in self.problems)


def stage_form(
    stage: Stage, content: Mapping[str, Any], draft: StageDraft | None, user: User, *, second_language: str = "",
    checked: bool = False, conflict: str = "", revision: str = "",
) -> StageForm:  # fmt: skip
    """`revision`: of the page that was sent, where it is shown again because it could not be saved."""
    names = languages_of(stage)
    before = dict(previous_texts(content, stages.content_of(stage)))
    languages = Languages(names, second_language if second_language in names else "", before)
    problems = stages.problems(stage, content)
    effect, reworded = publish_effect(stage, content, problems)
    dropped = content.get(DROPPED)
    return StageForm(
        seen=revision or stages.revision(stage, draft),
        saved=saved_text(draft, user),
        head=header_section(content),
        questions=questions(content, languages),
        sections=sections(content, stage_context_of(stage, content, languages)),
        languages=languages,
        spoken={**names, **dict(interface_names())},
        kinds=[(kind.key, kind.name or kind.key) for kind in KINDS],
        problems=problems,
        dropped=json.dumps(dropped, ensure_ascii=False) if dropped else "",
        effect=effect,
        reworded=reworded,
        checked=checked,
        conflict=conflict,
        newest=stages.revision(stage, draft),
    )


def stage_context_of(stage: Stage, content: Mapping[str, Any], languages: Languages) -> StageContext:
    derivation = content.get("derivation") or {}
    kind, named = derivation.get("kind"), list(stage.benchmark.stages.filter(key__in=derivation.get("from") or ()))
    around = StageContext(
        languages,
        stages.earlier_stages(stage),
        {source.key: context_names(source) for source in named},
        (),
        {source.key: fact_keys(source) for source in named} if kind in ("pair", "sample") else {},
        {source.key: filter_choices(source) for source in named if source.filters},
        example_values(named),
        prompt_variants(named) if kind == "verdicts" else (),
        item_choices(named) if kind == "pair" else (),
        label_set_choices(stage),
    )
    return replace(around, derived=derived_lines(stage, content, source_names(derivation, around)))


def label_set_choices(stage: Stage) -> list[tuple[str, str]]:
    """Sets of labels that coverage may have as its rows: the team's, then those that every team has."""
    names = {label_set.key: label_set.name for label_set in newest_sets(stage.benchmark.team)}
    names |= {offered.key: offered.name for offered in offered_sets() if offered.key not in names}
    return [(f"{SET_PREFIX}{key}", name) for key, name in names.items()]


def filter_choices(stage: Stage) -> list[tuple[str, str]]:
    """Its filters by key, each with its rule."""
    rules, _error = read_rules(stage)
    return [(rule.key, f"{filter_name(rule)}: {rule_text(rule)}") for rule in rules]


def derived_lines(stage: Stage, content: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """What would be made of what is accepted now, in sentences, and which cohorts would get it; of pairs also what is
    paired, with one of them."""
    derivation = content.get("derivation") or {}
    if not derivation.get("from"):
        return []
    count = preview_derived(stage, derivation)
    if count is None:
        return [_("The number of items is not computed: the settings are incomplete, or the sources are too many.")]
    if count.items > MOST_ITEMS:
        number = _("More than %(most)s items result. Set a limit.") % {"most": f"{MOST_ITEMS:,}"}
    else:
        number = ngettext(
            "%(n)s item results from what is accepted now.", "%(n)s items result from what is accepted now.",
            count.items,
        ) % {"n": count.items}  # fmt: skip
    lines = [number, *cohort_lines(stage, content, count)]
    if derivation.get("kind") != "pair":
        return lines
    return [pair_sentence(derivation.get("params") or {}, names), *_of_pairs(count, names), *lines]


def _of_pairs(count: DerivedCount, names: Mapping[str, str]) -> list[str]:
    """The first pair, a warning of those that show one text twice, and why there is none."""
    lines = []
    for where in count.unshared:
        text = _("No pair results: no source has a value for %(what)s. Choose something else under “Both must share”.")
        lines.append(text % {"what": names.get(where, where)})
    if count.example is not None:
        first, second = (textwrap.shorten(text, 80, placeholder="…") for text in count.example)
        lines.append(_("For example “%(first)s” next to “%(second)s”.") % {"first": first, "second": second})
    if count.left_out:
        words = ngettext(
            "%(n)s pair is left out: both sides have the same text.",
            "%(n)s pairs are left out: both sides have the same text.",
            count.left_out,
        )
        lines.append(words % {"n": count.left_out})
    if count.repeated:
        words = ngettext(
            "%(n)s of %(read)s pair shows the same text on both sides.",
            "%(n)s of %(read)s pairs show the same text on both sides.", count.read,
        )  # fmt: skip
        lines.append(words % {"n": count.repeated, "read": count.read})
    return lines


def languages_of(stage: Stage) -> dict[str, str]:
    """English, then those of the interface, then those of the team's cohorts: by what texts are written in."""
    spoken = [code for code, _name in settings.LANGUAGES]
    cohorts = Cohort.objects.filter(team=stage.benchmark.team_id)
    codes = ["en", *spoken, *(code for cohort in cohorts for code in cohort.languages)]
    return {code: text_language_name(code) for code in dict.fromkeys(code.split("-")[0] for code in codes)}


def saved_text(draft: StageDraft | None, user: User) -> str:
    if draft is None:
        return _("Nothing is changed.")
    return _("Draft saved %(when)s") % {"when": format_moment(draft.saved_at, time_zone_for(user))}


def conflict_text(draft: StageDraft | None, user: User) -> str:
    if draft is None:
        return _("This stage was published or its draft discarded in another window.")
    saver, when = draft.saved_by.name, format_moment(draft.saved_at, time_zone_for(user))
    return _("%(who)s saved this stage %(when)s in another window.") % {"who": saver, "when": when}


def publish_effect(
    stage: Stage, content: Mapping[str, Any], problems: Sequence[StageProblem]
) -> tuple[str, list[Campaign]]:
    """What publishing means for campaigns that run, and which of them may take the new words."""
    campaigns = sheet_versions.running_campaigns(stage)
    sheet = readable_sheet(content)
    if not campaigns or sheet is None or any(problem.blocks for problem in problems):
        return "", []
    changes = [
        (campaign, sheet_versions.compare_definitions(campaign.sheet_version.definition, sheet.to_json()))
        for campaign in campaigns
    ]
    reworded = [campaign for campaign, change in changes if change == "words"]
    others = sum(change == "codes" for _one, change in changes)
    sentences = [str(REWORDED)] if reworded else []
    if others:
        words = ngettext(
            "Questions or codes changed. %(n)s running campaign keeps its sheet.",
            "Questions or codes changed. %(n)s running campaigns keep their sheets.",
            others,
        )
        sentences += [words % {"n": others}, _("Create a new campaign to use this version.")]
    return " ".join(sentences), reworded


@dataclass(frozen=True)
class StageRow:
    """A stage in the list."""

    stage: Stage
    questions: int
    items: int
    made_of: str
    draft: bool
    problems: int
    removable: bool
    is_open: bool


def stage_rows(benchmark: Benchmark) -> list[StageRow]:
    rows = list(benchmark.stages.all())
    items, names = stages.items_in(rows), {row.key: row.name for row in rows}
    drafts = set(StageDraft.objects.filter(stage__in=rows).values_list("stage", flat=True))
    campaigns = Campaign.objects.filter(stage__in=rows).order_by().values_list("stage", "state").distinct()
    busy, opened = {stage for stage, _state in campaigns}, {stage for stage, state in campaigns if state == "open"}
    sources = {key for row in rows for key in row.derivation.get("from", ())}
    return [
        StageRow(
            stage=row,
            questions=len(row.sheet.get("fields", [])),
            items=items.get(row.pk, 0),
            made_of=", ".join(names.get(key, key) for key in row.derivation.get("from", ())),
            draft=row.pk in drafts,
            problems=len(stages.blocking_problems(row)),
            removable=not items.get(row.pk) and row.pk not in busy and row.key not in sources,
            is_open=row.pk in opened,
        )
        for row in rows
    ]


def template_choices(benchmark: Benchmark, user: User) -> list[tuple[str, list[tuple[str, str]]]]:
    """What a new stage can begin with, in groups: stages this person works on, by benchmark, then those of recipes."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for source_stage in stages.copyable_stages(benchmark, user):
        groups.setdefault(source_stage.benchmark.name, []).append((f"stage:{source_stage.pk}", source_stage.name))
    for recipe in RECIPES:
        name = _("Recipe: %(name)s") % {"name": recipe.name}
        groups.setdefault(name, []).extend((f"recipe:{recipe.key}:{spec.key}", spec.name) for spec in recipe.stages)
    return list(groups.items())


def template_content(benchmark: Benchmark, choice: str, user: User) -> dict[str, Any] | None:
    """The content that was chosen; None for a blank sheet. Only of stages in the same list, and of recipes."""
    source, _colon, rest = choice.partition(":")
    if source == "stage":
        template = next(
            (source_stage for source_stage in stages.copyable_stages(benchmark, user) if str(source_stage.pk) == rest),
            None,
        )
        return stages.content_of(template) if template else None
    recipe_key, _colon, stage_key = rest.partition(":")
    for recipe in RECIPES:
        for spec in recipe.stages:
            if (recipe.key, spec.key) == (recipe_key, stage_key):
                return {key: _to_json(getattr(spec, key)) for key in stages.COLUMNS}
    return None


def _to_json(value: Any) -> Any:
    """A recipe's mappings and tuples as JSON has them."""
    return json.loads(
        json.dumps(value, default=lambda other: dict(other) if isinstance(other, Mapping) else list(other))
    )
