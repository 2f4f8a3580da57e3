"""Code that tests keep in strings and run in other processes names what exists; no type checker reads it."""

import ast
import importlib
from collections.abc import Iterator

import pytest

from tests.start.helpers import ROOT

OURS = {"annotation", "benchmarks", "config", "demo", "evaluation", "jobs", "papers", "people", "predictions"}
OURS |= {"api", "releases", "tests"}
SAMPLES = "tests/architecture/"  # strings there are samples of what is refused


def code_strings(source: str) -> Iterator[tuple[int, ast.Module]]:
    """Strings of a module that are Python code with an import; of an f-string, what is inserted counts as 0."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values)
        else:
            continue
        if "import " in text:
            try:
                yield node.lineno, ast.parse(text)
            except SyntaxError:
                continue


def missing_names(code: ast.Module) -> Iterator[str]:
    """What the code imports from us that is not there, and what it reads from an imported module that is not there."""
    imported: dict[str, object] = {}
    for node in ast.walk(code):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] not in OURS:
            continue
        for alias in node.names:
            try:
                imported[alias.asname or alias.name] = import_name(str(node.module), alias.name)
            except ImportError:
                yield f"{node.module}.{alias.name}"
    reads = [node for node in ast.walk(code) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    for read in reads:
        name = read.value.id  # type: ignore[attr-defined]
        if name in imported and not hasattr(imported[name], read.attr):
            yield f"{name}.{read.attr}"


def import_name(module: str, name: str) -> object:
    parent = importlib.import_module(module)
    return getattr(parent, name) if hasattr(parent, name) else importlib.import_module(f"{module}.{name}")


def test_code_in_strings_names_what_exists() -> None:
    wrong = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(SAMPLES):
            for line, code in code_strings(path.read_text(encoding="utf-8")):
                wrong += [f"{name}:{line}: no {missing}" for missing in missing_names(code)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("from jobs import runner; runner.run(1)", ["jobs.runner"]),
        ("from jobs.services import runner; runner.walk(1)", ["runner.walk"]),
        ("from predictions.services.encoders import encoding\nencoding.Thing(1)", ["encoding.Thing"]),
        ("from jobs.services import runner; runner.run(1)", []),
    ],
)
def test_a_name_that_is_gone_is_seen(text: str, missing: list[str]) -> None:
    [(line, code)] = code_strings(f"x = 1\nCODE = {text!r}\n")
    assert line == 2 and list(missing_names(code)) == missing
