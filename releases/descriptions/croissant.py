"""croissant.json: the files and columns of a release for programs, with properties for responsible use (RAI).

See https://docs.mlcommons.org/croissant/docs/croissant-spec.html. Record sets read Parquet, else CSV, else JSON Lines.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.urls import reverse

from releases.contents.tables import ReleaseTable
from releases.descriptions.card import languages
from releases.descriptions.licences import spdx_identifier
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


Column = tuple[str, str, str]
"""Name, type and meaning."""


def croissant(release: Release, sets: Sequence[tuple[str, str, Sequence[Column]]]) -> dict[str, Any]:
    """`sets`: of each table its name, the path of its file, and its columns."""
    benchmark, known = release.benchmark, release.facts["known"]
    identifier = spdx_identifier(benchmark.licence)
    licence = f"https://spdx.org/licenses/{identifier}.html" if identifier else benchmark.licence
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": benchmark.slug,
        "alternateName": benchmark.name,
        "description": benchmark.purpose.strip() or benchmark.name,
        **_address(release),
        "license": licence or "Not stated",
        "creator": {"@type": "sc:Organization", "name": benchmark.team.name},
        "datePublished": f"{release.created_at:%Y-%m-%d}",
        "version": release.version,
        "citeAs": benchmark.citation.strip() or f"{benchmark.team.name}: {benchmark.name}, release {release.version}",
        "inLanguage": languages(known),
        "keywords": ["culture", "emic"],
        "isLiveDataset": False,
        **_responsible(release),
        "distribution": list(_distribution(release, [path for _name, path, _columns in sets])),
        "recordSet": [_record_set(name, path, columns) for name, path, columns in sets],
    }


def _address(release: Release) -> dict[str, str]:
    """Of its page, where the site has a name of its own."""
    host = settings.ALLOWED_HOSTS[0]
    if host in ("*", "localhost", "127.0.0.1", "[::1]", "testserver") or host.startswith("."):
        return {}
    path = reverse("releases:release", args=[release.benchmark.slug, release.pk])
    return {"url": f"https://{host}{path}"}


def columns_of(table: ReleaseTable) -> list[Column]:
    """Fixed columns, then those of the sheets."""
    fixed = described(table.table.kind.written)
    own = [(f"answer.{name}", _CELLS.get(kind, "sc:Text"), "Of the sheet; see the codebook.")
           for name, kind in table.table.cells.items()]  # fmt: skip
    return [*fixed, *own]


def described(columns: Sequence[RowColumn]) -> list[Column]:
    return [(column.name, _TYPES.get(column.type, "sc:Text"), column.meaning) for column in columns]


def _distribution(release: Release, paths: Sequence[str]) -> Iterator[dict[str, Any]]:
    for file in ReleaseFile.objects.filter(release=release, path__in=paths).order_by("path"):
        yield {
            "@type": "cr:FileObject",
            "@id": file.path,
            "name": file.path,
            "contentUrl": file.path,
            "contentSize": f"{file.bytes} B",
            "encodingFormat": _FORMATS[file.path.rpartition(".")[2]],
            "sha256": file.sha256,
        }


def _record_set(name: str, path: str, columns: Sequence[Column]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "description": meaning,
                "dataType": kind,
                "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
            }
            for column, kind, meaning in columns
        ],
    }


def _responsible(release: Release) -> dict[str, Any]:
    known = release.facts["known"]
    skipped = ", ".join(f"{reason or 'no reason'}: {count}" for reason, count in known["skipped"].items())
    protocol = "; ".join(
        f"{stage['name']}: {stage['target_answers']} answers wanted of each item, {stage['acceptance']}"
        for stage in known["stages"]
    )
    values = {
        "dataCollection": "People of each cohort answer sheets in a browser, and models answer the same sheets.",
        "dataCollectionType": ["Crowdsourcing"] if known["people"] else [],
        "dataCollectionTimeframe": [date for date in (known["first"], known["last"]) if date],
        "dataCollectionMissingData": f"Skipped, by reason: {skipped}" if skipped else "Nothing was skipped.",
        "dataAnnotationProtocol": protocol,
        "dataAnnotationPlatform": [f"Emic {settings.VERSION}"],
        "annotatorDemographics": [f"{row['label']}: {row['people']} people" for row in known["cohorts"]],
        "machineAnnotationTools": known["models"],
        "dataImputationProtocol": "none",
    }
    return {f"rai:{name}": value for name, value in values.items() if value}
