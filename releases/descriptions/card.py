"""README.md: a dataset card whose head Hugging Face reads. Its numbers were counted when the rows were frozen.

What a data statement (Bender and Friedman 2018) asks for and Emic does not know is named as a gap.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings

from releases.descriptions.citation import bibtex
from releases.descriptions.licences import spdx_identifier
from releases.models import Release, ReleaseFile

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGEST = "1M<n<10M"
_NEVER_KNOWN = (
    *("who recruited the annotators", "pay", "demographics beyond cohorts", "ethical review", "intended uses"),
    *("limitations", "biases", "social impact", "maintenance"),
)


def card(release: Release) -> bytes:
    lines = [*_front_matter(release), "", f"# {_line(release.benchmark.name)} {release.version}", ""]
    if release.benchmark.purpose.strip():
        lines += [release.benchmark.purpose.strip(), ""]
    lines += ["## Contents", "", *_contents(release), ""]
    lines += ["## What was counted", "", *_counted(release.facts["known"]), ""]
    lines += ["## Licence", "", *_licences(release), ""]
    lines += ["## How to cite", "", "```", bibtex(release), "```", ""]
    if release.benchmark.citation.strip():
        lines += ["Cite the work behind it as well:", "", release.benchmark.citation.strip(), ""]
    lines += ["## Not stated", "", "Nobody has written these parts of a data statement:", ""]
    lines += [f"- {gap}" for gap in gaps(release)]
    lines.append("")
    lines += [f"Made with Emic {settings.VERSION}. `sha256sum -c SHA256SUMS` checks the files.", ""]
    return "\n".join(lines).encode()


def gaps(release: Release) -> list[str]:
    """Elements of a data statement that nothing on the site says."""
    benchmark = release.benchmark
    known = {"curation rationale": benchmark.purpose, "licence of the data": benchmark.licence}
    return [name for name, text in known.items() if not text.strip()] + list(_NEVER_KNOWN)


def languages(known: Mapping[str, Any]) -> list[str]:
    return sorted({language for cohort in known["cohorts"] for language in cohort["languages"]})


def configurations(files: Sequence[ReleaseFile]) -> list[tuple[str, str]]:
    """Name and path of each Parquet table. Hugging Face reads one format for each folder."""
    paths = [file.path for file in files if file.path.endswith(".parquet")]
    return [("-".join(path.split("/")[1:-1]), path) for path in sorted(paths)]


def _front_matter(release: Release) -> list[str]:
    benchmark, known = release.benchmark, release.facts["known"]
    identifier = spdx_identifier(benchmark.licence)
    lines = ["---", f"pretty_name: {_quoted(benchmark.name)}"]
    if identifier:
        lines.append(f"license: {identifier.lower()}")
    elif benchmark.licence.strip():
        lines += ["license: other", f"license_name: {_quoted(benchmark.licence.strip())}"]
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
        for name, path in configs:
            lines += [f"- config_name: {name}", "  data_files:", "  - split: train", f"    path: {path}"]
    return [*lines, "---"]


def _contents(release: Release) -> Iterator[str]:
    yield "| file | rows | bytes |"
    yield "|---|---|---|"
    for file in release.files.order_by("path"):
        yield f"| `{file.path}` | {'' if file.rows is None else file.rows} | {file.bytes} |"


def _counted(known: Mapping[str, Any]) -> Iterator[str]:
    answers = known["answers"]
    yield f"- Answers: {answers['people']} of people, {answers['models']} of models. {_time(known)}"
    if not_counted := answers["not_counted"]:
        yield "- Not counted, with the reason: " + _listed(not_counted) + "."
    if known["skipped"]:
        yield "- Skipped, with the reason: " + _listed(known["skipped"]) + "."
    yield from (f"- {line}" for line in _people(known))
    if known["models"]:
        yield "- Models: " + ", ".join(_line(name) for name in known["models"]) + "."
    yield from (f"- {line}" for line in _items(known))


def _people(known: Mapping[str, Any]) -> list[str]:
    cohorts = ", ".join(f"{_line(row['label'])} ({row['people']})" for row in known["cohorts"])
    lines = [f"People who answered: {known['people']}."]
    if cohorts:
        lines.append(f"People by cohort: {cohorts}.")
    withdrawn = known["withdrawn"]
    if withdrawn["answers"]:
        counts = f"{withdrawn['answers']} answers of {withdrawn['people']} people"
        lines.append(f"Left out: {counts} who withdrew their consent.")
    return lines


def _items(known: Mapping[str, Any]) -> list[str]:
    lines = []
    for stage in known["stages"]:
        conditions = {key: count for key, count in stage["conditions"].items() if key}
        lines.append(
            f"Items of {_line(stage['name'])}: {stage['items']}, {stage['concepts']} concepts"
            + (f"; by condition: {_listed(conditions)}" if conditions else "") + "."
        )  # fmt: skip
    return lines


def _licences(release: Release) -> Iterator[str]:
    yield f"The data: {_line(release.benchmark.licence) or 'Not stated.'}"
    pictures = release.facts["known"]["licences"]
    if pictures:
        yield ""
        named = (f"{_line(name) or 'no licence known'} ({count})" for name, count in pictures.items())
        yield f"Pictures: {', '.join(named)}."


def _time(known: Mapping[str, Any]) -> str:
    return f"Given between {known['first']} and {known['last']}." if known["first"] else "There is no answer yet."


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{_line(name) or 'none'} {count}" for name, count in counts.items())


def _line(text: str) -> str:
    """One line that begins no other part of a page."""
    return " ".join(text.split())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
