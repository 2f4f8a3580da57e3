"""The ratings a selection counts, out of the database into one structured array, and the units they are about.

Every reader of ratings stands on `rating_rows`, so that no two of them can count differently.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection

from annotation.queries.consent_withdrawal import NEVER_SELECTED
from benchmarks.models import LabelSet
from evaluation.metrics.counts import Bools, Ints
from evaluation.queries.binary_rows import fetch_packed, pack_sql, unpack
from evaluation.selections.selection import Selection

Rows = npt.NDArray[np.void]
Columns = dict[str, tuple[str, str]]

# A person's rating is of the cohort they rated for; a model has none.
_RATINGS = """
  SELECT r.rater_id::int8, coalesce(r.cohort_id, -1)::int8, p.kind = 'model', {pack}
  FROM annotation_rating r
  JOIN people_rater p ON p.id = r.rater_id
  {join}
  WHERE r.campaign_id = ANY(%(campaigns)s) AND r.field = %(field)s AND r.live AND (r.counted OR NOT %(counted)s)
    AND p.kind = ANY(%(raters)s) AND (p.kind = 'model' OR r.cohort_id = ANY(%(cohorts)s))
    {narrowed}
  GROUP BY r.rater_id, r.cohort_id, p.kind
"""
_NARROWED = """
    AND (r.counted OR a.uncounted_because <> ALL(%(never)s))
    AND (%(since)s::timestamptz IS NULL OR a.submitted_at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR a.submitted_at < %(until)s)
    AND (%(all_versions)s OR a.sheet_version_id = ANY(%(versions)s))
"""
_OF_ANNOTATION = " JOIN annotation_annotation a ON a.id = r.annotation_id"
_MOMENT: Columns = {
    "annotation": ("int8", "r.annotation_id"),
    "at": ("int8", "(extract(epoch FROM a.submitted_at) * 1000000)::int8"),
}
_KINDS = {"cohort": "i4", "condition": "i2", "model": "?", "rater": "i8"}
_KEPT = {"int8": "i8", "int4": "i4", "float8": "f8"}
_CODES = """
  SELECT code FROM (
    SELECT DISTINCT code FROM annotation_rating WHERE campaign_id = ANY(%(campaigns)s) AND field = %(field)s
  ) found ORDER BY code
"""
_BY_CODE = " JOIN unnest(%(codes)s::text[]) WITH ORDINALITY AS c (code, number) ON c.code = r.code"
# A model is one rater more wherever the unit was asked.
_SEATS = """
  SELECT cohort_id::int8, {pack}
  FROM (
    SELECT DISTINCT cc.cohort_id, s.unit_id
    FROM annotation_slot s JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id
    WHERE cc.campaign_id = ANY(%(campaigns)s) AND cc.cohort_id = ANY(%(cohorts)s)
  ) r GROUP BY cohort_id
"""
_UNITS = """
  SELECT array_position(%(conditions)s::text[], i.condition::text)::int8, u.target::text,
    coalesce(u.label_set_id, 0)::int8, {pack}
  FROM annotation_unit u
  JOIN benchmarks_item i ON i.id = u.item_id
  WHERE i.stage_id IN (SELECT stage_id FROM annotation_campaign WHERE id = ANY(%(campaigns)s))
    AND i.withdrawn_at IS NULL AND i.condition = ANY(%(conditions)s)
    AND (%(all_concepts)s OR i.concept = ANY(%(concepts)s))
  GROUP BY i.condition, u.target, u.label_set_id
