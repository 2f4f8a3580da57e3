from evaluation.models.benchmark_tables import BenchmarkTable
from evaluation.models.snapshots import Snapshot

__all__ = ["BenchmarkTable", "Snapshot"]
