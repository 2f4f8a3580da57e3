"""Every problem of a stage as it is written, each with its place. Reads no items: see services.stages for those."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.composer.form_parser import MAP, unreadable_paths
from annotation.composer.labels import path_label, reason_text
from annotation.composer.paths import get_value
from annotation.displays import DISPLAYS, UnknownDisplay, display
from annotation.displays.layout import Layout
from annotation.fields.contract import ConfigError
from annotation.sheets.sheet import Sheet, SheetError
from benchmarks.models import Stage
from benchmarks.rules.acceptance import Rule, RuleError
from benchmarks.rules.coverage import CoverageSpec
from benchmarks.rules.derivations import Derivation, pair
from benchmarks.rules.derivations.disagree import DECISION, REASON
from benchmarks.rules.derivations.registry import KINDS

FACTS = "facts."
BROUGHT = "derivation.params.context"
LINKED = frozenset(key for key, kind in KINDS.items() if kind.linked)


@dataclass(frozen=True)
class StageProblem:
    """`path` is a place in the stage's JSON. What does not block is a warning."""

    path: str
    words: str
    blocks: bool = True

    @property
    def place(self) -> str:
        return path_label(self.path)

    def __str__(self) -> str:
        return f"{self.place}: {self.words}" if self.place else self.words


def stage_problems(content: Mapping[str, Any], earlier: Mapping[str, Any]) -> list[StageProblem]:
    """`earlier`: the stages before this one, by key. In the order of the form."""
    broken = [
        StageProblem(at, _("This is not valid JSON. Correct it, or leave it empty."))
        for at in unreadable_paths(content)
    ]
    found = [*_head(content), *_sheet(content), *_other_settings(content, earlier)]
    named = {one.path for one in broken}
    return broken + [one for one in found if not any(one.path.startswith(path) for path in named)]


def _head(content: Mapping[str, Any]) -> Iterator[StageProblem]:
    if not str(content.get("name") or "").strip():
        yield StageProblem("name", _("The stage needs a name."))
    elif len(str(content["name"])) > 120:
        yield StageProblem("name", _("Shorten it to %(most)s characters.") % {"most": 120})
    try:
        display(str(content.get("display")))
    except UnknownDisplay:
        yield StageProblem("display", _("Choose one of: %(keys)s.") % {"keys": ", ".join(one.key for one in DISPLAYS)})
    if content.get("pictures", Stage.Pictures.ONE) not in Stage.Pictures.values:
        yield StageProblem("pictures", _("Choose one of those shown."))


def _sheet(content: Mapping[str, Any]) -> Iterator[StageProblem]:
    """Each question by itself first, so that one that is wrong does not hide the others."""
    sheet = content.get("sheet")
    rows = get_value(sheet, "fields", [])
    wrong = False
    for at, row in enumerate(rows if isinstance(rows, list) else []):
        for error in field_errors(row):
            wrong = True
            yield _problem(error, f"sheet.fields[{at}]" + error.path.removeprefix("fields[0]"))
    if not wrong:
        try:
            Sheet.from_json(sheet if isinstance(sheet, Mapping) else {})
        except SheetError as error:
            yield _problem(error, f"sheet.{error.path}".replace("sheet.sheet", "sheet"))


def field_errors(row: Any) -> Iterator[SheetError]:
    plain = without_references(row) if isinstance(row, Mapping) else row
    try:
        Sheet.from_json({"fields": [plain]})
    except SheetError as error:
        yield error


def readable_sheet(content: Mapping[str, Any]) -> Sheet | None:
    """The sheet without the questions that cannot be read yet; None when nothing is left. For a preview."""
    sheet = content.get("sheet") or {}
    rows = [row for row in get_value(sheet, "fields", []) if not list(field_errors(row))]
    for tried in ({**sheet, "fields": rows}, {"fields": rows}, {"fields": [without_references(row) for row in rows]}):
        try:
            return Sheet.from_json(tried)
        except SheetError:
            continue
    return None


