"""The settings of a stage, in the sections of its form. Which are asked depends on what was chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.composer.controls import Control, Languages, build_control, build_controls, hidden_control
from annotation.composer.coverage_settings import coverage_controls
from annotation.composer.dispute_settings import DISAGREEMENT
from annotation.composer.draw_settings import can_leave_out_filter, draw_settings, with_example
from annotation.composer.key_references import DRAWN
from annotation.composer.labels import display_name, requirements_text
from annotation.composer.near_pairs import near_lines
from annotation.composer.pair_settings import NEW_PAIR, pair_settings
from annotation.composer.paths import get_value
from annotation.composer.promotion_settings import join_settings, promotion_settings
from annotation.composer.reference_settings import proposal_settings, rename_settings
from annotation.composer.verdict_settings import carry_setting, form_params, verdict_settings
from annotation.displays import DISPLAYS
from annotation.fields.registry import kind_or_unknown
from annotation.fields.settings import Setting
from benchmarks.models import Stage

FIELD_KEYS = ("key", "kind", "label", "help", "required", "config", "rules", "show_if")


@dataclass(frozen=True)
class Section:
    key: str
    title: str
    note: str
    controls: Sequence[Control]


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


@dataclass(frozen=True)
class StageContext:
    """What a stage's form needs to know of its benchmark: the stages before it, by key, with their JSON."""

    languages: Languages
    earlier: Mapping[str, Any]
    """key: (name, fields)"""
    context: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """key: names in the context of its items"""
    derived: str = ""
    """How many items result, as a sentence."""
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """key: names of the facts of its items"""
    filters: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    """key: its filters, each with its rule in words"""
    examples: Mapping[str, str] = field(default_factory=dict)
    """What a path reads of an item that is there."""
    variants: Sequence[str] = ()
    """Prompt variants that models answer earlier stages with."""
    label_sets: Sequence[tuple[str, str]] = ()
    """Sets that coverage may have as its rows: value and name."""


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
        Section("items", _("Source of items"), around.derived, _items(content, around)),
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
    Setting("own_items_only", "bool", gettext_lazy("A cohort gets only items of its own origin"), start=False),
    Setting("staffing", "select", gettext_lazy("Who may answer"), choices=Stage.Staffing.choices, start="anyone"),
)
INSTRUCTIONS = (Setting("instructions", "long_words", gettext_lazy("Instructions")),)


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
    how = Setting("acceptance", "select", _("An answer is accepted if"), choices=Stage.Acceptance.choices, redraws=True)
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
        Setting("gate", "select", _("Opens after this question is answered"), choices=fields, start=""),
        Setting("references", "bool", _("Show reference answers"), start=False),
    )
    return build_controls(settings, layout, "layout", languages)


def question_title(field: Mapping[str, Any]) -> str:
    """A question by what it asks; by its key where it asks nothing yet."""
    label = field.get("label")
    words = str(label.get("en") or "").strip() if isinstance(label, dict) else ""
    return words or str(field.get("key", ""))


def _line(key: str, label: Any, help: Any = "") -> Setting:
    return Setting(key, "optional", label, help, short=True)


DERIVED = (
    ("", gettext_lazy("Import")),
    ("promote", gettext_lazy("One item per accepted answer or item of an earlier stage")),
    ("join", gettext_lazy("Join of several stages")),
    ("pair", gettext_lazy("Accepted items are paired")),
    ("cluster", gettext_lazy("Accepted items are put on sheets of many pictures")),
    ("ungroup", gettext_lazy("One item per picture that people keep on such sheets")),
    ("verdicts", gettext_lazy("One item per answer of a model or a person, to be judged")),
    ("disagree", gettext_lazy("One item per item whose answers disagree, to be settled")),
    ("sample", gettext_lazy("A sample of earlier items")),
)
WHERE = gettext_lazy("A question's key, item.concept, item.origin, or item.context.<name>")
PARAMS: Mapping[str, tuple[Setting, ...]] = {
    "ungroup": (_line("field", gettext_lazy("Key of the question with the groups"), gettext_lazy("Empty: groups.")),),
}
SHEETS = (
    Setting("most", "int", gettext_lazy("Maximum pictures per sheet"), optional=True),
    _line("title", gettext_lazy("Words under a picture"), WHERE),
    _line("rank", gettext_lazy("Rank under a picture"), WHERE),
)
OF = (
    ("results", gettext_lazy("those with accepted answers")),
    ("items", gettext_lazy("all, answered or not")),
    ("kept", gettext_lazy("those that the filters keep")),
)


def _items(content: Mapping[str, Any], around: StageContext) -> list[Control]:
    derivation = _shown_derivation(content.get("derivation") or {})
    chosen = derivation.get("kind") or ""
    kind = Setting("kind", "select", _("Its items"), choices=DERIVED, redraws=True)
    if not chosen:
        return [build_control(kind, "", "derivation.kind", around.languages)]
    earlier = [(key, name) for key, (name, _fields) in around.earlier.items()]
    settings = (
        kind,
        Setting("from", "many", _("From"), choices=earlier, redraws=True),
        Setting("of", "select", _("Of its items"), choices=OF, start="results", redraws=True),
        *_left_out_filter(derivation, around),
        Setting("params", "object", "", row=(*_params(chosen, derivation, around), *_references(derivation, earlier))),
        *((SEED,) if chosen == "sample" or "seed" in derivation else ()),
    )
    return build_controls(settings, derivation, "derivation", around.languages)


