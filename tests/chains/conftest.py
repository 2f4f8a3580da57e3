"""The browser's fixtures, for chains whose researcher works in Chromium."""

import pytest

from tests.browser.conftest import media, open_as, shot, windows  # noqa: F401

pytest.register_assert_rewrite(
    "tests.chains.caire_specific", "tests.chains.proverb_tables", "tests.chains.xcm_queries", "tests.chains.xcm_tables"
)
