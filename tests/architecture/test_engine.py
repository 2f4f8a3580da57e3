"""The run engine has one direction of imports, and an object is changed by the module that defines its class."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from predictions.services.runs.engine import IMPORT_ORDER
from tests.architecture.rules import imports

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "predictions.services.runs.engine"
FOLDER = ROOT / PACKAGE.replace(".", "/")
STATES_WRITTEN_BY = {"claim", "write"}
USERS = (
    *(f"predictions.{folder}." for folder in ("views", "pages", "forms")),
    *(f"predictions.services.runs.{module}" for module in ("answer_runs", "plans", "repeatable_calls", "run_jobs")),
)
STATE_IS_WRITTEN = re.compile(r"UPDATE predictions_call\b|Call\.objects\.bulk_update|\.update\(state=Call\.State")
CHANGES = {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "set", "setdefault", "update"}


def engine_modules() -> dict[str, str]:
    return {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.py")) if path.stem != "__init__"}


def wrong_imports(module: str, text: str) -> Iterator[str]:
    """Imports of modules that do not stand before this one, and of services that use the engine."""
    allowed = IMPORT_ORDER[: IMPORT_ORDER.index(module)]
    for line, name in imports(text):
        if name.startswith(f"{PACKAGE}."):
            imported = name.removeprefix(f"{PACKAGE}.").split(".")[0]
            if imported not in allowed:
                yield f"{module}.py:{line} imports {imported}, which does not stand before it"
        elif name.startswith(USERS):
            yield f"{module}.py:{line} imports {name}, which uses the engine"


def own_attributes(tree: ast.Module) -> set[str]:
    """Names of the fields, methods and attributes of the classes of a module."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names |= {each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and
                      isinstance(each.target, ast.Name)}  # fmt: skip
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            names.add(node.attr)
    return names


def changed_attributes(tree: ast.Module) -> Iterator[ast.Attribute]:
    """Attributes that are assigned, and attributes whose container is changed: `x.name = 1`, `x.names.append(1)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            if isinstance(node.value, ast.Attribute):
                yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
            yield from [node.func.value] if isinstance(node.func.value, ast.Attribute) else []


def foreign_changes(module: str, text: str) -> Iterator[str]:
    """Changes of objects whose class another module of the engine defines. Rows of the database are no such objects."""
    tree = ast.parse(text)
    own = own_attributes(tree)
    others = set().union(
        *(own_attributes(ast.parse(each)) for name, each in engine_modules().items() if name != module)
    )
    for node in changed_attributes(tree):
        is_self = isinstance(node.value, ast.Name) and node.value.id == "self"
        if not is_self and node.attr in others and node.attr not in own:
            yield f"{module}.py:{node.lineno} changes {ast.unparse(node)}"


def writes_call_state(text: str) -> bool:
    """Whether it writes the state of calls: by SQL, by a queryset, or by a row."""
    return bool(STATE_IS_WRITTEN.search(text))


@pytest.mark.parametrize("module", IMPORT_ORDER)
def test_engine_modules_import_in_one_direction(module: str) -> None:
    assert not list(wrong_imports(module, engine_modules()[module]))


def test_import_order_names_every_module() -> None:
    assert sorted(IMPORT_ORDER) == sorted(engine_modules())


@pytest.mark.parametrize("module", IMPORT_ORDER)
def test_objects_are_changed_by_their_own_module(module: str) -> None:
    assert not list(foreign_changes(module, engine_modules()[module]))


def test_states_of_calls_are_written_by_two_modules() -> None:
    code = [path for path in (ROOT / "predictions").rglob("*.py") if "migrations" not in path.parts]
    writers = {path for path in code if writes_call_state(path.read_text())}
    assert writers == {FOLDER / f"{module}.py" for module in STATES_WRITTEN_BY}


def test_the_rules_can_fail() -> None:
    wrong = f"from {PACKAGE}.write import update_calls\nfrom {PACKAGE} import executor"
    assert len(set(wrong_imports("settle", wrong))) >= 2
    assert not list(wrong_imports("write", f"from {PACKAGE}.settle import WriteBatch"))
    assert list(wrong_imports("claim", "from predictions.services.runs.answer_runs import KIND"))
    assert list(foreign_changes("executor", "def f(progress):\n    progress.attempts += 1"))
    assert list(foreign_changes("write", "def f(task, pair):\n    task.replies[0] = pair"))
    assert list(foreign_changes("executor", "def f(batch, task):\n    batch.complete.append(task)"))
    assert not list(foreign_changes("settle", engine_modules()["settle"] + "\n\ndef f(task):\n    task.attempts = 1"))
    assert writes_call_state("UPDATE predictions_call SET state = 'pending'")
    assert writes_call_state("rows.update(state=Call.State.FAILED)")
