from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.fields.contract import InvalidAnswer, Option, Shown, ShownImage
from annotation.fields.form import Localiser, PostData
from annotation.fields.picture.spec import OTHER, Answer, Config, parse_raw


@dataclass(frozen=True)
class Licence:
    code: str
    label: str
    chosen: bool


class PictureForm:
    """Five inputs of one name, in this order: sha, kind, source page, licence, and the licence in words."""

    script = "js/fields/picture.js"
    style = "css/picture.css"
    draws_item = True

    def read(self, posted: PostData, name: str) -> Any:
        return list(posted.getlist(name)) or None

    def fill(self, raw: Any) -> list[str]:
        if isinstance(raw, Mapping):
            return [str(raw.get("sha", "")), str(raw.get("kind", "")), str(raw.get("source", "")), OTHER,
                    str(raw.get("licence", ""))]  # fmt: skip
        return [str(value) for value in raw] if isinstance(raw, (list, tuple)) else []

    def context(self, config: Config, answer: Any, speech: Localiser, shown: Shown | None) -> Mapping[str, Any]:
        draft = _parse_draft(answer)
        codes = {option.code for option in config.licences}
        licence = draft.get("licence", "")
        written = licence and licence not in codes
        return {
            **draft,
            "picture": _uploaded_pictures(draft.get("sha", ""), shown),
            "licences": [_licence(option, licence, speech) for option in config.licences],
            "other": OTHER,
            "written": licence if written else "",
            "writes": bool(written) or (isinstance(answer, list) and len(answer) == 5 and answer[3] == OTHER),
            "needs_source": config.needs_source,
            "least_side": config.least_side,
        }

    def answered(self, config: Config, answer: Any, speech: Localiser) -> Mapping[str, Any]:
        draft = _parse_draft(answer)
        licence_labels = {option.code: speech.say(option.label) for option in config.licences}
        licence = draft.get("licence", "")
        # Its size is not part of the answer; a thumbnail needs none.
        thumbnail = ShownImage("upload", 0, draft.get("sha", ""), 240, 240)
        return {**draft, "picture": thumbnail, "licence_label": licence_labels.get(licence, licence)}


def _parse_draft(raw: Any) -> Answer:
    """A draft may hold anything."""
    try:
        return parse_raw(raw) or {}
    except InvalidAnswer:
        return {}


def _uploaded_pictures(sha: str, shown: Shown | None) -> ShownImage | None:
    return next((upload for upload in (shown.uploads if shown else ()) if upload.sha == sha), None)


def _licence(option: Option, chosen: str, speech: Localiser) -> Licence:
    return Licence(option.code, speech.say(option.label), option.code == chosen)


FORM = PictureForm()
