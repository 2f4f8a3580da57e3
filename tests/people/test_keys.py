"""Who lost a role keeps no key; and no link leads from one team to what a person did for another."""

from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign, SheetVersion, Unit
from benchmarks.models import Role
from people.models import (
    CohortManager,
    CohortMember,
    Consent,
    ConsentText,
    ConsentVersion,
    Invitation,
    SignInLink,
    TeamMember,
)
from people.services import consent, links, memberships, teams
from people.services.raters import rater_of
from tests.personas import World, make_consent_version, make_items


def was_member(world: World) -> None:
    CohortMember.objects.create(cohort=world.other_cohort, user=world.nour, left_at=timezone.now())


def agreed_once(world: World) -> None:
    version = make_consent_version(world.other_team)
    Consent.objects.create(user=world.nour, version=version, language="en", withdrawn_at=timezone.now())


def was_invited(world: World) -> None:
    invitation, _token = links.invite(world.other_team, world.rival, timezone.now(), team_role="member")
    Invitation.objects.filter(pk=invitation.pk).update(used_by=world.nour, used_at=timezone.now())


def answered(world: World, stage: Any = None) -> None:
    stage, now = stage or world.other_benchmark.stages.get(), timezone.now()
    [item] = make_items(stage, 1)
    sheet = SheetVersion.objects.create(stage=stage, major=1, minor=0, definition=stage.sheet)
    campaign = Campaign.objects.create(stage=stage, name="Once", sheet_version=sheet)
    unit = Unit.objects.create(item=item, target="Egypt")
    Assignment.objects.create(
        campaign=campaign,
        unit=unit,
        rater=rater_of(world.nour),
        state="submitted",
        reserved_at=now,
        changed_at=now,
    )


@pytest.mark.parametrize("elsewhere", [was_member, agreed_once, was_invited, answered])
def test_no_link_leads_to_what_a_person_did_for_another_team(world: World, elsewhere: Any) -> None:
    at = timezone.now()
    _link, token = links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
    elsewhere(world)
    with pytest.raises(links.LinkRefused, match="not_for_links"):
        links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
    client, url = Client(), reverse("people:link", args=[token])
    assert client.post(url).status_code == 410
    assert client.get(reverse("people:me")).status_code == 302
    assert links.may_sign_in_by_link(world.tarek, world.team)


def test_work_and_consent_for_the_same_team_are_no_hindrance(world: World) -> None:
    answered(world, world.stage)
    assert links.may_sign_in_by_link(world.nour, world.team)
    assert not links.may_sign_in_by_link(world.nour, world.other_team)


def test_a_link_is_for_the_cohort_it_was_made_in(world: World) -> None:
    """Who left it for another cohort, even of the same team, is let in by a link from there."""
    at = timezone.now()
    link, token = links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
    assert links.find_sign_in_link(token, at) == link
    CohortMember.objects.filter(user=world.nour).update(left_at=at)
    memberships.join(world.brazil, world.nour, world.team_admin)
    with pytest.raises(links.LinkRefused, match="not_for_links"):
        links.find_sign_in_link(token, at)
    SignInLink.objects.filter(pk=link.pk).update(cohort=None)
    with pytest.raises(links.LinkRefused, match="revoked"):
        links.find_sign_in_link(token, at)


def sign_in_by_link(world: World) -> Client:
    """A browser in which a manager pressed the button of a link made for Nour."""
    _link, token = links.make_sign_in_link(world.nour, world.egypt, world.manager, timezone.now())
    client = Client()
    assert client.post(reverse("people:link", args=[token])).status_code == 302
    return client


def signed_in(client: Client) -> bool:
    return client.get(reverse("people:me")).status_code == 200


def become_member(world: World) -> None:
    teams.add_member(world.team, world.nour, TeamMember.Role.MEMBER, world.team_admin)


def become_manager(world: World) -> None:
    memberships.add_manager(world.egypt, world.nour, world.team_admin)


def joins_another_team(world: World) -> None:
    memberships.join(world.other_cohort, world.nour, world.nour)


def becomes_speaker(world: World) -> None:
    """By the page for site admins: a speaker changes texts that the whole site shows."""
    page = reverse("people:speaker_add", args=["ar"])
    assert world.client(world.site_admin).post(page, {"email": world.nour.email}).status_code == 302


def becomes_site_admin(world: World) -> None:
    page = reverse("admin:people_user_change", args=[world.nour.pk])
    form = {"email": world.nour.email, "name": world.nour.name, "is_active": "on", "is_staff": "on"}
    assert world.client(world.site_admin).post(page, form).status_code == 302


