"""3XCM: all concepts that a picture shows; longer queries for a concept, and what they must keep to; system prompts.

After Appendices I (labels, ordered, the most important first), S and U. A query keeps the concept's word exactly as it is
written, says nothing of a country or a culture (or, with a descriptor, only the country's name), and means the same in
every language.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predictions.prompts.contract import (
    MissingInput,
    ParsedReply,
    Prompt,
    PromptOption,
    PromptRequests,
    Question,
    Reply,
    Request,
    Scene,
    UnparsedReply,
)
from predictions.prompts.phrases import parse_phrase
from predictions.prompts.prompt_templates import (
    TemplatePrompt,
    gettext_noop,
    object_of,
    picture_of,
    require_target,
    single_line,
    split_texts,
)
from predictions.prompts.reply_text import (
    empty_reason,
    failure_reason,
    json_objects,
    single_json_object,
    strip_reasoning,
)

SYSTEM_PROMPTS: Mapping[str, str] = {
    "": "",
    "plain": "Find the image that this caption describes.",
    "meaning": "Find the image that this caption describes. Go by what the words mean, not by the language they are in.",
}
"""For retrievers that take one. After Appendix U: the model's own, a plain instruction, and one that asks for the meaning."""

CONCEPTS = PromptOption(
    "concepts",
    gettext_noop("Concepts"),
    "concepts",
    help=gettext_noop("One a line. Empty: those the sheet offers for the item."),
)


@dataclass(frozen=True)
class Labelling(TemplatePrompt):
    """Every concept of a list that a picture shows, the most important first."""

    def _question(self, scene: Scene) -> Question | None:
        question = scene.question("labels")
        return question if question and (question.many or not question.codes) else None

    def concepts(self, scene: Scene) -> tuple[str, ...]:
        question = self._question(scene)
        given = split_texts(self.option(scene, "concepts"))
        return tuple(dict.fromkeys(given or (question.codes if question else ())))

    def fits(self, scene: Scene) -> bool:
        return bool(self._question(scene) and scene.images)

    def ask(self, scene: Scene, seed: int) -> PromptRequests:
        concepts = self.concepts(scene)
        if not concepts or self._question(scene) is None:
            raise MissingInput("no_options")
        texts = {"concepts": "\n".join(f"- {single_line(concept)}" for concept in concepts)}
        labels = {"type": "array", "items": {"type": "string", "enum": list(concepts)}}
        messages = self.messages(scene, texts, {"image": (picture_of(scene),)})
        schema = object_of({"labels": labels})
        return PromptRequests((Request(messages=messages, ways=("schema", "text"), schema=schema, max_tokens=512),))

    def read(self, scene: Scene, asked: PromptRequests, replies: Sequence[Reply]) -> ParsedReply | UnparsedReply:
        """In the order given. A label outside the list leaves the reply unread: it may stand for one that is in it."""
        question = self._question(scene)
        if question is None or not replies:
            return UnparsedReply("no_response", "empty")
        gone = empty_reason(replies[0])
        if gone:
            return gone
        answered = _labels(strip_reasoning(replies[0].text))
        if isinstance(answered, UnparsedReply):
            return failure_reason(replies[0], answered)
        known = {plain(concept): concept for concept in self.concepts(scene)}
        strange = [concept for concept in answered if plain(concept) not in known]
        if strange:
            return UnparsedReply(
                "out_of_range", "outside_scale", {"labels": [single_line(one)[:80] for one in strange[:20]]}
            )
        labels = list(dict.fromkeys(known[plain(one)] for one in answered))
        if not labels:
            return UnparsedReply("unparseable", "no_choice")
        notes = {"way": replies[0].way, "ordered": labels}
        return ParsedReply({question.key: labels if question.many else " | ".join(labels)}, notes)