def _references(derivation: Mapping[str, Any], earlier: Sequence[tuple[str, Any]]) -> tuple[Setting, ...]:
    """What items take from other stages. Answers that are judged or settled are shown as they were given, so there only
    what is set already."""
    offered = {"rename": rename_settings(earlier), "proposals": proposal_settings(earlier)}
    plain = derivation.get("kind") not in ("verdicts", "disagree")
    return tuple(setting for key, setting in offered.items() if plain or get_value(derivation, f"params.{key}"))


def _shown_derivation(derivation: Mapping[str, Any]) -> Mapping[str, Any]:
    """As the form asks for it: a new pair begins with texts, pairs are lines, and a choice is one of a list."""
    chosen, params = derivation.get("kind"), derivation.get("params") or {}
    if chosen == "pair":
        params = params if derivation.get("from") else {**NEW_PAIR, **params}
        params = {**params, "near": near_lines(params["near"])} if params.get("near") else params
    elif chosen == "cluster" and isinstance(params.get("by"), str):
        params = {**params, "by": [params["by"]]}
    elif chosen == "verdicts":
        params = form_params(params)
    return {**derivation, "params": params}


SEED = Setting("seed", "int", gettext_lazy("Seed"), gettext_lazy("Another number makes another draw."), start=0)


def _left_out_filter(derivation: Mapping[str, Any], around: StageContext) -> tuple[Setting, ...]:
    """For labels that a limit is chosen by: candidates on both sides of it."""
    if not can_leave_out_filter(derivation):
        return ()
    rules = [rule for key in derivation.get("from") or [] for rule in around.filters.get(key, ())]
    choices = [("", _("None")), *dict.fromkeys(rules)]
    text = _("Items that only this filter drops are taken too. For labels that its limit is chosen by.")
    return (Setting("without", "select", _("Filter that does not count"), text, choices=choices, start=""),)


def _params(kind: str, derivation: Mapping[str, Any], around: StageContext) -> tuple[Setting, ...]:
    facts = list(dict.fromkeys(fact for key in derivation.get("from") or [] for fact in around.facts.get(key, ())))
    if kind == "pair":
        known = [*_of_items(derivation, around), *_answers(derivation, around)]
        return pair_settings(known, facts, str(get_value(derivation, "params.similar.fact") or ""))
    if kind == "sample":
        answers = _answers(derivation, around) if derivation.get("of", "results") == "results" else []
        fields = [*_of_items(derivation, around), *answers]
        return (*draw_settings(fields, facts, around.examples), *_promotion(derivation, around))
    if kind == "cluster":
        fields = [(where, label) for where, label in _of_items(derivation, around) if where != "item.text"]
        return (Setting("by", "many", _("One sheet for each"), _("None: for each concept."), choices=fields), *SHEETS)
    if kind == "verdicts":
        carried = _carried(derivation, around)
        return verdict_settings(_answers(derivation, around), carried, around.variants, derivation["params"])
    if kind == "disagree":
        return (*DISAGREEMENT, carry_setting(_carried(derivation, around)))
    if kind == "join":
        return join_settings(_answers(derivation, around), _of_items(derivation, around), derivation, around.earlier)
    return PARAMS.get(kind) or _promotion(derivation, around)


def _promotion(derivation: Mapping[str, Any], around: StageContext) -> tuple[Setting, ...]:
    return promotion_settings(_answers(derivation, around), _of_items(derivation, around))


def _carried(derivation: Mapping[str, Any], around: StageContext) -> list[tuple[str, str]]:
    """Names in the context of earlier items, each with what an item says there."""
    names = [name for key in derivation.get("from") or [] for name in around.context.get(key, ())]
    examples = {name: around.examples.get(f"item.context.{name}", "") for name in dict.fromkeys(names)}
    return [(name, f"{name} ({example})" if example else name) for name, example in examples.items()]


def _of_items(derivation: Mapping[str, Any], around: StageContext) -> list[tuple[str, str]]:
    """The paths that earlier items have, each with what a real one says there."""
    names = [name for key in derivation.get("from") or [] for name in around.context.get(key, ())]
    paths = [
        ("item.text", _("the item's own text")),
        ("item.concept", _("its concept")),
        ("item.origin", _("its origin")),
        ("item.condition", _("its condition")),
        ("unit.target", _("the culture it was asked about")),
        ("unit.cohort", _("the cohort of who answered")),
        *((f"item.context.{name}", _("its “%(name)s”") % {"name": name}) for name in dict.fromkeys(names)),
    ]
    return [(where, with_example(label, around.examples.get(where, ""))) for where, label in paths]


def _answers(derivation: Mapping[str, Any], around: StageContext) -> list[tuple[str, str]]:
    """The questions of the earlier stages, once each."""
    text, examples = _("its answer to “%(question)s”"), around.examples
    answer_sources = [
        (
            str(field["key"]),
            with_example(text % {"question": question_title(field)}, examples.get(str(field["key"]), "")),
        )
        for key in derivation.get("from") or []
        for field in around.earlier.get(key, ("", []))[1]
        if isinstance(field, dict) and field.get("key")
    ]
    return list(dict.fromkeys(answer_sources))


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
    drawn = build_controls(
        settings, {key: field_row[key] for key in ("key", "rules") if key in field_row}, path, languages
    )
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
