from pathlib import Path
from typing import Any

import pytest

from predictions.services.knowledge import indexes
from tests.predictions.knowledge.colours import Colours


@pytest.fixture(autouse=True)
def encoder(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Colours:
    """The endpoint's encoder; its vectors lie in a folder of the test."""
    pytest.importorskip("faiss")
    settings.VECTORS_ROOT = tmp_path / "vectors"
    made = Colours()
    monkeypatch.setattr(indexes, "encoder_of", lambda index: made)
    return made