def _labels(text: str) -> list[str] | UnparsedReply:
    """The list of a JSON reply: a list, or an object with one."""
    rows: list[Any] | None = None
    if text.startswith("["):
        objects = json_objects(text, "[")
        if isinstance(objects, UnparsedReply):
            return objects
        rows = objects[0] if len(objects) == 1 and isinstance(objects[0], list) else None
    else:
        reply_object = single_json_object(text)
        if isinstance(reply_object, UnparsedReply):
            return reply_object
        lists = [value for value in reply_object.values() if isinstance(value, list)]
        rows = (
            reply_object["labels"]
            if isinstance(reply_object.get("labels"), list)
            else lists[0]
            if len(lists) == 1
            else None
        )
    if rows is None or not all(isinstance(row, str) for row in rows):
        return UnparsedReply("unparseable", "bad_json")
    return [str(row) for row in rows]


LABELS = Labelling(
    key="xcm-labels",
    name=gettext_noop("All concepts a picture shows"),
    source=gettext_noop("After Figure 12 of the paper, in our words"),
    user=(
        "{image}\n\nAssign this picture to one or more of these concepts, all that it shows, the most important first:\n"
        "{concepts}\n\nReply with JSON only, with the concepts as they are written above:\n"
        '{"labels": ["...", "..."]}'
    ),
    setting="labels",
    takes=("image", "concepts"),
    required_placeholders=("image", "concepts"),
    more=(CONCEPTS,),
)

TASK, CASUAL = "task", "casual"
STYLES: Mapping[str, str] = {
    TASK: (
        "The sentence says what the image is needed for, something ordinary and likely for such an image: a presentation, "
        "homework, a blog."
    ),
    CASUAL: "The sentence is chatty: somebody says in passing what they are looking for, and perhaps that they like it.",
}
STYLE = PromptOption(
    "style",
    gettext_noop("Style"),
    "choice",
    choices=((TASK, gettext_noop("task-based")), (CASUAL, gettext_noop("casual"))),
    default=TASK,
)
CUES = PromptOption(
    "cues",
    gettext_noop("Words that would give a culture away"),
    "text",
    help=gettext_noop(
        "Separate them with | or lines. The countries of the benchmark and their people are known already."
    ),
)
KNOWN_CUES = (
    "Argentina", "Argentine", "Argentinian", "Australia", "Australian", "Brazil", "Brazilian", "Brasil", "brasileiro",
    "China", "Chinese", "France", "French", "français", "Germany", "German", "Deutschland", "deutsch", "India", "Indian",
    "Japan", "Japanese", "Kenya", "Kenyan", "Nigeria", "Nigerian", "Portugal", "Portuguese", "português", "Saudi Arabia",
    "Saudi", "Arab", "Arabia", "Arabian", "Arabic", "Spain", "Spanish", "España", "español", "Thailand", "Thai", "United Kingdom", "British",
    "England", "English", "United States", "American", "中国", "日本", "भारत", "السعودية", "ประเทศไทย",
)  # fmt: skip


