"""Which pictures of a stage's sheets go on, which are dropped for which, and which wait for another person."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.db.models.fields.json import KeyTextTransform
from django.utils.translation import gettext_lazy

from annotation.models import Annotation
from annotation.queries.results_used import UNGROUP, ResultsUsed, later_stages, results_used
from annotation.services.derivation.accepted_results import results_for
from benchmarks.models import Image, Stage
from benchmarks.rules.derivations import Derivation, DerivationError, DerivationSource, Result
from benchmarks.rules.derivations.contract import group_by_item
from benchmarks.rules.derivations.grouping_votes import PictureState, PictureVote, count_votes
from benchmarks.rules.derivations.ungroup import FIELD, groupings_of
from jobs.queries.read_once import read_once

PER_PAGE = 48
REASONS = {
    "tie": gettext_lazy("People disagree about it."),
    "unsure": gettext_lazy("Somebody was not sure."),
    "none_left": gettext_lazy("All pictures that it repeats are dropped."),
}


@dataclass(frozen=True)
class KeptPictureRow:
    """A picture that is dropped or waits. `repeats`: the one that is kept for it, if any."""

    item: int
    name: str
    image: Image | None
    repeats: Image | None
    repeats_name: str
    reason: str


@dataclass(frozen=True)
class KeptPicturesPage:
    """Attributes:
    used: how many go on, and to which stage.
    dropped, waiting, unanswered: how many pictures.
    rows: of those that are shown, a page of them.
    further: the place where the next page begins; 0 where there is none.
    """

    used: ResultsUsed
    dropped: int
    waiting: int
    unanswered: int
    rows: Sequence[KeptPictureRow]
    further: int


Voted = tuple[DerivationSource, str, PictureVote]


def kept_pictures(stage: Stage, show: PictureState, start: int = 0) -> KeptPicturesPage | None:
    """None where no later stage takes the pictures that people keep. Reads all answers to the sheets."""
    later = next((after for after in later_stages(stage) if (after.derivation or {}).get("kind") == UNGROUP), None)
    if later is None:
        return None
    used = next(row for row in results_used(stage) if row.later == later)
    votes = list(_votes(stage, later))
    counts = Counter(vote.state for _sheet, _role, vote in votes)
    chosen = [voted for voted in votes if voted[2].state == show]
    shown = chosen[start : start + PER_PAGE]
    further = start + PER_PAGE if start + PER_PAGE < len(chosen) else 0
    waiting, dropped = counts[PictureState.WAITS], counts[PictureState.DROPPED]
    return KeptPicturesPage(used, dropped, waiting, max(0, used.total - len(votes)), _rows(shown), further)


def waiting_pictures(stages: Sequence[Stage]) -> dict[int, int]:
    """By the id of a stage of sheets, how many pictures wait for another person; stages without one are left out."""
    return {stage: counts.total() for stage, counts in waiting_pictures_by_origin(stages).items()}


def waiting_pictures_by_origin(stages: Sequence[Stage]) -> Mapping[int, Counter[str]]:
    """The same by the origin of the sheets. The board and the next action of one page read it once."""
    return read_once(("waiting pictures", tuple(sorted(stage.pk for stage in stages))), lambda: _count_waiting(stages))


def _count_waiting(stages: Sequence[Stage]) -> dict[int, Counter[str]]:
    """Only sheets are read whose answers differ, or where somebody was not sure: of others no picture waits."""
    by_key = {stage.key: stage for stage in stages}
    counts: dict[int, Counter[str]] = {}
    for later in stages:
        if (later.derivation or {}).get("kind") != UNGROUP:
            continue
        for stage in (by_key[key] for key in later.derivation.get("from", ()) if key in by_key):
            disputed = _disputed_sheets(stage, str(later.derivation.get("params", {}).get("field", FIELD)))
            votes = _votes(stage, later, disputed) if disputed else ()
            waiting = Counter(sheet.origin for sheet, _role, vote in votes if vote.state == PictureState.WAITS)
            if waiting:
                counts[stage.pk] = waiting
    return counts


def _disputed_sheets(stage: Stage, field: str) -> list[int]:
    """Ids of items with several answers, or with one of somebody who was not sure."""
    answers = Annotation.objects.filter(assignment__campaign__stage=stage, live=True, counted=True)
    counted = answers.order_by().values("assignment__unit__item").annotate(
        kinds=Count(KeyTextTransform(field, "answers"), distinct=True),
        doubts=Count("pk", filter=Q(**{f"answers__{field}__unsure__0__isnull": False})),
    )  # fmt: skip
    disputed = counted.filter(Q(kinds__gt=1) | Q(doubts__gt=0))
    return list(disputed.values_list("assignment__unit__item", flat=True))


def _votes(stage: Stage, later: Stage, items: Collection[int] | None = None) -> Iterator[Voted]:
    """Of all pictures whose sheet, or whose sheet of these, has its answers; sorted by sheet."""
    try:
        derivation = Derivation.from_json(later.derivation)
    except DerivationError:
        return
    if derivation is None:
        return
    results: Sequence[Result] = results_for(later, derivation, [stage], None, items=items)
    for sheet in group_by_item(results):
        groupings = groupings_of(sheet, str(derivation.params.get("field", FIELD)))
        for role, vote in count_votes(groupings).items():
            if role in sheet[0].item.images:
                yield sheet[0].item, role, vote


def _rows(shown: Sequence[Voted]) -> list[KeptPictureRow]:
    ids = {sheet.images[name].image for sheet, role, vote in shown for name in (role, vote.repeats) if name}
    images = Image.objects.in_bulk(ids)
    return [
        KeptPictureRow(
            sheet.id,
            _name(sheet, role),
            images.get(sheet.images[role].image),
            images.get(sheet.images[vote.repeats].image) if vote.repeats in sheet.images else None,
            _name(sheet, vote.repeats) if vote.repeats else "",
            str(REASONS.get(vote.reason, "")),
        )
        for sheet, role, vote in shown
    ]


def _name(sheet: DerivationSource, role: str) -> str:
    """The title of the picture where it has one, else the key of its item."""
    pictures = sheet.context.get("pictures")
    row = pictures.get(role) if isinstance(pictures, Mapping) else None
    values = row if isinstance(row, Mapping) else {}
    return str(values.get("title") or values.get("key") or f"{sheet.key}/{role}")
