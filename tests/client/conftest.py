"""A site that answers, a benchmark with answers, and a client with a token of its researcher."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotation.models import Campaign
from emic_client import Emic
from people.models import User
from people.services import tokens
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.personas import World

Connect = Callable[..., Emic]


@pytest.fixture
def connect(live_server: Any) -> Iterator[Connect]:
    """A client of a person, with a token of these scopes."""
    cache.clear()  # nobody has asked before
    clients: list[Emic] = []

    def connected(user: User, *scopes: str, **options: Any) -> Emic:
        _token, text = tokens.create_token(user, "test", timezone.now(), scopes=scopes or ("read", "export"))
        clients.append(Emic(live_server.url, text, **options))
        return clients[-1]

    yield connected
    for client in clients:
        client.close()


@pytest.fixture
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1234", world.tarek: "12.5"})
    give_ratings(campaign, world.brazil, world.bia, {natural[0]: "5"}, because="surplus")
    return campaign
