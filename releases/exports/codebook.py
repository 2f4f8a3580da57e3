"""What every column, code and version of an export means."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import translation

from annotation.instructions.protocol import Protocol
from annotation.models import (
    Assignment,
    Campaign,
    CampaignCohort,
    InstructionVersion,
    Outcome,
    Review,
    RuleVersion,
    SheetVersion,
)
from annotation.pages.review_reasons import DEFAULTS
from annotation.queries.answers import withdrawn_of
from annotation.sheets.sheet import Sheet
from benchmarks.models import Benchmark, Stage
from releases.exports.archive_files import ArchiveFile
from releases.exports.document_files import DocumentMember

UNCOUNTED = {
    "surplus": "The unit had all the answers it needed when this one came.",
    "excluded": "The rater was excluded from the benchmark; the reason is kept there.",
    "rejected": "The answer was not accepted in review.",
    "closed": "The campaign was closed when the answer came.",
    "no_consent": "The rater had not agreed to the team's text in force when the answer came.",
    "not_a_member": "The rater was no longer in the cohort when the answer came.",
    "in_file": "The file that the answer came in said that it does not count.",
    "consent_withdrawn": "The rater withdrew their consent. Such answers are in no file and in no number.",
    "superseded": "A later version took its place.",
    "undone": "Its author undid it.",
    "withdrawn": "The import that brought it was withdrawn.",
}
TYPED = {
    "code": {"parquet": "code, as dictionary of texts"},
    "integer_code": {"parquet": "code, as whole number of 16 bits"},
    "flag": {"parquet": "true or false"},
    "codes": {"parquet": "list of codes"},
    "boxes": {"parquet": "list of x, y, width, height (pixels of the upright picture) and label"},
}
DERIVED = {
    "promote": "Each accepted answer, or each item that was accepted, became an item.",
    "join": "What belongs together became one item, once all its parts were accepted.",
    "pair": "Two at a time, side by side, became an item.",
    "cluster": "Many pictures on one sheet became an item.",
    "ungroup": "Each picture that people kept on a sheet became an item.",
    "sample": "A seeded draw of earlier items, or the first of them in an order, became items.",
    "verdicts": "Each answer of a model or a person became an item to judge.",
    "disagree": "Answers that are too far apart became an item, to be settled by somebody else.",
}
_STAGE = (
    *("key", "name", "display", "pictures", "layout", "skip_reasons", "acceptance"),
    *("has_target", "target_answers", "target_in_all", "staffing", "own_items_only", "retire_after_skips"),
)


def codebook(
    stage: Stage, campaigns: Sequence[Campaign], members: Sequence[ArchiveFile], at: datetime
) -> dict[str, Any]:
    """All but what is known only when the rows have been written; `complete_codebook` adds that. Ratings come first."""
    benchmark, ratings = stage.benchmark, members[0]
    return {
        "made_by": f"Emic {settings.VERSION}",
        "exported_at": at.isoformat(),
        "benchmark": {
            name: getattr(benchmark, name)
            for name in ("name", "slug", "purpose", "recipe", "recipe_version", "citation", "licence")
        },
        "selection": {
            "stage": stage.key,
            "campaigns": [campaign.pk for campaign in campaigns],
            "rows": ratings.meaning,
        },
        "stage": {**{name: getattr(stage, name) for name in _STAGE}, "items": _items(stage)},
        "columns": _columns(ratings),
        "states": _choice_labels(Assignment.State),
        "uncounted": UNCOUNTED,
        "left_out": _left_out(benchmark, campaigns),
        "campaigns": [_campaign(campaign) for campaign in campaigns],
        "cohorts": _cohorts(campaigns),
        "sheets": _sheets(campaigns),
        "instructions": _instructions(campaigns),
        "rules": _rules(stage),
        "further": {member.key: _file_description(stage, member) for member in members[1:]},
    }


def complete_codebook(book: dict[str, Any], members: Mapping[str, ArchiveFile]) -> dict[str, Any]:
    """With name, rows and checksum of every file. `members`: by the name of their file, the ratings first."""
    first, *others = [
        {"name": name, "rows": archive_file.written.rows, "sha256": archive_file.written.sha.hexdigest()}
        for name, archive_file in members.items()
    ]
    further = zip(book["further"].items(), others, strict=True)
    return {
        **book,
        "file": first,
        "further": {key: {**description, "file": file} for (key, description), file in further},
    }


def describe_documents(documents: Mapping[str, DocumentMember]) -> dict[str, Any]:
    """Each document by its key: what it is, its file, its number of records and its checksum."""
    return {
        member.file.key: {
            "meaning": member.file.meaning,
            "file": {"name": name, "rows": member.written.rows, "sha256": member.written.sha.hexdigest()},
        }
        for name, member in documents.items()
    }


def _left_out(benchmark: Benchmark, campaigns: Sequence[Campaign]) -> dict[str, Any]:
    """Answers that are not in the files because their authors withdrew, without saying who."""
    withdrawn = withdrawn_of(benchmark, [campaign.pk for campaign in campaigns])
    with translation.override("en"):
        meaning = withdrawn.words or "Nobody withdrew their consent."
    return {"people": withdrawn.people, "of": withdrawn.of, "answers": withdrawn.answers, "meaning": meaning}


def _items(stage: Stage) -> dict[str, Any]:
    """Where the items of the stage come from: `derived`, and how, with the names of the stages they are made of."""
    if not stage.derivation:
        return {"derived": False, "meaning": "The items were imported."}
    names = dict(stage.benchmark.stages.values_list("key", "name"))
    sources = [{"key": key, "name": names.get(key, "")} for key in stage.derivation.get("from", ())]
    known = DERIVED.get(stage.derivation["kind"], "Items of earlier stages became items.")
    meaning = known + " Each item says under derived_from what it was made of."
    return {"derived": True, "meaning": meaning, **stage.derivation, "from": sources}


def _columns(member: ArchiveFile) -> list[dict[str, str]]:
    return [column.to_json() for column in member.columns]


def _choice_labels(choices: type[models.TextChoices]) -> dict[str, str]:
    with translation.override("en"):
        return {str(value): str(label) for value, label in choices.choices}


def _file_description(stage: Stage, member: ArchiveFile) -> dict[str, Any]:
    """What the codebook says of a file beside the ratings; `complete_codebook` adds which file it is."""
    description: dict[str, Any] = {"rows": member.meaning, "columns": _columns(member)}
    if member.key == "outcomes":
        description["values"] = _choice_labels(Outcome.State)
    if member.key == "reviews":
        description["values"] = _choice_labels(Review.Decision)
        description["reasons"] = stage.review_reasons or _usual_reasons()
    return description


def _usual_reasons() -> list[dict[str, Any]]:
    with translation.override("en"):
        return [{"code": code, "label": {"en": str(words)}} for code, words in DEFAULTS.items()]


def _rules(stage: Stage) -> list[dict[str, Any]]:
    """Every acceptance rule that was in force, with its clauses in words."""
    versions = RuleVersion.objects.filter(stage=stage).order_by("number")
    return [{"number": v.number, "created_at": v.created_at.isoformat(), **v.definition} for v in versions]


def _campaign(campaign: Campaign) -> dict[str, Any]:
    return {
        "id": campaign.pk,
        "name": campaign.name,
        "state": campaign.state,
        "conditions": campaign.conditions,
        "sheet_version": str(campaign.sheet_version),
        "rule_version": campaign.rule_version.number if campaign.rule_version else None,
        "opened_at": _iso(campaign.opened_at),
        "closed_at": _iso(campaign.closed_at),
        "target_answers": dict(sorted((row.cohort.label, row.target_answers) for row in campaign.cohorts.all())),
    }


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _cohorts(campaigns: Sequence[Campaign]) -> list[dict[str, Any]]:
    rows = CampaignCohort.objects.filter(campaign__in=campaigns).select_related("cohort").order_by("cohort__label")
    cohorts = {row.cohort_id: row.cohort for row in rows}
    names = ("label", "names", "country", "languages", "direction", "time_zone")
    return [{name: getattr(cohort, name) for name in names} for cohort in cohorts.values()]


def _sheets(campaigns: Sequence[Campaign]) -> list[dict[str, Any]]:
    """Every version that was in use, with codes, labels in all languages, level and columns of each question."""
    return [
        {"version": str(version), "fields": [_field(sheet, field.key) for field in sheet.fields], **_sheet_rules(sheet)}
        for version, sheet in sheets_of(campaigns).values()
    ]


def _sheet_rules(sheet: Sheet) -> dict[str, Any]:
    """What a sheet says of several fields at once; nothing where it says nothing."""
    between = {key: value for key, value in sheet.to_json().items() if key != "fields"}
    if sheet.score:
        column = sheet.score_column()
        between["score"] |= {"column": f"answer.{column.suffix}", "meaning": column.meaning}
    return between


def _field(sheet: Sheet, key: str) -> dict[str, Any]:
    field = sheet.field(key)
    columns = [
        {"name": f"answer.{key}{c.suffix}", "type": c.type, "meaning": c.meaning, **TYPED.get(c.typed, {})}
        for c in field.spec.columns(field.config)
    ]
    return {**field.to_json(), "level": sheet.level(key), "columns": columns}


def sheets_of(campaigns: Sequence[Campaign]) -> dict[int, tuple[SheetVersion, Sheet]]:
    """All versions of the campaigns' stages: an answer may be older than its campaign's present sheet."""
    stages = {campaign.stage_id for campaign in campaigns}
    versions = SheetVersion.objects.filter(stage__in=stages).order_by("pk")
    return {v.pk: (v, Sheet.from_json(v.definition, stored=True)) for v in versions}


def _instructions(campaigns: Sequence[Campaign]) -> list[dict[str, Any]]:
    """Every version, its texts with the cohort each is for (null: for all) and what goes with it: pairs of do and
    don't, materials, quiz, and how many right answers pass."""
    versions = InstructionVersion.objects.filter(campaign__in=campaigns).order_by("campaign_id", "number")
    return [
        {
            "campaign": version.campaign_id,
            "number": version.number,
            "created_at": version.created_at.isoformat(),
            "required": version.required,
            "texts": [
                {
                    "language": text.language,
                    "cohort": text.cohort.label if text.cohort else None,
                    "body": text.body,
                    **{part: text.parts.get(part) or [] for part in ("pairs", "materials", "quiz")},
                    "pass": Protocol.from_json(text.parts).pass_mark,
                }
                for text in version.texts.order_by("language", "pk").select_related("cohort")
            ],
        }
        for version in versions
    ]
