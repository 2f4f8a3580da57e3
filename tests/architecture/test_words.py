"""Names are plain words (rules in `word_rules.py`); the exceptions of `word_exceptions.txt` may only shrink.

After exceptions were removed, `python -m tests.architecture.test_words` writes the shorter list; it never adds one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture import word_rules
from tests.architecture.word_rules import Complaint

ROOT = Path(__file__).resolve().parents[2]
EXCEPTIONS = Path(__file__).with_name("word_exceptions.txt")  # rule, area, name, number of places
FILE_RULES = [word_rules.class_names, word_rules.module_names, word_rules.identifiers, word_rules.local_names]

LONG = "found = read()\nuse(1)\nuse(2)\nuse(found)"
SAMPLES: list[tuple[Callable[[str, str], Iterator[Complaint]], str, str, str, str]] = [
    # rule, a path and text that must fail, a path and text that must pass
    (word_rules.class_names, "people/x.py", "class Said: pass", "people/x.py", "class ParsedReply: pass"),
    (word_rules.class_names, "people/x.py", "class _Kept: pass", "people/x.py", "class KeptReply: pass"),
    (word_rules.module_names, "people/words.py", "", "people/status_text.py", ""),
    (word_rules.module_names, "people/again.py", "", "people/retries.py", ""),
    (word_rules.module_names, "tests/test_beside_people.py", "", "tests/test_comparison.py", ""),
    (word_rules.identifiers, "people/x.py", "outfit_of = 1", "people/x.py", "benchmark = whole = 1"),
    (word_rules.identifiers, "people/x.py", "class LocalDesk: pass", "people/x.py", "class Benchmark: pass"),
    (word_rules.identifiers, "people/x.py", "def f(said): pass", "people/x.py", "def f(text): pass"),
    (word_rules.local_names, "people/x.py", LONG, "people/x.py", "found = read()\nuse(1)\nuse(found)"),
    (word_rules.local_names, "people/x.py", "def f(given):\n  a()\n  b()\n  c(given)", "people/x.py",
     "def f(given):\n  return given"),
    (word_rules.local_names, "people/x.py", "for one in rows:\n  a()\n  b()\n  c(one)", "people/x.py",
     "a = [one for one in rows]\nb()\nc()\nd = [one for one in rows]"),
    (word_rules.local_names, "people/x.py", "def f():\n  with a() as held:\n    b()\n    c()\n    held()",
     "people/x.py", "class A:\n  one = 1\n  a = 1\n  b = 2\n  c = one"),
    (word_rules.local_names, "people/x.py", "def f():\n  kept = 1\n  def g():\n    a()\n    return kept", "people/x.py",
     "def f():\n  kept = 1\n  return kept"),
]  # fmt: skip


def source_files() -> dict[str, str]:
    return {
        path: (ROOT / path).read_text()
        for top in sorted(ROOT.iterdir())
        if top.is_dir() and not top.name.startswith(".") and top.name not in ("var", "data", "shared")
        for path in (str(file.relative_to(ROOT)) for file in sorted(top.rglob("*.py")))
        if "/migrations/" not in path and "node_modules" not in path
    }


@cache
def all_complaints() -> dict[tuple[str, str, str], list[str]]:
    """The places of each name that breaks a rule, by rule, area and name."""
    files = source_files()
    complaints = [complaint for path, text in files.items() for rule in FILE_RULES for complaint in rule(path, text)]
    complaints += word_rules.repeated_classes(files.items())
    places: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for complaint in complaints:
        area = "tests" if complaint.place.startswith("tests/") else "code"
        places[complaint.rule, area, complaint.name].append(complaint.place)
    return places


def read_exceptions() -> Counter[tuple[str, str, str]]:
    rows = (line.split() for line in EXCEPTIONS.read_text().splitlines() if line and not line.startswith("#"))
    return Counter({(rule, area, name): int(count) for rule, area, name, count in rows})


@pytest.mark.parametrize(("rule", "bad_path", "bad", "good_path", "good"), SAMPLES)
def test_rule_can_fail(
    rule: Callable[[str, str], Iterator[Complaint]], bad_path: str, bad: str, good_path: str, good: str
) -> None:
    assert list(rule(bad_path, bad)), "the sample that must fail passes"
    assert not list(rule(good_path, good)), "the sample that must pass fails"


def test_repeated_class_can_fail() -> None:
    shared = [("people/x.py", "class Plan: pass"), ("jobs/y.py", "class Plan: pass")]
    assert [complaint.name for complaint in word_rules.repeated_classes(shared)] == ["Plan"]
    allowed = [("people/x.py", "class Row: pass\nclass Plan: pass"), ("jobs/y.py", "class Row: pass")]
    in_models = [("jobs/models/x.py", "class Plan: pass"), ("tests/z.py", "class Plan: pass")]
    in_models += [("client/emic_client/x.py", "class Plan: pass")]
    assert not list(word_rules.repeated_classes([*allowed, *in_models]))


def test_names_are_plain_words() -> None:
    allowed = read_exceptions()
    new = [
        f"{rule} {name}: {len(places)} places, {allowed[rule, area, name]} allowed: " + ", ".join(places[:20])
        for (rule, area, name), places in sorted(all_complaints().items())
        if len(places) > allowed[rule, area, name]
    ]
    assert not new, "\n".join(new)


def test_exceptions_are_all_needed() -> None:
    """An exception that no place needs any more would let a vague name come back."""
    present = Counter({key: len(places) for key, places in all_complaints().items()})
    stale = stale_exceptions(read_exceptions(), present)
    assert not stale, "Run `python -m tests.architecture.test_words`:\n" + "\n".join(stale)


def test_stale_exception_can_fail() -> None:
    key = ("local", "code", "found")
    assert stale_exceptions(Counter({key: 2}), Counter({key: 1})) == ["local code found: 2 allowed, 1 present"]
    assert not stale_exceptions(Counter({key: 1}), Counter({key: 1}))


def stale_exceptions(allowed: Counter[tuple[str, str, str]], present: Counter[tuple[str, str, str]]) -> list[str]:
    return [
        f"{' '.join(key)}: {count} allowed, {present[key]} present"
        for key, count in sorted(allowed.items())
        if count > present[key]
    ]


def write_exceptions(limit: Counter[tuple[str, str, str]] | None) -> None:
    """Write the present exceptions, each at most as large as in `limit`."""
    counts = Counter({key: len(places) for key, places in all_complaints().items()})
    shorter = counts if limit is None else counts & limit
    head = "# Names that break tests/architecture/word_rules.py: rule, area, name, number of places. May only shrink.\n"
    EXCEPTIONS.write_text(head + "".join(f"{' '.join(key)} {count}\n" for key, count in sorted(shorter.items())))


if __name__ == "__main__":
    write_exceptions(read_exceptions() if EXCEPTIONS.exists() else None)
