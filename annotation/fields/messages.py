"""The words for each problem code: what happened, then what to do."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.fields.contract import AnswerProblem

WORDS: dict[str, tuple[Any, Any]] = {
    "required": (_("This is not answered yet."), _("Give your best guess, or skip.")),
    "required.text": (_("This is not answered yet."), _("Write an answer, or skip.")),  # code and kind of field
    "not_an_option": (_("This is not one of the options."), _("Choose one of those shown.")),
    "not_an_option.box": (_("This is not one of the labels."), _("Choose one of those shown.")),
    "not_text": (_("This is not text."), _("Write the answer in words.")),
    "too_long": (_("This is %(length)s characters long."), _("Shorten it to %(most)s.")),
    "too_short": (_("This is %(length)s characters long."), _("Write at least %(least)s.")),
    "repeated_letters": (_("One letter is repeated many times."), _("Check it, or keep it as it is.")),
    "other_script": (_("This is not in the expected script."), _("Rewrite it, or keep it as it is.")),
    "words": (_("Your answer has %(found)s words."), _("%(most)s words are usually enough.")),
    "full_stop": (_("Your answer ends in a full stop."), _("A brief phrase needs none.")),
    "spelled_number": (_("A number is written in words."), _("Write it in digits.")),
    "sentence_start": (_("Your answer reads like a sentence."), _("A brief phrase is enough.")),
    "in_question": (_("The question contains the same words."), _("Check that this answers the question.")),
    "question_mark": (_("It does not end in a question mark."), _("Write it as a question.")),
    "too_few_chosen": (_("You chose %(found)s."), _("Choose at least %(least)s.")),
    "too_many_chosen": (_("You chose %(found)s."), _("Choose at most %(most)s.")),
    "not_a_box": (_("This is not a box."), _("Draw it on the picture, or type its four numbers.")),
    "box_not_numbers": (_("A side of the box is not a number."), _("Type it in percent, such as 15.8.")),
    "box_incomplete": (_("A side of the box is missing."), _("Type all four numbers, or draw the box.")),
    "box_outside": (_("The box reaches beyond the picture."), _("Keep its sides from 0 to 100 percent.")),
    "box_empty": (_("The box has no area."), _("Draw it round the whole thing.")),
    "too_few_boxes": (_("There are too few boxes."), _("Draw at least %(least)s.")),
    "too_many_boxes": (_("There are %(found)s boxes."), _("Keep at most %(most)s.")),
    "box_without_label": (_("Box %(number)s has no label."), _("Choose a label for it.")),
    "no_labels": (_("The boxes of this question have no labels."), _("Leave the label out.")),
    "box_too_large": (
        _("The box is too large."),
        _("Draw it closely around one thing. It must cover less than %(limit)s %% of the picture."),
    ),
    "box_too_small": (
        _("The box is too small."),
        _("Draw it around the whole thing. It must cover at least %(limit)s %% of the picture."),
    ),
    "too_few_found": (
        _("This picture does not show enough of what is needed: %(found)s found, at least %(least)s needed."),
        _("Choose another picture, or skip the item."),
    ),
    "not_a_grouping": (
        _("This is not a grouping of the pictures."),
        _("Decide for each picture: keep it, drop it, or mark it as the same as another."),
    ),
    "no_such_picture": (_("There is no picture “%(given)s” on this sheet."), _("Choose one of the pictures shown.")),
    "picture_twice": (_("Picture %(number)s is dropped and in a group."), _("Choose one of the two.")),
    "no_such_role": (_("Picture %(number)s has an unknown label."), _("Choose one of the labels shown.")),
    "undecided": (
        _("Pictures not decided yet: %(count)s. The first is %(first)s."),
        _("Keep it, drop it, or mark it as the same as another."),
    ),
    "not_sure_is_off": (
        _("Picture %(number)s is not decided."),
        _("Keep it, drop it, or mark it as the same as another."),
    ),
    "not_a_picture": (_("This is not an uploaded picture."), _("Choose a file, or enter an address.")),
    "picture_missing": (
        _("There is no picture yet."),
        _("Choose a file or enter an address, and wait until the upload has finished."),
    ),
    "not_brought": (_("This picture was not uploaded for this sheet."), _("Upload it again.")),
    "not_an_address": (
        _("The source page is not a web address."),
        _("Copy the address of the page; it begins with https://."),
    ),
    "source_missing": (_("The source page is missing."), _("Copy the address of the page you found it on.")),
    "licence_missing": (
        _("The licence is missing."),
        _("Choose a licence. If you do not know it, choose “Another licence” and write “unknown”."),
    ),
    "licence_not_chosen": (  # the list offers that answer
        _("The licence is missing."),
        _("Choose a licence. If you do not know it, choose “I do not know”."),
    ),
    "licence_too_long": (_("The licence is longer than %(most)s characters."), _("Write its name only.")),
    "picture_too_small": (
        _("The picture is %(width)s × %(height)s pixels."),
        _("Its shorter side must have at least %(least)s. Take a larger one."),
    ),
    "no_such_field": (_("This sheet has no question “%(field)s”."), _("Reload the page, or remove it from the file.")),
    "check": ("%(words)s", ""),
    "unknown_kind": (_("This question cannot be shown."), _("Report a problem, or skip the item.")),
}
ANY = (_("This answer could not be read."), _("Check it again."))


@dataclass(frozen=True)
class ProblemText:
    code: str
    title: str
    advice: str


def problem_text(problem: AnswerProblem, kind: str = "") -> ProblemText:
    """Return the text of a problem. Some kinds of field have a text of their own for a code."""
    title, advice = WORDS.get(f"{problem.code}.{kind}") or WORDS.get(problem.code, ANY)
    return ProblemText(problem.code, str(title) % dict(problem.params), str(advice) % dict(problem.params))
