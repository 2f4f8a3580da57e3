"""Which stage the files of another tool fit best, so that the preview begins with it."""

from collections.abc import Iterable

from annotation.sheets.sheet import Field, Sheet, SheetError
from benchmarks.imports.tables.roles import fold
from benchmarks.models import Stage
from releases.foreign.scan import Scan, ScannedQuestion


def best_stage(scan: Scan, stages: Iterable[Stage]) -> Stage | None:
    """The stage with the most fields of the questions' names, then with the most fields that know all their codes; the
    last of those that fit equally well."""
    return max(stages, key=lambda stage: (*_fit(scan, stage), stage.position), default=None)


def _fit(scan: Scan, stage: Stage) -> tuple[int, int]:
    """Of the questions: how many have a field of their name, and how many a field that knows all their codes."""
    try:
        fields = Sheet.from_json(stage.sheet, stored=True).fields
    except SheetError:
        return 0, 0
    by_name = {fold(field.key): field for field in fields}
    pairs = [(question, by_name[fold(key)]) for key, question in scan.questions.items() if fold(key) in by_name]
    return len(pairs), sum(1 for question, field in pairs if _knows_codes(field, question))


def _knows_codes(field: Field, question: ScannedQuestion) -> bool:
    options = (*field.spec.agreement_options(field.config), *field.spec.part_labels(field.config))
    return bool(question.codes) and question.codes.keys() <= {option.code for option in options}
