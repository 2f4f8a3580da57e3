"""One unit for every prompt, out of the recipes' own sheets, with a reply that answers it. No database is touched."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.fields.contract import Shown, ShownImage
from annotation.models import Unit
from annotation.sheets.sheet import ParsedSheet, Sheet
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.recipes.registry import recipe
from predictions.prompts.contract import (
    DetectedBox,
    ParsedReply,
    Prompt,
    PromptRequests,
    Reply,
    Scene,
    Token,
    UnparsedReply,
)
from predictions.prompts.registry import prompt
from predictions.queries.scenes import scene_of

GOLDEN = Path(__file__).with_name("golden")
ARTICLE = "An oni is a kind of demon in Japanese folklore. </article> It is drawn with horns."
LINKED = {"entity": "Oni", "article": ARTICLE, "titles": ["Oni", "Namahage"]}
PAIR = {"option_a": "Very important", "option_b": "Not at all important"}
JUDGED = {"candidate": "Diya", "references": ["Diya", "Diyas", "Lamp"], "facet": "rituals"}


def choice(key: str, *codes: str, **more: Any) -> dict[str, Any]:
    options = [{"code": code, "label": {"en": code.capitalize()}} for code in codes]
    return {"key": key, "kind": "choice", "label": {"en": f"Which {key}?"}, "config": {"options": options}, **more}


def text(key: str) -> dict[str, Any]:
    return {"key": key, "kind": "text", "label": {"en": key.capitalize()}, "config": {"max_length": 300}}


OWN_SHEETS: Mapping[str, list[dict[str, Any]]] = {
    "lave-3": [choice("lave", "1", "2", "3")],
    "sub": [
        choice("sub_category", "type_name", "customs", "beliefs_customs", "celebration", "music_instruments", "other")
    ],
    "stereotype": [
        choice("stereotype", "stereotype", "anti_stereotype", "neither"),
        choice(
            "about",
            "race",
            "gender",
            "religion",
            "profession",
            show_if={"field": "stereotype", "in": ["stereotype", "anti_stereotype"]},
        ),
    ],
    "entity": [text("entity")],
    "query": [text("query")],
    "three": [choice("keep", "yes", "no"), {**text("why"), "required": False}, choice("tone", "1", "2", "3")],
}


@dataclass(frozen=True)
class Case:
    """A prompt before one unit. `good`: a reply and the answers it gives."""

    key: str
    stage: tuple[str, str] | str
    good: Reply
    answers: Mapping[str, Any]
    target: str = "Japan"
    text: str = ""
    concept: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    images: tuple[str, ...] = ("image",)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def prompt(self) -> Prompt:
        return prompt(self.key)

    @property
    def sheet(self) -> Sheet:
        if isinstance(self.stage, str):
            return Sheet.from_json({"fields": OWN_SHEETS[self.stage]})
        return Sheet.from_json(self._spec.sheet)

    @property
    def _spec(self) -> Any:
        key, stage = self.stage
        return next(one for one in recipe(key).stages if one.key == stage)

    @property
    def shown(self) -> Shown:
        images = tuple(
            ShownImage(role, n, f"{n:02x}" * 32, 1600, 1200) for n, role in enumerate(sorted(self.images), 1)
        )
        context = {"concept": self.concept, **self.context} if self.concept else dict(self.context)
        return Shown(1, target=self.target, target_name=self.target, text=self.text, context=context, images=images)

    def scene(self, **options: Any) -> Scene:
        plain = isinstance(self.stage, str)
        stage = Stage(
            benchmark=Benchmark(),
            key="x" if plain else self._spec.key,
            display="image" if plain else self._spec.display,
            layout={} if plain else dict(self._spec.layout),
            instructions={} if plain else dict(self._spec.instructions),
        )
        item = Item(stage=stage, key="item-1", text=self.text, concept=self.concept, context=dict(self.context))
        unit = Unit(item=item, target=self.target)
        return scene_of(unit, self.sheet, {**self.options, **options}, self.shown)

    def asked(self, seed: int = 1, **options: Any) -> PromptRequests:
        return self.prompt.ask(self.scene(**options), seed)

    def read(self, *replies: Reply, seed: int = 1, **options: Any) -> ParsedReply | UnparsedReply:
        scene = self.scene(**options)
        return self.prompt.read(scene, self.prompt.ask(scene, seed), replies)

    def says(self, words: str, seed: int = 1, **options: Any) -> Any:
        """What a reply in words is read as: the answers, or the reason why not."""
        found = self.read(Reply(words, finish="stop"), seed=seed, **options)
        return dict(found.answers) if isinstance(found, ParsedReply) else found.reason

    def parsed(self, read: ParsedReply) -> ParsedSheet:
        return self.sheet.parse(read.answers, self.shown, partial=True)


def text_reply(words: str) -> Reply:
    return Reply(words, finish="stop")


def reply_with_logprob(logprob: float, pieces: int = 2) -> Reply:
    return Reply(tokens=tuple(Token("x", logprob / pieces) for _ in range(pieces)), finish="stop")


CVQA, VG, CAIRE = "culturalvqa", "valueground", "caire-universal"
LAMPS = {"target": "India", "text": "What are these lamps called?"}
PAIRED = {"text": "How important is family in your life?", "context": PAIR, "images": ("a", "b")}
SCORED = {"options": {"linked": LINKED, "base": 1}, "concept": "ritual"}
EXAMPLE = {"item": "item-2", "image": "ee" * 32, "text": "What is this bread?", "answer": "Naan", "target": "India"}
CASES = (
    Case("culturalvqa-vlm", (CVQA, "answers"), text_reply("Diya"), {"answer": "Diya"}, **LAMPS),
    Case(
        "culturalvqa-few-shot",
        (CVQA, "answers"),
        text_reply("Diya"),
        {"answer": "Diya"},
        **LAMPS,
        options={"examples": [EXAMPLE]},
    ),
    Case("culturalvqa-llm", (CVQA, "answers"), text_reply("Answer: Diya"), {"answer": "Diya"}, **LAMPS),
    Case("culturalvqa-llm-country", (CVQA, "answers"), text_reply('"Diya"'), {"answer": "Diya"}, **LAMPS),
    Case(
        "culturalvqa-llm-entities",
        (CVQA, "answers"),
        text_reply("Diya"),
        {"answer": "Diya"},
        **LAMPS,
        context={"entities": ["oil lamp", "clay"]},
    ),
    Case(
        "culturalvqa-subcategory",
        "sub",
        text_reply("celebration"),
        {"sub_category": "celebration"},
        **LAMPS,
        context=JUDGED,
    ),
    Case("culturalvqa-verdict", (CVQA, "model-answers"), text_reply("3"), {"verdict": "3"}, **LAMPS, context=JUDGED),
    Case(
        "culturalvqa-stereotype",
        "stereotype",
        text_reply('{"stereotype": "neither", "about": null}'),
        {"stereotype": "neither"},
        **LAMPS,
    ),
    Case(
        "lave",
        (CVQA, "lave"),
        text_reply("rating=2\nThe candidate is one of the references."),
        {"lave": "2"},
        **LAMPS,
        context=JUDGED,
    ),
    Case(
        "lave-original", "lave-3", text_reply("It is a reference. So rating=3"), {"lave": "3"}, **LAMPS, context=JUDGED
    ),
    Case("valueground-main", (VG, "choice"), text_reply("A\nBecause of the table."), {"choice": "a"}, **PAIRED),
    Case("valueground-text", (VG, "choice"), text_reply("A\nBecause."), {"choice": "a"}, **PAIRED),
    Case("valueground-main-no-country", (VG, "choice"), text_reply("B, because"), {"choice": "b"}, **PAIRED),
    Case(
        "valueground-alignment",
        (VG, "alignment"),
        text_reply('{"image_1": "A", "image_2": "B"}'),
        {"alignment": "aligned"},
        **PAIRED,
    ),
    Case(
        "valueground-rubric",
        (VG, "pair-review"),
        text_reply('{"match_a": "2", "match_b": 1, "pair_match": "2", "no_cue": "1"}'),
        {"match_a": "2", "match_b": "1", "pair_match": "2", "no_cue": "1"},
        **PAIRED,
    ),
    Case(
        "valueground-safety",
        (VG, "pair-review"),
        text_reply('{"safety": ["person"]}'),
        {"safety": ["person"]},
        **PAIRED,
    ),
    *(
        Case(f"caire-digit{end}", (CAIRE, "relevance"), text_reply("4"), {"relevance": "4"}, **SCORED)
        for end in ("", "-titles", "-text", "-plain", "-gold")
    ),
    *(
        Case(
            f"caire-reason{end}",
            (CAIRE, "relevance"),
            text_reply("It has horns. A 2 at first.\nFinal Score: 4"),
            {"relevance": "4"},
            **SCORED,
        )
        for end in ("", "-titles", "-text", "-plain", "-gold")
    ),
    Case("caire-entity", "entity", text_reply("Title: Oni"), {"entity": "Oni"}),
    Case(
        "caire-probe",
        (CAIRE, "relevance"),
        Reply(similarities=(0.1, 0.2, 0.3, 0.25, 0.1)),
        {"relevance": "3"},
        **SCORED,
    ),
    *(
        Case(
            f"caire-likelihood{end}",
            (CAIRE, "relevance"),
            reply_with_logprob(-2.0),
            {"relevance": "5"},
            concept="ritual",
            options={"linked": LINKED, "base": 1, "cut": 3},
        )
        for end in ("", "-text", "-gold")
    ),
    Case(
        "globalrg-grounding",
        ("globalrg-grounding", "verification"),
        text_reply("[100, 200, 300, 400]"),
        {"box": [[0.1, 0.2, 0.3, 0.4]]},
        concept="ajrak",
        target="Pakistan",
    ),
    Case(
        "globalrg-detector",
        ("globalrg-grounding", "verification"),
        Reply(boxes=(DetectedBox("ajrak", 0.2, (0, 0, 1, 1)), DetectedBox("ajrak", 0.9, (0.1, 0.2, 0.3, 0.4)))),
        {"box": [[0.1, 0.2, 0.3, 0.4]]},
        concept="ajrak",
        target="Pakistan",
    ),
    Case(
        "xcm-labels",
        ("3xcm", "labels"),
        text_reply('{"labels": ["Fruit", "market"]}'),
        {"labels": ["fruit", "market"]},
        concept="market",
        context={"labels": ["market", "fruit", "street"]},
        target="",
    ),
    Case(
        "xcm-queries",
        "query",
        text_reply("ฉันต้องการรูปรถไฟสำหรับการบ้าน"),
        {"query": "ฉันต้องการรูปรถไฟสำหรับการบ้าน"},
        target="Thailand",
        concept="train",
        context={"native": "รถไฟ", "language": "Thai"},
        images=(),
    ),
    Case(
        "sheet",
        "three",
        text_reply('{"keep": "yes", "why": null, "tone": 2}'),
        {"keep": "yes", "tone": "2"},
        text="What do you see?",
    ),
)
IDS = [one.key for one in CASES]


def case(key: str) -> Case:
    return next(one for one in CASES if one.key == key)


def requests_json(asked: PromptRequests) -> Any:
    """What is sent, as JSON, with each line of a text apart."""

    def piece_json(piece: Any) -> Any:
        return {"picture": piece.sha} if hasattr(piece, "sha") else piece.text.split("\n")

    return json.loads(
        json.dumps(
            {
                "order": list(asked.order),
                "requests": [
                    {
                        "kind": request.kind,
                        "messages": [
                            {message.role: [piece_json(piece) for piece in message.pieces]}
                            for message in request.messages
                        ],
                        "ways": list(request.ways),
                        "choices": list(request.choices),
                        "schema": request.schema,
                        "continuation": request.continuation,
                        "texts": list(request.texts),
                        "image": request.image,
                        "max_tokens": request.max_tokens,
                    }
                    for request in asked.requests
                ],
            }
        )
    )
