"""The protocol of a campaign beside its instructions: do and don't, what is to be read or seen, a short quiz.

{"pairs": [{"do", "dont", "why"}], "materials": [{"key", "title", "kind": "reading" | "video" | "link", "url", "body",
 "seconds"}], "quiz": [{"key", "question", "options": [{"code", "label", "right": bool, "why"}]}], "pass": n}
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

KINDS = ("reading", "video", "link")
MEDIA = (".mp4", ".m4v", ".webm", ".ogv")
LONGEST_DWELL = 3600
HOST = re.compile(r"(?=.{4,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+")


@dataclass(frozen=True)
class DoDontPair:
    do: str
    dont: str
    why: str = ""


@dataclass(frozen=True)
class Material:
    """`seconds`: how long it is to be before one, at least."""

    key: str
    title: str
    kind: str
    url: str = ""
    body: str = ""
    seconds: int = 0

    @property
    def is_read(self) -> bool:
        return self.kind == "reading"

    @property
    def is_video(self) -> bool:
        return self.kind == "video"

    @property
    def plays(self) -> bool:
        """Whether the address is a film that the page itself can show."""
        return self.is_video and not _wrong_address(self.url) and urlsplit(self.url).path.lower().endswith(MEDIA)

    @property
    def origin(self) -> str:
        """For the content policy: the page that shows the film lets in films from there alone. ASCII, as headers are;
        only for what `plays`."""
        parts = urlsplit(self.url)
        return f"https://{_host(parts)}" + (f":{parts.port}" if parts.port else "")


@dataclass(frozen=True)
class QuizOption:
    code: str
    label: str
    right: bool
    why: str = ""


@dataclass(frozen=True)
class QuizQuestion:
    key: str
    question: str
    options: tuple[QuizOption, ...]

    def option(self, code: str) -> QuizOption | None:
        return next((option for option in self.options if option.code == code), None)


@dataclass(frozen=True)
class Protocol:
    pairs: tuple[DoDontPair, ...] = ()
    materials: tuple[Material, ...] = ()
    quiz: tuple[QuizQuestion, ...] = ()
    pass_mark: int = 0
    """Right answers that are needed; never more than there are questions."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Protocol":
        """Of what was checked by `problems`; what is not there is empty."""
        quiz = tuple(_question(row) for row in _rows(data, "quiz"))
        wanted = data.get("pass")
        mark = wanted if isinstance(wanted, int) else len(quiz)
        return cls(
            pairs=tuple(
                DoDontPair(*(str(row.get(k, "")) for k in ("do", "dont", "why"))) for row in _rows(data, "pairs")
            ),
            materials=tuple(_material(row) for row in _rows(data, "materials")),
            quiz=quiz,
            pass_mark=min(mark, len(quiz)),
        )

    def material(self, key: str) -> Material | None:
        return next((material for material in self.materials if material.key == key), None)

    def question(self, key: str) -> QuizQuestion | None:
        return next((question for question in self.quiz if question.key == key), None)

    def count_right_answers(self, answers: Mapping[str, str]) -> int:
        """How many were answered rightly."""
        chosen_options = (question.option(answers.get(question.key, "")) for question in self.quiz)
        return sum(option is not None and option.right for option in chosen_options)

    @property
    def demand(self) -> tuple[int, int, tuple[int, ...]]:
        """What going through it takes: questions, right answers, seconds. Texts for the same people take the same."""
        return len(self.quiz), self.pass_mark, tuple(material.seconds for material in self.materials)

    def is_seen_in_full(self, seconds: Mapping[str, Any]) -> bool:
        """Whether each material was before the person for as long as it asks."""
        return all(
            material.key in seconds and float(seconds[material.key]) >= material.seconds for material in self.materials
        )


def _rows(data: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    rows = data.get(key)
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _material(row: Mapping[str, Any]) -> Material:
    texts = {key: str(row.get(key, "")) for key in ("key", "title", "kind", "url", "body")}
    seconds = row.get("seconds")
    return Material(**texts, seconds=seconds if isinstance(seconds, int) else 0)


def _question(row: Mapping[str, Any]) -> QuizQuestion:
    options = tuple(
        QuizOption(
            str(option.get("code", "")),
            str(option.get("label", "")),
            option.get("right") is True,
            str(option.get("why", "")),
        )
        for option in _rows(row, "options")
    )
    return QuizQuestion(str(row.get("key", "")), str(row.get("question", "")), options)


def problems(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(place, code) of all that is wrong; the codes are worded where they are shown."""
    for at, pair in enumerate(_rows(data, "pairs")):
        if not str(pair.get("do", "")).strip() and not str(pair.get("dont", "")).strip():
            yield f"pairs[{at}]", "empty"
    for at, row in enumerate(_rows(data, "materials")):
        yield from ((f"materials[{at}].{key}", code) for key, code in _wrong_material(row))
    quiz = _rows(data, "quiz")
    for at, row in enumerate(quiz):
        yield from ((f"quiz[{at}].{key}" if key else f"quiz[{at}]", code) for key, code in _wrong_question(row))
    wanted = data.get("pass")
    if wanted is not None and (not isinstance(wanted, int) or isinstance(wanted, bool) or not 0 <= wanted <= len(quiz)):
        yield "pass", "pass_mark"


def _wrong_material(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    kind, url = row.get("kind"), str(row.get("url", ""))
    if not str(row.get("title", "")).strip():
        yield "title", "empty"
    if kind not in KINDS:
        yield "kind", "kind"
    if kind == "reading" and not str(row.get("body", "")).strip():
        yield "body", "empty"
    if kind in ("video", "link") and (wrong := _wrong_address(url)):
        yield "url", wrong
    seconds = row.get("seconds", 0)
    if not isinstance(seconds, int) or isinstance(seconds, bool) or not 0 <= seconds <= LONGEST_DWELL:
        yield "seconds", "seconds"


def _wrong_address(url: str) -> str:
    """A code; empty for https addresses of a named host. What stands in a header may hold no sign of its grammar."""
    try:
        parts = urlsplit(url)
        host, _port = _host(parts), parts.port
    except ValueError:
        return "https"
    strange = any(letter in url for letter in " ;,'\"<>") or not url.isprintable()
    if parts.scheme != "https" or not host or "@" in parts.netloc or strange:
        return "https"
    return "" if HOST.fullmatch(host) else "host"


def _host(parts: SplitResult) -> str:
    """As browsers ask for it: names in other scripts in Punycode (UTS 46, which keeps ß and ς, unlike Python's)."""
    labels = unicodedata.normalize("NFKC", (parts.hostname or "").lower()).split(".")
    return ".".join(label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in labels)


def _wrong_question(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    options = _rows(row, "options")
    if not str(row.get("question", "")).strip():
        yield "question", "empty"
    if len(options) < 2:
        yield "", "options"
    elif not any(one.get("right") is True for one in options):
        yield "", "right"
    for at, option in enumerate(options):
        if not str(option.get("label", "")).strip():
            yield f"options[{at}].label", "empty"
