"""Answers of linked stages beside each other: read at each view while there are few, else kept and made anew."""

from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from annotation.models import Annotation
from annotation.services.answers import submit
from evaluation.models import Snapshot
from evaluation.reports import linked_stages
from evaluation.tasks import recompute_report
from tests.annotation.chain.disputed_scene import Disputes, lower
from tests.annotation.chain.factories import answer
from tests.chains.link_client import text_of
from tests.personas import World

pytestmark = pytest.mark.django_db
UTC = ZoneInfo("UTC")


def shown(world: World, path: str = "agreement") -> str:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/{path}/?stage=boxes")
    assert reply.status_code == 200
    return text_of(reply.content.decode()).split("Answers to the same item in these stages", 1)[-1]


def redraw(scene: Disputes, share: float) -> None:
    """The verifier corrects the box."""
    drawn = Annotation.objects.get(rater=scene.verifier, live=True)
    submit.reopen(drawn.assignment_id, scene.verifier, timezone.now())
    answer(drawn.assignment, box=lower(share))


def test_a_few_answers_are_compared_at_each_view(world: World) -> None:
    scene = Disputes(world.benchmark, world.egypt)
    assert linked_stages.linked_stages(world.benchmark, "boxes", timezone.now(), UTC) is None
    scene.draw_both(lower(0.2))
    assert "0.20" in shown(world) and "waits for a decision" in shown(world, "disagreement")
    redraw(scene, 0.9)
    assert "0.90" in shown(world) and not Snapshot.objects.exists()


def test_the_comparison_of_many_answers_stays_until_a_worker_renews_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linked_stages, "LIVE_LIMIT", 1)
    scene = Disputes(world.benchmark, world.egypt)
    scene.draw_both(lower(0.2))
    assert "0.20" in shown(world) and "nothing has changed since" in shown(world)
    redraw(scene, 0.9)
    assert "0.20" in shown(world) and "1 newer answer is not in it" in shown(world)
    assert recompute_report(world.benchmark.pk, linked_stages.REPORT, "boxes", "UTC")
    for path in ("agreement", "disagreement"):
        assert "0.90" in shown(world, path) and "nothing has changed since" in shown(world, path)
    assert Snapshot.objects.get().report == linked_stages.REPORT, "both pages read the same"


def test_a_stage_that_is_linked_to_none_has_no_comparison(world: World) -> None:
    assert not recompute_report(world.benchmark.pk, linked_stages.REPORT, world.stage.key, "UTC")
    assert world.client(world.stranger).get(f"/b/{world.benchmark.slug}/agreement/").status_code == 404
