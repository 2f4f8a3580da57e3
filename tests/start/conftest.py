"""Folders for instances of their own."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def open_folder() -> Iterator[Path]:
    """pytest's own folders are closed to other accounts, and PostgreSQL may have to run as one of them."""
    with tempfile.TemporaryDirectory(prefix="emic-test-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


tmp_path = pytest.fixture(open_folder, name="tmp_path")
module_folder = pytest.fixture(open_folder, scope="module", name="module_folder")
