"""Rows of a Parquet file with their lists and numbers as they are, and its names of class labels. Pure."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem
from releases.foreign.contract import ForeignFile

BATCH = 200
MOST_GROUP = 512 * 1024**2
"""The largest row group, unpacked: Parquet is unpacked by row groups."""


def is_parquet(file: ForeignFile) -> bool:
    try:
        with file.open() as stream:
            return stream.read(4) == b"PAR1"
    except (OSError, RuntimeError, EOFError):
        return False


@contextmanager
def _opened(file: ForeignFile) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with file.open() as stream:
        try:
            parquet = pq.ParquetFile(stream)
            groups = parquet.metadata.num_row_groups
            largest = max((parquet.metadata.row_group(n).total_byte_size for n in range(groups)), default=0)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise SourceProblem(_("The file is damaged or ends early. Save it again.")) from error
        if largest > MOST_GROUP:
            raise SourceProblem(_("A row group of the Parquet file unpacks to more than 512 MB. Write smaller ones."))
        yield parquet


def parquet_names(file: ForeignFile) -> list[str]:
    """Raises SourceProblem."""
    with _opened(file) as parquet:
        return list(parquet.schema_arrow.names)


def class_names(file: ForeignFile) -> dict[str, list[str]]:
    """By column the names that its integers stand for, as Hugging Face writes them into the schema."""
    with _opened(file) as parquet:
        stored = (parquet.schema_arrow.metadata or {}).get(b"huggingface", b"{}")
    try:
        features = json.loads(stored).get("info", {}).get("features", {})
    except (ValueError, RecursionError, AttributeError):
        return {}
    names: dict[str, list[str]] = {}
    for column, feature in features.items() if isinstance(features, Mapping) else ():
        while isinstance(feature, Mapping) and isinstance(feature.get("feature"), Mapping):
            feature = feature["feature"]
        rows = feature.get("names") if isinstance(feature, Mapping) else None
        if isinstance(rows, list) and feature.get("_type") == "ClassLabel":
            names[str(column)] = [str(name) for name in rows]
    return names


def read_parquet_rows(file: ForeignFile) -> Iterator[tuple[int, dict[str, Any] | RowProblem]]:
    """Raises SourceProblem."""
    number = 0
    with _opened(file) as parquet:
        try:
            for batch in parquet.iter_batches(batch_size=BATCH):
                for row in _values(batch):
                    number += 1
                    yield number, row
        except (OSError, ValueError, NotImplementedError) as error:
            raise SourceProblem(_("The file is damaged or ends early. Save it again.")) from error


def _values(batch: Any) -> Iterator[dict[str, Any] | RowProblem]:
    """The rows of a batch; one by one where a text of them is not UTF-8, which Parquet says and does not check."""
    try:
        yield from batch.to_pylist()
        return
    except UnicodeDecodeError:
        pass
    for place in range(batch.num_rows):
        try:
            yield batch.slice(place, 1).to_pylist()[0]
        except UnicodeDecodeError:
            yield RowProblem("encoding", _("This row has bytes that are not UTF-8. Export the file again as UTF-8."))
