"""Site rows of models: collections, runs with their calls, rankings and entity links."""

from predictions.models import (
    Attempt,
    Call,
    Collection,
    Embedding,
    Endpoint,
    EntityLink,
    Entry,
    KnowledgeBase,
    KnowledgeIndex,
    Query,
    Ranking,
    Run,
)
from releases.rows.items import WITH_CONSENT
from releases.rows.site.kinds import RATERS, SiteKind
from releases.rows.site.structure import ACCOUNT, MADE_ANEW
from releases.rows.site.withheld import NOTHING_WITHHELD, is_open

VECTORS = "vectors"
_OF_TEAM = "How the team reaches its models."
# A collection of a stage is made of accepted answers, whose items it does not name.
COLLECTIONS = (
    "{x}.benchmark_id = {benchmark}"
    f" AND ({{x}}.stage_id IS NULL OR {{x}}.stage_id = ANY({{stages}}) AND {NOTHING_WITHHELD})"
)
# A collection stays as it was made. Where an item was made of the answer of somebody who withdrew their consent, its
# entry has the key, which rankings name, and what numbers are cut by and nobody wrote.
_ASKED_BY = "c.params ->> 'asked_by'"
_GONE = f"""EXISTS (SELECT FROM predictions_collection c JOIN benchmarks_stage g ON g.benchmark_id = c.benchmark_id
    JOIN benchmarks_item i ON i.stage_id = g.id
  WHERE c.id = {{x}}.collection_id AND {{of_stage}} AND i.key IN ({{x}}.key, {{x}}.about ->> 'item')
    AND NOT {WITH_CONSENT.replace("{item}", "i")})"""
_ASKED = "{x}.query_set IN ('images', 'sentences')"
ENTRY_GONE = _GONE.replace("{of_stage}", "g.id = c.stage_id")
QUERY_GONE = _GONE.replace("{of_stage}", f"CASE WHEN {_ASKED} THEN g.key = {_ASKED_BY} ELSE g.id = c.stage_id END")
_ABOUT = """(SELECT coalesce(jsonb_object_agg(m.key, m.value), jsonb_build_object()) FROM jsonb_each(x.about) m
  WHERE m.key IN ('item', 'country', 'condition'))"""

