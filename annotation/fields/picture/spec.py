"""A picture that a person brings, with where it is from and what may be done with it. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from annotation.fields.contract import (
    AgreementLevel,
    AnswerProblem,
    Check,
    CodedValue,
    Column,
    ConfigError,
    Examples,
    FaultyExample,
    InvalidAnswer,
    Level,
    Option,
    Rubric,
    Shown,
    ShownImage,
    Spec,
    ValidExample,
    reject_unknown_keys,
    require,
    require_options,
)
from annotation.fields.picture.licence_texts import NO_RIGHTS, OWN_PICTURE, PUBLIC_DOMAIN, UNKNOWN

Answer: TypeAlias = dict[str, str]  # sha, source, licence, kind
KINDS = ("file", "url")
OTHER = "other"  # in a form: the licence is written in the input behind
LONGEST_LICENCE = 120
LONGEST_SOURCE = 2000
PAGE = re.compile(r"https?://[^\s/?#]+\.[^\s/?#]+[^\s]*", re.IGNORECASE)
OWN = "own"
DO_NOT_KNOW = Option("unknown", UNKNOWN)
LICENCES = (
    Option(OWN, OWN_PICTURE),
    Option("CC0 1.0", NO_RIGHTS),
    Option("Public domain", PUBLIC_DOMAIN),
    Option("CC BY 4.0", {"en": "CC BY 4.0"}),
    Option("CC BY-SA 4.0", {"en": "CC BY-SA 4.0"}),
    Option("CC BY-NC 4.0", {"en": "CC BY-NC 4.0"}),
    Option("CC BY-NC-SA 4.0", {"en": "CC BY-NC-SA 4.0"}),
    Option("CC BY 2.0", {"en": "CC BY 2.0"}),
    Option("CC BY-SA 3.0", {"en": "CC BY-SA 3.0"}),
    DO_NOT_KNOW,
)
SHA = "0" * 63 + "1"
SMALL = "0" * 63 + "2"


@dataclass(frozen=True)
class Config:
    """`least_side`: pixels of the shorter side. A source is never asked of one's own picture that came as a file."""

    needs_source: bool = True
    needs_licence: bool = True
    least_side: int = 0
    licences: tuple[Option, ...] = LICENCES


