"""Every display there is."""

from difflib import get_close_matches

from annotation.displays import candidate, contact_sheet, image, pair, question, words
from annotation.displays.contract import Display


class UnknownDisplay(LookupError):
    def __init__(self, key: str) -> None:
        known = [one.key for one in DISPLAYS]
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
    for one in DISPLAYS:
        if one.key == key:
            return one
    raise UnknownDisplay(key)
