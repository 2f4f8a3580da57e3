"""Remarks on short answers, in the four languages that have tables."""

import pytest
from django.template.loader import render_to_string

from annotation.fields.form import Localiser
from annotation.fields.text.form import FORM
from annotation.fields.text.spec import SPEC
from annotation.fields.text.wording import CHECKS, style_warnings

EVERY = tuple(one for one in CHECKS if one != "question_mark")


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ("Mint tea", "en", []),
        ("It is a potato.", "en", ["words", "full_stop", "sentence_start"]),
        ("It’s potato", "en", ["sentence_start"]),
        ("Washington, D.C.", "en", []),
        ("ten", "en", ["spelled_number"]),
        ("10", "en", []),
        ("Items", "en", []),  # begins with "It", and is no sentence
        ("Festa Junina", "pt", []),
        ("É a Festa Junina.", "pt", ["words", "full_stop", "sentence_start"]),
        ("Dez", "pt-BR", ["spelled_number"]),
        ("um", "pt", ["spelled_number"]),
        ("um pandeiro", "pt", []),
        ("شاي بالنعناع", "ar", []),
        ("هذا شاي بالنعناع الأخضر.", "ar", ["words", "full_stop", "sentence_start"]),
        ("عشرة", "ar", ["spelled_number"]),
        ("عَشَرة", "ar", ["spelled_number"]),  # with vowel signs
        ("هذيل", "ar", []),
        ("ቡና", "am", []),
        ("ይህ ቡና ነው።", "am", ["full_stop", "sentence_start"]),
        ("ጥሩ ቡና ነው", "am", ["sentence_start"]),
        ("አሥር", "am", ["spelled_number"]),
        ("አንድ፡ሁለት፡ጥሩ፡ቡና", "am", ["words", "spelled_number"]),
        ("ሻይ", "", []),
        ("عشرة", "", ["spelled_number"]),
        ("zehn", "de", []),  # no table: nothing is said
        ("薄荷茶很好喝吗", "zh", []),
    ],
)
def test_each_language_has_its_own_marks(text: str, language: str, wanted: list[str]) -> None:
    assert style_warnings(text, EVERY, language, 3, "") == wanted


@pytest.mark.parametrize(
    ("question", "answer", "has_warning"),
    [
        ("What is in the tea pot?", "tea pot", True),
        ("What is in the teapot?", "tea", False),
        ("Is it tea or coffee?", "tea", False),
        ("É chá ou café?", "chá", False),
        ("هل هو شاي أم قهوة؟", "شاي", False),
        ("ماذا في الإبريق؟", "الإبريق", True),
        ("ሻይ ነው ወይስ ቡና?", "ቡና", False),
        ("በጀበናው ውስጥ ምን አለ?", "በጀበናው", True),
    ],
)
def test_an_answer_out_of_its_question_is_right_where_it_asks_for_one_of_two(
    question: str, answer: str, has_warning: bool
) -> None:
    assert style_warnings(answer, ("in_question",), "", 3, question) == (["in_question"] if has_warning else [])


@pytest.mark.parametrize("text", ["What is it?", "ما هذا؟", "ይህ ምንድን ነው፧", "“What is it?”", "这是什么？"])
def test_every_script_asks_with_its_own_mark(text: str) -> None:
    assert style_warnings(text, ("question_mark",), "", 3, "") == []
    assert style_warnings(text.replace("?", ".").replace("؟", ".").replace("፧", "።").replace("？", "。"),
                   ("question_mark",), "", 3, "") == ["question_mark"]  # fmt: skip


@pytest.mark.parametrize(("least", "is_announced"), [(10, True), (0, False)])
def test_the_least_length_is_announced_only_where_there_is_one(least: int, is_announced: bool) -> None:
    config = SPEC.config({"long": False, "min_length": least, "max_length": 200})
    data = FORM.context(config, None, Localiser("en", ""), None)
    html = render_to_string("annotation/fields/text/input.html", {"field": {"key": "a", "name": "a-a", "data": data}})
    assert ("At least 10 characters." in html) is is_announced and "At most 200 characters." in html
