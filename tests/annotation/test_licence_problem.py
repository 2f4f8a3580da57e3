"""The problem of a picture without a licence names an answer that the sheet's list offers."""

from typing import Any

import pytest
from django.conf import settings
from django.utils import translation

from annotation.fields.contract import AnswerProblem
from annotation.fields.messages import problem_text
from annotation.fields.picture.licence_texts import UNKNOWN
from annotation.fields.picture.spec import OWN, SHA, PictureSpec

SPEC = PictureSpec()
OWN_LABEL = {"code": OWN, "label": {"en": "Mine"}}
DO_NOT_KNOW = {"code": "unknown", "label": UNKNOWN}
NO_RIGHTS = {"code": "CC0 1.0", "label": {"en": "CC0"}}
RENAMED = {"code": "unknown", "label": {"en": "Not stated"}}


def problem_codes(config: dict[str, Any]) -> list[str]:
    shown = SPEC.examples.shown
    answer = {"sha": SHA, "kind": "url", "source": "https://example.org/", "licence": ""}
    return [check.problem.code for check in SPEC.checks(answer, SPEC.config(config), shown)]


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({}, "licence_not_chosen"),
        ({"licences": [OWN_LABEL, DO_NOT_KNOW]}, "licence_not_chosen"),
        ({"licences": [OWN_LABEL, NO_RIGHTS]}, "licence_missing"),
        ({"licences": [OWN_LABEL, RENAMED]}, "licence_missing"),
    ],
)
def test_missing_licence_depends_on_what_the_list_offers(config: dict[str, Any], code: str) -> None:
    assert problem_codes(config) == [code]


@pytest.mark.parametrize("code", [code for code, _name in settings.LANGUAGES])
def test_advice_names_the_answer_as_the_list_writes_it(code: str) -> None:
    with translation.override(code):
        advice = problem_text(AnswerProblem("licence_not_chosen")).advice
    assert UNKNOWN[code.split("-")[0]] in advice