class PictureSpec(Spec[Config, Answer]):
    key: ClassVar[str] = "picture"
    version: ClassVar[int] = 1
    takes_uploads: ClassVar[bool] = True
    problems: ClassVar[frozenset[str]] = frozenset(
        {
            "not_a_picture", "picture_missing", "not_brought", "not_an_address", "source_missing", "licence_missing",
            "licence_not_chosen", "licence_too_long", "picture_too_small",
        }
    )  # fmt: skip
    examples: ClassVar[Examples] = Examples(
        config={"least_side": 300},
        shown=Shown(
            item_id=1,
            target="Egypt",
            target_name="Egypt",
            uploads=(ShownImage("upload", 1, SHA, 1200, 900), ShownImage("upload", 2, SMALL, 1200, 200)),
        ),
        valid=[
            ValidExample(
                {"sha": SHA, "source": "https://example.org/tea", "licence": "CC BY 4.0", "kind": "url"},
                {"sha": SHA, "source": "https://example.org/tea", "licence": "CC BY 4.0", "kind": "url"},
            ),
            ValidExample([SHA, "file", "", OWN, ""], {"sha": SHA, "source": "", "licence": OWN, "kind": "file"}),
            ValidExample(
                [SHA, "file", " https://example.org/شاي ", OTHER, " GFDL 1.3 "],
                {"sha": SHA, "source": "https://example.org/شاي", "licence": "GFDL 1.3", "kind": "file"},
            ),
        ],
        invalid=[
            FaultyExample(["f" * 64, "file", "", OWN, ""], "not_brought"),
            FaultyExample(["", "", "https://example.org/", OWN, ""], "picture_missing"),
            FaultyExample([SHA, "paper", "", OWN, ""], "not_a_picture"),
            FaultyExample([SHA, "url", "", "CC BY 4.0", ""], "source_missing"),
            FaultyExample([SHA, "url", "", OWN, ""], "source_missing"),
            FaultyExample([SHA, "url", "javascript:alert(1)", "CC BY 4.0", ""], "not_an_address"),
            FaultyExample([SHA, "url", "https://example.org/", "", ""], "licence_not_chosen"),
            FaultyExample([SHA, "url", "https://example.org/", OTHER, "x" * 121], "licence_too_long"),
            FaultyExample([SMALL, "file", "", OWN, ""], "picture_too_small"),
            FaultyExample("tea.jpg", "not_a_picture", json_only=True),
            FaultyExample({"sha": 5}, "not_a_picture", json_only=True),
            FaultyExample({"sha": SHA, "kind": "file", "colour": "red"}, "not_a_picture", json_only=True),
        ],
    )

    def config(self, data: Mapping[str, Any], path: str = "config") -> Config:
        reject_unknown_keys(data, ("needs_source", "needs_licence", "least_side", "licences"), path)
        types = {"needs_source": bool, "needs_licence": bool, "least_side": int}
        settings: dict[str, Any] = {key: require(data, key, type_, path) for key, type_ in types.items() if key in data}
        if not 0 <= settings.get("least_side", 0) <= 10_000:
            raise ConfigError(f"{path}.least_side", f"must be 0 to 10000 pixels, not {settings['least_side']}")
        if data.get("licences"):
            settings["licences"] = require_options(data, "licences", path, most=40)
            if any(option.code == OTHER for option in settings["licences"]):
                raise ConfigError(f"{path}.licences", f'"{OTHER}" is always there: it asks for a text')
        return Config(**settings)

    def config_json(self, config: Config) -> dict[str, Any]:
        known = {} if config.licences == LICENCES else {"licences": [licence.to_json() for licence in config.licences]}
        return {**{key: value for key, value in vars(config).items() if key != "licences"}, **known}

    def parse(self, raw: Any, config: Config, shown: Shown) -> Answer | None:
        draft = parse_raw(raw)
        if draft is None:
            return None
        if not draft["sha"]:
            if draft["source"] or draft["licence"]:
                raise InvalidAnswer("picture_missing")
            return None
        if draft["kind"] not in KINDS:
            raise InvalidAnswer("not_a_picture")
        picture = next((upload for upload in shown.uploads if upload.sha == draft["sha"]), None)
        if picture is None:
            raise InvalidAnswer("not_brought")
        draft["kind"] = picture.source or draft["kind"]
        if (draft["source"] and not PAGE.fullmatch(draft["source"])) or len(draft["source"]) > LONGEST_SOURCE:
            raise InvalidAnswer("not_an_address")
        if len(draft["licence"]) > LONGEST_LICENCE:
            raise InvalidAnswer("licence_too_long", most=LONGEST_LICENCE)
        return draft

    def checks(self, answer: Answer, config: Config, shown: Shown) -> list[Check]:
        checks = []
        if config.needs_source and not answer["source"] and (answer["licence"] != OWN or answer["kind"] == "url"):
            checks.append(Check(AnswerProblem("source_missing"), blocks=True))
        if config.needs_licence and not answer["licence"]:
            code = "licence_not_chosen" if DO_NOT_KNOW in config.licences else "licence_missing"
            checks.append(Check(AnswerProblem(code), blocks=True))
        picture = next((upload for upload in shown.uploads if upload.sha == answer["sha"]), None)
        if picture is not None and min(picture.width, picture.height) < config.least_side:
            size = {"width": picture.width, "height": picture.height, "least": config.least_side}
            checks.append(Check(AnswerProblem("picture_too_small", size), blocks=True))
        return checks

    def uploads(self, answer: Answer) -> tuple[str, ...]:
        return (answer["sha"],)

    def with_upload(self, raw: Any, sha: str, kind: str) -> Any:
        rest = [str(value) for value in raw[2:5]] if isinstance(raw, list) else []
        return [sha, kind, *rest, *[""] * (3 - len(rest))]

    def level(self, config: Config) -> Level:
        return "text"

    def agreement_level(self, config: Config) -> AgreementLevel:
        """Everybody brings a picture of their own."""
        return "none"

    def code(self, answer: Answer, config: Config) -> CodedValue | None:
        return None

    def columns(self, config: Config) -> tuple[Column, ...]:
        return (
            Column("", "string", "sha256 of the picture's file as it came"),
            Column("_source", "string", "page it is from"),
            Column("_licence", "string", f"licence as chosen or written; {OWN}: taken by the rater"),
            Column("_kind", "string", "file: sent by the rater; url: fetched from an address the rater gave"),
        )

    def cells(self, answer: Answer, config: Config) -> dict[str, Any]:
        return {"": answer["sha"], **{f"_{key}": answer[key] for key in ("source", "licence", "kind")}}

    def rubric(self, label: str, config: Config, language: str = "en") -> Rubric:
        words = f"{label}\nAnswer with a picture of those you were given, its source page and its licence."
        text = {"type": "string"}
        schema = {
            "type": "object",
            "properties": {"sha": text, "source": text, "licence": text, "kind": {"enum": list(KINDS)}},
            "required": ["sha", "source", "licence", "kind"],
            "additionalProperties": False,
        }
        return Rubric(words, schema)


def parse_raw(raw: Any) -> Answer | None:
    """What came, not checked yet. Of a form: sha, kind, source, licence, the other licence, in this order."""
    if raw is None or raw == []:
        return None
    if isinstance(raw, list):
        if len(raw) != 5 or not all(isinstance(value, str) for value in raw):
            raise InvalidAnswer("not_a_picture")
        sha, kind, source, licence, other = (value.strip() for value in raw)
        return {"sha": sha, "source": source, "licence": other if licence == OTHER else licence, "kind": kind}
    if not isinstance(raw, Mapping) or not set(raw) <= {"sha", "source", "licence", "kind"}:
        raise InvalidAnswer("not_a_picture")
    draft = {key: raw.get(key, "") for key in ("sha", "source", "licence", "kind")}
    if not all(isinstance(value, str) for value in draft.values()):
        raise InvalidAnswer("not_a_picture")
    return {key: value.strip() for key, value in draft.items()}


SPEC = PictureSpec()
