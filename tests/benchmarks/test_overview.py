"""The overview tells of campaigns under way, and of problems that wait: the apps above fill it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Assignment, ProblemReport
from annotation.services.campaigns import lifecycle
from benchmarks.pages import panels

pytestmark = pytest.mark.django_db


def page(client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200
    return answer.content.decode()


def create_open_campaign(world, name: str):
    new_campaign = lifecycle.create(
        world.stage, name, world.owner, cohorts={world.egypt: 2, world.brazil: 1}, conditions=[], summary=""
    )
    lifecycle.open_campaign(new_campaign, world.owner, timezone.now())
    return new_campaign


def test_campaigns_under_way_and_waiting_problems_are_told(world):
    world.add_items(3)
    client, url = world.client(world.mara), f"/b/{world.benchmark.slug}/"
    assert "Campaigns under way" not in page(client, url)
    campaign = create_open_campaign(world, "Autumn")
    html = page(client, url)
    assert "<b>0</b> of 9" in html and f"{url}campaigns/{campaign.pk}/" in html
    assert "waits for an answer" not in html
    world.client(world.nour).get(f"/work/{campaign.pk}/")
    work = Assignment.objects.filter(campaign=campaign, in_hand=True).get()
    ProblemReport.objects.create(assignment=work, rater=work.rater, text="upside down")
    assert "1 reported problem waits for an answer" in page(client, url)
    ProblemReport.objects.update(answered_at=timezone.now(), answered_by=world.mara, answer="Thank you")
    assert "waits for an answer" not in page(client, url)
    lifecycle.pause(campaign, world.owner)
    assert "Paused" in page(client, url)
    lifecycle.close(campaign, world.owner, timezone.now())
    assert "Campaigns under way" not in page(client, url)


def test_another_benchmark_is_told_nothing_of_it(world):
    world.add_items(3)
    create_open_campaign(world, "Autumn")
    assert "Campaigns under way" not in page(world.client(world.rival), f"/b/{world.other_benchmark.slug}/")


def test_its_work_does_not_grow_with_campaigns(world):
    world.add_items(3)
    create_open_campaign(world, "First")

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            panels.panels(world.benchmark)
        return len(queries)

    once = asked()
    for number in range(6):
        create_open_campaign(world, f"Further {number}")
    assert asked() == once
    html = page(world.client(world.mara), f"/b/{world.benchmark.slug}/")
    assert "2 more campaigns" in html and "Further 5" in html and "First" not in html
