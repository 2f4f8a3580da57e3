"""What campaigns, runs, releases and others share: listed, asked for again, and changed by a POST."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from .connection import Connection
from .errors import Problem, Stale

if TYPE_CHECKING:
    from typing import Self  # Python 3.11


class StateRecord(Protocol):
    """A record with a number and a state."""

    @property
    def id(self) -> int: ...

    @property
    def state(self) -> str: ...

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self: ...


R = TypeVar("R", bound=StateRecord)


class RemoteObject(Generic[R]):
    """An object of the site as it was when it was last asked for: `data` has all that the site says of it."""

    def __init__(self, connection: Connection, list_path: str, record: type[R], raw: Mapping[str, Any]) -> None:
        self._connection = connection
        self._record = record
        self.data = record.from_json(raw)
        self.path = f"{list_path}{self.data.id}/"

    @property
    def id(self) -> int:
        return self.data.id

    @property
    def state(self) -> str:
        return self.data.state

    def refresh(self) -> Self:
        """Ask again."""
        self.data = self._record.from_json(self._connection.get(self.path))
        return self

    def _change(self, changes: Mapping[str, Any]) -> Self:
        """Send what is changed, unless somebody else changed it since it was last asked for. Raises Stale."""
        reply = self._connection.request("PATCH", self.path, headers=self._precondition(), json=dict(changes))
        self.data = self._record.from_json(reply.json())
        return self

    def _delete(self) -> None:
        """Raises Stale as a change does."""
        self._connection.request("DELETE", self.path, headers=self._precondition())

    def _precondition(self) -> dict[str, str]:
        reply = self._connection.request("GET", self.path)
        if self._record.from_json(reply.json()) != self.data:
            raise Stale("It was changed since it was last asked for. Look at it after refresh().", Problem(status=412))
        return {"If-Match": reply.headers["ETag"]}

    def _act(self, name: str, body: Any = None) -> Self:
        self.data = self._record.from_json(self._connection.post(f"{self.path}{name}/", body))
        return self


T = TypeVar("T")


class RemoteList(ABC, Generic[T]):
    """The objects of one address."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self._path = path

    @abstractmethod
    def _object(self, raw: Mapping[str, Any]) -> T:
        """The object of what the site says of it."""

    def _get(self, number: int) -> T:
        return self._object(self._connection.get(f"{self._path}{int(number)}/"))

    def _pages(self, **filters: Any) -> Iterator[T]:
        for raw in self._connection.pages(self._path, filters or None):
            yield self._object(raw)

    def iter(self) -> Iterator[T]:
        """Oldest first."""
        return self._pages()

    def __iter__(self) -> Iterator[T]:
        return self.iter()

    def list(self) -> list[T]:
        return list(self)
