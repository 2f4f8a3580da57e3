"""Every display there is."""

from difflib import get_close_matches

from annotation.displays import candidate, contact_sheet, image, pair, question, words
from annotation.displays.contract import Display


class UnknownDisplay(LookupError):
    def __init__(self, key: str) -> None:
        known = [entry.key for entry in DISPLAYS]
        near = get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        super().__init__(f"no display {key!r}; {hint}")


DISPLAYS: tuple[Display, ...] = (
    image.DISPLAY,
    pair.DISPLAY,
    pair.BARE,
    question.DISPLAY,
    candidate.DISPLAY,
    words.DISPLAY,
    contact_sheet.DISPLAY,
)


def display(key: str) -> Display:
    for entry in DISPLAYS:
        if entry.key == key:
            return entry
    raise UnknownDisplay(key)
