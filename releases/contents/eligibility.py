"""eligibility.csv: who could answer, by rule and version, with the number of people of each cohort who did.

It is counted when the rows are frozen. A group of fewer than MIN_CELL people has no number, and neither have the other
versions of the same rule in that cohort, since the difference would tell it.
"""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import connection
from django.utils import translation

from annotation.fields.contract import localise
from annotation.instructions.protocol import Protocol
from annotation.models import Campaign, InstructionVersion
from benchmarks.models import Benchmark, Stage
from people.models import Cohort, ConsentVersion
from releases.contents.tables import RATINGS, ReleaseTable
from releases.descriptions.computed import MIN_CELL
from releases.rows.columns import Row, RowColumn

PATH = "eligibility.csv"
MEANING = "One row per rule on who could answer, by campaign, cohort and version of the rule."
COLUMNS = (
    RowColumn("stage", "", "text", "Key of the stage."),
    RowColumn("campaign", "", "int8", "Number of the campaign; see campaigns in the codebook."),
    RowColumn("cohort", "", "text", "Label of the cohort."),
    RowColumn(
        "rule",
        "",
        "text",
        "cohort: membership, given by invitation; staffing: of the stage; instructions: read before work; quiz: passed"
        " before work; consent: to a text of the team.",
    ),
    RowColumn("version", "", "int8", "Number of the instructions or of the consent text; null: the rule has none."),
    RowColumn("text", "", "text", "The rule in words; of a consent its text, in English where there is one."),
    RowColumn(
        "people",
        "",
        "int8",
        f"How many people with counted answers that is; null: fewer than {MIN_CELL}, or their number would follow.",
    ),
)
Counts = dict[tuple[int, int, int], int]
"""Number of people by campaign, cohort and version, which is 0 where there is none."""
_ANSWERS = """
  FROM releases_releaserow w
  JOIN annotation_annotation a ON a.id = w.number
  JOIN annotation_assignment s ON s.id = a.assignment_id
  JOIN people_rater r ON r.id = a.rater_id
  WHERE w.release_id = %s AND w."table" = ANY(%s) AND w.state = 'counted' AND w.split <> %s AND r.kind = 'person'
    AND a.cohort_id IS NOT NULL
"""
_IN_COHORT = f"SELECT s.campaign_id, a.cohort_id, 0, count(DISTINCT a.rater_id) {_ANSWERS} GROUP BY 1, 2"
_INSTRUCTED = f"""SELECT s.campaign_id, a.cohort_id, a.instruction_version_id, count(DISTINCT a.rater_id) {_ANSWERS}
  AND a.instruction_version_id IS NOT NULL GROUP BY 1, 2, 3"""
# The consent that a person had given last before their last answer.
_CONSENTED = f"""SELECT p.campaign, p.cohort, g.version_id, count(*) FROM (
    SELECT s.campaign_id AS campaign, a.cohort_id AS cohort, r.user_id AS "user", max(a.submitted_at) AS at {_ANSWERS}
      AND r.user_id IS NOT NULL GROUP BY 1, 2, 3
  ) p CROSS JOIN LATERAL (
    SELECT c.version_id FROM people_consent c JOIN people_consentversion v ON v.id = c.version_id
    WHERE c.user_id = p."user" AND v.team_id = %s AND c.given_at <= p.at ORDER BY c.given_at DESC, c.id DESC LIMIT 1
  ) g GROUP BY 1, 2, 3"""


def eligibility_rows(benchmark: Benchmark, tables: Sequence[ReleaseTable]) -> list[Row]:
    """Sorted by stage, campaign and cohort. Needs the frozen rows of the release."""
    ratings = [table for table in tables if table.table.key == RATINGS]
    if not ratings:
        return []
    release = ratings[0].release
    params = [release.pk, [table.name for table in ratings], release.chosen.withheld or "-"]
    people = _counted(_IN_COHORT, params)
    instructed, consented = _counted(_INSTRUCTED, params), _counted(_CONSENTED, [*params, benchmark.team_id])
    with translation.override("en"):
        texts = _Texts(benchmark, [campaign for table in ratings for campaign in table.campaigns])
        return [
            row
            for table in ratings
            for campaign in table.campaigns
            for cohort in sorted(campaign.cohorts.all(), key=lambda place: place.cohort.label)
            for row in _rows(table.stage, campaign, cohort.cohort, texts, (people, instructed, consented))
        ]


