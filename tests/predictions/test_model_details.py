"""What is known of a model is asked once, and holds for each of its raters; figures that lack it name the models."""

from typing import Any

import pytest

from people.models import ModelDetails, Rater
from people.services.raters import models_of
from predictions.queries.model_details import known_model
from tests.personas import World
from tests.predictions.plan_set_helpers import FIRST, start_set, use_conditions
from tests.predictions.request_helpers import a_campaign, an_endpoint

pytestmark = pytest.mark.django_db
FULL = {"model": "org/A-7B", "access": "open", "released": "2024-05", "parameters": "7 B", "family": "A",
        "training_data": "The web"}  # fmt: skip
ABOUT = {"open": True, "released": "2024-05", "parameters": "7 B", "family": "A", "training_data": "The web"}


def path(world: World) -> str:
    return f"/teams/{world.team.slug}/models/details/"


def save(world: World, **change: str) -> Any:
    return world.client(world.mara).post(path(world), FULL | change)


def page(world: World, query: str = "") -> str:
    return str(world.client(world.mara).get(path(world) + query).content.decode())


def test_details_hold_for_all_raters_of_the_name_those_of_later_too(world: World) -> None:
    before = Rater.objects.create(kind="model", team=world.team, name="org/A-7B", setting="vlm", about={"layers": 32})
    elsewhere = Rater.objects.create(kind="model", team=world.other_team, name="org/A-7B")
    assert save(world).status_code == 302
    later = models_of(world.team, [("org/A-7B", "few")])["org/A-7B", "few"]
    before.refresh_from_db()
    elsewhere.refresh_from_db()
    assert (before.about, later.about, elsewhere.about) == (ABOUT | {"layers": 32}, ABOUT, {})
    assert save(world, access="closed", family="").status_code == 302
    before.refresh_from_db()
    assert before.about["open"] is False and "family" not in before.about and before.about["layers"] == 32
    assert ModelDetails.objects.count() == 1


def test_the_form_shows_what_is_known_and_the_list_what_is_missing(world: World) -> None:
    Rater.objects.create(kind="model", team=world.team, name="B", about={"open": False, "parameters": "0.4 B"})
    listed = page(world)
    assert listed.count('<span class="chip back">missing</span>') == 1 and "Closed" in listed
    form = page(world, "?model=B")
    assert '<option value="closed" selected>' in form and 'value="0.4 B"' in form
    assert 'value="new/one"' in page(world, "?model=new/one"), "a model may be described before it is asked"


@pytest.mark.parametrize("date", ["May 2024", "2024-13", "2024-02-30", "24-05", "2024-5"])
def test_a_date_that_cannot_be_read_is_refused_and_stays_in_the_form(world: World, date: str) -> None:
    reply = save(world, released=date)
    assert reply.status_code == 400 and "This is not a date" in reply.content.decode()
    assert f'value="{date}"' in reply.content.decode() and not ModelDetails.objects.exists()


@pytest.mark.parametrize("date", ["2024", "2024-05", "2024-02-29", ""])
def test_a_year_a_month_and_a_day_are_dates(world: World, date: str) -> None:
    assert save(world, released=date).status_code == 302
    assert known_model(world.team, "org/A-7B").about.get("released", "") == date


def test_a_plan_set_names_the_models_that_lack_details(world: World, monkeypatch: Any) -> None:
    use_conditions(monkeypatch)
    a_campaign(world, 1)
    endpoint = an_endpoint(world, "http://127.0.0.1:9/v1")
    plan_set = start_set(world, (endpoint, "org/A-7B", [FIRST]), (endpoint, "B", [FIRST]))
    address = f"/b/{world.benchmark.slug}/predictions/plans/{plan_set.pk}/"
    shown = world.client(world.mara).get(address).content.decode()
    assert f"{path(world)}?model=org/A-7B#details" in shown and "?model=B#details" in shown
    save(world)
    shown = world.client(world.mara).get(address).content.decode()
    assert "?model=B#details" in shown and "?model=org/A-7B#details" not in shown


def test_who_may_read_and_change_them(world: World) -> None:
    save(world)
    for user in (world.stranger, world.rival, world.nour):
        client = world.client(user)
        assert client.get(path(world)).status_code == 404 and client.post(path(world), FULL).status_code == 404, user
        assert client.get(f"/b/{world.benchmark.slug}/predictions/models/").status_code == 404, user
    assert world.client(world.team_admin).post(path(world), FULL | {"family": "Other"}).status_code == 302
    assert ModelDetails.objects.get().family == "Other"
