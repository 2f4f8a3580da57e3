"""What ValueGround's survey adds to the next action of the overview: import it, then decide about its questions."""

from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.pages.next_actions import NextAction
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
    items = Item.objects.filter(stage__benchmark=benchmark, withdrawn_at=None)
    if items.exists() or Survey.objects.filter(benchmark=benchmark).exists():
        return None
    pairs = f"{reverse('benchmarks:import', args=[benchmark.slug])}?{urlencode({'stage': 'pair-review'})}"
    return NextAction(
        _("There is no survey yet."),
        _("Import a survey"),
        _page(benchmark, "import"),
        _("Its codebook brings the questions, and a file of counts the labels of the countries."),
        (_("Import pairs of pictures"), pairs),
    )


def undecided(stage: Stage, n: int) -> FactWait:
    """Questions wait for a decision."""
    text = ngettext("%(n)s question waits for a decision.", "%(n)s questions wait for a decision.", n) % {"n": n}
    detail = ngettext(
        "Confirm its pair of options, or exclude it with a reason.",
        "Confirm their pairs of options, or exclude them with a reason.", n,
    )  # fmt: skip
    return FactWait(stage, n, text, detail, _("View the survey"), _page(stage.benchmark, "survey"))
