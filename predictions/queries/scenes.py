"""What a model has before it: the very item, sheet and words that people have, as a prompt takes them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from annotation.displays import UnknownDisplay, display
from annotation.displays.answer_culture import answer_cultures
from annotation.displays.contract import MessagePart
from annotation.displays.layout import Layout, labelled_texts
from annotation.displays.shown_item import build_shown
from annotation.fields.contract import ConfigError, Shown, localise
from annotation.models import Annotation, Unit
from annotation.sheets.sheet import Field, Sheet
from benchmarks.models import Item, Stage
from people.models import Rater
from predictions.models import KnowledgeBase, Run
from predictions.prompts.contract import (
    ImagePart,
    MissingInput,
    Piece,
    Prompt,
    PromptRequests,
    Question,
    Scene,
    SceneImage,
    TextPart,
)
from predictions.prompts.prompt_templates import TemplatePrompt

LANGUAGE = "en"
UNLINKED = {"no_article": "no_links", "no_titles": "no_links"}  # where no linking run was chosen
NO_BASE = {"no_gold_article": "no_base"}  # where no knowledge base was chosen


def scene_of(unit: Unit, sheet: Sheet, options: Mapping[str, Any], shown: Shown | None = None) -> Scene:
    """The scene of a unit. Prefetch `item__images__image`, `item__facts` and select `item__stage` when there are many.
    `options`: as the prompt takes them, see `options_for`."""
    shown = shown or build_shown(unit, None)
    item, target = unit.item, unit.target
    return Scene(
        item=item.key,
        target=target,
        text=item.text,
        concept=item.concept,
        origin=item.origin,
        condition=item.condition,
        context=shown.context,
        images=tuple(SceneImage(image.role, image.sha, image.width, image.height) for image in shown.images),
        questions=tuple(_question(field, shown, target) for field in sheet.fields),
        options=options,
        parts=tuple(_parts(item.stage, shown)),
        instructions=localise(item.stage.instructions or {}, LANGUAGE, target),
    )


def _question(field: Field, shown: Shown, target: str) -> Question:
    rubric = field.spec.rubric(localise(field.label, LANGUAGE, target), field.config, LANGUAGE)
    label, *options = rubric.words.split("\n")
    lines = [
        label,
        localise(field.help, LANGUAGE, target),
        *(localise(rule, LANGUAGE, target) for rule in field.rules),
        *options,
    ]
    schema = dict(rubric.schema)
    codes = tuple(schema.get("enum") or schema.get("items", {}).get("enum") or ())
    offered = getattr(field.config, "offered_options", None)
    if not codes and offered is not None:
        codes = tuple(option.code for option in offered(shown))
        lines += list(codes)
    return Question(
        key=field.key,
        words="\n".join(line.replace("{target}", target) for line in lines if line.strip()),
        schema=schema,
        codes=codes,
        required=field.required and not field.required_unless,
        many=schema.get("type") == "array" and bool(codes),
        asked_if=field.show_if.to_json() if field.show_if else {},
    )


def _parts(stage: Stage, shown: Shown) -> Iterable[Piece]:
    """The culture that an answer is about, if people see it; what the display shows; what the layout has in view."""
    try:
        layout = Layout.from_json(stage.layout or {})
        parts: Sequence[MessagePart] = display(stage.display).to_messages(shown, layout)
    except (UnknownDisplay, ConfigError):
        layout, parts = Layout(), ()
    for culture in answer_cultures(stage, layout, shown):
        yield TextPart(str(culture))
    for part in parts:
        yield ImagePart(part.sha) if part.type == "image" else TextPart(part.text)
    for line in labelled_texts(layout.show, shown, LANGUAGE):
        yield TextPart(f"{line.label}: {line.value}" if line.label else line.value)


def build_requests(prompt: Prompt, scene: Scene, shown: Shown, stage: Stage, seed: int) -> PromptRequests:
    """What the unit is asked. A question about pictures is not put without them, as nobody is shown it then. Raises
    MissingInput."""
    bare = prompt.needs_images and bool(roles_of(stage.display)) and not shown.images
    if bare or (_sends_pictures(prompt) and missing_image_roles(stage, shown)):
        raise MissingInput("no_image")
    return prompt.ask(scene, seed)


def _sends_pictures(prompt: Prompt) -> bool:
    """Whether pictures are sent: the prompt's own, or all that the display shows."""
    return prompt.needs_images or (isinstance(prompt, TemplatePrompt) and "shown" in prompt.takes)


def roles_of(display_key: str) -> tuple[str, ...]:
    """Of the pictures that a display has places for."""
    try:
        return display(display_key).roles
    except UnknownDisplay:
        return ()


def missing_image_roles(stage: Stage, shown: Shown) -> list[str]:
    """The roles of the pictures that the stage needs and the item does not have."""
    if stage.pictures in (Stage.Pictures.NONE, Stage.Pictures.OPTIONAL):
        return []
    return [role for role in roles_of(stage.display) if shown.image(role) is None]


