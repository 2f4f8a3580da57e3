"""The practice model of the demo keeps to what it is asked, says the same each time, and now and then is no use."""

import json
from typing import Any

from config.local.mock_model import CHATTER, NO, chat_completion


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


def test_it_states_a_level_of_the_scale_that_a_prompt_explains() -> None:
    scale = "Rate it from 1 to 2:\n1: wrong.\n2: right.\nState the rating as 'rating=X'."
    asked = [
        {"messages": [{"role": "user", "content": [{"type": "text", "text": f"{n}\n{scale}"}]}]} for n in range(200)
    ]
    stated = {text.rpartition("rating=")[2] for body in asked if (text := reply_text(body)) not in (None, CHATTER)}
    assert stated == {"1", "2"}
    plain = [reply_text({"messages": [{"role": "user", "content": f"{n}\n1: no.\n2: yes."}]}) for n in range(50)]
    assert {"1", "2"} <= set(plain) <= {"1", "2", CHATTER, None}


def test_now_and_then_it_chats_or_declines() -> None:
    answers = [reply_text(chat_request(number)) for number in range(500)]
    assert 5 <= answers.count(CHATTER) <= 40 and 2 <= answers.count(None) <= 30
    declined = chat_completion(chat_request(answers.index(None)))["choices"][0]["message"]
    assert declined["refusal"] == NO and declined["content"] is None
