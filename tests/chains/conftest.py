"""The browser's fixtures, for chains whose researcher works in Chromium."""

from tests.browser.conftest import media, open_as, shot  # noqa: F401
