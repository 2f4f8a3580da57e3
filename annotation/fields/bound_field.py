"""A sheet's fields with answers, problems and words: what templates draw."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from annotation.fields.contract import AnswerProblem, Shown, Spec, Text
from annotation.fields.form import FieldForm, Localiser
from annotation.fields.messages import ProblemText, problem_text


class DrawableField(Protocol):
    """A field of a sheet, as far as drawing goes."""

    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def label(self) -> Text: ...
    @property
    def help(self) -> Text: ...
    @property
    def rules(self) -> Sequence[Text]: ...
    @property
    def required(self) -> bool: ...
    @property
    def required_unless(self) -> str: ...
    @property
    def config(self) -> Any: ...
    @property
    def spec(self) -> Spec[Any, Any]: ...
    @property
    def form(self) -> FieldForm: ...


@dataclass(frozen=True)
class BoundField:
    key: str
    name: str
    label: str
    help: str
    required: bool
    input: str
    data: Mapping[str, Any]
    errors: list[ProblemText] = field(default_factory=list)
    warnings: list[ProblemText] = field(default_factory=list)
    confirmed: Collection[str] = ()
    rules: list[str] = field(default_factory=list)
    kind: str = ""
    required_unless: str = ""

    @property
    def missing(self) -> ProblemText:
        """What the page shows where the field is required and empty."""
        return problem_text(AnswerProblem("required"), self.kind)

    @property
    def mark(self) -> str:
        """What the person confirms: all warnings at once."""
        return f"{self.key}:{','.join(one.code for one in self.warnings)}"


@dataclass(frozen=True)
class AnswerView:
    """An answer as it is read: `template` is given `data`."""

    key: str
    label: str
    template: str
    data: Mapping[str, Any]


Problems = Mapping[str, list[AnswerProblem]]


def bind_fields(
    fields: Iterable[DrawableField],
    speech: Localiser,
    answers: Mapping[str, Any],
    errors: Problems | None = None,
    warnings: Problems | None = None,
    confirmed: Collection[str] = (),
    shown: Shown | None = None,
) -> list[BoundField]:
    """Fields for a form. `answers` may be raw ones: of a draft, or as refused. `shown`: where a kind draws the item."""
    return [
        BoundField(
            key=field.key,
            name=field.name,
            label=speech.say(field.label),
            help=speech.say(field.help),
            required=field.required,
            input=f"annotation/fields/{field.spec.key}/input.html",
            data=field.form.context(field.config, answers.get(field.key), speech, shown),
            errors=[problem_text(problem, field.spec.key) for problem in (errors or {}).get(field.key, [])],
            warnings=[problem_text(problem) for problem in (warnings or {}).get(field.key, [])],
            confirmed=[mark for mark in confirmed if mark.startswith(f"{field.key}:")],
            rules=[speech.say(rule) for rule in field.rules],
            kind=field.spec.key,
            required_unless=field.required_unless,
        )
        for field in fields
    ]


def answer_views(fields: Iterable[DrawableField], speech: Localiser, answers: Mapping[str, Any]) -> list[AnswerView]:
    """What was answered, in words."""
    return [
        AnswerView(
            key=field.key,
            label=speech.say(field.label),
            template=f"annotation/fields/{field.spec.key}/answer.html",
            data=field.form.answered(field.config, answers[field.key], speech),
        )
        for field in fields
        if answers.get(field.key) is not None
    ]
