"""The items on which one person's latest answers lie farthest from those of the others of their cohort."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median_low

from annotation.models import Rating, Unit
from benchmarks.models import Item, ItemImage
from evaluation.queries.ratings import counted_annotations
from evaluation.selections.selection import Selection

SHOWN = 4
LATEST = 200  # answers of the person that are compared, so that the page costs the same after a million
Answer = tuple[str, float | None]  # code, and the number it stands for where codes have an order


@dataclass(frozen=True)
class DifferingItem:
    """`own` and `others` are codes: the person's, and the middle one of the `n` others, of codes without an order the
    commonest. `use`: the item's first picture. `unit`: whose page has all answers."""

    item: Item
    unit: int
    own: str
    others: str
    n: int
    use: ItemImage | None


@dataclass(frozen=True)
class DifferingItems:
    """`shown`: of the `n` items that the person answered last and others answered too. `question`: what was asked."""

    question: str
    shown: Sequence[DifferingItem]
    n: int


def differing_items(selection: Selection, question: str, rater: int) -> DifferingItems | None:
    """None where nobody else has answered. `selection`: of one cohort's people, and of a question with codes."""
    annotations = counted_annotations(selection)
    latest = annotations.filter(rater=rater).order_by("-submitted_at", "-pk").values_list("pk", flat=True)[:LATEST]
    own = {unit: answer for unit, _rater, answer in _ratings(selection, list(latest))}
    of_others = annotations.filter(assignment__unit__in=own).exclude(rater=rater).order_by()
    others: dict[int, dict[int, Answer]] = {}
    for unit, other, answer in _ratings(selection, list(of_others.values_list("pk", flat=True))):
        others.setdefault(unit, {})[other] = answer
    if not others:
        return None
    is_ordered = selection.level != "nominal"
    compared = {unit: _compare(own[unit], list(given.values()), is_ordered) for unit, given in others.items()}
    ordered = sorted(compared, key=lambda unit: (-compared[unit][0], -len(others[unit]), unit))
    far = [unit for unit in ordered if compared[unit][0]][:SHOWN]
    items = {unit.pk: unit.item for unit in Unit.objects.filter(pk__in=far).select_related("item")}
    pictures = ItemImage.objects.filter(item__in=items.values()).select_related("image").order_by("-pk")
    uses = {use.item_id: use for use in pictures}
    shown = [
        DifferingItem(items[unit], unit, own[unit][0], compared[unit][1], len(others[unit]), uses.get(items[unit].pk))
        for unit in far
    ]
    return DifferingItems(question, shown, len(others))


def _ratings(selection: Selection, annotations: Sequence[int]) -> Iterable[tuple[int, int, Answer]]:
    """(unit, rater, answer) of the question, in the order of the answers; of ordered codes those with a number."""
    rows = Rating.objects.filter(annotation__in=annotations, field=selection.field).order_by("annotation")
    if selection.level != "nominal":
        rows = rows.exclude(value=None)
    for unit, rater, code, value in rows.values_list("unit", "rater", "code", "value"):
        yield unit, rater, (code, value)


def _compare(own: Answer, others: Sequence[Answer], is_ordered: bool) -> tuple[float, str]:
    """How far an answer lies from the others' mean, or the share of them that differ; and their middle or commonest."""
    code, value = own
    if is_ordered:
        texts = {number: text for text, number in others if number is not None}
        numbers = [number for _text, number in others if number is not None]
        return abs((value or 0.0) - fmean(numbers)), texts[median_low(numbers)]
    counts = Counter(text for text, _number in others)
    middle = min(counts, key=lambda text: (-counts[text], text))
    return 1 - counts[code] / len(others), middle
