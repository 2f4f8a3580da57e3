"""Which items of a stage are shown to a model as examples, where the researcher names none."""

from annotation.models import Annotation
from benchmarks.models import Stage
from people.models import Rater
from predictions.prompts.examples import choose_examples

SEED = 0
"""Of the draw: with the same answered items, the same examples for every run and model."""


def choose_example_items(stage: Stage, seed: int = SEED) -> list[str]:
    """The keys of one answered item of each culture, drawn by `seed`. It has a picture, a text and a person's
    answer that counts. A run keeps the keys, so that later answers change nothing, and never asks about them."""
    people = Annotation.objects.filter(counted=True, rater__kind=Rater.Kind.PERSON, assignment__unit__item__stage=stage)
    people = people.filter(assignment__unit__item__images__isnull=False).exclude(assignment__unit__item__text="")
    annotations = people.values_list("assignment__unit__item__key", "assignment__unit__target").distinct()
    rows = [{"item": key, "target": target} for key, target in annotations]
    return [str(choose_example["item"]) for choose_example in choose_examples(rows, seed)]
