"""Object detection by transformers: what is in a picture, where, and how sure the detector is.

A model is named as on the Hugging Face hub ("facebook/detr-resnet-50") or "local-dir:NAME".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.utils.translation import gettext as _

from predictions.backends import torch_setup
from predictions.backends.contract import BackendReply, CallError, Decoding, Pictures
from predictions.prompts.contract import DetectedBox, Request

THRESHOLD = 0.5


class Detector(torch_setup.TransformersModel):
    def objects(self, data: bytes, threshold: float = THRESHOLD) -> list[DetectedBox]:
        """What scores at least `threshold`, the best first. Raises CallError."""
        picture = torch_setup.upright(data)
        inputs = self._processor(images=picture, return_tensors="pt").to(self._device)
        with self._model_output(inputs) as outputs:
            sizes = [(picture.height, picture.width)]
            [found] = self._processor.post_process_object_detection(outputs, threshold=threshold, target_sizes=sizes)
        labels = [self._model.config.id2label.get(int(label), str(int(label))) for label in found["labels"]]
        return boxes_of(labels, found["scores"].tolist(), found["boxes"].tolist(), picture.size)


def boxes_of(
    labels: Sequence[str], scores: Sequence[float], boxes: Sequence[Sequence[float]], size: tuple[int, int]
) -> list[DetectedBox]:
    """From pixels to fractions, kept inside the picture; the best first, ties from left to right, top to bottom."""
    width, height = size
    detected = []
    for label, score, (left, top, right, bottom) in zip(labels, scores, boxes, strict=True):
        box = tuple(min(max(value, 0.0), 1.0) for value in (left / width, top / height, right / width, bottom / height))
        detected.append(DetectedBox(str(label), float(score), box))  # type: ignore[arg-type]
    return sorted(detected, key=lambda detected_box: (-detected_box.score, detected_box.box))


def count_labels(detected_boxes: Sequence[DetectedBox]) -> dict[str, int]:
    """How many of each label, the most first."""
    return dict(
        sorted(
            Counter(detected_box.label for detected_box in detected_boxes).items(), key=lambda pair: (-pair[1], pair[0])
        )
    )


def load(model: str) -> Detector:
    """The detector of this name; the last one stays loaded. Raises CallError with words for the researcher."""
    return torch_setup.cached_model("detector", model, lambda: _load(model))


def _load(model: str) -> Detector:
    torch_setup.torch()
    from transformers import AutoImageProcessor, AutoModelForObjectDetection

    return Detector(model, *torch_setup.pretrained(model, AutoModelForObjectDetection, AutoImageProcessor))


class DetectorBackend:
    """A Backend in form only: objects are facts about items, not answers to a sheet."""

    def answer(self, request: Request, model: str, decoding: Decoding, pictures: Pictures) -> BackendReply:
        raise CallError("permanent", _("A detector answers no sheet. Its objects become facts about items."))

    def close(self) -> None:
        """The model stays loaded for the next run."""


def backend() -> DetectorBackend:
    return DetectorBackend()
