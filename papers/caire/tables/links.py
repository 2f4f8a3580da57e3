"""CAIRE's Table 3: how often the right entry is among the first that an image was linked to.

Gold ids come with the images, in a column `gold_entity`; a set of images has its name in a column `dataset`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from benchmarks.models import Item
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.proportions import share
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.sources import STAGE
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import ActionLink, MissingData, Table
from evaluation.tables.table_inputs import TableInputs
from papers.caire.printed_values import printed
from predictions.models import EntityLink, Run
from predictions.queries.knowledge import gold_entries
from predictions.queries.results import runs_of
from predictions.services.knowledge.linking import METHODS, NAMED

AT = (1, 5, 10, 20)
MOST_SETS = 8
NEEDS = gettext_lazy("A linking run over images whose right entries are known.")
OTHER_IMAGES = gettext_lazy("The knowledge base and the images are others than the paper's.")
DOOR = ActionLink("predictions:linking", gettext_lazy("View linked entities"))
LEFT_OUT = "in_knowledge_base"


@dataclass(frozen=True)
class LinkRanks:
    """Of a run's images with gold ids: (n,) the first place of a right entry, 0 for none; whose they are; their set."""

    place: np.typing.NDArray[np.int64]
    entity: list[str]
    dataset: list[str]
    left_out: int

    def recall(self, k: int, dataset: str | None = None) -> Estimate:
        """The share with a right entry among the first k; images of one entry are left out together."""
        keep = np.array([dataset is None or one == dataset for one in self.dataset], bool)
        hits = (self.place[keep] > 0) & (self.place[keep] <= k)
        clusters = [one for one, kept in zip(self.entity, keep, strict=True) if kept]
        return share(hits.astype(bool), np.array(clusters, dtype=str), method=f"recall at {k}")


def ranks_of(run: Run) -> LinkRanks:
    """An image without a link counts as one whose entry was not found; one that is itself in the base is left out, as
    are items that were withdrawn since."""
    place, entity, dataset, left_out = [], [], [], 0
    rows = EntityLink.objects.filter(run=run, item__withdrawn_at=None).select_related("item").order_by("item")
    for link in rows.iterator(chunk_size=2000):
        gold = gold_entries(link.item)
        if not gold:
            continue
        if link.reason == LEFT_OUT:
            left_out += 1
            continue
        place.append(next((n for n, key in enumerate(link.keys[: AT[-1]], start=1) if key in gold), 0))
        entity.append("|".join(sorted(gold)))
        dataset.append(str(link.item.context.get("dataset") or ""))
    return LinkRanks(np.array(place, np.int64), entity, dataset, left_out)


def build_linking(inputs: TableInputs) -> Table:
    runs = _runs(inputs)
    ranked_runs = [(run, ranks_of(run)) for run in runs]
    if not any(ranks.entity for _run, ranks in ranked_runs):
        text = _("No linked image has a right entry to compare with. Import the images with a column “gold_entity”.")
        raise MissingData(text, DOOR)
    names = sorted({name for _run, ranks in ranked_runs for name in ranks.dataset})
    sets: list[str | None] = [*names] if any(names) and len(names) <= MOST_SETS else [None]
    rows = [_row(run, ranks, sets) for run, ranks in ranked_runs if ranks.entity]
    columns: list[Words] = [f"{_set(one)}@{k}" for one in sets for k in AT]
    words: list[Words] = [
        _("In percent of images. The right entry is among the first k that the run ranked, by its exact id."),
        _("Intervals over entries, each with all its images (jackknife). With one image per entry they are Wilson's."),
        _("An image without a link counts as not found."),
    ]
    if any(run.options.get("method") == NAMED for run, _ranks in ranked_runs):
        words.append(_("A model names one entity, so its columns differ only where several entries have that name."))
    if left_out := sum(ranks.left_out for _run, ranks in ranked_runs):
        text = ngettext(
            "%(n)s image was left out: it is itself in the knowledge base.",
            "%(n)s images were left out: they are themselves in the knowledge base.",
            left_out,
        )
        words.append(text % {"n": left_out})
    return inputs.table(corner=_("Linking method"), columns=columns, rows=rows, words=words)


def _runs(inputs: TableInputs) -> list[Run]:
    """Those that linked the pictures of one stage, in the order of the paper's rows: the stage that the address asks
    for, else the one that was linked last."""
    order = list(METHODS)
    every = [run for run in runs_of(inputs.benchmark, Run.Task.LINKING) if run.options.get("method") in order]
    if not every:
        raise MissingData(_("No image has been linked to a knowledge base yet."), DOOR)
    names = dict(inputs.benchmark.stages.values_list("key", "name"))
    newest = dict.fromkeys(_stage(run) for run in sorted(every, key=lambda run: -run.pk))
    known = with_gold(inputs, newest)
    stage = inputs.choose(STAGE, {key: names.get(key, key) for key in newest}, next(iter(known), ""))
    labels = {run.pk: f"{METHODS[run.options['method']]}, {run.model}, {_base(run)}" for run in every}
    chosen = inputs.choose_runs([run for run in every if _stage(run) == stage], labels)
    return sorted(chosen, key=lambda run: (_base(run), run.model, order.index(run.options["method"])))


def with_gold(given: TableInputs, stages: Iterable[str]) -> list[str]:
    """Stages of which some picture says its right entry."""
    items = Item.objects.filter(stage__benchmark=given.benchmark, withdrawn_at=None, context__has_key="gold_entity")
    there = set(items.exclude(context__gold_entity="").values_list("stage__key", flat=True).distinct())
    return [key for key in stages if key in there]


def _stage(run: Run) -> str:
    return str(run.selection.get("stage") or "")


def _base(run: Run) -> str:
    return str(run.knowledge_index.base) if run.knowledge_index else ""


def _set(name: str | None) -> str:
    if name is None:
        return ""
    return f"{name} " if name else _("Others") + " "


def _row(run: Run, ranks: LinkRanks, sets: Sequence[str | None]) -> Row:
    method = run.options["method"]
    cells = [
        Cell(
            ranks.recall(k, name),
            rounding=Rounding(2, 100),
            printed=printed("table_3", f"at_{k}", OTHER_IMAGES, dataset=name or "", method=method),
        )
        for name in sets
        for k in AT
    ]
    return Row(str(METHODS[method]), tuple(cells), f"{run.model}, {_base(run)}")


LINK_TABLES: tuple[TableSpec, ...] = (
    TableSpec("table-3", "Table 3", gettext_lazy("Recall of linked entities"), NEEDS, build_linking),
)
