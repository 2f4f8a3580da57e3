"""The form of a way to ask models at a stage: the prompt, its wording and options, and its place in the chain."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign
from annotation.sheets.sheet import localise
from benchmarks.models import Benchmark, Stage
from benchmarks.queries.model_conditions import SHEET, is_judging, model_conditions
from benchmarks.recipes.contract import ModelCondition
from people.forms.base import StyledFormMixin
from predictions.forms.answer_runs import OPTION, field_of
from predictions.prompts.contract import Prompt, PromptOption
from predictions.prompts.prompt_templates import TemplatePrompt
from predictions.prompts.registry import PROMPTS, problems_of
from predictions.texts.call_reasons import option_problem_text
from predictions.texts.conditions import NEEDS

TYPED = ("choice", "number", "text", "flag")
"""Kinds of options that belong to a condition. Runs, knowledge bases and examples are chosen when models are asked."""


def prompt_choices(used: Sequence[str]) -> list[tuple[str, str]]:
    """The general ones, then those that the benchmark uses, then the others of this site."""
    by_key = {prompt.key: prompt for prompt in PROMPTS}
    first = [key for key in dict.fromkeys([SHEET, *used]) if key in by_key]
    others = [key for key in by_key if key not in first]
    return [(key, gettext(by_key[key].name)) for key in (*first, *others)]


class ConditionForm(StyledFormMixin, forms.Form):
    """Of one prompt. `existing`: what is changed."""

    name = forms.CharField(
        label=_("Name"), max_length=120,
        help_text=_("As it is listed under “Ask models”, such as: With reasons first."),
    )  # fmt: skip
    stage = forms.ChoiceField(label=_("Stage"))
    setting = forms.SlugField(
        label=_("Prompt variant"), max_length=60, required=False,
        help_text=_("Tells its answers apart from other ways at this stage: small letters, such as: reasons-first."),
    )  # fmt: skip
    judge = forms.BooleanField(
        label=_("Follow new items"), required=False,
        help_text=_("The run asks about items that come later, too. A judge needs this: answers appear one by one."),
    )  # fmt: skip
    needs = forms.MultipleChoiceField(
        label=_("An item must have"), required=False, choices=list(NEEDS.items()),
        widget=forms.CheckboxSelectMultiple, help_text=_("Listed beside it, for those who ask models."),
    )  # fmt: skip

    def __init__(
        self, *args: Any, benchmark: Benchmark, prompt: Prompt, existing: ModelCondition | None, stage: str = "",
        **kwargs: Any,
    ) -> None:  # fmt: skip
        self.benchmark, self.prompt, self.existing = benchmark, prompt, existing
        self.stages = list(benchmark.stages.all())
        super().__init__(*args, initial=self._initial(existing, stage), **kwargs)
        choices = [(each.key, each.name) for each in self.stages]
        self.fields["stage"].choices = choices  # type: ignore[attr-defined]
        for option in self.typed_options():
            field = field_of(option, benchmark, Campaign())
            if existing and option.key in existing.options:
                field.initial = existing.options[option.key]
            self.fields[OPTION + option.key] = field

    def _initial(self, existing: ModelCondition | None, stage: str) -> dict[str, Any]:
        if existing:
            return {
                "name": localise(existing.name, "en"), "stage": existing.stage, "setting": existing.setting,
                "judge": existing.judge, "needs": list(existing.needs),
            }  # fmt: skip
        chosen: Stage | None = next((each for each in self.stages if each.key == stage), None)
        return {"stage": stage, "judge": bool(chosen and is_judging(chosen))}

    def typed_options(self) -> Iterator[PromptOption]:
        yield from (option for option in self.prompt.options if option.kind in TYPED)

    @property
    def wording(self) -> TemplatePrompt | None:
        """The prompt with its own wording, to write another one after it."""
        return self.prompt if isinstance(self.prompt, TemplatePrompt) and self.prompt.user else None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for problem in problems_of(self.prompt, self._options()):
            if OPTION + problem.option in self.fields:  # what is chosen when models are asked is checked then
                self.add_error(OPTION + problem.option, option_problem_text(problem.code, problem.place))
        if self.existing is None:
            self._check_variant(data)
        return data

    def _check_variant(self, data: dict[str, Any]) -> None:
        """A model that is asked in two ways at one stage answers under two variants. Published recipes have ways for
        different models under one variant, so that a change of a known way is not refused."""
        variants = {prompt.key: prompt.setting for prompt in PROMPTS}
        place = (data.get("stage"), data.get("setting") or self.prompt.setting)
        for other in model_conditions(self.benchmark, self.stages):
            if place == (other.stage, other.setting or variants.get(other.prompt, "")):
                text = _("“%(name)s” has this variant at the same stage. Write another one, such as: own-wording.")
                self.add_error("setting", text % {"name": localise(other.name, "en")})
                return

    def _options(self) -> dict[str, Any]:
        """What was changed from what the prompt does by itself, and what is chosen elsewhere."""
        options = dict(self.existing.options) if self.existing and self.existing.prompt == self.prompt.key else {}
        for option in self.typed_options():
            value = self.cleaned_data.get(OPTION + option.key)
            if value in ("", None) or (value == option.default and option.key not in options):
                options.pop(option.key, None)
            else:
                options[option.key] = value
        return options

    def condition(self) -> ModelCondition:
        """Of the valid form. A name in another language stays only with its English text."""
        data, names = self.cleaned_data, dict(self.existing.name) if self.existing else {}
        names = names if names.get("en") == data["name"] else {"en": data["name"]}
        codes = [code for code in (self.existing.needs if self.existing else ()) if code not in NEEDS]
        ordered = [code for code in (self.existing.needs if self.existing else ()) if code in data["needs"]]
        return ModelCondition(
            key=self.existing.key if self.existing else "", name=names, stage=data["stage"], prompt=self.prompt.key,
            setting=data["setting"], needs=tuple(dict.fromkeys([*ordered, *data["needs"], *codes])),
            judge=data["judge"], options=self._options(),
        )  # fmt: skip
