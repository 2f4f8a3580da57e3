"""The agreement page on a phone: a negative value stands apart from its note."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import PHONE
from tests.browser.test_agreement import Open, address
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Horizontal and vertical distance in pixels between the texts of two elements; 0, 0 where they overlap.
APART = """(row) => {
  const box = (e) => { const r = document.createRange(); r.selectNodeContents(e); return r.getBoundingClientRect(); };
  const texts = [...row.querySelectorAll(".est b, .est span, .est em, td.notes")].filter((e) => e.textContent.trim());
  const boxes = texts.map((e) => [e.textContent.trim(), box(e)]);
  const close = [];
  for (const [i, [first, a]] of boxes.entries())
    for (const [second, b] of boxes.slice(i + 1)) {
      const x = Math.max(0, a.left - b.right, b.left - a.right), y = Math.max(0, a.top - b.bottom, b.top - a.bottom);
      if (y <= 0 && x < 4) close.push(`${first} | ${second}: ${x.toFixed(1)}`);
    }
  return close;
}"""


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_negative_value_stands_apart_from_its_note(world: World, open_as: Open, shot: Any, language: str) -> None:
    world.add_items(40)
    world.mara.language = language
    world.mara.save()
    campaign = an_open_campaign(world, target=6)
    natural, generated = of_condition(world.items, "natural"), of_condition(world.items, "generated")
    table(campaign, world.egypt, natural, {world.nour: "12345" * 4, world.tarek: "54321" * 4})
    table(campaign, world.egypt, generated[:4], {world.nour: "1234", world.tarek: "4321"})
    table(campaign, world.brazil, natural[:3], {world.bia: "115", world.caio: "551"})
    page: Page = open_as(world.mara, **PHONE)
    for query in ("", "?measure=percent", "?interval=units"):
        page.goto(address(world, query))
        shot(page, f"agreement-negative-{language}{query[1:4]}", full_page=True)
        rows = page.locator("tbody tr")
        for number in range(rows.count()):
            assert rows.nth(number).evaluate(APART) == [], query
