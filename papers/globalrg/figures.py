"""GlobalRG's figures: boxes over their pictures, accuracy by country, and what queries found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.queries.resolutions import resolved_answers
from benchmarks.models import Item
from benchmarks.rules.label_sets.countries import country_code
from benchmarks.rules.label_sets.globalrg import RETRIEVAL
from evaluation.figures.drawing import boxes, picture_strips
from evaluation.figures.drawing.colours import UNKNOWN, Look, kind
from evaluation.figures.drawing.text import isolate_direction
from evaluation.figures.estimate_text import list_text
from evaluation.figures.figure import Datum, Figure
from evaluation.figures.pictures import first_images
from evaluation.figures.spec import FigureData, FigureSpec
from evaluation.figures.table_figures import ACCURACY, bars_spec, heat_spec, spec_of
from evaluation.metrics import retrieval
from evaluation.metrics.boxes import overlap
from evaluation.queries.observations import ObservedItem, RawAnswer, rater_label
from evaluation.rendering.number_format import format_number
from evaluation.tables.ranked_lists import RankedLists, precisions, ranked_lists, relevant_of
from evaluation.tables.table import MissingData
from papers.globalrg.tables.boxes import GROUNDING_TABLES, read_boxes
from predictions.models import Entry

CARDS = 9
K = 5
Drawn = tuple[str, list[float]]  # who, box


def overlays(ground: FigureData) -> Figure:
    """Every picture with a first box and another one; the pairs that agree least come first."""
    boxed_items = _boxes_of(ground)
    if not boxed_items:
        raise MissingData(
            _("There is no picture yet with a person's box and another one, of a verifier or of a model.")
        )
    images = first_images(thing.pk for thing, _gold, _others in boxed_items[:CARDS])
    cards = []
    for thing, gold, others in boxed_items[:CARDS]:
        image = images.get(thing.pk)
        size = (image.width, image.height) if image else (4, 3)
        drawn = [boxes.LabelledBox(_("first: %(who)s") % {"who": gold[0]}, _corners(gold[1]))]
        drawn += [boxes.LabelledBox(who, _corners(box), iou) for who, box, iou in others]
        cards.append(boxes.Card(_name(thing), image.sha256 if image else "", *size, tuple(drawn)))
    drawing = boxes.Overlays(tuple(cards), _("IoU"))
    rows: list[tuple[Datum, ...]] = [
        (thing.key, thing.concept, thing.origin, gold[0], who, iou, *gold[1], *box)
        for thing, gold, others in boxed_items
        for who, box, iou in others
    ]
    corners = ("x0", "y0", "x1", "y1")
    worst = [
        (_name(t), ", ".join(f"{who} {format_number(iou)}" for who, _b, iou in others))
        for t, _g, others in boxed_items[:CARDS]
    ]
    return Figure(
        key="overlays",
        title=_("Boxes on their pictures, least overlap first"),
        alt=list_text(worst, _("Overlap (IoU) with the first box:")),
        columns=(
            _("item"), _("concept"), _("country"), _("first box by"), _("other box by"), _("IoU"),
            *(_("first %(side)s") % {"side": side} for side in corners), *corners,
        ),
        rows=tuple(rows),
        draw=lambda width: boxes.draw(drawing, width),
        layers=max(len(card.boxes) for card in cards),
        words=(
            _("Box 1, brass, is the first person's. Corners are shares of width and height; all pairs are in the CSV."),
            *ground.words(),
        ),
    )  # fmt: skip


def _boxes_of(ground: FigureData) -> list[tuple[ObservedItem, Drawn, list[tuple[str, list[float], float]]]]:
    """By the least overlap with the first box. A verifier's answer is of another item, with the same key."""
    first: dict[str, tuple[ObservedItem, Drawn]] = {}
    others: dict[str, list[Drawn]] = defaultdict(list)
    for answer in ground.answers("boxes", "box"):
        _sort_in(answer, first, others)
    try:
        for answer in ground.answers("verification", "box"):
            if drawn := read_boxes(answer.answer):
                others[answer.thing.key].append((rater_label(answer.rater), drawn[0]))
    except MissingData:
        pass  # verification is not asked everywhere
    _settle(ground, first, others)
    boxed_items = []
    for key, (thing, gold) in first.items():
        measured = [(who, box, overlap([gold[1]], [box])) for who, box in others.get(key, [])]
        if measured:
            boxed_items.append((thing, gold, sorted(measured, key=lambda one: one[2])))
    return sorted(boxed_items, key=lambda one: (one[2][0][2], one[0].key))


