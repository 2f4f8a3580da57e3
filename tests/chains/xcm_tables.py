"""3XCM's tables and figures as they follow from the files that a researcher downloads."""

import json
import re
from collections import Counter
from typing import Any

import pytest

from papers.xcm.tables.trials import SIX, THREE
from predictions.models import Collection, Run
from tests.chains.link_client import LINK, text_of
from tests.chains.searched_pictures import FULL
from tests.chains.xcm_study import Study
from tests.evaluation.output_forms import TABLE_FILES, figure_forms, table_data, table_forms

TABLES = ("association", "association-countries", "silhouettes", "query-sets", "prompts", "wins-countries",
          "baseline", "descriptor", "descriptor-countries", "tests", "tests-language", "tests-descriptor",
          "drift", "drift-concepts", "images-countries", "images-concepts", "languages", "languages-depths",
          "languages-tiers", "models")  # fmt: skip
FIGURES = ("wins", "wins-six", "plane", "tiers-found", "ranks")


def read_tables(study: Study) -> None:
    client, slug, full = study.researcher.client, study.benchmark.slug, study.size is FULL
    check_tables(study, "1", study.size.unique)
    for key in TABLES:
        table_forms(client, slug, key, files=TABLE_FILES if full or key == "association" else ("json",))
    for key in FIGURES if full else FIGURES[:1]:
        figure_forms(client, slug, key)


def export(study: Study, start: str) -> list[dict[str, Any]]:
    """The file of the first link of this label."""
    researcher = study.researcher
    researcher.stay("Predictions")
    address = next(to for to, inside in LINK.findall(researcher.page) if text_of(inside).startswith(start))
    content = b"".join(study.researcher.client.get(address).streaming_content)  # type: ignore[attr-defined]
    return [json.loads(line) for line in content.decode().splitlines()]


def check_tables(study: Study, version: str, n: int) -> None:
    """Tables 2, 3, 9 and 10 as they follow from the exported files; nothing is summed over collections or versions."""
    client, slug, query = study.researcher.client, study.benchmark.slug, f"collection=pictures@{version}"
    rows = export(study, f"Download Pictures {version}")
    entries = {row["key"]: row["about"] for row in rows if row["kind"] == "entry"}
    assert len(entries) == n
    for key, name in (("images-countries", "country"), ("images-concepts", "concept")):
        table = table_data(client, slug, key, query)
        shown = [int(row["cells"][0]["shown"]) for row in table["rows"]]
        counts = Counter(about[name] for about in entries.values())
        assert sorted(shown) == sorted(counts.values()) and sum(shown) == n
    for key, query_set, roles in (("association", "plain", THREE), ("descriptor", "descriptor", SIX)):
        table = table_data(client, slug, key, query)
        [row] = table["rows"]
        values = [cell["estimate"]["value"] for cell in row["cells"][: len(roles)]]
        assert values == pytest.approx(shares_of_wins(study, version, query_set, roles)), key


def shares_of_wins(study: Study, version: str, query_set: str, roles: tuple[str, ...]) -> list[float]:
    """Of the exported trials and similarities: how often each candidate is the nearest, the first of equal ones."""
    rows = export(study, f"Download Pictures {version}")
    asked = {row["key"]: row["roles"] for row in rows if row["kind"] == "query" and row["query_set"] == query_set}
    collection = Collection.objects.get(key="pictures", version=version)
    asked_plainly = Run.objects.filter(collection=collection, task="forced_choice", system_prompt="")
    run = asked_plainly.get(query_set=query_set)
    scores = {row["query"]: dict(zip(row["keys"], row["scores"], strict=True)) for row in export_of_run(study, run.pk)}
    wins = Counter(max(roles, key=lambda role: scores[key][named[role]]) for key, named in asked.items())
    return [wins[role] / len(asked) for role in roles]


def export_of_run(study: Study, run: int) -> list[dict[str, Any]]:
    researcher = study.researcher
    researcher.stay("Predictions")
    [address] = {to for to, _inside in LINK.findall(researcher.page) if re.search(rf"/runs/{run}\.jsonl$", to)}
    content = b"".join(researcher.client.get(address).streaming_content)  # type: ignore[attr-defined]
    return [json.loads(line) for line in content.decode().splitlines()]
