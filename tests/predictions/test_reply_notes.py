"""What was noted when a reply was read is shown at its call in words and handed on: another cut needs no new call."""

import json
from typing import Any

import pytest

from annotation.fields.contract import Shown
from annotation.sheets.sheet import Sheet
from predictions.models import Call, Run
from predictions.pages.reply_notes import LABELS, note_rows
from predictions.prompts.contract import ParsedReply, PromptRequests, Reply, Request, Scene, UnparsedReply
from predictions.prompts.reply_text import READING_VERSION
from predictions.services.runs.engine.reply_parsing import parse_replies
from tests.personas import World
from tests.predictions.request_helpers import Plainly
from tests.predictions.test_run_pages import address, campaign, end, load_run_page, run

__all__ = ["campaign", "run"]
pytestmark = pytest.mark.django_db

LIKELIHOOD = {
    "loss": 4.0, "base_loss": 6.0, "corrected_loss": 1.0, "tokens": 2, "lambda": 0.5, "limit": 0.0, "bound": "floor",
    "over": "sum", "cut": 3.0, "reading": 1,
}  # fmt: skip
SPREAD = {"distribution": {"4": 0.913, "5": 0.087}, "covered": 0.0521, "letter": "A", "way": "logprobs"}


def test_every_number_has_a_label() -> None:
    notes = dict(note_rows(LIKELIHOOD))
    assert notes["Loss with the article: -log P (L)"] == "4" and notes["Cut"] == "3"
    assert notes["What T was"] == "a floor: the greater of the two" and notes["Rules of reading"] == "version 1"
    assert len(notes) == len(LIKELIHOOD)
    notes = dict(note_rows(SPREAD))
    assert notes[str(LABELS["distribution"])] == "4: 91.3 % · 5: 8.7 %"
    assert notes[str(LABELS["covered"])] == "5.21 %" and notes["Letter that was given"] == "A"
    odd = {"new": {"x": [1, True]}, "cosines": {"1": 0.21, "2": 0.2}, "sheet": {"relevance": ["not_an_option"]}}
    notes = dict(note_rows(odd))
    assert notes["new"] == "x: 1, Yes" and notes[str(LABELS["cosines"])] == "1: 0.21 · 2: 0.2"
    assert notes["What the sheet did not take"] == "relevance: not_an_option"
    assert note_rows({"reason_1": "", "reason_2": "It is calm."}) == [("Reason for the second picture", "It is calm.")]


def test_a_call_shows_and_hands_on_what_was_noted(world: World, run: Run) -> None:
    call = end(run)
    Call.objects.filter(pk=call.pk).update(notes=LIKELIHOOD | {"before": 3}, how="likelihood")
    page = load_run_page(world, run, f"calls/{call.pk}/")
    assert "Reply details" in page and "Corrected loss" in page
    assert "before" not in page.partition("Reply details")[2].partition("</section>")[0]
    told = b"".join(world.client(world.mara).get(address(world, run, "calls.jsonl")).streaming_content)  # type: ignore[attr-defined]
    rows = [json.loads(line) for line in told.decode().splitlines()]
    assert rows[0]["notes"] == LIKELIHOOD and rows[0]["how"] == "likelihood" and rows[1]["notes"] == {}


def test_what_calls_of_a_file_cost_is_not_known(world: World, run: Run) -> None:
    def costs() -> list[Any]:
        told = world.client(world.mara).get(address(world, run, "calls.jsonl")).streaming_content  # type: ignore[attr-defined]
        return [json.loads(line)["cost"] for line in b"".join(told).decode().splitlines()]

    assert costs() == ["0.00000000"] * 3
    Run.objects.filter(pk=run.pk).update(endpoint=None)
    assert costs() == [None] * 3


SHEET = Sheet.from_json(
    {
        "fields": [
            {
                "key": "fits", "kind": "choice", "version": 1, "label": {"en": "Does it?"},
                "config": {"options": [{"code": code, "label": {"en": code}} for code in "ab"]},
            }
        ]
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "way", "how"),
    [
        ("chat", "logprobs", "logprobs"),
        ("chat", "text", "text"),
        ("continuation", "logprobs", "likelihood"),
        ("probe", "text", "similarity"),
        ("grounding", "text", "boxes"),
    ],
)
@pytest.mark.parametrize("value", ["a", "c", None])
def test_a_reading_says_how_and_by_which_version_of_the_rules(kind: Any, way: Any, how: str, value: str | None) -> None:
    class Says(Plainly):
        def read(self, *_args: Any) -> ParsedReply | UnparsedReply:
            return (
                ParsedReply({"fits": value}, {"loss": 1.0})
                if value
                else UnparsedReply("unparseable", "no_number", {"loss": 1.0})
            )

    result = parse_replies(
        Says(), SHEET, Scene("i"), Shown(1), PromptRequests((Request(kind=kind),)), [Reply(text="x", way=way)]
    )
    assert result.how == how and len(how) <= 10
    assert result.notes["reading"] == READING_VERSION and result.notes["loss"] == 1.0
    assert (result.parsed is not None) == (value == "a")