"""
_SET_SUFFIX = re.compile(r" \([-a-zA-Z0-9_]+@[0-9]+\)$")
_OF_UNIT: Columns = {"pk": ("int8", "u.id"), "item": ("int8", "u.item_id")}


@dataclass(frozen=True, eq=False)
class Units:
    """The units of the selected conditions and concepts, by id, also those without ratings; none of a withdrawn item.

    `condition` (n,) is the place in the selection's conditions, `target` (n,) the one in `targets`; `item` (n,) an id.
    A target of several label sets is several targets, each with its set's name (see `target_names`).
    """

    pk: Ints
    item: Ints
    condition: Ints
    target: Ints
    targets: tuple[str, ...]

    def place(self, pks: Ints) -> Ints:
        """Where each of these ids stands, -1 where it is none of the units; by a lookup where ids lie close."""
        if not self.pk.size:
            return np.full(pks.size, -1)
        low, high = int(self.pk[0]), int(self.pk[-1])
        if high - low < 8 * (self.pk.size + pks.size):
            table = np.full(high - low + 2, -1)  # the last place is for all that lie outside
            table[self.pk - low] = np.arange(self.pk.size)
            found: Ints = table[np.where((pks < low) | (pks > high), high + 1, pks) - low]
            return found
        near = np.minimum(np.searchsorted(self.pk, pks), self.pk.size - 1)
        return np.where(self.pk[near] == pks, near, -1)


def units_of(selection: Selection) -> Units:
    query = _UNITS.format(pack=pack_sql(_OF_UNIT))
    packed = list(fetch_packed(query, params_of(selection), ("int8", "text", "int8", "bytea")))
    names = target_names({(target, label_set) for _condition, target, label_set, _pack in packed})
    parts = [
        (condition - 1, names[target, label_set], unpack(pack, _OF_UNIT))
        for condition, target, label_set, pack in packed
    ]
    targets = tuple(sorted({target for _condition, target, _part in parts}))
    whole = np.empty(
        sum(part.size for *_of, part in parts), [("pk", "i8"), ("item", "i8"), ("condition", "i8"), ("target", "i8")]
    )
    for (condition, target, part), into in zip(parts, _slices([part.size for *_of, part in parts]), strict=True):
        whole["pk"][into], whole["item"][into] = part["pk"], part["item"]
        whole["condition"][into], whole["target"][into] = condition, targets.index(target)
    whole = whole[np.argsort(whole["pk"])]
    pk, item, about, target_at = (np.ascontiguousarray(whole[name]) for name in ("pk", "item", "condition", "target"))
    return Units(pk, item, about, target_at, targets)


def target_names(pairs: Collection[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """A name for each target with its label set's id (0: a cohort's own label): the text, and where several sets have
    the text, the set beside it, so that no two units are taken for one."""
    times = Counter(text for text, _label_set in pairs)
    clashing = {label_set for text, label_set in pairs if label_set and times[text] > 1}
    sets = LabelSet.objects.in_bulk(list(clashing)) if clashing else {}
    return {
        (text, label_set): f"{text} ({sets[label_set].reference})" if label_set in sets and times[text] > 1 else text
        for text, label_set in pairs
    }


def target_text(name: str) -> str:
    """The target's own text, of a name that `target_names` made.

    >>> target_text("Georgia (lands@1)"), target_text("Georgia")
    ('Georgia', 'Georgia')
    """
    return _SET_SUFFIX.sub("", name)


def rating_rows(selection: Selection, *, dated: bool = False) -> Rows:
    """A row for each rating and cohort it counts for: `cohort`, `condition` (the place among the selection's), `unit`,
    `rater`, `value`; with `annotation` and `at`, in microseconds, where `dated` or where somebody may have answered
    twice. Codes without an order have no number of their own: any numbering does, since only "same or not" is asked.
    """
    units = units_of(selection)
    if selection.level == "nominal":
        rows = _codes_sql(selection, {"value": ("float8", "c.number")}, codes=codes_of(selection), dated=dated)
    else:
        rows = _codes_sql(selection, {"value": ("float8", "r.value")}, valued=True, dated=dated)
    place = units.place(rows["unit"])
    rows["condition"] = units.condition[place] if units.pk.size else -1
    in_units = place >= 0
    if "model" not in selection.raters:
        return rows if in_units.all() else rows[in_units]
    parts = [rows[in_units & ~rows["model"]]]
    for cohort, asked in asked_by_cohort(selection, units):
        parts.append(rows[in_units & rows["model"] & asked[place]])
        parts[-1]["cohort"] = cohort
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class CodedRows:
    """`rows`: `unit`, `rater`, `cohort` (-1: none), `code` (the place in `codes`), `value` (NaN: no number), with
    `annotation` and `at` as `rating_rows` has them; `place` (n,) is each row's among `units`."""

    rows: Rows
    codes: tuple[str, ...]
    units: Units
    place: Ints


def coded_rows(selection: Selection) -> CodedRows:
    """A row for each code that was said; `codes` are those said there, in the database's order."""
    codes, units = codes_of(selection), units_of(selection)
    columns = {"code": ("int4", "c.number::int4 - 1"), "value": ("float8", "coalesce(r.value, 'NaN')")}
    rows = _codes_sql(selection, columns, codes=codes)
    place = units.place(rows["unit"])
    rows, place = rows[place >= 0], place[place >= 0]
    used = np.bincount(rows["code"], minlength=len(codes)) > 0
    rows["code"] = (np.cumsum(used) - 1)[rows["code"]]
    return CodedRows(rows, tuple(code for code, one in zip(codes, used, strict=True) if one), units, place)


def codes_of(selection: Selection) -> list[str]:
    """Every code that anybody ever gave to the question in these campaigns."""
    with connection.cursor() as cursor:
        cursor.execute(_CODES, params_of(selection))
        return [code for (code,) in cursor.fetchall()]


def _codes_sql(
    selection: Selection, columns: Columns, *, codes: Sequence[str] | None = None, valued: bool = False,
    dated: bool = False,
) -> Rows:  # fmt: skip
    """Of all units. `codes`: those that are numbered, as `c.number` from 1; `valued`: only ratings that are numbers."""
    sent = {"unit": ("int8", "r.unit_id")} | columns | (_MOMENT if dated or selection.may_repeat else {})
    narrowed = selection.since or selection.until or selection.versions or selection.counted == "all"
    of_annotation = sent.keys() & _MOMENT or narrowed
    query = _RATINGS.format(
        pack=pack_sql(sent),
        join=(_OF_ANNOTATION if of_annotation else "") + (_BY_CODE if codes is not None else ""),
        narrowed=(_NARROWED if of_annotation else "") + ("AND r.value IS NOT NULL" if valued else ""),
    )
    params = params_of(selection) | {"codes": list(codes or ())}
    parts = [
        (rater, cohort, model, unpack(pack, sent))
        for rater, cohort, model, pack in fetch_packed(query, params, ("int8", "int8", "bool", "bytea"))
    ]
    rows = np.empty(
        sum(part.size for *_of, part in parts), list((_KINDS | {n: _KEPT[k] for n, (k, _e) in sent.items()}).items())
    )
    for (rater, cohort, model, part), into in zip(parts, _slices([part.size for *_of, part in parts]), strict=True):
        rows["rater"][into], rows["cohort"][into], rows["model"][into] = rater, cohort, model
        for name in sent:
            rows[name][into] = part[name]
    return rows


def asked_by_cohort(selection: Selection, units: Units) -> Iterator[tuple[int, Bools]]:
    """Each cohort with (units + 1,) whether it was asked for the unit at that place; the last one is for none."""
    of_slot = {"unit": ("int8", "r.unit_id")}
    for cohort, pack in fetch_packed(_SEATS.format(pack=pack_sql(of_slot)), params_of(selection), ("int8", "bytea")):
        asked = np.zeros(units.pk.size + 1, bool)
        asked[units.place(unpack(pack, of_slot)["unit"])] = True
        asked[-1] = False
        yield cohort, asked


def _slices(sizes: Sequence[int]) -> list[slice]:
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(*pair) for pair in pairwise(ends)]


def params_of(selection: Selection) -> dict[str, Any]:
    """What every query of a selection's rows takes."""
    return {
        "conditions": list(selection.conditions),
        "campaigns": list(selection.campaigns),
        "field": selection.field,
        "cohorts": list(selection.cohorts),
        "counted": selection.counted == "counted",
        "never": list(NEVER_SELECTED),
        "raters": list(selection.raters),
        "all_concepts": not selection.concepts,
        "concepts": list(selection.concepts),
        "since": selection.since,
        "until": selection.until,
        "all_versions": not selection.versions,
        "versions": list(selection.versions),
    }
