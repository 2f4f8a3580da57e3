"""Facts about items by local models: CLIP scores equal a plain script, objects are counted, gates read them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from annotation.services.review.outcomes import facts_of
from benchmarks.models import Item, ItemFact, ItemImage
from jobs.services import lifecycle, runner
from predictions.backends import clip, detector, grounding
from predictions.backends.contract import CallError, Decoding
from predictions.models import Run
from predictions.models.facts import LABELS, OBJECTS, SCORE
from predictions.prompts.contract import Request
from predictions.services.encoders import fact_requests, item_facts
from predictions.services.encoders.fact_requests import FactPlan
from predictions.services.runs.result_runs import FileRunRefused
from tests.personas import World
from tests.predictions import tiny_transformers
from tests.predictions.shapes import MODEL, an_endpoint, store
from tests.predictions.test_clip import encode_plainly
from tests.predictions.tiny_clip import KINDS, caption, draw_shape, png

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="session")
def tiny_folder(needs_models: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("transformers")
    tiny_transformers.detector(root / "detector")
    tiny_transformers.grounding(root / "grounding")
    return root


@pytest.fixture
def tiny(tiny_folder: Path, settings: Any) -> None:
    settings.MODELS_ROOT = tiny_folder


def shapes(world: World) -> list[bytes]:
    """Items of the first stage, each with a picture; every second one says what another shows."""
    pictures = [png(draw_shape(*kind, seed=number)) for number, kind in enumerate(KINDS)]
    for number, (kind, data) in enumerate(zip(KINDS, pictures, strict=True)):
        text = caption(*(kind if number % 2 else KINDS[(number + 5) % 16]))
        item = Item.objects.create(stage=world.stage, key=f"s{number:02}", concept="x", context={"assertion": text})
        ItemImage.objects.create(item=item, image=store(world.team, data))
    return pictures


def a_run(world: World, **more: Any) -> Run:
    fields = {"model": MODEL, "what": SCORE, "words": "context.assertion", **more}
    plan = FactPlan(stage=world.stage, **{"endpoint": an_endpoint(world), **fields})
    run = fact_requests.create(plan, world.mara, timezone.now()).run
    assert run.job_id is not None
    runner.run(run.job_id)
    run.refresh_from_db()
    return run


def test_clip_scores_equal_a_plain_script_and_the_filter_keeps_what_fits(world: World, models_root: Path) -> None:
    pictures = shapes(world)
    run = a_run(world)
    assert run.complete and run.state == "done" and run.options["rows"] == 16
    items = list(Item.objects.filter(stage=world.stage).order_by("key"))
    pixels, words = encode_plainly(models_root, pictures, [item.context["assertion"] for item in items])
    wanted = 100 * (pixels.astype(float) * words.astype(float)).sum(axis=1)
    scores = np.array([facts_of([item.pk])[item.pk][SCORE] for item in items])
    assert np.abs(scores - wanted).max() < 1e-4 and np.abs(scores - wanted).max() / 100 < 1e-6
    kept, plain = scores >= 23, wanted >= 23
    assert (kept == plain).all()
    right = np.arange(16) % 2 == 1
    assert scores[right].mean() > scores[~right].mean() + 20
    assert not ItemFact.objects.exclude(source=MODEL).exists()


def test_objects_are_counted_by_label_and_the_threshold_is_kept(world: World, tiny: None) -> None:
    shapes(world)
    endpoint = an_endpoint(world, "detector")
    loose = a_run(world, endpoint=endpoint, model="local-dir:detector", what=OBJECTS, threshold=0.0)
    item = Item.objects.filter(stage=world.stage).order_by("key")[0]
    assert facts_of([item.pk])[item.pk][OBJECTS] == 6  # all of its tokens
    assert sum(facts_of([item.pk])[item.pk][LABELS].values()) == 6
    fact_requests.cancel(loose.fact_request, world.mara)
    strict = a_run(world, endpoint=endpoint, model="local-dir:detector", what=OBJECTS, threshold=0.99)
    assert facts_of([item.pk])[item.pk][OBJECTS] == 0  # the newest counts
    assert (loose.options["threshold"], strict.options["threshold"]) == (0.0, 0.99)
    assert ItemFact.objects.filter(item=item, key=OBJECTS).count() == 2


def test_what_was_found_is_not_looked_for_again_after_a_stop(world: World, models_root: Path, monkeypatch: Any) -> None:
    shapes(world)
    monkeypatch.setattr(item_facts, "STEP", 4)
    plan = FactPlan(stage=world.stage, endpoint=an_endpoint(world), model=MODEL, what=SCORE, words="context.assertion")
    run = fact_requests.create(plan, world.mara, timezone.now()).run
    scored, steps = item_facts.FINDERS[SCORE], []

    def stopping(running: Run, things: Any) -> Any:
        for number, scored_part in enumerate(scored(running, things)):
            steps.append(len(scored_part[0]))
            if number == 1 and len(steps) == 2:
                lifecycle.request_cancel(running.job, world.mara)
            yield scored_part

    monkeypatch.setitem(item_facts.FINDERS, SCORE, stopping)  # type: ignore[arg-type]
    runner.run(run.job_id)
    run.refresh_from_db()
    assert run.state == "paused" and ItemFact.objects.count() == 8
    assert run.job is not None
    lifecycle.resume(run.job, world.mara)
    runner.run(run.job.pk)
    run.refresh_from_db()
    assert run.complete and steps == [4, 4, 4, 4] and ItemFact.objects.count() == 16


def test_a_run_needs_its_kind_of_endpoint_and_words(world: World) -> None:
    shapes(world)
    with pytest.raises(FileRunRefused, match="Choose another endpoint"):
        a_run(world, what=OBJECTS)
    with pytest.raises(FileRunRefused, match="words where you look"):
        a_run(world, words="context.nothing")
    assert not Run.objects.exists()


def test_the_best_scored_box_is_the_answer(tiny: None) -> None:
    image = png(draw_shape("red", "circle", 1))
    every = grounding.load("local-dir:grounding").boxes(image, "red circle")
    assert every and all(one.score <= every[0].score for one in every)
    assert all(0 <= side <= 1 for one in every for side in one.box)
    asked = Request(kind="grounding", texts=("red circle",), image="sha")
    told = grounding.backend().answer(asked, "local-dir:grounding", Decoding(), lambda sha: image).reply
    assert told.boxes == (every[0],) and told.boxes[0].label == "red circle"
    with pytest.raises(CallError, match="boxes only"):
        grounding.backend().answer(Request(kind="chat"), "local-dir:grounding", Decoding(), lambda sha: image)


def test_boxes_are_fractions_inside_the_picture_the_best_first() -> None:
    boxes = detector.boxes_of(["a", "b"], [0.2, 0.9], [[-5, 0, 50, 20], [10, 10, 120, 45]], (100, 40))
    assert [one.label for one in boxes] == ["b", "a"]
    assert boxes[0].box == (0.1, 0.25, 1.0, 1.0) and boxes[1].box == (0.0, 0.0, 0.5, 0.5)
    assert detector.count_labels([*boxes, boxes[0]]) == {"b": 2, "a": 1}


def test_a_folder_of_another_kind_of_model_is_refused_in_a_sentence(tiny: None) -> None:
    with pytest.raises(CallError, match="“local-dir:detector” could not be loaded"):
        clip.load("local-dir:detector")
