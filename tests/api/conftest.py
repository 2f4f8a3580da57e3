"""Nobody has asked the REST API before a test."""

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def no_requests_so_far() -> None:
    cache.clear()
