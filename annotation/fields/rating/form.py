from annotation.fields.contract import Option, Shown
from annotation.fields.form import OptionForm
from annotation.fields.rating.spec import SPEC, Config


class RatingForm(OptionForm):
    def rows(self, config: Config, shown: Shown | None) -> tuple[Option, ...]:
        return config.points

    def value(self, config: Config, code: str) -> float | None:
        return SPEC.code(code, config).value


FORM = RatingForm()