class _Texts:
    """The rules in words."""

    def __init__(self, benchmark: Benchmark, campaigns: Sequence[Campaign]) -> None:
        versions = InstructionVersion.objects.filter(campaign__in=campaigns).prefetch_related("texts")
        self.instructions = {version.pk: version for version in versions}
        consents = ConsentVersion.objects.filter(team=benchmark.team).prefetch_related("texts")
        self.consents = {version.pk: version for version in consents}

    def consent(self, pk: int) -> str:
        texts = {text.language: text.body for text in self.consents[pk].texts.all()}
        return localise(dict(sorted(texts.items())), "en")

    def quiz(self, pk: int, cohort: Cohort) -> str:
        """Empty where this cohort has none."""
        texts = sorted(self.instructions[pk].texts.all(), key=lambda text: (text.cohort_id != cohort.pk, text.language))
        own = [text for text in texts if text.cohort_id in (None, cohort.pk)]
        parts = Protocol.from_json(own[0].parts) if own else Protocol()
        return f"{parts.pass_mark} of {len(parts.quiz)} questions answered rightly" if parts.quiz else ""


def _rows(
    stage: Stage, campaign: Campaign, cohort: Cohort, texts: _Texts, counted: tuple[Counts, Counts, Counts]
) -> Iterator[Row]:
    people, instructed, consented = ({pk: n for (of, member, pk), n in counts.items()
                                      if (of, member) == (campaign.pk, cohort.pk)} for counts in counted)  # fmt: skip
    of_cohort = people.get(0, 0)

    def row(rule: str, text: str, count: int, version: int | None = None) -> Row:
        known = {"stage": stage.key, "campaign": campaign.pk, "cohort": cohort.label, "rule": rule}
        return {**known, "version": version, "text": text, "people": count}

    rows = [row("cohort", _cohort_words(cohort, stage), of_cohort)]
    if stage.staffing != Stage.Staffing.ANYONE:
        rows.append(row("staffing", str(Stage.Staffing(stage.staffing).label), of_cohort))
    for pk in sorted(instructed, key=lambda pk: texts.instructions[pk].number):
        version, quiz = texts.instructions[pk], texts.quiz(pk, cohort)
        if quiz:
            rows.append(row("quiz", quiz, instructed[pk], version.number))
        elif version.required:
            rows.append(row("instructions", "The instructions were read", instructed[pk], version.number))
    for pk in sorted(consented, key=lambda pk: texts.consents[pk].number):
        rows.append(row("consent", texts.consent(pk), consented[pk], texts.consents[pk].number))
    return iter(_protected(rows, of_cohort))


def _protected(rows: list[Row], of_cohort: int) -> list[Row]:
    """Without the numbers of small groups, and without those that would tell them: people of the cohort whom no
    version of a rule counts are a group, too."""
    by_rule: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        by_rule[row["rule"]].append(row["people"])
    for row in rows:
        counts = by_rule[row["rule"]]
        groups = [*counts, max(of_cohort - sum(counts), 0)]
        if any(0 < n < MIN_CELL for n in groups):
            row["people"] = None
    return rows


def _cohort_words(cohort: Cohort, stage: Stage) -> str:
    facts = [f"country {cohort.country}" if cohort.country else "", ", ".join(cohort.languages)]
    words = "; ".join(["Member of the cohort, by invitation", *filter(None, facts)])
    return f"{words}; only items of the cohort's own label" if stage.own_items_only else words


def _counted(sql: str, params: Sequence[Any]) -> Counts:
    with connection.cursor() as cursor:
        cursor.execute(sql, list(params))
        return {(campaign, cohort, version): n for campaign, cohort, version, n in cursor.fetchall()}


def is_there(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there is a rule beside membership, or anybody answered: else the file says nothing."""
    return any(row["rule"] != "cohort" or row["people"] != 0 for row in rows)
