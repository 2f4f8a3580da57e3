"""Site rows of items and of what people and models answered about them."""

# ruff: noqa: S608  (only constants are put into the statements)

from typing import Any

from annotation.models import (
    Annotation,
    Assignment,
    Exclusion,
    ItemAcceptance,
    ItemContributor,
    ItemSource,
    Outcome,
    Participation,
    Resolution,
    Review,
    SecondReview,
    Slot,
    StageInput,
    Unit,
    Upload,
)
from annotation.queries.consent_withdrawal import left_out_sql
from annotation.services.answers.model_answers import OF_RUNS
from annotation.services.answers.submit import OF_FILES
from benchmarks.models import FilterResult, Image, Item, ItemFact, ItemImage
from people.models import ModelDetails, Rater
from releases.rows.decisions import REVIEWER_PLACES
from releases.rows.items import WITH_CONSENT
from releases.rows.site.kinds import RATERS, SiteKind
from releases.rows.site.predictions import COLLECTIONS, ENTRY_GONE, QUERY_GONE
from releases.rows.site.structure import ACCOUNT, MADE_ANEW
from releases.rows.site.withheld import (
    COPIED,
    has_open_text,
    is_open,
    open_picture,
    open_unit,
    open_value,
    without_hidden,
)

_AUTHOR = "(SELECT user_id FROM people_rater WHERE id = {0}.rater_id)"
_LEFT_OUT = left_out_sql("{x}", _AUTHOR.format("{x}"), "{team}")
_LIVE_LEFT_OUT = left_out_sql("a", _AUTHOR.format("a"), "{team}")
# Reservations are nobody's answer. A skip of somebody who withdrew their consent is left out as their answers are.
ASSIGNMENTS = f"""{{x}}.campaign_id = ANY({{campaigns}}) AND {open_unit("{x}.unit_id")}
  AND {{x}}.state IN ('submitted', 'returned', 'accepted', 'rejected', 'skipped')
  AND NOT EXISTS (SELECT FROM annotation_annotation a
    WHERE a.assignment_id = {{x}}.id AND a.live AND {_LIVE_LEFT_OUT})
  AND NOT ({{x}}.state = 'skipped' AND EXISTS (SELECT FROM people_rater p JOIN people_consent g ON g.user_id = p.user_id
      JOIN people_consentversion q ON q.id = g.version_id
    WHERE p.id = {{x}}.rater_id AND q.team_id = {{team}} AND g.withdrawn_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM people_consent l JOIN people_consentversion m ON m.id = l.version_id
        WHERE l.user_id = g.user_id AND m.team_id = {{team}} AND l.withdrawn_at IS NULL)))"""
_GIVEN = ASSIGNMENTS.replace("{x}", "s")
_COLLECTION = COLLECTIONS.replace("{x}", "c")
_KEY_PREFIX = f"""CASE WHEN starts_with(x.client_key, '{OF_RUNS}') THEN '{OF_RUNS}'
  WHEN starts_with(x.client_key, '{OF_FILES}') THEN '{OF_FILES}' ELSE '' END"""
_REVIEWER = """CASE WHEN x.reviewer_name <> '' THEN x.reviewer_name WHEN x.reviewer_id IS NULL THEN ''
  ELSE 'reviewer-' || places.place END"""
_NAMED_REVIEWER: dict[str, Any] = {
    "select": {"reviewer_name": _REVIEWER},
    "names": {"reviewer_name": "w.id"},
    "join": f"LEFT JOIN people_rater w ON w.user_id = x.reviewer_id LEFT JOIN ({REVIEWER_PLACES}) places"
    " ON places.reviewer_id = x.reviewer_id",
}

