"""Django's admin: a superuser raises people, plain staff cannot, and nothing is deleted."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db.models import Model
from django.urls import reverse
from django.utils import timezone

from jobs.models import Event
from jobs.views.model_admin import ReadOnlyInline, RecordingModelAdmin
from people.models import CohortMember, SignInLink, Team, TeamMember, User
from people.services import links
from tests.personas import PASSWORD, World, make_user

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


def test_links_of_somebody_who_is_switched_off_open_nothing(world: World) -> None:
    """As those of who lost a role: else a link made before would let a new admin of the team in."""
    at, client = timezone.now(), world.client()
    _made, to_team = links.invite(world.team, world.team_admin, at, team_role="admin", email="new@example.org")
    _made, to_cohort = links.invite(world.team, world.manager, at, cohort=world.egypt)
    _link, of_nour = links.make_sign_in_link(world.nour, world.egypt, world.team_admin, at)
    admin_page = reverse("admin:people_user_change", args=[world.team_admin.pk])
    form = {key: value for key, value in _form(world.team_admin).items() if key != "is_active"}
    assert client.get(reverse("people:invitation", args=[to_team])).status_code == 200
    assert world.client(world.site_admin).post(admin_page, form).status_code == 302
    assert client.get(reverse("people:invitation", args=[to_team])).status_code == 410
    assert client.post(reverse("people:link", args=[of_nour])).status_code == 410
    assert client.get(reverse("people:invitation", args=[to_cohort])).status_code == 200, "another's link"
    page = world.client(world.site_admin).get(reverse("people:team", args=[world.team.slug])).content.decode()
    assert "Revoked" in page, "the list of invitations says so"


def test_links_of_a_former_site_admin_end_where_they_have_no_other_role(world: World) -> None:
    at, former = timezone.now(), make_user("Sana", is_staff=True)
    TeamMember.objects.create(team=world.team, user=former, role=TeamMember.Role.ADMIN)
    own, _token = links.invite(world.team, former, at, team_role="member")
    foreign, _token = links.invite(world.other_team, former, at, cohort=world.other_cohort)
    page = reverse("admin:people_user_change", args=[former.pk])
    assert world.client(world.site_admin).post(page, _form(former)).status_code == 302
    own.refresh_from_db()
    foreign.refresh_from_db()
    assert own.revoked_at is None and foreign.revoked_at is not None


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


# Every look and every change leaves an event

REGISTERED = sorted(admin.site._registry.items(), key=lambda pair: pair[0]._meta.label)


def events(verb: str) -> list[tuple[Any, str, str]]:
    found = Event.objects.filter(verb=verb).exclude(target="").order_by("pk")
    return list(found.values_list("actor", "target", "address"))


def test_looks_and_changes_say_who_from_where_and_what(world: World) -> None:
    client, admins_pk, local_address = world.client(world.site_admin), world.site_admin.pk, "127.0.0.1"
    password = reverse("admin:auth_user_password_change", args=[world.nour.pk])
    new = {"usable_password": "true", "password1": "quite another word", "password2": "quite another word"}
    assert client.post(password, new).status_code == 302
    nour = f"user:{world.nour.pk}"
    assert events("admin.changed") == [(admins_pk, nour, local_address)]
    assert Event.objects.get(verb="admin.changed").data == {"fields": ["password"]}
    assert client.get(reverse("admin:annotation_annotation_changelist"), {"live__exact": "1"}).status_code == 200
    assert client.get(reverse("admin:people_user_change", args=[world.tarek.pk])).status_code == 200
    assert client.get(reverse("admin:people_user_history", args=[world.tarek.pk])).status_code == 200
    tarek = f"user:{world.tarek.pk}"
    assert events("admin.looked") == [
        (admins_pk, "annotation", local_address), (admins_pk, tarek, local_address), (admins_pk, tarek, local_address),
    ]  # fmt: skip
    assert [event.data for event in Event.objects.filter(verb="admin.looked").order_by("pk")] == [
        {"filter": ["live__exact"]}, {}, {"filter": ["history"]},
    ]  # fmt: skip


def test_what_is_typed_into_a_filter_or_a_form_is_not_in_the_event(world: World) -> None:
    client = world.client(world.site_admin)
    client.get(reverse("admin:people_user_changelist"), {"q": "nour@example.org"})
    form = _form(world.nour, name="Nour Abdel")
    assert client.post(reverse("admin:people_user_change", args=[world.nour.pk]), form).status_code == 302
    [changed] = Event.objects.filter(verb="admin.changed")
    assert changed.data == {"fields": ["Name"]}
    every = str(list(Event.objects.values()))
    assert "nour@example.org" not in every
    assert "Nour Abdel" not in every


def test_an_added_person_and_an_own_password_leave_events(world: World) -> None:
    client = world.client(world.site_admin)
    new = {"email": "ada@example.org", "name": "Ada", "usable_password": "false"}
    client.post(reverse("admin:people_user_add"), new)
    ada = User.objects.get(email="ada@example.org")
    assert events("admin.added") == [(world.site_admin.pk, f"user:{ada.pk}", "127.0.0.1")]
    own = {"old_password": PASSWORD, "new_password1": "quite another word", "new_password2": "quite another word"}
    assert client.post(reverse("admin:password_change"), own).status_code == 302
    assert events("admin.changed") == [(world.site_admin.pk, f"user:{world.site_admin.pk}", "127.0.0.1")]


@pytest.mark.parametrize("kind", ["team", "cohort"])
def test_nobody_adds_themselves_to_a_team_or_a_cohort_in_the_admin(world: World, kind: str) -> None:
    client = world.client(world.site_admin)
    parent = world.team if kind == "team" else world.egypt
    prefix = "members" if kind == "team" else "managers"
    url = reverse(f"admin:people_{kind}_change", args=[parent.pk])
    rows = {f"{prefix}-TOTAL_FORMS": "1", f"{prefix}-INITIAL_FORMS": "0", f"{prefix}-0-user": str(world.site_admin.pk)}
    named = {"name": "Nile Lab", "slug": "nile-lab", f"{prefix}-0-role": "admin", f"{prefix}-0-{kind}": str(parent.pk)}
    assert client.post(url, rows | named).status_code == 403
    assert not TeamMember.objects.filter(user=world.site_admin).exists()
    assert not world.site_admin.managed_cohorts.exists()


def test_a_membership_is_not_made_in_the_admin(world: World) -> None:
    client = world.client(world.site_admin)
    new = {"cohort": str(world.egypt.pk), "user": str(world.site_admin.pk)}
    assert client.post(reverse("admin:people_cohortmember_add"), new).status_code == 403
    member = CohortMember.objects.get(user=world.nour)
    url = reverse("admin:people_cohortmember_change", args=[member.pk])
    assert client.get(url).status_code == 200
    assert client.post(url, new).status_code == 403


@pytest.mark.parametrize("model", [model for model, _admin in REGISTERED], ids=lambda model: model._meta.label)
def test_every_page_of_the_admin_records_and_deletes_nothing(world: World, rf: Any, model: type[Model]) -> None:
    page = admin.site._registry[model]
    assert isinstance(page, RecordingModelAdmin), "derive it from jobs.views.model_admin.RecordingModelAdmin"
    assert all(issubclass(inline, ReadOnlyInline) for inline in page.inlines), "pages change these, not inlines"
    request = rf.get("/")
    request.user = world.site_admin
    assert not page.has_delete_permission(request)
    opts = model._meta
    url = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
    assert world.client(world.site_admin).get(url).status_code == 200
    assert events("admin.looked") == [(world.site_admin.pk, opts.model_name, "127.0.0.1")]
