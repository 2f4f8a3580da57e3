"""`needs_models`: for tests of models that run on this machine. Where they are not installed it is said aloud."""

import fcntl
import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

MODULES = ("torch", "torchvision", "open_clip", "transformers", "faiss")
MISSING = "LOCAL MODELS ARE NOT INSTALLED, SO NOTHING OF THEM IS TESTED. Run ./emic models."


@pytest.fixture(scope="session")
def needs_models() -> None:
    if all(map(importlib.util.find_spec, MODULES)):
        from predictions.backends import torch_setup

        torch_setup.torch().set_num_threads(1)  # tests run side by side; threads that wait for each other cost the most
        return
    if os.environ.get("NEEDS_MODELS"):
        pytest.fail(MISSING)
    pytest.skip(MISSING)


@pytest.fixture(scope="session")
def trained(needs_models: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models with "tiny", a dual encoder trained on drawn shapes: once for all workers of a session."""
    from tests.predictions import tiny_clip

    folder = tmp_path_factory.getbasetemp()
    root = (folder.parent if os.environ.get("PYTEST_XDIST_WORKER") else folder) / "models"
    root.mkdir(exist_ok=True)
    with (root / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "tiny" / tiny_clip.WEIGHTS).exists():
            shutil.rmtree(root / "tiny", ignore_errors=True)
            tiny_clip.train(root / "tiny")
    return root


@pytest.fixture
def models_root(trained: Path, settings: Any, tmp_path: Path) -> Path:
    """The operator's folder of models holds "tiny"; vectors go into a folder of the test's own."""
    settings.MODELS_ROOT, settings.VECTORS_ROOT = trained, tmp_path / "vectors"
    return trained
