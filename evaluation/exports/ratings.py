"""The annotations of some campaigns, one at a time, out of one query. Memory does not grow with their number."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from django.db import connection

from annotation.queries.consent_withdrawal import left_out_sql
from annotation.sheets.sheet import Sheet

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
    " WHERE w.unit_id = u.id AND w.live), '{{{{}}}}')::text"
)
Column = tuple[str, str, str, str]  # name, SQL, PostgreSQL type, meaning; a name with _ before it is not written
LABEL_SET: Column = (
    "label_set",
    "coalesce((SELECT b.key || '@' || b.version FROM benchmarks_labelset b WHERE b.id = u.label_set_id), '')",
    "text",
    "Label set and version that the target is a label of; empty where it is a cohort's own label.",
)
COLUMNS: tuple[Column, ...] = (
    ("annotation", "a.id", "int8", "Number of the annotation."),
    ("campaign", "s.campaign_id", "int8", "Number of the campaign; see campaigns."),
    ("item", "i.key", "text", "Key of the item in its stage."),
    ("concept", "i.concept", "text", "Concept of the item."),
    ("origin", "i.origin", "text", "The culture the item was made or found for."),
    ("condition", "i.condition", "text", "Condition of the item."),
    ("withdrawn", "i.withdrawn_at IS NOT NULL", "bool", "Whether the item has been withdrawn since."),
    ("target", "u.target", "text", "The culture asked about; empty where the stage has no target."),
    LABEL_SET,
    ("cohort", "c.label", "text", "Cohort the rater answered for; see cohorts."),
    ("rater", "a.rater_id", "int8", "Who answered: a person's pseudonym, the same throughout this benchmark and in no"
     " other; a model's name."),
    ("rater_kind", "r.kind", "text", "person or model."),
    ("setting", "r.setting", "text", "How a model was asked; empty of a person."),
    ("model_info", f"CASE WHEN {BY_MODEL} THEN r.about::text END", "text", "What is known of a model, such as family,"
     " open, released, parameters; null of a person."),
    ("state", DECIDED, "text", "State of the assignment; of a version that is not live, what a reviewer decided on"
     " it, else submitted. See states, and uncounted_because."),
    ("counted", "a.counted", "bool", "Whether the answer enters the numbers; one to a"
     " withdrawn item does not, see withdrawn."),
    ("uncounted_because", "a.uncounted_because", "text", "Why it does not; see uncounted."),
    ("consent", f"CASE WHEN {BY_MODEL} THEN NULL WHEN s.participation_id IS NULL THEN 'in_file' ELSE '' END", "text",
     "What the rater has agreed to by now: agreed, agreed_earlier (to an older text), never_asked, withdrawn,"
     " not_needed (the team has no text); in_file where the answer came in a file, null of a model."),
    ("consent_version", _CONSENT.format("q.number"), "int4", "Number of the consent text that the rater had agreed to"
     " last when the answer was sent; null where there was none."),
    ("version", "a.version", "int4", "1 for a first answer, more for a changed one."),
    ("sheet_version", "v.major || '.' || v.minor", "text", "Sheet that was shown; see sheets."),
    ("instruction_version", "n.number", "int4", "Instructions that were in force; see instructions."),
    ("rule_version", "a.rule_version", "text", "Acceptance rule that was in force."),
    ("language", "a.language", "text", "Language of the interface."),
    ("shown_at", "{utc}(a.shown_at)", "text", "When the sheet was shown (UTC)."),
    ("submitted_at", "{utc}(a.submitted_at)", "text", "When it was submitted (UTC)."),
    ("active_seconds", "a.active_seconds", "float8", "Seconds on the sheet without idle time, as the browser saw."),
    ("run", "k.run_id", "int8", "Number of the run in which a model was asked, or in whose file its answer came; null"
     " of a person, and of a model whose answers were imported at the campaign."),
    ("repeat", "s.repeat", "int4", "Which time it was asked: 0 the first, which alone counts."),
    ("endpoint", "k.endpoint", "text", "Server or library that a model was asked at; empty of a file."),
    ("model", "k.model", "text", "The model as the endpoint calls it, and its revision."),
    ("prompt", "k.prompt", "text", "Prompt and its version, such as caire/1; empty of a file."),
    ("answer_method", "k.how", "text", "How the answer was obtained: logprobs, guided, schema, text, likelihood (of a"
     " given text), similarity or boxes. They are different measurements. Empty where a file does not say."),
    ("incomplete", f"CASE WHEN {BY_MODEL} THEN coalesce((k.notes -> 'incomplete')::text, '{{{{}}}}') END", "text",
     "Questions without a readable answer in a model's reply, and why, as JSON; the others count. Null of a person."),
    ("reply_notes", "k.notes::text", "text", "What was noted when the reply was read, as JSON: how likely each code was"
     " (distribution) and all of them together (covered), losses, cosines, the box's rule, reasons, and the version of"
     " the rules of reading (reading); null of a person."),
    ("cost", "k.cost::float8", "float8", "US dollars for all requests about it, as they were counted; null where"
     " nobody knows what one of them cost."),
    ("decoding", "k.decoding", "text", "Temperature and the like, as JSON, with the seed of what was shuffled;"
     " null of a file."),
    ("resolved", _RESOLVED.format("w.answer"), "text", "Question to the answer that settled what people disagreed on,"
     " as JSON; its answer is null where it cannot be decided. The ratings stay as people gave them."),
    ("resolved_by", "(SELECT w.by_id FROM annotation_resolution w WHERE w.unit_id = u.id AND w.live"
     " ORDER BY w.id DESC LIMIT 1)", "int8", "Who settled it last; null where nothing was settled."),
    ("resolved_reason", _RESOLVED.format("w.reason"), "text", "Question to the reason, as JSON."),
    ("confirmed", "a.confirmed::text", "text", "Warnings the rater confirmed."),
    ("opened", "(a.trace -> 'opened')::text", "text", "What was opened by hand before answering, as a list of part, at,"
     " seconds since the sheet was shown, gate_answered, text_typed. Null: it could not be noted."),
    ("opened_before_gate", _SOME.format("gate_answered"), "bool", "Whether any was opened before the question ahead of"
     " it had an answer."),
    ("opened_before_text", _SOME.format("text_typed"), "bool", "Whether any was opened before text had been written."),
    ("answers", "a.answers::text", "text", "The answers as they are stored."),
    ("codes", "coalesce((SELECT json_object_agg(f.field, f.code ORDER BY f.field) FROM annotation_rating f"
     " WHERE f.annotation_id = a.id), '{{}}')::text", "text", "Question to code: what every measure compares."),
    ("_model", MODEL, "text", ""),
    ("_sheet", "a.sheet_version_id", "int8", ""),
)  # fmt: skip
# Numbers in the database, names in a file; of people like R-0123456789ab.
RATERS = ("rater", "author", "reviewer", "resolved_by")
WITHDRAWN_AT: Column = (
    "consent_withdrawn_at", "{utc}" + _CONSENT.format("g.withdrawn_at"), "text", "When that consent was withdrawn"
    " (UTC), where the rater agreed again and let earlier answers count.",
)  # fmt: skip
NO_STATES: Mapping[int, str] = MappingProxyType({})
_JSON = (
    "model_info", "incomplete", "reply_notes", "decoding", "resolved", "resolved_reason", "confirmed", "opened",
    "answers", "codes",
)  # fmt: skip
_UTC = "to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"

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
  LEFT JOIN (
    SELECT DISTINCT ON (l.annotation_id) l.annotation_id, l.run_id, l.how, l.notes - 'before' AS notes,
      CASE WHEN NOT EXISTS (SELECT 1 FROM predictions_attempt t WHERE t.call_id = l.id AND t.cost IS NULL)
        AND n.endpoint_id IS NOT NULL THEN l.cost END AS cost, coalesce(e.name, '') AS endpoint,
      trim(n.model || ' ' || n.revision) AS model,
      n.prompt || CASE WHEN n.prompt = '' THEN '' ELSE '/' || n.prompt_version END AS prompt,
      CASE WHEN n.endpoint_id IS NOT NULL
        THEN (n.decoding || jsonb_build_object('shuffled_by', n.seed))::text END AS decoding
    FROM predictions_call l
    JOIN predictions_run n ON n.id = l.run_id
    LEFT JOIN predictions_endpoint e ON e.id = n.endpoint_id
    WHERE n.campaign_id = ANY(%s) AND l.annotation_id IS NOT NULL
    ORDER BY l.annotation_id, l.id DESC
  ) k ON k.annotation_id = a.id
  LEFT JOIN annotation_instructionversion n ON n.id = a.instruction_version_id
  WHERE s.campaign_id = ANY(%s) AND a.live = %s AND NOT {left_out}
  ORDER BY a.id
""".replace("{left_out}", left_out_sql("a", "r.user_id", "h.team_id"))

