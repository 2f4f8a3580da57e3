"""A benchmark with confirmed questions, two endpoints and a scripted server that plans, draws, edits and criticises."""

import base64
import hashlib
import io
import json
from collections.abc import Callable
from typing import Any

from django.utils import timezone
from PIL import Image, ImageDraw

from benchmarks.models import Item
from jobs.models import Job
from jobs.services import runner
from papers.valueground.builder.models import Build, BuildPlan, BuildStep
from papers.valueground.builder.services import plans
from papers.valueground.builder.services.plans import BuildSettings, SourceChoice
from papers.valueground.survey.models import OptionPair, Survey, SurveyQuestion
from predictions.models import Attempt
from predictions.services.endpoints import endpoints
from tests.papers.valueground.builder.build_script import NO_ISSUE, verdict
from tests.papers.valueground.survey_samples import new_benchmark
from tests.personas import World
from tests.predictions.model_server import Act, ReceivedRequest, Server
from tests.predictions.request_helpers import an_endpoint

Script = Callable[[ReceivedRequest], Act | None]
PRICES = {"painter": {"generated": "0.04", "edited": "0.03"}, "thinker": {"in": "1", "out": "4"}}


def picture(seed: str, base: bytes | None = None, side: int = 64) -> Act:
    """A drawn picture, or one with a region of another colour; the same for the same seed."""
    digest = hashlib.sha256(seed.encode()).digest()
    image = Image.new("RGB", (side, side), tuple(digest[:3]))
    if base is not None:
        left = digest[3] % 40
        ImageDraw.Draw(image).rectangle((left, 0, left + 8, side), fill=(digest[4], 255 - digest[1], digest[5]))
    out = io.BytesIO()
    image.save(out, "PNG")
    return Act(raw=json.dumps({"data": [{"b64_json": base64.b64encode(out.getvalue()).decode()}]}))


def schema_of(asked: ReceivedRequest) -> str:
    """Which step of the builder a chat request is."""
    return str(asked.body.get("response_format", {}).get("json_schema", {}).get("name", ""))


def plan_reply(asked: ReceivedRequest) -> dict[str, Any]:
    """A plan that passes every check: it takes the codes and the question from the prompt."""
    text = asked.text
    question = text.split("Survey question: ")[1].splitlines()[0]
    codes = {side.lower(): int(text.split(f"Answer {side} (code ")[1].split(")")[0]) for side in "AB"}
    return {
        "endpoint_selection": codes,
        "semantic_statement": {"a": f"People say yes to this: {question}", "b": f"People say no to this: {question}"},
        "plan": {
            "style": "comic", "base_scene": f"Two neighbours at a door, about: {question}",
            "signals": {"a": ["an open door"], "b": ["a closed door"]}, "locked": ["clothes"], "editable": ["the door"],
            "risks": [],
        },
    }  # fmt: skip


def reply_to(asked: ReceivedRequest, critic: Any = None) -> Act:
    """What a willing server answers; `critic`: its verdict."""
    if asked.path.endswith("/generations"):
        return picture(f"{asked.body['prompt']}{asked.body.get('seed')}")
    if asked.path.endswith("/edits"):
        return picture(f"{asked.body['prompt']}{asked.body.get('seed')}{asked.body['image']}", b"")
    instructions = {side: f"Change the door for {side}, way {asked.digest[:6]}" for side in "ab"}
    sides = [side for side in "ab" if side in asked.text.rpartition("Write for: ")[2].split(".")[0]]
    replies: dict[str, Any] = {
        "pair_rewrite": {"statement": "People think that this is so."},
        "pair_check": {"object_presence": False, "single_moment": False, "expert_scene": False, "reason": ""},
        "pair_instruct": {side: {"instruction": instructions[side]} for side in sides},
        "pair_signals": {side: {"signals": [instructions[side]]} for side in sides},
        "pair_critic": critic or verdict(),
    }
    output = plan_reply(asked) if schema_of(asked) == "pair_plan" else replies[schema_of(asked)]
    return Act(text=json.dumps(output))


