"""`./emic backup`: database, images and keys in one tar file, with a manifest that can prove it whole."""

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator, Set
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from . import console
from .data_folder import DataFolder
from .database import Database
from .errors import EmicError

FORMAT = 1
MANIFEST, DUMP, MEDIA = "manifest.json", "database.dump", "media/"
KEYS = ("secret-key", "secrets-key")  # of sessions and links; of the secrets that are encrypted in the database
UPLOADS = "uploads"
DUMPING = "backup-"  # how the folder of a dump begins
LEFT_SECONDS = 24 * 3600.0
DERIVED = {"derivatives", "derived", "incoming", "tmp"}  # made again when asked for, or not yet whole


class Hashing:
    """A file on its way into the tar, hashed while it is read."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.digest.update(data)
        return data


def backup(home: DataFolder, env: dict[str, str], target: Path) -> int:
    """Written beside the target and renamed, so that a file of that name is always a whole backup."""
    begun = time.monotonic()
    if target.is_dir():
        raise EmicError(f"{target} is a folder. Name a file, for example {target / 'emic.tar'}")
    if not target.absolute().parent.is_dir():
        raise EmicError(f"There is no folder {target.absolute().parent} to write to.")
    half = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            manifest = write(home, Database(env["DATABASE_URL"]), file)
            file.flush()
            os.fsync(file.fileno())
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)
    rows, images = sum(manifest["rows"].values()), sum(name.startswith(MEDIA) for name in manifest["files"])
    size = target.stat().st_size / 1e6
    console.print_line(
        f"Saved {rows:,} rows and {images:,} images to {target}: {size:,.1f} MB in {time.monotonic() - begun:.1f} s."
    )
    console.print_line("It holds people's data and the keys: keep it where only you can read it.")
    return 0


def write(home: DataFolder, database: Database, file: BinaryIO) -> dict[str, Any]:
    """The database first: an image is stored before the row that names it, so none is missing from what follows."""
    files: dict[str, dict[str, Any]] = {}
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        remove_leftovers(home.path / "run")
        with tempfile.TemporaryDirectory(prefix=DUMPING, dir=home.path / "run") as folder:
            dump = Path(folder) / DUMP
            rows = database.dump(dump)
            files[DUMP] = add(tar, DUMP, dump)
        for name in KEYS:
            if (home.path / name).exists():
                files[name] = add(tar, name, home.path / name)
        uploads = needed_uploads(database) if "jobs_job" in rows else set()
        for path in media_files(home.path / "media", uploads):
            name = MEDIA + path.relative_to(home.path / "media").as_posix()
            files[name] = add(tar, name, path)
        manifest = {
            "format": FORMAT,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "demo": home.facts().get("demo"),
            "rows": rows,
            "files": files,
        }
        text = json.dumps(manifest, indent=1).encode()
        tar.addfile(header(MANIFEST, len(text), time.time()), io.BytesIO(text))
    return manifest


def remove_leftovers(folder: Path) -> None:
    """Of backups that were killed a day ago or earlier: each left a dump as large as the database."""
    for left in folder.glob(f"{DUMPING}*"):
        with contextlib.suppress(FileNotFoundError):  # another backup removes it, too
            if time.time() - left.stat().st_mtime > LEFT_SECONDS:
                shutil.rmtree(left, ignore_errors=True)


def media_files(folder: Path, uploads: Set[str]) -> Iterator[Path]:
    """What cannot be made again: the bytes as they were received, and of the files of jobs those named in `uploads`."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if not path.is_file() or path.is_symlink() or name.parts[0] in DERIVED:
            continue
        if name.parts[0] != UPLOADS or name.as_posix() in uploads:
            yield path


def needed_uploads(database: Database) -> set[str]:
    """Files of jobs that wait or run, by their names in the storage. Whoever restores sends the others again."""
    query = "SELECT params FROM jobs_job WHERE state IN ('queued', 'running')"
    answer = database.tool("psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", database.url, "-c", query)
    return set(re.findall(rf'"({UPLOADS}/[^"]+)"', answer))


def add(tar: tarfile.TarFile, name: str, path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        hashing = Hashing(file)
        tar.addfile(header(name, size, path.stat().st_mtime), hashing)
    return {"bytes": size, "sha256": hashing.digest.hexdigest()}


def header(name: str, size: int, modified: float) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, int(modified), 0o600
    return entry
