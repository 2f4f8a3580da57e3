"""The settings of a web server beside a test: the test's own database and files, which its environment names."""

import os

from tests.settings import *  # noqa: F403

STORAGES = {
    **STORAGES,  # noqa: F405
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": os.environ["EMIC_TEST_FILES"]},
    },
}
