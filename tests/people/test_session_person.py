"""A session is read together with its person, in one statement; whatever ends either still ends it at once."""

from datetime import timedelta

from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from people.models import User
from people.sessions import store
from tests.personas import World

PAGE = "/me"


def known_session(client: Client) -> str:
    """A session that this process has read before, as nearly all are."""
    assert client.get(PAGE).status_code == 200
    assert client.get(PAGE).status_code == 200
    key = str(client.cookies["sessionid"].value)
    assert key in store._known
    return key


def is_signed_in(client: Client) -> bool:
    return bool(client.get(PAGE).status_code == 200)


def test_a_known_session_and_its_person_are_one_statement(world: World, nour: User) -> None:
    client = world.client(nour)
    known_session(client)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert is_signed_in(client)
    reads = [
        query["sql"] for query in queries if "django_session" in query["sql"] or 'FROM "people_user"' in query["sql"]
    ]
    assert len(reads) == 1
    assert "people_user" in reads[0]


def test_a_changed_name_is_on_the_next_page(world: World, nour: User) -> None:
    client = world.client(nour)
    known_session(client)
    User.objects.filter(pk=nour.pk).update(name="Nour Anew")
    assert "Nour Anew" in client.get(PAGE).content.decode()


def test_a_suspended_person_is_out_at_once(world: World, nour: User) -> None:
    client = world.client(nour)
    known_session(client)
    User.objects.filter(pk=nour.pk).update(is_active=False)
    assert not is_signed_in(client)


def test_ended_sessions_and_new_passwords_are_out_at_once(world: World, nour: User, tarek: User) -> None:
    client, other = world.client(nour), world.client(tarek)
    known_session(client)
    known_session(other)
    User.objects.filter(pk=nour.pk).update(sessions_ended=1)
    assert not is_signed_in(client)
    assert is_signed_in(other)
    tarek.set_password("another password")
    tarek.save()
    assert not is_signed_in(other)


def test_a_deleted_and_an_expired_session_are_out_at_once(world: World, nour: User, tarek: User) -> None:
    client, other = world.client(nour), world.client(tarek)
    Session.objects.filter(session_key=known_session(client)).delete()
    assert not is_signed_in(client)
    gone = {"expire_date": timezone.now() - timedelta(seconds=1)}
    Session.objects.filter(session_key=known_session(other)).update(**gone)
    assert not is_signed_in(other)


def test_a_session_with_another_persons_row_is_read_by_django(world: World, nour: User, tarek: User) -> None:
    """The memory of a process only says which row to read with a session. Who is signed in, the session says."""
    client = world.client(nour)
    key = known_session(client)
    text, data, _owner = store._known[key]
    store._known[key] = (text, data, tarek.pk)
    page = client.get(PAGE).content.decode()
    assert nour.email in page
    assert tarek.email not in page


def test_what_a_page_stores_in_a_session_is_there_on_the_next(world: World, nour: User) -> None:
    client = world.client(nour)
    known_session(client)
    session = client.session
    session["note"] = "kept"
    session["list"] = [1]
    session.save()
    assert is_signed_in(client)
    assert dict(client.session.items()).get("list") == [1]
    del session["list"]
    session.save()
    assert is_signed_in(client)
    assert "list" not in client.session


def test_only_the_newest_sessions_are_remembered(monkeypatch, nour: User) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(store, "MOST", 2)
    monkeypatch.setattr(store, "_known", store.OrderedDict())
    for key in ("a", "b", "c"):
        store._remember(key, "text", {"_auth_user_id": str(nour.pk)})
    assert list(store._known) == ["b", "c"]
    store._remember("b", "text", {"_auth_user_id": str(nour.pk), "list": []})
    assert list(store._known) == ["c"], "what a page may change inside is decoded each time"
