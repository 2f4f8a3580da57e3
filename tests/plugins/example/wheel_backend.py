"""Builds the wheel of this example with Python alone (PEP 517): every file of the package, and its metadata."""

import base64
import hashlib
import tomllib
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def build_wheel(folder: str, _settings: Any = None, _metadata: Any = None) -> str:
    project = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]
    name = project["name"].replace("-", "_")
    info = f"{name}-{project['version']}.dist-info"
    groups = project["entry-points"].items()
    files = {path.relative_to(HERE).as_posix(): path.read_bytes() for path in sorted((HERE / name).rglob("*.*"))}
    files = {path: data for path, data in files.items() if not path.endswith(".pyc")}
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n".encode()
    )
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: example\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items()) for group, entries in groups
    ).encode()
    lines = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    wheel = f"{name}-{project['version']}-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder) / wheel, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return wheel


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
