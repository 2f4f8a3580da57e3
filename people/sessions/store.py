"""Sessions in the database, each read together with its person: one statement in a request instead of two."""

from collections import OrderedDict
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.utils import timezone

from jobs.queries.statements import Columns, fetch
from people.models import User

USER = Columns(User, "u")
READ = f"""SELECT s.session_data, {USER.sql} FROM django_session s LEFT JOIN people_user u ON u.id = %(person)s
  WHERE s.session_key = %(key)s AND s.expire_date > %(now)s"""  # noqa: S608  (names of columns)
MOST = 4096

# Whose each session was when this process last read it, with what it held: which row of people to read with it, and
# what need not be decoded again. Each request reads both rows: a session that ended, or a suspended person, stops.
_known: OrderedDict[str, tuple[str, dict[str, Any], int | None]] = OrderedDict()


class SessionStore(db.SessionStore):
    """`person` is the session's own, as they were when it was read; None where that was not known yet."""

    person: User | None = None

    def load(self) -> dict[str, Any]:
        key = self.session_key or ""
        known = _known.get(key)
        rows = fetch(READ, {"person": known[2] if known else None, "key": key, "now": timezone.now()})
        if not rows:
            _known.pop(key, None)
            self._session_key = None
            return {}
        [row] = rows
        if known is not None and known[0] == row[0]:
            self.person = USER.read(row, 1)
            return dict(known[1])
        data: dict[str, Any] = self.decode(row[0])
        _remember(key, row[0], data)
        return data

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        """The row to save. Whoever signs in here is known from the first request on."""
        row = super().create_model_instance(data)
        _remember(row.session_key, row.session_data, data)
        return row


def _remember(key: str, text: str, data: dict[str, Any]) -> None:
    """What a request may change inside is decoded for each; so are sessions without a person."""
    owner = data.get(SESSION_KEY)
    if owner is None or not str(owner).isdecimal() or not all(isinstance(value, str) for value in data.values()):
        _known.pop(key, None)
        return
    _known[key] = (text, dict(data), int(owner))
    if len(_known) > MOST:
        _known.popitem(last=False)