def _settle(ground: FigureData, first: dict[str, tuple[ObservedItem, Drawn]], others: dict[str, list[Drawn]]) -> None:
    """A box that settled a dispute is the gold one, and that of the first person is one of the others."""
    settled = resolved_answers(ground.benchmark, "boxes", "box")
    for key, (thing, drawn) in list(first.items()):
        resolution = settled.get(thing.pk)
        if resolution is None:
            continue
        if resolution.answer is None:
            del first[key]
        elif (box := read_boxes(resolution.answer)[0]) != drawn[1]:
            others[key].append(drawn)
            first[key] = thing, (_("settled"), box)


def _sort_in(answer: RawAnswer, first: dict[str, tuple[ObservedItem, Drawn]], others: dict[str, list[Drawn]]) -> None:
    drawn = read_boxes(answer.answer)
    if not drawn:
        return
    if answer.rater.is_model or answer.thing.key in first:
        others[answer.thing.key].append((rater_label(answer.rater), drawn[0]))
    else:
        first[answer.thing.key] = answer.thing, (answer.rater.name, drawn[0])


def _corners(box: list[float]) -> tuple[float, float, float, float]:
    return box[0], box[1], box[2], box[3]


def _name(thing: ObservedItem) -> str:
    return ", ".join(filter(None, [thing.concept or thing.key, thing.origin]))


def strips(ground: FigureData) -> Figure:
    """The first five of one query for every model; which query, the address says (`universal`)."""
    runs = ranked_lists(ground.runs("retrieval"))
    names = _universals(runs)
    asked = next(
        (str(one) for one in ground.params.getlist("universal") if str(one) in names), names[0] if names else ""
    )
    parts = [one.only(place) for one in runs for place in range(len(one.queries)) if _universal(one, place) == asked]
    if not parts:
        raise MissingData(_("The runs hold no lists."))
    shas = _pictures(ground, parts)
    regions = list(RETRIEVAL.countries)
    drawn = [_strip(part, regions, shas) for part in parts]
    used = [region for region in regions if any(one.region == region for _strip_, found in drawn for one in found)]
    legend = tuple((f"{regions.index(region) + 1}: {region}", _region_look(region, regions)) for region in used)
    drawing = picture_strips.Strips(tuple(strip for strip, _found in drawn), legend)
    rows = tuple((strip.title, asked, *one.row) for strip, found in drawn for one in found)
    first = [(strip.title, ", ".join(one.country for one in found)) for strip, found in drawn]
    return Figure(
        key="strips",
        title=_("What was found for “%(query)s”") % {"query": asked},
        alt=list_text(first, _("Countries of the first %(k)s:") % {"k": K}),
        columns=(_("model"), _("query"), _("rank"), _("picture"), _("country"), _("region"), _("score"), _("right")),
        rows=rows,
        draw=lambda width: picture_strips.draw(drawing, width),
        words=(
            _("The chip has the country, and number and colour of its region."),
            _("Scores of two models are not comparable."),
            *_region_conflicts(one for _strip_, found in drawn for one in found),
            *ground.words(),
        ),
        links_head=_("Queries:"),
        links=tuple((name, ground.with_options("universal", name), name == asked) for name in names),
    )


def universals(ground: FigureData) -> list[str]:
    """What `universal` may be in the address. Raises MissingData."""
    return _universals(ranked_lists(ground.runs("retrieval")))


def _universals(runs: list[RankedLists]) -> list[str]:
    return sorted({_universal(one, place) for one in runs for place in range(len(one.queries))})


class _FoundPicture:
    """A found picture with what is known of it."""

    def __init__(self, place: int, key: str, about: Any, score: float, right: bool | None) -> None:
        self.place, self.key, self.score, self.right = place, key, score, right
        self.country = str(about.get("country") or _("unknown"))
        self.stored = str(about.get("region") or "")
        self.region = RETRIEVAL.of(self.country) or self.stored

    @property
    def row(self) -> tuple[Datum, ...]:
        right = "" if self.right is None else _("yes") if self.right else _("no")
        return self.place, self.key, self.country, self.region, self.score, right


def _region_conflicts(pictures: Iterable[_FoundPicture]) -> list[str]:
    """Regions are the paper's, whatever the collection says; where it says otherwise, both are named."""
    words = [_("Regions of countries are those of the paper's list; countries beyond it have the collection's own.")]
    other = {one.country: one for one in pictures if one.stored and one.stored.casefold() != one.region.casefold()}
    words += [
        _("%(country)s: %(region)s here, %(stored)s in the collection.")
        % {
            "country": isolate_direction(country),
            "region": isolate_direction(picture.region),
            "stored": isolate_direction(picture.stored),
        }
        for country, picture in sorted(other.items())
    ]
    return words


