"""Run every example in the docstrings, and show that a wrong example fails."""

import doctest
import importlib
from types import ModuleType

import pytest

from tests.architecture.test_house import CODE, ROOT

OPTIONAL = {"torch", "open_clip", "transformers", "faiss"}  # the extra "models"
MODULES = sorted(
    path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for path in CODE
    if ">>> " in (ROOT / path).read_text()
)


def failures_of(module: ModuleType) -> tuple[int, str]:
    """Return the number of examples in the module and a report of those that fail."""
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    tests = doctest.DocTestFinder(exclude_empty=True).find(module)
    for test in tests:
        runner.run(test, out=report.append)
    return sum(len(test.examples) for test in tests), "".join(report)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        pytest.skip(f"{error.name} is not installed")
    count, report = failures_of(module)
    assert count, f"{name} contains '>>> ' and no example was found"
    assert not report, report


def test_a_wrong_example_fails() -> None:
    module = ModuleType("sample", "The sum.\n\n>>> 1 + 1\n3\n")
    assert failures_of(module)[0] == 1
    assert "Expected:\n    3" in failures_of(module)[1]
