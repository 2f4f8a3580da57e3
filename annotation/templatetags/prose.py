"""{{ text|prose }}: what people write in a plain box, as paragraphs and lists."""

import re
from itertools import groupby

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
POINT = re.compile(r"^\s*[-*\u2022]\s+")
STRONG = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")


@register.filter
def prose(text: str) -> SafeString:
    """A blank line ends a paragraph, lines that begin with - are a list, **this** is strong; all else stays."""
    blocks = re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip())
    return mark_safe("\n".join(part for block in blocks for part in _parts(block)))  # noqa: S308  (escaped line by line)


def _parts(block: str) -> list[str]:
    blocks = []
    for listed, lines in groupby(block.split("\n"), key=lambda line: POINT.match(line) is not None):
        escaped = [STRONG.sub(r"<b>\1</b>", escape(POINT.sub("", line) if listed else line)) for line in lines]
        points = "".join(f"<li>{line}</li>" for line in escaped)
        blocks.append(f"<ul>{points}</ul>" if listed else f"<p>{'<br>'.join(escaped)}</p>")
    return blocks
