"""Stand in for local models: a dual encoder whose score is the number that an item's words say, and a detector that
counts as many objects as a test says of a picture."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from predictions.backends import clip, detector
from predictions.backends.contract import CallError
from predictions.backends.torch_setup import ModelUnavailable
from predictions.prompts.contract import DetectedBox


class ScriptedEncoder:
    """Loaded in place of a model. `works`: whether it can be loaded. `before_batch` is called before each one."""

    def __init__(self) -> None:
        self.works = True
        self.before_batch: Callable[[int], None] = lambda number: None
        self.batches: list[int] = []

    def stream(self, fetches: Sequence[Callable[[], bytes]], size: int) -> Iterator[tuple[list[int], Any, Any]]:
        for start in range(0, len(fetches), size):
            good, unread = [], {}
            for place in range(start, min(start + size, len(fetches))):
                try:
                    fetches[place]()
                    good.append(place)
                except FileNotFoundError:
                    unread[place] = CallError("permanent", "The picture file is missing. Import it again.")
            self.before_batch(len(self.batches))
            self.batches.append(len(good))
            yield good, np.array([[1.0, 0.0]] * len(good), np.float32).reshape(-1, 2), unread

    def texts(self, texts: Sequence[str]) -> Any:
        return np.array([[float(text) / 100, 0.0] for text in texts], np.float64).reshape(-1, 2)


def script_encoder(monkeypatch: pytest.MonkeyPatch) -> ScriptedEncoder:
    encoder = ScriptedEncoder()

    def load(model: str) -> ScriptedEncoder:
        if not encoder.works:
            raise ModelUnavailable("There is no folder “tiny” in the folder of models.")
        return encoder

    monkeypatch.setattr(clip, "load", load)
    return encoder


class ScriptedDetector:
    """Loaded in place of a model. `count` says how many objects are in a picture's bytes."""

    def __init__(self, count: Callable[[bytes], int]) -> None:
        self.count = count
        self.pictures: list[bytes] = []

    def objects(self, data: bytes, threshold: float) -> list[DetectedBox]:
        self.pictures.append(data)
        return [DetectedBox("thing", 0.9, (0.0, 0.0, 0.5, 0.5))] * self.count(data)


def script_detector(monkeypatch: pytest.MonkeyPatch, count: Callable[[bytes], int]) -> ScriptedDetector:
    scripted = ScriptedDetector(count)
    monkeypatch.setattr(detector, "load", lambda model: scripted)
    return scripted
