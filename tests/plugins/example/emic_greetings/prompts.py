"""How a model is asked: with the question of the sheet, for one digit."""

from collections.abc import Sequence
from dataclasses import dataclass

from predictions.prompts.contract import Message, ParsedReply, PromptRequests, Reply, Request, Scene, UnparsedReply
from predictions.prompts.prompt_templates import TemplatePrompt, picture_of, require_target


@dataclass(frozen=True)
class Usual(TemplatePrompt):
    def fits(self, scene: Scene) -> bool:
        question = scene.question("relevance")
        return question is not None and question.codes == tuple("12345") and "greeting" in question.words

    def ask(self, scene: Scene, seed: int) -> PromptRequests:
        messages: tuple[Message, ...] = self.messages(
            scene, {"target": require_target(scene)}, {"image": (picture_of(scene),)}
        )
        return PromptRequests((Request(messages=messages, ways=("guided", "text"), choices=tuple("12345")),))

    def read(self, scene: Scene, asked: PromptRequests, replies: Sequence[Reply]) -> ParsedReply | UnparsedReply:
        text = replies[0].text.strip()
        return ParsedReply({"relevance": text}) if text in set("12345") else UnparsedReply("unparseable", "no_number")


USUAL = Usual(
    key="greetings-usual",
    name="Greetings",
    source="The example",
    user="{image}\n\nHow usual is this greeting in {target}? Answer with a number from 1 (never) to 5 (always).",
    takes=("image", "target"),
    required_placeholders=("image", "target"),
)
