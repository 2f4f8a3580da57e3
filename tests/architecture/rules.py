"""The rules of the house, each a function from a file's path and text to complaints."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath

from annotation.fields import registry

LAYERS = [  # lowest first; some of them do not exist yet
    *("jobs", "people", "benchmarks", "annotation", "predictions", "evaluation"),
    *("releases", "papers", "api"),
]
PURE = (
    "evaluation/metrics/",
    "evaluation/figures/drawing/",
    "benchmarks/rules/",
    "benchmarks/recipes/",
    "demo/pictures.py",
    "predictions/prompts/",
    "annotation/fields/contract.py",
)
PURE_SPEC = re.compile(r"^annotation/fields/\w+/(spec|wording)\.py$")
PURE_PAPER = re.compile(
    r"^papers/\w+/(recipe\w*|prompts|metrics|survey_labels|survey/rules"
    r"|builder/(states|safeguards|schemas|plan_checks|prompts|seeds|image_comparison))(\.py|/)"
)
PURE_NEIGHBOURS = {  # measures are written once
    "annotation/fields/": "annotation.fields.contract",
    "benchmarks/rules/derivations/disagree.py": "evaluation.metrics.",
    "benchmarks/rules/derivations/verdicts.py": "evaluation.metrics.",
}
OUTER = {"views", "api", "admin", "tasks"}
INNER = {  # inside an app, what a module must not import: models <- queries <- services <- pages <- views
    "models": {"queries", "readers", "services", "forms", "pages", "access", *OUTER},
    "queries": {"services", "forms", "pages", *OUTER},
    "readers": {"services", "forms", "pages", *OUTER},
    "services": {"forms", "pages", *OUTER},
    "forms": {"pages", *OUTER},
    "pages": OUTER,
    "access": {"forms", "pages", *OUTER},
}
OLD_INNER = {  # imports that are older than the rule. The list only gets shorter.
    "predictions/queries/knowledge.py": "predictions.services.knowledge.bases",
    "predictions/queries/scenes.py": "predictions.services.knowledge.linking",
}


@cache  # many rules ask for the imports of each file
def imports(text: str) -> tuple[tuple[int, str], ...]:
    """Every imported module: (line, dotted name). `from a import b` counts as a.b as well as a."""
    modules: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.append((node.lineno, node.module))
            modules += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return tuple(modules)


def is_pure(path: str) -> bool:
    return path.startswith(PURE) or bool(PURE_SPEC.match(path)) or bool(PURE_PAPER.match(path))


def direction(path: str, text: str) -> Iterator[str]:
    """Imports go down only, by LAYERS: from api to papers, evaluation and so on to jobs."""
    app = path.split("/")[0]
    if app not in LAYERS:
        return
    above = [*LAYERS[LAYERS.index(app) + 1 :], "config", "demo", "tests"]
    for line, name in imports(text):
        head = name.split(".")[0]
        target = name.replace(".", "/")
        if head in above and not is_pure(target + "/") and not is_pure(target + ".py"):
            yield f"{path}:{line} imports {name}, which is above {app}"


def inside(path: str, text: str) -> Iterator[str]:
    """Inside an app, imports go one way: models <- queries <- services <- pages <- views and tasks."""
    parts = PurePosixPath(path).parts
    if len(parts) < 2 or parts[0] not in LAYERS:
        return
    part = parts[1].removesuffix(".py")
    for line, name in imports(text):
        pieces = name.split(".")
        if path in OLD_INNER and name.startswith(OLD_INNER[path]):
            continue
        if len(pieces) > 1 and pieces[0] == parts[0] and pieces[1] in INNER.get(part, set()):
            yield f"{path}:{line} ({part}) imports {name}"


def purity(path: str, text: str) -> Iterator[str]:
    """Pure folders import no Django and no project code outside themselves."""
    if not is_pure(path):
        return
    home = ".".join(PurePosixPath(path).parent.parts)
    neighbour = next((n for start, n in PURE_NEIGHBOURS.items() if path.startswith(start)), None)
    for line, name in imports(text):
        head = name.split(".")[0]
        own = name == home or name.startswith(home + ".") or (neighbour and name.startswith(neighbour))
        if path.startswith("papers/"):  # a paper's recipe, prompts and metrics rest on the contracts of the apps
            own = _is_pure_module(name)
        if head in ("django", "config", "tests", "celery") or (head in LAYERS and not own):
            yield f"{path}:{line} is pure and imports {name}"


def _is_pure_module(name: str) -> bool:
    """Whether `import name` can be of a pure module; `from package import module` is looked up as both."""
    path = name.replace(".", "/")
    return is_pure(path + ".py") or is_pure(path + "/") or is_pure(path.rsplit("/", 1)[0] + "/")


PAPERS = {"caire", "culturalvqa", "globalrg", "valueground", "xcm"}


def papers(path: str, text: str) -> Iterator[str]:
    """Nothing outside papers/ imports it: plugins fill the registries of the apps. One paper imports only pure modules
    of another."""
    parts = PurePosixPath(path).parts
    for line, name in imports(text):
        pieces = [*name.split("."), ""]
        if pieces[0] != "papers" or path.startswith("tests/"):
            continue
        if parts[0] == "demo":  # above them
            continue
        if parts[0] != "papers":
            yield f"{path}:{line} imports {name}; register it by papers/plugins.py"
        elif parts[1] in PAPERS and pieces[1] in PAPERS - {parts[1]} and not _is_pure_module(name):
            yield f"{path}:{line} imports {name} of another paper"


PAPER_PARTS = ("README.md", "recipe.py", "plugin.py", "printed/sources.csv")


def paper_parts(paths: Iterable[str]) -> Iterator[str]:
    """The folder of a paper says what the paper did, and holds its recipe, its plugin object and its printed values."""
    present = set(paths)
    for name in sorted(PAPERS):
        for part in PAPER_PARTS:
            if f"papers/{name}/{part}" not in present:
                yield f"papers/{name} has no {part}"


SERVICE_FILES = 15
LARGER_SERVICE_FOLDERS = {"people/services": 20}  # older than the rule. The numbers only get smaller.


def service_folders(paths: Iterable[str]) -> Iterator[str]:
    """A service folder with more than 15 modules gets subfolders by feature."""
    counts = Counter(
        str(PurePosixPath(path).parent)
        for path in paths
        if "/services/" in path and path.endswith(".py") and not path.endswith("__init__.py")
    )
    for folder, count in sorted(counts.items()):
        if count > LARGER_SERVICE_FOLDERS.get(folder, SERVICE_FILES):
            yield f"{folder} has {count} modules; put them into subfolders by feature"


DECIMAL = re.compile(r"-?\d+(\.\d+)?")


def printed_values(path: str, text: str) -> Iterator[str]:
    """What a paper prints stands in its printed/*.csv with its source, not in code."""
    if not path.startswith("papers/"):
        return

    def is_number(node: ast.AST | None) -> bool:
        return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(DECIMAL.fullmatch(node.value))

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "PrintedValue" and is_number(node.args[0]):
            yield f"{path}:{node.lineno} has a printed value; put it into printed/*.csv"
        elif isinstance(node, ast.Dict) and node.values and all(map(is_number, node.values)):
            if all(map(is_number, node.keys)):  # values of an option, which are their own names
                continue
            yield f"{path}:{node.lineno} has printed values; put them into printed/*.csv"


ROOT_FILES = {"__init__", "access", "admin", "apps", "tasks", "urls"}


def roots(path: str, text: str) -> Iterator[str]:
    """The root of an app holds the files that Django and the URLs need; all else lies in the folder of its layer."""
    parts = PurePosixPath(path).parts
    if len(parts) != 2 or parts[0] not in {*LAYERS} - {"papers"}:
        return
    if PurePosixPath(path).stem not in ROOT_FILES:
        yield f"{path} lies at the root of {parts[0]}; move it into a folder such as queries/ or services/"


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def import_circles(texts: Mapping[str, str]) -> list[list[str]]:
    """Return the sets of modules that import each other, in functions and for types too. `texts` is by path."""
    paths = {module_of(path): path for path in texts}

    def target(name: str) -> str:
        while name and name not in paths:
            name = name.rpartition(".")[0]
        return name

    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        names = set()
        for node in ast.walk(ast.parse(texts[path])):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
        graph[module] = {target(name) for name in names} - {module, ""}
    circles: list[list[str]] = []
    for module in graph:
        reached = _reachable(graph, module)
        if module in reached and not any(module in circle for circle in circles):
            circle = sorted(other for other in reached if module in _reachable(graph, other))
            circles.append(circle)
    return circles


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph[waiting.pop()] - reached:
            reached.add(name)
            waiting.append(name)
    return reached


KINDS = {kind.spec.key for kind in registry.KINDS}


def kind_strings(path: str, text: str) -> Iterator[str]:
    """Nobody outside annotation/fields compares with a kind's name."""
    if path.startswith("annotation/fields/") or not any(kind in text for kind in KINDS):
        return

    def names_a_kind(node: ast.AST) -> bool:
        name = getattr(node, "attr", getattr(node, "id", ""))
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            name = str(node.slice.value)
        return "kind" in str(name)

    def is_kind(node: ast.AST) -> bool:
        if isinstance(node, ast.Set | ast.List | ast.Tuple):
            return any(is_kind(one) for one in node.elts)
        return isinstance(node, ast.Constant) and node.value in KINDS

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(names_a_kind(s) for s in sides) and any(is_kind(s) for s in sides):
                yield f"{path}:{node.lineno} compares with a field kind's name"
        elif isinstance(node, ast.MatchValue) and is_kind(node.value):
            yield f"{path}:{node.lineno} matches on a field kind's name"


def number_parsing(path: str, text: str) -> Iterator[str]:
    """Views read numbers by `jobs.formats.numbers`: `int` fails on long texts, and `isdigit` knows \u00b2."""
    if not re.search(r"(^|/)views(/|\.py$)", path):
        return

    def is_call(node: ast.AST) -> bool:
        return isinstance(node, ast.Call)

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in ("isdigit", "isdecimal", "isnumeric"):
            yield f"{path}:{node.lineno} uses {node.attr}; use parse_int of jobs.formats.numbers"
        elif re.match(r"int\(.*\b(request|GET|POST|said|params)\b", ast.unparse(node) if is_call(node) else ""):
            yield f"{path}:{node.lineno} reads a number by int; use parse_int of jobs.formats.numbers"


def template_kind_strings(path: str, text: str) -> Iterator[str]:
    if not path.startswith("templates/annotation/fields/"):
        for found in re.finditer(r"{%\s*(?:el)?if[^%]*kind\s*[!=]=\s*.(\w+)", text):
            yield f"{path} compares with the kind {found[1]}"


MAIL_SENDERS = ("django.core.mail", "smtplib")


def mail_senders(path: str, text: str) -> Iterator[str]:
    """Only the worker's tasks talk to a mail server: whoever else has something to mail writes a row of OutMail."""
    if path == "people/tasks.py":
        return
    for line, name in imports(text):
        if name.startswith(MAIL_SENDERS):
            yield f"{path}:{line} imports {name}; write a letter with people.services.mail"
    for found in re.finditer(r"\b(?:email_user|mail_admins|mail_managers)\b", text):
        yield f"{path}:{text[: found.start()].count(chr(10)) + 1} calls {found[0]}"


# Tables of evaluation that hold links, pictures and counts, and no numbers of a Report.
OTHER_TABLES = {f"templates/evaluation/{name}.html" for name in ("item", "items", "my_statistics", "status")}
OTHER_TABLES |= {"templates/evaluation/tables/list.html", "templates/evaluation/report/table.html"}


def report_formats(path: str, text: str) -> Iterator[str]:
    """A Report has one renderer for each format: one template, and the modules of evaluation/rendering."""
    if path.startswith("templates/evaluation/") and path not in OTHER_TABLES and "<table" in text:
        yield f"{path} has a table; include evaluation/report/table.html"
    inside = path.startswith(("evaluation/rendering/", "releases/"))
    if path.startswith(("evaluation/", "papers/")) and path.endswith(".py") and not inside:
        for found in re.finditer(r"\bcsv_lines\b|\\(?:begin|midrule)\b|\bcsv\.writer\b", text):
            yield f"{path} writes {found[0]}; use a renderer of evaluation.rendering"


FILE_LINES, FUNCTION_LINES, VIEW_LINES, TEMPLATE_LINES = 500, 50, 30, 120


def budgets(path: str, text: str) -> Iterator[str]:
    """A file has 500 lines at most, a function 50 without its docstring, a view 30, a template 120."""
    lines = text.count("\n")
    if path.endswith(".html"):
        if lines > TEMPLATE_LINES:
            yield f"{path} has {lines} lines"
        return
    test = path.startswith("tests/")
    if lines > FILE_LINES:
        yield f"{path} has {lines} lines"
    if test:
        return
    limit = VIEW_LINES if re.search(r"(^|/)views(/|\.py$)", path) else FUNCTION_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            size = (body[-1].end_lineno or 0) - body[0].lineno + 1
            if size > limit:
                yield f"{path}:{node.lineno} {node.name} has {size} lines"


def migrations(path: str, text: str) -> Iterator[str]:
    """Migrations import no app: code frozen into them breaks when the app moves on."""
    if "/migrations/" not in path:
        return
    for line, name in imports(text):
        if name.split(".")[0] in [*LAYERS, "config"]:
            yield f"{path}:{line} imports {name}"


MODEL_WRITES = {
    *("create", "bulk_create", "get_or_create", "update_or_create", "create_user", "create_superuser"),
    *("update", "bulk_update", "save", "delete"),
}


def demo_writes(path: str, text: str) -> Iterator[str]:
    """The demo is loaded by services: its code calls no writing method of a model, and no database connection."""
    if not path.startswith("demo/"):
        return
    nodes = list(ast.walk(ast.parse(text)))
    services = set()
    for node in nodes:
        home = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            name = home + alias.name
            if ".services" in name:
                services.add(alias.asname or alias.name)
            if name.startswith("django.db") and name not in ("django.db.transaction", "django.db.OperationalError"):
                yield f"{path}:{node.lineno} imports {name}"
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            on = ast.unparse(node.func.value)
            if node.func.attr in MODEL_WRITES and on not in services:
                yield f"{path}:{node.lineno} calls {on}.{node.func.attr}; use a service"


def cascades(path: str, text: str) -> Iterator[str]:
    """Nothing is deleted by cascade."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr == "CASCADE":
            yield f"{path}:{node.lineno} deletes by cascade"


def templates_are_strict(path: str, text: str) -> Iterator[str]:
    """The content policy forbids inline styles and scripts; what a person typed is never marked safe; POST has CSRF."""
    for pattern, problem in [
        (r"\sstyle\s*=", "an inline style"),
        (r"<style\b", "a style block"),
        (r"<script(?![^>]*\bsrc=)[^>]*>(?!\s*</script>)", "an inline script"),
        (r"\son[a-z]+\s*=\s*[\"']", "an inline handler"),
        (r"\|\s*safe\b|{%\s*autoescape off", "unescaped output"),
    ]:
        if path.endswith(".txt"):
            continue
        for match in re.finditer(pattern, text):
            if problem == "an inline script" and 'type="application/json"' in match[0]:
                continue
            yield f"{path}:{text[: match.start()].count(chr(10)) + 1} has {problem}"
    for form in re.finditer(r"<form\b[^>]*method=[\"']post[\"'][^>]*>.*?</form>", text, re.S | re.I):
        if "csrf_token" not in form[0]:
            yield f"{path}:{text[: form.start()].count(chr(10)) + 1} posts without a CSRF token"


PHYSICAL = re.compile(
    r"(?<![\w-])(?:margin|padding|border)-(?:left|right)\b|(?<![\w-])(?:left|right)\s*:|text-align\s*:\s*(?:left|right)"
)


def logical_styles(path: str, text: str) -> Iterator[str]:
    """Logical properties only, so that right-to-left costs nothing."""
    for found in PHYSICAL.finditer(text):
        yield f"{path}:{text[: found.start()].count(chr(10)) + 1} uses {found[0].strip()}"