BEFORE_ANSWERS: tuple[SiteKind, ...] = (
    SiteKind(
        "endpoints",
        Endpoint,
        "Names of the places where models were asked. After an import they are retired.",
        where="""(EXISTS (SELECT FROM predictions_run r
          WHERE r.endpoint_id = {x}.id AND r.benchmark_id = {benchmark}){also})""",
        identity=("name",),
        filled={"team": "team", "retired_at": "now"},
        left_out={
            **dict.fromkeys(("base_url", "secret", "secret_set_at", "offers", "most_in_flight"), _OF_TEAM),
            **dict.fromkeys(("per_minute", "timeout_seconds"), _OF_TEAM),
            "created_by": ACCOUNT,
            "created_at": MADE_ANEW,
        },
        shared=True,
    ),
    SiteKind(
        "knowledge_bases",
        KnowledgeBase,
        "Names of knowledge bases that images were linked to. Their entries are not in a release.",
        where="EXISTS (SELECT FROM predictions_knowledgeindex k JOIN predictions_run r ON r.knowledge_index_id = k.id"
        " WHERE k.base_id = {x}.id AND r.benchmark_id = {benchmark})",
        identity=("key", "version"),
        filled={"team": "team"},
        left_out={"created_by": ACCOUNT, "created_at": MADE_ANEW},
        shared=True,
    ),
    SiteKind(
        "knowledge_indexes",
        KnowledgeIndex,
        "By what encoder, over what of it.",
        where="EXISTS (SELECT FROM predictions_run r WHERE r.knowledge_index_id = {x}.id"
        " AND r.benchmark_id = {benchmark})",
        identity=("base", "model", "over"),
        references={"base": "knowledge_bases"},
        left_out={
            "endpoint": _OF_TEAM,
            "built_at": "The index is built from vectors, which are not in a release.",
            "created_at": MADE_ANEW,
        },
        shared=True,
    ),
    SiteKind(
        "collections",
        Collection,
        "What models search.",
        where=COLLECTIONS,
        identity=("key", "version"),
        references={"stage": "stages"},
        filled={"benchmark": "benchmark"},
    ),
    SiteKind(
        "entries",
        Entry,
        "Entries of the collections.",
        identity=("collection", "key"),
        references={"collection": "collections", "image": "images"},
        select={
            "text": f"CASE WHEN {ENTRY_GONE} THEN '' ELSE x.text END",
            "about": f"CASE WHEN {ENTRY_GONE} THEN {_ABOUT} ELSE x.about END",
        },
    ),
    SiteKind(
        "queries",
        Query,
        "Queries of the collections.",
        identity=("collection", "query_set", "key"),
        references={"collection": "collections", "image": "images"},
        select={
            "text": f"CASE WHEN {_ASKED} AND {QUERY_GONE} THEN '' ELSE x.text END",
            "about": f"CASE WHEN {QUERY_GONE} THEN {_ABOUT} ELSE x.about END",
        },
    ),
    SiteKind(
        "runs",
        Run,
        "Runs of models. One that is under way is paused after an import.",
        where="{x}.benchmark_id = {benchmark} AND ({x}.campaign_id IS NULL OR {x}.campaign_id = ANY({campaigns}))"
        " AND ({x}.collection_id IS NULL OR EXISTS (SELECT FROM predictions_collection c"
        f" WHERE c.id = {{x}}.collection_id AND {COLLECTIONS.replace('{x}', 'c')}))",
        references={
            "rater": RATERS,
            "collection": "collections",
            "campaign": "campaigns",
            "knowledge_index": "knowledge_indexes",
            "endpoint": "endpoints",
        },
        implied=("rater",),
        filled={"benchmark": "benchmark"},
        left_out={
            "job": "Of the site.",
            "plan_set": "Budgets of a team.",
            "budget": "Of a team.",
            "unaccounted": "Of a team's account.",
            "committed": "Of a team's account.",
            "created_by": ACCOUNT,
            "digest": "Of the file that it came in.",
        },
        select={
            "options": "(x.options - ARRAY['job', 'vectors', 'address', 'told', 'file'])",
            "state": "CASE WHEN x.state IN ('running', 'draft') THEN 'paused' ELSE x.state END",
        },
        gone="withdrawn",
    ),
)
AFTER_ANSWERS: tuple[SiteKind, ...] = (
    SiteKind(
        "calls",
        Call,
        "Calls that ended, with their state, and how the answer was obtained.",
        where="{x}.state NOT IN ('pending', 'running') AND " + is_open("{x}.item_id"),
        references={"run": "runs", "item": "items", "unit": "units", "annotation": "annotations"},
        left_out={
            "replies": "Texts of replies are not in a release.",
            "holder": "Of the site.",
            "lease_until": "Of the site.",
            "asked_at": "Of the site.",
            "not_before": "Of the site.",
        },
    ),
    SiteKind(
        "attempts",
        Attempt,
        "Requests that were sent for a call, with tokens and cost.",
        identity=("call", "number"),
        references={"call": "calls"},
        needs=("call",),
        left_out={
            "scope": "Only those of calls.",
            "prices": "A team's price list; the cost is there.",
            "provider_id": "Of a team's account.",
            "error": "What a server wrote.",
            "reply": "Texts of replies are not in a release.",
        },
    ),
    SiteKind(
        "rankings",
        Ranking,
        "What a run found for a query.",
        references={"run": "runs", "query": "queries"},
        identity=("run", "query"),
    ),
    SiteKind(
        "links",
        EntityLink,
        "What a linking run found for an item.",
        where=is_open("{x}.item_id"),
        references={"run": "runs", "item": "items"},
        identity=("run", "item"),
    ),
    SiteKind(
        VECTORS,
        Embedding,
        "Vectors of entries, if they were chosen: little-endian 32-bit floats as base64.",
        identity=("run", "entry"),
        references={"run": "runs", "entry": "entries"},
    ),
)
