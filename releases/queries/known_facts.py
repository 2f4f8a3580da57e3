"""What a benchmark knows of the rows of a release: for its card, data statement and Croissant file.

Everything is counted. People appear as counts of cohorts only.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Max, Min, QuerySet

from annotation.models import Annotation, Campaign, CampaignCohort
from annotation.queries.answers import withdrawn_of
from benchmarks.models import Benchmark, Item, ItemImage, Stage
from people.models import Rater
from releases.models import Release, ReleaseSelection
from releases.queries.shipped_answers import shipped_answers, shipped_items, shipped_skips


def known_facts(release: Release) -> dict[str, Any]:
    """JSON. Counts of answers are of those that are shipped. A fixed number of queries."""
    benchmark, chosen, answers = release.benchmark, release.chosen, shipped_answers(release)
    uses = ItemImage.objects.filter(item__in=shipped_items(release)).order_by("licence").values_list("licence")
    times = answers.aggregate(first=Min("submitted_at"), last=Max("submitted_at"))
    return {
        "stages": [_stage(benchmark, pk, chosen) for pk in chosen.stages],
        "cohorts": _cohorts(chosen.campaigns, answers),
        "answers": {
            "people": answers.filter(rater__kind=Rater.Kind.PERSON).count(),
            "models": answers.filter(rater__kind=Rater.Kind.MODEL).count(),
            "not_counted": _counts(answers.filter(counted=False), "uncounted_because"),
        },
        "people": answers.filter(rater__kind=Rater.Kind.PERSON).values("rater").distinct().count(),
        "models": _models(answers),
        "skipped": _counts(shipped_skips(release), "skip_reason"),
        "first": times["first"].date().isoformat() if times["first"] else None,
        "last": times["last"].date().isoformat() if times["last"] else None,
        "licences": dict(uses.annotate(n=Count("image", distinct=True))),
        "licence_uses": dict(uses.annotate(n=Count("pk"))),
        "withdrawn": _withdrawn(benchmark, chosen.campaigns),
    }


def _stage(benchmark: Benchmark, stage_id: int, chosen: ReleaseSelection) -> dict[str, Any]:
    stage = benchmark.stages.get(pk=stage_id)
    items = Item.objects.filter(stage=stage, withdrawn_at=None)
    return {
        "key": stage.key,
        "name": stage.name,
        "acceptance": str(stage.acceptance),
        "staffing": str(stage.staffing),
        "wanted": _wanted(stage, chosen),
        "wanted_in_all": stage.target_in_all,
        "derived": stage.derivation.get("kind", "") if stage.derivation else "",
        "items": items.count(),
        "concepts": items.exclude(concept="").values("concept").distinct().count(),
        "conditions": _counts(items, "condition"),
        "origins": _counts(items, "origin"),
        "campaigns": Campaign.objects.filter(stage=stage, pk__in=chosen.campaigns).count(),
    }


def _wanted(stage: Stage, chosen: ReleaseSelection) -> dict[str, list[int]]:
    """Of each cohort the fewest and the most answers that a campaign of the release wants to an item."""
    rows = CampaignCohort.objects.filter(campaign__stage=stage, campaign__in=chosen.campaigns)
    bounds = rows.values("cohort__label").annotate(least=Min("target_answers"), most=Max("target_answers"))
    return {row["cohort__label"]: [row["least"], row["most"]] for row in bounds.order_by("cohort__label")}


def _counts(rows: Any, column: str) -> dict[str, int]:
    """Value to the number of rows that have it."""
    return dict(rows.order_by(column).values_list(column).annotate(n=Count("pk")))


def _cohorts(campaigns: Sequence[int], answers: QuerySet[Annotation]) -> list[dict[str, Any]]:
    rows = CampaignCohort.objects.filter(campaign__in=campaigns).select_related("cohort").order_by("cohort__label")
    cohorts = {row.cohort.label: row.cohort for row in rows}
    by_label = answers.filter(rater__kind=Rater.Kind.PERSON).order_by("cohort__label").values_list("cohort__label")
    counts = dict(by_label.annotate(n=Count("rater", distinct=True)))
    return [
        {
            "label": label,
            "languages": cohort.languages,
            "people": counts.get(label, 0),
        }
        for label, cohort in cohorts.items()
    ]


def _models(answers: QuerySet[Annotation]) -> list[str]:
    raters = Rater.objects.filter(kind=Rater.Kind.MODEL, pk__in=answers.values("rater"))
    names = raters.values_list("name", "setting")
    return sorted({f"{name} ({setting})" if setting else name for name, setting in names})


def _withdrawn(benchmark: Benchmark, campaigns: Sequence[int]) -> dict[str, int]:
    withdrawn = withdrawn_of(benchmark, list(campaigns))
    return {"people": withdrawn.people, "answers": withdrawn.answers}
