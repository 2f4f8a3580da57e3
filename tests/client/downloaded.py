"""A release in a folder, as its readers check it."""

import hashlib
from pathlib import Path


def check_sums(folder: Path) -> int:
    """As `sha256sum -c SHA256SUMS`; returns how many files were compared."""
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    for line in lines:
        digest, _space, path = line.partition("  ")
        assert hashlib.sha256((folder / path).read_bytes()).hexdigest() == digest, path
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {line.partition("  ")[2] for line in lines} | {"SHA256SUMS"}, "nothing else is there"
    return len(lines)
