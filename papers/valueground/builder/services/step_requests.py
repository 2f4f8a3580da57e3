"""What a step asks, and what its reply means: from a build's progress to a request, and back to an output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.models import Image
from papers.valueground.builder import image_comparison, plan_checks, prompts, safeguards
from papers.valueground.builder.models import Build, BuildStep
from papers.valueground.builder.prompts import PairPictures, PairQuestion
from papers.valueground.builder.queries import pair_question, question_text, rules_of
from papers.valueground.builder.schemas import InvalidReply, parse_reply
from papers.valueground.builder.seeds import question_seed, step_seed
from papers.valueground.builder.states import SIDES, TRIES, Action, BuildProgress, StepResult
from predictions.models import Reply
from predictions.prompts.contract import Request
from predictions.requests.serialization import reply_from_json
from predictions.services.sending.pool import original_bytes
from predictions.services.sending.prices import Sizes
from predictions.services.sending.requests import ChatRequest, ImageRequest, OutgoingRequest

State = BuildStep.State


@dataclass(frozen=True)
class StepRequest:
    """`sizes`: of the images that a chat model sees. `removed`: banned cues that were taken out of the prompt."""

    request: OutgoingRequest
    seed: int
    prompt: str = ""
    parent: Image | None = None
    sizes: Sizes = field(default_factory=dict)
    input: Mapping[str, Any] = field(default_factory=dict)


class StepContext:
    """A build with what its steps need. Loads images once."""

    def __init__(self, build: Build) -> None:
        self.build, self.rules = build, rules_of(build)
        self._images: dict[int, Image] = {}

    def image(self, image_id: int) -> Image:
        if image_id not in self._images:
            self._images[image_id] = Image.objects.get(pk=image_id)
        return self._images[image_id]

    def question(self, progress: BuildProgress) -> PairQuestion:
        return pair_question(self.build, progress.labels)

    def seed(self, action: Action, progress: BuildProgress) -> int:
        build, plan = self.build, self.build.plan
        if action.kind == "rewrite":
            return question_seed(plan.base_seed, build.question.key, action.target)
        return step_seed(
            plan.base_seed, build.question.key, build.source.key, plan.configuration, build.revision,
            progress.plan_round, progress.edit_round, action.target,
        )  # fmt: skip

    def step_request(self, action: Action, progress: BuildProgress) -> StepRequest:
        """The request of an action that is not code alone."""
        return self._image(action, progress) if action.kind in ("base", "edit") else self._chat(action, progress)

    def _image(self, action: Action, progress: BuildProgress) -> StepRequest:
        build, source, cues = self.build, self.build.source, self.build.plan.banned_cues
        scene, seed, parent = progress.plan["plan"], self.seed(action, progress), None
        removed: tuple[str, ...] = ()
        if action.kind == "edit":
            parent = self.image(progress.base or 0)
            prompt = prompts.edit_prompt(progress.instructions[action.target])
        else:
            make = (
                prompts.side_prompt(scene, action.target, cues) if action.target else prompts.base_prompt(scene, cues)
            )
            prompt, removed = make.text, make.removed
        request = ImageRequest(
            source.image_endpoint, source.image_model, prompt, seed, source.size, source.quality,
            (parent,) if parent else (), build.plan.prompt_versions[action.kind],
        )  # fmt: skip
        return StepRequest(request, seed, prompt, parent, input={"removed": list(removed)} if removed else {})

    def _chat(self, action: Action, progress: BuildProgress) -> StepRequest:
        source, seed = self.build.source, self.seed(action, progress)
        name = "signals" if action.kind == "instruct" and not self.rules.has_editor else str(action.kind)
        asked = prompts.with_problem(self._message(action, progress), action.problem)
        version = self.build.plan.prompt_versions[name]
        request = ChatRequest(source.chat_endpoint, source.chat_model, asked, f"pair-{name}", version, seed)
        seen = [self.image(pk) for pk in self._seen(action, progress)]
        sizes = {image.sha256: (image.width, image.height) for image in seen}
        notes = {"remark": action.remark, "problem": action.problem, "comment": self._comment(action)}
        more = {"targets": list(progress.targets)} if action.kind == "instruct" else {}
        return StepRequest(request, seed, sizes=sizes, input={key: text for key, text in notes.items() if text} | more)

    def _comment(self, action: Action) -> str:
        return self.rules.comment if action.kind in ("instruct", "critic") else ""

    def _seen(self, action: Action, progress: BuildProgress) -> list[int]:
        if action.kind == "instruct" and self.rules.has_editor:
            return [progress.base or 0]
        if action.kind != "critic":
            return []
        return [pk for pk in (progress.base, progress.images["a"], progress.images["b"]) if pk is not None]

    def _message(self, action: Action, progress: BuildProgress) -> Request:
        question, build, comment = self.question(progress), self.build, self.rules.comment
        match action.kind:
            case "rewrite":
                label = build.option_a if action.target == "a" else build.option_b
                return prompts.rewrite_request(question.text, label)
            case "plan":
                return prompts.plan_request(
                    question, banned_cues=build.plan.banned_cues, replan_level=progress.plan_round,
                    failures=progress.failures,
                )  # fmt: skip
            case "check":
                return prompts.check_request(question, progress.plan)
            case "instruct" if self.rules.has_editor:
                return prompts.instruct_request(
                    question, progress.plan, base=self.image(progress.base or 0).sha256,
                    instructions=progress.instructions, issues=progress.issues, targets=progress.targets,
                    comments=comment, remark=action.remark,
                )  # fmt: skip
            case "instruct":
                return prompts.signals_request(
                    question, progress.plan, issues=progress.issues, targets=progress.targets, comments=comment,
                    remark=action.remark,
                )  # fmt: skip
        return prompts.critic_request(
            question, progress.plan, self._pictures(progress), instructions=progress.instructions, comments=comment,
            remark=action.remark,
        )  # fmt: skip

    def _pictures(self, progress: BuildProgress) -> PairPictures:
        a, b = (self.image(progress.images[side]).sha256 for side in SIDES)
        base = self.image(progress.base).sha256 if progress.base is not None else ""
        return PairPictures(a, b, base, progress.comparison.get("shares") or {})

    def code_result(self, action: Action, progress: BuildProgress) -> tuple[StepResult, str]:
        """The result of a step of code alone, and its override."""
        if action.kind == "check":
            return StepResult("check", "code", output={"problems": self._plan_problems(progress)}), ""
        if action.kind == "compare":
            return StepResult("compare", output=self._comparison(progress)), ""
        decision = safeguards.decide(progress, self.rules)
        return StepResult("route", output=decision.to_json()), decision.override

    def _plan_problems(self, progress: BuildProgress) -> list[dict[str, str]]:
        build = self.build
        anchors = build.plan.anchor_words.get(build.question.key)
        plan_problems = plan_checks.check_plan(
            progress.plan,
            codes=(build.code_a, build.code_b),
            labels=(build.option_a, build.option_b),
            anchors=plan_checks.anchor_words(question_text(build)) if anchors is None else anchors,
            banned_cues=build.plan.banned_cues,
        )
        return [{"code": problem.code, "text": problem.text} for problem in plan_problems]

    def _comparison(self, progress: BuildProgress) -> dict[str, Any]:
        a, b = (original_bytes(self.image(progress.images[side])) for side in SIDES)
        base = original_bytes(self.image(progress.base)) if progress.base is not None else None
        return image_comparison.compare(a, b, base).to_json()

    def result(self, action: Action, progress: BuildProgress, reply: Reply, request: OutgoingRequest) -> StepResult:
        """What a stored reply means."""
        if isinstance(request, ImageRequest):
            return self._image_result(action, reply)
        stored = reply_from_json(reply.body)
        if stored.refusal or stored.finish == "content_filter":
            message = stored.refusal or "content_filter"
            return StepResult(action.kind, action.target, State.DECLINED, {"message": message[:500]})
        try:
            output = self._checked(action, parse_reply(stored.text, request.request.schema))
        except InvalidReply as invalid:
            state = State.FAILED if progress.invalid + 1 >= TRIES else State.INVALID
            return StepResult(action.kind, action.target, state, {"problem": str(invalid), "reason": "invalid_json"})
        return StepResult(action.kind, action.target, State.DONE, output)

    def _image_result(self, action: Action, reply: Reply) -> StepResult:
        stored = reply.body.get("image")
        if isinstance(stored, dict):
            return StepResult(action.kind, action.target, State.DONE, {}, int(stored["id"]))
        message = str(reply.body.get("refusal", ""))[:500]
        return StepResult(action.kind, action.target, State.REFUSED, {"message": message}, message=message)

    def _checked(self, action: Action, output: dict[str, Any]) -> dict[str, Any]:
        """The output without banned cues where it goes into a prompt. Raises InvalidReply where nothing is left."""
        if action.kind == "rewrite" and not output["statement"].strip():
            raise InvalidReply("statement must not be empty.")
        if action.kind != "instruct":
            return output
        return {side: self._safe(side, written) for side, written in output.items()}

    def _safe(self, side: str, written: Mapping[str, Any]) -> dict[str, Any]:
        cues: Sequence[str] = self.build.plan.banned_cues
        key = "instruction" if self.rules.has_editor else "signals"
        texts = [written[key]] if self.rules.has_editor else written[key]
        safe = [prompts.sanitise(text, cues) for text in texts]
        remaining = [text.text for text in safe if text.text]
        if not remaining:
            raise InvalidReply(f"{side} has no {key} that can be drawn.")
        removed = [cue for text in safe for cue in text.removed]
        return {
            key: remaining[0] if self.rules.has_editor else remaining,
            **({"as_written": written[key], "removed": removed} if removed else {}),
        }
