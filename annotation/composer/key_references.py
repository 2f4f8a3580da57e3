"""What refers to a question by its key follows a new key.

The form sends, beside the key of a question, the key with which the page was drawn. Everything else on that page still
names the question by it, however often the draft was saved in between.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from annotation.composer.paths import get_value
from benchmarks.rules.expressions import TOKEN

DRAWN = "drawn_key"


def follow_keys(content: dict[str, Any]) -> None:
    """Take the drawn keys out of the questions, and give references to them the keys that the questions have now."""
    fields = [field for field in get_value(content, "sheet.fields", []) if isinstance(field, dict)]
    drawn = [(str(field.pop(DRAWN, "") or ""), str(field.get("key") or "")) for field in fields]
    count = Counter(old for old, _new in drawn)
    renamed = {old: new for old, new in drawn if old and new and old != new and count[old] == 1}
    if not renamed:
        return
    for field in fields:
        _rename(field.get("show_if"), "field", renamed)
        _rename(field, "required_unless", renamed)
    _rename(content.get("layout"), "gate", renamed)
    sheet, rule = content.get("sheet"), content.get("acceptance_rule")
    for row in [
        *_rows(get_value(sheet, "checks")),
        *_rows(get_value(rule, "clauses")),
        get_value(sheet, "score"),
        get_value(rule, "score"),
    ]:
        if isinstance(row, dict) and isinstance(row.get("expression"), str):
            row["expression"] = renamed_expression(row["expression"], renamed)


def renamed_expression(text: str, renamed: Mapping[str, str]) -> str:
    """The expression with other names; texts in quotation marks stay."""
    parts, end = [], 0
    for token in TOKEN.finditer(text):
        name = token["name"]
        first, dot, rest = (name or "").partition(".")
        if first in renamed:
            parts += [text[end : token.start("name")], renamed[first], dot, rest]
            end = token.end("name")
    return "".join([*parts, text[end:]])


def _rename(owner: Any, member: str, renamed: Mapping[str, str]) -> None:
    if isinstance(owner, dict) and owner.get(member) in renamed:
        owner[member] = renamed[owner[member]]


def _rows(rows: Any) -> list[Any]:
    return rows if isinstance(rows, list) else []
