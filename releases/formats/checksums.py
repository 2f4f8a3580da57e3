"""Checksums as programs print them, compared with those of a release. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

MOST_LINES = 20_000
_SUM = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{64}(?![0-9A-Fa-f])")
_BSD = re.compile(r"SHA(?:2-|-)?256 ?\((?P<path>.+)\) ?= ?", re.IGNORECASE)


@dataclass(frozen=True)
class Checksum:
    """`path` is empty where only the checksum was given."""

    sha256: str
    path: str


@dataclass(frozen=True)
class CheckedFile:
    """What became of a checksum: "same", "differs", or "unknown" where no file of the release is meant. `path`: of the
    file in the release, else as it was given."""

    path: str
    sha256: str
    state: str


def read_checksums(text: str) -> Iterator[Checksum]:
    """Of lines as sha256sum, shasum, Get-FileHash and openssl print them, or checksums alone. Other lines say
    nothing."""
    for line in text.splitlines()[:MOST_LINES]:
        match = _SUM.search(line)
        if match is None:
            continue
        bsd = _BSD.search(line)
        rest = bsd["path"] if bsd else line[match.end() :]
        yield Checksum(match[0].lower(), rest.strip().removeprefix("*").replace("\\", "/").removeprefix("./"))


def compare(checksums: Iterable[Checksum], known: Mapping[str, str]) -> list[CheckedFile]:
    """Each of the checksums, once. `known`: of the files of the release, by their paths.

    A path may have folders before it, such as that of the archive. Without a path a file with this checksum is meant.
    """
    by_sum = {sha256: path for path, sha256 in sorted(known.items(), reverse=True)}
    checked: dict[tuple[str, str], CheckedFile] = {}
    for checksum in checksums:
        path = _known_path(checksum.path, known) if checksum.path else by_sum.get(checksum.sha256, "")
        if not path and checksum.sha256 in by_sum:
            path = by_sum[checksum.sha256]  # the file has another name now
        state = "unknown" if not path else "same" if known[path] == checksum.sha256 else "differs"
        row = CheckedFile(path or checksum.path, checksum.sha256, state)
        checked.setdefault((row.path, row.sha256), row)
    return list(checked.values())


def _known_path(path: str, known: Mapping[str, str]) -> str:
    """The longest end of a path that is one of the release; "" if none is."""
    parts = path.split("/")
    ends = ("/".join(parts[place:]) for place in range(len(parts)))
    return next((end for end in ends if end in known), "")
