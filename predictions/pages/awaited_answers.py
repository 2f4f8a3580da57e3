"""Open stages that judge answers and lack items: what they wait for, and what a researcher does about it."""

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.queries.opened_stages import running_stages
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.board import address
from benchmarks.pages.next_actions import NextAction
from benchmarks.queries.stage_states import stages_with_items
from predictions.pages.stage_inputs import StageInputs, stage_inputs

JUDGING = "verdicts"


def await_judged_answers(benchmark: Benchmark) -> NextAction | None:
    """The first open stage whose items are answers to judge and that has no items, or not of all answers. Answers that
    are right make no item where only wrong ones are judged: then nothing is said of them."""
    running = running_stages(benchmark)
    for stage in benchmark.stages.filter(derivation__kind=JUDGING):
        inputs = stage_inputs(stage) if stage.pk in running else None
        if inputs is None or inputs.only_wrong:
            continue
        if inputs.total.waiting:
            return _wait_for_references(benchmark, stage, inputs)
        if not inputs.total.answers and stage.pk not in stages_with_items(benchmark):
            return _ask_models(benchmark, stage)
    return None


def _wait_for_references(benchmark: Benchmark, stage: Stage, inputs: StageInputs) -> NextAction:
    """Answers of people are what they wait for; nobody may be asked for these, or too few."""
    n = inputs.total.waiting
    texts = (
        ngettext("“%(stage)s”: %(n)s answer has no item yet.", "“%(stage)s”: %(n)s answers have no items yet.", n)
        if inputs.total.items
        else ngettext(
            "“%(stage)s” has no items yet: %(n)s answer waits for answers of people.",
            "“%(stage)s” has no items yet: %(n)s answers wait for answers of people.",
            n,
        )
    )
    text = texts % {"stage": stage.name, "n": number_format(n, use_l10n=True)}
    page = _("View judged items"), reverse("predictions:stage_inputs", args=[benchmark.slug, stage.pk])
    if inputs.unasked:
        settings = address("annotation:compose", benchmark, stage.pk, at="derivation.params.references") + "#s-items"
        return NextAction(text, _("Edit stage"), settings, inputs.unasked_text, page)
    tables = _("View the tables"), reverse("evaluation:tables", args=[benchmark.slug])
    detail = " ".join(inputs.notes) or _("The page says of each run how many answers wait.")
    return NextAction(text, *page, detail, tables)


def _ask_models(benchmark: Benchmark, stage: Stage) -> NextAction:
    sources = benchmark.stages.filter(key__in=stage.derivation.get("from", ()))
    earlier = get_text_list([f"“{source.name}”" for source in sources], _("and"))
    return NextAction(
        _("“%(stage)s” has no items yet: no model has answered in %(earlier)s.")
        % {"stage": stage.name, "earlier": earlier},
        _("Ask models"),
        reverse("predictions:ask_models", args=[benchmark.slug]),
        _("Their answers become the items of the stage."),
        (_("View the tables"), reverse("evaluation:tables", args=[benchmark.slug])),
    )
