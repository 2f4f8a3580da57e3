"""The practice model of the demo keeps to what it is asked, says the same each time, and now and then is no use."""

import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from PIL import Image, ImageChops

from config.local.mock_model import CHATTER, NO, Handler, Server, chat_completion, make_images
from papers.globalrg.prompts import GROUNDING, PARTS, UNITS
from predictions.backends.image_generation import GenerationRefused, ImageMaker
from predictions.prompts.boxes import box_scale, parse_boxes
from predictions.prompts.contract import UnparsedReply


def chat_request(number: int, **more: Any) -> dict[str, Any]:
    return {"model": "practice-wren", "messages": [{"role": "user", "content": f"Picture {number}?"}], **more}


def reply_text(body: dict[str, Any]) -> str | None:
    message = chat_completion(body)["choices"][0]["message"]
    return None if message.get("refusal") else message["content"]


def test_it_chooses_among_what_it_is_given_and_the_same_each_time() -> None:
    answers = [reply_text(chat_request(number, guided_choice=["1", "2", "3"])) for number in range(300)]
    assert {"1", "2", "3"} <= set(answers) <= {"1", "2", "3", CHATTER, None}
    assert answers == [reply_text(chat_request(number, guided_choice=["1", "2", "3"])) for number in range(300)]


def test_it_fills_a_schema() -> None:
    schema = {"type": "object", "properties": {"level": {"enum": ["a", "b"]}, "sure": {"type": "boolean"}}}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    texts = [
        text
        for number in range(40)
        if (text := reply_text(chat_request(number, response_format=form))) not in (None, CHATTER)
    ]
    assert texts and all(set(json.loads(text or "")) == {"level", "sure"} for text in texts)


def test_it_answers_a_question_that_is_asked_only_at_times() -> None:
    """Its schema allows nothing as well: the answer is one of the choices, and no text."""
    about = {"anyOf": [{"enum": ["race", "gender"]}, {"type": "null"}]}
    schema = {"type": "object", "properties": {"about": about}}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    texts = [reply_text(chat_request(number, response_format=form)) for number in range(40)]
    answers = {json.loads(text)["about"] for text in texts if text not in (None, CHATTER)}
    assert answers == {"race", "gender"}


def test_it_states_a_level_of_the_scale_that_a_prompt_explains() -> None:
    scale = "Rate it from 1 to 2:\n1: wrong.\n2: right.\nState the rating as 'rating=X'."
    asked = [
        {"messages": [{"role": "user", "content": [{"type": "text", "text": f"{n}\n{scale}"}]}]} for n in range(200)
    ]
    stated = {text.rpartition("rating=")[2] for body in asked if (text := reply_text(body)) not in (None, CHATTER)}
    assert stated == {"1", "2"}
    plain = [reply_text({"messages": [{"role": "user", "content": f"{n}\n1: no.\n2: yes."}]}) for n in range(50)]
    assert {"1", "2"} <= set(plain) <= {"1", "2", CHATTER, None}


def test_it_writes_a_text_as_long_as_the_sheet_asks_and_a_query_with_its_word() -> None:
    sheet = "What is it?\nAt least 50 characters.\nAt most 60 characters."
    word = "The word pão de queijo stands in it exactly as it is written here: no other form."
    prompts = [f"{number}\n{text}" for number in range(60) for text in (sheet, word)]
    ask = [reply_text({"messages": [{"role": "user", "content": prompt}]}) for prompt in prompts]
    texts, queries = ([reply for reply in ask[start::2] if reply not in (None, CHATTER)] for start in (0, 1))
    assert len(set(texts)) > 1 and all(50 <= len(text or "") <= 60 for text in texts)
    assert queries and all("pão de queijo" in (text or "") for text in queries)


def test_it_says_which_of_two_pictures_shows_which_answer() -> None:
    form = 'Reply with JSON only, in this form:\n{"image_1": "A or B", "image_2": "A or B"}'
    asked = [{"messages": [{"role": "user", "content": f"{number}\n{form}"}]} for number in range(60)]
    replies = {text for body in asked if (text := reply_text(body)) not in (None, CHATTER)}
    assert replies == {'{"image_1": "A", "image_2": "B"}', '{"image_1": "B", "image_2": "A"}'}


@pytest.mark.parametrize("order", PARTS)
@pytest.mark.parametrize("scale", ["1", "100", "1000", "1024", "pixels"])
def test_it_draws_a_box_in_the_parts_and_units_of_the_prompt(scale: str, order: str) -> None:
    units = UNITS[scale].format(width=640, height=480)
    content = GROUNDING.user.format(image="", concept="dosa", parts=PARTS[order], units=units)
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": content}]}
    forms = ({}, {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}})
    bodies = [asked | form | {"seed": number} for number in range(20) for form in forms]
    replies = [text for body in bodies if (text := reply_text(body)) not in (None, CHATTER)]
    parsed = [parse_boxes(text or "", box_scale(scale, order, (640, 480))) for text in replies]
    boxes = [box for box in parsed if not isinstance(box, UnparsedReply)]
    assert len(boxes) == len(parsed) > 20
    assert all(0.03 < (x1 - x0) * (y1 - y0) < 0.26 for [(x0, y0, x1, y1)] in boxes)


def test_now_and_then_it_chats_or_declines() -> None:
    answers = [reply_text(chat_request(number)) for number in range(500)]
    assert 5 <= answers.count(CHATTER) <= 40 and 2 <= answers.count(None) <= 30
    declined = chat_completion(chat_request(answers.index(None)))["choices"][0]["message"]
    assert declined["refusal"] == NO and declined["content"] is None


def test_it_draws_the_same_picture_for_the_same_words_and_edits_change_one_place() -> None:
    with serving_practice_model() as address:
        maker = ImageMaker(address, seconds=20)
        [first] = maker.generate("A photo of dance in Brazil", "practice-heron", seed=3).pictures
        [again] = maker.generate("A photo of dance in Brazil", "practice-heron", seed=3).pictures
        [other] = maker.generate("A photo of dance in Egypt", "practice-heron", seed=3).pictures
        [edited] = maker.edit("Make it night", [first], "practice-heron").pictures
        with pytest.raises(GenerationRefused):
            maker.generate("A riot [practice: refuse]", "practice-heron")
        maker.close()
    assert first == again and len({first, other, edited}) == 3


def test_without_a_seed_what_is_drawn_again_is_another_picture() -> None:
    """As of a real server; else nothing that is drawn badly could be mended by drawing it again."""
    body = {"model": "practice-heron", "prompt": "A door that nobody else asks for"}
    drawn = [make_images(body)["data"][0]["b64_json"] for _time in range(3)]
    seeded = [make_images({**body, "seed": 4})["data"][0]["b64_json"] for _time in range(2)]
    assert len(set(drawn)) == 3 and len(set(seeded)) == 1


def test_an_edit_changes_one_place_of_the_picture() -> None:
    with serving_practice_model() as address:
        maker = ImageMaker(address, seconds=20)
        [first] = maker.generate("A photo of dance in Brazil", "practice-heron", seed=3).pictures
        edits = [maker.edit("Make it day", [first], "practice-heron").pictures[0] for _time in range(2)]
        maker.close()
    assert len({first, *edits}) == 3, "without a seed, another edit each time"
    edited = edits[0]
    before, after = (Image.open(io.BytesIO(data)).convert("L") for data in (first, edited))
    assert before.size == after.size == (512, 512)
    changed = sum(value > 16 for value in ImageChops.difference(before, after).tobytes())
    assert 0.02 <= changed / (512 * 512) <= 0.10


@contextmanager
def serving_practice_model() -> Iterator[str]:
    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
