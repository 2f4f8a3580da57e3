"""A picture, and a question about it."""

from annotation.displays.contract import DisplayDefaults, MessagePart, pictures, words
from annotation.displays.layout import PLAIN, Layout
from annotation.fields.contract import Shown


class QuestionDisplay(DisplayDefaults):
    key = "question"
    needs_text = True
    template = "annotation/displays/image.html"
    style = "css/words.css"
    aside = "annotation/displays/question.html"

    def to_messages(self, shown: Shown, layout: Layout = PLAIN) -> list[MessagePart]:
        return [*pictures(shown, self.roles), *words(shown.text)]


DISPLAY = QuestionDisplay()
