"""Releases: drafted, built, published, downloaded, and put on the Hugging Face Hub by the user's own login."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .connection import Connection
from .downloads import download, local_path
from .errors import NotFound, Problem
from .jobs import Clock, Job, is_quiet
from .remote_object import RemoteList, RemoteObject
from .resources import ExportRecord, ReleaseFile, ReleaseRecord


class Release(RemoteObject[ReleaseRecord]):
    """A release as it was when it was last asked for: `data` has all that the site says of it.

    `state`: draft, ready, published or withdrawn.
    """

    def __init__(self, connection: Connection, benchmark_path: str, raw: Mapping[str, Any]) -> None:
        super().__init__(connection, f"{benchmark_path}releases/", ReleaseRecord, raw)

    def __repr__(self) -> str:
        return f"<Release {self.version}: {self.state}>"

    @property
    def version(self) -> str:
        return self.data.version

    def build(self, version: str | None = None) -> Release:
        """Freeze the rows as they are now and write the files: `.wait()` for them. `version`: another one, where what
        changed needs a higher one."""
        return self._act("build", None if version is None else {"version": version})

    def wait(
        self, timeout: float | None = None, poll: float = 2, *, strict: bool = True, clock: Clock = time.monotonic
    ) -> Release:
        """Wait until it is built, with a progress bar. Raises WaitTimeout and JobFailed."""
        if self.state == "draft" and self.data.job is not None:
            job = Job(self._connection, self._connection.get(f"/api/v1/jobs/{self.data.job}/"))
            job.wait(timeout, poll, strict=strict, clock=clock)
        return self.refresh()

    def publish(self, *, confirmed: bool = False, reason: str = "") -> Release:
        """Make it final: nobody can change it afterwards. `confirmed`: you have read `data.warnings`; `reason`: why it
        is published in spite of them. Raises Refused with what stands against it. Needs the scope `admin`, and the role
        owner."""
        return self._act("publish", {"confirmed": confirmed, "reason": reason})

    def withdraw(self, reason: str) -> Release:
        """Delete the files of a published release; its manifest and the reason stay."""
        return self._act("withdraw", {"reason": reason})

    def files(self) -> list[ReleaseFile]:
        """Its files with their checksums."""
        return [ReleaseFile.from_json(row) for row in self._connection.get(f"{self.path}files/")["files"]]

    def diff(self, earlier: str = "") -> dict[str, Any]:
        """What changed since an earlier version; without one since the published release before it."""
        return dict(self._connection.get(f"{self.path}diff/", {"from": earlier or None}))

    def download(self, folder: str | Path) -> Path:
        """Bring every file into a folder and return it. A file that is there already, with the same checksum, is not
        brought again; each is compared with the checksum that the site announced."""
        return self._bring(folder, self.files())

    def _bring(self, folder: str | Path, files: list[ReleaseFile]) -> Path:
        target = Path(folder)
        paths = {file.path: local_path(target, file.path) for file in files}
        target.mkdir(parents=True, exist_ok=True)
        with _bar(sum(file.bytes for file in files), f"Release {self.version}") as bar:
            for file in files:
                download(self._connection, f"{self.path}files/{file.path}", paths[file.path], file.sha256, bar)
        return target

    def push_to_hub(self, repo_id: str, *, folder: str | Path | None = None, **options: Any) -> str:
        """Put the release on the Hugging Face Hub as a data set, by your own installation of `huggingface_hub` and your
        login there, and return its address. The site takes no part in it. `folder`: where the files lie or are brought
        first; what else lies there stays there. `options`: of HfApi.create_repo, such as private=True."""
        from huggingface_hub import HfApi

        hub, files = HfApi(), self.files()
        with tempfile.TemporaryDirectory() as temporary:
            source = self._bring(folder or temporary, files)
            address = hub.create_repo(repo_id, repo_type="dataset", exist_ok=True, **options)
            hub.upload_folder(
                repo_id=repo_id, folder_path=str(source), repo_type="dataset", commit_message=f"Release {self.version}",
                allow_patterns=[file.path for file in files],
            )  # fmt: skip
        hub.create_tag(repo_id, tag=self.version, repo_type="dataset", exist_ok=True)
        return str(address)


class Releases(RemoteList[Release]):
    """The releases of a benchmark."""

    def __init__(self, connection: Connection, path: str) -> None:
        super().__init__(connection, f"{path}releases/")
        self._benchmark_path = path

    def create(self, version: str | None = None, **options: Any) -> Release:
        """A draft: `.build()` writes its files. `version`: three numbers, or the proposed one. `options`: stages,
        formats, images ("none", "names", "licensed", "stripped", "originals"), splits (shares in percent, such as
        {"train": 80, "test": 20}), group_by, seed, withhold, embed, versions, vectors, notes."""
        body = {**({} if version is None else {"version": version}), **options}
        return self._object(self._connection.post(self._path, body))

    def get(self, version: str | int) -> Release:
        """By its version, such as "1.0.0", or its number. Raises NotFound."""
        if isinstance(version, int):
            return self._get(version)
        for raw in self._connection.pages(self._path, {"version": version}):
            return self._object(raw).refresh()
        raise NotFound(f"There is no release {version!r}.", Problem(status=404))

    def _object(self, raw: Mapping[str, Any]) -> Release:
        return Release(self._connection, self._benchmark_path, raw)


class Export(RemoteObject[ExportRecord]):
    """The rows of a stage as an archive, which the site keeps for a week."""

    def __init__(self, connection: Connection, benchmark_path: str, raw: Mapping[str, Any]) -> None:
        super().__init__(connection, f"{benchmark_path}exports/", ExportRecord, raw)

    def __repr__(self) -> str:
        return f"<Export {self.data.id} of {self.data.stage}: {self.data.state}>"

    def wait(self, timeout: float | None = None, poll: float = 2) -> Export:
        """Wait until it is written. Raises WaitTimeout and JobFailed."""
        Job(self._connection, self._connection.get(f"/api/v1/jobs/{self.data.id}/")).wait(timeout, poll)
        return self.refresh()

    def download(self, folder: str | Path = ".") -> Path:
        """Bring the archive into a folder and return its path. Raises NotFound where the site keeps it no longer."""
        file = self.data.file
        if file is None:
            raise NotFound("The site keeps no file of this export. Wait for it, or export again.", Problem(status=410))
        target = local_path(Path(folder), file["name"])
        with _bar(file["bytes"], file["name"]) as bar:
            return download(self._connection, f"{self.path}file/", target, file["sha256"], bar)


class Exports:
    """The exports of a benchmark."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self._path = path

    def create(self, stage: str, *, format: str = "csv", **options: Any) -> Export:
        """Have the rows of a stage written: `.wait().download(folder)`. `format`: csv, jsonl or parquet. `options`:
        campaign, versions."""
        body = {"stage": stage, "format": format, **options}
        return Export(self._connection, self._path, self._connection.post(f"{self._path}exports/", body))

    def __iter__(self) -> Iterator[Export]:
        for raw in self._connection.pages(f"{self._path}exports/"):
            yield Export(self._connection, self._path, raw)

    def list(self) -> list[Export]:
        return list(self)


def _bar(total: int, name: str) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=total, desc=name, unit="B", unit_scale=True, disable=is_quiet() or not total, leave=True)
