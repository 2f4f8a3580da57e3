"""Every rule of the house, held against the whole tree, and against a sample that must fail."""

import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture import rules

ROOT = Path(__file__).resolve().parents[2]
Rule = Callable[[str, str], Iterator[str]]

# Named exceptions to the line budgets: "path" or "path:function", each with its reason.
OVER_BUDGET: dict[str, str] = {}


def tracked_files(*patterns: str) -> list[str]:
    out = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [path for path in out.stdout.splitlines() if (ROOT / path).is_file()]


def complaints(rule: Rule, paths: list[str]) -> list[str]:
    return [complaint for path in paths for complaint in rule(path, text_of(path))]


@cache
def text_of(path: str) -> str:
    return (ROOT / path).read_text()


PYTHON = [path for path in tracked_files("*.py") if "/migrations/" not in path]
CODE = [path for path in PYTHON if not path.startswith("tests/")]

CASES: list[tuple[Rule, list[str], str, str, str, str]] = [
    # rule, paths, a path and text that must fail, a path and text beside it that must pass
    (rules.direction, CODE, "people/x.py", "import annotation.models", "annotation/x.py", "import people.models"),
    (rules.direction, CODE, "jobs/x.py", "import config.settings", "people/x.py", "from evaluation.metrics import x"),
    (rules.direction, CODE, "evaluation/x.py", "import papers.xcm.tables.trials", "papers/x.py", "import evaluation.x"),
    (rules.papers, CODE, "evaluation/x.py", "from papers.xcm import recipe", "papers/xcm/x.py",
     "from papers.xcm import recipe"),
    (rules.papers, CODE, "config/urls.py", "import papers.plugins", "papers/xcm/x.py",
     "from papers.globalrg.metrics import f"),
    (rules.papers, CODE, "papers/xcm/figures.py", "from papers.globalrg.tables.boxes import STAGE",
     "tests/x.py", "from papers.globalrg.tables.boxes import STAGE"),
    (rules.purity, CODE, "papers/xcm/recipe.py", "from evaluation.tables.spec import TableSpec",
     "papers/xcm/recipe.py", "from benchmarks.recipes.contract import Recipe"),
    (rules.printed_values, CODE, "papers/xcm/tables/x.py", "a = PrintedValue('47.99', 'note')",
     "papers/xcm/tables/x.py", "a = PRINTED.in_text('accuracy')"),
    (rules.printed_values, CODE, "papers/xcm/tables/x.py", "A = {'food': '46.6', 'drink': '7.8'}",
     "papers/xcm/tables/x.py", "A = Option('bins', 'Bins', {'5': '5', '3': '3'})"),
    (rules.direction, CODE, "evaluation/x.py", "import releases.models", "releases/x.py", "import evaluation.models"),
    (rules.direction, CODE, "releases/x.py", "import api.views", "api/x.py", "import papers.plugins"),
    (rules.inside, CODE, "people/queries/x.py", "from people.services import x", "people/services/x.py",
     "from people.queries import x"),
    (rules.inside, CODE, "people/services/x.py", "from people.pages import x", "people/pages/x.py",
     "from people.services import x"),
    (rules.inside, CODE, "people/pages/x.py", "from people.views import x", "people/views/x.py",
     "from people.pages import x"),
    (rules.roots, CODE, "annotation/progress.py", "", "annotation/queries/progress.py", ""),
    (rules.roots, CODE, "releases/views.py", "", "releases/access.py", ""),
    (rules.inside, CODE, "people/models/x.py", "import people.services.x", "people/views.py", "import people.services"),
    (rules.purity, CODE, "evaluation/metrics/x.py", "import django.db", "evaluation/metrics/x.py", "import numpy"),
    (rules.purity, CODE, "annotation/fields/text/spec.py", "from annotation.sheets.sheet import Sheet",
     "annotation/fields/text/spec.py", "from annotation.fields.contract import FieldKind"),
    (rules.kind_strings, CODE, "annotation/views/x.py", "if field.kind == 'rating': pass",
     "annotation/fields/x.py", "if field.kind == 'rating': pass"),
    (rules.kind_strings, CODE, "evaluation/x.py", "if f['kind'] in ('box', 'text'): pass",
     "evaluation/x.py", "if f['kind'] in registry: pass"),
    (rules.kind_strings, CODE, "evaluation/x.py", "x = [f for f in fields if f.kind != 'picture']",
     "evaluation/x.py", "x = [f for f in fields if not f.spec.takes_uploads]"),
    (rules.number_parsing, CODE, "people/views/x.py", "n = int(request.GET['n'])",
     "people/views/x.py", "n = parse_int(request.GET.get('n'))"),
    (rules.number_parsing, CODE, "jobs/views/jobs.py", "n = int(text) if text.isdecimal() else 0",
     "jobs/services/lifecycle.py", "n = int(text) if text.isdecimal() else 0"),
    (rules.template_kind_strings, tracked_files("templates/*.html"),
     "templates/a.html", "{% if field.kind == 'text' %}", "templates/a.html", "{% include field.template %}"),
    (rules.report_formats, CODE + tracked_files("templates/*.html"), "evaluation/figures/x.py",
     "from jobs.formats.csv_safety import csv_lines", "evaluation/rendering/x.py",
     "from jobs.formats.csv_safety import csv_lines"),
    (rules.report_formats, tracked_files("templates/*.html"), "templates/evaluation/people.html", "<table>",
     "templates/evaluation/report/table.html", "<table>"),
    (rules.report_formats, CODE, "papers/xcm/tables/x.py", r'x = "\midrule"', "evaluation/rendering/x.py",
     r'x = "\midrule"'),
    (rules.budgets, PYTHON + tracked_files("templates/*.html"), "people/views.py", "def f():\n" + "    x = 1\n" * 31,
     "people/services/x.py", "def f():\n" + "    x = 1\n" * 49),
    (rules.migrations, tracked_files("*/migrations/*.py"), "jobs/migrations/0009.py", "from jobs.models import Job",
     "jobs/migrations/0009.py", "from django.db import migrations"),
    (rules.mail_senders, CODE, "people/services/x.py", "from django.core.mail import send_mail",
     "people/tasks.py", "from django.core.mail import send_mail"),
    (rules.mail_senders, CODE, "annotation/x.py", "user.email_user('Hello', 'You')",
     "annotation/x.py", "from people.services import mail"),
    (rules.demo_writes, CODE, "demo/x.py", "from benchmarks.models import Item\nItem.objects.create(key='a')",
     "demo/x.py", "from annotation.services import campaigns\ncampaigns.create(stage, 'a')"),
    (rules.demo_writes, CODE, "demo/x.py", "stage.items.filter(key='a').update(text='b')",
     "tests/x.py", "stage.items.update(text='b')"),
    (rules.demo_writes, CODE, "demo/x.py", "from django.db import connection", "demo/x.py",
     "from django.db import transaction"),
    (rules.direction, CODE, "annotation/x.py", "from demo import pictures", "demo/x.py", "import annotation.models"),
    (rules.cascades, CODE, "jobs/models/x.py", "models.ForeignKey(X, models.CASCADE)",
     "jobs/models/x.py", "models.ForeignKey(X, models.PROTECT)"),
    (rules.templates_are_strict, tracked_files("templates/*"), "templates/a.html", "<p style='color:red'>",
     "templates/a.html", "<p class='note'>"),
    (rules.templates_are_strict, tracked_files("templates/*"), "templates/a.html", "<form method='post'><p></p></form>",
     "templates/a.html", "<form method='post'>{% csrf_token %}</form>"),
    (rules.logical_styles, tracked_files("static/css/*.css"), "static/css/a.css", "a { margin-left: 1px }",
     "static/css/a.css", "a { margin-inline-start: 1px }"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "paths", "bad_path", "bad", "good_path", "good"), CASES)
