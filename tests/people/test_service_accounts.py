"""Service accounts: programs of a team with tokens of their own, which nobody can sign in as."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.backends import ModelBackend
from django.core import mail
from django.db import IntegrityError, transaction
from django.http import Http404
from django.test import Client
from django.utils import timezone

from benchmarks.access import benchmark_for
from benchmarks.models import Role
from benchmarks.services.roles import set_role
from people.forms.teams import TeamPersonForm
from people.models import ApiToken, Invitation, OutMail, TeamMember, User
from people.services import links, memberships, service_accounts, teams, tokens
from people.services.token_notices import warn_expiring
from tests.personas import World

pytestmark = pytest.mark.django_db
PAGE = "/teams/nile-lab/service-accounts"
BENCHMARK = "/api/v1/benchmarks/sea-and-river/"


@pytest.fixture
def account(world: World) -> User:
    return service_accounts.create_service_account(world.team, "Nightly import", world.team_admin)


def text_of(reply: Any) -> str:
    return str(reply.content.decode())


def bearer(text: str) -> Client:
    return Client(headers={"authorization": f"Bearer {text}"})


def test_an_admin_creates_one_gives_it_a_role_and_a_token_and_it_works(world: World) -> None:
    client = world.client(world.team_admin)
    assert "No service accounts yet" in text_of(client.get(PAGE))
    created = client.post(PAGE, {"name": "Nightly import"})
    account = User.objects.get(sign_in="service")
    assert created.url == f"{PAGE}/{account.pk}" and (account.email, account.is_active) == ("", True)
    page = text_of(client.get(created.url))
    assert "No roles yet" in page and "publish releases" not in page, "no scope for people and releases is offered"
    reply = client.post(created.url, {"name": "Night", "days": "30", "scopes": ["write"]}, follow=True)
    text = reply.context["fresh"]
    assert text_of(reply).count(text) == 1 and text not in text_of(client.get(created.url)), "shown once"
    assert bearer(text).get(BENCHMARK).status_code == 404, "it has no role yet"
    roles = f"/b/{world.benchmark.slug}/roles/"
    assert "Nightly import (Service account)" in text_of(world.client(world.owner).get(roles))
    world.client(world.owner).post(roles, {"user": account.pk, "name": "researcher"})
    assert bearer(text).get(BENCHMARK).status_code == 200
    assert "Nightly import" not in text_of(client.get("/teams/nile-lab/")).split("Members</h2>")[1]
    assert "1 active token" in text_of(client.get(PAGE))
    other = client.post(created.url, {"name": "X", "days": "30", "scopes": ["admin"]})
    assert other.status_code == 400 and ApiToken.objects.count() == 1


def test_a_token_outlives_the_membership_of_whoever_made_it(world: World, account: User) -> None:
    set_role(world.benchmark, account, Role.Name.RESEARCHER, world.owner)
    _token, text = tokens.create_token(account, "Night", timezone.now(), actor=world.team_admin)
    User.objects.filter(pk=world.team_admin.pk).update(is_active=False)
    assert bearer(text).get(BENCHMARK).status_code == 200


def test_a_token_is_revoked_and_the_account_deleted(world: World, account: User) -> None:
    set_role(world.benchmark, account, Role.Name.RESEARCHER, world.owner)
    client, page = world.client(world.team_admin), f"{PAGE}/{account.pk}"
    (first, one), (_second, two) = (tokens.create_token(account, name, timezone.now()) for name in "ab")
    client.post(f"{page}/tokens/{first.pk}/revoke")
    assert [bearer(text).get(BENCHMARK).status_code for text in (one, two)] == [401, 200]
    waiting = [links.invite(world.team, world.team_admin, timezone.now(), team_role="member")[0]]
    client.post(f"{page}/delete")
    assert bearer(two).get(BENCHMARK).status_code == 401 and client.get(page).status_code == 404
    account.refresh_from_db()
    assert not account.is_active and not account.benchmark_roles.exists() and not account.team_memberships.exists()
    open_invitations = Invitation.objects.filter(revoked_at=None, pk__in=[row.pk for row in waiting])
    assert open_invitations.exists(), "an invitation without an e-mail is not one to it"


def test_the_only_owner_of_a_benchmark_is_not_deleted(world: World, account: User) -> None:
    set_role(world.benchmark, account, Role.Name.OWNER, world.owner)
    Role.objects.filter(benchmark=world.benchmark, user=world.owner).delete()
    reply = world.client(world.team_admin).post(f"{PAGE}/{account.pk}/delete", follow=True)
    assert f"is the only owner of {world.benchmark.name}" in text_of(reply), text_of(reply)
    assert User.objects.get(pk=account.pk).is_active


def test_nobody_but_admins_of_the_team_sees_or_changes_one(world: World, account: User) -> None:
    token, _text = tokens.create_token(account, "Night", timezone.now())
    page = f"{PAGE}/{account.pk}"
    posts = (PAGE, page, f"{page}/delete", f"{page}/tokens/{token.pk}/revoke")
    for user in (world.mara, world.owner, world.manager, world.reviewer, world.nour, world.rival, world.stranger):
        client = world.client(user)
        assert [client.get(path).status_code for path in (PAGE, page)] == [404, 404], user
        assert [client.post(path, {"name": "x", "days": "9"}).status_code for path in posts] == [404] * 4, user
    assert world.client().get(page).status_code == 302
    assert User.objects.filter(sign_in="service", is_active=True).count() == 1
    assert ApiToken.objects.get().revoked_at is None
    assert world.client(world.site_admin).get(page).status_code == 200


def test_it_cannot_sign_in_on_pages_by_any_way(world: World, account: User) -> None:
    account.set_password("a-good-password-42")
    account.save()
    for name in ("", "Nightly import", str(account.pk)):
        assert ModelBackend().authenticate(None, name, "a-good-password-42") is None
    service_accounts.create_service_account(world.team, "Another", world.team_admin)
    reply = Client().post("/sign-in", {"username": "", "password": "a-good-password-42"})
    assert reply.status_code == 200 and "_auth_user_id" not in reply.wsgi_request.session
    Client().post("/password/forgotten", {"email": ""})
    assert not OutMail.objects.exists() and not mail.outbox
    _token, text = tokens.create_token(account, "Night", timezone.now())
    assert bearer(text).get("/teams/").status_code == 302, "a token opens no page"


@pytest.mark.parametrize("change", [{"email": "a@example.org"}, {"is_staff": True}, {"sign_in": "account"}])
def test_the_database_keeps_it_without_e_mail_and_rights(world: World, account: User, change: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(pk=account.pk).update(**change)


def test_it_decides_on_no_answers_and_manages_nobody(world: World, account: User) -> None:
    with pytest.raises(teams.PersonNeeded):
        set_role(world.benchmark, account, Role.Name.REVIEWER, world.owner)
    owner = world.client(world.owner)
    reply = owner.post(f"/b/{world.benchmark.slug}/roles/", {"user": account.pk, "name": "reviewer"})
    assert "A service account cannot review" in text_of(reply)
    role = set_role(world.benchmark, account, Role.Name.RESEARCHER, world.owner)
    reply = owner.post(f"/b/{world.benchmark.slug}/roles/{role.pk}/", {"name": "reviewer"}, follow=True)
    assert "A service account cannot review" in text_of(reply)
    _token, text = tokens.create_token(account, "Night", timezone.now(), scopes=["write", "export"])
    content = {"annotation": 1, "decision": "accept"}
    assert bearer(text).post(f"{BENCHMARK}reviews/", content, "application/json").status_code == 404
    member = TeamMember.objects.get(user=account)
    world.client(world.team_admin).post(f"/teams/nile-lab/members/{account.pk}/role", {"role": "admin"})
    member.refresh_from_db()
    assert member.role == "member"
    form = TeamPersonForm(people=memberships.eligible_managers(world.egypt), team=world.team)
    assert account not in form.fields["user"].queryset  # type: ignore[attr-defined]


def test_the_admins_of_the_team_are_told_before_its_token_expires(world: World, account: User, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    at = timezone.now()
    tokens.create_token(account, "Night", at, days=30)
    assert [warn_expiring(at + timedelta(days=days)) for days in (22, 24, 25)] == [0, 1, 0]
    letters = OutMail.objects.filter(kind="notice")
    admins = TeamMember.objects.filter(team=world.team, role="admin").values_list("user__email", flat=True)
    assert sorted(letters.values_list("to", flat=True)) == sorted(admins)
    assert {letter.subject.split("”")[0] for letter in letters} == {"A token of “Nightly import"}


def test_a_program_that_may_write_a_benchmark_still_decides_on_no_answer(world: World, account: User) -> None:
    set_role(world.benchmark, account, Role.Name.RESEARCHER, world.owner)
    slug = world.benchmark.slug
    assert benchmark_for(account, slug, can="work_on") == world.benchmark
    with pytest.raises(Http404):
        benchmark_for(account, slug, can="review")
