"""Who may open a team, a cohort, its people, links, messages and texts: everybody is asked, and the others get 404."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from jobs.models import Event
from people import access
from people.models import Cohort, CohortManager, CohortMember, InterfaceLanguage, LanguageSpeaker, TeamMember, User
from people.services import links, memberships, messages, tokens
from people.services.service_accounts import create_service_account
from tests.permissions import allowed, is_allowed
from tests.personas import World, make_cohort

TEAM = {"reviewer", "mara", "owner", "team_admin"}
ADMINS = {"team_admin", "site_admin"}


def switch_off(user: User) -> User:
    user.is_active = False
    user.save()
    return user


def end(cohort: Cohort, user: User) -> None:
    CohortMember.objects.filter(cohort=cohort, user=user).update(left_at=timezone.now())


def test_a_team_is_for_its_members_and_its_settings_for_its_admins(world: World) -> None:
    slug = world.team.slug
    assert allowed(world, lambda user: access.team_for(user, slug)) == TEAM | {"site_admin"}
    assert allowed(world, lambda user: access.team_for(user, slug, admin=True)) == ADMINS
    assert allowed(world, lambda user: access.team_for(user, "no-lab")) == set()
    assert access.team_for(world.mara, slug) == world.team
    assert allowed(world, lambda user: access.is_team_admin(user, world.team)) == {"team_admin"}
    assert allowed(world, lambda user: access.may_name_managers(user, world.team), visitors=False) == ADMINS
    assert {*access.visible_teams(world.mara)} == {world.team} and not access.visible_teams(world.site_admin)


def test_an_admin_who_was_demoted_or_switched_off_is_none(world: World) -> None:
    slug = world.team.slug
    for user in (world.team_admin, world.site_admin):
        switched = User.objects.get(pk=switch_off(user).pk)
        asks: list[Callable[[Any], Any]] = [
            lambda user: access.team_for(user, slug),
            lambda user: access.team_for(user, slug, admin=True),
            lambda user: access.cohort_for(user, world.egypt.pk),
            lambda user: access.is_team_admin(user, world.team),
            lambda user: access.may_manage(user, world.egypt),
            lambda user: access.is_site_admin_access(user, "team:1"),
        ]
        assert not any(is_allowed(ask, switched) for ask in asks)
    other = User.objects.create_user("second@example.org", "Second", "x")
    member = TeamMember.objects.create(team=world.team, user=other, role=TeamMember.Role.ADMIN)
    assert access.is_team_admin(other, world.team) and not access.is_team_admin(other, world.other_team)
    member.role = TeamMember.Role.MEMBER
    member.save()
    assert not access.is_team_admin(other, world.team)
    assert is_allowed(lambda user: access.team_for(user, slug), other)
    assert not is_allowed(lambda user: access.team_for(user, slug, admin=True), other)


def test_a_look_of_a_site_admin_leaves_an_event_and_that_of_a_member_none(world: World) -> None:
    access.team_for(world.mara, world.team.slug)
    access.cohort_for(world.manager, world.egypt.pk)
    assert not Event.objects.filter(verb="admin.looked").exists()
    access.team_for(world.site_admin, world.team.slug)
    access.cohort_for(world.site_admin, world.egypt.pk)
    events = Event.objects.filter(verb="admin.looked")
    assert [(event.actor, event.scope) for event in events] == [(world.site_admin, f"team:{world.team.pk}")] * 2


def test_a_cohort_is_for_its_managers_and_team_and_is_changed_by_managers_and_admins(world: World) -> None:
    egypt, brazil = world.egypt.pk, world.brazil.pk
    assert allowed(world, lambda user: access.cohort_for(user, egypt)) == TEAM | {"manager", "site_admin"}
    assert allowed(world, lambda user: access.cohort_for(user, egypt, manage=True)) == ADMINS | {"manager"}
    assert allowed(world, lambda user: access.cohort_for(user, brazil, manage=True)) == ADMINS
    assert allowed(world, lambda user: access.cohort_for(user, 0)) == set()
    assert allowed(world, lambda user: access.cohort_to_staff(user, egypt)) == ADMINS
    assert allowed(world, lambda user: access.may_manage(user, world.egypt)) == {"manager", "team_admin"}
    assert allowed(world, lambda user: access.may_manage(user, world.brazil)) == {"team_admin"}
    assert [*access.visible_cohorts(world.manager)] == [world.egypt] and not access.visible_cohorts(world.team_admin)
    switched = switch_off(world.manager)
    assert not is_allowed(lambda user: access.cohort_for(user, egypt), switched)
    assert not access.may_manage(switched, world.egypt)


def test_people_are_invited_by_admins_and_by_managers_of_a_cohort_of_the_team(world: World) -> None:
    slug = world.team.slug
    assert allowed(world, lambda user: access.team_for_inviting(user, slug)) == ADMINS | {"manager"}
    other = world.other_team.slug
    assert allowed(world, lambda user: access.team_for_inviting(user, other)) == {"rival", "site_admin"}
    assert not is_allowed(lambda user: access.team_for_inviting(user, slug), switch_off(world.manager))


def test_a_membership_is_for_who_manages_its_cohort(world: World) -> None:
    nour, bia = world.nour.cohort_memberships.get().pk, world.bia.cohort_memberships.get().pk
    assert allowed(world, lambda user: access.membership_for(user, nour)) == ADMINS | {"manager"}
    assert allowed(world, lambda user: access.membership_for(user, bia)) == ADMINS
    assert access.membership_for(world.manager, nour).user == world.nour


def test_a_token_is_for_its_person_alone(world: World) -> None:
    token, _text = tokens.create_token(world.mara, "Notebook", timezone.now())
    other, _text = tokens.create_token(world.mara, "Other", timezone.now())
    assert [access.token_for(world.mara, row.pk) for row in (token, other)] == [token, other]
    assert allowed(world, lambda user: access.token_for(user, token.pk), visitors=False) == {"mara"}


def test_a_service_account_is_for_the_admins_of_its_team(world: World) -> None:
    slug, account = world.team.slug, create_service_account(world.team, "Pipeline", world.team_admin)
    assert allowed(world, lambda user: access.service_account_for(user, slug, account.pk)) == ADMINS
    assert [*access.service_accounts_of(world.team)] == [account] and not access.service_accounts_of(world.other_team)
    other = world.other_team.slug
    assert allowed(world, lambda user: access.service_account_for(user, other, account.pk)) == set()
    person = world.mara.pk
    assert allowed(world, lambda user: access.service_account_for(user, slug, person)) == set()
    switch_off(account)
    assert not access.service_accounts_of(world.team)


def test_a_message_is_changed_by_managers_and_read_by_members_of_now(world: World) -> None:
    message = messages.send(world.egypt, world.manager, "Two days are left.", timezone.now())
    other = messages.send(world.egypt, world.manager, "One day is left.", timezone.now())
    assert [access.message_for(world.manager, row.pk) for row in (message, other)] == [message, other]
    assert [access.received_message(world.nour, row.pk) for row in (message, other)] == [message, other]
    assert allowed(world, lambda user: access.message_for(user, message.pk)) == ADMINS | {"manager"}
    assert allowed(world, lambda user: access.received_message(user, message.pk)) == {"nour", "tarek"}
    end(world.egypt, world.nour)
    assert allowed(world, lambda user: access.received_message(user, message.pk)) == {"tarek"}
    switched = switch_off(world.tarek)
    assert not is_allowed(lambda user: access.received_message(user, message.pk), switched)
    User.objects.filter(pk=switched.pk).update(is_active=True)
    world.tarek.refresh_from_db()
    assert allowed(world, lambda user: access.received_message(user, message.pk)) == {"tarek"}
    messages.withdraw(message, world.manager, timezone.now())
    assert allowed(world, lambda user: access.received_message(user, message.pk)) == set()


def test_an_invitation_is_for_those_who_could_have_made_it(world: World) -> None:
    at = timezone.now()
    to_cohort, _token = links.invite(world.team, world.team_admin, at, cohort=world.egypt)
    to_brazil, _token = links.invite(world.team, world.team_admin, at, cohort=world.brazil)
    to_team, _token = links.invite(world.team, world.team_admin, at, team_role="member")
    links.invite(world.other_team, world.rival, at, team_role="member")
    assert allowed(world, lambda user: access.invitation_for(user, to_cohort.pk)) == ADMINS | {"manager"}
    assert allowed(world, lambda user: access.invitation_for(user, to_brazil.pk)) == ADMINS
    assert allowed(world, lambda user: access.invitation_for(user, to_team.pk)) == ADMINS
    for user in (world.team_admin, world.site_admin):
        assert {*access.invitations_of(user, world.team)} == {to_cohort, to_brazil, to_team}
    assert {*access.invitations_of(world.manager, world.team)} == {to_cohort}
    assert not access.invitations_of(world.mara, world.team)


def test_an_invitation_that_also_gives_a_role_in_the_team_is_for_its_admins_alone(world: World) -> None:
    invitation, _token = links.invite(world.team, world.team_admin, timezone.now(), cohort=world.egypt)
    invitation.team_role = "admin"  # no page makes such a row
    invitation.save()
    assert allowed(world, lambda user: access.invitation_for(user, invitation.pk)) == ADMINS
    assert not access.invitations_of(world.manager, world.team)


def test_a_consent_text_is_for_those_whom_it_concerns_now_or_before(world: World) -> None:
    everybody = {"nour", "tarek", "bia", "caio"} | TEAM
    assert allowed(world, lambda user: access.team_for_consent(user, world.team.pk)) == everybody
    end(world.egypt, world.nour)
    CohortMember.objects.filter(user=world.tarek).delete()  # the consent stays
    TeamMember.objects.filter(user=world.mara).delete()
    make_cohort(world.team, "Peru", world.stranger)  # has not agreed to anything yet
    now = allowed(world, lambda user: access.team_for_consent(user, world.team.pk))
    assert now == everybody - {"mara"} | {"stranger"}


def test_texts_of_a_language_are_for_its_speakers_and_confirmed_by_them_alone(world: World) -> None:
    at, codes = timezone.now(), [code for code, _name in settings.LANGUAGES if code != "en"]
    other = next(code for code in codes if code != "ar")
    assert allowed(world, lambda user: access.language_for(user, "ar")) == {"site_admin"}
    arabic = InterfaceLanguage.objects.get(code="ar")
    LanguageSpeaker.objects.create(language=arabic, user=world.nour, added_by=world.site_admin, added_at=at)
    assert allowed(world, lambda user: access.language_for(user, "ar")) == {"site_admin", "nour"}
    assert allowed(world, lambda user: access.language_for(user, "ar", admin=True)) == {"site_admin"}
    assert allowed(world, lambda user: access.language_for(user, "ar", speaks=True)) == {"nour"}
    assert allowed(world, lambda user: access.may_confirm_texts(user, arabic)) == {"nour"}
    assert allowed(world, lambda user: access.language_for(user, other)) == {"site_admin"}
    assert allowed(world, lambda user: access.language_for(user, "en")) == set()
    assert access.visible_languages(world.site_admin) == codes and access.visible_languages(world.nour) == ["ar"]
    switched = switch_off(world.nour)
    assert access.visible_languages(switched) == [] and not access.may_confirm_texts(switched, arabic)


# Sign-in links and invitations


def test_a_link_is_open_until_its_moment_and_says_first_that_it_was_used(world: World) -> None:
    at = timezone.now()
    link, _token = links.invite(world.team, world.manager, at, cohort=world.egypt)
    assert link.expires_at == at + timedelta(days=14)
    last = link.expires_at - timedelta(microseconds=1)
    assert (links.link_state(link, last), links.link_state(link, link.expires_at)) == ("open", "expired")
    link.revoked_at = at
    assert links.link_state(link, link.expires_at) == "revoked"
    link.used_at = at
    assert links.link_state(link, link.expires_at) == "used"


def reason_of(token: str, find: Callable[..., Any], at: Any) -> str:
    try:
        find(token, at)
    except links.LinkRefused as refused:
        return refused.reason
    return "open"


def test_an_invitation_that_expired_is_not_consumed(world: World) -> None:
    at = timezone.now()
    link, token = links.invite(world.team, world.manager, at, cohort=world.egypt)
    assert reason_of(token, links.find_invitation, at) == "open"
    assert reason_of(token, links.find_invitation, link.expires_at) == "expired"
    assert reason_of(token + "x", links.find_invitation, at) == "unknown"
    with pytest.raises(links.LinkRefused, match="expired"):
        links.accept(link, world.stranger, link.expires_at)
    assert not world.stranger.cohort_memberships.exists()
    assert links.revoke(link, world.manager, at) and not links.revoke(link, world.manager, at)
    with pytest.raises(links.LinkRefused, match="revoked"):
        links.accept(link, world.stranger, at)


@pytest.mark.parametrize(
    "wrong", [{}, {"cohort": "egypt", "team_role": "member"}, {"cohort": "other_cohort"}], ids=["none", "both", "other"]
)
def test_an_invitation_is_to_one_cohort_of_the_team_or_to_the_team(world: World, wrong: dict[str, str]) -> None:
    to: dict[str, Any] = {**wrong, **({"cohort": getattr(world, wrong["cohort"])} if "cohort" in wrong else {})}
    with pytest.raises(ValueError, match="one cohort of the team"):
        links.invite(world.team, world.manager, timezone.now(), **to)


def test_a_sign_in_link_is_for_members_who_rate_for_this_team_alone(world: World) -> None:
    def by_link(user: Any) -> bool:
        return links.may_sign_in_by_link(user, world.team)

    assert allowed(world, by_link, visitors=False) == {"nour", "tarek", "bia", "caio"}
    end(world.egypt, world.nour)
    make_cohort(world.other_team, "Sweden", world.tarek)
    end(world.other_team.cohorts.get(label="Sweden"), world.tarek)
    CohortManager.objects.create(cohort=world.brazil, user=world.bia)
    User.objects.filter(pk=world.caio.pk).update(is_staff=True)
    world.caio.refresh_from_db()
    assert allowed(world, by_link, visitors=False) == set()


def test_a_sign_in_link_ends_with_its_day_its_password_and_its_membership(world: World) -> None:
    at = timezone.now()
    link, token = links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
    assert link.expires_at == at + timedelta(hours=24)
    assert reason_of(token, links.find_sign_in_link, at) == "open"
    assert reason_of(token, links.find_sign_in_link, link.expires_at) == "expired"
    User.objects.filter(pk=world.nour.pk).update(credentials_since=link.created_at)
    assert reason_of(token, links.find_sign_in_link, at) == "open"  # not made before the password
    User.objects.filter(pk=world.nour.pk).update(credentials_since=link.created_at + timedelta(microseconds=1))
    assert reason_of(token, links.find_sign_in_link, at) == "revoked"
    User.objects.filter(pk=world.nour.pk).update(credentials_since=None)
    end(world.egypt, world.nour)
    assert reason_of(token, links.find_sign_in_link, at) == "not_for_links"
    for user, cohort in ((world.nour, world.egypt), (world.tarek, world.brazil), (world.mara, world.egypt)):
        with pytest.raises(links.LinkRefused, match="not_for_links"):
            links.make_sign_in_link(user, cohort, world.manager, at)


# Tokens


@pytest.mark.parametrize(("days", "fine"), [(0, False), (1, True), (366, True), (367, False)])
def test_a_token_is_for_one_day_to_a_year(world: World, days: int, fine: bool) -> None:
    at = timezone.now()
    if not fine:
        with pytest.raises(ValueError, match="1 to 366 days"):
            tokens.create_token(world.mara, "x", at, days)
        return
    token, _text = tokens.create_token(world.mara, "x", at, days)
    assert token.expires_at == at + timedelta(days=days)


def test_a_token_ends_at_its_moment_and_with_each_new_password(world: World) -> None:
    at = timezone.now()
    token, text = tokens.create_token(world.mara, "x", at, 1)

    def lives(moment: Any) -> bool:
        known = tokens.find_token(text, moment)
        listed = [*tokens.active_tokens(world.mara, moment)] == [token]
        assert (known == token) == listed == tokens.valid_tokens(moment).filter(pk=token.pk).exists()
        return listed

    last = token.expires_at - timedelta(microseconds=1)
    assert lives(last) and not lives(token.expires_at)
    assert [*tokens.expired_tokens(world.mara, token.expires_at)] == [token]
    assert not tokens.expired_tokens(world.mara, last)
    User.objects.filter(pk=world.mara.pk).update(credentials_since=token.created_at)
    assert lives(at)
    User.objects.filter(pk=world.mara.pk).update(credentials_since=token.created_at + timedelta(microseconds=1))
    assert not lives(at)
    User.objects.filter(pk=world.mara.pk).update(credentials_since=None)
    assert tokens.revoke(token, world.mara, at) and not tokens.revoke(token, world.mara, at)
    assert not lives(at) and not tokens.expired_tokens(world.mara, token.expires_at)


@pytest.mark.parametrize(
    ("scope", "allows"),
    [("read", "read"), ("export", "read export"), ("write", "read write"), ("admin", "read write admin"),
     ("answer", "answer")],
)  # fmt: skip
def test_a_scope_allows_itself_and_what_it_implies_and_nothing_else(world: World, scope: str, allows: str) -> None:
    token, _text = tokens.create_token(world.mara, "x", timezone.now(), scopes=[scope])
    assert {name for name in tokens.Scope.values if tokens.is_allowed(token, name)} == {*allows.split()}
    for wrong in ([], [scope, "everything"]):
        with pytest.raises(ValueError, match="scopes must be among"):
            tokens.create_token(world.mara, "x", timezone.now(), scopes=wrong)


def test_twenty_tokens_are_in_force_at_most_and_ended_ones_do_not_count(world: World) -> None:
    at = timezone.now()
    created = [tokens.create_token(world.mara, f"{n}", at)[0] for n in range(20)]
    with pytest.raises(tokens.TooManyTokens):
        tokens.create_token(world.mara, "more", at)
    tokens.revoke(created[0], world.mara, at)
    tokens.create_token(world.mara, "more", at)
    assert tokens.revoke_all(world.mara, at) == 20 and tokens.revoke_all(world.mara, at) == 0


def test_who_stops_to_manage_a_cohort_leaves_the_other_managers_and_their_other_cohorts(world: World) -> None:
    memberships.add_manager(world.egypt, world.mara, world.team_admin)
    memberships.add_manager(world.brazil, world.mara, world.team_admin)
    link, _token = links.invite(world.team, world.mara, timezone.now(), cohort=world.egypt)
    of_brazil, _token = links.invite(world.team, world.mara, timezone.now(), cohort=world.brazil)
    assert memberships.remove_manager(world.egypt, world.mara, world.team_admin, timezone.now())
    assert not memberships.remove_manager(world.egypt, world.mara, world.team_admin, timezone.now())
    rows = CohortManager.objects.values_list("cohort__label", "user__name")
    assert {*rows} == {("Egypt", "Manager"), ("Brazil", "Mara")}
    link.refresh_from_db()
    of_brazil.refresh_from_db()
    assert link.revoked_at is not None and of_brazil.revoked_at is None


def test_who_ever_belonged_to_a_team_is_known_to_that_team_alone(world: World) -> None:
    def known() -> set[str]:
        return allowed(world, lambda user: memberships.has_ever_belonged(user, world.team), visitors=False)

    everybody = {"nour", "tarek", "bia", "caio", "manager"} | TEAM
    assert known() == everybody
    end(world.egypt, world.nour)
    memberships.remove_manager(world.egypt, world.manager, world.team_admin, timezone.now())
    memberships.add_manager(world.other_cohort, world.stranger, world.rival)
    memberships.remove_manager(world.other_cohort, world.stranger, world.rival, timezone.now())
    assert known() == everybody


def test_only_a_membership_that_a_manager_ended_is_reactivated(world: World) -> None:
    at = timezone.now()
    nour, tarek = (user.cohort_memberships.get() for user in (world.nour, world.tarek))
    assert not memberships.reactivate(nour, world.manager)  # it never ended
    assert memberships.end_membership(nour, world.manager, at) and memberships.end_membership(tarek, world.tarek, at)
    assert not memberships.end_membership(nour, world.manager, at)
    assert memberships.reactivate(nour, world.manager) and not memberships.reactivate(tarek, world.manager)
    assert {row.user for row in memberships.active_members(world.egypt)} == {world.nour}
    assert [*memberships.active_cohorts(world.nour)] == [world.egypt] and not memberships.active_cohorts(world.tarek)
