"""A picture, a question, and an answer to be judged; reference answers where the stage shows them."""

from annotation.displays.contract import DisplayDefaults, MessagePart, pictures, words
from annotation.displays.layout import PLAIN, Layout, texts_of
from annotation.fields.contract import Shown


class CandidateDisplay(DisplayDefaults):
    key = "candidate"
    texts: tuple[str, ...] = ("candidate",)
    needs_text = True
    template = "annotation/displays/image.html"
    style = "css/words.css"
    aside = "annotation/displays/candidate.html"

    def to_messages(self, shown: Shown, layout: Layout = PLAIN) -> list[MessagePart]:
        parts = [*pictures(shown, self.roles), *words(shown.text)]
        parts += words(f"Answer to judge: {shown.context.get('candidate') or ''}")
        references = texts_of(shown.context.get("references")) if layout.references else ()
        return [*parts, *words(*(f"Reference answer: {reference}" for reference in references))]


DISPLAY = CandidateDisplay()