class Scenes:
    """The scenes of a run, with what its prompt's options name already looked up."""

    def __init__(self, stage: Stage, sheet: Sheet, prompt: Prompt, options: Mapping[str, Any]) -> None:
        self.stage, self.sheet, self.prompt = stage, sheet, prompt
        self.given = {option.key: option.default for option in prompt.options} | dict(options)
        self.kinds = {option.key: option.kind for option in prompt.options}
        self._articles: dict[int, Mapping[str, Any] | None] = {}

    def of(self, unit: Unit) -> tuple[Scene, Shown]:
        """Of a unit whose item has been fetched."""
        unit.item.stage = self.stage
        shown = build_shown(unit, None)
        options = self.options
        if self._links or self._bases:
            if unit.item.pk not in self._articles:
                self.read_articles([unit.item])
            options = {**options, "linked": self._articles[unit.item.pk]}
        return scene_of(unit, self.sheet, options, shown), shown

    def read_articles(self, items: Collection[Item]) -> None:
        """Look up the articles of these items together, where the prompt needs them. Others are forgotten."""
        self._articles = dict.fromkeys((item.pk for item in items), None)
        for run in self._links:
            self._articles |= _linked_articles(run, items)
        for base in self._bases:
            self._articles = dict.fromkeys(self._articles, None) | _gold_articles(base, items)

    def build_requests(self, scene: Scene, shown: Shown, seed: int) -> PromptRequests:
        """What a unit of the run is asked. Raises MissingInput."""
        try:
            return build_requests(self.prompt, scene, shown, self.stage, seed)
        except MissingInput as lacking:
            unlinked = "run" in self.kinds.values() and not self._links
            of_base = "base" in self.kinds.values() and not self._bases
            codes = (UNLINKED if unlinked else {}) | (NO_BASE if of_base else {})
            raise MissingInput(codes.get(lacking.code, lacking.code)) from None

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """Examples become what they show and how they were answered."""
        options = dict(self.given)
        for key, kind in self.kinds.items():
            if kind == "examples":
                keys = options.get(key) or []
                options[key] = _examples(self.stage, [keys] if isinstance(keys, str) else keys)
        return options

    @cached_property
    def _links(self) -> list[Run]:
        """The linking run that an option names."""
        runs = Run.objects.filter(pk__in=self._ids_of("run"), task=Run.Task.LINKING)
        return list(runs.filter(benchmark__team=self.stage.benchmark.team_id)[:1])

    @cached_property
    def _bases(self) -> list[KnowledgeBase]:
        """The knowledge base that an option names."""
        bases = KnowledgeBase.objects.filter(pk__in=self._ids_of("base"), team=self.stage.benchmark.team_id)
        return list(bases[:1])

    def _ids_of(self, kind: str) -> list[int]:
        """What the options of a kind name."""
        named = [self.given.get(key) for key, option_kind in self.kinds.items() if option_kind == kind]
        return [int(pk) for pk in named if pk]


def _linked_articles(run: Run, items: Collection[Item]) -> dict[int, Mapping[str, Any]]:
    from predictions.services.knowledge.linking import articles_for

    return {
        pk: {name: getattr(result, name) for name in ("entity", "article", "titles")}
        for pk, result in articles_for(run, items).items()
    }


def _gold_articles(base: KnowledgeBase, items: Collection[Item]) -> dict[int, Mapping[str, Any]]:
    """The article of the entry that is right for an item; nothing where the item names none, or the base lacks it."""
    from predictions.queries.knowledge import gold_articles

    return {
        pk: {"entity": entry.lemmas[0], "article": entry.text, "titles": ()}
        for pk, entry in gold_articles(base, items).items()
    }


def _examples(stage: Stage, keys: Sequence[str]) -> list[dict[str, Any]]:
    """In the order in which they were named, each with the first counted answer of a person, field by field."""
    items = Item.objects.filter(stage=stage, key__in=keys).prefetch_related("images__image")
    by_key = {item.key: item for item in items}
    answers: dict[int, Annotation] = {}
    rows = Annotation.objects.filter(assignment__unit__item__in=items, counted=True, rater__kind=Rater.Kind.PERSON)
    for row in rows.select_related("assignment__unit").order_by("submitted_at", "pk"):
        answers.setdefault(row.assignment.unit.item_id, row)
    examples = []
    for item in (by_key[key] for key in keys if key in by_key):
        answer = answers.get(item.pk)
        image = next((use.image.sha256 for use in sorted(item.images.all(), key=lambda use: use.role)), "")
        values = answer.answers if answer else {}
        examples.append(
            {
                "item": item.key,
                "image": image,
                "text": item.text,
                "concept": item.concept,
                "target": answer.assignment.unit.target if answer else item.origin,
                "answer": values.get("answer", next(iter(values.values()), "")) if values else "",
                "answers": values,
            }
        )
    return examples
