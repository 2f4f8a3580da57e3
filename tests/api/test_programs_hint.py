"""Pages show how a program does the same: code that compiles, and addresses of the API that exist."""

import html
import re
from typing import Any

from django.urls import resolve

from annotation.models import Campaign
from tests.evaluation.data import an_open_campaign
from tests.module_world import built_once
from tests.personas import World


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(2)
    return an_open_campaign(world)


def blocks(page: Any) -> list[str]:
    text = page.content.decode()
    return [html.unescape(block) for block in re.findall(r'<pre class="text" dir="ltr">(.*?)</pre>', text, re.DOTALL)]


def test_three_pages_show_the_same_call_for_programs(world: World, campaign: Campaign) -> None:
    pages = {"items": "items", "campaign_progress": f"campaigns/{campaign.pk}", "releases": "releases"}
    for name, page in pages.items():
        reply = world.client(world.mara).get(f"/b/sea-and-river/{page}/")
        python, curl = blocks(reply)
        compile(python, page, "exec")
        assert 'Emic("http://testserver").benchmarks.get("sea-and-river")' in python
        match = resolve(re.findall(r"http://testserver(\S+)", curl)[0])
        assert (match.view_name, match.kwargs["slug"]) == (f"api:{name}", "sea-and-river")
        assert "emic_" not in (python + curl).replace("emic_client", "")


def test_who_does_not_work_on_the_benchmark_sees_none(world: World, campaign: Campaign) -> None:
    for page in ("items", f"campaigns/{campaign.pk}", "releases"):
        reply = world.client(world.reviewer).get(f"/b/sea-and-river/{page}/")
        assert reply.status_code in (200, 404) and not blocks(reply)