Row = dict[str, Any]
Named = Callable[[int], str]


def rows(
    campaigns: Sequence[int],
    pseudonym: Named,
    sheets: Mapping[int, Sheet],
    consents: Mapping[int, str] = NO_STATES,
    *,
    live: bool = True,
) -> Iterator[Row]:
    """Rows as plain values; `columns` of the sheet stand under "cells". Not `live`: superseded or taken back. Answers
    of people who withdrew are in neither. `consents`: the state of consent by the rater's id."""
    named = cached_pseudonyms(pseudonym)
    columns = COLUMNS if live else (*COLUMNS, WITHDRAWN_AT)
    for row in stream_query(columns, _FROM, [list(campaigns), list(campaigns), live], _JSON):
        if row["consent"] == "":
            row["consent"] = consents.get(row["rater"], "")
        row["rater"] = row.pop("_model") or named(row["rater"])
        row["resolved_by"] = row["resolved_by"] and named(row["resolved_by"])
        row["cells"] = sheets[row.pop("_sheet")].cells(row["answers"])
        yield row


def stream_query(
    columns: Sequence[Column], source: str, params: Sequence[Any], as_json: Sequence[str]
) -> Iterator[Row]:
    """What a query finds, streamed. `source`: it from FROM on. `as_json`: columns of text that are read as JSON."""
    names = [name for name, *_ in columns]
    select = ", ".join(_utc(sql) for _name, sql, _kind, _meaning in columns)
    with connection.cursor() as cursor:
        statement = cursor.mogrify(f"COPY (SELECT {select} {source}) TO STDOUT", params)
        with cursor.copy(statement) as copy:
            copy.set_types([kind for _name, _sql, kind, _meaning in columns])
            for values in copy.rows():
                row = dict(zip(names, values, strict=True))
                for name in as_json:
                    row[name] = json.loads(row[name]) if row[name] is not None else None
                yield row


def cached_pseudonyms(pseudonym: Named) -> Named:
    """A pseudonym is made once for each rater."""
    names: dict[int, str] = {}

    def named(rater: int) -> str:
        if rater not in names:
            names[rater] = pseudonym(rater)
        return names[rater]

    return named


def _utc(sql: str) -> str:
    if sql.startswith("{utc}"):
        return _UTC.format(sql.removeprefix("{utc}"))
    return sql.replace("{{}}", "{}")
