"""No page fails on any text where a number is expected: 200 texts for each integer parameter of every route."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse

from jobs.formats.numbers import LARGEST, LARGEST_ID, parse_id, parse_int
from tests.personas import World
from tests.samples import build

HARD = ["9" * 5000, "9" * 10, str(2**31), str(2**63), "²", "٣٤٥", "-1", "1\x00"]


def texts(count: int) -> list[str]:
    """The hard ones, and others drawn from what people and programs write for numbers."""
    draw = random.Random(28)
    letters = "0123456789" * 4 + "-+ ._,eExX٣४²½①０\u2003\u200b'\"<%/\x00"

    def random_integer() -> str:
        if draw.random() < 0.4:
            return str(draw.randrange(10 ** draw.choice((1, 3, 5, 9, 10, 18, 19, 20, 40, 400))))
        return "".join(draw.choice(letters) for _ in range(draw.choice((0, 1, 2, 5, 12, 25))))

    return [*HARD, *(random_integer() for _ in range(count - len(HARD)))]


# Route, who asks, method, parameter, and what else the form needs.
PARAMETERS: list[tuple[str, str, str, str, dict[str, str]]] = [
    ("annotation:sheet", "nour", "get", "open", {}),
    ("annotation:sheet", "nour", "get", "change", {}),
    ("annotation:sheet", "nour", "get", "undo", {}),
    ("annotation:history", "nour", "get", "before", {}),
    ("annotation:draft", "nour", "post", "draft_version", {"v-relevance": "3"}),
    ("annotation:submit", "nour", "post", "draft_version", {"bring": "relevance"}),
    ("annotation:submit", "nour", "post", "draft_version", {"bring": "photo"}),
    ("annotation:submit", "nour", "post", "bring", {}),
    ("annotation:submit", "nour", "post", "draft_version", {"v-relevance": "3", "client_key": "k"}),
    ("annotation:submit", "nour", "post", "version", {"v-relevance": "3", "client_key": "k"}),
    ("annotation:undo", "nour", "post", "version", {}),
    ("annotation:skip", "nour", "post", "draft_version", {"reason": "unknown"}),
    ("annotation:review_queue", "owner", "get", "done", {}),
    ("annotation:review_queue", "owner", "get", "per", {}),
    ("annotation:review_queue", "owner", "get", "cohort", {}),
    ("annotation:review_queue", "owner", "get", "later", {}),
    ("annotation:review_samples", "owner", "get", "page", {}),
    ("annotation:review_undo_all", "owner", "post", "press", {}),
    ("annotation:review", "owner", "get", "done", {}),
    ("annotation:review", "owner", "post", "after", {"decision": "accept"}),
    ("annotation:stages", "owner", "post", "remove", {}),
    ("annotation:compose", "owner", "post", "roll", {"do": "publish"}),
    ("annotation:stage_versions", "owner", "get", "number", {}),
    ("annotation:stage_versions", "owner", "post", "number", {}),
    ("annotation:compose_preview", "owner", "get", "number", {}),
    ("annotation:coverage", "owner", "get", "page", {}),
    ("annotation:coverage", "owner", "get", "row", {"cohort": "1"}),
    ("annotation:coverage", "owner", "get", "cohort", {"row": "1"}),
    ("annotation:coverage_action", "owner", "post", "row", {}),
    ("annotation:coverage_action", "owner", "post", "cohort", {}),
    ("annotation:campaign_instruct", "owner", "post", "shown", {}),
    ("benchmarks:items", "owner", "get", "after", {}),
    ("evaluation:items", "owner", "get", "page", {}),
    ("evaluation:people", "owner", "get", "page", {}),
    ("jobs:job", "owner", "get", "after", {}),
    ("predictions:index", "owner", "get", "before", {}),
    ("predictions:answer_run_new", "owner", "get", "like", {}),
    ("predictions:answer_run_new", "owner", "get", "campaign", {}),
    ("predictions:answer_run_new", "owner", "get", "show", {}),
    ("predictions:answer_run", "owner", "get", "after", {}),
    ("predictions:links", "owner", "get", "after", {}),
    ("predictions:knowledge_base", "owner", "get", "after", {}),
]


def ask_all(world: World, texts: list[str]) -> Iterator[str]:
    from tests.test_strangers import every_route, path_of

    samples = build(world)
    routes = {route.name: route for route in every_route()}
    for name, who, method, parameter, more in PARAMETERS:
        path = path_of(routes[name], samples)
        client = world.client(getattr(world, who))
        client.raise_request_exception = False
        for text in texts:
            with transaction.atomic():
                status = getattr(client, method)(path, more | {parameter: text}).status_code
                transaction.set_rollback(True)
            if status >= 500:
                yield f"{method} {path} {parameter}={text[:30]!r}: {status}"


def test_no_page_fails_on_the_hardest_texts(world: World) -> None:
    assert list(ask_all(world, HARD)) == []


@pytest.mark.slow
def test_no_page_fails_on_200_texts(world: World) -> None:
    assert list(ask_all(world, texts(200))) == []


def test_every_text_becomes_a_number_that_the_database_holds() -> None:
    for text in texts(2000):
        assert 0 <= parse_int(text) <= LARGEST
        assert 0 <= parse_id(text) <= LARGEST_ID
    assert [parse_int(text) for text in ("0", "7", str(LARGEST), str(LARGEST + 1))] == [0, 7, LARGEST, 0]
    assert parse_int("5", minimum=6, default=None) is None
    assert parse_int("007", maximum=999) == 7


def test_a_draft_with_a_picture_is_kept_whatever_its_version(world: World) -> None:
    """The case that was found: an over-long `draft_version` with `bring`."""
    samples: Any = build(world)
    path = reverse("annotation:submit", args=[samples["assignment_id"]])
    reply = world.client(world.nour).post(path, {"bring": "relevance", "draft_version": "9" * 5000})
    assert reply.status_code == 302
