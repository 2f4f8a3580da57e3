"""The form above a report: selects where there is something to choose, the rest of the address carried along."""

from collections.abc import Collection
from typing import Any
from urllib.parse import urlencode

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from annotation.sheets.conditions import condition_name
from annotation.sheets.sheet import localise
from evaluation.selections.catalogue import CampaignEntry, Catalogue, StageEntry
from evaluation.selections.measures import default_measure, measure_labels
from evaluation.selections.selection import (
    COUNTED_LABELS,
    INTERVAL_LABELS,
    LABEL_RULE_LABELS,
    RATERS,
    REPEATS_LABELS,
    Selection,
    by_labels,
    rater_labels,
)

# What another stage, campaign or question need not have.
CLEARS = {
    "stage": "campaign field measure cohort condition concept version raters by statistic truth judge",
    "campaign": "field measure cohort condition version by statistic truth judge",
    "field": "measure raters statistic truth judge",
    "by": "field measure",
}
FIRST_CHOICES = {
    "interval": next(iter(INTERVAL_LABELS)), "counted": next(iter(COUNTED_LABELS)),
    "repeats": next(iter(REPEATS_LABELS)), "labels": next(iter(LABEL_RULE_LABELS)), "raters": next(iter(RATERS)),
}  # fmt: skip
DATES = ("since", "until")
MAIN = ("measure", "statistic", "judge", "stage", "field", "campaign", "least", "by", "counted")  # what matters most
IN_VIEW = 3


def filters(catalogue: Catalogue, selection: Selection, language: str) -> dict[str, Any]:
    """`selects`, `dates` with what they hold, and `carried`: what the address asks for and no select shows."""
    stage = next(s for s in catalogue.stages if s.key == selection.stage)
    campaigns = [c for c in stage.campaigns if c.id in selection.campaigns]
    asked = catalogue.with_people or None
    selects = [*_of_measure(stage, campaigns, selection), *task_selects(catalogue, stage, selection, asked)]
    fields = campaigns[0].sheet.fields
    if len(fields) > 1 and selection.by != "field":
        questions = {f.key: localise(f.label, language).replace("{target}", "…") for f in fields}
        selects.append(build_select("field", _("Question"), questions, selection.field))
    selects += rater_selects(catalogue, stage, campaigns, selection, language)
    rest = [(name, value) for name, value in other_params(selection, selects) if name != "as"]  # chosen in the table
    return arrange_form(selection, selects) | {"carried": rest}


def arrange_form(selection: Selection, selects: list[dict[str, Any]]) -> dict[str, Any]:
    """`selects`: at most three that matter most, and all that the person set, each of which has the address without
    it; `more`: the others, behind one button, with the dates unless these are set."""
    offered = list(selects)
    for select in offered:
        select["reset"] = _without(selection, select) if _is_set(selection, select["name"]) else None
    main = [name for name in MAIN if any(select["name"] == name for select in offered)][:IN_VIEW]
    in_view = [select for select in offered if select["name"] in main or select["reset"] is not None]
    in_view.sort(key=lambda select: main.index(select["name"]) if select["name"] in main else IN_VIEW)
    more = [select for select in offered if select not in in_view]
    return {"selects": in_view, "more": more, **dates(selection)}


def _is_set(selection: Selection, name: str) -> bool:
    """A form sends its defaults along: these were not chosen."""
    default = default_measure(selection.level) if name == "measure" else FIRST_CHOICES.get(name)
    return any(asked == name and value and value != default for asked, value in selection.asked)


def _without(selection: Selection, select: dict[str, Any]) -> str:
    """The query of the address without a choice and without what depends on it; never empty."""
    gone = {select["name"], *select["clears"].split()}
    return urlencode([(name, value) for name, value in selection.asked if name not in gone])


