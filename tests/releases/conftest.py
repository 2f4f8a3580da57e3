"""A world in which pages can fill a benchmark of each paper."""

from pathlib import Path
from typing import Any

import pytest

from predictions.services.knowledge import indexes
from tests.personas import World
from tests.predictions.knowledge.colours import Colours


@pytest.fixture
def studies(world: World, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> World:
    """The world, with an encoder for knowledge bases and a folder for vectors of its own."""
    pytest.importorskip("faiss")
    settings.VECTORS_ROOT = tmp_path
    monkeypatch.setattr(indexes, "encoder_of", lambda _index: Colours())
    return world