RISES = [become_member, become_manager, joins_another_team, becomes_speaker, becomes_site_admin]


@pytest.mark.parametrize("rise", RISES)
def test_who_was_let_in_by_a_link_is_let_out_when_the_person_gets_more(world: World, rise: Any) -> None:
    browser, other = sign_in_by_link(world), world.client(world.tarek)
    memberships.join(world.brazil, world.nour, world.team_admin)
    assert signed_in(browser), "another cohort of the same team is nothing new to its managers"
    rise(world)
    assert not signed_in(browser)
    assert signed_in(other)


def test_no_link_signs_a_speaker_of_a_language_in(world: World) -> None:
    """Their texts are read on the whole site, also by people of other teams."""
    at = timezone.now()
    link, token = links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
    assert links.find_sign_in_link(token, at) == link
    becomes_speaker(world)
    assert Client().post(reverse("people:link", args=[token])).status_code == 410
    with pytest.raises(links.LinkRefused, match="not_for_links"):
        links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
    assert links.may_sign_in_by_link(world.tarek, world.team)


def test_the_browser_that_accepts_an_invitation_stays_signed_in(world: World) -> None:
    left_open, own = sign_in_by_link(world), world.client(world.nour)
    _i, token = links.invite(world.other_team, world.rival, timezone.now(), cohort=world.other_cohort)
    assert own.post(reverse("people:invitation", args=[token]), {"agree": "on"}).status_code == 302
    assert signed_in(own) and not signed_in(left_open)


# Consent texts in force


def is_refused_by_database(act: Any) -> bool:
    try:
        with transaction.atomic():
            act()
    except ProgrammingError as error:
        return "in force never changes" in str(error)
    return False


def test_the_database_keeps_a_text_in_force(world: World) -> None:
    version = world.consent_version
    text = version.texts.get(language="en")
    draft = consent.draft(world.team, {"en": "Draft"}, world.team_admin)
    assert is_refused_by_database(lambda: ConsentText.objects.filter(pk=text.pk).update(body="Other"))
    assert is_refused_by_database(lambda: ConsentText.objects.filter(pk=text.pk).update(version=draft))
    assert is_refused_by_database(text.delete)
    assert is_refused_by_database(lambda: ConsentText.objects.create(version=version, language="fr", body="Autre"))
    assert is_refused_by_database(lambda: draft.texts.update(version=version))
    assert is_refused_by_database(lambda: ConsentVersion.objects.filter(pk=version.pk).update(published_at=None))
    assert not is_refused_by_database(lambda: draft.texts.update(body="Better draft"))
    assert not is_refused_by_database(lambda: draft.texts.get().delete())


def test_putting_in_force_is_one_step_and_locks_the_team(world: World) -> None:
    """A refusal leaves no draft behind; publishing what was published meanwhile changes nothing."""
    at = timezone.now()
    with pytest.raises(consent.ConsentRefused, match="empty"):
        consent.publish_text(world.team, {"en": " "}, world.team_admin, at)
    assert not world.team.consent_versions.filter(published_at=None).exists()
    version = consent.publish_text(world.team, {"en": "Second"}, world.team_admin, at)
    assert consent.current_version(world.team) == version
    stale = ConsentVersion(pk=version.pk, team=world.team, number=version.number)
    with pytest.raises(consent.ConsentRefused, match="published"):
        consent.publish(stale, world.team_admin, at)


@pytest.mark.django_db(transaction=True)
def test_a_draft_under_way_is_not_published_half_way(world: World) -> None:
    """Another connection holds the team, as one that drafts does: publishing waits for it."""
    draft = consent.draft(world.team, {"en": "Second"}, world.team_admin)
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT 1 FROM people_team WHERE id = %s FOR UPDATE", [world.team.pk])
            with connection.cursor() as mine:
                mine.execute("SET lock_timeout = '200ms'")
            with pytest.raises(Exception, match="lock timeout"):
                consent.publish(draft, world.team_admin, timezone.now())
            cursor.execute("ROLLBACK")
        consent.publish(draft, world.team_admin, timezone.now())
    finally:
        other.close()
        with connection.cursor() as mine:
            mine.execute("RESET lock_timeout")
    assert consent.current_version(world.team) == draft


# Keys of those who lost a role


def state(token: str) -> str:
    try:
        links.find_invitation(token, timezone.now())
    except links.LinkRefused as refused:
        return refused.reason
    return "open"


def sign_in_state(token: str) -> str:
    try:
        links.find_sign_in_link(token, timezone.now())
    except links.LinkRefused as refused:
        return refused.reason
    return "open"


