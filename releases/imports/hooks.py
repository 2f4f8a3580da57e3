"""What some kinds need besides their values: checks before they are written, and rows that belong to them after."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import Error as DatabaseFailure
from django.db.models import F
from django.utils.translation import gettext as _

from annotation.composer.validation import stage_problems
from annotation.models import Campaign, Resolution, Tally
from annotation.sheets.sheet import Sheet, SheetError
from benchmarks.imports.problems import RowProblem
from benchmarks.models import Image, LabelSet, RaterName
from benchmarks.rules.acceptance import Rule, RuleError
from benchmarks.rules.filters import parse_filters
from people.models import Rater
from releases.imports.answers import parse_answers, retract_replaced, write_ratings
from releases.imports.pictures import store_picture
from releases.imports.state import ImportState, PendingRow
from releases.imports.values import key_text
from releases.models import ImportedRow

log = logging.getLogger(__name__)
Hook = Callable[[ImportState, Sequence[PendingRow]], None]
PERSON = re.compile(r"[A-Za-z0-9._-]{1,40}")
RUN_NUMBERS = ("answers", "links")  # options of a run that name another one


def _check_stages(state: ImportState, rows: Sequence[PendingRow]) -> None:
    for row in rows:
        row.problem = _problem_of(_check_stage, row.values)


def _check_stage(values: Mapping[str, Any]) -> None:
    content = {name: value for name, value in values.items() if not name.endswith("_id")}
    content["review_reasons"] = content.get("review_reasons") or []
    Sheet.from_json(content["sheet"], stored=True)
    Rule.from_json(content["acceptance_rule"]) if content.get("acceptance_rule") else None
    parse_filters(content.get("filters") or [])
    blocking = [one for one in stage_problems(content, {}) if one.blocks and one.path.startswith(("sheet", "layout"))]
    if blocking:
        raise SheetError("sheet", str(blocking[0]))


def _check_sheets(state: ImportState, rows: Sequence[PendingRow]) -> None:
    for row in rows:
        row.problem = _problem_of(_read_sheet, row.values["definition"])


def _check_rules(state: ImportState, rows: Sequence[PendingRow]) -> None:
    for row in rows:
        row.problem = _problem_of(Rule.from_json, row.values["definition"])


def _check_filters(state: ImportState, rows: Sequence[PendingRow]) -> None:
    for row in rows:
        row.problem = _problem_of(parse_filters, row.values["definition"])


def _read_sheet(definition: Any) -> None:
    Sheet.from_json(definition, stored=True)


def _problem_of(check: Callable[[Any], Any], content: Any) -> RowProblem | None:
    """What the release says of a stage is read as a recipe's file would be: whatever it is made of, it is refused."""
    try:
        check(content)
    except (SheetError, RuleError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return RowProblem("wrong_value", _("This version of Emic cannot read it: %(why)s") % {"why": str(error)[:200]})
    return None


def _pause_campaigns(state: ImportState, rows: Sequence[PendingRow]) -> None:
    """Nobody is asked before the team says so."""
    for row in rows:
        if row.values.get("state") == Campaign.State.OPEN:
            row.values["state"] = Campaign.State.PAUSED


def _match_raters(state: ImportState, rows: Sequence[PendingRow]) -> None:
    """A model is the team's of that name and setting, where it has one. A person is always somebody new."""
    for row in rows:
        row.values |= {"team_id": state.team.pk, "user_id": None}
        name, model = row.row["rater"], row.values.get("kind") == Rater.Kind.MODEL
        if model and _is_model_key(name):
            row.values |= {"name": name[0], "setting": name[1]}
            known = Rater.objects.filter(team=state.team, kind=Rater.Kind.MODEL, name=name[0], setting=name[1])
            match = known.order_by("-pk").first()
            if match is not None:
                row.object_id = match.pk
                row.remark = "" if match.about == row.values.get("about") else "model_known"
        elif not model and isinstance(name, str) and PERSON.fullmatch(name):
            row.values |= {"name": name, "setting": "", "about": {}}
        else:
            row.problem = RowProblem("wrong_value", _("The rater has no name that can be read."))


def _is_model_key(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(part, str) for part in value):
        return False
    return 0 < len(value[0]) <= 200 and len(value[1]) <= 60


def _name_raters(state: ImportState, rows: Sequence[PendingRow]) -> None:
    people = [row for row in rows if row.is_new and row.values["kind"] == Rater.Kind.PERSON]
    RaterName.objects.bulk_create(
        RaterName(benchmark=state.benchmark, rater_id=row.pk, name=row.values["name"]) for row in people
    )


def _store_images(state: ImportState, rows: Sequence[PendingRow]) -> None:
    for row in rows:
        try:
            image = store_picture(state.team, state.pictures, Image(**row.values))
        except RowProblem as problem:
            row.problem = problem
            continue
        except (DatabaseFailure, OSError):
            raise
        except Exception:
            log.exception("import of a release: picture %s could not be read", row.number)
            row.problem = RowProblem("damaged", _("The picture is damaged or ends early. Download the release again."))
            continue
        row.object_id = image.pk
        row.remark = "" if image.bytes else "no_file"
        if image.sha256 != row.row["sha256"]:
            state.shas[row.row["sha256"]] = image.sha256


def _check_label_sets(state: ImportState, rows: Sequence[PendingRow]) -> None:
    """A version never changes: another content under its name is refused."""
    for row in rows:
        known = LabelSet.objects.filter(pk=row.pk).first() if row.object_id else None
        if known is not None and known.digest != row.values.get("digest"):
            row.problem = _other_labels(known)


def _other_labels(known: LabelSet) -> RowProblem:
    text = _("The team has other labels under “%(name)s”. Import the release into another team.")
    return RowProblem("differs", text % {"name": known.reference})


def _check_labels(state: ImportState, rows: Sequence[PendingRow]) -> None:
    """Labels are added only to versions that an import makes and has not finished: others have all of theirs."""
    ids = {row.values["label_set_id"] for row in rows if row.object_id is None}
    sets = LabelSet.objects.filter(team=state.team).in_bulk(ids)
    imported = ImportedRow.objects.filter(benchmark__team=state.team, kind="label_sets", object_id__in=ids)
    times: dict[int, Any] = {}
    for pk, at in imported.filter(seen__finished_at=None).values_list("object_id", F("seen__created_at")):
        times[pk] = min(at, times.get(pk, at))
    for row in rows:
        known = sets.get(row.values["label_set_id"]) if row.object_id is None else None
        if known is not None and (known.pk not in times or known.created_at < times[known.pk]):
            row.problem = _other_labels(known)


def _end_resolutions(state: ImportState, rows: Sequence[PendingRow]) -> None:
    """A question of a unit has one live resolution: that of this version takes the place of the one there."""
    live = [row for row in rows if row.values.get("live", True)]
    kept = [row.object_id for row in live if row.object_id is not None]
    places = {(row.values["unit_id"], row.values["field"]) for row in live}
    others = Resolution.objects.filter(unit__in={unit for unit, _field in places}, live=True).exclude(pk__in=kept)
    ended = [pk for pk, *place in others.values_list("pk", "unit_id", "field") if tuple(place) in places]
    Resolution.objects.filter(pk__in=ended).update(live=False, ended_at=state.at)


def _create_tallies(state: ImportState, rows: Sequence[PendingRow]) -> None:
    new = [row for row in rows if row.is_new]
    Tally.objects.bulk_create(Tally(cohort_id=row.pk, shard=shard) for row in new for shard in range(Tally.SHARDS))


def _translate_run_numbers(state: ImportState, rows: Sequence[PendingRow]) -> None:
    """Options of a run name other runs by their numbers."""
    for row in rows:
        for column in ("options", "prompt_options"):
            options = row.values.get(column)
            if not isinstance(options, dict):
                row.problem = RowProblem("wrong_value", f"{column}: {_('It must be a JSON object.')}")
                continue
            named = {name: options[name] for name in RUN_NUMBERS if isinstance(options.get(name), int)}
            runs = state.objects_of("runs", [key_text(number) for number in named.values()])
            others = {name: value for name, value in options.items() if name not in named}
            row.values[column] = others | {
                name: runs[key_text(number)] for name, number in named.items() if key_text(number) in runs
            }


PREPARE: Mapping[str, Hook] = {
    "stages": _check_stages,
    "sheet_versions": _check_sheets,
    "rule_versions": _check_rules,
    "filter_versions": _check_filters,
    "campaigns": _pause_campaigns,
    "raters": _match_raters,
    "images": _store_images,
    "label_sets": _check_label_sets,
    "labels": _check_labels,
    "runs": _translate_run_numbers,
    "annotations": parse_answers,
}
REPLACE: Mapping[str, Hook] = {
    "annotations": retract_replaced,
    "resolutions": _end_resolutions,
}
"""What makes room for rows, in the transaction in which they are written: a row that is refused takes no place."""
AFTER: Mapping[str, Hook] = {
    "raters": _name_raters,
    "campaign_cohorts": _create_tallies,
    "annotations": write_ratings,
}
