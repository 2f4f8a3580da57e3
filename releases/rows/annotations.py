"""The annotations of some campaigns, one row each, and their ratings, one row for each answered question."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from annotation.models import SheetVersion
from annotation.queries.consent_withdrawal import left_out_sql
from annotation.sheets.sheet import Sheet
from benchmarks.models import Benchmark
from people.models import Rater
from people.services.consent import consent_states
from releases.rows.columns import Row, RowColumn
from releases.rows.filters import RowFilter, conditions_of
from releases.rows.kinds import Finish, RowKind, RowScope, cached_pseudonyms

_SOME = (
    "CASE WHEN a.trace -> 'opened' IS NOT NULL THEN jsonb_path_exists(a.trace, '$.opened[*] ? (@.{0} == false)') END"
)
BY_MODEL = "r.kind = 'model'"
MODEL = f"CASE WHEN {BY_MODEL} THEN nullif(r.name, '') END"  # models are no people: they have their names
DECIDED = """CASE WHEN a.live THEN s.state ELSE coalesce((
    SELECT CASE w.decision WHEN 'accept' THEN 'accepted' WHEN 'return' THEN 'returned' ELSE 'rejected' END
    FROM annotation_review w WHERE w.annotation_id = a.id AND w.undone_at IS NULL), 'submitted') END"""
# Of the consent that the answer was given under.
_CONSENT = """(SELECT {0} FROM people_consent g JOIN people_consentversion q ON q.id = g.version_id
  WHERE g.user_id = r.user_id AND q.team_id = h.team_id AND g.given_at <= a.submitted_at
  ORDER BY g.given_at DESC, g.id DESC LIMIT 1)"""
# What holds of the unit where people disagreed, whoever's answer the row is.
_RESOLVED = (
    "coalesce((SELECT json_object_agg(w.field, {0} ORDER BY w.field) FROM annotation_resolution w"
    " WHERE w.unit_id = u.id AND w.live), '{{}}')::text"
)
STAGE = RowColumn("stage", "t.key", "text", "Key of the stage.")
ITEM = RowColumn("item", "i.key", "text", "Key of the item in its stage.")
TARGET = RowColumn("target", "u.target", "text", "The culture asked about; empty where the stage has no target.")
LABEL_SET = RowColumn(
    "label_set",
    "coalesce((SELECT b.key || '@' || b.version FROM benchmarks_labelset b WHERE b.id = u.label_set_id), '')",
    "text",
    "Label set and version that the target is a label of; empty where it is a cohort's own label.",
)
COLUMNS: tuple[RowColumn, ...] = (
    RowColumn("annotation", "a.id", "int8", "Number of the annotation."),
    RowColumn("campaign", "s.campaign_id", "int8", "Number of the campaign; see campaigns."),
    ITEM,
    RowColumn("concept", "i.concept", "text", "Concept of the item."),
    RowColumn("origin", "i.origin", "text", "The culture the item was made or found for."),
    RowColumn("condition", "i.condition", "text", "Condition of the item."),
    RowColumn("withdrawn", "i.withdrawn_at IS NOT NULL", "bool", "Whether the item has been withdrawn since."),
    TARGET,
    LABEL_SET,
    RowColumn("cohort", "c.label", "text", "Cohort the rater answered for; see cohorts."),
    RowColumn(
        "rater",
        "a.rater_id",
        "person",
        "Who answered: a person's pseudonym, the same throughout this benchmark and in no other; a model's name.",
    ),
    RowColumn("rater_kind", "r.kind", "text", "person or model.", coded=True),
    RowColumn("setting", "r.setting", "text", "How a model was asked; empty of a person.", coded=True),
    RowColumn(
        "model_info",
        f"CASE WHEN {BY_MODEL} THEN r.about::text END",
        "json",
        "What is known of a model, such as family, open, released, parameters; null of a person.",
    ),
    RowColumn(
        "state",
        DECIDED,
        "text",
        "State of the assignment; of a version that is not live, what a reviewer decided on"
        " it, else submitted. See states, and uncounted_because.",
        coded=True,
    ),
    RowColumn(
        "counted",
        "a.counted",
        "bool",
        "Whether the answer enters the numbers; one to a withdrawn item does not, see withdrawn.",
    ),
    RowColumn("uncounted_because", "a.uncounted_because", "text", "Why it does not; see uncounted.", coded=True),
    RowColumn(
        "consent",
        f"CASE WHEN {BY_MODEL} THEN NULL WHEN s.participation_id IS NULL THEN 'in_file' ELSE '' END",
        "text",
        "What the rater has agreed to by now: agreed, agreed_earlier (to an older text), never_asked, withdrawn,"
        " not_needed (the team has no text); in_file where the answer came in a file, null of a model.",
        coded=True,
    ),
    RowColumn(
        "consent_version",
        _CONSENT.format("q.number"),
        "int4",
        "Number of the consent text that the rater had agreed to"
        " last when the answer was sent; null where there was none.",
    ),
    RowColumn("version", "a.version", "int4", "1 for a first answer, more for a changed one."),
    RowColumn("sheet_version", "v.major || '.' || v.minor", "text", "Sheet that was shown; see sheets."),
    RowColumn("instruction_version", "n.number", "int4", "Instructions that were in force; see instructions."),
    RowColumn("rule_version", "a.rule_version", "text", "Acceptance rule that was in force."),
    RowColumn("language", "a.language", "text", "Language of the interface.", coded=True),
    RowColumn("shown_at", "a.shown_at", "time", "When the sheet was shown (UTC)."),
    RowColumn("submitted_at", "a.submitted_at", "time", "When it was submitted (UTC)."),
    RowColumn(
        "active_seconds",
        "a.active_seconds",
        "float8",
        "Seconds on the sheet without idle time, as the browser saw.",
        unit="seconds",
    ),
    RowColumn(
        "run",
        "k.run_id",
        "int8",
        "Number of the run in which a model was asked, or in whose file its answer came; null"
        " of a person, and of a model whose answers were imported at the campaign.",
    ),
    RowColumn("repeat", "s.repeat", "int4", "Which time it was asked: 0 the first, which alone counts."),
    RowColumn("endpoint", "k.endpoint", "text", "Server or library that a model was asked at; empty of a file."),
    RowColumn("model", "k.model", "text", "The model as the endpoint calls it, and its revision."),
    RowColumn("prompt", "k.prompt", "text", "Prompt and its version, such as caire/1; empty of a file."),
    RowColumn(
        "answer_method",
        "k.how",
        "text",
        "How the answer was obtained: logprobs, guided, schema, text, likelihood (of a"
        " given text), similarity or boxes. They are different measurements. Empty where a file does not say.",
        coded=True,
    ),
    RowColumn(
        "incomplete",
        f"CASE WHEN {BY_MODEL} THEN coalesce((k.notes -> 'incomplete')::text, '{{}}') END",
        "json",
        "Questions without a readable answer in a model's reply, and why, as JSON; the others count. Null of a person.",
    ),
    RowColumn(
        "reply_notes",
        "k.notes::text",
        "json",
        "What was noted when the reply was read, as JSON: how likely each code was"
        " (distribution) and all of them together (covered), losses, cosines, the box's rule, reasons, and the"
        " version of the rules of reading (reading); null of a person.",
    ),
    RowColumn(
        "cost",
        "k.cost::float8",
        "float8",
        "US dollars for all requests about it, as they were counted; null where nobody knows what one of them cost.",
        unit="US dollars",
    ),
    RowColumn(
        "decoding",
        "k.decoding",
        "json",
        "Temperature and the like, as JSON, with the seed of what was shuffled; null of a file.",
    ),
    RowColumn(
        "resolved",
        _RESOLVED.format("w.answer"),
        "json",
        "Question to the answer that settled what people disagreed on,"
        " as JSON; its answer is null where it cannot be decided. The ratings stay as people gave them.",
    ),
    RowColumn(
        "resolved_by",
        "(SELECT w.by_id FROM annotation_resolution w WHERE w.unit_id = u.id AND w.live ORDER BY w.id DESC LIMIT 1)",
        "person",
        "Who settled it last; null where nothing was settled.",
    ),
    RowColumn("resolved_reason", _RESOLVED.format("w.reason"), "json", "Question to the reason, as JSON."),
    RowColumn("confirmed", "a.confirmed::text", "json", "Warnings the rater confirmed."),
    RowColumn(
        "opened",
        "(a.trace -> 'opened')::text",
        "json",
        "What was opened by hand before answering, as a list of part, at,"
        " seconds since the sheet was shown, gate_answered, text_typed. Null: it could not be noted.",
    ),
    RowColumn(
        "opened_before_gate",
        _SOME.format("gate_answered"),
        "bool",
        "Whether any was opened before the question ahead of it had an answer.",
    ),
    RowColumn(
        "opened_before_text", _SOME.format("text_typed"), "bool", "Whether any was opened before text had been written."
    ),
    RowColumn(
        "view",
        "(a.trace -> 'view')::text",
        "json",
        "How the sheet was first seen, as the browser says: device (phone, tablet, computer), width and height of the"
        " window in pixels, and of each question the levels in view and all of them. Null: it could not be noted.",
    ),
    RowColumn("answers", "a.answers::text", "json", "The answers as they are stored."),
    RowColumn(
        "codes",
        "coalesce((SELECT json_object_agg(f.field, f.code ORDER BY f.field) FROM annotation_rating f"
        " WHERE f.annotation_id = a.id), '{}')::text",
        "json",
        "Question to code: what every measure compares.",
    ),
    STAGE,
    RowColumn("_model", MODEL, "text", ""),
    RowColumn("_sheet", "a.sheet_version_id", "int8", ""),
)
WITHDRAWN_AT = RowColumn(
    "consent_withdrawn_at",
    _CONSENT.format("g.withdrawn_at"),
    "time",
    "When that consent was withdrawn (UTC), where the rater agreed again and let earlier answers count.",
)
LEFT_OUT = left_out_sql("a", "r.user_id", "h.team_id")
_FROM = """
  FROM annotation_annotation a
  JOIN annotation_assignment s ON s.id = a.assignment_id
  JOIN annotation_unit u ON u.id = s.unit_id
  JOIN benchmarks_item i ON i.id = u.item_id
  JOIN annotation_campaign m ON m.id = s.campaign_id
  JOIN benchmarks_stage t ON t.id = m.stage_id
  JOIN benchmarks_benchmark h ON h.id = t.benchmark_id
  JOIN people_rater r ON r.id = a.rater_id
  JOIN annotation_sheetversion v ON v.id = a.sheet_version_id
  LEFT JOIN people_cohort c ON c.id = a.cohort_id
  LEFT JOIN LATERAL (
    SELECT l.run_id, l.how, l.notes - 'before' AS notes,
      CASE WHEN NOT EXISTS (SELECT 1 FROM predictions_attempt t WHERE t.call_id = l.id AND t.cost IS NULL)
        AND n.endpoint_id IS NOT NULL THEN l.cost END AS cost, coalesce(e.name, '') AS endpoint,
      trim(n.model || ' ' || n.revision) AS model,
      n.prompt || CASE WHEN n.prompt = '' THEN '' ELSE '/' || n.prompt_version END AS prompt,
      CASE WHEN n.endpoint_id IS NOT NULL
        THEN (n.decoding || jsonb_build_object('shuffled_by', n.seed))::text END AS decoding
    FROM predictions_call l
    JOIN predictions_run n ON n.id = l.run_id
    LEFT JOIN predictions_endpoint e ON e.id = n.endpoint_id
    WHERE r.kind = 'model' AND l.unit_id = s.unit_id AND l.annotation_id = a.id AND n.campaign_id = s.campaign_id
    ORDER BY l.id DESC LIMIT 1
  ) k ON true
  LEFT JOIN annotation_instructionversion n ON n.id = a.instruction_version_id
  WHERE s.campaign_id = ANY(%s) AND NOT {left_out}
