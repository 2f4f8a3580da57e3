"""Pictures inside the Parquet files of items, for releases that have no archives of pictures."""

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem

MOST_GROUP = 512 * 1024**2
"""The largest row group, unpacked: one is in memory at a time."""
COLUMNS = ("image", "images")
Place = tuple[int, int, int, int]
"""File, row group, row, and which picture of the row."""


class EmbeddedPictures:
    """By the path that the release names them by. Raises SourceProblem for a file that cannot be read."""

    def __init__(self, files: Sequence[tuple[str, BinaryIO]]) -> None:
        """`files`: the key of the stage, and a Parquet file of its items."""
        self._files = [(stage, _opened(file)) for stage, file in files]
        self._group: tuple[tuple[int, int], list[list[Any]]] | None = None
        self._places = dict(self._named())

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def read(self, name: str, most: int) -> bytes:
        """The bytes of one picture, at most `most` + 1 of them. Raises RowProblem."""
        file, group, row, place = self._places[name]
        data = self._pictures(file, group)[row][place].get("bytes")
        if not isinstance(data, bytes):
            raise RowProblem("damaged", _("The picture is damaged or ends early. Download the release again."))
        return data[: most + 1]

    def _named(self) -> Iterator[tuple[str, Place]]:
        for number, (stage, parquet) in enumerate(self._files):
            for group in range(parquet.metadata.num_row_groups):
                for row, pictures in enumerate(self._pictures(number, group)):
                    for place, picture in enumerate(pictures):
                        if isinstance(picture, dict) and isinstance(picture.get("path"), str):
                            yield f"images/{stage}/{picture['path']}", (number, group, row, place)

    def _pictures(self, file: int, group: int) -> list[list[Any]]:
        """Of each row of a row group."""
        if self._group is None or self._group[0] != (file, group):
            self._group = None  # one is in memory at a time
            self._group = ((file, group), _read(self._files[file][1], group))
        return self._group[1]


def _opened(file: BinaryIO) -> Any:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        opened = parquet.ParquetFile(file)
        groups = range(opened.metadata.num_row_groups)
        largest = max((opened.metadata.row_group(number).total_byte_size for number in groups), default=0)
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise _damaged() from error
    if largest > MOST_GROUP:
        raise SourceProblem(_("A row group of the Parquet file unpacks to more than 512 MB. Write smaller ones."))
    return opened


def _read(parquet: Any, group: int) -> list[list[Any]]:
    names = [name for name in COLUMNS if name in parquet.schema_arrow.names]
    try:
        values = parquet.read_row_group(group, columns=names[:1]).column(0).to_pylist() if names else []
    except (OSError, ValueError, NotImplementedError) as error:  # errors of Arrow are some of these
        raise _damaged() from error
    return [value if isinstance(value, list) else [value] for value in values]


def _damaged() -> SourceProblem:
    return SourceProblem(_("A Parquet file of the release is damaged or ends early. Download the release again."))
