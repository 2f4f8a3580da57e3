"""Instructions, prompts and agreement as files of their own, from what was kept when the rows were frozen."""

import json
import re
from collections.abc import Iterator
from typing import Any

from releases.descriptions.sections import quiet
from releases.models import Release

Document = tuple[str, str, str]
"""Path, text and media type."""


def protocol_documents(release: Release) -> Iterator[Document]:
    """Sorted by kind; a release that was frozen without them has none."""
    for stage, text in sorted(release.facts["codebooks"].items()):
        for version in json.loads(text)["instructions"]:
            yield from _instructions(stage, version)
    if prompts := release.facts.get("prompts"):
        yield "prompts/runs.json", _json(prompts), "application/json"
    if agreement := release.facts.get("agreement"):
        yield "agreement.json", agreement["json"] + "\n", "application/json"
        for stage, table in sorted(agreement["csv"].items()):
            yield f"agreement/{stage}.csv", table, "text/csv"


def _instructions(stage: str, version: dict[str, Any]) -> Iterator[Document]:
    """A file for each language, and for each cohort that has a text of its own."""
    for number, text in enumerate(version["texts"]):
        cohort = re.sub(r"[^A-Za-z0-9]+", "-", text["cohort"] or "").strip("-")
        named = f"-{cohort or 'cohort'}-{number}" if text["cohort"] else ""
        path = f"instructions/{stage}/{version['campaign']}-{version['number']}-{text['language']}{named}.md"
        lines = [f"# Instructions {version['number']} of campaign {version['campaign']}", "", quiet(text["body"]), ""]
        further = {part: text[part] for part in ("pairs", "materials", "quiz") if text[part]}
        if further:
            lines += ["```json", json.dumps(further, ensure_ascii=False, indent=2), "```", ""]
        yield path, "\n".join(lines), "text/markdown"


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
