from collections.abc import Mapping
from typing import Any

from annotation.fields.choice.spec import Config
from annotation.fields.contract import Option, Shown
from annotation.fields.form import Localiser, OptionForm, form_values


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
        return {**super().context(config, chosen, speech, shown), **words}

    def answered(self, config: Config, answer: Any, speech: Localiser) -> Mapping[str, Any]:
        if not config.options_from:
            return super().answered(config, answer, speech)
        labels = {option.code: speech.say(option.label) for option in config.more}
        return {"chosen": [{"code": code, "label": labels.get(code, code)} for code in form_values(answer)]}


FORM = ChoiceForm()
