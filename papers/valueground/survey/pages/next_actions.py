"""What ValueGround's survey adds to the next action of the overview: import it, then decide about its questions."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.next_actions import NextAction
from benchmarks.queries.stage_states import stages_with_items
from jobs.queries.read_together import read_for_each
from papers.valueground.recipe import VALUEGROUND
from papers.valueground.survey.models import Survey
from people.models import User
from predictions.pages.fact_requests import FactWait


def _page(benchmark: Benchmark, key: str) -> str:
    return reverse("benchmarks:plugin_page", args=[benchmark.slug, key])


def import_survey(benchmark: Benchmark, user: User) -> NextAction | None:
    """There is neither a survey nor an item."""
    if benchmark.recipe != VALUEGROUND.key or not is_permitted(user, benchmark, "work_on"):
        return None
    if stages_with_items(benchmark) or bool(read_for_each(benchmark, _with_survey)):
        return None
    pairs = f"{reverse('benchmarks:import', args=[benchmark.slug])}?{urlencode({'stage': 'pair-review'})}"
    return NextAction(
        _("There is no survey yet."),
        _("Import a survey"),
        _page(benchmark, "import"),
        _("Its codebook brings the questions, and a file of counts the labels of the countries."),
        (_("Import pairs of pictures"), pairs),
    )


def _with_survey(benchmarks: Sequence[Benchmark]) -> Mapping[int, bool]:
    surveys = Survey.objects.filter(benchmark__in=benchmarks)
    return dict.fromkeys(surveys.order_by().values_list("benchmark", flat=True), True)


def undecided(stage: Stage, n: int) -> FactWait:
    """Questions wait for a decision."""
    text = ngettext("%(n)s question waits for a decision.", "%(n)s questions wait for a decision.", n) % {"n": n}
    detail = ngettext(
        "Confirm its pair of options, or exclude it with a reason.",
        "Confirm their pairs of options, or exclude them with a reason.", n,
    )  # fmt: skip
    return FactWait(stage, n, text, detail, _("View the survey"), _page(stage.benchmark, "survey"))
