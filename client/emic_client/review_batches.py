"""Samples of authors' answers, for reviewers: drawn, decided, and the author's other answers accepted together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .connection import Connection
from .remote_object import RemoteList, RemoteObject
from .resources import ReviewBatchRecord


class ReviewBatch(RemoteObject[ReviewBatchRecord]):
    """A sample as it was when it was last asked for. `state`: open, passed, above, empty, accepted or replaced."""

    def __init__(self, connection: Connection, path: str, raw: Mapping[str, Any]) -> None:
        super().__init__(connection, path, ReviewBatchRecord, raw)

    def __repr__(self) -> str:
        return f"<ReviewBatch {self.id} of {self.data.author}: {self.state}>"

    def answers(self) -> Iterator[dict[str, Any]]:
        """The answers of the sample: the `annotation` that a review is about, its item and its state."""
        yield from self._connection.pages(f"{self.path}answers/")

    def accept(self) -> ReviewBatch:
        """Accept the author's other answers. Raises Conflict unless the sample has passed."""
        return self._act("accept")

    def undo(self) -> ReviewBatch:
        """What was accepted together waits again."""
        return self._act("undo")


class ReviewBatches(RemoteList[ReviewBatch]):
    """The samples of a benchmark, without those of your own answers."""

    def __init__(self, connection: Connection, path: str) -> None:
        super().__init__(connection, f"{path}review-batches/")

    def draw(self, stage: str, **options: Any) -> dict[str, int]:
        """Draw a sample of each author's waiting answers: how many authors and answers, and the seed. `options`: size,
        unit (answers or percent), limit (percent), author, seed."""
        drawn: dict[str, int] = self._connection.post(self._path, {"stage": stage, **options})
        return drawn

    def get(self, batch_id: int) -> ReviewBatch:
        return self._get(batch_id)

    def iter(self, stage: str = "") -> Iterator[ReviewBatch]:
        """Oldest first."""
        return self._pages(**({"stage": stage} if stage else {}))

    def list(self, stage: str = "") -> list[ReviewBatch]:
        return list(self.iter(stage))

    def _object(self, raw: Mapping[str, Any]) -> ReviewBatch:
        return ReviewBatch(self._connection, self._path, raw)
