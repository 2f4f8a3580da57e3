"""The board of the overview on a desktop, on a phone and from right to left: nothing is cut off."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Assignment, Slot
from annotation.services.campaigns import lifecycle
from benchmarks.models import Stage
from evaluation.tasks import renew_board
from people.models import Rater
from predictions.models import Call, Run
from tests.browser.conftest import PHONE
from tests.browser.test_rating import find_violations
from tests.evaluation.data import table
from tests.personas import World, make_cohort
from tests.samples import assign

pytestmark = pytest.mark.django_db(transaction=True)
WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
HIDDEN = "(() => { const e = document.querySelector('.board'); return e.scrollWidth > e.clientWidth + 1 })()"
CUT = "(() => { const e = document.querySelector('.bar nav'); return e.scrollWidth > e.clientWidth + 1 })()"


@pytest.fixture
def chain(world: World) -> World:
    """Eight stages; in the first, answers wait, a cohort of a very long name has nobody, and a model has answered."""
    world.add_items(6)
    like = world.stage
    Stage.objects.filter(pk=world.stage.pk).update(acceptance="by_review")
    for n in range(7):
        world.benchmark.stages.create(
            key=f"later-{n}", name=f"Later stage {n}", position=n + 2, display=like.display, sheet=like.sheet,
            derivation={"kind": "promote", "from": [like.key if n == 0 else f"later-{n - 1}"], "params": {}},
        )  # fmt: skip
    long_name = make_cohort(world.team, "Wherever-" * 13)
    cohorts = dict.fromkeys([world.egypt, world.brazil, long_name], 1)
    like.refresh_from_db()
    campaign = lifecycle.create(like, "Round 1", world.mara, cohorts)
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    row = campaign.cohorts.get(cohort=world.egypt)
    for slot in row.slots.order_by("pk")[:4]:
        assign(row, world.nour, slot, code="3")
    row.tallies.filter(shard=0).update(submitted=Slot.objects.filter(cohort=row, submitted=1).count())
    Assignment.objects.filter(pk__in=Assignment.objects.order_by("pk").values("pk")[:1]).update(state="accepted")
    model = Rater.objects.create(kind="model", team=world.team, name="Practice Wren", setting="text only")
    run = Run.objects.create(benchmark=world.benchmark, rater=model, campaign=campaign, task="answers", complete=True)
    for item in world.items[:5]:
        Call.objects.create(run=run, item=item, state="answered")
    Call.objects.create(run=run, item=world.items[5], state="unparseable", reason="no_answer")
    codes = {world.bia: "123451", world.caio: "123412", world.add_annotators(world.brazil, 1)[0]: "133451"}
    table(campaign, world.brazil, world.items, codes)
    assert renew_board(world.benchmark.pk)
    return world


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("how", [{"viewport": {"width": 1280, "height": 900}}, PHONE], ids=["desktop", "phone"])
def test_the_board_fits_its_page(chain: World, open_as: Any, shot: Any, how: dict[str, Any], language: str) -> None:
    chain.mara.language = language
    chain.mara.save()
    page = open_as(chain.mara, **how)
    page.goto(f"/b/{chain.benchmark.slug}/")
    shot(page, f"board-{'phone' if how is PHONE else 'desktop'}-{language}", full_page=True)
    assert not page.evaluate(WIDE)
    assert not page.evaluate(HIDDEN), "every column is in view: agreement and the end, too"
    assert not page.evaluate(CUT), "no tab is cut off"
    assert find_violations(page) == ""
