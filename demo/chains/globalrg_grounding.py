"""GlobalRG's boxes half-way: words, pictures that people found, boxes drawn twice, disputes, and two models' boxes."""

from hashlib import sha256
from random import Random
from typing import Any

from django.core.files.base import File

from annotation.models import Assignment
from annotation.services.answers import uploads
from annotation.services.derivation import stage_inputs
from benchmarks.models import Image
from demo import pictures
from demo.context import ANSWERED_BEFORE, SEED, Demo
from demo.simulation import (
    MODELS,
    OTHERS,
    SimulatedSheet,
    answer_of,
    answer_sheets,
    campaign_of,
    derive,
    import_model_run,
    items_of,
    stage_of,
)
from demo.steps import chain
from demo.vocabulary import NAMES
from predictions.models import Run

SLUG = "globalrg-grounding-demo"
ERRORS_NAMED = 3  # by each of three people
WORDS, FOUND, VERIFIED = 8, 2, 5
"""Of a cohort: words to find, pictures that each of three people finds, boxes that others draw again."""
OBJECTS = 5  # found in each picture: more than the filter of the boxes asks for
BOX = {"x0": 0.34, "y0": 0.3, "x1": 0.66, "y1": 0.78}
APART = {"x0": 0.05, "y0": 0.55, "x1": 0.4, "y1": 0.95}
DISPUTED = (2, 4)  # of the boxes that are drawn again in a cohort, counted from 1: drawn apart


def import_words(demo: Demo) -> None:
    benchmark = demo.create_benchmark("globalrg-grounding", "GlobalRG grounding, demo", SLUG)
    rows = [
        {"key": f"{label}/{concept}", "concept": NAMES[label][concept], "country": label, "text": NAMES[label][concept]}
        for label in demo.cohorts
        for concept in pictures.concepts()[:WORDS]
    ]
    demo.import_items(benchmark.stages.get(key="finding"), rows)
    demo.open_chain(SLUG, {"error-types": 2})


def find_pictures(demo: Demo) -> None:
    """Three people of each cohort bring the scenes that show the words; two words are left for visitors."""

    def find(sheet: SimulatedSheet) -> dict[str, Any]:
        image = upload_scene(demo, sheet.assignment)
        return {"picture": {"sha": image.sha256, "kind": "file", "licence": "own", "source": ""}, "prevalent": "yes"}

    answer_sheets(demo, campaign_of(SLUG, "finding"), find, most=FOUND)
    derive(demo)


def upload_scene(demo: Demo, assignment: Assignment) -> Image:
    """A person uploads the scene that they found for the word."""
    label, concept = assignment.unit.item.key.split("/")
    scene = pictures.scene(concept, label)
    with scene.path.open("rb") as file:
        return uploads.store_upload(assignment, File(file), scene.file, demo.now - ANSWERED_BEFORE)


def import_objects(demo: Demo) -> None:
    """How many objects a detector found in each picture, as a table of facts."""
    files = {sha256(scene.path.read_bytes()).hexdigest(): scene.file for scene in pictures.of_kind("scene")}
    stage = stage_of(SLUG, "boxes")
    rows = []
    for item in stage.items.filter(withdrawn_at=None).prefetch_related("images__image"):
        file = files[item.images.get().image.sha256]
        rows.append({"key": item.key, "file": file, "country": item.origin, "fact.objects": OBJECTS})
    demo.import_items(stage, rows, complete=True)
    derive(demo)


def draw_boxes(demo: Demo) -> None:
    """Everybody draws the boxes of the pictures that they found."""
    answer_sheets(
        demo, campaign_of(SLUG, "boxes"), lambda sheet: {"box": [moved(BOX, sheet.rng, 0.02)]}, most=FOUND
    )  # fmt: skip
    derive(demo)


def moved(box: dict[str, float], rng: Random, most: float) -> dict[str, float]:
    """The box with each side moved a little."""
    return {side: round(value + rng.uniform(-most, most), 4) for side, value in box.items()}


def verify_boxes(demo: Demo) -> None:
    """Others draw most boxes again, and of some of them another one."""
    for label in demo.cohorts:
        drawn: list[int] = []

        def verify(sheet: SimulatedSheet, drawn: list[int] = drawn) -> dict[str, Any] | None:
            if len(drawn) == VERIFIED:
                return None
            drawn.append(sheet.item.pk)
            box = APART if len(drawn) in DISPUTED else BOX
            return {"box": [moved(box, sheet.rng, 0.03)]}

        answer_sheets(
            demo, campaign_of(SLUG, "verification"), verify, people=OTHERS, most=FOUND, labels=[label]
        )  # fmt: skip
    derive(demo)


def settle_disputes(demo: Demo) -> None:
    """One dispute of each cohort is settled by somebody who drew neither box; the other waits."""

    def settle(_sheet: SimulatedSheet) -> dict[str, Any]:
        return {"decision": "another", "box": [BOX], "reason": "This one is close to its edges."}

    for label in demo.cohorts:
        settled: list[int] = []

        def first_only(sheet: SimulatedSheet, settled: list[int] = settled) -> dict[str, Any] | None:
            if settled:
                return None
            settled.append(sheet.item.pk)
            return settle(sheet)

        answer_sheets(
            demo, campaign_of(SLUG, "box-adjudication"), first_only, people=slice(0, 6), most=1, labels=[label]
        )  # fmt: skip
    derive(demo)


def ask_models(demo: Demo) -> None:
    """A box of each model for each picture; the second one is sometimes wrong."""
    campaign = campaign_of(SLUG, "boxes")
    for model in MODELS:
        rows = []
        for place, item in enumerate(items_of(SLUG, "boxes")):
            rng = Random(f"{SEED}/{model.name}/{item.origin}/{item.concept}")
            misses = place % (5 if model is MODELS[0] else 3) == 1
            box = moved(APART if misses else BOX, rng, 0.04)
            rows.append(answer_of(item, {"box": [box]}, target=item.origin))
        import_model_run(demo, campaign, model, "", rows)
    derive(demo)


def name_errors(demo: Demo) -> None:
    """The runs are chosen, and people say of some wrong boxes what is wrong with them."""
    runs = Run.objects.filter(benchmark__slug=SLUG, campaign__stage__key="boxes")
    stage_inputs.choose_runs(
        stage_of(SLUG, "error-types"), {(run.rater_id, run.pk): True for run in runs}, demo.actor, demo.now
    )
    derive(demo)

    def name(sheet: SimulatedSheet) -> dict[str, str]:
        """Most people say the same of one box."""
        kinds = ["unrelated", "loose"]
        usual = kinds[sheet.item.pk % 2]
        return {"error": usual if sheet.rng.random() < 0.8 else sheet.rng.choice(kinds)}

    answer_sheets(demo, campaign_of(SLUG, "error-types"), name, people=OTHERS, most=ERRORS_NAMED)


STEPS = chain(
    "globalrg-grounding", "GlobalRG grounding",
    ("words", import_words),
    ("pictures that people find", find_pictures),
    ("objects in pictures", import_objects),
    ("boxes", draw_boxes),
    ("boxes drawn again", verify_boxes),
    ("disputes", settle_disputes),
    ("boxes of models", ask_models),
    ("types of errors", name_errors),
)  # fmt: skip
