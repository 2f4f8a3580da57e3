"""The order of raters in sums: by name, which is the same on each site that has the same answers."""

import numpy as np

from benchmarks.models import Benchmark
from evaluation.metrics.counts import Ints
from people.models import Rater


class RaterOrder:
    """The places of raters among all that a reading has, people by pseudonym, then models by name and setting.

    Floating-point sums depend on their order in the last digits, and the numbers of raters on the site: an imported
    release has its own. With this order both sites compute the same to the last digit.
    """

    def __init__(self, benchmark_id: int, raters: Ints) -> None:
        """`raters`: (n,) ids, in any order and number."""
        self._ids = _distinct(raters)
        rows = Rater.objects.filter(pk__in=self._ids.tolist()).values_list("pk", "kind", "name", "setting")
        benchmark = Benchmark.objects.get(pk=benchmark_id) if self._ids.size else None

        def key(row: tuple[int, str, str, str]) -> tuple[bool, str, str, int]:
            pk, kind, name, setting = row
            is_model = kind == Rater.Kind.MODEL
            return is_model, name if is_model or benchmark is None else benchmark.pseudonym(pk), setting, pk

        self.sorted_ids = [row[0] for row in sorted(rows, key=key)]
        self._places = np.zeros(self._ids.size, np.int64)
        self._places[np.searchsorted(self._ids, self.sorted_ids)] = np.arange(len(self.sorted_ids))

    def places(self, raters: Ints) -> Ints:
        """(n,) from 0, of ids that the reading has."""
        places: Ints = self._places[np.searchsorted(self._ids, raters)]
        return places


def _distinct(ids: Ints) -> Ints:
    """Sorted; by a lookup where they lie close."""
    if ids.size and ids.max() - ids.min() < 4 * ids.size:
        low = ids.min()
        close: Ints = np.flatnonzero(np.bincount(ids - low)) + low
        return close
    distinct: Ints = np.unique(ids)
    return distinct
