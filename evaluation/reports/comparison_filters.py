"""What the pages of models and of the judge share: the form above them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.sheets.sheet import localise
from evaluation.reports.filters import arrange_form, build_select, other_params, rater_selects, task_selects
from evaluation.selections.catalogue import Catalogue
from evaluation.selections.selection import COUNTED_LABELS, INTERVAL_LABELS, Selection

EVERYBODY = ("person", "model")
OWN_LABELS: dict[str, str | Promise] = {
    "statistic": gettext_lazy("Statistic"),
    "truth": gettext_lazy("Correct answer"),
    "judge": gettext_lazy("Judge"),
}
Own = Sequence[tuple[str, Mapping[str, str | Promise], str]]


def page_options(params: QueryDict, names: Sequence[str]) -> dict[str, str]:
    """What the address says of a page's own choices."""
    return {name: value for name in names if (value := params.get(name))}


def comparison_filters(
    catalogue: Catalogue, selection: Selection, own: Own, language: str, offered: Collection[str] | None = None
) -> dict[str, Any]:
    """`own`: name, values and the chosen one of the page's own selects; shown where there is a choice. `offered`: as
    of `task_selects`. Returns `question` besides the filters: what was asked, also where there is nothing to choose."""
    stage = next(s for s in catalogue.stages if s.key == selection.stage)
    campaigns = [c for c in stage.campaigns if c.id in selection.campaigns]
    selects = [build_select(name, str(OWN_LABELS[name]), dict(v), chosen) for name, v, chosen in own if len(v) > 1]
    selects += task_selects(catalogue, stage, selection, offered)
    fields = {f.key: localise(f.label, language).replace("{target}", "…") for f in campaigns[0].fields}
    if len(fields) > 1:
        selects.append(build_select("field", _("Question"), fields, selection.field))
    selects.append(build_select("interval", _("Confidence interval"), INTERVAL_LABELS, selection.interval))
    selects.append(build_select("counted", _("Answers included"), COUNTED_LABELS, selection.counted))
    counted = rater_selects(catalogue, stage, campaigns, selection, language)
    selects += [one for one in counted if one["name"] != "raters"]
    rest = [
        (name, value) for name, value in other_params(selection, selects) if name not in ("raters", "by", "measure")
    ]
    return arrange_form(selection, selects) | {"carried": rest, "question": fields.get(selection.field, "")}


def inclusion_text(selection: Selection, catalogue: Catalogue, language: str) -> list[str]:
    """Whose ratings models stand beside, without what is said of measures; how intervals are made comes last."""
    measures = {str(measure.explained) for measure in selection.measures}
    people = replace(selection, raters=("person",))
    return [one for one in people.description(catalogue, language) if one not in measures]
