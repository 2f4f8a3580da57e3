"""What a benchmark says of itself."""

from collections.abc import Mapping

from django.db import transaction

from benchmarks.models import Benchmark
from jobs.models import record
from people.models import User

SAID = ("name", "purpose", "citation", "licence")


def change(benchmark: Benchmark, values: Mapping[str, str], actor: User) -> list[str]:
    """Write what is said of SAID, and which of them changed; an event only if any did. Locks the benchmark."""
    with transaction.atomic():
        row = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
        changed = [name for name in SAID if getattr(row, name) != values[name]]
        if changed:
            for name in changed:
                setattr(row, name, values[name])
            row.save(update_fields=changed)
            record(actor, "benchmark.changed", scope=row.scope, target=row.slug, changed=changed)
    return changed
