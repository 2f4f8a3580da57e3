"""What rules and reviewers said of the answers of some campaigns: streamed as the answers are."""

from collections.abc import Iterator, Sequence

from annotation.queries.consent_withdrawal import left_out_sql
from benchmarks.models import Benchmark
from evaluation.exports.ratings import LABEL_SET, MODEL, Column, Row, cached_pseudonyms, stream_query

OUTCOMES: tuple[Column, ...] = (
    ("campaign", "o.campaign_id", "int8", "Number of the campaign; see campaigns."),
    ("stage", "t.key", "text", "Key of the stage."),
    ("item", "i.key", "text", "Key of the item in its stage."),
    ("target", "u.target", "text", "The culture asked about; empty where the stage has no target."),
    LABEL_SET,
    ("state", "o.state", "text", "What the rule says; see values."),
    ("failed", "o.failed::text", "text", "Keys of the clauses that failed, in the order of the rule; see"
     " rules. Before them facts.KEY for each number of the item that a question needs and that is too small."),
    ("waits_for", "o.waits_for::text", "text", "Facts of the item that are missing, while the state is waiting."),
    ("score", "(o.numbers ->> 'score')::float8", "float8", "The rule's score, where it has one and it is known."),
    ("numbers", "o.numbers::text", "text", "What it was decided on: sheets, their means by name, the score; where the"
     " majority decides also how many sheets passed and failed, and how many failed each clause."),
    ("decided_on", "o.answers", "int4", "How many answers it was decided on."),
    ("rule_version", "v.number", "int4", "Number of the rule it was decided by; see rules."),
    ("at", "{utc}(o.at)", "text", "When it was decided so (UTC)."),
)  # fmt: skip
_OUTCOMES = """
  FROM annotation_outcome o
  JOIN annotation_campaign m ON m.id = o.campaign_id
  JOIN benchmarks_stage t ON t.id = m.stage_id
  JOIN annotation_ruleversion v ON v.id = o.rule_version_id
  JOIN annotation_unit u ON u.id = o.unit_id
  JOIN benchmarks_item i ON i.id = u.item_id
  WHERE o.campaign_id = ANY(%s)
  ORDER BY o.id
"""

REVIEWS: tuple[Column, ...] = (
    ("annotation", "a.id", "int8", "Number of the annotation that was decided on."),
    ("version", "a.version", "int4", "Which version of the answer that was."),
    ("campaign", "s.campaign_id", "int8", "Number of the campaign; see campaigns."),
    ("item", "i.key", "text", "Key of the item in its stage."),
    ("target", "u.target", "text", "The culture asked about; empty where the stage has no target."),
    LABEL_SET,
    ("author", "a.rater_id", "int8", "The answer's author, as the ratings name its rater."),
    ("reviewer", "w.id", "int8", "Who decided: the pseudonym of one who answers sheets as well, else reviewer-1 and so"
     " on, in the order of their first decision in this benchmark; filter: no person, but a filter of a later stage."),
    ("decision", "d.decision", "text", "What was decided; see values."),
    ("reason", "d.reason", "text", "Code of the reason; empty for what was accepted. See reasons."),
    ("comment", "d.comment", "text", "What the reviewer wrote to the author, as it was written."),
    ("round", "d.round", "text", "first; second: of a drawn part, by somebody who did not see the first; third: by"
     " another person, where the two differ."),
    ("at", "{utc}(d.at)", "text", "When it was decided (UTC)."),
    ("undone_at", "{utc}(d.undone_at)", "text", "When it was undone (UTC); null: it is valid."),
    ("batch", "d.batch_id", "int8", "Number of the sample after which the answer was accepted with others of its"
     " author; null: a reviewer decided on this answer alone."),
    ("_place", "p.place", "int8", ""),
    ("_model", MODEL, "text", ""),
)  # fmt: skip
# A second decision stands with the first: it has its number, and ends with it unless a third person decided.
_DECISIONS = """(
    SELECT e.id, e.annotation_id, e.reviewer_id, e.decision, e.reason, e.comment, e.at, e.undone_at, e.batch_id,
      CASE WHEN EXISTS (SELECT 1 FROM annotation_secondreview n WHERE n.final_id = e.id) THEN 'third' ELSE 'first' END
        AS round
    FROM annotation_review e
    UNION ALL
    SELECT e.id, e.annotation_id, n.reviewer_id, n.decision, n.reason, n.comment, n.at,
      CASE WHEN n.final_id IS NULL THEN e.undone_at END, NULL, 'second'
    FROM annotation_secondreview n JOIN annotation_review e ON e.id = n.first_id WHERE n.decision <> ''
  )"""
_REVIEWS = """
  FROM {decisions} d
  JOIN annotation_annotation a ON a.id = d.annotation_id
  JOIN annotation_assignment s ON s.id = a.assignment_id
  JOIN annotation_unit u ON u.id = s.unit_id
  JOIN benchmarks_item i ON i.id = u.item_id
  JOIN people_rater r ON r.id = a.rater_id
  LEFT JOIN (
    SELECT d.reviewer_id, row_number() OVER (ORDER BY min(d.id), min(d.round), d.reviewer_id) AS place
    FROM {decisions} d
    JOIN annotation_annotation a ON a.id = d.annotation_id
    JOIN annotation_assignment s ON s.id = a.assignment_id
    JOIN annotation_campaign m ON m.id = s.campaign_id
    JOIN benchmarks_stage t ON t.id = m.stage_id
    WHERE t.benchmark_id = %s AND d.reviewer_id IS NOT NULL
    GROUP BY d.reviewer_id
  ) p ON p.reviewer_id = d.reviewer_id
  JOIN annotation_campaign m ON m.id = s.campaign_id
  JOIN benchmarks_stage t ON t.id = m.stage_id
  JOIN benchmarks_benchmark h ON h.id = t.benchmark_id
  LEFT JOIN people_rater w ON w.user_id = d.reviewer_id
  WHERE s.campaign_id = ANY(%s) AND NOT {left_out}
  ORDER BY d.id, d.round
""".replace("{left_out}", left_out_sql("a", "r.user_id", "h.team_id")).replace("{decisions}", _DECISIONS)


def outcomes(campaigns: Sequence[int]) -> Iterator[Row]:
    """One row per unit of a campaign that the rule has decided on."""
    return stream_query(OUTCOMES, _OUTCOMES, [list(campaigns)], ("failed", "numbers"))


def reviews(benchmark: Benchmark, campaigns: Sequence[int]) -> Iterator[Row]:
    """One row per decision of a reviewer, also on versions that were superseded, and those that were taken back; second
    reviews with the first ones."""
    named = cached_pseudonyms(benchmark.pseudonym)
    for row in stream_query(REVIEWS, _REVIEWS, [benchmark.pk, list(campaigns)], ()):
        place, rater = row.pop("_place"), row["reviewer"]
        row["author"] = row.pop("_model") or named(row["author"])
        row["reviewer"] = "filter" if place is None else f"reviewer-{place}" if rater is None else named(rater)
        yield row
