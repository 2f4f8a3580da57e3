"""croissant.json: the files and columns of a release for programs, with properties for responsible use (RAI).

See https://docs.mlcommons.org/croissant/docs/croissant-spec.html. Record sets read Parquet, else CSV, else JSON Lines.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import reverse

from releases.contents.tables import ReleaseTable
from releases.descriptions.authors import Author, author_name
from releases.descriptions.card import languages
from releases.descriptions.citation import authors_of, cited_names
from releases.descriptions.licences import EXTENSIONS, spdx_identifier
from releases.descriptions.responsible import responsible
from releases.models import Release, ReleaseFile
from releases.rows.columns import RowColumn

_TERMS = (
    *("citeAs", "column", "extract", "field", "fileProperty", "fileObject", "fileSet", "format", "includes"),
    *("isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated"),
    *("replace", "separator", "source", "subField", "transform"),
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS},
}
_FORMATS = {"parquet": "application/x-parquet", "csv": "text/csv", "jsonl": "application/jsonlines"}
_TYPES = {"int8": "sc:Integer", "int4": "sc:Integer", "float8": "sc:Float", "bool": "sc:Boolean", "time": "sc:Date"}
_CELLS = {"number": "sc:Float", "integer": "sc:Integer"}
_TYPED_CELLS = {**_CELLS, "integer_code": "sc:Integer", "flag": "sc:Boolean"}


class DescribedColumn(NamedTuple):
    """`is_list`: it has several values of the type."""

    name: str
    kind: str
    meaning: str
    is_list: bool = False


RecordSet = tuple[str, str, Sequence[DescribedColumn]]
"""Name, the path of its file, and its columns."""


def croissant(release: Release, sets: Sequence[RecordSet]) -> dict[str, Any]:
    benchmark, known, written = release.benchmark, release.facts["known"], release.facts["described"]["written"]
    identifier = spdx_identifier(written["licence"])
    licence = f"https://spdx.org/licenses/{identifier}.html" if identifier else written["licence"]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": benchmark.slug,
        "alternateName": written["name"],
        "description": written["purpose"] or written["name"],
        **_address(release),
        "license": licence or "Not stated",
        "creator": [_creator(author) for author in authors_of(release)],
        "datePublished": f"{release.created_at:%Y-%m-%d}",
        "version": release.version,
        "citeAs": written["citation"] or f"{cited_names(release)}: {written['name']}, release {release.version}",
        "inLanguage": languages(known),
        "keywords": ["culture", "emic"],
        "isLiveDataset": False,
        **responsible(release),
        "distribution": list(_distribution(release, [path for _name, path, _columns in sets])),
        "recordSet": [_record_set(name, path, columns) for name, path, columns in sets],
    }


def _creator(author: Author) -> dict[str, Any]:
    kind = "sc:Organization" if "name" in author else "sc:Person"
    creator: dict[str, Any] = {"@type": kind, "name": author_name(author)}
    if "orcid" in author:
        creator["sameAs"] = author["orcid"]
    if "affiliation" in author:
        creator["affiliation"] = {"@type": "sc:Organization", "name": author["affiliation"]}
    return creator


def _address(release: Release) -> dict[str, str]:
    """Of its page, where the site has a name of its own."""
    host = settings.ALLOWED_HOSTS[0]
    if host in ("*", "localhost", "127.0.0.1", "[::1]", "testserver") or host.startswith("."):
        return {}
    path = reverse("releases:release", args=[release.benchmark.slug, release.pk])
    return {"url": f"https://{host}{path}"}


def columns_of(table: ReleaseTable, form: str) -> list[DescribedColumn]:
    """Fixed columns, then those of the sheets. Readers of Croissant take no lists of boxes: those are in `answers`."""
    fixed, is_typed = described(table.columns), form == "parquet"
    types = _TYPED_CELLS if is_typed else _CELLS
    own = [
        DescribedColumn(f"answer.{name}", types.get(kind, "sc:Text"), "Of the sheet; see the codebook.",
               is_list=is_typed and kind == "codes")
        for name, kind in table.table.cells.items() if not (is_typed and kind == "boxes")
    ]  # fmt: skip
    return [*fixed, *own]


def described(columns: Sequence[RowColumn]) -> list[DescribedColumn]:
    return [DescribedColumn(column.name, _TYPES.get(column.type, "sc:Text"), column.meaning) for column in columns]


def _distribution(release: Release, paths: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The files that record sets read, then the archives with the pictures in them."""
    for file in ReleaseFile.objects.filter(release=release, path__in=paths).order_by("path"):
        yield _file_object(file, _FORMATS[file.path.rpartition(".")[2]])
    formats = release.facts["described"]["picture_formats"]
    for file in ReleaseFile.objects.filter(release=release, media_type="application/zip").order_by("path"):
        yield _file_object(file, "application/zip")
        for form in sorted(formats):
            yield {
                "@type": "cr:FileSet",
                "@id": f"{file.path.removesuffix('.zip')}-{form}",
                "name": f"{file.path.removesuffix('.zip')}-{form}",
                "containedIn": {"@id": file.path},
                "encodingFormat": f"image/{form.lower()}",
                "includes": f"images/*/*.{EXTENSIONS.get(form.lower(), form.lower())}",
            }


def _file_object(file: ReleaseFile, form: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": form,
        "sha256": file.sha256,
    }


def _record_set(name: str, path: str, columns: Sequence[DescribedColumn]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column.name}",
                "name": column.name,
                "description": column.meaning,
                "dataType": column.kind,
                **({"repeated": True} if column.is_list else {}),
                "source": {"fileObject": {"@id": path}, "extract": {"column": column.name}},
            }
            for column in columns
        ],
    }
