"""The settings of a stage, in the sections of its form. Which are asked depends on what was chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.composer.controls import Control, Languages, build_control, build_controls, hidden_control
from annotation.composer.coverage_settings import coverage_controls
from annotation.composer.key_references import DRAWN
from annotation.composer.labels import display_name, requirements_text
from annotation.composer.paths import get_value
from annotation.composer.source_settings import source_controls
from annotation.composer.stage_context import StageContext, question_title
from annotation.displays import DISPLAYS
from annotation.fields.registry import kind_or_unknown
from annotation.fields.settings import Setting
from benchmarks.models import Stage

FIELD_KEYS = ("key", "kind", "label", "help", "required", "config", "rules", "show_if", "required_unless")


@dataclass(frozen=True)
class Section:
    key: str
    title: str
    note: str
    controls: Sequence[Control]
    lines: Sequence[str] = ()
    """What comes of the settings, in sentences; computed anew with each draft."""


@dataclass(frozen=True)
class QuestionSection:
    """A field of the sheet, folded under its label."""

    path: str
    number: int
    key: str
    label: str
    kind: str
    required: bool
    asked_if: str
    controls: Sequence[Control]
    config: Sequence[Control]
    more: Sequence[Control]
    last: bool

    @property
    def first(self) -> bool:
        return self.number == 1


def coded_label_setting(key: str, title: Any) -> Setting:
    code = Setting("code", "line", gettext_lazy("Code"), short=True)
    row = (code, Setting("label", "words", gettext_lazy("Label")))
    return Setting(key, "rows", title, row=row, add=gettext_lazy("Add a reason"))


CHECK = (
    Setting(
        "expression",
        "line",
        gettext_lazy("Condition"),
        gettext_lazy("For example: match_a + match_b >= 3"),
        short=True,
    ),
    Setting("words", "words", gettext_lazy("In words")),
    Setting("key", "line", gettext_lazy("Key"), short=True),
)
BLOCKS = Setting("blocks", "bool", gettext_lazy("Submission is blocked unless this is true"), start=False)
SCORE = (
    Setting("label", "words", gettext_lazy("Name"), optional=True),
    Setting("expression", "line", gettext_lazy("Expression"), short=True),
    Setting("decimals", "int", gettext_lazy("Decimals"), optional=True),
)
TOTAL = (SCORE[1], Setting("most", "number", gettext_lazy("Maximum score")))
NAMED = (
    Setting("key", "line", gettext_lazy("Name in the item's context"), short=True),
    Setting("label", "words", gettext_lazy("Heading"), optional=True),
)
OVER = (
    ("majority", gettext_lazy("More than half of the answers meet all clauses")),
    ("means", gettext_lazy("The mean answer meets all clauses")),
)


def sections(content: Mapping[str, Any], around: StageContext) -> list[Section]:
    """After the questions, which have a place of their own."""
    languages = around.languages
    return [
        Section(
            "checks",
            _("Checks across questions"),
            _("Scores update while answering."),
            _checks(content, languages),
        ),
        Section("skipping", _("Skipping"), "", build_controls(SKIPPING, _part(content, SKIPPING), "", languages)),
        Section("items", _("Source of items"), "", source_controls(content, around), around.derived),
        Section("people", _("Who answers, and how often"), "", _people(content, languages)),
        Section(
            "coverage",
            _("Coverage"),
            _("What is wanted in each cell of a table, whether or not there is an item for it."),
            coverage_controls(content.get("coverage") or {}, around.label_sets, languages),
        ),
        Section("acceptance", _("When an answer is accepted"), "", _acceptance(content, languages)),
        Section("layout", _("Information shown with the item"), "", _layout(content, languages)),
        Section(
            "instructions",
            _("Instructions"),
            _("What a campaign starts with. It may change them for its cohorts."),
            build_controls(INSTRUCTIONS, _part(content, INSTRUCTIONS), "", languages),
        ),
    ]


SKIPPING = (
    coded_label_setting("skip_reasons", gettext_lazy("Reasons to skip")),
    Setting(
        "retire_after_skips",
        "int",
        gettext_lazy("Retire an item after this many skips"),
        gettext_lazy("Per cohort. Leave empty to never retire."),
        optional=True,
    ),
)
PEOPLE = (
    Setting(
        "target_answers",
        "int",
        gettext_lazy("Answers for each item and cohort"),
        gettext_lazy("0: people are not asked here; models may be."),
        start=3,
    ),
    Setting(
        "has_target",
        "bool",
        gettext_lazy("Ask each cohort about its own culture (name the target in {target})"),
        start=True,
        redraws=True,
    ),
    Setting(
        "own_items_only",
        "bool",
        gettext_lazy("A cohort gets only items of its own culture"),
        gettext_lazy("Of an item made of an answer the culture that the answer is about, else its origin."),
        start=False,
    ),
    Setting("staffing", "select", gettext_lazy("Who may answer"), choices=Stage.Staffing.choices, start="anyone"),
)
INSTRUCTIONS = (
    Setting(
        "instructions",
        "long_words",
        gettext_lazy("Instructions"),
        gettext_lazy(
            "For people. A model gets them only in a run with “With the instructions that people read”; else write "
            "what it must know into the question or its help."
        ),
    ),
)


IN_ALL = Setting(
    "target_in_all",
    "bool",
    gettext_lazy("These answers are wanted in all, not of each cohort"),
    gettext_lazy("The cohorts share them: of 3 answers one cohort gives 2, another 1, in turn."),
    start=False,
)


def _people(content: Mapping[str, Any], languages: Languages) -> list[Control]:
    """Cohorts can share the answers only where each is not asked about itself."""
    settings = PEOPLE if content.get("has_target", True) else (*PEOPLE[:2], IN_ALL, *PEOPLE[2:])
    return build_controls(settings, _part(content, settings), "", languages)


def _part(content: Mapping[str, Any], settings: Sequence[Setting]) -> dict[str, Any]:
    return {one.key: content[one.key] for one in settings if one.key in content}


def header_section(content: Mapping[str, Any]) -> list[Control]:
    """Name and display: what a stage is."""
    displays = [(one.key, f"{display_name(one.key)} – {requirements_text(one)}") for one in DISPLAYS]
    settings = (
        Setting("name", "line", _("Name")),
        Setting("display", "select", _("What is shown"), choices=displays, start="image", redraws=True),
        Setting("pictures", "select", _("Pictures of an item"), choices=Stage.Pictures.choices, redraws=True),
    )
    return build_controls(settings, _part(content, settings), "", Languages({}))


def _checks(content: Mapping[str, Any], languages: Languages) -> list[Control]:
    sheet = content.get("sheet") or {}
    checks = Setting("checks", "rows", _("Checks"), row=(*CHECK, BLOCKS), add=_("Add a check"))
    score = Setting("score", "object", _("Score"), row=SCORE)
    return [
        build_control(checks, sheet.get("checks"), "sheet.checks", languages),
        build_control(score, sheet.get("score"), "sheet.score", languages),
    ]


def _acceptance(content: Mapping[str, Any], languages: Languages) -> list[Control]:
    chosen = content.get("acceptance") or Stage.Acceptance.ON_SUBMIT
    how = Setting(
        "acceptance", "select", _("How an answer is accepted"), choices=Stage.Acceptance.choices, redraws=True
    )
    drawn = [build_control(how, chosen, "acceptance", languages)]
    rule, reasons = content.get("acceptance_rule") or {}, content.get("review_reasons") or []
    if chosen == Stage.Acceptance.BY_RULE:
        clauses = Setting("clauses", "rows", _("Clauses, which must all hold"), row=CHECK, add=_("Add a clause"))
        over = Setting("over", "select", _("Over several answers"), choices=OVER, start="majority")
        least = Setting(
            "least", "number", _("Answers that must satisfy it"), _("Empty: more than half of them."), optional=True
        )
        score = Setting("score", "object", _("Score"), row=TOTAL)
        drawn += build_controls((clauses, over, least, score), rule, "acceptance_rule", languages)
    elif rule:
        drawn.append(hidden_control("acceptance_rule", rule))
    if chosen == Stage.Acceptance.BY_REVIEW:
        why = coded_label_setting("review_reasons", _("Reasons to return or reject"))
        drawn.append(build_control(why, reasons, "review_reasons", languages))
    elif reasons:
        drawn.append(hidden_control("review_reasons", reasons))
    return drawn


def _layout(content: Mapping[str, Any], languages: Languages) -> list[Control]:
    layout = {**(content.get("layout") or {})}
    for key in ("show", "fold"):
        if isinstance(layout.get(key), list):
            layout[key] = [{"key": row} if isinstance(row, str) else row for row in layout[key]]
    asked = [one for one in get_value(content, "sheet.fields", []) if isinstance(one, dict) and one.get("key")]
    fields = [("", _("None")), *((str(one["key"]), question_title(one)) for one in asked)]
    settings = (
        Setting("show", "rows", _("Always visible"), row=NAMED, add=_("Add information")),
        Setting(
            "fold",
            "rows",
            _("Collapsed"),
            _("Opening this is recorded with the answer."),
            row=NAMED,
            add=_("Add information"),
        ),
        Setting("fold_label", "words", _("Heading of the collapsed part"), optional=True),
        Setting("gate", "select", _("Collapsed part opens after the answer to"), choices=fields, start=""),
        Setting("references", "bool", _("Show reference answers"), start=False),
        *((_culture_setting(),) if content.get("derivation") or "culture" in layout else ()),
    )
    return build_controls(settings, layout, "layout", languages)


def _culture_setting() -> Setting:
    note = _("To people and to models, where an item is made of an answer that was given about one culture.")
    return Setting("culture", "bool", _("Name the culture that the answer is about"), note, start=False)


def questions(content: Mapping[str, Any], languages: Languages) -> list[QuestionSection]:
    rows = [one for one in get_value(content, "sheet.fields", []) if isinstance(one, dict)]
    return [question(rows, at, languages) for at in range(len(rows))]


def question(rows: Sequence[dict[str, Any]], at: int, languages: Languages) -> QuestionSection:
    field_row, path = rows[at], f"sheet.fields[{at}]"
    kind = kind_or_unknown(str(field_row.get("kind")))
    main = (
        Setting("label", "words", _("Question"), _("Write {target} where the name of the cohort belongs.")),
        Setting("help", "words", _("Help under it"), optional=True),
        Setting("required", "bool", _("Must be answered"), start=True),
    )
    label = field_row.get("label") if isinstance(field_row.get("label"), dict) else {}
    after = str((field_row.get("show_if") or {}).get("field") or "")
    rest = {key: value for key, value in field_row.items() if key not in FIELD_KEYS}
    config = Setting("config", "object", "", row=kind.settings)
    drawn = build_control(config, field_row.get("config") or {}, f"{path}.config", languages)
    if not kind.settings and field_row.get("config"):
        drawn = build_control(
            Setting("config", "json", _("Settings, as JSON")), field_row["config"], f"{path}.config", languages
        )
    return QuestionSection(
        path=path,
        number=at + 1,
        key=str(field_row.get("key", "")),
        label=str((label or {}).get("en") or next(iter((label or {}).values()), "")),
        kind=str(kind.name or field_row.get("kind", "")),
        required=field_row.get("required") is not False,
        asked_if=next((question_title(row) for row in rows if row.get("key") == after), after),
        controls=[
            hidden_text(f"{path}.kind", str(field_row.get("kind", ""))),
            hidden_text(f"{path}.{DRAWN}", str(field_row.get("key", ""))),
            *build_controls(main, _part(field_row, main), path, languages),
        ],
        config=drawn.controls if drawn.input == "object" else [drawn],
        more=[*_advanced_controls(rows, at, languages), *([hidden_control(path, rest)] if rest else [])],
        last=at + 1 == len(rows),
    )


def hidden_text(path: str, value: str) -> Control:
    return Control(Setting("", "line", ""), "hidden", path, f"s:{path}", value=value)


def _advanced_controls(rows: Sequence[dict[str, Any]], at: int, languages: Languages) -> list[Control]:
    """Key, rules beside the field, and when it is asked."""
    field_row, path = rows[at], f"sheet.fields[{at}]"
    before = [(str(row["key"]), question_title(row)) for row in rows[:at] if row.get("key")]
    asked = field_row.get("show_if") or {}
    settings = [
        Setting("key", "line", _("Key"), _("Name in exports and expressions."), short=True),
        Setting(
            "rules", "rows", _("Rules shown next to it"), row=(Setting("", "words", _("Rule")),), add=_("Add a rule")
        ),
    ]
    others = [(str(row["key"]), question_title(row)) for row in rows if row.get("key") and row is not field_row]
    if others:
        choices = [("", _("None")), *others]
        settings.append(
            Setting("required_unless", "select", display_name("required_unless"), choices=choices, start="")
        )
    known = {key: field_row[key] for key in ("key", "rules", "required_unless") if key in field_row}
    drawn = build_controls(settings, known, path, languages)
    if before:
        always = [("", _("Always")), *before]
        field = Setting(
            "field", "select", _("When to ask"), _("Or only after this answer"), choices=always, redraws=True
        )
        drawn.append(build_control(field, asked.get("field", ""), f"{path}.show_if.field", languages))
        codes = codes_of(next((row for row in rows if row.get("key") == asked.get("field")), {}))
        if codes:
            within = Setting("in", "many", _("When the answer is"), choices=codes)
            drawn.append(build_control(within, asked.get("in"), f"{path}.show_if.in", languages))
        elif asked.get("field"):
            lines = Setting("in", "lines", _("When the answer is"), _("One in each line."))
            drawn.append(build_control(lines, asked.get("in"), f"{path}.show_if.in", languages))
    elif asked:
        drawn.append(hidden_control(f"{path}.show_if", asked))
    return drawn


def codes_of(one: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The codes that a field's answer can have, out of the options in its config."""
    config = one.get("config") if isinstance(one.get("config"), dict) else {}
    lists = [rows for rows in (config or {}).values() if isinstance(rows, list)]
    rows = [row for rows in lists for row in rows if isinstance(row, dict) and row.get("code")]
    return [(str(row["code"]), str((row.get("label") or {}).get("en") or row["code"])) for row in rows]