""".replace("{left_out}", LEFT_OUT)

FILTERS: Mapping[str, RowFilter] = {
    "stage": RowFilter("t.key = ANY(%s)", "text", "Key of the stage."),
    "campaign": RowFilter("s.campaign_id = ANY(%s)", "id", "Number of the campaign."),
    "cohort": RowFilter("ARRAY[c.id::text, c.label::text] && %s", "text", "Number or label of the cohort."),
    "item": RowFilter("i.id = ANY(%s)", "id", "Number of the item."),
    "key": RowFilter("i.key = ANY(%s)", "text", "Key of the item."),
    "target": RowFilter("u.target = ANY(%s)", "text", "Culture or label asked about."),
    "origin": RowFilter("i.origin = ANY(%s)", "text", "Culture the item was made for."),
    "condition": RowFilter("i.condition = ANY(%s)", "text", "Condition of the item."),
    "concept": RowFilter("i.concept = ANY(%s)", "text", "Concept of the item."),
    "rater": RowFilter("a.rater_id = ANY(%s)", "person", "Pseudonym of a person, or name of a model."),
    "rater_kind": RowFilter("r.kind = ANY(%s)", "text", "person or model."),
    "setting": RowFilter("r.setting = ANY(%s)", "text", "How a model was asked."),
    "run": RowFilter("k.run_id = ANY(%s)", "id", "Number of the run."),
    "state": RowFilter(f"{DECIDED} = ANY(%s)", "text", "State of the assignment."),
    "language": RowFilter("a.language = ANY(%s)", "text", "Language of the interface."),
    "counted": RowFilter("a.counted = %s", "bool", "Counted answers: true (default), false or all.", "true"),
    "live": RowFilter(
        "a.live = %s", "bool", "true (default), false or all: whether it is the current version.", "true"
    ),
    "since": RowFilter("a.submitted_at >= %s", "since", "First day (UTC) or time of submission."),
    "until": RowFilter("a.submitted_at < %s", "until", "Last day (UTC) of submission, or the time before which."),
}


def _params(scope: RowScope) -> list[Any]:
    return [list(scope.campaigns)]


def _finish(scope: RowScope) -> Finish:
    named = cached_pseudonyms(scope.benchmark)
    consents, sheets = consents_of(scope), sheets_of(scope)

    def finish(row: Row) -> Row:
        if row["consent"] == "":
            row["consent"] = consents.get(row["rater"], "")
        row["rater"] = row.pop("_model") or named(row["rater"])
        row["resolved_by"] = row["resolved_by"] and named(row["resolved_by"])
        row["cells"] = sheets[row.pop("_sheet")].cells(row["answers"])
        return row

    return finish


ANNOTATIONS = RowKind(
    key="annotations",
    meaning="One row per live annotation: the latest version of each answer, counted or not. Answers of people who"
    " withdrew their consent are left out; see left_out.",
    columns=COLUMNS,
    source=_FROM,
    order=("a.id",),
    params=_params,
    finish=_finish,
    filters={**FILTERS,
        "field": RowFilter(
            "EXISTS (SELECT FROM annotation_rating f WHERE f.annotation_id = a.id AND f.field = ANY(%s))", "text",
            "Key of a question that has a code.",
        ),
    },
    state="CASE WHEN a.counted THEN 'counted' ELSE a.uncounted_because END",
    item="i.id",
)  # fmt: skip
VERSIONS = replace(
    ANNOTATIONS,
    key="versions",
    meaning="One row per annotation that is not live: replaced by a later version, undone or withdrawn. None is"
    " counted.",
    columns=(*COLUMNS, WITHDRAWN_AT),
)
LIVE = {"live": ["true"], "counted": ["all"]}  # what a file of answers has
NOT_LIVE = {"live": ["false"], "counted": ["all"]}


def current_answers(benchmark: Benchmark, campaigns: Iterable[int]) -> Iterator[Row]:
    """The rows of a file of answers: the latest version of each, counted or not."""
    return ANNOTATIONS.rows(RowScope(benchmark, tuple(campaigns)), conditions_of(ANNOTATIONS.filters, LIVE))


def sheets_of(scope: RowScope) -> dict[int, Sheet]:
    """All versions of the campaigns' stages: an answer may be older than its campaign's present sheet."""
    versions = SheetVersion.objects.filter(stage__campaigns__in=scope.campaigns).distinct()
    return {version.pk: Sheet.from_json(version.definition, stored=True) for version in versions}


def consents_of(scope: RowScope) -> dict[int, str]:
    """The state of consent of everybody who was given work in these campaigns, by the rater's id."""
    people = Rater.objects.filter(participations__cohort__campaign__in=scope.campaigns, user__isnull=False)
    users = dict(people.values_list("pk", "user_id").distinct())
    states = consent_states(scope.benchmark.team, users.values())
    return {rater: states[user].key for rater, user in users.items()}


def raters_of(scope: RowScope) -> dict[str, list[int]]:
    """The ids of those who answered in these campaigns, by pseudonym or, of a model, by name."""
    raters = Rater.objects.filter(annotations__assignment__campaign__in=scope.campaigns).distinct()
    ids: dict[str, list[int]] = {}
    for pk, kind, name in raters.values_list("pk", "kind", "name"):
        called = name if kind == Rater.Kind.MODEL and name else scope.benchmark.pseudonym(pk)
        ids.setdefault(called, []).append(pk)
    return ids
