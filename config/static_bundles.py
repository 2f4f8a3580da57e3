"""Files that are always asked for together go over the line as one: a request costs a slow line more than its bytes.

The sources stay small files; this makes `css/joined/*` and `js/joined/*` of them wherever static files are found.
Comments stay behind: they are for whoever reads the sources, and were a fifth of the bytes.
"""

import posixpath
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from django.contrib.staticfiles import finders
from django.core.files.storage import FileSystemStorage

STYLES: Mapping[str, tuple[str, ...]] = {
    "css/joined/sheet.css": (
        "css/emic.css", "css/sheet.css", "css/words.css", "css/picture.css", "css/pair.css", "css/protocol.css",
    ),
}  # fmt: skip
SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "js/joined/parts.js": (
        "js/device-storage.js", "js/sheet-parts.js", "js/sheet-session.js", "js/sheet-outbox.js", "js/sheet-windows.js",
        "js/stage.js", "js/levels.js",
    ),
    "js/joined/contact.js": (
        "js/displays/contact.js", "js/fields/partition.js", "js/fields/grouping-compare.js", "js/fields/grouping.js",
    ),
    "js/joined/box.js": ("js/fields/box-shapes.js", "js/fields/box-labels.js", "js/fields/box.js"),
    **{
        f"js/joined/{name}.js": (path,)
        for name, path in {
            "rules": "js/rules.js",
            "fold": "js/collapsible.js",
            "pair": "js/displays/pair.js",
            "picture": "js/fields/picture.js",
            "sheet": "js/sheet.js",
        }.items()
    },
}  # fmt: skip
HOME = {source: joined for table in (STYLES, SCRIPTS) for joined, sources in table.items() for source in sources}
IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "(\.[^"]+)";$', re.MULTILINE)
SCRIPT_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.MULTILINE)
STYLE_COMMENT = re.compile(r"[ \t]*/\*(?:[^*]|\*(?!/))*\*/")
EXPORT = re.compile(r"^export (?=(?:async function|function|const|class) (\w+))", re.MULTILINE)


def bundle_names(names: Iterable[str]) -> list[str]:
    """What a sheet's page asks for in place of these files; none twice."""
    return list(dict.fromkeys(HOME.get(name, name) for name in names))


def bundle_scripts(name: str, sources: Mapping[str, str]) -> str:
    """One module of several, each in a scope of its own, in the order of what needs what.

    Imports from other files become imports of the joined files that hold them. Raises ValueError for what it cannot
    join: a default or a variable (`let`) export, or an import of what comes later.
    """
    outside: dict[str, str] = {}  # another joined file: the name it has here
    inside: dict[str, str] = {}
    bodies, export_lines = [], []
    for path, source in sources.items():
        exports = EXPORT.findall(source)

        def taken(match: re.Match[str], path: str = path) -> str:
            wanted = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[2]))
            home = HOME.get(wanted, "")
            if wanted not in inside and home in ("", name):
                raise ValueError(f"{path} needs {wanted}, which does not come before it in {name}.")
            alias = inside.get(wanted) or outside.setdefault(home, f"_o{len(outside)}")
            return f"const {{ {match[1]} }} = {alias};"

        body = EXPORT.sub("", IMPORT.sub(taken, source))
        if left := re.search(r"^(import|export)\b.*", body, re.MULTILINE):
            raise ValueError(f"{path} cannot be joined: {left[0]}")
        inside[path] = f"_i{len(inside)}"
        bodies.append(f"const {inside[path]} = (() => {{\n{body}return {{ {', '.join(exports)} }};\n}})();\n")
        if exports:
            export_lines.append(f"export const {{ {', '.join(exports)} }} = {inside[path]};\n")
    heads = [f'import * as {alias} from "./{posixpath.basename(home)}";\n' for home, alias in outside.items()]
    return "".join([*heads, *bodies, *export_lines])


def drop_comments(path: str, source: str) -> str:
    """A script or style sheet without its comments. Of a script only those on lines of their own.

    The start of a comment within a text is taken for one where it begins a line (script) or anywhere (style sheet): our
    sources hold none, which a test checks.

    >>> drop_comments("a.js", "// Why.\\nrun(); // now\\n/** Also\\n    this. */\\nstop();\\n")
    'run(); // now\\nstop();\\n'
    """
    return (STYLE_COMMENT if path.endswith(".css") else SCRIPT_COMMENT).sub("", source)


_LOCK = Lock()
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


def bundle_folder() -> str:
    """The folder of this process for joined files. Two first requests make two finders, and one of them is dropped."""
    with _LOCK:
        if not _FOLDERS:
            _FOLDERS.append(tempfile.TemporaryDirectory(prefix="emic-joined-"))
        return _FOLDERS[0].name


class BundleFinder(finders.BaseFinder):
    """Finds the joined files; they are made anew when a source has changed."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self.storage = FileSystemStorage(location=bundle_folder())

    def check(self, **_kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **_kwargs: Any) -> Any:
        location = self._build_bundle(path) if path in STYLES or path in SCRIPTS else ""
        return ([location] if location else []) if find_all else (location or [])

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        for path in (*STYLES, *SCRIPTS):
            self._build_bundle(path)
            yield path, self.storage

    def _build_bundle(self, path: str) -> str:
        names = STYLES.get(path) or SCRIPTS[path]
        places = {name: Path(str(finders.find(name))) for name in names}
        target = Path(self.storage.location, path)
        newest = max(place.stat().st_mtime_ns for place in places.values())
        if not target.exists() or target.stat().st_mtime_ns < newest:
            sources = {name: drop_comments(name, place.read_text("utf-8")) for name, place in places.items()}
            text = "".join(sources.values()) if path in STYLES else bundle_scripts(path, sources)
            target.parent.mkdir(parents=True, exist_ok=True)
            # A name of its own: two requests may make the same file at once.
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, delete=False) as fresh:
                fresh.write(text)
            Path(fresh.name).replace(target)
        return str(target)
