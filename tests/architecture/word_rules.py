"""Rules for names: what a class, a module, an identifier and a local variable may not be called."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

CLASS_NAMES = set("Asked Came Found Given Held Kept Made Placed Put Said Seen Told".split())  # noqa: SIM905
MODULE_NAMES = set(
    """
    again afresh anew before beside elsewhere here really there
    asking boxing bringing confirming deduping driving searching
    asked bound came drawn found given held hidden joined judged kept left_out made named noted placed put
    rendered said scripted seen shown simulated staged tabled told
    bring door doors hole holes own words
    """.split()  # noqa: SIM905
)
LOCAL_NAMES = set(
    "one found said told got held given made kept came put seen what who there here".split()  # noqa: SIM905
)
WORDS = set("outfit bench desk hole asker anew mend beside came said".split())  # noqa: SIM905
REPEATED_CLASS_NAMES = {"Row", "Cell", "Config", "Command", "Meta"}
VAGUE = re.compile(rf"\b({'|'.join(sorted(LOCAL_NAMES))})\b( :?=|,| in |\)|:)")  # where a line may bind such a name
# Parsing takes long, so files are parsed only where these patterns occur.
OLD_WORD = re.compile("|".join(rf"((?<![A-Za-z]){word}|{word.title()})(?![a-z])" for word in sorted(WORDS)))
CLASS = re.compile(rf"class _*({'|'.join(sorted(CLASS_NAMES))})\b")
PUBLIC_CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)
MODULES_THAT_STAY = {
    "annotation/displays/words.py",  # the stored key of the display
    "tests/architecture/test_words.py",
}
LINES = 2  # a name of LOCAL_NAMES may live this many lines


@lru_cache(maxsize=1)
def parse(text: str) -> ast.Module:
    """Parse a file once for all rules."""
    return ast.parse(text)


@dataclass(frozen=True)
class Complaint:
    """One name that breaks a rule: the rule, the name, and where it is."""

    rule: str
    name: str
    place: str


def class_names(path: str, text: str) -> Iterator[Complaint]:
    """A class is a noun, never a bare participle or verb."""
    if not CLASS.search(text):
        return
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.ClassDef) and node.name.lstrip("_") in CLASS_NAMES:
            yield Complaint("class", node.name, f"{path}:{node.lineno}")


def module_names(path: str, text: str) -> Iterator[Complaint]:
    """A module is named after the noun that it holds: no adverb, preposition or participle."""
    stem = PurePosixPath(path).stem.lstrip("_").removeprefix("test_")
    if path in MODULES_THAT_STAY:
        return
    if stem in MODULE_NAMES or words_of(stem) & WORDS:
        yield Complaint("module", PurePosixPath(path).stem, path)


def words_of(name: str) -> set[str]:
    """The words of an identifier, split at underscores and capitals, in small letters."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def identifiers(path: str, text: str) -> Iterator[Complaint]:
    """No identifier that a file binds has a word of the old dialect."""
    if not OLD_WORD.search(text):
        return
    for node in ast.walk(parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names = [node.id]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.arg):
            names = [node.arg]
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names = [node.attr]
        elif isinstance(node, ast.alias) and node.asname:
            names = [node.asname]
        for name in names:
            if words_of(name) & WORDS:
                yield Complaint("identifier", name, f"{path}:{getattr(node, 'lineno', 0)}")


@dataclass
class Scope:
    parent: "Scope | None"
    is_class: bool = False
    lines: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))  # of a name's bindings
    uses: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    outer: set[str] = field(default_factory=set)  # names declared global or nonlocal


class ScopeReader(ast.NodeVisitor):
    """Collect where each name is bound and used, by the scopes of Python."""

    def __init__(self) -> None:
        self.scope = Scope(None)
        self.scopes = [self.scope]
        self.uses: list[tuple[str, int, Scope]] = []

    def read(self, text: str) -> list[Scope]:
        self.visit(parse(text))
        for name, line, scope in self.uses:
            home: Scope | None = scope
            while home and (name not in home.lines or name in home.outer or (home.is_class and home is not scope)):
                home = home.parent
            if home:
                home.uses[name].append(line)
        return self.scopes

    def inner(self, nodes: Iterable[ast.AST | None], is_class: bool = False, args: ast.arguments | None = None) -> None:
        outer, self.scope = self.scope, Scope(self.scope, is_class)
        self.scopes.append(self.scope)
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg) if args else ():
            if arg:
                self.scope.lines[arg.arg].append(arg.lineno)
        for node in nodes:
            if node:
                self.visit(node)
        self.scope = outer

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.scope.lines[node.id].append(node.lineno)
        self.uses.append((node.id, node.lineno, self.scope))

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.scope.outer.update(node.names)

    visit_Nonlocal = visit_Global  # noqa: N815

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.scope.lines[node.name].append(node.lineno)
        self.generic_visit(node)

    def visit_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default:
                self.visit(default)
        if not isinstance(node, ast.Lambda):
            self.scope.lines[node.name].append(node.lineno)
            for decorator in node.decorator_list:
                self.visit(decorator)
        self.inner([node.body] if isinstance(node, ast.Lambda) else node.body, args=node.args)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_definition  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self.inner(node.body, is_class=True)

    def visit_comprehension_scope(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)
        parts: list[ast.AST] = []
        for number, generator in enumerate(node.generators):
            parts += [generator.target, *([generator.iter] if number else []), *generator.ifs]
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.inner([*parts, *elements])

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_scope  # noqa: N815


def local_names(path: str, text: str) -> Iterator[Complaint]:
    """A vague name lives for two lines at most, from the first line that binds it to the last that uses it."""
    if not VAGUE.search(text):
        return
    for scope in ScopeReader().read(text):
        if scope.is_class:
            continue
        for name in sorted(LOCAL_NAMES & scope.lines.keys() - scope.outer):
            lines = [*scope.lines[name], *scope.uses[name]]
            if max(lines) - min(lines) > LINES:
                yield Complaint("local", name, f"{path}:{min(lines)}")


def repeated_classes(files: Iterable[tuple[str, str]]) -> Iterator[Complaint]:
    """The name of a public class occurs once outside models and tests. The client is a package of its own."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path, text in files:
        if path.startswith(("tests/", "client/")) or re.search(r"(^|/)models(/|\.py$)", path):
            continue
        for match in PUBLIC_CLASS.finditer(text):
            homes[match[1]].append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}")
    for name, places in sorted(homes.items()):
        if name not in REPEATED_CLASS_NAMES:
            yield from (Complaint("repeated", name, place) for place in places[1:])
