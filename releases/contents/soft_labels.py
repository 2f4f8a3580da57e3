"""Soft labels: how the counted answers of people to an item are spread over the codes, by question and cohort.

Counted by the database over the annotations that were frozen, and streamed.
"""

from collections.abc import Iterator

from releases.contents.tables import ReleaseTable
from releases.exports.codebook import sheets_of
from releases.rows.columns import Row, RowColumn
from releases.rows.kinds import stream_query

KEY = "soft_labels"
MEANING = (
    "One row per code that people gave to an item in one question and cohort. Only counted answers of people, the"
    " latest of each person, to items that are not withdrawn."
)
COLUMNS = (
    RowColumn("item", "i.key", "text", "Key of the item in its stage."),
    RowColumn("target", "u.target", "text", "The culture asked about; empty where the stage has no target."),
    RowColumn("question", "g.field", "text", "Key of the question."),
    RowColumn("cohort", "c.label", "text", "Cohort of the people."),
    RowColumn("code", "g.code", "text", "A code that somebody gave."),
    RowColumn("n", "g.n", "int8", "How many people gave it."),
    RowColumn("answers", "g.m", "int8", "How many people answered the question."),
    RowColumn("share", "g.n::float8 / g.m", "float8", "n / answers."),
    RowColumn(
        "smoothed", "", "float8", "(n + 1/K) / (answers + 1), with K options of the question; null: K is not known."
    ),
)
# Of a person who answered the same unit in several campaigns, the latest answer.
_SOURCE = """
  FROM (
    SELECT f.unit_id, f.field, f.cohort_id, f.code, count(*) AS n,
      (sum(count(*)) OVER (PARTITION BY f.unit_id, f.field, f.cohort_id))::bigint AS m
    FROM (
      SELECT DISTINCT ON (f.unit_id, f.field, f.rater_id) f.unit_id, f.field, f.cohort_id, f.code
      FROM releases_releaserow w
      JOIN annotation_rating f ON f.annotation_id = w.number
      JOIN people_rater r ON r.id = f.rater_id
      WHERE w.release_id = %s AND w."table" = %s AND w.state = 'counted' AND w.split <> %s AND r.kind = 'person'
        AND f.field = ANY(%s) AND EXISTS (SELECT FROM annotation_unit u JOIN benchmarks_item i ON i.id = u.item_id
          WHERE u.id = f.unit_id AND i.withdrawn_at IS NULL)
      ORDER BY f.unit_id, f.field, f.rater_id, f.annotation_id DESC
    ) f
    GROUP BY f.unit_id, f.field, f.cohort_id, f.code
  ) g
  JOIN annotation_unit u ON u.id = g.unit_id
  JOIN benchmarks_item i ON i.id = u.item_id
  LEFT JOIN people_cohort c ON c.id = g.cohort_id
  ORDER BY g.unit_id, g.field, g.cohort_id, g.code
"""


def option_counts(ratings: ReleaseTable) -> dict[str, int]:
    """The questions whose answers are codes, with the number of their options; 0: it is not known."""
    counts: dict[str, int] = {}
    for _version, sheet in sheets_of(ratings.campaigns).values():
        for field in sheet.fields:
            if sheet.level(field.key) in ("nominal", "ordinal"):
                options = len(field.spec.rubric("", field.config).schema.get("enum", ()))
                counts[field.key] = max(options, counts.get(field.key, 0))
    return counts


def soft_labels(ratings: ReleaseTable) -> Iterator[Row]:
    """Of the answers that are shipped."""
    counts, release = option_counts(ratings), ratings.release
    params = [release.pk, ratings.name, release.chosen.withheld or "-", sorted(counts)]
    for row in stream_query([column for column in COLUMNS if column.sql], _SOURCE, params):
        options = counts[row["question"]]
        yield row | {"smoothed": (row["n"] + 1 / options) / (row["answers"] + 1) if options else None}
