"""The instructions of a campaign as a form: a text for each language and cohort, one of them open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.composer.actions import slug
from annotation.composer.controls import Control, Languages, build_control, build_controls, hidden_control
from annotation.composer.form_parser import unique_name
from annotation.composer.paths import get_value
from annotation.composer.validation import StageProblem
from annotation.fields.settings import Setting
from annotation.instructions.protocol import Protocol
from annotation.instructions.protocol import problems as part_problems
from annotation.models import Campaign
from annotation.services.campaigns.instructions import InstructionDraft, newest_version, texts_of
from people.locales.draft_marks import text_language_name
from people.locales.languages import native_name
from people.models import Cohort

KINDS = (
    ("reading", gettext_lazy("A text to read")),
    ("video", gettext_lazy("A film")),
    ("link", gettext_lazy("A page elsewhere")),
)
OPTION = (
    Setting("code", "kept", ""),
    Setting("label", "line", gettext_lazy("Answer")),
    Setting("why", "optional", gettext_lazy("Explanation")),
    Setting("right", "bool", gettext_lazy("It is right"), start=False),
)
BODY = (
    Setting(
        "body",
        "long",
        gettext_lazy("Instructions"),
        gettext_lazy("A blank line begins a paragraph; lines that begin with - are a list; **this** is strong."),
    ),
)
PARTS = (
    Setting(
        "pairs",
        "rows",
        gettext_lazy("Do and don't"),
        row=(
            Setting("do", "optional", gettext_lazy("Do")),
            Setting("dont", "optional", gettext_lazy("Don't")),
            Setting("why", "optional", gettext_lazy("Why")),
        ),
        add=gettext_lazy("Add a pair"),
    ),
    Setting(
        "materials",
        "rows",
        gettext_lazy("Materials"),
        row=(
            Setting("key", "kept", ""),
            Setting("title", "line", gettext_lazy("Title")),
            Setting("kind", "select", gettext_lazy("What it is"), choices=KINDS, start="reading", redraws=True),
            Setting("url", "optional", gettext_lazy("Address of a film or page"), short=True),
            Setting("body", "long", gettext_lazy("Text")),
            Setting("seconds", "int", gettext_lazy("Minimum seconds"), optional=True),
        ),
        add=gettext_lazy("Add something to read or see"),
    ),
    Setting(
        "quiz",
        "rows",
        gettext_lazy("Quiz"),
        row=(
            Setting("key", "kept", ""),
            Setting("question", "line", gettext_lazy("Question")),
            Setting("options", "rows", gettext_lazy("Answers"), row=OPTION, add=gettext_lazy("Add an answer")),
        ),
        add=gettext_lazy("Add a question"),
    ),
    Setting(
        "pass", "int", gettext_lazy("Required correct answers"), gettext_lazy("Empty: all of them."), optional=True
    ),
)
WORDS: Mapping[str, Any] = {
    "empty": gettext_lazy("This is empty. Write it, or delete the row."),
    "kind": gettext_lazy("Choose one of those shown."),
    "https": gettext_lazy("Write an address that begins with https://."),
    "host": gettext_lazy("Write the whole name of the site, as in https://example.org/film.mp4."),
    "seconds": gettext_lazy("Write a number from 0 to 3600."),
    "options": gettext_lazy("A question needs at least two answers."),
    "right": gettext_lazy("Mark the answer that is right."),
    "pass_mark": gettext_lazy("Write a number that is not larger than that of the questions."),
}


@dataclass(frozen=True)
class TextTab:
    number: int
    path: str
    name: str
    open: bool


@dataclass(frozen=True)
class InstructionPage:
    tabs: Sequence[TextTab]
    head: Sequence[Control]
    """Language and cohort of the open text."""
    body: Sequence[Control]
    parts: Sequence[Control]
    kept: Sequence[Control]
    required: bool
    wrong: Sequence[StageProblem]
    open: str
    languages: Sequence[tuple[str, str]]
    cohorts: Sequence[tuple[str, str]]


def content_of(campaign: Campaign) -> dict[str, Any]:
    """The newest version, as the form has it."""
    last = newest_version(campaign)
    texts = [
        {"language": one.language, "cohort": str(one.cohort or ""), "body": one.body, "parts": dict(one.parts)}
        for one in texts_of(last)
    ]
    return {"required": bool(last and last.required), "texts": texts or [{"language": "en", "cohort": "", "body": ""}]}


def instruction_page(
    content: Mapping[str, Any], cohorts: Sequence[Cohort], languages: Mapping[str, str], shown: int,
    wrong: Sequence[StageProblem] = (),
) -> InstructionPage:  # fmt: skip
    texts = get_value(content, "texts", [])
    shown = min(max(shown, 0), len(texts) - 1)
    names = {str(one.pk): one.name for one in cohorts}
    tabs = [TextTab(at + 1, f"texts[{at}]", _name(one, names), at == shown) for at, one in enumerate(texts)]
    path, draft = f"texts[{shown}]", texts[shown] if texts else {}
    plain = Languages({})
    spoken = list({**languages, draft.get("language", "en"): native_name(draft.get("language", "en"))}.items())
    head = (
        Setting("language", "select", _("Language"), choices=spoken),
        Setting("cohort", "select", _("For"), choices=[("", _("all cohorts")), *names.items()], start=""),
    )
    return InstructionPage(
        tabs=tabs,
        head=build_controls(head, {key: draft[key] for key in ("language", "cohort") if key in draft}, path, plain),
        body=build_controls(BODY, {"body": draft.get("body", "")}, path, plain),
        parts=[_part(each, draft.get("parts") or {}, f"{path}.parts", plain) for each in PARTS],
        kept=[hidden_control(f"texts[{at}]", text) for at, text in enumerate(texts) if at != shown],
        required=bool(content.get("required")),
        wrong=wrong,
        open=path,
        languages=list(languages.items()),
        cohorts=list(names.items()),
    )


def _part(one: Setting, parts: Mapping[str, Any], path: str, plain: Languages) -> Control:
    return build_control(one, parts.get(one.key), f"{path}.{one.key}", plain)


def _name(text: Mapping[str, Any], cohorts: Mapping[str, str]) -> str:
    language = text_language_name(str(text.get("language", "en")))
    cohort = cohorts.get(str(text.get("cohort") or ""))
    return f"{language} · {cohort}" if cohort else language


def fill_keys(content: dict[str, Any]) -> dict[str, Any]:
    """Keys nobody wrote are made of the titles; empty parts are left out."""
    given = content.get("texts")
    texts = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    for text in texts:
        parts = text.get("parts") if isinstance(text.get("parts"), dict) else {}
        parts = {key: value for key, value in (parts or {}).items() if value not in ([], None)}
        _add_missing_keys(parts.get("materials"), "key", "title", "material")
        _add_missing_keys(parts.get("quiz"), "key", "question", "question")
        for question in parts.get("quiz") or []:
            _add_missing_keys(question.get("options"), "code", "label", "answer")
        text["parts"] = parts
    content["texts"] = texts
    return content


def _add_missing_keys(rows: Any, name: str, of: str, otherwise: str) -> None:
    rows = [row for row in rows or [] if isinstance(row, dict)]
    for number, row in enumerate(rows, start=1):
        if not row.get(name):
            wanted = slug(str(row.get(of, "")), f"{otherwise}_{number}")
            row[name] = unique_name(wanted, [str(other.get(name)) for other in rows if other is not row])


def validate_texts(content: Mapping[str, Any], cohorts: Sequence[Cohort]) -> list[StageProblem]:
    """All that is wrong, with its place. An empty text of nobody is no problem as long as there is another."""
    problems: list[StageProblem] = []
    known, audiences = {str(one.pk) for one in cohorts} | {""}, set()
    for at, text in enumerate(content.get("texts") or []):
        path, whom = f"texts[{at}]", (text.get("language"), str(text.get("cohort") or ""))
        if whom[1] not in known or not str(whom[0] or "").strip() or len(str(whom[0])) > 12:
            problems.append(StageProblem(f"{path}.cohort", _("Choose one of those shown.")))
        if whom in audiences:
            problems.append(
                StageProblem(f"{path}.language", _("There is a text for these people in this language already."))
            )
        audiences.add(whom)
        if not str(text.get("body") or "").strip():
            problems.append(StageProblem(f"{path}.body", _("Write the instructions, or delete this text.")))
        problems += [
            StageProblem(f"{path}.parts.{at_}", str(WORDS[code]))
            for at_, code in part_problems(text.get("parts") or {})
        ]
    if not content.get("texts"):
        problems.append(StageProblem("texts", _("Write at least one text.")))
    return problems


def to_drafts(content: Mapping[str, Any]) -> list[InstructionDraft]:
    return [
        InstructionDraft(
            language=text["language"],
            body=str(text.get("body", "")).strip(),
            cohort=int(text["cohort"]) if text.get("cohort") else None,
            parts=text.get("parts") or {},
        )
        for text in content["texts"]
    ]


@dataclass(frozen=True)
class PublishedText:
    """A text in force, on the campaign's page."""

    name: str
    language: str
    body: str
    parts: Protocol


@dataclass(frozen=True)
class PublishedInstructions:
    number: int
    required: bool
    texts: list[PublishedText]


def instructions_of(campaign: Campaign) -> PublishedInstructions:
    last = newest_version(campaign)
    names = {str(row.cohort_id): row.cohort.name for row in campaign.cohorts.select_related("cohort")}
    texts = [
        PublishedText(
            _name({"language": draft.language, "cohort": draft.cohort}, names),
            draft.language,
            draft.body,
            Protocol.from_json(draft.parts),
        )
        for draft in texts_of(last)
    ]
    return PublishedInstructions(last.number if last else 0, bool(last and last.required), texts)