class BuilderScene:
    """The benchmark; `script` answers before `reply_to` does."""

    def __init__(self, world: World, server: Server, questions: int = 1) -> None:
        self.world, self.server = world, server
        self.benchmark = new_benchmark(world)
        self.survey = Survey.objects.create(benchmark=self.benchmark, key="wvs", version=1, name="Survey")
        self.questions = [self.add_question(n) for n in range(1, questions + 1)]
        self.endpoint = an_endpoint(world, server.base_url, offers=["images", "schema", "seed"])
        endpoints.set_prices(self.endpoint, PRICES, world.team_admin, timezone.now())
        self.answer()

    def add_question(self, n: int, **more: Any) -> SurveyQuestion:
        options = {"1": "Most people can be trusted", "2": "One needs to be very careful"}
        question = SurveyQuestion.objects.create(**{
            "survey": self.survey, "position": n, "key": f"Q{n}", "title": "Trust", "options": options,
            "text": f"Can most neighbours be trusted, case {n}?", "state": SurveyQuestion.State.CONFIRMED, **more,
        })  # fmt: skip
        OptionPair.objects.create(
            question=question, a=1, b=2, how="ends", state=question.state, by=self.world.owner, at=timezone.now()
        )
        return question

    def answer(self, script: Script | None = None, critic: Any = None) -> None:
        """`critic`: verdicts one after the other by build, the last one for ever."""
        counts: dict[str, int] = {}

        def act(asked: ReceivedRequest) -> Act:
            verdict_now = None
            if schema_of(asked) == "pair_critic" and critic:
                case = asked.text.split("case ")[1].split("?")[0]
                verdict_now = critic[min(counts.get(case, 0), len(critic) - 1)]
                counts[case] = counts.get(case, 0) + 1
            return (script(asked) if script else None) or reply_to(asked, verdict_now)

        self.server.answer_by(act)

    def source(self, key: str = "one", **more: Any) -> SourceChoice:
        return SourceChoice(**{
            "key": key, "chat_endpoint": self.endpoint, "chat_model": "thinker", "image_endpoint": self.endpoint,
            "image_model": "painter", **more,
        })  # fmt: skip

    def plan(self, **more: Any) -> BuildPlan:
        settings = BuildSettings(**{"questions": self.questions, "sources": [self.source()], **more})
        return plans.plan_builds(self.benchmark, settings, self.world.owner, timezone.now())

    def work(self, plan: BuildPlan) -> BuildPlan:
        """What the worker does, slice after slice, until the plan's job is over."""
        for _slice in range(60):
            plan.refresh_from_db()
            Build.objects.update(not_before=None)
            Job.objects.filter(pk=plan.job_id, state="queued").update(lease_until=None)
            runner.run(plan.job_id)
            if Job.objects.get(pk=plan.job_id).state != "queued":
                break
        plan.refresh_from_db()
        self.check_costs()
        return plan

    def build(self, **more: Any) -> Build:
        """One build, planned and worked on."""
        plan = self.work(self.plan(**more))
        return Build.objects.get(plan=plan)

    def check_costs(self) -> None:
        """What steps cost is what attempts cost; nothing is in flight; each attempt is of a step."""
        steps = {step.scope: step for step in BuildStep.objects.all()}
        attempts = list(Attempt.objects.all())
        assert all(attempt.scope in steps and attempt.call_id is None for attempt in attempts)
        assert sum(step.cost or 0 for step in steps.values()) == sum(attempt.cost or 0 for attempt in attempts)
        assert sum(build.cost for build in Build.objects.all()) == sum(step.cost or 0 for step in steps.values())
        assert not any(step.reserved for step in steps.values())

    def repeats(self) -> int:
        """Requests that had come before: the same path, words, seed and pictures."""
        requests = [json.dumps([asked.path, asked.body], sort_keys=True) for asked in self.server.asked]
        return len(requests) - len(set(requests))

    def kinds(self, build: Build) -> list[str]:
        return [f"{step.kind}{step.target and ' ' + step.target}" for step in build.steps.order_by("number")]

    def overrides(self, build: Build) -> list[str]:
        return [step.override for step in build.steps.filter(kind="route").order_by("number")]

    def items(self) -> list[Item]:
        return list(Item.objects.filter(stage__key="pair-review", withdrawn_at=None).order_by("key"))

    def asked(self, schema: str = "", path: str = "") -> list[ReceivedRequest]:
        return [
            asked
            for asked in self.server.asked
            if (not schema or schema_of(asked) == schema) and asked.path.endswith(path)
        ]


CONTRAST = {**NO_ISSUE, "contrast": "The lamp moved."}
