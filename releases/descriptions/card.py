"""README.md: a dataset card whose head Hugging Face reads. Its numbers were counted when the rows were frozen.

What a data statement (Bender and Friedman 2018) or a datasheet (Gebru et al. 2021) asks for and nobody has written is
named as a gap.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings

from releases.descriptions.citation import bibtex
from releases.descriptions.computed import count_of, group_size, listed, one_line, withheld
from releases.descriptions.licences import spdx_identifier
from releases.descriptions.sections import STATEMENT, filled, gaps, quiet
from releases.descriptions.sections import known as known_facts
from releases.models import Release, ReleaseFile
from releases.models.selections import SPLITS

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGEST = "1M<n<10M"


def card(release: Release) -> bytes:
    written = release.facts["described"]["written"]
    lines = [*_front_matter(release), "", f"# {one_line(written['name'])} {release.version}", ""]
    if written["purpose"]:
        lines += [quiet(written["purpose"]), ""]
    lines += ["## Contents", "", *_contents(release), ""]
    lines += ["## What was counted", "", *_counted(release), ""]
    lines += ["## Licence", "", *_licences(release), ""]
    lines += ["## How to cite", "", "```", bibtex(release), "```", ""]
    if written["citation"]:
        lines += ["Cite the work behind it as well:", "", quiet(written["citation"]), ""]
    lines += ["## Description", "", "DATA_STATEMENT.md and DATASHEET.md describe the data.", ""]
    for part in filled(release, STATEMENT):
        if part.texts:
            lines += [f"### {part.section.title}", "", *(f"{quiet(text)}\n" for text in part.texts)]
    lines += ["## Not stated", ""]
    missing = gaps(release)
    lines.append("Nobody has written these parts:" if missing else "Every part of the descriptions is written.")
    lines += ["", *(f"- {section.title}" for section in missing)] if missing else []
    lines.append("")
    lines += [f"Made with Emic {settings.VERSION}. `sha256sum -c SHA256SUMS` checks the files.", ""]
    return "\n".join(lines).encode()


def languages(known: Mapping[str, Any]) -> list[str]:
    return sorted({language for cohort in known["cohorts"] for language in cohort["languages"]})


def configurations(files: Sequence[ReleaseFile]) -> dict[str, dict[str, list[str]]]:
    """Of each Parquet table its name, and the paths of its files by split. Hugging Face reads one format for each
    folder."""
    configs: dict[str, dict[str, list[str]]] = {}
    for path in sorted(file.path for file in files if file.path.endswith(".parquet")):
        *folders, name = path.split("/")[1:]
        splits = configs.setdefault("-".join(folders), {})
        splits.setdefault(name.partition("-")[0], []).append(path)
    return configs


def _front_matter(release: Release) -> list[str]:
    written, known = release.facts["described"]["written"], release.facts["known"]
    identifier = spdx_identifier(written["licence"])
    lines = ["---", f"pretty_name: {_quoted(written['name'])}"]
    if identifier:
        lines.append(f"license: {identifier.lower()}")
    elif written["licence"]:
        lines += ["license: other", f"license_name: {_quoted(written['licence'])}", "license_link: LICENSE"]
    spoken = sorted({language.split("-")[0].lower() for language in languages(known)})
    if spoken:
        lines += ["language:", *(f"- {_quoted(language)}" for language in spoken)]
    creators = [name for name, kind in (("crowdsourced", "people"), ("machine-generated", "models"))
                if known["answers"][kind]]  # fmt: skip
    if creators:
        lines += ["annotations_creators:", *(f"- {name}" for name in creators)]
    rows = sum(count for table, count in release.facts["rows"].items() if table.endswith("/ratings"))
    size = next((name for limit, name in _SIZES if rows < limit), _LARGEST)
    lines += ["size_categories:", f"- {size}", "tags:", "- culture", "- croissant", "- emic"]
    if configs := configurations(list(release.files.all())):
        lines.append("configs:")
        for name, splits in configs.items():
            lines += [f"- config_name: {name}", "  data_files:"]
            for split in sorted(splits, key=SPLITS.index):
                lines += [f"  - split: {split}", "    path:", *(f"    - {path}" for path in splits[split])]
    return [*lines, "---"]


def _contents(release: Release) -> Iterator[str]:
    yield "| file | rows | bytes |"
    yield "|---|---|---|"
    for file in release.files.order_by("path"):
        yield f"| `{file.path}` | {'' if file.rows is None else file.rows} | {file.bytes} |"


def _counted(release: Release) -> Iterator[str]:
    known = release.facts["known"]
    answers = known["answers"]
    yield f"- Answers: {answers['people']} of people, {answers['models']} of models. {_time(known)}"
    yield from (f"- {sentence}" for sentence in withheld(known_facts(release)))
    if not_counted := answers["not_counted"]:
        yield "- Not counted, with the reason: " + listed(not_counted) + "."
    if known["skipped"]:
        yield "- Skipped, with the reason: " + listed(known["skipped"]) + "."
    yield from (f"- {line}" for line in _people(known))
    if known["models"]:
        yield "- Models: " + ", ".join(one_line(name) for name in known["models"]) + "."
    yield from (f"- {line}" for line in _items(known))


def _people(known: Mapping[str, Any]) -> list[str]:
    cohorts = ", ".join(f"{one_line(row['label'])} ({group_size(row['people'])})" for row in known["cohorts"])
    lines = [f"People who answered: {group_size(known['people'])}."]
    if cohorts:
        lines.append(f"People by cohort: {cohorts}.")
    withdrawn = known["withdrawn"]
    if withdrawn["answers"]:
        counts = f"{withdrawn['answers']} answers of {group_size(withdrawn['people'])} people"
        lines.append(f"Left out: {counts} who withdrew their consent.")
    return lines


def _items(known: Mapping[str, Any]) -> list[str]:
    lines = []
    for stage in known["stages"]:
        conditions = {key: count for key, count in stage["conditions"].items() if key}
        lines.append(
            f"Items of {one_line(stage['name'])}: {stage['items']}, {count_of(stage['concepts'], 'concept')}"
            + (f"; by condition: {listed(conditions)}" if conditions else "") + "."
        )  # fmt: skip
    return lines


def _licences(release: Release) -> Iterator[str]:
    yield f"The data: {one_line(release.facts['described']['written']['licence']) or 'Not stated.'}"
    pictures = release.facts["known"]["licences"]
    if pictures:
        yield ""
        named = (f"{one_line(name) or 'no licence known'} ({count})" for name, count in pictures.items())
        yield f"Pictures: {', '.join(named)}."


def _time(known: Mapping[str, Any]) -> str:
    return f"Given between {known['first']} and {known['last']}." if known["first"] else "There is no answer yet."


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
