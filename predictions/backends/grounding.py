"""Zero-shot grounding by transformers: the box of some words in a picture; of many boxes, the best scored.

Grounding DINO, OWL-ViT, OWLv2 and their like, named as on the Hugging Face hub or "local-dir:NAME".
"""

from __future__ import annotations

import time

from django.utils.translation import gettext as _

from predictions.backends import torch_setup
from predictions.backends.contract import BackendReply, CallError, Decoding, Pictures
from predictions.backends.detector import boxes_of
from predictions.prompts.contract import DetectedBox, Reply, Request


class Grounder(torch_setup.TransformersModel):
    def boxes(self, data: bytes, words: str, threshold: float = 0.0) -> list[DetectedBox]:
        """Boxes of the words that score more than `threshold`, the best first. Raises CallError."""
        picture = torch_setup.upright(data)
        inputs = self._processor(images=picture, text=[[words]], return_tensors="pt", truncation=True)
        inputs = inputs.to(self._device)
        with self._model_output(inputs) as outputs:
            sizes = [(picture.height, picture.width)]
            [detection] = self._processor.post_process_grounded_object_detection(
                outputs, threshold=threshold, target_sizes=sizes
            )
        scores = detection["scores"].tolist()
        return boxes_of([words] * len(scores), scores, detection["boxes"].tolist(), picture.size)


def load(model: str) -> Grounder:
    """The model of this name; the last one stays loaded. Raises CallError with words for the researcher."""
    return torch_setup.cached_model("grounding", model, lambda: _load(model))


def _load(model: str) -> Grounder:
    torch_setup.torch()
    from transformers import AutoModelForZeroShotObjectDetection, AutoProcessor

    return Grounder(model, *torch_setup.pretrained(model, AutoModelForZeroShotObjectDetection, AutoProcessor))


class GroundingBackend:
    """A Backend that answers requests of kind "grounding": the best scored box of the first text, or none."""

    def answer(self, request: Request, model: str, decoding: Decoding, pictures: Pictures) -> BackendReply:
        if request.kind != "grounding" or not request.texts:
            raise CallError("permanent", _("Zero-shot grounding answers with boxes only. Choose a grounding prompt."))
        grounder = load(model)
        began = time.perf_counter()
        best = tuple(grounder.boxes(pictures(request.image), request.texts[0])[:1])
        return BackendReply(Reply(boxes=best, finish="stop", model=grounder.name), time.perf_counter() - began)

    def close(self) -> None:
        """The model stays loaded for the next run."""


def backend() -> GroundingBackend:
    return GroundingBackend()
