"""Release records: one JSON object for each answer that counts, in the columns of the published file."""

from collections.abc import Iterator

from releases.exports.record_files import RecordFile
from releases.rows.columns import Row, RowColumn


def greetings(rows: Iterator[Row]) -> Iterator[Row]:
    for row in rows:
        if row["counted"]:
            yield {"greeting": row["item"], "culture": row["target"], "usual": int(row["codes"]["relevance"])}


RECORDS = (
    RecordFile(
        key="greetings",
        stage="relevance",
        meaning="One record for each answer that counts.",
        columns=(
            RowColumn("greeting", "", "text", "Key of the item."),
            RowColumn("culture", "", "text", "The culture asked about."),
            RowColumn("usual", "", "int4", "1 never to 5 always."),
        ),
        records=greetings,
    ),
)
