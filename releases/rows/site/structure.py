"""Site rows of what a benchmark is: its stages with their versions, its cohorts, label sets, campaigns and tables."""

from annotation.models import (
    Campaign,
    CampaignCohort,
    InstructionText,
    InstructionVersion,
    RuleVersion,
    SheetVersion,
)
from benchmarks.models import (
    Benchmark,
    BenchmarkCondition,
    CohortLabel,
    FilterVersion,
    Label,
    LabelSet,
    Stage,
)
from evaluation.models import BenchmarkTable
from people.models import Cohort
from releases.rows.site.kinds import SiteKind

ACCOUNT = "An account: releases hold none."
MADE_ANEW = "The import makes its own."
_OWN_STAGE = {"stage": "stages"}
_CREATED = {"created_by": ACCOUNT}

KINDS: tuple[SiteKind, ...] = (
    SiteKind(
        "benchmark",
        Benchmark,
        "The benchmark.",
        where="{x}.id = {benchmark}",
        identity=("slug",),
        filled={"team": "team"},
        left_out={
            **_CREATED,
            "imported": "Of the site.",
            "is_public": "What a site shows to everybody is decided there.",
            "answers_by_api": "Whether programs may answer is decided by each site.",
            "pseudonym_key": "Secret. Pseudonyms are kept as they are.",
            "saved_recipe": "A recipe that one team keeps; the stages hold what it says.",
        },
    ),
    SiteKind(
        "cohorts",
        Cohort,
        "Cohorts of the campaigns.",
        where="EXISTS (SELECT FROM annotation_campaigncohort c WHERE c.cohort_id = {x}.id"
        " AND c.campaign_id = ANY({campaigns}))",
        identity=("label",),
        filled={"team": "team"},
        left_out={"paused_at": "Nobody works in an imported cohort yet.", "created_at": MADE_ANEW},
        shared=True,
    ),
    SiteKind(
        "label_sets",
        LabelSet,
        "Versions of label sets that items or models were asked about.",
        where="""{x}.team_id = {team} AND (EXISTS (SELECT FROM annotation_unit u
          JOIN benchmarks_item i ON i.id = u.item_id WHERE u.label_set_id = {x}.id AND i.stage_id = ANY({stages}))
        OR EXISTS (SELECT FROM predictions_run r WHERE r.benchmark_id = {benchmark}
          AND position('"' || {x}.key || '@' || {x}.version || '"' in r.selection::text) > 0)
        OR EXISTS (SELECT FROM benchmarks_cohortlabel l JOIN annotation_campaigncohort c ON c.cohort_id = l.cohort_id
          WHERE l.label_set_id = {x}.id AND c.campaign_id = ANY({campaigns})){also})""",
        identity=("key", "version"),
        filled={"team": "team"},
        left_out={"created_at": MADE_ANEW},
        shared=True,
    ),
    SiteKind(
        "labels",
        Label,
        "Their labels.",
        identity=("label_set", "key"),
        references={"label_set": "label_sets"},
        shared=True,
    ),
    SiteKind(
        "cohort_labels",
        CohortLabel,
        "The label that a cohort's people belong to.",
        identity=("cohort", "label_set"),
        references={"cohort": "cohorts", "label_set": "label_sets", "label": "labels"},
        shared=True,
    ),
    SiteKind(
        "stages",
        Stage,
        "The stages, with sheet, layout, rule, derivation and filters.",
        where="{x}.id = ANY({stages})",
        identity=("key",),
        filled={"benchmark": "benchmark"},
        left_out={"changes": "A counter of the site."},
    ),
    SiteKind(
        "conditions",
        BenchmarkCondition,
        "Ways of asking models that were written for this benchmark.",
        where="{x}.benchmark_id = {benchmark}",
        identity=("key",),
        filled={"benchmark": "benchmark"},
        left_out={"changed_by": ACCOUNT},
    ),
    SiteKind(
        "sheet_versions",
        SheetVersion,
        "Every version of the sheets.",
        identity=("stage", "major", "minor"),
        references=_OWN_STAGE,
    ),
    SiteKind(
        "rule_versions",
        RuleVersion,
        "Every version of the acceptance rules.",
        identity=("stage", "number"),
        references=_OWN_STAGE,
    ),
    SiteKind(
        "filter_versions",
        FilterVersion,
        "Every version of the filters.",
        identity=("stage", "number"),
        references=_OWN_STAGE,
        left_out=_CREATED,
    ),
    SiteKind(
        "tables",
        BenchmarkTable,
        "Tables that were composed for this benchmark.",
        where="{x}.benchmark_id = {benchmark}",
        identity=("key",),
        filled={"benchmark": "benchmark"},
        left_out=_CREATED,
        gone="removed",
    ),
    SiteKind(
        "campaigns",
        Campaign,
        "The campaigns. One that is open is paused after an import.",
        where="{x}.id = ANY({campaigns})",
        references={"stage": "stages", "sheet_version": "sheet_versions", "rule_version": "rule_versions"},
        left_out=_CREATED | {"pack_hours": "Of the queue."},
    ),
    SiteKind(
        "campaign_cohorts",
        CampaignCohort,
        "Cohorts of the campaigns, with the answers wanted.",
        identity=("campaign", "cohort"),
        references={"campaign": "campaigns", "cohort": "cohorts"},
    ),
    SiteKind(
        "instruction_versions",
        InstructionVersion,
        "Versions of the instructions.",
        identity=("campaign", "number"),
        references={"campaign": "campaigns"},
        left_out=_CREATED,
    ),
    SiteKind(
        "instruction_texts",
        InstructionText,
        "Their texts.",
        identity=("version", "language", "cohort"),
        references={"version": "instruction_versions", "cohort": "cohorts"},
    ),
)
