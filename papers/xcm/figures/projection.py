"""Embeddings in the plane, as in 3XCM's Figures 6, 16 and 17: texts by language, pictures by country."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.rules.label_sets.countries import country_code
from evaluation.figures.drawing import plane
from evaluation.figures.estimate_text import estimate_text, list_text
from evaluation.figures.figure import Datum, Figure
from evaluation.figures.spec import FigureData, FigureSpec
from evaluation.metrics.counts import Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.projection import PrincipalPlane, principal_plane
from evaluation.metrics.silhouette import mean_silhouettes
from evaluation.rendering.number_format import format_number
from evaluation.tables.ranked_lists import labels_of
from evaluation.tables.table import MissingData
from papers.xcm.tables.association import concept_of
from predictions.models import Run
from predictions.queries.results import entries_with_vectors, vectors_by

MOST = 3000  # points of a panel
SEED = 6  # of those drawn where there are more: the same entries give the same picture


@dataclass(frozen=True, eq=False)
class Part:
    """The texts, or the pictures, of a run. `keys` and `group` are of those drawn; `counts` of all, by group."""

    title: str
    keys: list[str]
    group: list[str]
    counts: Counter[str]
    at: PrincipalPlane
    own: dict[str, Estimate]  # mean silhouette of each group, in all dimensions
    mean: Estimate


def sample_places(count: int, most: int = MOST, seed: int = SEED) -> Ints:
    """Places of `most` of `count` things, in their order; all where there are no more."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


def in_the_plane(ground: FigureData) -> Figure:
    """Of the run that the address names (`run`), else the first."""
    runs = ground.runs("embedding")
    labels = [labels_of(runs)[run.pk] for run in runs]
    asked = next((str(x) for x in ground.params.getlist("run") if str(x) in labels), labels[0])
    run = runs[labels.index(asked)]
    ground.used_runs = {run.pk: run}
    parts, unknown = _parts(run)
    if not parts:
        raise MissingData(
            _("The entries say neither their language nor their country. Import the collection with these.")
        )
    drawing = plane.Plane(tuple(_panel(one, asked) for one in parts), _("n"), _("silhouette"))
    return Figure(
        key="plane",
        title=_("Embeddings in the plane: principal components, not UMAP"),
        alt=" ".join(_alt(one, asked) for one in parts),
        columns=(_("run"), _("what"), _("entry"), _("group"), _("first component"), _("second component")),
        rows=tuple(row for one in parts for row in _rows(one, asked)),
        draw=lambda width: plane.draw(drawing, width),
        words=(*_caption_texts(parts, unknown), *ground.words()),
        links_head=_("Of the model:"),
        links=tuple((name, ground.with_options("run", name), name == asked) for name in labels),
    )


def _parts(run: Run) -> tuple[list[Part], int]:
    """Texts and pictures, and how many entries are neither."""
    texts, pictures, unknown = [], [], 0
    for pk, key, about in entries_with_vectors(run):
        if language := str(about.get("language") or ""):
            texts.append((pk, key, language, concept_of(about, key)))
        elif country := country_code(str(about.get("country") or "")):
            pictures.append((pk, key, country, concept_of(about, key)))
        else:
            unknown += 1
    found = ((_("Texts, by language"), texts), (_("Pictures, by country"), pictures))
    return [_part(run, title, entries) for title, entries in found if entries], unknown


def _part(run: Run, title: str, entries: list[tuple[int, str, str, str]]) -> Part:
    sampled = [entries[place] for place in sample_places(len(entries)).tolist()]
    group = np.array([name for _pk, _key, name, _concept in sampled])
    vectors = vectors_by(run, [pk for pk, _key, _name, _concept in sampled])
    means = mean_silhouettes(vectors, group, np.array([concept for _pk, _key, _name, concept in sampled]))
    return Part(
        title,
        [key for _pk, key, _name, _concept in sampled],
        group.tolist(),
        Counter(name for _pk, _key, name, _concept in entries),
        principal_plane(vectors),
        means.by_cluster,
        means.overall,
    )


def _panel(of: Part, run: str) -> plane.PlanePanel:
    """Groups by name; beyond those with a sign of their own the smallest are drawn as one."""
    common = [name for name, _n in sorted(of.counts.items(), key=lambda pair: (-pair[1], pair[0]))]
    named, rest = sorted(common[: plane.GROUPS]), common[plane.GROUPS :]
    where: dict[str, list[tuple[float, float]]] = {name: [] for name in common}
    for name, (x, y) in zip(of.group, of.at.points.tolist(), strict=True):
        where[name].append((x, y))
    others = tuple(point for name in rest for point in where[name])
    return plane.PlanePanel(
        f"{run}. {of.title}",
        _("Silhouette %(mean)s") % {"mean": estimate_text(of.mean)},
        _("First component, %(share)s of the variance") % {"share": _percent(of.at.explained[0])},
        _("Second component, %(share)s") % {"share": _percent(of.at.explained[1])},
        tuple(
            plane.Cluster(name, tuple(where[name]), of.counts[name], _silhouette_text(of.own.get(name)))
            for name in named
        ),
        plane.Cluster(_("others, %(n)s groups") % {"n": len(rest)}, others, sum(of.counts[name] for name in rest))
        if rest
        else None,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _silhouette_text(found: Estimate | None) -> str:
    return "" if found is None or found.value is None else format_number(found.value)


def _alt(of: Part, run: str) -> str:
    head = _("%(run)s. %(what)s: the first two principal components hold %(first)s and %(second)s of the variance") % {
        "run": run, "what": of.title, "first": _percent(of.at.explained[0]), "second": _percent(of.at.explained[1]),
    }  # fmt: skip
    head += "; " + _("mean silhouette %(mean)s. By group:") % {"mean": estimate_text(of.mean)}
    by_size = sorted(of.own, key=lambda name: (-of.counts[name], name))
    return list_text(
        [(name, f"{_silhouette_text(of.own[name]) or '–'}, n = {of.counts[name]:,}") for name in by_size], head
    )


def _rows(of: Part, run: str) -> list[tuple[Datum, ...]]:
    return [
        (run, of.title, key, group, float(x), float(y))
        for key, group, (x, y) in zip(of.keys, of.group, of.at.points.tolist(), strict=True)
    ]


def _caption_texts(parts: list[Part], unknown: int) -> list[str]:
    texts = [
        _("The paper's projection is UMAP; this one is linear: distances in it are never larger than in the vectors."),
        _("Silhouettes are of the vectors in all dimensions, by 1 - cosine, of the entries drawn: 1 apart, 0 mixed."),
        _("n is the number of entries. Each number is at the medians of its group."),
    ]
    for part in parts:
        if len(part.keys) < part.counts.total():
            text = _("%(what)s: %(drawn)s of %(all)s entries are drawn, picked at random by seed %(seed)s.")
            drawn = {"drawn": f"{len(part.keys):,}", "all": f"{part.counts.total():,}"}
            texts.append(text % {"what": part.title, "seed": SEED, **drawn})
    if unknown:
        texts.append(_("Entries without language and country, left out: %(n)s.") % {"n": f"{unknown:,}"})
    return texts


FIGURES = (
    FigureSpec(
        "plane",
        "Figures 6, 16, 17",
        gettext_lazy("Embeddings in the plane: principal components, not UMAP"),
        gettext_lazy("Embeddings of a model; the collection's entries name their language or country."),
        in_the_plane,
    ),
)
