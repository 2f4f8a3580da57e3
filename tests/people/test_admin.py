"""Django's admin: a superuser raises people, plain staff cannot, and nothing is deleted."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from people.models import SignInLink, Team, User
from tests.personas import World, make_user

LISTS = ("user", "team", "cohort", "cohortmember", "consentversion", "consent", "invitation", "signinlink", "rater")


def _form(user: User, **changes: Any) -> dict[str, Any]:
    return {"email": user.email, "name": user.name, "is_active": "on"} | changes


@pytest.fixture
def plain_staff(world: World) -> User:
    user = make_user("Pia", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="people"))
    return user


@pytest.mark.parametrize("name", LISTS)
def test_every_list_opens_for_a_superuser_and_for_nobody_outside(world: World, name: str) -> None:
    url = reverse(f"admin:people_{name}_changelist")
    assert world.client(world.site_admin).get(url).status_code == 200
    for user in (world.team_admin, world.nour, None):
        assert world.client(user).get(url).status_code == 302


def test_the_superuser_can_add_and_raise_a_person(world: World) -> None:
    client = world.client(world.site_admin)
    new = {"email": "ada@example.org", "name": "Ada", "usable_password": "false"}
    assert client.post(reverse("admin:people_user_add"), new).status_code == 302
    ada = User.objects.get(email="ada@example.org")
    url = reverse("admin:people_user_change", args=[ada.pk])
    assert client.post(url, _form(ada, is_staff="on")).status_code == 302
    ada.refresh_from_db()
    assert ada.is_staff


def test_plain_staff_cannot_raise_itself_or_anybody(world: World, plain_staff: User) -> None:
    client = world.client(plain_staff)
    raising = {"is_staff": "on", "is_superuser": "on"}
    url = reverse("admin:people_user_change", args=[world.nour.pk])
    assert client.post(url, _form(world.nour, name="Nour A.", **raising)).status_code == 302
    world.nour.refresh_from_db()
    assert (world.nour.name, world.nour.is_staff, world.nour.is_superuser) == ("Nour A.", False, False)
    own = reverse("admin:people_user_change", args=[plain_staff.pk])
    assert client.post(own, _form(plain_staff, **raising)).status_code == 403
    password = reverse("admin:auth_user_password_change", args=[world.site_admin.pk])
    taken = {"usable_password": "true", "password1": "quite another word", "password2": "quite another word"}
    assert client.post(password, taken).status_code == 403


def test_nothing_is_deleted_and_no_hash_is_shown(world: World) -> None:
    client = world.client(world.site_admin)
    url = reverse("admin:people_team_delete", args=[world.team.pk])
    assert client.post(url, {"post": "yes"}).status_code == 403
    assert Team.objects.filter(pk=world.team.pk).exists()
    link = SignInLink.objects.create(
        user=world.nour, created_by=world.manager, token_hash="a" * 64, expires_at=world.consent_version.created_at
    )
    page = client.get(reverse("admin:people_signinlink_change", args=[link.pk]))
    assert page.status_code == 200
    assert "a" * 64 not in page.content.decode()