def without_references(row: Mapping[str, Any]) -> dict[str, Any]:
    """The question without what names other questions."""
    return {key: value for key, value in row.items() if key not in ("show_if", "required_unless")}


def _problem(error: Exception, path: str) -> StageProblem:
    return StageProblem(path, reason_text(str(getattr(error, "reason", error))))


def _other_settings(content: Mapping[str, Any], earlier: Mapping[str, Any]) -> Iterator[StageProblem]:
    yield from _coded_labels(content.get("skip_reasons"), "skip_reasons")
    yield from _number(content, "target_answers", 0, 1000)
    if content.get("retire_after_skips") is not None:
        yield from _number(content, "retire_after_skips", 1, 1000)
    if content.get("target_in_all") and (content.get("has_target", True) or content.get("own_items_only")):
        words = _("Cohorts share answers only to items of all, and not about their own culture.")
        yield StageProblem("target_in_all", words)
    if content.get("staffing", "anyone") not in Stage.Staffing.values:
        yield StageProblem("staffing", _("Choose one of those shown."))
    yield from _derivation(content.get("derivation") or {}, earlier)
    yield from _reader_problems(content.get("coverage") or {}, "coverage", "coverage", CoverageSpec.from_json)
    yield from _dispute(content)
    yield from _acceptance(content)
    yield from _layout(content)


def _coded_labels(rows: Any, path: str) -> Iterator[StageProblem]:
    codes: list[str] = []
    for at, row in enumerate(rows if isinstance(rows, list) else []):
        row_path, row = f"{path}[{at}]", row if isinstance(row, Mapping) else {}
        code = str(row.get("code") or "").strip()
        if not code or len(code) > 40:
            yield StageProblem(f"{row_path}.code", _("Write a code of at most %(most)s characters.") % {"most": 40})
        elif code in codes:
            yield StageProblem(f"{row_path}.code", _("The key “%(key)s” occurs twice. Change one.") % {"key": code})
        codes.append(code)
        if not str((row.get("label") or {}).get("en", "")).strip():
            yield StageProblem(f"{row_path}.label", _("Write it in English."))


def _number(content: Mapping[str, Any], key: str, least: int, most: int) -> Iterator[StageProblem]:
    value = content.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        words = _("Write a number from %(least)s to %(most)s.") % {"least": least, "most": most}
        yield StageProblem(key, words)


def _derivation(derivation: Mapping[str, Any], earlier: Mapping[str, Any]) -> Iterator[StageProblem]:
    if not derivation:
        return
    sources = derivation.get("from") or []
    if not sources:
        yield StageProblem("derivation.from", _("Choose the stage whose accepted answers it is made of."))
    for key in sources:
        if key not in earlier:
            words = _("There is no stage “%(key)s” before this one. Choose another.") % {"key": key}
            yield StageProblem("derivation.from", words)
    for path in ("params.rename.by", "params.proposals.stage"):
        named = get_value(derivation, path)
        if named and named not in earlier:
            words = _("There is no stage “%(key)s” before this one. Choose another.") % {"key": named}
            yield StageProblem(f"derivation.{path}", words)
    if sources:
        wrong = list(_reader_problems(derivation, "derivation", "derivation", Derivation.from_json))
        for one in wrong:
            yield replace(one, path=_in_rows(one.path, get_value(derivation, "params.context")))
        if not wrong and derivation.get("kind") == "pair":
            yield from _repeated_text(derivation.get("params") or {})


REPEATED_TEXT = {
    "side": gettext_lazy("Both sides show the text of the same side. Take one text from A and the other from B."),
    "shared": gettext_lazy("Both sides show what they must share, which is the same text. Choose something else."),
    "item": gettext_lazy(
        "Two answers to one item would show its text twice. Choose an answer under “Each side shows”, or pair items."
    ),
}


