"""Ended sessions, old failures and old letters go, and the beat asks for it."""

from datetime import timedelta

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from people.models import FailedSignIn
from people.services import cleaning
from people.tasks import clean_up
from tests.people.test_joining import signed_in
from tests.people.test_signing_in import try_password
from tests.personas import World


def test_ended_sessions_are_deleted_and_others_stay(world: World) -> None:
    current, old = world.client(world.nour), world.client(world.tarek)
    assert signed_in(current)
    Session.objects.filter(pk=old.session.session_key).update(expire_date=timezone.now() - timedelta(seconds=1))
    clean_up()
    assert Session.objects.count() == 1
    assert signed_in(current)
    assert not signed_in(old)


def test_failed_sign_ins_are_kept_as_long_as_they_count(world: World) -> None:
    try_password(world.client(), "nour@example.org", "wrong")
    now = timezone.now()
    cleaning.clean_up(now + timedelta(hours=2))
    assert (FailedSignIn.objects.count(), AccessAttempt.objects.count()) == (1, 1)
    cleaning.clean_up(now + timedelta(days=31))
    assert (FailedSignIn.objects.count(), AccessAttempt.objects.count()) == (0, 0)


def test_the_beat_asks_for_it() -> None:
    assert "people.clean_up" in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert "people.send_mail" in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