def _of_measure(stage: StageEntry, campaigns: list[CampaignEntry], selection: Selection) -> list[dict[str, Any]]:
    selects = []
    n_cohorts = len({cohort for campaign in campaigns for cohort in campaign.cohorts})
    ways = by_labels(campaigns[0], stage.versions_of(selection.campaigns), n_cohorts)
    selects.append(build_select("by", pgettext("what the rows of a table are", "Group by"), ways, selection.by))
    if selection.by != "field":
        selects.append(
            build_select("measure", _("Measure"), measure_labels(selection.level, selection.options), selection.measure)
        )
    selects.append(build_select("interval", _("Confidence interval"), INTERVAL_LABELS, selection.interval))
    if selection.label_rule:
        selects.append(build_select("labels", _("Labels of boxes"), LABEL_RULE_LABELS, selection.label_rule))
    selects.append(build_select("counted", _("Answers included"), COUNTED_LABELS, selection.counted))
    return selects


def task_selects(
    catalogue: Catalogue, stage: StageEntry, selection: Selection, offered: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """Stage and campaign. `offered`: the keys of the stages to choose from, besides the chosen one; None for all."""
    selects = []
    stages = {s.key: s.called for s in catalogue.stages if offered is None or s.key in {*offered, selection.stage}}
    if len(stages) > 1:
        selects.append(build_select("stage", _("Stage"), stages, selection.stage))
    if len(stage.campaigns) > 1:
        selects += all_or_one(selection, "campaign", _("Campaign"), {str(c.id): c.name for c in stage.campaigns})
    return selects


def rater_selects(
    catalogue: Catalogue, stage: StageEntry, campaigns: list[CampaignEntry], selection: Selection, language: str
) -> list[dict[str, Any]]:
    """Raters, cohorts, conditions, repeats, concepts and versions, each where there are several."""
    selects: list[dict[str, Any]] = []
    kinds = rater_labels(stage, selection.level)
    if len(kinds) > 1:
        chosen = next(key for key, raters in RATERS.items() if raters == selection.raters)
        selects.append(build_select("raters", _("Raters"), kinds, chosen))
    in_campaigns = {one for c in campaigns for one in c.cohorts}
    asked = {one for c in campaigns for one in (c.conditions or stage.conditions)}
    cohorts = {str(pk): cohort.name for pk, cohort in catalogue.cohorts.items() if pk in in_campaigns}
    conditions = {c: condition_name(catalogue.benchmark, c, language) for c in stage.conditions if c and c in asked}
    selects += all_or_one(selection, "cohort", _("Cohort"), cohorts)
    selects += all_or_one(selection, "condition", _("Condition"), conditions)
    if len(selection.campaigns) > 1:
        selects.append(build_select("repeats", _("Repeated answers"), REPEATS_LABELS, selection.repeats))
    selects += all_or_one(selection, "concept", _("Concepts"), {c: capfirst(c) for c in stage.concepts})
    versions = {name: name for name in stage.versions_of(selection.campaigns)}
    return selects + all_or_one(selection, "version", _("Version of the sheet"), versions)


def dates(selection: Selection) -> dict[str, Any]:
    asked = dict(selection.asked)
    return {"dates": {name: asked.get(name, "") for name in DATES}, "dated": any(name in asked for name in DATES)}


def other_params(selection: Selection, selects: list[dict[str, Any]]) -> list[tuple[str, str]]:
    names = {one["name"] for one in selects} | set(DATES)
    return [(name, value) for name, value in selection.asked if name not in names]


def all_or_one(selection: Selection, name: str, label: str, labels: dict[str, Any]) -> list[dict[str, Any]]:
    """All or one of them; nothing where there is no choice, or where the address asks for several."""
    asked = [value for one, value in selection.asked if one == name]
    if len(labels) < 2 or len(asked) > 1:
        return []
    every = {"": _("All %(n)s") % {"n": len(labels)}, **labels}
    return [build_select(name, label, every, asked[0] if asked else "")]


def build_select(
    name: str, label: str, labels: dict[str, Any], chosen: str, clears: str | None = None
) -> dict[str, Any]:
    """`clears`: what a change of it makes void, where that is not the usual."""
    return {
        "name": name,
        "label": label,
        "clears": CLEARS.get(name, "") if clears is None else clears,
        "options": [(v, text, v == chosen) for v, text in labels.items()],
    }
