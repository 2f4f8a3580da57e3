"""Ended sessions, old failures and old letters go, and the beat asks for it."""

from datetime import timedelta

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from jobs.models import Job
from people.models import FailedSignIn, Invitation
from people.services import cleaning, links
from people.services.inviting import invite_import
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


def test_addresses_of_people_who_never_joined_are_deleted_a_month_after_their_link_ended(world: World) -> None:
    now = timezone.now()
    _unused, revoked, used = (
        links.invite(world.team, world.manager, now, cohort=world.egypt, email=f"{name}@example.org", note=name)[0]
        for name in ("salma", "rami", "nour")
    )
    links.revoke(revoked, world.manager, now)
    links.accept(used, world.nour, now)

    def known() -> list[tuple[str, str]]:
        return list(Invitation.objects.order_by("pk").values_list("email", "note"))

    before = known()
    cleaning.clean_up(now + timedelta(days=29))
    assert known() == before
    cleaning.clean_up(now + timedelta(days=31))
    assert known() == [before[0], ("", ""), before[2]], "of the one that was revoked now"
    cleaning.clean_up(now + timedelta(days=45))
    assert known() == [("", ""), ("", ""), before[2]]
    page = world.client(world.manager).get(reverse("people:cohort_invite", args=[world.egypt.pk])).content.decode()
    assert "nour" in page and "salma" not in page


def test_a_list_of_people_that_failed_is_deleted_when_it_can_go_on_no_longer(world: World) -> None:
    """As uploads are; one that waits, or failed yesterday, stays."""
    lists = [invite_import.start(world.egypt, world.manager, "amina@example.org", "http://testserver/") for _ in "abc"]
    now = timezone.now()
    for job, days in zip(lists[1:], (6, 8), strict=True):
        Job.objects.filter(pk=job.pk).update(state="failed", finished_at=now - timedelta(days=days))
    cleaning.clean_up(now)
    texts = [Job.objects.get(pk=job.pk).params["text"] for job in lists]
    assert texts == ["amina@example.org", "amina@example.org", ""]
    assert Job.objects.get(pk=lists[2].pk).params["cohort"] == world.egypt.pk


def test_the_beat_asks_for_it() -> None:
    assert "people.clean_up" in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert "people.send_mail" in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
