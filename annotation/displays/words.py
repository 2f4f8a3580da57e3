"""Words alone: two that may be one, or one to work from."""

from annotation.displays.contract import DisplayDefaults, MessagePart, words
from annotation.displays.layout import PLAIN, Layout
from annotation.fields.contract import Shown


class WordsDisplay(DisplayDefaults):
    key = "words"
    roles: tuple[str, ...] = ()
    shows = True
    template = "annotation/displays/words.html"
    style = "css/words.css"

    def to_messages(self, shown: Shown, layout: Layout = PLAIN) -> list[MessagePart]:
        return words(shown.text, *(str(shown.context.get(key) or "") for key in ("first", "second")))


DISPLAY = WordsDisplay()
