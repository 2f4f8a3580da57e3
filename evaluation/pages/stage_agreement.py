"""How the stored agreement of one stage is shown, on the board, in the list of benchmarks and to everybody."""

from collections.abc import Collection, Mapping

from evaluation.rendering.axis import SHARE, Axis, axis_for
from evaluation.reports.board_agreement import BoardAgreement, StageAgreement
from evaluation.reports.linked_stages import NAMES
from evaluation.selections.measures import measure_of


def stages_with_values(report: BoardAgreement | None, keys: Collection[str]) -> list[StageAgreement]:
    """Of these stages, those that have a value; none where nothing is stored."""
    return [stage for stage in report.stages if stage.key in keys and stage.n_values] if report else []


def axis_of(shown: StageAgreement) -> Axis:
    """One axis for all its cohorts."""
    if shown.linked:
        return SHARE
    return axis_for(shown.estimates.values(), from_zero=measure_of(shown.measure).from_zero)


def measure_name(shown: StageAgreement) -> str:
    return str(NAMES[shown.measure] if shown.linked else measure_of(shown.measure).label)


def stage_name(shown: StageAgreement, names: Mapping[str, str]) -> str:
    """`names` by the keys of stages; of linked stages all."""
    return " / ".join(names.get(key, key) for key in shown.linked or [shown.key])
