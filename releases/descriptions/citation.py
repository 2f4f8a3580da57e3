"""CITATION.cff of a release: https://citation-file-format.github.io, version 1.2.0."""

import json
from typing import Any

from releases.descriptions.authors import Author, author_name
from releases.descriptions.cited_paper import DOI, CitedPaper, cited_paper
from releases.descriptions.licences import spdx_identifier
from releases.models import Release

_AUTHOR_KEYS = (("family", "family-names"), ("particle", "name-particle"), ("given", "given-names"), ("name", "name"),
                ("orcid", "orcid"), ("affiliation", "affiliation"))  # fmt: skip


def authors_of(release: Release) -> list[Author]:
    """Those that the team named; else the team itself."""
    described: dict[str, Any] = release.facts["described"]
    return described["authors"] or [{"name": described["team"]}]


def doi_of(release: Release) -> str:
    """The DOI that the team typed; "" if it is none."""
    match = DOI.search(release.facts["described"]["card"].get("doi", ""))
    return match[0] if match else ""


def citation_file(release: Release) -> bytes:
    """Texts are written as JSON, which YAML reads."""
    written = release.facts["described"]["written"]
    identifier = spdx_identifier(written["licence"])
    cited = cited_paper(written["citation"])
    also = f", and: {written['citation']}" if written["citation"] and not cited else "."
    lines = [
        "cff-version: 1.2.0",
        "message: " + _quoted(f"If you use this data, please cite it as below{also}"),
        "type: dataset",
        "title: " + _quoted(written["name"]),
        "version: " + _quoted(release.version),
        f"date-released: {release.created_at:%Y-%m-%d}",
        *_authors(authors_of(release), ""),
        "keywords:",
        "  - culture",
        "  - benchmark",
    ]
    if written["purpose"]:
        lines.append("abstract: " + _quoted(written["purpose"]))
    if identifier:
        lines.append(f"license: {identifier}")
    if doi := doi_of(release):
        lines += ["identifiers:", "  - type: doi", "    value: " + _quoted(doi)]
    if cited:
        lines += ["preferred-citation:", *_paper(cited)]
    return "\n".join([*lines, ""]).encode()


def _paper(paper: CitedPaper) -> list[str]:
    kind = "conference-paper" if paper.at_conference else "article"
    lines = [f"  type: {kind}", "  title: " + _quoted(paper.title), *_authors(paper.authors, "  ")]
    if paper.venue and paper.at_conference:
        lines += ["  conference:", "    name: " + _quoted(paper.venue)]
    elif paper.venue:
        lines.append("  journal: " + _quoted(paper.venue))
    if paper.year:
        lines.append(f"  year: {paper.year}")
    return lines + [f"  {key}: {_quoted(value)}" for key, value in (("doi", paper.doi), ("url", paper.url)) if value]


def bibtex(release: Release) -> str:
    """The same for BibTeX; braces of texts are left out, since an odd one would break the entry."""
    title = _plain(release.facts["described"]["written"]["name"])
    authors = " and ".join(_bibtex_name(author) for author in authors_of(release))
    doi = f"  doi = {{{_plain(doi_of(release))}}},\n" if doi_of(release) else ""
    return (
        f"@misc{{{release.benchmark.slug}-{release.version},\n"
        f"  title = {{{{{title}, release {release.version}}}}},\n"
        f"  author = {{{authors}}},\n{doi}"
        f"  year = {{{release.created_at:%Y}}}\n}}"
    )


def _bibtex_name(author: Author) -> str:
    """The name of a group stands in braces of its own, so that it is no family name."""
    if "name" in author:
        return f"{{{_plain(author['name'])}}}"
    return _plain(f"{author['family']}, {author['given']}")


def _authors(authors: list[Author], indent: str) -> list[str]:
    lines = [f"{indent}authors:"]
    for author in authors:
        fields = [f"{key}: {_quoted(author[name])}" for name, key in _AUTHOR_KEYS if author.get(name)]
        lines += [f"{indent}  - {fields[0]}", *(f"{indent}    {field}" for field in fields[1:])]
    return lines


def cited_names(release: Release) -> str:
    return ", ".join(map(author_name, authors_of(release)))


def _plain(text: str) -> str:
    return text.translate({123: None, 125: None, 92: None})


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
