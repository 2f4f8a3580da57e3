"""The settings of what a stage wants in each cell of rows and columns: see benchmarks.rules.coverage."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy

from annotation.composer.controls import Control, Languages, build_controls
from annotation.fields.settings import Setting
from benchmarks.rules.coverage import COHORTS

NO_ROWS = (("", gettext_lazy("No coverage wanted")), (COHORTS, gettext_lazy("The team's cohorts")))
COLUMNS = (("concepts", gettext_lazy("Concepts")), ("conditions", gettext_lazy("Conditions")))
COUNTS = (("accepted", gettext_lazy("Accepted items")), ("answers", gettext_lazy("Counted answers")))
SETTINGS = (
    Setting("columns", "select", gettext_lazy("Columns"), choices=COLUMNS, start="concepts"),
    Setting(
        "names",
        "lines",
        gettext_lazy("Columns by name"),
        gettext_lazy("One in each line. Empty: those of the recipe, otherwise those of the items."),
    ),
    Setting("per_cell", "int", gettext_lazy("Wanted in each cell"), start=3),
    Setting("counts", "select", gettext_lazy("What is counted"), choices=COUNTS, start="accepted"),
    Setting(
        "stop_when_full",
        "bool",
        gettext_lazy("Stop when a cell is full"),
        gettext_lazy("Its open items are not assigned any more, and again when an accepted one is rejected."),
        start=False,
    ),
)


def coverage_controls(
    coverage: Mapping[str, Any], sets: Sequence[tuple[str, str]], languages: Languages
) -> list[Control]:
    """The rows; the rest once rows are chosen. `sets`: label sets of the team and built-in ones, by value and name."""
    rows = Setting("rows", "select", gettext_lazy("Rows"), choices=[*NO_ROWS, *sets], start="", redraws=True)
    return build_controls((rows, *(SETTINGS if coverage.get("rows") else ())), coverage, "coverage", languages)
