"""Rows of ValueGround that a release holds: the survey with its counts and pairs, and the builds with their steps."""

from papers.valueground.builder.models import Build, BuildPlan, BuildSource, BuildStep
from papers.valueground.survey.models import OptionPair, Survey, SurveyCount, SurveyQuestion
from releases.rows.site.kinds import SiteKind
from releases.rows.site.registry import SitePart
from releases.rows.site.structure import ACCOUNT

_QUEUE = "Of the queue."
KINDS: tuple[SiteKind, ...] = (
    SiteKind(
        "surveys",
        Survey,
        "Versions of the survey.",
        where="{x}.benchmark_id = {benchmark}",
        identity=("version",),
        references={"label_set": "label_sets"},
        filled={"benchmark": "benchmark"},
        left_out={"created_by": ACCOUNT},
    ),
    SiteKind(
        "survey_questions",
        SurveyQuestion,
        "Their questions.",
        identity=("survey", "key"),
        references={"survey": "surveys"},
        left_out={"looked_by": ACCOUNT},
    ),
    SiteKind(
        "survey_counts",
        SurveyCount,
        "How often each code was answered in a country.",
        identity=("question", "label", "code"),
        references={"question": "survey_questions", "label": "labels"},
    ),
    SiteKind(
        "option_pairs",
        OptionPair,
        "Pairs of options, proposed and decided.",
        references={"question": "survey_questions"},
        left_out={"by": ACCOUNT},
    ),
    SiteKind(
        "build_plans",
        BuildPlan,
        "Plans of pairs of pictures. One that is under way is paused after an import.",
        where="{x}.benchmark_id = {benchmark}",
        references={"survey": "surveys"},
        filled={"benchmark": "benchmark"},
        left_out={"job": "Of the site.", "budget": "Of a team.", "created_by": ACCOUNT},
        select={"state": "CASE WHEN x.state = 'running' THEN 'paused' ELSE x.state END"},
    ),
    SiteKind(
        "build_sources",
        BuildSource,
        "Who plans and who draws.",
        identity=("plan", "key"),
        references={"plan": "build_plans", "chat_endpoint": "endpoints", "image_endpoint": "endpoints"},
    ),
    SiteKind(
        "builds",
        Build,
        "Pairs of pictures that were made.",
        where="{x}.holder = ''",
        references={
            "plan": "build_plans",
            "question": "survey_questions",
            "source": "build_sources",
            "replaces": "builds",
            "item": "items",
        },
        left_out={
            "comment_by": ACCOUNT,
            "decided_by": ACCOUNT,
            "holder": _QUEUE,
            "lease_until": _QUEUE,
            "not_before": _QUEUE,
        },
    ),
    SiteKind(
        "build_steps",
        BuildStep,
        "Their steps, with tokens and cost.",
        where="{x}.state <> 'asked'",
        identity=("build", "number"),
        references={"build": "builds", "image": "images", "parent_image": "images"},
        left_out={
            "reply": "Texts of replies are not in a release.",
            "prices": "A team's price list; the cost is there.",
            "sent_at": _QUEUE,
        },
    ),
)
_OWN_PLAN = "p.benchmark_id = {benchmark}"
_OWN_STEP = (
    "EXISTS (SELECT FROM valueground_buildstep k JOIN valueground_build b ON b.id = k.build_id"
    f" JOIN valueground_buildplan p ON p.id = b.plan_id WHERE {_OWN_PLAN} AND "
)
SITE_ROWS = SitePart(
    KINDS,
    also={
        "label_sets": "EXISTS (SELECT FROM valueground_survey v WHERE v.benchmark_id = {benchmark}"
        " AND v.label_set_id = {x}.id)",
        "endpoints": "EXISTS (SELECT FROM valueground_buildsource s JOIN valueground_buildplan p ON p.id = s.plan_id"
        f" WHERE {_OWN_PLAN} AND {{x}}.id IN (s.chat_endpoint_id, s.image_endpoint_id))",
        "images": _OWN_STEP + "{x}.id IN (k.image_id, k.parent_image_id))",
    },
)
