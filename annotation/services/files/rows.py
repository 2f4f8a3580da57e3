"""From a file's rows to answers that can be written: items, cohorts and targets are looked up, and the sheet parses."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.displays.shown_item import build_shown, upload_info
from annotation.fields.contract import AnswerProblem
from annotation.fields.messages import problem_text
from annotation.imports.example import allowed_codes
from annotation.imports.row_groups import AnswerRowGroup
from annotation.imports.rows import AnswerRow, parse_row
from annotation.models import Campaign, CampaignCohort, Unit
from annotation.services.files.items import items_from_rows
from annotation.services.files.withdrawals import client_key_prefix
from annotation.sheets.sheet import ParsedSheet, Sheet
from benchmarks.imports.problems import RowProblem
from benchmarks.models import Image, Item, LabelSet
from benchmarks.queries.label_sets import find_set
from people.models import Cohort, Team, User

LONGEST_TARGET = 120


@dataclass(frozen=True)
class ImportTarget:
    """Where the answers go. `creates_items`: one that a row names and the stage lacks is made from the row. `actor`
    sent the file. `run`: the id of the run whose answers the file has, None of a file of a campaign."""

    campaign: Campaign
    sheet: Sheet
    cohorts: Mapping[str, CampaignCohort]
    digest: str
    creates_items: bool = False
    actor: User | None = None
    run: int | None = None
    label_sets: dict[str, LabelSet | None] = field(default_factory=dict, repr=False)

    @property
    def team(self) -> Team:
        return self.campaign.stage.benchmark.team

    def find_label_set(self, reference: str) -> LabelSet | None:
        """A set of the team by `key@version`, looked up once."""
        if reference not in self.label_sets:
            self.label_sets[reference] = find_set(self.team, reference)
        return self.label_sets[reference]

    def key(self, number: int | str) -> str:
        """Of the answer in a row: sending the same file again is harmless."""
        return f"{client_key_prefix(self.digest, self.campaign.pk)}{number}"


@dataclass
class ParsedAnswer:
    """An answer that was understood."""

    gathered: AnswerRowGroup
    row: AnswerRow
    item: Item
    cohort: Cohort | None
    target: str
    parsed: ParsedSheet
    confirmed: tuple[str, ...]
    pictures: list[Image]
    label_set: LabelSet | None = None

    @property
    def number(self) -> int:
        return self.gathered.numbers[0]


class RowsRejected(Exception):
    """Why not, for each row that is to blame; the others of the answer are not taken because of it. `codes`: the
    sheet's own, where it is the sheet that does not take the answer."""

    def __init__(self, problems: Mapping[int, RowProblem], codes: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.problems = dict(problems)
        self.codes = codes


@dataclass
class RowLookup:
    """What a step's rows speak of, read once."""

    items: Mapping[str, Item | RowProblem]
    pictures: Mapping[str, Image]


def look_up(place: ImportTarget, batch: Sequence[AnswerRowGroup]) -> RowLookup:
    rows: dict[str, Mapping[str, Any]] = {}
    for one in batch:
        if not one.problems and (key := str(one.row.get("item") or "").strip()):
            rows.setdefault(key, one.row)
    found = Item.objects.filter(stage=place.campaign.stage, key__in=rows).prefetch_related("images__image", "facts")
    items: dict[str, Item | RowProblem] = {item.key: item for item in found}
    if place.creates_items:
        items |= items_from_rows(place.campaign.stage, {key: row for key, row in rows.items() if key not in items})
    return RowLookup(items, _pictures(place, batch))


def _pictures(place: ImportTarget, batch: Sequence[AnswerRowGroup]) -> dict[str, Image]:
    """The team's pictures that the rows speak of, where the sheet asks for some."""
    if not any(one.spec.takes_uploads for one in place.sheet.fields):
        return {}
    shas = set(re.findall(r"\b[0-9a-f]{64}\b", " ".join(str(one.row) for one in batch)))
    return {image.sha256: image for image in Image.objects.filter(team=place.team, sha256__in=shas)}


def resolve_answer(place: ImportTarget, group: AnswerRowGroup, known: RowLookup, now: datetime) -> ParsedAnswer:
    """Raises RowsRejected."""
    if group.problems:
        raise RowsRejected(group.problems)
    try:
        return _parse_answer(place, group, parse_row(group.row, place.sheet, now), known)
    except RowProblem as problem:
        raise RowsRejected(dict.fromkeys(group.numbers, problem)) from problem


def _parse_answer(place: ImportTarget, gathered: AnswerRowGroup, row: AnswerRow, known: RowLookup) -> ParsedAnswer:
    item = known.items.get(row.item)
    if isinstance(item, RowProblem):
        raise item
    if item is None:
        text = _("There is no item “%(key)s” in this stage. Import the items first, or select “Create missing items”.")
        raise RowProblem("no_item", text % {"key": row.item})
    if row.cohort and row.cohort not in place.cohorts:
        text = _("This campaign does not ask the cohort “%(name)s”. It asks: %(known)s.")
        raise RowProblem("no_cohort", text % {"name": row.cohort, "known": ", ".join(place.cohorts)})
    cohort = place.cohorts[row.cohort].cohort if row.cohort else None
    target, label_set = _target(place, row), _label_set(place, row)
    unit = Unit(item=item, target=target, label_set=label_set)
    shown = build_shown(unit, cohort, [upload_info(image) for image in known.pictures.values()])
    confirmed = place.sheet.unconfirmed(row.raw, shown, row.confirmed)
    parsed = place.sheet.parse(row.raw, shown, confirmed, partial=gathered.partial)
    if row.by_model:
        parsed.warnings.clear()  # a remark is for a person to confirm
    if not parsed.ok:
        found = [*parsed.errors.values(), *parsed.warnings.values()]
        codes = frozenset(problem.code for many in found for problem in many)
        raise RowsRejected(_problem_text(place.sheet, gathered, parsed), codes)
    _check_all_fields_visible(gathered, parsed)
    used = [image for sha, image in known.pictures.items() if sha in _shas(place.sheet, parsed)]
    return ParsedAnswer(gathered, row, item, cohort, target, parsed, confirmed, used, label_set)


def _target(place: ImportTarget, row: AnswerRow) -> str:
    if not place.campaign.stage.has_target:
        if row.target:
            raise RowProblem("no_target", _("This stage asks about no culture, and the row names one."))
        return ""
    target = (row.target or row.cohort).strip()
    if row.by_model and 0 < len(target) <= LONGEST_TARGET:
        return target
    if row.by_model:
        text = _("A model says for which culture it answers: “target”, at most %(most)s characters.")
        raise RowProblem("no_target", text % {"most": LONGEST_TARGET})
    if target not in place.cohorts:
        text = _("The culture “%(name)s” is not asked about in this campaign. There are: %(known)s.")
        raise RowProblem("no_target", text % {"name": target, "known": ", ".join(place.cohorts)})
    return target


def _label_set(place: ImportTarget, row: AnswerRow) -> LabelSet | None:
    """The team's set that a model's target is a label of; None where the target is a cohort's own label."""
    if not row.label_set:
        return None
    if not row.by_model or not place.campaign.stage.has_target:
        text = _("Only a model's answer has a “label_set”, in a stage that asks about a culture. Leave it empty.")
        raise RowProblem("no_label_set", text)
    label_set = place.find_label_set(row.label_set)
    if label_set is None:
        text = _("This team has no label set “%(name)s”. Import it under Targets, or leave “label_set” empty.")
        raise RowProblem("no_label_set", text % {"name": row.label_set})
    return label_set


def _shas(sheet: Sheet, parsed: ParsedSheet) -> set[str]:
    fields = [one for one in sheet.fields if one.key in parsed.answers]
    return {sha for one in fields for sha in one.spec.uploads(parsed.answers[one.key])}


def _check_all_fields_visible(gathered: AnswerRowGroup, parsed: ParsedSheet) -> None:
    """A sheet passes over what it would not have asked; a row of a file is not passed over."""
    unasked = [number for key, number in gathered.of.items() if key not in parsed.answers]
    if unasked:
        text = _("After the other answers of this sheet, this question is not asked. Delete the row.")
        raise RowsRejected({number: RowProblem("not_asked", text) for number in unasked})


def _problem_text(sheet: Sheet, gathered: AnswerRowGroup, parsed: ParsedSheet) -> dict[int, RowProblem]:
    """Question, what is wrong with its answer, and what to do; for each that is wrong."""
    words: dict[int, list[str]] = {}
    for key, problems in [*parsed.errors.items(), *parsed.warnings.items()]:
        number = gathered.of.get(key, gathered.numbers[0])
        words.setdefault(number, []).extend(_problem_sentence(sheet, key, problem) for problem in problems)
    return {number: RowProblem("not_an_answer", " ".join(found)) for number, found in words.items()}


def _problem_sentence(sheet: Sheet, key: str, problem: AnswerProblem) -> str:
    words = problem_text(problem)
    text = f"{key}: {words.title} {words.advice}".strip()
    field = next((field for field in sheet.fields if field.key == key), None)
    codes = allowed_codes(field) if field and "given" in problem.params else ()
    if field and problem.code == "not_an_option" and not codes:
        codes = [label.code for label in field.spec.part_labels(field.config)]
    if not codes:
        return text
    more = _("It says “%(given)s”; there are: %(known)s.")
    return f"{text} {more % {'given': problem.params['given'], 'known': ', '.join(codes)}}"
