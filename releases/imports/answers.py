"""Answers of a release: each goes through the sheet that it was given to, and its codes are made anew."""

import logging
from collections.abc import Sequence

from django.db import Error as DatabaseFailure
from django.utils.translation import gettext as _

from annotation.displays.shown_item import build_shown, upload_info
from annotation.models import Annotation, Assignment, Rating, SheetVersion
from annotation.services.answers.annotation_writing import retract
from annotation.services.answers.model_answers import OF_RUNS, SUPERSEDED
from annotation.services.answers.submit import OF_FILES
from annotation.sheets.sheet import ParsedSheet, Sheet
from benchmarks.imports.problems import RowProblem
from benchmarks.models import Image
from people.models import Cohort
from releases.imports.manifest import SHA
from releases.imports.state import ImportState, PendingRow

log = logging.getLogger(__name__)


def parse_answers(state: ImportState, rows: Sequence[PendingRow]) -> None:
    """Put what the sheet understood into the values; a row whose answers it does not take gets a problem."""
    assignments = _assignments(rows)
    cohorts = Cohort.objects.in_bulk({row.values["cohort_id"] for row in rows if row.values.get("cohort_id")})
    versions = SheetVersion.objects.in_bulk({row.values["sheet_version_id"] for row in rows})
    sheets = {pk: Sheet.from_json(version.definition, stored=True) for pk, version in versions.items()}
    images = _images(state, rows)
    for row in rows:
        assignment = assignments[row.values["assignment_id"]]
        sheet, cohort = sheets[row.values["sheet_version_id"]], cohorts.get(row.values.get("cohort_id"))
        try:
            parsed = _parse(sheet, assignment, cohort, row, images)
        except RowProblem as problem:
            row.problem = problem
            continue
        except (DatabaseFailure, OSError):
            raise
        except Exception:
            log.exception("import of a release: answer %s could not be read", row.number)
            row.problem = RowProblem("damaged", _("The answer cannot be read."))
            continue
        row.values["answers"], row.extra = parsed.answers, (parsed, assignment)
        row.values["rater_id"] = assignment.rater_id
        row.values["client_key"] = _client_key(state, row)


def retract_replaced(state: ImportState, rows: Sequence[PendingRow]) -> None:
    """An assignment has one live answer: that of this version takes the place of the one that is there."""
    live = [row for row in rows if row.values.get("live", True)]
    kept = [row.object_id for row in live if row.object_id is not None]
    replaced = Annotation.objects.filter(assignment__in={row.values["assignment_id"] for row in live}, live=True)
    for pk in replaced.exclude(pk__in=kept).values_list("pk", flat=True):
        retract(pk, SUPERSEDED)


def _parse(
    sheet: Sheet, assignment: Assignment, cohort: Cohort | None, row: PendingRow, images: dict[str, Image]
) -> ParsedSheet:
    answers = row.values.get("answers")
    if not isinstance(answers, dict):
        raise RowProblem("not_an_answer", _("The answers are no JSON object."))
    uploads = [upload_info(image) for sha, image in images.items() if sha in str(answers)]
    shown = build_shown(assignment.unit, cohort, uploads)
    confirmed = row.values.get("confirmed")
    names = [str(name) for name in confirmed] if isinstance(confirmed, list) else []
    parsed = sheet.parse(answers, shown, names, partial=True)
    if parsed.errors:
        fields = ", ".join(sorted(parsed.errors))
        text = _("The sheet does not take the answer to: %(fields)s.")
        raise RowProblem("not_an_answer", text % {"fields": fields[:200]})
    return parsed


def _assignments(rows: Sequence[PendingRow]) -> dict[int, Assignment]:
    assignments = Assignment.objects.filter(pk__in={row.values["assignment_id"] for row in rows})
    assignments = assignments.select_related("unit__item", "unit__label_set")
    return {row.pk: row for row in assignments.prefetch_related("unit__item__images__image", "unit__item__facts")}


def _images(state: ImportState, rows: Sequence[PendingRow]) -> dict[str, Image]:
    """The team's pictures that the answers name."""
    shas = {sha for row in rows for sha in SHA.findall(str(row.values.get("answers")))}
    return {image.sha256: image for image in Image.objects.filter(team=state.team, sha256__in=shas)}


def _client_key(state: ImportState, row: PendingRow) -> str:
    prefix = row.values.get("client_key")
    known = prefix if prefix in (OF_RUNS, OF_FILES) else ""
    return f"{known}release:{state.release_import.pk}:{row.key}"[:64]


def write_ratings(state: ImportState, rows: Sequence[PendingRow]) -> None:
    """The codes of these annotations, in place of those they had."""
    changed = [row.pk for row in rows if not row.is_new]
    if changed:
        Rating.objects.filter(annotation__in=changed).delete()
    annotations = Annotation.objects.in_bulk([row.pk for row in rows])
    ratings = []
    for row in rows:
        parsed, assignment = row.extra
        annotation = annotations[row.pk]
        for code in parsed.codes:
            ratings.append(
                Rating(
                    annotation=annotation, campaign_id=assignment.campaign_id, cohort_id=annotation.cohort_id,
                    unit_id=assignment.unit_id, rater_id=assignment.rater_id, field=code.field, code=code.code,
                    value=code.value, live=annotation.live, counted=annotation.counted,
                )
            )  # fmt: skip
    Rating.objects.bulk_create(ratings)