KINDS: tuple[SiteKind, ...] = (
    SiteKind(
        "images",
        Image,
        "Pictures of items, collections and answers. Their files are in images.zip, if they were chosen.",
        where="""(EXISTS (SELECT FROM benchmarks_itemimage u JOIN benchmarks_item i ON i.id = u.item_id
          WHERE u.image_id = {x}.id AND i.stage_id = ANY({stages}) AND """
        + WITH_CONSENT.replace("{item}", "i")
        + " AND "
        + open_picture("u.item_id", "{x}.id")
        + """)
        OR EXISTS (SELECT FROM annotation_upload u JOIN annotation_assignment s ON s.id = u.assignment_id
          WHERE u.image_id = {x}.id AND """
        + _GIVEN
        + """)
        OR EXISTS (SELECT FROM predictions_entry e JOIN predictions_collection c ON c.id = e.collection_id
          WHERE e.image_id = {x}.id AND """
        + _COLLECTION
        + " AND NOT "
        + ENTRY_GONE.replace("{x}", "e")
        + """)
        OR EXISTS (SELECT FROM predictions_query e JOIN predictions_collection c ON c.id = e.collection_id
          WHERE e.image_id = {x}.id AND """
        + _COLLECTION
        + " AND NOT "
        + QUERY_GONE.replace("{x}", "e")
        + """){also})""",
        identity=("sha256",),
        filled={"team": "team"},
        left_out={"created_at": MADE_ANEW, "perceptual_hash": "Computed from the file when a filter needs it."},
        shared=True,
    ),
    SiteKind(
        "items",
        Item,
        "Items of all stages, also withdrawn ones.",
        where="{x}.stage_id = ANY({stages}) AND " + WITH_CONSENT.replace("{item}", "{x}"),
        identity=("stage", "key"),
        references={"stage": "stages", "replaces": "items"},
        select={
            **{name: open_value("x", name) for name in COPIED},
            "text": without_hidden("x.id", "x.text", "''"),
            "context": without_hidden("x.id", "x.context", "'{}'::jsonb"),
            "answers_withheld": f"(x.answers_withheld OR NOT {is_open('x.id')})",
        },
        gone="withdrawn",
    ),
    SiteKind(
        "item_images",
        ItemImage,
        "Which picture an item has in which role.",
        where=open_picture("{x}.item_id", "{x}.image_id"),
        identity=("item", "role"),
        references={"item": "items", "image": "images"},
        implied=("image",),
        select={name: without_hidden("x.item_id", f"x.{name}", "''") for name in ("alt", "source")},
        gone="deleted",
    ),
    SiteKind(
        "facts",
        ItemFact,
        "Labels and scores of items from models, filters or imports.",
        where=has_open_text("{x}.item_id"),
        identity=("item", "key", "source", "version"),
        references={"item": "items"},
        gone="deleted",
    ),
    SiteKind(
        "filter_results",
        FilterResult,
        "What each filter says of an item, and what a person decided.",
        where=has_open_text("{x}.item_id"),
        identity=("item", "version", "key"),
        references={"item": "items", "version": "filter_versions"},
        left_out={"decided_by": ACCOUNT},
        gone="deleted",
    ),
    SiteKind(
        RATERS,
        Rater,
        "Who answered: people by their pseudonyms, models by name and setting.",
        where="(EXISTS (SELECT FROM annotation_assignment s WHERE s.rater_id = {x}.id AND "
        + _GIVEN
        + """)
        OR {x}.kind = 'model' AND EXISTS (SELECT FROM predictions_run r
          WHERE r.rater_id = {x}.id AND r.benchmark_id = {benchmark}))""",
        left_out={
            "user": ACCOUNT,
            "team": "The importing team's.",
            "name": "In the key of a model; a person has a pseudonym.",
            "setting": "In the key of a model.",
        },
        shared=True,
    ),
    SiteKind(
        "model_details",
        ModelDetails,
        "What the team says of these models.",
        where="""{x}.team_id = {team} AND EXISTS (SELECT FROM people_rater r JOIN predictions_run n ON n.rater_id = r.id
          WHERE r.name = {x}.name AND n.benchmark_id = {benchmark}
          UNION ALL SELECT FROM people_rater r JOIN annotation_assignment s ON s.rater_id = r.id
          WHERE r.kind = 'model' AND r.name = {x}.name AND s.campaign_id = ANY({campaigns}))""",
        identity=("name",),
        filled={"team": "team"},
        left_out={"updated_by": ACCOUNT},
        shared=True,
    ),
    SiteKind(
        "units",
        Unit,
        "Items with the culture or label that was asked about.",
        identity=("item", "target", "label_set"),
        references={"item": "items", "label_set": "label_sets"},
    ),
    SiteKind(
        "slots",
        Slot,
        "Units that a cohort of a campaign was asked about.",
        identity=("cohort", "unit"),
        references={"cohort": "campaign_cohorts", "unit": "units"},
        filled={"wanted": "=0", "position": "place"},
        left_out={
            "urgent": "Of the queue.",
            "cell_full": "Of the queue.",
            "reserved": "Reservations are in no release.",
            "submitted": "Counted anew.",
        },
    ),
    SiteKind(
        "participations",
        Participation,
        "People in a cohort of a campaign.",
        where="EXISTS (SELECT FROM annotation_assignment s WHERE s.participation_id = {x}.id AND " + _GIVEN + ")",
        references={"cohort": "campaign_cohorts", "rater": RATERS},
        filled={"last_seen_at": "now"},
        left_out={"cursor": "Of the queue.", "urgent_cursor": "Of the queue."},
    ),
    SiteKind(
        "assignments",
        Assignment,
        "Units that a rater answered or skipped.",
        where=ASSIGNMENTS,
        references={
            "campaign": "campaigns",
            "participation": "participations",
            "slot": "slots",
            "unit": "units",
            "rater": RATERS,
        },
        implied=("participation", "rater"),
        filled={"in_hand": "=false"},
        left_out={
            "lease_until": "Of the queue.",
            "packed": "Of the queue.",
            "skip_note": "What a person wrote to the team.",
        },
        gone="kept",
    ),
    SiteKind(
        "annotations",
        Annotation,
        "Answers. Earlier versions are there where the release has them.",
        where="({x}.live OR {versions}) AND NOT " + _LEFT_OUT,
        references={
            "assignment": "assignments",
            "rater": RATERS,
            "sheet_version": "sheet_versions",
            "instruction_version": "instruction_versions",
            "cohort": "cohorts",
            "run": "runs",
        },
        implied=("rater",),
        select={"client_key": _KEY_PREFIX},
        gone="uncounted",
    ),
    SiteKind(
        "uploads",
        Upload,
        "Pictures that came with an answer.",
        identity=("assignment", "image"),
        references={"assignment": "assignments", "image": "images"},
        implied=("image",),
        left_out={"fetched_from": "An address that a person gave."},
    ),
    SiteKind(
        "item_sources",
        ItemSource,
        "What a derived item is made of.",
        where=has_open_text("{x}.item_id")
        + " AND ({x}.annotation_id IS NULL OR EXISTS (SELECT FROM annotation_annotation a"
        " WHERE a.id = {x}.annotation_id AND (a.live OR {versions})))",
        identity=("item", "source", "annotation"),
        references={"item": "items", "source": "items", "annotation": "annotations"},
        gone="deleted",
    ),
    SiteKind(
        "contributors",
        ItemContributor,
        "Raters who had a part in an item or in its sources.",
        where=is_open("{x}.item_id") + " AND " + has_open_text("{x}.item_id"),
        identity=("item", "rater"),
        references={"item": "items", "rater": RATERS},
    ),
    SiteKind(
        "stage_inputs",
        StageInput,
        "Runs whose answers become items of a stage, or do not.",
        identity=("stage", "rater", "run"),
        references={"stage": "stages", "rater": RATERS, "run": "runs"},
        filled={"by": "actor"},
    ),
    SiteKind(
        "reviews",
        Review,
        "Decisions of reviewers.",
        references={"annotation": "annotations"},
        left_out={"reviewer": ACCOUNT, "seen_at": "Of the author's pages.", "batch": "Samples are in no release."},
        **_NAMED_REVIEWER,
    ),
    SiteKind(
        "second_reviews",
        SecondReview,
        "Second decisions, made without seeing the first, and the third where the two differ. Decisions that wait for"
        " a second one are not in it.",
        where="{x}.decision <> ''",
        identity=("first",),
        references={"first": "reviews", "final": "reviews"},
        left_out={"reviewer": ACCOUNT},
        **_NAMED_REVIEWER,
        gone="deleted",
    ),
    SiteKind(
        "outcomes",
        Outcome,
        "What a rule says of a unit.",
        where=open_unit("{x}.unit_id"),
        identity=("campaign", "unit"),
        references={"campaign": "campaigns", "unit": "units", "rule_version": "rule_versions"},
        gone="deleted",
    ),
    SiteKind(
        "acceptances",
        ItemAcceptance,
        "Items that a person accepted as they are.",
        where=is_open("{x}.item_id"),
        references={"item": "items"},
        filled={"by": "actor"},
        left_out={"undone_by": ACCOUNT},
        gone="deleted",
    ),
    SiteKind(
        "resolutions",
        Resolution,
        "Answers that hold where people disagreed.",
        where=open_unit("{x}.unit_id"),
        identity=("unit", "field", "version"),
        references={
            "unit": "units",
            "chosen_annotation": "annotations",
            "annotation": "annotations",
            "by": RATERS,
        },
        gone="deleted",
    ),
    SiteKind(
        "exclusions",
        Exclusion,
        "Raters whose answers do not count.",
        where="{x}.benchmark_id = {benchmark} AND {x}.lifted_at IS NULL",
        identity=("rater",),
        references={"rater": RATERS},
        filled={"benchmark": "benchmark", "by": "actor", "reason": '="As in the imported release."'},
        left_out={"lifted_at": "Only those in force.", "lifted_by": ACCOUNT},
        gone="deleted",
    ),
)
