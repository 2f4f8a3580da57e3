"""`needs_models`: for tests of models that run on this machine. Where they are not installed it is said aloud."""

import importlib.util
import os

import pytest

MODULES = ("torch", "torchvision", "open_clip", "transformers", "faiss")
MISSING = "LOCAL MODELS ARE NOT INSTALLED, SO NOTHING OF THEM IS TESTED. Run ./emic models."


@pytest.fixture(scope="session")
def needs_models() -> None:
    if all(map(importlib.util.find_spec, MODULES)):
        return
    if os.environ.get("NEEDS_MODELS"):
        pytest.fail(MISSING)
    pytest.skip(MISSING)