def _repeated_text(params: Mapping[str, Any]) -> Iterator[StageProblem]:
    reason = pair.repeated_text(params)
    if reason:
        yield StageProblem("derivation.params.shows", str(REPEATED_TEXT[reason]), blocks=False)


def _dispute(content: Mapping[str, Any]) -> Iterator[StageProblem]:
    """A sheet that settles asks for the decision, another answer, and the reason."""
    derivation = content.get("derivation") or {}
    if derivation.get("kind") not in LINKED:
        return
    rows = [row for row in get_value(content, "sheet.fields", []) if isinstance(row, Mapping)]
    keys = [row.get("key") for row in rows]
    between = get_value(derivation, "params.between", [])
    field = between[0].get("field") if between and isinstance(between[0], Mapping) else None
    for key in (DECISION, field, REASON):
        if key and key not in keys:
            words = _("A sheet that settles answers needs the question “%(key)s”.") % {"key": key}
            yield StageProblem("sheet.fields", words)


def _in_rows(path: str, brought: Any) -> str:
    """The row of the form that an entry of the object stands in."""
    if not path.startswith(BROUGHT + ".") or not isinstance(brought, Mapping):
        return path
    name = path.removeprefix(BROUGHT + ".")
    row = f"{BROUGHT}{MAP}[{list(brought).index(name)}]" if name in brought else f"{BROUGHT}{MAP}"
    return f"{row}.{'value' if name else 'name'}"


def _acceptance(content: Mapping[str, Any]) -> Iterator[StageProblem]:
    how = content.get("acceptance", Stage.Acceptance.ON_SUBMIT)
    if how not in Stage.Acceptance.values:
        yield StageProblem("acceptance", _("Choose one of those shown."))
    if how == Stage.Acceptance.BY_REVIEW:
        yield from _coded_labels(content.get("review_reasons"), "review_reasons")
    if how == Stage.Acceptance.BY_RULE:
        yield from _rule(content)


def _rule(content: Mapping[str, Any]) -> Iterator[StageProblem]:
    try:
        rule = Rule.from_json(content.get("acceptance_rule") or {})
    except RuleError as error:
        yield _problem(error, "acceptance_rule" + error.path.removeprefix("rule"))
        return
    sheet = readable_sheet(content)
    known = {one.key for one in sheet.fields} if sheet else set()
    for at, clause in enumerate(rule.clauses):
        for name in sorted(clause.expression.names):
            if not is_known_name(name, known):
                words = _("There is no question “%(key)s” on the sheet.") % {"key": name}
                yield StageProblem(f"acceptance_rule.clauses[{at}].expression", words)
    if rule.score:
        for name in sorted(rule.score.expression.names):
            if not is_known_name(name, known):
                words = _("There is no question “%(key)s” on the sheet.") % {"key": name}
                yield StageProblem("acceptance_rule.score.expression", words)


def is_known_name(name: str, keys: set[str]) -> bool:
    """A question's key, a number of a question (`box.area`), or what a detector found (`facts.objects`)."""
    return name in keys or name.startswith(FACTS) or name.partition(".")[0] in keys


def _layout(content: Mapping[str, Any]) -> Iterator[StageProblem]:
    layout = content.get("layout") or {}
    yield from _reader_problems(layout, "layout", "layout", Layout.from_json)
    gate = layout.get("gate") if isinstance(layout, Mapping) else ""
    keys = [row.get("key") for row in get_value(content, "sheet.fields", []) if isinstance(row, Mapping)]
    if gate and gate not in keys:
        yield StageProblem("layout.gate", _("There is no question “%(key)s” on the sheet.") % {"key": gate})


def _reader_problems(data: Any, path: str, called: str, reader: Callable[[Any], Any]) -> Iterator[StageProblem]:
    try:
        reader(data)
    except (ConfigError, ValueError) as error:
        at = str(getattr(error, "path", called))
        yield _problem(error, path + at.removeprefix(called) if at.startswith(called) else f"{path}.{at}")
