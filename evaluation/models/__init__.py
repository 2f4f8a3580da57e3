from evaluation.models.snapshots import Snapshot

__all__ = ["Snapshot"]