def test_who_is_taken_out_of_the_team_keeps_no_key(world: World) -> None:
    at = timezone.now()
    member = TeamMember.objects.get(user=world.mara)
    teams.change_role(member, TeamMember.Role.ADMIN, world.team_admin, at)
    CohortManager.objects.create(cohort=world.brazil, user=world.mara)
    _i, to_team = links.invite(world.team, world.mara, at, team_role="admin")
    _i, to_cohort = links.invite(world.team, world.mara, at, cohort=world.brazil)
    _i, for_mara = links.invite(world.team, world.team_admin, at, team_role="member", email="MARA@example.org")
    _i, by_others = links.invite(world.team, world.team_admin, at, team_role="member")
    _l, signs_bia_in = links.make_sign_in_link(world.bia, world.brazil, world.mara, at)
    _l, by_manager = links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
    member.refresh_from_db()
    teams.remove_member(member, world.team_admin, at)
    assert [state(token) for token in (to_team, to_cohort, for_mara)] == ["revoked"] * 3
    assert sign_in_state(signs_bia_in) == "revoked"
    assert (state(by_others), sign_in_state(by_manager)) == ("open", "open")
    assert not CohortManager.objects.filter(user=world.mara).exists()
    assert CohortManager.objects.filter(user=world.manager).exists()


def test_who_is_no_longer_admin_keeps_the_keys_of_the_cohort_they_manage(world: World) -> None:
    at = timezone.now()
    member = TeamMember.objects.get(user=world.mara)
    CohortManager.objects.create(cohort=world.brazil, user=world.mara)
    teams.change_role(member, TeamMember.Role.ADMIN, world.team_admin, at)
    _i, to_team = links.invite(world.team, world.mara, at, team_role="admin")
    _i, to_egypt = links.invite(world.team, world.mara, at, cohort=world.egypt)
    _i, to_brazil = links.invite(world.team, world.mara, at, cohort=world.brazil)
    _i, raises_mara = links.invite(world.team, world.team_admin, at, team_role="admin", email=world.mara.email)
    _l, signs_nour_in = links.make_sign_in_link(world.nour, world.egypt, world.mara, at)
    teams.change_role(member, TeamMember.Role.ADMIN, world.team_admin, at)
    assert state(to_team) == "open", "an admin stays an admin"
    teams.change_role(member, TeamMember.Role.MEMBER, world.team_admin, at)
    assert [state(token) for token in (to_team, to_egypt, raises_mara)] == ["revoked"] * 3
    assert sign_in_state(signs_nour_in) == "revoked"
    assert state(to_brazil) == "open"


def test_a_removed_manager_keeps_no_key_to_the_cohort(world: World) -> None:
    at = timezone.now()
    CohortManager.objects.create(cohort=world.brazil, user=world.manager)
    _i, to_egypt = links.invite(world.team, world.manager, at, cohort=world.egypt)
    _i, to_brazil = links.invite(world.team, world.manager, at, cohort=world.brazil)
    _l, signs_nour_in = links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
    url = reverse("people:manager_remove", args=[world.egypt.pk, world.manager.pk])
    assert world.client(world.team_admin).post(url).status_code == 302
    assert (state(to_egypt), state(to_brazil)) == ("revoked", "open")
    assert sign_in_state(signs_nour_in) == "revoked"


def test_an_ended_member_does_not_come_back_by_an_earlier_invitation(world: World) -> None:
    at = timezone.now()
    _i, for_nour = links.invite(world.team, world.manager, at, cohort=world.egypt, email="nour@example.org")
    _i, for_tarek = links.invite(world.team, world.manager, at, cohort=world.egypt, email="tarek@example.org")
    memberships.end_membership(CohortMember.objects.get(user=world.nour), world.manager, at)
    assert (state(for_nour), state(for_tarek)) == ("revoked", "open")


def test_the_only_owner_of_a_benchmark_stays_until_there_is_another(world: World) -> None:
    client = world.client(world.team_admin)
    url = reverse("people:member_remove", args=["nile-lab", world.owner.pk])
    page = client.post(url, follow=True).content.decode()
    assert "Owner is the only owner of Sea And River." in page
    assert world.owner.benchmark_roles.get().name == "owner"
    assert TeamMember.objects.filter(user=world.owner).exists()
    Role.objects.filter(user=world.mara).update(name=Role.Name.OWNER)
    client.post(url)
    assert not TeamMember.objects.filter(user=world.owner).exists()
    assert not world.owner.benchmark_roles.exists()