UNPARTED = re.compile(  # Thai, Lao, Burmese, Hangul, Khmer, kana, Chinese signs
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
CLITICS = re.compile(
    "[\u0648\u0641]?[\u0628\u0643\u0644]?(?:\u0627\u0644|\u0644)?"
)  # of Arabic: and, with, as, for, the


@dataclass(frozen=True)
class Querying(TemplatePrompt):
    """A longer query for a concept in one language. The item has `native` (the word), `language`, and, where queries are
    to mean the same everywhere, `english` (the sentence to say in that language) and `descriptor` (a country)."""

    def fits(self, scene: Scene) -> bool:
        question = scene.question("query") or scene.question(TASK)
        return bool(question and not question.codes and _word(scene))

    def ask(self, scene: Scene, seed: int) -> PromptRequests:
        word, style = _word(scene), str(self.option(scene, "style"))
        if not word or style not in STYLES:
            raise MissingInput("no_concept")
        english, descriptor = (single_line(scene.context.get(key) or "") for key in ("english", "descriptor"))
        texts = {
            "word": word,
            "language": single_line(scene.context.get("language") or "")
            or f"the main language of {require_target(scene)}",
            "style": STYLES[style],
            "meaning": f"It means exactly this: {english}\n" if english else "",
            "culture": (
                f"It asks for the concept as it is in {descriptor}, by that country's name and nothing else of it."
                if descriptor
                else "It has no sign of any country or culture."
            ),
        }
        return PromptRequests((Request(messages=self.messages(scene, texts), max_tokens=128),))

    def read(self, scene: Scene, asked: PromptRequests, replies: Sequence[Reply]) -> ParsedReply | UnparsedReply:
        key = self._question_key(scene)
        query = parse_phrase(replies, ("query", "search query", "sentence", "answer"))
        if isinstance(query, UnparsedReply):
            return query
        cues = (*KNOWN_CUES, *split_texts(self.option(scene, "cues")))
        wrong = query_problems(query, _word(scene), cues, single_line(scene.context.get("descriptor") or ""))
        if wrong:
            return UnparsedReply("unparseable", wrong[0], {"query": query[:300], "problems": wrong})
        return ParsedReply({key: query}, {"way": replies[0].way})

    def _question_key(self, scene: Scene) -> str:
        """A style has a question of its own where the sheet asks for both."""
        style = str(self.option(scene, "style"))
        return style if scene.question(style) else "query"


def _word(scene: Scene) -> str:
    return single_line(scene.context.get("native") or scene.concept or "")


def query_problems(query: str, word: str, cues: Iterable[str], descriptor: str = "") -> list[str]:
    """What is wrong with a query: "word_missing" (the concept's word is not in it as it is written), "culture_cue" (it
    names a country or its people, other than the descriptor), "no_descriptor" cannot be told in other languages."""
    problem_codes = []
    if not word or not has_word(word, query):
        problem_codes.append("word_missing")
    rest = unicodedata.normalize("NFC", query).replace(unicodedata.normalize("NFC", word), " ") if word else query
    allowed = plain(descriptor)
    named = [cue for cue in cues if single_line(cue) and _names(plain(cue), plain(rest))]
    if any(not (allowed and (plain(cue) in allowed or plain(cue)[:4] == allowed[:4])) for cue in named):
        problem_codes.append("culture_cue")
    return problem_codes


def has_word(word: str, text: str) -> bool:
    """Whether a word stands in a text whole and as it is written, with a capital only where it begins the text. Scripts
    that do not part words, or write particles onto them, have it anywhere; in Arabic an article or a preposition may be
    written before it."""
    text, word = (unicodedata.normalize("NFC", one) for one in (text, word))
    if UNPARTED.search(word):
        return word in text
    capital = word[:1].upper() + word[1:]
    places = [match.start() for match in re.finditer(re.escape(word), text)] + [0] * text.startswith(capital)
    return any(_is_whole_word(text, at, at + len(word)) for at in places)


def _is_whole_word(text: str, begins: int, ends: int) -> bool:
    before = re.search(r"[^\s]*\Z", text[:begins])
    led = before[0] if before else ""
    return not _is_word_character(text[ends : ends + 1]) and (
        not _is_word_character(led[-1:]) or bool(CLITICS.fullmatch(led))
    )


def _is_word_character(sign: str) -> bool:
    """A letter, a mark on one, or a digit."""
    return bool(sign) and unicodedata.category(sign)[0] in "LMN"


def plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _names(cue: str, text: str) -> bool:
    """As a word of its own; in scripts that do not part words, anywhere."""
    if not re.search(r"[a-z\u00c0-\u024f]", cue):
        return cue in text
    return bool(re.search(rf"(?<!\w){re.escape(cue)}(?:s|es|e|n|en|er)?(?!\w)", text))


QUERIES = Querying(
    key="xcm-queries",
    name=gettext_noop("A longer query for a concept"),
    source=gettext_noop("After Figures 22 and 23 of the paper, in our words, one language at a time"),
    system="You are a linguist, and you write as native speakers of many languages do.",
    user=(
        "Write one sentence in {language}, as somebody there types it to find an image of: {word}\n\n{style}\n{meaning}"
        "The word {word} stands in it exactly as it is written here: no other form, no synonym, no translation.\n"
        "The sentence is natural to a native speaker: classifiers, gender and polite forms are right.\n{culture}\n"
        "Add nothing that is typical of a place.\n\nWrite the sentence and nothing else."
    ),
    setting="",
    needs_images=False,
    takes=("word", "language", "style", "meaning", "culture"),
    required_placeholders=("word", "language"),
    more=(STYLE, CUES),
)
PROMPTS: tuple[Prompt, ...] = (LABELS, QUERIES)
