"""The codes that measures compare: one row for each answered question of an annotation."""

from releases.rows.annotations import ANNOTATIONS, COLUMNS, FILTERS
from releases.rows.columns import Row, RowColumn
from releases.rows.filters import RowFilter
from releases.rows.kinds import Finish, RowKind, RowScope, cached_pseudonyms

_OF_ANSWER = (
    *("annotation", "campaign", "stage", "item", "concept", "origin", "condition", "withdrawn", "target", "label_set"),
    *("cohort", "rater", "rater_kind", "setting", "state", "counted", "uncounted_because", "version"),
    *("submitted_at", "run", "repeat"),
)
_BY_NAME = {column.name: column for column in COLUMNS}


def _finish(scope: RowScope) -> Finish:
    named = cached_pseudonyms(scope.benchmark)

    def finish(row: Row) -> Row:
        row["rater"] = row.pop("_model") or named(row["rater"])
        return row

    return finish


RATINGS = RowKind(
    key="ratings",
    meaning="One row per question of an annotation that has a code. A question without an answer has no row.",
    columns=(
        RowColumn("rating", "f.id", "int8", "Number of the rating."),
        *(_BY_NAME[name] for name in _OF_ANSWER),
        RowColumn("field", "f.field", "text", "Key of the question."),
        RowColumn("code", "f.code", "text", "What every measure compares."),
        RowColumn("value", "f.value", "float8", "The code as a number; null where the level has no order."),
        _BY_NAME["_model"],
    ),
    source=ANNOTATIONS.source.replace(
        "FROM annotation_annotation a",
        "FROM annotation_rating f JOIN annotation_annotation a ON a.id = f.annotation_id",
    ),
    order=("f.id",),
    item="i.id",
    params=ANNOTATIONS.params,
    finish=_finish,
    filters={
        **FILTERS,
        "field": RowFilter("f.field = ANY(%s)", "text", "Key of the question."),
        "code": RowFilter("f.code = ANY(%s)", "text", "Code of the answer."),
    },
)
