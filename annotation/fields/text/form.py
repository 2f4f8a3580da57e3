from collections.abc import Mapping
from typing import Any

from annotation.fields.contract import Shown
from annotation.fields.form import Localiser, PostData, form_values, posted_value
from annotation.fields.text.spec import Config

LINE = 160  # characters that fit a field of one line; more get two, and are one line all the same


class TextForm:
    script = ""
    style = ""
    draws_item = False

    def read(self, posted: PostData, name: str) -> Any:
        return posted_value(posted, name)

    def fill(self, raw: Any) -> list[str]:
        return form_values(raw)

    def context(self, config: Config, answer: Any, speech: Localiser, shown: Shown | None) -> Mapping[str, Any]:
        return {
            "written": answer if isinstance(answer, str) else "",
            "rows": 4 if config.long else 2 if config.max_length > LINE else 1,
            "least": config.min_length,
            "most": config.max_length,
            "direction": config.direction,
            "language": config.language,
        }

    def answered(self, config: Config, answer: Any, speech: Localiser) -> Mapping[str, Any]:
        return {"written": answer, "direction": config.direction, "language": config.language}


FORM = TextForm()
