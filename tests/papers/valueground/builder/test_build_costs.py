"""Table 3 is the mean cost of all steps of a build; what has no known price is left out and counted."""

from decimal import Decimal

import pytest
from django.utils import timezone

from papers.valueground.builder.models import Build, BuildStep
from papers.valueground.builder.services import review_items
from tests.api.clients import program
from tests.api.test_numbers import API
from tests.evaluation.test_tables_valueground import table
from tests.papers.valueground.builder.builder_scene import BuilderScene
from tests.personas import World
from tests.predictions.model_server import Server

pytestmark = pytest.mark.django_db


def test_table_3_is_the_mean_over_builds_of_all_their_steps(world: World, scripted_server: Server) -> None:
    scene = BuilderScene(world, scripted_server, questions=2)
    plan = scene.work(scene.plan(sources=[scene.source("GPT")]))
    builds = list(Build.objects.order_by("pk"))
    [row] = table(scene.benchmark, "table-3").rows
    expected = sum(step.cost or 0 for step in BuildStep.objects.all()) / 2
    assert (row.group, row.label) == ("GPT", "Planner+Editor+Critic")
    assert row.cells[0].shown == f"{expected:.4f}" and row.cells[0].printed
    revision = review_items.send_back_with_comment(builds[0], "Calmer.", world.reviewer, timezone.now())
    scene.work(plan)
    revision.refresh_from_db()
    assert table(scene.benchmark, "table-3").rows[0].cells[0].shown == f"{expected:.4f}"
    with_revisions = expected + revision.cost / 2
    assert table(scene.benchmark, "table-3", "revisions=with").rows[0].cells[0].shown == f"{with_revisions:.4f}"
    BuildStep.objects.filter(build=builds[1], kind="critic").update(cost=None)
    left_out = table(scene.benchmark, "table-3")
    assert left_out.rows[0].cells[0].shown == f"{Decimal(builds[0].cost):.4f}"
    assert any("left out: 1 of 2" in str(words) for words in left_out.words)


def test_a_build_that_ends_is_a_change_of_table_3(world: World, scripted_server: Server) -> None:
    scene = BuilderScene(world, scripted_server, questions=2)
    plan = scene.work(scene.plan(sources=[scene.source("GPT")]))
    sent_back = Build.objects.earliest("pk")
    review_items.send_back_with_comment(sent_back, "Calmer.", world.reviewer, timezone.now())
    client, url = program(world.owner), f"{API}{scene.benchmark.slug}/tables/table-3/?revisions=with"
    before = client.get(url)
    scene.work(plan)
    after = client.get(url, headers={"if-none-match": before["ETag"]})
    assert after.status_code == 200, "not 304: the revision has ended since"
    shown = [reply.json()["rows"][0]["cells"][0]["estimate"]["value"] for reply in (before, after)]
    assert shown[1] > shown[0]
