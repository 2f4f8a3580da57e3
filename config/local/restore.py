"""`./emic restore`: a backup into an empty folder, every byte checked before anything is believed."""

import hashlib
import json
import shutil
import tarfile
import time
from pathlib import Path, PurePosixPath
from typing import IO, Any

from . import console
from .backup import DUMP, FORMAT, KEYS, MANIFEST, MEDIA
from .data_folder import DataFolder
from .database import Database, external_url
from .errors import EmicError
from .process import stopping_on_signals
from .servers import Postgres

MAX_MANIFEST = 512 * 1024 * 1024


def restore(home: DataFolder, source: Path) -> int:
    begun = time.monotonic()
    if not source.is_file():
        raise EmicError(f"There is no file {source}.")
    if home.path.exists() and (not home.path.is_dir() or any(path.is_file() for path in home.path.rglob("*"))):
        raise EmicError(f"{home.path} is not an empty folder. Name an empty or new one: --data FOLDER")
    was_there = home.path.exists()
    with stopping_on_signals():
        try:
            home.prepare()
            home.hold("restore")
            manifest = unpack(source, home.path)
            load(home, manifest)
        except BaseException:
            home.release()
            for path in home.path.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            if not was_there:
                home.path.rmdir()
            raise
    home.release()
    rows, images = sum(manifest["rows"].values()), sum(name.startswith(MEDIA) for name in manifest["files"])
    console.print_line(
        f"Restored {rows:,} rows and {images:,} images to {home.path} in {time.monotonic() - begun:.1f} s."
    )
    return 0


def unpack(source: Path, target: Path) -> dict[str, Any]:
    """Write the files of the tar below the target, then hold them against the manifest."""
    checksums: dict[str, dict[str, Any]] = {}
    manifest: dict[str, Any] = {}
    try:
        with tarfile.open(source, "r:") as tar:
            for member in tar:
                check_member(member)
                content = tar.extractfile(member)
                assert content is not None
                if member.name == MANIFEST:
                    manifest = json.loads(content.read(MAX_MANIFEST))
                elif member.name in checksums:
                    raise EmicError(f"{source} names {member.name} twice; nothing was restored.")
                else:
                    checksums[member.name] = write(content, target / member.name)
    except (tarfile.TarError, ValueError, EOFError) as error:
        raise EmicError(f"{source} is not a whole backup of Emic ({error}); nothing was restored.") from error
    check_manifest(source, manifest, checksums)
    return manifest


def check_member(member: tarfile.TarInfo) -> None:
    """Only plain files, only where a backup has them."""
    path = PurePosixPath(member.name)
    known = member.name in (MANIFEST, DUMP, *KEYS) or member.name.startswith(MEDIA)
    if not member.isreg() or path.is_absolute() or ".." in path.parts or "\0" in member.name or not known:
        raise EmicError(f"The file holds {member.name!r}, which no backup of Emic does; nothing was restored.")


def write(content: IO[bytes], path: Path) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        while data := content.read(1024 * 1024):
            digest.update(data)
            size += file.write(data)
    if path.name in KEYS:
        path.chmod(0o600)
    return {"bytes": size, "sha256": digest.hexdigest()}


def check_manifest(source: Path, manifest: dict[str, Any], checksums: dict[str, dict[str, Any]]) -> None:
    if not manifest:
        raise EmicError(f"{source} has no manifest, so it is not a whole backup of Emic; nothing was restored.")
    if manifest.get("format") != FORMAT:
        raise EmicError(f"{source} was made by a newer Emic (format {manifest.get('format')}); nothing was restored.")
    wrong = sorted(
        name for name in {*checksums, *manifest["files"]} if checksums.get(name) != manifest["files"].get(name)
    )
    if wrong:
        raise EmicError(f"{source} is damaged: {wrong[0]} is not what was saved; nothing was restored.")


def load(home: DataFolder, manifest: dict[str, Any]) -> None:
    """Into our own server in the new folder, or into the empty database that DATABASE_URL names."""
    server = None if external_url() else Postgres(home.path)
    try:
        if server:
            server.start()
        database = Database(server.url if server else external_url())
        if database.counts():
            raise EmicError("The database at DATABASE_URL is not empty. Name an empty one; nothing was restored.")
        database.load(home.path / DUMP)
        if database.counts() != manifest["rows"]:
            raise EmicError("The restored database does not have the rows that were saved; nothing was kept.")
    finally:
        if server:
            server.stop()
    (home.path / DUMP).unlink()
    home.remember(demo=manifest.get("demo") or "none")
