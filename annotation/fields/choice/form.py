from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from annotation.fields.choice.spec import Config
from annotation.fields.contract import Option, Shown
from annotation.fields.form import Localiser, OptionForm, OptionView, form_values

ANSWERS, PICTURES = "numbers", "pictures"  # columns whose options are the numbers of what the sheet shows


class ChoiceForm(OptionForm):
    def rows(self, config: Config, shown: Shown | None) -> tuple[Option, ...]:
        return config.offered_options(shown)

    def is_many(self, config: Config) -> bool:
        return config.many

    def context(self, config: Config, answer: Any, speech: Localiser, shown: Shown | None) -> Mapping[str, Any]:
        chosen = answer
        if config.options_from and config.many and answer is None:
            chosen = [option.code for option in config.offered_options(shown)]
        words = {"least": config.least, "most": config.most}
        context = super().context(config, chosen, speech, shown)
        return {**context, "choices": _named_numbers(context["choices"], config), **words}

    def answered(self, config: Config, answer: Any, speech: Localiser) -> Mapping[str, Any]:
        if not config.options_from:
            return super().answered(config, answer, speech)
        labels = {option.code: speech.say(option.label) for option in config.more}
        return {
            "chosen": [
                {"code": code, "label": labels.get(code) or number_label(code, config)} for code in form_values(answer)
            ]
        }


def number_label(code: str, config: Config) -> str:
    """The name of an option of the item: a number says what it numbers, where that is known."""
    if not code.isdecimal():
        return code
    if config.options_from == ANSWERS:
        return _("Answer %(number)s") % {"number": code}
    return _("Picture %(n)s") % {"n": code} if config.options_from == PICTURES else code


def _named_numbers(choices: Sequence[OptionView], config: Config) -> list[OptionView]:
    """The options with a number named, so that it does not stand alone beside its key."""
    own = {option.code for option in config.more} if config.options_from else {choice.code for choice in choices}
    return [
        choice if choice.code in own else replace(choice, label=number_label(choice.code, config)) for choice in choices
    ]


FORM = ChoiceForm()
