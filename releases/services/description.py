"""What the team writes about its data, for the descriptions of releases."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from benchmarks.models import Benchmark
from benchmarks.services.settings import lock
from jobs.models import record
from people.models import User


def describe(benchmark: Benchmark, values: Mapping[str, Any], actor: User) -> bool:
    """Write these texts, and the authors if they are among them; the others stay. Returns whether any changed."""
    texts = {key: text.strip() for key, text in values.items() if key != "authors"}
    with transaction.atomic():
        row = lock(benchmark)
        card = {key: text for key, text in {**row.card, **texts}.items() if text}
        authors = values.get("authors", row.authors)
        if card == row.card and authors == row.authors:
            return False
        changed = sorted(key for key in {*card, *row.card} if card.get(key) != row.card.get(key))
        changed += ["authors"] if authors != row.authors else []
        row.card, row.authors = card, authors
        row.save(update_fields=["card", "authors"])
        record(actor, "benchmark.described", scope=row.scope, target=row.slug, changed=changed)
    return True
