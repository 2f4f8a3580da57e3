"""The real settings, with one page more: an empty one, to compare with."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "tests.load.urls"
