"""Making benchmarks."""

import secrets
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from benchmarks.models import Benchmark, Role, Stage
from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.parts import PICTURE_SKIP_REASONS
from benchmarks.recipes.registry import recipe
from benchmarks.rules.coverage import CoverageSpec
from benchmarks.rules.displays import default_pictures
from benchmarks.rules.filters import parse_filters
from jobs.models import record
from people.models import Team, User

Text = Mapping[str, str]

BLANK_POINTS: tuple[tuple[str, Text], ...] = (
    ("1", {"en": "Not at all", "ar": "لا مطلقًا", "pt": "De modo algum", "am": "በጭራሽ"}),
    ("2", {"en": "A little", "ar": "قليلًا", "pt": "Um pouco", "am": "ጥቂት"}),
    ("3", {"en": "Somewhat", "ar": "إلى حدٍّ ما", "pt": "Mais ou menos", "am": "በመጠኑ"}),
    ("4", {"en": "Much", "ar": "كثيرًا", "pt": "Muito", "am": "ብዙ"}),
    ("5", {"en": "Very much", "ar": "كثيرًا جدًّا", "pt": "Muitíssimo", "am": "እጅግ በጣም"}),
)
BLANK_REASONS: tuple[Mapping[str, Any], ...] = tuple(
    reason for reason in PICTURE_SKIP_REASONS if reason["code"] != "offensive"
)


class SlugTaken(Exception):
    """Another benchmark, perhaps of another team, has this address."""


def create_from_recipe(team: Team, recipe_key: str, name: str, slug: str, actor: User | None) -> Benchmark:
    """A benchmark with the recipe's stages, owned by `actor`. Raises UnknownRecipe, SlugTaken."""
    chosen = recipe(recipe_key)
    facts = {
        "purpose": chosen.summary["en"],
        "recipe": chosen.key,
        "recipe_version": chosen.version,
        "citation": chosen.citation,
        "licence": chosen.licence,
    }
    return create_from_specs(team, name, slug, actor, chosen.stages, facts)


def create_blank(
    team: Team, name: str, slug: str, actor: User | None, *, question: str, purpose: str = "", target_answers: int = 3
) -> Benchmark:
    """A benchmark with one stage that asks one question on five points; without a question it has no stage yet.

    Raises SlugTaken.
    """
    if not question:
        return create_from_specs(team, name, slug, actor, (), {"purpose": purpose})
    rating = {
        "key": "answer",
        "kind": "rating",
        "version": 1,
        "label": {"en": question},
        "help": {},
        "required": True,
        "config": {
            "level": "ordinal",
            "points": [{"code": code, "label": dict(label), "definition": {}} for code, label in BLANK_POINTS],
        },
    }
    stage = StageSpec(
        key="rating",
        name="Rating",
        display="image",
        sheet={"fields": [rating]},
        target_answers=target_answers,
        skip_reasons=BLANK_REASONS,
    )
    return create_from_specs(team, name, slug, actor, (stage,), {"purpose": purpose})


def create_from_specs(
    team: Team, name: str, slug: str, actor: User | None, stages: tuple[StageSpec, ...], facts: Mapping[str, str]
) -> Benchmark:
    """A benchmark with these stages, owned by `actor`; `facts`: its other columns. Raises SlugTaken."""
    with transaction.atomic():
        benchmark = _row(
            Benchmark(team=team, name=name, slug=slug, pseudonym_key=secrets.token_hex(16), created_by=actor, **facts)
        )
        Stage.objects.bulk_create(stage_from_spec(benchmark, position, spec) for position, spec in enumerate(stages))
        if actor is not None:
            Role.objects.create(benchmark=benchmark, user=actor, name=Role.Name.OWNER)
        record(actor, "benchmark.created", scope=benchmark.scope, target=slug, recipe=facts.get("recipe", ""))
    return benchmark


def _row(benchmark: Benchmark) -> Benchmark:
    try:
        with transaction.atomic():
            benchmark.save(force_insert=True)
    except IntegrityError as error:
        if Benchmark.objects.filter(slug=benchmark.slug).exists():
            raise SlugTaken(benchmark.slug) from error
        raise
    return benchmark


def _coverage(spec: StageSpec) -> dict[str, Any]:
    coverage = CoverageSpec.from_json(spec.coverage)
    return coverage.to_json() if coverage else {}


def stage_from_spec(benchmark: Benchmark, position: int, spec: StageSpec) -> Stage:
    """Not saved."""
    return Stage(
        benchmark=benchmark,
        key=spec.key,
        name=spec.name,
        position=position,
        display=spec.display,
        sheet=dict(spec.sheet),
        skip_reasons=list(spec.skip_reasons),
        has_target=spec.has_target,
        target_answers=spec.target_answers,
        target_in_all=spec.target_in_all,
        acceptance=spec.acceptance,
        acceptance_rule=dict(spec.acceptance_rule),
        review_reasons=list(spec.review_reasons),
        derivation=dict(spec.derivation),
        staffing=spec.staffing,
        own_items_only=spec.own_items_only,
        layout=dict(spec.layout),
        pictures=spec.pictures or default_pictures(spec.display),
        retire_after_skips=spec.retire_after_skips,
        instructions=dict(spec.instructions),
        filters=[rule.to_json() for rule in parse_filters(spec.filters)],
        assign_waiting=spec.assign_waiting,
        coverage=_coverage(spec),
    )
