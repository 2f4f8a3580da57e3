"""What was left out, and how answers were come by, as the pages of models and of the judge show it."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from people.models import Rater, User
from tests.browser.conftest import PHONE
from tests.browser.test_rating import find_violations
from tests.evaluation.data import an_open_campaign
from tests.evaluation.test_missing_answers import REPLIES, SCORED, import_replies, repeat_answers, world_with
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("how", "language"), [({}, "en"), (PHONE, "ar")], ids=["desktop", "phone-ar"])
def test_left_out_and_asked_again(
    open_as: Callable[..., Page], world: World, mara: User, how: Any, language: str, shot: Any, request: Any
) -> None:
    world.add_items(10)
    campaign = world_with(world, an_open_campaign(world))
    first = import_replies(world, campaign, REPLIES, name="Qwen2-VL-7B")
    other = import_replies(world, campaign, [*REPLIES[:3], *[SCORED] * 7], name="InternVL2")
    Rater.objects.create(kind="model", team=world.team, name="moody")
    repeat_answers(campaign, "moody", ["1223412345", "1223412344", "1223412335"])
    mara.language = language
    mara.save()
    page = open_as(mara, **how)
    for where in ("models/?", f"judge/?judge={first.rater_id}&", f"judge/?judge={first.rater_id}%2B{other.rater_id}&"):
        page.goto(f"/b/{world.benchmark.slug}/{where}cohort={world.egypt.pk}")
        expect(page.locator("main")).to_contain_text("3")
        name = where.split("/")[0] + ("-mean" if "%2B" in where else "")
        shot(page, f"left-out-{name}-{request.node.callspec.id}", full_page=True)
        assert find_violations(page) == ""
        assert page.evaluate("[...document.querySelectorAll('.bar nav a')].every(a => a.scrollWidth <= a.clientWidth)")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
