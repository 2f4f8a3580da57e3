"""What a benchmark says of itself."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from benchmarks.models import Benchmark
from jobs.models import record
from people.models import User

SETTING_NAMES = ("name", "purpose", "citation", "licence", "answers_by_api", "is_public")


def lock(benchmark: Benchmark) -> Benchmark:
    """The benchmark as it is now, its row held until the end of the transaction."""
    return Benchmark.objects.select_for_update(of=("self",)).select_related("team").get(pk=benchmark.pk)


def change(benchmark: Benchmark, values: Mapping[str, Any], actor: User) -> list[str]:
    """Write the settings and return the names of those that changed; records an event if any did. Locks the row."""
    with transaction.atomic():
        row = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
        changed = [name for name in SETTING_NAMES if getattr(row, name) != values[name]]
        if changed:
            for name in changed:
                setattr(row, name, values[name])
            row.save(update_fields=changed)
            record(actor, "benchmark.changed", scope=row.scope, target=row.slug, changed=changed)
    return changed
