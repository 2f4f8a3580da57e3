"""What several recipes say alike: skip reasons, review reasons, small builders of fields."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.recipes.contract import Text

Json = dict[str, Any]

UNFAMILIAR: Json = {"code": "unfamiliar", "label": {"en": "I am not familiar with what it shows"}}
IRRELEVANT: Json = {"code": "irrelevant", "label": {"en": "It has nothing to do with my culture"}}
BROKEN: Json = {"code": "broken", "label": {"en": "The picture is broken or unreadable"}}
OFFENSIVE: Json = {"code": "offensive", "label": {"en": "It is offensive"}}
UNCLEAR: Json = {"code": "unclear", "label": {"en": "The question cannot be understood"}}
CANNOT_JUDGE: Json = {"code": "cannot_judge", "label": {"en": "I cannot judge it"}}
PICTURE_SKIP_REASONS: tuple[Json, ...] = (
    {
        "code": "unknown",
        "label": {
            "en": "I do not know what it shows",
            "ar": "لا أعرف ما الذي تُظهره",
            "pt": "Não sei o que ela mostra",
            "am": "ምን እንደሚያሳይ አላውቅም",
        },
    },
    {
        "code": "cannot_judge",
        "label": {
            "en": "It cannot be judged",
            "ar": "لا يمكن الحكم عليها",
            "pt": "Não dá para avaliar",
            "am": "ሊመዘን አይችልም",
        },
    },
    {
        "code": "broken",
        "label": {
            "en": "It is broken or unreadable",
            "ar": "الصورة معطوبة أو غير واضحة",
            "pt": "Está danificada ou ilegível",
            "am": "ተበላሽቷል ወይም አይነበብም",
        },
    },
    {
        "code": "offensive",
        "label": {"en": "It is offensive", "ar": "الصورة مسيئة", "pt": "É ofensiva", "am": "አስነዋሪ ነው"},
    },
)


def field(key: str, kind: str, label: Text, config: Mapping[str, Any], **more: Any) -> Json:
    """A field of a sheet, in the order in which a sheet is read."""
    return {
        "key": key,
        "kind": kind,
        "version": 1,
        "label": dict(label),
        "help": dict(more.pop("help", {})),
        "required": more.pop("required", True),
        "config": dict(config),
        **more,
    }


def option(code: str, label: Text, definition: Text | None = None) -> Json:
    return {"code": code, "label": dict(label)} | ({"definition": dict(definition)} if definition else {})


def one_of(key: str, label: Text, options: Sequence[Json], **more: Any) -> Json:
    return field(key, "choice", label, {"options": list(options), "many": False}, **more)


def points(key: str, label: Text, scale: Sequence[Json], **more: Any) -> Json:
    """A rating on an ordinal scale."""
    return field(key, "rating", label, {"level": "ordinal", "points": list(scale)}, **more)