def _universal(of: RankedLists, place: int) -> str:
    query = of.queries[place]
    return str(query.about.get("universal") or query.text or query.key)


def _strip(
    of: RankedLists, regions: list[str], shas: dict[str, str]
) -> tuple[picture_strips.PictureStrip, list[_FoundPicture]]:
    scores = dict(_scores(of))
    relevant = relevant_of(of, "universal")
    keys = of.keys[0][:K]
    known = relevant[0] or None
    pictures = [
        _FoundPicture(rank, key, of.about.get(key, {}), scores.get(key, 0.0), None if known is None else key in known)
        for rank, key in enumerate(keys, start=1)
    ]
    tiles = tuple(
        picture_strips.StripPicture(
            _chip(one, regions), one.score, _region_look(one.region, regions), shas.get(one.key, ""), one.key, one.right
        )
        for one in pictures
    )
    return picture_strips.PictureStrip(of.label, _diversities(of, pictures, relevant), tiles), pictures


def _scores(of: RankedLists) -> list[tuple[str, float]]:
    """Of the list that is shown; the order is `RankedLists`'s, the scores are read again."""
    row = of.run.rankings.get(query=of.queries[0])
    return list(zip(row.keys, row.scores, strict=True))


def _diversities(of: RankedLists, pictures: list[_FoundPicture], relevant: list[frozenset[str]]) -> str:
    """Both diversities of the first five and how many are right, in percent."""
    if len(pictures) < K:
        return _("%(n)s found; the numbers need %(k)s") % {"n": len(pictures), "k": K}
    countries = _diversity([country_code(one.country) for one in pictures])
    regions = _diversity([one.region for one in pictures]) if all(one.region for one in pictures) else "–"
    text = _("diversity@%(k)s of countries %(countries)s, of regions %(regions)s") % {
        "k": K, "countries": countries, "regions": regions,
    }  # fmt: skip
    if relevant[0]:
        right = 100 * float(precisions(of, K, relevant)[0])
        text += "; " + _("precision@%(k)s %(right)s") % {"k": K, "right": f"{right:.0f} %"}
    return text


def _diversity(names: list[str]) -> str:
    at = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return f"{100 * float(retrieval.diversity([[at[name] for name in names]])[0]):.2f}"


def _region_look(region: str, regions: list[str]) -> Look:
    """A region's own colour; beyond eight regions the chip's word tells two of one colour apart."""
    return kind(regions.index(region)) if region in regions else UNKNOWN


def _chip(one: _FoundPicture, regions: list[str]) -> str:
    """The country, and the number of its region in the legend: colours alone tell too little."""
    return f"{regions.index(one.region) + 1}: {one.country}" if one.region in regions else one.country


def _pictures(ground: FigureData, parts: list[RankedLists]) -> dict[str, str]:
    """Checksums of the found pictures: those of the entries, or of a file's entries those of items with their keys."""
    keys = {key for part in parts for key in part.keys[0][:K]}
    entries = Entry.objects.filter(collection__in={part.run.collection_id for part in parts}, key__in=keys)
    own = dict(entries.filter(image__isnull=False).values_list("key", "image__sha256"))
    others = keys - set(own)
    items = dict(Item.objects.filter(stage__benchmark=ground.benchmark, key__in=others).values_list("key", "pk"))
    images = first_images(items.values())
    return own | {key: images[pk].sha256 for key, pk in items.items() if pk in images}


GROUNDING = (
    bars_spec(spec_of(GROUNDING_TABLES, "grounding"), column=0, axis=ACCURACY, key="grounding-models"),
    heat_spec(
        spec_of(GROUNDING_TABLES, "grounding-countries"), measure=ACCURACY, key="grounding-countries", number="Figure 3"
    ),
    heat_spec(
        spec_of(GROUNDING_TABLES, "grounding-regions"), measure=ACCURACY, key="grounding-regions", number="Figure 4"
    ),
    FigureSpec(
        "overlays",
        "Figure 5",
        gettext_lazy("Boxes on their pictures, least overlap first"),
        gettext_lazy("Boxes of people in the stage “Box drawing”, and other boxes of verifiers or models."),
        overlays,
    ),
)
RETRIEVED = (
    FigureSpec(
        "strips",
        "Figure 2",
        gettext_lazy("What was found"),
        gettext_lazy("Ranked lists of a model over a collection whose pictures name their country."),
        strips,
    ),
)