def test_rule_holds_and_can_fail(
    rule: Rule, paths: list[str], bad_path: str, bad: str, good_path: str, good: str
) -> None:
    assert list(rule(bad_path, bad)), "the sample that must fail passes"
    assert not list(rule(good_path, good)), "the sample that must pass fails"
    found = [line for line in complaints(rule, paths) if not any(line.startswith(name) for name in OVER_BUDGET)]
    assert not found, "\n".join(found)


def test_no_modules_import_each_other() -> None:
    in_a_function = {"a/x.py": "from a import y", "a/y.py": "def f():\n    from a.x import g\n", "a/z.py": "import a.x"}
    assert rules.import_circles(in_a_function) == [["a.x", "a.y"]]
    assert not rules.import_circles({"a/x.py": "from a import y", "a/y.py": "import os", "a/__init__.py": ""})
    circles = rules.import_circles({path: text_of(path) for path in CODE})
    assert circles == []


def test_each_paper_has_its_parts() -> None:
    paths = tracked_files("papers/*")
    without_readme = [path for path in paths if path != "papers/xcm/README.md"]
    assert list(rules.paper_parts(without_readme)) == ["papers/xcm has no README.md"]
    assert not list(rules.paper_parts(paths))
    assert {path.split("/")[1] for path in paths if path.endswith("/recipe.py")} == rules.PAPERS


def test_large_service_folders_have_subfolders() -> None:
    sixteen = [f"jobs/services/x{number}.py" for number in range(16)]
    assert list(rules.service_folders(sixteen)) and not list(rules.service_folders(sixteen[:15]))
    assert not list(rules.service_folders(CODE))


def test_nothing_names_a_machine_or_a_registry() -> None:
    """Paths of machines and hosts of registries have no place in the repository."""
    suspects = (
        "/" + "work/main",
        "/" + "work/shared",
        "/" + "farm/",
        "file" + ":///opt",
        "pypi." + "org",
        "--index" + "-url",
    )
    offenders = [
        f"{path}: {word}"
        for path in tracked_files()
        if not path.endswith((".png", ".webp", ".jpg"))
        for word in suspects
        if word in (ROOT / path).read_text(errors="ignore")
    ]
    assert not offenders, "\n".join(offenders)
