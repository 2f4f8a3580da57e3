"""What the pages show that check a download of a release and tell how to deposit it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from people.models import User
from releases.descriptions.citation import authors_of, doi_of
from releases.descriptions.licences import spdx_identifier
from releases.formats.checksums import Checksum, compare
from releases.models import Release
from releases.pages.releases import base_context

ZENODO = "https://zenodo.org"
CHIPS = {"same": "ok", "differs": "no", "unknown": "hollow"}


@dataclass(frozen=True)
class ShellCommand:
    """`system`: what it is for, a name that is the same in every language."""

    system: str
    text: str


COMMANDS = (
    ShellCommand("Linux", "sha256sum -c SHA256SUMS"),
    ShellCommand("macOS", "shasum -a 256 -c SHA256SUMS"),
    ShellCommand("Windows (PowerShell)", "Get-ChildItem -Recurse -File | Get-FileHash | ForEach-Object "
                 '{ "$($_.Hash)  $($_.Path)" } | Set-Clipboard'),
)  # fmt: skip


def check_context(user: User, release: Release, checksums: Sequence[Checksum] | None) -> dict[str, Any]:
    """What `releases/check.html` takes. `checksums`: those to compare; None before anything was sent."""
    known = dict(release.files.values_list("path", "sha256"))
    checked = compare(checksums or (), known)
    order = {"differs": 0, "unknown": 1, "same": 2}
    same = {row.path for row in checked if row.state == "same"}
    return base_context(user, release.benchmark) | {
        "release": release,
        "commands": COMMANDS,
        "sent": checksums is not None,
        "rows": [(row, CHIPS[row.state]) for row in sorted(checked, key=lambda row: (order[row.state], row.path))],
        "differ": sum(row.state == "differs" for row in checked),
        "unknown": sum(row.state == "unknown" for row in checked),
        "same": len(same),
        "rest": len(known.keys() - {row.path for row in checked}),
    }


def deposit_context(user: User, release: Release) -> dict[str, Any]:
    """What `releases/deposit.html` takes."""
    name = f"{release.benchmark.slug}-{release.version}"
    return base_context(user, release.benchmark) | {
        "release": release,
        "doi": doi_of(release) if "described" in release.facts else "",
        "metadata": zenodo_metadata(release) if "described" in release.facts else "",
        "licence_known": "described" in release.facts and bool(_licence(release)),
        "zenodo_commands": zenodo_commands(name),
        "hub_commands": hub_commands(release.benchmark.slug, name, release.version),
    }


def zenodo_metadata(release: Release) -> str:
    """zenodo.json: what Zenodo asks for, as its interface for programs reads it."""
    written = release.facts["described"]["written"]
    creators = [
        {key: value for key, value in {
            "name": author.get("name") or f"{author['family']}, {author['given']}",
            "affiliation": author.get("affiliation"),
            "orcid": author.get("orcid", "").rpartition("/")[2],
        }.items() if value}
        for author in authors_of(release)
    ]  # fmt: skip
    licence = _licence(release)
    metadata = {
        "upload_type": "dataset",
        "title": f"{written['name']}, release {release.version}",
        "description": written["purpose"] or written["name"],
        "creators": creators,
        "version": release.version,
        "keywords": ["culture", "benchmark"],
        **({"license": licence.lower()} if licence else {}),
        **({"notes": f"Licence: {written['licence']}"} if written["licence"] and not licence else {}),
    }
    return json.dumps({"metadata": metadata}, ensure_ascii=False, indent=2)


def _licence(release: Release) -> str:
    return spdx_identifier(release.facts["described"]["written"]["licence"])


def zenodo_commands(name: str) -> str:
    header = '-H "Authorization: Bearer $ZENODO_TOKEN"'
    return "\n".join(
        (
            f'curl {header} -H "Content-Type: application/json" --data @zenodo.json \\',
            f"  {ZENODO}/api/deposit/depositions > deposit.json",
            'BUCKET=$(python3 -c \'import json; print(json.load(open("deposit.json"))["links"]["bucket"])\')',
            f'curl {header} --upload-file {name}.zip "$BUCKET/{name}.zip"',
        )
    )


def hub_commands(slug: str, name: str, version: str) -> str:
    return "\n".join(
        (
            f"unzip {name}.zip",
            f"hf upload YOUR-NAME/{slug} {name} . --repo-type dataset",
            f"hf repo tag create YOUR-NAME/{slug} {version} --repo-type dataset",
        )
    )
