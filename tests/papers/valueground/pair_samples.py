"""Builds of pairs as rows, with steps as the worker writes them: accepted after a round of edits, at work, refused."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from benchmarks.models import Benchmark, Image
from benchmarks.services.images import store_image
from config.local.mock_images import draw_scene, edit_scene
from papers.valueground.builder.models import Build, BuildPlan, BuildSource, BuildStep
from papers.valueground.survey.models import Survey, SurveyQuestion
from people.models import User
from predictions.models import Endpoint

Kind = BuildStep.Kind
SOURCES = ("heron", "wren")
PLAN = {
    "endpoint_selection": {"a": 1, "b": 2},
    "semantic_statement": {"a": "Most people can be trusted.", "b": "One has to be careful with people."},
    "plan": {
        "style": "comic", "base_scene": "Two neighbours at an open door",
        "signals": {"a": ["hands over a key"], "b": ["keeps the key"]},
        "locked": ["both persons", "door"], "editable": ["hands"], "risks": ["sad faces"],
    },
}  # fmt: skip
ISSUE = "The man looks angry."


def confirm(benchmark: Benchmark, *keys: str) -> list[SurveyQuestion]:
    survey = Survey.objects.get(benchmark=benchmark)
    questions = survey.questions.filter(key__in=keys)
    questions.update(state=SurveyQuestion.State.CONFIRMED)
    return list(questions.order_by("position"))


def add_plan(benchmark: Benchmark, owner: User, questions: list[SurveyQuestion], **more: Any) -> BuildPlan:
    endpoint, _made = Endpoint.objects.get_or_create(
        team=benchmark.team, name="Practice", defaults={"base_url": "http://localhost:1/v1"}
    )
    plan = BuildPlan.objects.create(
        benchmark=benchmark, survey=questions[0].survey, questions=[question.key for question in questions],
        configuration="planner_editor_critic", created_by=owner, **{"budget": Decimal("2.00"), **more},
    )  # fmt: skip
    for key in SOURCES:
        BuildSource.objects.create(
            plan=plan, key=key, chat_endpoint=endpoint, chat_model=key, image_endpoint=endpoint, image_model=key
        )
    return plan


def add_build(plan: BuildPlan, question: SurveyQuestion, source: str, state: str, **more: Any) -> Build:
    return Build.objects.create(
        plan=plan, question=question, source=plan.sources.get(key=source), state=state, code_a=1, code_b=2,
        option_a="Can be trusted", option_b="Be careful", **more,
    )  # fmt: skip


class StepLog:
    """Writes steps of a build, one after the other."""

    def __init__(self, build: Build) -> None:
        self.build, self.number, self.edit_round = build, 0, 0
        self.at = timezone.now() - timedelta(minutes=30)

    def add(self, kind: str, target: str = "", **more: Any) -> BuildStep:
        self.number += 1
        self.at += timedelta(minutes=1)
        values = {"state": "done", "cost": Decimal("0.01"), "at": self.at, "settled_at": self.at, **more}
        return BuildStep.objects.create(
            build=self.build, number=self.number, kind=kind, target=target, plan_round=0, edit_round=self.edit_round,
            **values,
        )  # fmt: skip

    def draw(self, kind: str, target: str, data: bytes) -> Image:
        image, _made = store_image(self.build.plan.benchmark.team, data, name="pair.png")
        self.add(kind, target, image=image, seed=self.number, prompt=f"Draw {target or 'the base picture'}")
        return image


def write_accepted(build: Build) -> None:
    """A plan, a base picture, two edits that the critic sends back for B, another B that it accepts."""
    log = StepLog(build)
    log.add(Kind.PLAN, output=PLAN)
    base = draw_scene(f"{build.pk}")
    log.draw(Kind.BASE, "", base)
    log.add(Kind.INSTRUCT, output={"a": {"instruction": "Hand over the key"}, "b": {"instruction": "Keep the key"}})
    for side in "ab":
        log.draw(Kind.EDIT, side, edit_scene(base, f"{build.pk} {side}"))
    log.add(Kind.COMPARE, output={"shares": {"a_b": 0.08, "base_a": 0.04}, "fault": ""}, cost=Decimal(0))
    issues = {"a": dict.fromkeys(("semantic", "contrast", "shortcut"), ""),
              "b": {"semantic": "", "contrast": ISSUE, "shortcut": ""}}  # fmt: skip
    log.add(Kind.CRITIC, output={"issues": issues, "routing": "accept", "targets": [], "text_visible": False})
    route = {"route": "revise_edits", "asked": "accept", "targets": ["b"], "issues": issues, "notes": []}
    log.add(Kind.ROUTE, output=route, override="accept_issue", cost=Decimal(0))
    log.edit_round = 1
    log.add(Kind.INSTRUCT, output={"b": {"instruction": "Keep the key, with a calm face"}})
    log.draw(Kind.EDIT, "b", edit_scene(base, f"{build.pk} second"))
    log.add(Kind.CRITIC, output={"issues": {}, "routing": "accept", "targets": [], "text_visible": False})
    log.add(Kind.ROUTE, output={"route": "accept", "asked": "accept", "issues": {}, "notes": []}, cost=Decimal(0))
    Build.objects.filter(pk=build.pk).update(edit_round=1, cost=Decimal("0.08"), ended_at=timezone.now())


def add_pairs(benchmark: Benchmark, owner: User) -> dict[str, Build]:
    """Two questions and two sources: accepted, best effort, at work, and one refused."""
    first, second = confirm(benchmark, "Q10", "Q2")
    plan = add_plan(benchmark, owner, [first, second])
    builds = {
        "accepted": add_build(plan, first, "heron", "accepted"),
        "best_effort": add_build(plan, first, "wren", "best_effort", reason="edit_rounds_spent"),
        "working": add_build(plan, second, "heron", "editing"),
        "refused": add_build(plan, second, "wren", "refused", reason="image_refused", message="Not this picture."),
    }
    write_accepted(builds["accepted"])
    write_accepted(builds["best_effort"])
    for build in builds.values():
        build.refresh_from_db()
    return builds
