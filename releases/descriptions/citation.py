"""CITATION.cff of a release: https://citation-file-format.github.io, version 1.2.0."""

import json

from releases.descriptions.licences import spdx_identifier
from releases.models import Release


def citation_file(release: Release) -> bytes:
    """Texts are written as JSON, which YAML reads. The team is the author."""
    benchmark = release.benchmark
    identifier = spdx_identifier(benchmark.licence)
    lines = [
        "cff-version: 1.2.0",
        "message: " + _quoted("If you use this data, please cite it as below."),
        "type: dataset",
        "title: " + _quoted(benchmark.name),
        "version: " + _quoted(release.version),
        f"date-released: {release.created_at:%Y-%m-%d}",
        "authors:",
        "  - name: " + _quoted(benchmark.team.name),
    ]
    if benchmark.purpose.strip():
        lines.append("abstract: " + _quoted(benchmark.purpose.strip()))
    if identifier:
        lines.append(f"license: {identifier}")
    return "\n".join([*lines, ""]).encode()


def bibtex(release: Release) -> str:
    """The same for BibTeX; braces of texts are left out, since an odd one would break the entry."""
    benchmark = release.benchmark
    title, team = (text.translate({123: None, 125: None, 92: None}) for text in (benchmark.name, benchmark.team.name))
    return (
        f"@misc{{{benchmark.slug}-{release.version},\n"
        f"  title = {{{{{title}, release {release.version}}}}},\n"
        f"  author = {{{{{team}}}}},\n"
        f"  year = {{{release.created_at:%Y}}}\n}}"
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
