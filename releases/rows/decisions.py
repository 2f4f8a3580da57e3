"""What rules and reviewers said of the answers of some campaigns: streamed as the answers are."""

from typing import Any

from annotation.queries.consent_withdrawal import left_out_sql
from releases.rows.annotations import FILTERS as ANSWER_FILTERS
from releases.rows.annotations import ITEM, LABEL_SET, MODEL, STAGE, TARGET
from releases.rows.columns import Row, RowColumn
from releases.rows.filters import RowFilter
from releases.rows.kinds import Finish, RowKind, RowScope, cached_pseudonyms

_OUTCOME_COLUMNS = (
    RowColumn("campaign", "o.campaign_id", "int8", "Number of the campaign; see campaigns."),
    STAGE,
    ITEM,
    TARGET,
    LABEL_SET,
    RowColumn("state", "o.state", "text", "What the rule says; see values.", coded=True),
    RowColumn(
        "failed",
        "o.failed::text",
        "json",
        "Keys of the clauses that failed, in the order of the rule; see"
        " rules. Before them facts.KEY for each number of the item that a question needs and that is too small.",
    ),
    RowColumn("waits_for", "o.waits_for::text", "json", "Missing facts of the item, while the state is waiting."),
    RowColumn(
        "score", "(o.numbers ->> 'score')::float8", "float8", "The rule's score, where it has one that is known."
    ),
    RowColumn(
        "numbers",
        "o.numbers::text",
        "json",
        "What it was decided on: sheets, their means by name, the score; where the"
        " majority decides also how many sheets passed and failed, and how many failed each clause; by_person: it is"
        " accepted by a person, whatever the rule says.",
    ),
    RowColumn("decided_on", "o.answers", "int4", "How many answers it was decided on."),
    RowColumn("rule_version", "v.number", "int4", "Number of the rule it was decided by; see rules."),
    RowColumn("at", "o.at", "time", "When it was decided so (UTC)."),
)
_OUTCOMES = """
  FROM annotation_outcome o
  JOIN annotation_campaign m ON m.id = o.campaign_id
  JOIN benchmarks_stage t ON t.id = m.stage_id
  LEFT JOIN annotation_ruleversion v ON v.id = o.rule_version_id
  JOIN annotation_unit u ON u.id = o.unit_id
  JOIN benchmarks_item i ON i.id = u.item_id
  WHERE o.campaign_id = ANY(%s)
"""

_REVIEW_COLUMNS = (
    RowColumn("annotation", "a.id", "int8", "Number of the annotation that was decided on."),
    RowColumn("version", "a.version", "int4", "Which version of the answer that was."),
    RowColumn("campaign", "s.campaign_id", "int8", "Number of the campaign; see campaigns."),
    ITEM,
    TARGET,
    LABEL_SET,
    RowColumn("author", "a.rater_id", "person", "The answer's author, as the ratings name its rater."),
    RowColumn(
        "reviewer",
        "w.id",
        "person",
        "Who decided: the pseudonym of one who answers sheets as well, else reviewer-1 and so"
        " on, in the order of their first decision in this benchmark; filter: no person, but a filter of a later"
        " stage.",
    ),
    RowColumn("decision", "d.decision", "text", "What was decided; see values.", coded=True),
    RowColumn("reason", "d.reason", "text", "Code of the reason; empty for what was accepted. See reasons."),
    RowColumn("comment", "d.comment", "text", "What the reviewer wrote to the author, as it was written."),
    RowColumn(
        "round",
        "d.round",
        "text",
        "first; second: of a drawn part, by somebody who did not see the first; third: by"
        " another person, where the two differ.",
        coded=True,
    ),
    RowColumn("at", "d.at", "time", "When it was decided (UTC)."),
    RowColumn("undone_at", "d.undone_at", "time", "When it was undone (UTC); null: it is valid."),
    RowColumn(
        "batch",
        "d.batch_id",
        "int8",
        "Number of the sample after which the answer was accepted with others of its"
        " author; null: a reviewer decided on this answer alone.",
    ),
    RowColumn("_place", "p.place", "int8", ""),
    RowColumn("_imported", "d.reviewer_name", "text", ""),
    RowColumn("_model", MODEL, "text", ""),
)
# A second decision stands with the first: it has its number, and ends with it unless a third person decided. What
# touched a decision, and the other one that says how it stands, is for those who read what changed since.
_DECISIONS = """(
    SELECT e.id, e.annotation_id, e.reviewer_id, e.reviewer_name, e.decision, e.reason, e.comment, e.at, e.undone_at,
      e.batch_id,
      CASE WHEN EXISTS (SELECT 1 FROM annotation_secondreview n WHERE n.final_id = e.id) THEN 'third' ELSE 'first' END
        AS round,
      e.xmin AS touched, (SELECT n.xmin FROM annotation_secondreview n WHERE n.final_id = e.id) AS other_touched
    FROM annotation_review e
    UNION ALL
    SELECT e.id, e.annotation_id, n.reviewer_id, n.reviewer_name, n.decision, n.reason, n.comment, n.at,
      CASE WHEN n.final_id IS NULL THEN e.undone_at END, NULL, 'second', n.xmin, e.xmin
    FROM annotation_secondreview n JOIN annotation_review e ON e.id = n.first_id WHERE n.decision <> ''
  )"""
