"""JSON Schemas of the files that describe a release, written for these tests from the specifications.

CITATION.cff: Citation File Format 1.2.0, https://github.com/citation-file-format/citation-file-format/blob/1.2.0/schema-guide.md
croissant.json: Croissant 1.1, https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html
"""

from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
DATE: dict[str, Any] = {"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$"}
WEB: dict[str, Any] = {"type": "string", "pattern": r"^(https?|s?ftp)://\S+$"}
ORCID: dict[str, Any] = {"type": "string", "pattern": r"^https://orcid\.org/\d{4}-\d{4}-\d{4}-\d{3}[0-9X]$"}


def closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """An object with these members alone."""
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


def several(of: dict[str, Any], least: int = 1) -> dict[str, Any]:
    return {"type": "array", "items": of, "minItems": least, "uniqueItems": True}


PERSON = closed(
    dict.fromkeys(("family-names", "given-names", "name-particle", "name-suffix", "alias", "affiliation"), TEXT)
    | {"orcid": ORCID, "email": TEXT, "website": WEB}
)
ENTITY = closed({"name": TEXT, "orcid": ORCID, "website": WEB, "email": TEXT, "country": TEXT}, "name")
AUTHORS = several({"anyOf": [PERSON, ENTITY]})
IDENTIFIER = closed(
    {"type": {"enum": ["doi", "url", "swh", "other"]}, "value": TEXT, "description": TEXT}, "type", "value"
)
DOI: dict[str, Any] = {"type": "string", "pattern": r"^10\.\d{4,9}(\.\d+)?/[A-Za-z0-9:/_;\-.()\[\]\\]+$"}
REFERENCE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "authors": AUTHORS, "title": TEXT, "type": {"enum": ["article", "conference-paper"]}, "doi": DOI, "url": WEB,
        "year": {"type": "integer"}, "journal": TEXT, "conference": ENTITY,
    },
    "required": ["authors", "title", "type"], "additionalProperties": False,
}  # fmt: skip
CITATION = closed(
    {
        "cff-version": {"const": "1.2.0"},
        "message": TEXT,
        "title": TEXT,
        "type": {"enum": ["dataset", "software"]},
        "authors": AUTHORS,
        "contact": AUTHORS,
        "abstract": TEXT,
        "keywords": several(TEXT),
        "license": {"type": "string", "pattern": r"^[A-Za-z0-9.+-]+$"},  # an SPDX identifier
        "license-url": WEB,
        "version": TEXT,
        "date-released": DATE,
        "doi": DOI,
        "identifiers": several(IDENTIFIER),
        "url": WEB,
        "repository": WEB,
        "preferred-citation": REFERENCE,
        "references": several(REFERENCE),
    },
    *("cff-version", "message", "title", "authors"),
)

ID: dict[str, Any] = {"type": "object", "properties": {"@id": TEXT}, "required": ["@id"]}
FILE_OBJECT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "@type": {"const": "cr:FileObject"}, "@id": TEXT, "name": TEXT, "contentUrl": TEXT, "encodingFormat": TEXT,
        "contentSize": {"type": "string", "pattern": r"^\d+ B$"},
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    },
    "required": ["@type", "@id", "name", "contentUrl", "encodingFormat", "sha256"],
}  # fmt: skip
FILE_SET: dict[str, Any] = {
    "type": "object",
    "properties": {
        "@type": {"const": "cr:FileSet"}, "@id": TEXT, "name": TEXT, "containedIn": ID, "encodingFormat": TEXT,
        "includes": TEXT,
    },
    "required": ["@type", "@id", "name", "containedIn", "encodingFormat", "includes"],
}  # fmt: skip
FIELD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "@type": {"const": "cr:Field"}, "@id": TEXT, "name": TEXT, "description": TEXT, "repeated": {"type": "boolean"},
        "dataType": {"enum": ["sc:Text", "sc:Integer", "sc:Float", "sc:Boolean", "sc:Date"]},
        "source": {
            "type": "object",
            "properties": {
                "fileObject": ID,
                "extract": {"type": "object", "properties": {"column": TEXT}, "required": ["column"]},
            },
            "required": ["fileObject", "extract"],
        },
    },
    "required": ["@type", "@id", "name", "dataType", "source"],
}  # fmt: skip
RECORD_SET: dict[str, Any] = {
    "type": "object",
    "properties": {"@type": {"const": "cr:RecordSet"}, "@id": TEXT, "name": TEXT, "field": several(FIELD)},
    "required": ["@type", "@id", "name", "field"],
}
CREATOR: dict[str, Any] = {
    "type": "object",
    "properties": {"@type": {"enum": ["sc:Person", "sc:Organization"]}, "name": TEXT},
    "required": ["@type", "name"],
}
CROISSANT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "@context": {"type": "object", "properties": {"cr": {"const": "http://mlcommons.org/croissant/"}}},
        "@type": {"const": "sc:Dataset"},
        "conformsTo": {"type": "array", "contains": {"const": "http://mlcommons.org/croissant/1.1"}},
        "name": TEXT,
        "description": TEXT,
        "license": TEXT,
        "creator": several(CREATOR),
        "datePublished": DATE,
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        "citeAs": TEXT,
        "inLanguage": {"type": "array", "items": TEXT},
        "distribution": several({"oneOf": [FILE_OBJECT, FILE_SET]}),
        "recordSet": several(RECORD_SET),
    },
    "required": [
        *("@context", "@type", "conformsTo", "name", "description", "license", "creator", "datePublished", "version"),
        *("citeAs", "distribution", "recordSet"),
    ],
}


def problems_of(content: Any, schema: dict[str, Any]) -> list[str]:
    """What a file says that its specification does not allow."""
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(content)]


def croissant_problems(content: Any) -> list[str]:
    """By the schema, and names of files that nothing declares."""
    if problems := problems_of(content, CROISSANT):
        return problems
    known = {file["@id"] for file in content["distribution"]}
    named = {file["containedIn"]["@id"] for file in content["distribution"] if "containedIn" in file}
    fields = [field for record in content["recordSet"] for field in record["field"]]
    named |= {field["source"]["fileObject"]["@id"] for field in fields}
    ids = [thing["@id"] for thing in (*content["distribution"], *content["recordSet"], *fields)]
    repeated = sorted({name for name in ids if ids.count(name) > 1}) if len(set(ids)) < len(ids) else []
    return [f"not declared: {name}" for name in sorted(named - known)] + [f"twice: {name}" for name in repeated]
