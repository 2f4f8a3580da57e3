"""What a table counts, in sentences: each selection it read, and the runs."""

from collections.abc import Iterator, Sequence

from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from annotation.sheets.conditions import condition_name
from annotation.sheets.sheet import localise
from evaluation.queries.call_statistics import sampled_runs
from evaluation.selections.catalogue import Catalogue, StageEntry
from evaluation.selections.selection import INTERVAL_LABELS, Selection
from people.models import Rater
from predictions.models import Run
from predictions.pages.runs import variant_of
from predictions.pages.variant_names import VariantNames
from predictions.texts.call_reasons import sample_words


def inclusion_sentences(selections: Sequence[Selection], runs: Sequence[Run], catalogue: Catalogue) -> list[str]:
    """For each stage and question one sentence; what all share is said once."""
    texts = [_question_text(one, catalogue) for one in selections]
    for one in selections[:1]:
        texts += _shared_texts(one, catalogue)
    texts += filter(None, (catalogue.withheld_text(stage) for stage in dict.fromkeys(one.stage for one in selections)))
    names = VariantNames(catalogue.benchmark)
    if runs:
        texts.append(_runs(runs, names))
    return [*texts, *_samples(selections, names)]


def _samples(selections: Sequence[Selection], names: VariantNames) -> list[str]:
    """A sentence for each run of answers that asked a sample only."""
    found = {run.pk: run for one in selections if Rater.Kind.MODEL in one.raters for run in sampled_runs(one)}
    return [f"{_name(run, names)}: {sample_words(run.selection)}." for run in found.values()]


def _question_text(selection: Selection, catalogue: Catalogue) -> str:
    stage = next(s for s in catalogue.stages if s.key == selection.stage)
    names = {c.id: c.name for c in stage.campaigns}
    people, models = (kind in selection.raters for kind in (Rater.Kind.PERSON, Rater.Kind.MODEL))
    whose = _("people and models") if people and models else _("models") if models else _("people")
    return _("Answers of %(whose)s to “%(field)s” in the stage “%(stage)s”, from: %(campaigns)s.") % {
        "whose": whose,
        "field": _question_label(selection, stage),
        "stage": stage.name,
        "campaigns": "; ".join(names[c] for c in selection.campaigns),
    }


def _question_label(selection: Selection, stage: StageEntry) -> str:
    """As the newest of its campaigns asks it."""
    sheet = next(campaign.sheet for campaign in stage.campaigns if campaign.id == selection.campaigns[0])
    return localise(sheet.field(selection.field).label, get_language() or "en").replace("{target}", "…")


def _shared_texts(selection: Selection, catalogue: Catalogue) -> Iterator[str]:
    stage = next(s for s in catalogue.stages if s.key == selection.stage)
    yield selection.inclusion_text()
    if catalogue.withdrawn.answers:
        yield catalogue.withdrawn.words
    if selection.may_repeat:
        yield selection.repeats_text()
    if len(selection.cohorts) < len({c for campaign in stage.current for c in campaign.cohorts}):
        yield _("Only the cohorts: %(names)s.") % {
            "names": ", ".join(catalogue.cohorts[c].name for c in selection.cohorts)
        }
    if len(selection.conditions) < len(stage.conditions):
        names = [condition_name(catalogue.benchmark, c, get_language() or "en") for c in selection.conditions]
        yield _("Only the conditions: %(names)s.") % {"names": ", ".join(names)}
    if selection.concepts:
        yield _("Only the concepts: %(concepts)s.") % {"concepts": ", ".join(selection.concepts)}
    yield from selection.dates_text()
    yield _("Interval: %(label)s. Values with another interval say so.") % {
        "label": INTERVAL_LABELS[selection.interval]
    }


def _runs(runs: Sequence[Run], names: VariantNames) -> str:
    text = ngettext("%(n)s run of predictions: %(names)s.", "%(n)s runs of predictions: %(names)s.", len(runs))
    return text % {"n": len(runs), "names": ", ".join(dict.fromkeys(_name(run, names) for run in runs))}


def _name(run: Run, names: VariantNames) -> str:
    how = ", ".join(part for part in (variant_of(run, names), run.query_set, run.system_prompt) if part)
    return f"{run.rater.name} ({how})" if how else run.rater.name
