"""What the page *Pair* shows: the rounds of a build in their order, out of its steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Annotation
from annotation.pages.rule_results import RuleResult, rule_results
from benchmarks.models import Image, ItemReturn
from papers.valueground.builder.image_comparison import compare
from papers.valueground.builder.models import Build, BuildStep
from papers.valueground.builder.prompts import alternative_text
from papers.valueground.builder.states import SIDES
from papers.valueground.builder.texts import OVERRIDES, REASONS
from people.models import Rater
from predictions.services.sending.pool import original_bytes
from predictions.texts.call_reasons import reason_text


@dataclass(frozen=True)
class DrawnPicture:
    """A picture of a step, with its name and what it stands for. `side` is empty for the base picture. `former`: the
    step of the picture that it took the place of, or that it was edited from."""

    step: BuildStep
    image: Image
    side: str
    name: str
    alt: str
    former: int | None = None


@dataclass(frozen=True)
class RoundVerdict:
    """What the critic said, and what was decided. `issues`: side, axis and sentence, only where there is an issue."""

    asked: str
    route: str
    issues: Sequence[tuple[str, str, str]]
    override: str
    text_visible: bool
    notes: Sequence[str]


@dataclass
class Round:
    """One attempt under a plan. `plan`: the planner's output, in the round that it was made for. `instructions` and
    `removed` by side; `shares`: what part of the pixels changed, as text; `refusals`: what services and models
    said where they gave nothing; `cost` None where a price is unknown."""

    plan_round: int
    edit_round: int
    steps: list[BuildStep] = field(default_factory=list)
    plan: Mapping[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    pictures: list[DrawnPicture] = field(default_factory=list)
    instructions: list[tuple[str, str]] = field(default_factory=list)
    shares: list[tuple[str, str]] = field(default_factory=list)
    verdicts: list[RoundVerdict] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def number(self) -> tuple[int, int]:
        return self.plan_round + 1, self.edit_round + 1

    @property
    def cost(self) -> Decimal | None:
        costs = [step.cost for step in self.steps]
        return None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))

    @property
    def untold_refusals(self) -> list[str]:
        """What services said, as far as no decision of the round names it."""
        notes = [note for verdict in self.verdicts for note in verdict.notes]
        return [refusal for refusal in self.refusals if not any(refusal in note for note in notes)]

    @property
    def seeds(self) -> list[int]:
        return [step.seed for step in self.steps if step.seed is not None]

    @property
    def locked(self) -> str:
        return ", ".join(self.plan.get("plan", {}).get("locked", ()))

    @property
    def risks(self) -> str:
        return ", ".join(self.plan.get("plan", {}).get("risks", ()))

    @property
    def scene(self) -> str:
        return str(self.plan.get("plan", {}).get("base_scene", ""))

    @property
    def statements(self) -> list[tuple[str, str, str]]:
        """Side, statement and signals."""
        statements, signals = self.plan.get("semantic_statement", {}), self.plan.get("plan", {}).get("signals", {})
        return [(side.upper(), str(statements.get(side, "")), "; ".join(signals.get(side, ()))) for side in SIDES]


@dataclass(frozen=True)
class RoundTab:
    """The pair as it was after a round. `left` and `right`: steps of its pictures."""

    name: str
    left: int
    right: int
    is_current: bool


@dataclass(frozen=True)
class PeopleVerdict:
    """What people's review says of the pair. `result` None: it waits for answers. `points`: each point of the rubric
    with the mean and the most there is. `answers`: how many there are so far."""

    result: RuleResult | None
    answers: int
    points: Sequence[tuple[str, float, int]]


@dataclass(frozen=True)
class PairLog:
    """`shown`: the two pictures side by side. `pictures`: all of them, to choose from, of all revisions. `tabs`: the
    rounds that left a pair. `difference`: in words what part of the two changed, where that is asked."""

    build: Build
    revisions: Sequence[Build]
    rounds: Sequence[Round]
    pictures: Sequence[DrawnPicture]
    shown: Sequence[DrawnPicture]
    comments: Sequence[str]
    returned: Sequence[ItemReturn]
    reason: str
    tabs: Sequence[RoundTab]
    people: PeopleVerdict | None
    difference: str = ""

    @property
    def cost(self) -> Decimal:
        return self.build.cost + self.build.unaccounted

    @property
    def captions(self) -> list[tuple[DrawnPicture, str]]:
        """The pictures side by side, each with the answer that it stands for; a base picture with none."""
        options = {"a": self.build.option_a, "b": self.build.option_b}
        return [(picture, options.get(picture.side, "")) for picture in self.shown]


def pair_log(build: Build, left: str = "", right: str = "", *, compared: bool = False) -> PairLog:
    """`left` and `right`: ids of steps whose pictures are shown; else the newest of each side. Six queries.
    `compared`: whether their pixels are compared, too."""
    same = {"plan": build.plan_id, "question": build.question_id, "source": build.source_id}
    revisions = list(Build.objects.filter(**same).order_by("revision"))
    steps = BuildStep.objects.filter(build__in=revisions).select_related("image", "build")
    rounds: dict[int, list[Round]] = {}
    statements: dict[str, str] = {}
    newest: dict[str, int] = {}
    for step in steps.order_by("build__revision", "number"):
        each = _round_of(rounds.setdefault(step.build_id, []), step)
        _add(each, step, statements)
        if step.image is not None:
            each.pictures.append(_drawn(step, step.image, statements, newest))
    drawn = [picture for revision in revisions for each in rounds.get(revision.pk, []) for picture in each.pictures]
    until = [picture for picture in drawn if picture.step.build.revision <= build.revision]
    shown = [picture for picture in (_chosen(drawn, left) or _newest(until, "a"),
                                     _chosen(drawn, right) or _newest(until, "b")) if picture]  # fmt: skip
    return PairLog(
        build, revisions, rounds.get(build.pk, []), drawn, shown, _comments(build), _returns(build), _reason(build),
        _tabs(rounds.get(build.pk, []), shown), _people(build),
        _difference(shown) if compared and len(shown) > 1 else "",
    )  # fmt: skip


def _tabs(rounds: Iterable[Round], shown: Sequence[DrawnPicture]) -> list[RoundTab]:
    """One for each round of this revision that drew something, and has both pictures then."""
    newest: dict[str, int] = {}
    tabs: list[RoundTab] = []
    current = [picture.step.pk for picture in shown]
    rounds = list(rounds)
    has_plans = len({each.plan_round for each in rounds}) > 1
    for each in rounds:
        sides = {picture.side: picture.step.pk for picture in each.pictures}
        newest |= {side: step for side, step in sides.items() if side in SIDES}
        if not sides.keys() & set(SIDES) or len(newest) < len(SIDES):
            continue
        name = _("Plan %(plan)s, round %(round)s") if has_plans else _("Round %(round)s")
        values = {"plan": each.plan_round + 1, "round": each.edit_round + 1}
        pair = [newest[side] for side in SIDES]
        tabs.append(RoundTab(name % values, pair[0], pair[1], pair == current))
    return tabs


def _people(build: Build) -> PeopleVerdict | None:
    """None where people do not review the pair."""
    if build.item is None:
        return None
    answers = Annotation.objects.filter(
        live=True, counted=True, assignment__unit__item=build.item, rater__kind=Rater.Kind.PERSON
    ).count()
    result = next(iter(rule_results(build.item) or ()), None)
    means = result.outcome.numbers.get("values", {}) if result is not None else {}
    points = [(str(POINTS[key][0]), float(means[key]), POINTS[key][1]) for key in POINTS if key in means]
    return PeopleVerdict(result, answers, points)


def _difference(shown: Sequence[DrawnPicture]) -> str:
    """How much of the second picture is not as in the first."""
    try:
        left, right = (original_bytes(picture.image) for picture in shown)
        shares = compare(left, right).shares
    except OSError:
        return _("A picture cannot be read.")
    if "a_b" not in shares:
        return _("The two pictures have different sizes.")
    if not shares["a_b"]:
        return _("The two pictures are the same.")
    return _("%(share)s of the pixels differ; what is black is the same.") % {"share": f"{shares['a_b']:.1%}"}


def _drawn(step: BuildStep, image: Image, statements: Mapping[str, str], newest: dict[str, int]) -> DrawnPicture:
    """`newest`: by side the step of the picture before it; is kept up to date."""
    side = step.target if step.target in SIDES else ""
    alt = alternative_text(statements, side) if side and statements else _("The base picture of the plan")
    former = newest.get(side) or newest.get("") if side else None
    newest[side] = step.pk
    if not side:
        newest.update(dict.fromkeys(SIDES, step.pk))  # the edits of another base picture begin with it
    return DrawnPicture(step, image, side, _picture_name(step, side), alt, former)


def _reason(build: Build) -> str:
    if not build.reason:
        return ""
    known = REASONS.get(build.reason)
    return str(known) if known is not None else reason_text(build.reason)


def _comments(build: Build) -> list[str]:
    """What reviewers wrote about the pair, without their names."""
    rows = Annotation.objects.filter(live=True, assignment__unit__item=build.item_id, rater__kind="person")
    answers = rows.order_by("submitted_at", "pk").values_list("answers__comment", flat=True)
    return [str(comment) for comment in answers if comment] if build.item_id else []


def _returns(build: Build) -> list[ItemReturn]:
    return list(ItemReturn.objects.filter(item=build.item_id, undone_at=None)) if build.item_id else []


def _chosen(pictures: Iterable[DrawnPicture], step: str) -> DrawnPicture | None:
    return next((picture for picture in pictures if str(picture.step.pk) == step), None)


def _newest(pictures: Sequence[DrawnPicture], side: str) -> DrawnPicture | None:
    return next((picture for picture in reversed(pictures) if picture.side == side), None)


def _round_of(rounds: list[Round], step: BuildStep) -> Round:
    number = step.plan_round, step.edit_round
    if not rounds or (rounds[-1].plan_round, rounds[-1].edit_round) != number:
        rounds.append(Round(*number))
    return rounds[-1]


def _add(each: Round, step: BuildStep, statements: dict[str, str]) -> None:
    """Put a step into its round. `statements`: those of the newest plan, for the texts of its pictures."""
    each.steps.append(step)
    output = step.output
    if step.state in FRUITLESS and output.get("message"):
        each.refusals.append(str(output["message"]))
    if step.kind == BuildStep.Kind.PLAN and step.state == BuildStep.State.DONE:
        each.plan = output
        statements |= {side: str(output.get("semantic_statement", {}).get(side, "")) for side in SIDES}
    elif step.kind == BuildStep.Kind.CHECK:
        each.problems += [str(problem.get("text", "")) for problem in output.get("problems", ())]
        each.problems += [str(output["reason"])] if output.get("reason") else []
    elif step.kind == BuildStep.Kind.INSTRUCT:
        each.instructions += [(side.upper(), _instruction(output[side])) for side in SIDES if side in output]
    elif step.kind == BuildStep.Kind.COMPARE:
        each.shares = [(SHARES[key](), f"{share:.1%}") for key, share in output.get("shares", {}).items()]
    elif step.kind == BuildStep.Kind.ROUTE:
        each.verdicts.append(_verdict(step, each))


FRUITLESS = (BuildStep.State.REFUSED, BuildStep.State.DECLINED, BuildStep.State.FAILED)
POINTS: Mapping[str, tuple[Any, int]] = {
    "match_a": (gettext_lazy("Match A"), 2), "match_b": (gettext_lazy("Match B"), 2),
    "pair_match": (gettext_lazy("Pair match"), 2), "no_cue": (gettext_lazy("No cue"), 1),
}  # fmt: skip
"""Of the rubric, with the most that each can have."""
SHARES = {
    "a_b": lambda: _("A and B"), "base_a": lambda: _("base picture and A"), "base_b": lambda: _("base picture and B"),
}  # fmt: skip
AXES = {
    "semantic": lambda: _("Meaning"), "contrast": lambda: _("Only difference"), "shortcut": lambda: _("Give-away"),
}  # fmt: skip
ROUTES = {
    "accept": lambda: _("Accept"), "regenerate": lambda: _("Draw again"), "revise_edits": lambda: _("New instructions"),
    "replan": lambda: _("Plan again"), "ask_again": lambda: _("Ask the critic again"),
    "best_effort": lambda: _("Keep as best effort"), "refused": lambda: _("Refused"),
}  # fmt: skip


def _picture_name(step: BuildStep, side: str) -> str:
    values = {"revision": step.build.revision, "plan": step.plan_round + 1, "round": step.edit_round + 1}
    values["picture"] = side.upper() or _("base picture")  # type: ignore[assignment]
    return _("Revision %(revision)s, plan %(plan)s, round %(round)s: %(picture)s") % values


def _instruction(written: Mapping[str, Any]) -> str:
    return "; ".join(map(str, written["signals"])) if "signals" in written else str(written.get("instruction", ""))


def _verdict(step: BuildStep, each: Round) -> RoundVerdict:
    output = step.output
    critics = [earlier for earlier in each.steps if earlier.kind == BuildStep.Kind.CRITIC]
    last = critics[-1].output if critics else {}
    issues = [
        (side.upper(), AXES[axis](), str(text))
        for side in SIDES
        for axis, text in output.get("issues", {}).get(side, {}).items()
        if text and axis in AXES
    ]
    is_last_refusal = step.override == "image_refused" and output.get("route") == "refused"
    override = str(OVERRIDES.get(step.override, step.override)) if step.override and not is_last_refusal else ""
    notes = [str(note) for note in output.get("notes", ())] if not issues else []
    return RoundVerdict(
        _route(output.get("asked", "")), _route(output.get("route", "")), issues, override,
        bool(last.get("text_visible")), notes,
    )  # fmt: skip


def _route(code: Any) -> str:
    return ROUTES[str(code)]() if str(code) in ROUTES else str(code)
