"""The files of rows in an archive: which there are, what one row is, and what its columns are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.models import Campaign
from annotation.sheets.sheet import Sheet
from benchmarks.models import Benchmark, Stage
from evaluation.exports import decisions, items
from evaluation.exports.formats import FileSummary, csv_lines, json_lines
from evaluation.exports.ratings import COLUMNS, WITHDRAWN_AT, Column, Row, rows
from evaluation.exports.record_files import record_files
from people.models import Rater
from people.services.consent import consent_states

RATINGS = (
    "One row per live annotation: the latest version of each answer, counted or not. Answers of people who withdrew"
    " their consent are left out; see left_out."
)
VERSIONS = "One row per annotation that is not live: replaced by a later version, undone or withdrawn. None is counted."
OUTCOMES = "One row per unit of a campaign that the rule has decided on; one that lacks answers has none."
REVIEWS = "One row per decision of a reviewer, also those on replaced versions and undone ones."
ITEMS = "One row per item of the stage, asked about or not, also those that were withdrawn."


@dataclass
class ArchiveFile:
    """`cells`: names of the sheets' own columns, in CSV after the fixed ones. `written` fills while it is sent."""

    key: str
    meaning: str
    columns: Sequence[Column]
    found: Iterator[Row]
    cells: Sequence[str] = ()
    written: FileSummary = field(default_factory=FileSummary)

    def lines(self, form: str) -> Iterator[bytes]:
        names = [name for name, *_rest in self.columns if not name.startswith("_")]
        if form == "csv":
            return csv_lines(self.found, names, self.cells, self.written)
        return json_lines(self.found, names, self.written)


def archive_files(
    stage: Stage, campaigns: Sequence[Campaign], sheets: Mapping[int, Sheet], *, versions: bool
) -> list[ArchiveFile]:
    """The ratings first. What decides on answers is there where the stage has it, though nothing be decided yet."""
    ids, benchmark = [campaign.pk for campaign in campaigns], stage.benchmark
    cells = list(dict.fromkeys(c.suffix for sheet in sheets.values() for c in sheet.columns()))
    consents = _consents(benchmark, ids)
    files = [ArchiveFile("ratings", RATINGS, COLUMNS, rows(ids, benchmark.pseudonym, sheets, consents), cells)]
    if versions:
        earlier = rows(ids, benchmark.pseudonym, sheets, consents, live=False)
        files.append(ArchiveFile("versions", VERSIONS, (*COLUMNS, WITHDRAWN_AT), earlier, cells))
    if stage.acceptance == Stage.Acceptance.BY_RULE:
        files.append(ArchiveFile("outcomes", OUTCOMES, decisions.OUTCOMES, decisions.outcomes(ids)))
    if stage.acceptance == Stage.Acceptance.BY_REVIEW:
        files.append(ArchiveFile("reviews", REVIEWS, decisions.REVIEWS, decisions.reviews(benchmark, ids)))
    files.append(ArchiveFile("items", ITEMS, items.ITEMS, items.items(stage)))
    for one in record_files(benchmark.recipe, stage.key):
        ratings = rows(ids, benchmark.pseudonym, sheets, consents)
        files.append(ArchiveFile(f"records-{one.key}", one.meaning, one.columns, one.records(ratings)))
    return files


def _consents(benchmark: Benchmark, campaigns: Sequence[int]) -> dict[int, str]:
    """The state of consent of everybody who was given work in these campaigns, by the rater's id."""
    people = Rater.objects.filter(participations__cohort__campaign__in=campaigns, user__isnull=False)
    users = dict(people.values_list("pk", "user_id").distinct())
    states = consent_states(benchmark.team, users.values())
    return {rater: states[user].key for rater, user in users.items()}
