"""Agreement and tables: each number with its interval, what it rests on, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .connection import Connection
from .errors import NotFound, Problem

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ReportedNumber:
    """One number. `value` is None where there is none; `reason` is why, as a code, and `reason_text` in words."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n_units: int | None = None
    n_raters: int | None = None
    n_ratings: int | None = None
    missing_share: float | None = None
    reason: str | None = None
    reason_text: str | None = None


@dataclass(frozen=True)
class AgreementNumber(ReportedNumber):
    """`condition` and `part` are empty where a number is of all items."""

    field: str = ""
    cohort: str = ""
    part: str = ""
    condition: str = ""
    measure: str = ""


@dataclass(frozen=True)
class TableNumber(ReportedNumber):
    """A cell of a table. `shown` is what its page shows."""

    row: str = ""
    group: str = ""
    column: str = ""
    shown: str = ""


class Report:
    """Numbers in order, and under `raw` all that the site sent with them."""

    numbers: Sequence[ReportedNumber]

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw

    @property
    def counted(self) -> list[str]:
        """What was counted, in sentences."""
        return list(self.raw.get("counted", ()))

    def __iter__(self) -> Iterator[ReportedNumber]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def to_pandas(self) -> pandas.DataFrame:
        """One row a number, with its names first."""
        import pandas as pd

        frame = pd.DataFrame([asdict(number) for number in self.numbers])
        names = [name for name in frame.columns if name not in ReportedNumber.__dataclass_fields__]
        return frame[[*names, *ReportedNumber.__dataclass_fields__]] if len(frame) else frame


class AgreementReport(Report):
    """Agreement within each cohort. `questions`: every question of the sheet, by cohort, over all conditions."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        super().__init__(raw)
        self.numbers = [
            AgreementNumber(
                field=row["field"], cohort=row["cohort"]["label"], part=row.get("part") or "",
                condition=cell.get("condition") or "", measure=measure, **_estimate(estimate),
            )
            for row in raw["rows"]
            for cell in row["cells"]
            for measure, estimate in cell["estimates"].items()
        ]  # fmt: skip
        self.questions = [
            AgreementNumber(
                field=row["field"], cohort=row["cohort"]["label"], measure=measure, **_estimate(estimate)
            )
            for row in raw["questions"]
            for measure, estimate in row["estimates"].items()
        ]  # fmt: skip


class TableReport(Report):
    """One table, as its page shows it."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        super().__init__(raw)
        self.title: str = raw["title"]
        self.numbers = [
            TableNumber(
                row=row["label"], group=row.get("group") or "", column=column, shown=cell.get("shown") or "",
                **_estimate(cell.get("estimate")),
            )
            for row in raw["rows"]
            for column, cell in zip(raw["columns"], row["cells"], strict=True)
            if not cell.get("empty")
        ]  # fmt: skip


@dataclass(frozen=True)
class TableLine:
    """A table that a benchmark has. `lacking` says what to bring first; empty where there is data."""

    key: str
    number: str
    title: str
    needs: str
    lacking: str
    options: tuple[Mapping[str, Any], ...] = ()


class Tables:
    """The tables of one benchmark."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self._path = path

    def list(self) -> list[TableLine]:
        names = ("key", "number", "title", "needs", "lacking")
        return [
            TableLine(**{name: line.get(name, "") for name in names}, options=tuple(line.get("options", ())))
            for line in self._connection.get(self._path)["tables"]
        ]

    def __iter__(self) -> Iterator[TableLine]:
        return iter(self.list())

    def get(self, key: str, **options: Any) -> TableReport:
        """`options`: those of the table, and what narrows its numbers, such as interval="none"."""
        if not key or "/" in key:
            raise NotFound(f"There is no table {key!r}.", Problem(status=404))
        return TableReport(self._connection.get(f"{self._path}{key}/", options))


def _estimate(estimate: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: estimate.get(name) for name in ReportedNumber.__dataclass_fields__} if estimate else {}