# Reviewers of a benchmark, numbered by their first decision.
REVIEWER_PLACES = """
    SELECT d.reviewer_id, row_number() OVER (ORDER BY min(d.id), min(d.round), d.reviewer_id) AS place
    FROM {decisions} d
    JOIN annotation_annotation a ON a.id = d.annotation_id
    JOIN annotation_assignment s ON s.id = a.assignment_id
    JOIN annotation_campaign m ON m.id = s.campaign_id
    JOIN benchmarks_stage t ON t.id = m.stage_id
    WHERE t.benchmark_id = {benchmark} AND d.reviewer_id IS NOT NULL
    GROUP BY d.reviewer_id""".replace("{decisions}", _DECISIONS)
_REVIEWS = (
    """
  FROM {decisions} d
  JOIN annotation_annotation a ON a.id = d.annotation_id
  JOIN annotation_assignment s ON s.id = a.assignment_id
  JOIN annotation_unit u ON u.id = s.unit_id
  JOIN benchmarks_item i ON i.id = u.item_id
  JOIN people_rater r ON r.id = a.rater_id
  LEFT JOIN ({places}) p ON p.reviewer_id = d.reviewer_id
  JOIN annotation_campaign m ON m.id = s.campaign_id
  JOIN benchmarks_stage t ON t.id = m.stage_id
  JOIN benchmarks_benchmark h ON h.id = t.benchmark_id
  LEFT JOIN people_rater w ON w.user_id = d.reviewer_id
  WHERE s.campaign_id = ANY(%s) AND NOT {left_out}
""".replace("{left_out}", left_out_sql("a", "r.user_id", "h.team_id"))
    .replace("{places}", REVIEWER_PLACES.replace("{benchmark}", "%s"))
    .replace("{decisions}", _DECISIONS)
)


def _filters(*names: str, **more: RowFilter) -> dict[str, RowFilter]:
    return {name: ANSWER_FILTERS[name] for name in names} | more


def _finish_review(scope: RowScope) -> Finish:
    named = cached_pseudonyms(scope.benchmark)

    def finish(row: Row) -> Row:
        place, imported, rater = row.pop("_place"), row.pop("_imported"), row["reviewer"]
        row["author"] = row.pop("_model") or named(row["author"])
        by_account = f"reviewer-{place}" if rater is None else named(rater)
        row["reviewer"] = by_account if place is not None else imported or "filter"
        return row

    return finish


def _review_params(scope: RowScope) -> list[Any]:
    return [scope.benchmark.pk, list(scope.campaigns)]


OUTCOMES = RowKind(
    key="outcomes",
    meaning="One row per unit of a campaign that the rule has decided on; one that lacks answers has none.",
    columns=_OUTCOME_COLUMNS,
    source=_OUTCOMES,
    order=("o.id",),
    item="i.id",
    params=lambda scope: [list(scope.campaigns)],
    state="o.state",
    filters=_filters(
        *("stage", "item", "key", "target", "origin", "condition", "concept"),
        campaign=RowFilter("o.campaign_id = ANY(%s)", "id", "Number of the campaign."),
        state=RowFilter("o.state = ANY(%s)", "text", "What the rule says."),
        since=RowFilter("o.at >= %s", "since", "First day (UTC) or time of the decision."),
        until=RowFilter("o.at < %s", "until", "Last day (UTC) of the decision, or the time before which."),
    ),
)
REVIEWS = RowKind(
    key="reviews",
    meaning="One row per decision of a reviewer, also those on replaced versions and undone ones.",
    columns=_REVIEW_COLUMNS,
    source=_REVIEWS,
    order=("d.id", "d.round"),
    item="i.id",
    params=_review_params,
    finish=_finish_review,
    state="CASE WHEN d.undone_at IS NULL THEN d.decision ELSE 'undone' END",
    filters=_filters(
        *("stage", "campaign", "item", "key", "target", "origin", "condition", "concept"),
        decision=RowFilter("d.decision = ANY(%s)", "text", "What was decided."),
        round=RowFilter("d.round = ANY(%s)", "text", "first, second or third."),
        since=RowFilter("d.at >= %s", "since", "First day (UTC) or time of the decision."),
        until=RowFilter("d.at < %s", "until", "Last day (UTC) of the decision, or the time before which."),
    ),
)
