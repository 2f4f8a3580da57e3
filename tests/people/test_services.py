"""What the services of people promise to the rest of the house."""

from datetime import timedelta

import pytest
from django.http import Http404
from django.utils import timezone

from jobs.models import Event
from people import access
from people.models import CohortMember, Consent, Rater, TeamMember, User
from people.services import cohorts, consent, links, memberships, teams
from people.services.raters import rater_of
from tests.personas import World, make_consent_version


def test_a_person_has_one_rater(world: World) -> None:
    assert rater_of(world.nour) == rater_of(world.nour)
    assert rater_of(world.nour).kind == Rater.Kind.PERSON


def test_consent_is_to_the_current_version(world: World) -> None:
    assert consent.has_consented(world.nour, world.team)
    newer = make_consent_version(world.team, number=2)
    assert consent.current_version(world.team) == newer
    assert not consent.has_consented(world.nour, world.team)
    consent.agree(world.nour, newer, "ar")
    assert consent.has_consented(world.nour, world.team)
    consent.withdraw(world.nour, world.team, timezone.now())
    assert not consent.has_consented(world.nour, world.team)


def test_a_draft_is_not_in_force_and_published_texts_never_change(world: World) -> None:
    at = timezone.now()
    draft = consent.draft(world.team, {"en": "Second text", "ar": " "}, world.team_admin)
    assert consent.current_version(world.team) == world.consent_version
    assert consent.draft(world.team, {"en": "Better text"}, world.team_admin) == draft
    assert [text.body for text in draft.texts.all()] == ["Better text"]
    with pytest.raises(consent.ConsentRefused, match="not_published"):
        consent.agree(world.nour, draft, "en")
    consent.publish(draft, world.team_admin, at)
    assert consent.current_version(world.team) == draft
    assert consent.draft(world.team, {"en": "Third"}, world.team_admin) != draft
    with pytest.raises(consent.ConsentRefused, match="published"):
        consent.publish(draft, world.team_admin, at)


def test_an_empty_draft_cannot_be_published(world: World) -> None:
    draft = consent.draft(world.team, {"en": ""}, world.team_admin)
    with pytest.raises(consent.ConsentRefused, match="empty"):
        consent.publish(draft, world.team_admin, timezone.now())


def test_consent_is_to_the_version_in_force(world: World) -> None:
    """Before and after a new version; Other Lab publishes nothing."""
    assert consent.has_consented(world.rival_rater, world.other_team), "nothing published, nothing asked"
    newer = make_consent_version(world.team, number=2)
    consent.agree(world.tarek, newer, "en")
    assert consent.has_consented(world.tarek, world.team)
    assert not consent.has_consented(world.nour, world.team)
    Consent.objects.filter(user=world.tarek).update(withdrawn_at=timezone.now())
    assert not consent.has_consented(world.tarek, world.team)


def test_ended_members_and_people_switched_off_have_no_active_cohort(world: World) -> None:
    assert list(memberships.active_cohorts(world.nour)) == [world.egypt]
    member = CohortMember.objects.get(user=world.nour)
    assert memberships.end_membership(member, world.manager, timezone.now())
    assert not memberships.end_membership(member, world.manager, timezone.now())
    assert not memberships.active_cohorts(world.nour)
    memberships.join(world.egypt, world.nour, world.nour)
    assert list(memberships.active_cohorts(world.nour)) == [world.egypt]
    User.objects.filter(pk=world.nour.pk).update(is_active=False)
    assert not memberships.active_cohorts(world.nour)


def test_team_for_finds_only_for_those_who_belong(world: World) -> None:
    assert access.team_for(world.mara, "nile-lab") == world.team
    assert access.team_for(world.team_admin, "nile-lab", admin=True) == world.team
    for user in (world.rival, world.stranger, world.nour, world.manager):
        with pytest.raises(Http404):
            access.team_for(user, "nile-lab")
    with pytest.raises(Http404):
        access.team_for(world.mara, "nile-lab", admin=True)


def test_a_site_admin_passes_and_leaves_an_event(world: World) -> None:
    assert access.team_for(world.site_admin, "nile-lab", admin=True) == world.team
    assert access.cohort_for(world.site_admin, world.egypt.pk, manage=True) == world.egypt
    looks = Event.objects.filter(actor=world.site_admin, verb="admin.looked", scope=f"team:{world.team.pk}")
    assert looks.count() == 2


def test_cohort_for_finds_for_managers_and_the_team(world: World) -> None:
    for user in (world.manager, world.team_admin):
        assert access.cohort_for(user, world.egypt.pk, manage=True) == world.egypt
    assert access.cohort_for(world.mara, world.egypt.pk) == world.egypt
    refused = [(world.mara, True), (world.nour, False), (world.rival, False), (world.stranger, False)]
    for user, manage in refused:
        with pytest.raises(Http404):
            access.cohort_for(user, world.egypt.pk, manage=manage)
    with pytest.raises(Http404):
        access.cohort_for(world.manager, world.brazil.pk)


def test_an_admin_whose_account_is_switched_off_is_not_the_admin_that_a_team_keeps(world: World) -> None:
    other, at = User.objects.create_user("second-admin@example.org", "Second", "a long password 1"), timezone.now()
    teams.add_member(world.team, other, TeamMember.Role.ADMIN, world.team_admin)
    User.objects.filter(pk=other.pk).update(is_active=False)
    admin = TeamMember.objects.get(user=world.team_admin)
    with pytest.raises(teams.LastAdmin):
        teams.remove_member(admin, world.team_admin, at)
    with pytest.raises(teams.LastAdmin):
        teams.change_role(admin, TeamMember.Role.MEMBER, world.team_admin, at)
    User.objects.filter(pk=other.pk).update(is_active=True)
    teams.change_role(admin, TeamMember.Role.MEMBER, world.team_admin, at)
    assert not access.is_team_admin(world.team_admin, world.team) and access.is_team_admin(other, world.team)


def test_a_team_keeps_an_admin_who_became_one_in_another_window(world: World) -> None:
    at, mara = timezone.now(), world.mara
    shown = TeamMember.objects.get(user=mara)  # as a member, on a page that is old by now
    TeamMember.objects.filter(team=world.team).update(role=TeamMember.Role.MEMBER)
    TeamMember.objects.filter(user=mara).update(role=TeamMember.Role.ADMIN)
    with pytest.raises(teams.LastAdmin):
        teams.remove_member(shown, world.site_admin, at)
    with pytest.raises(teams.LastAdmin):
        teams.change_role(shown, TeamMember.Role.MEMBER, world.site_admin, at)
    assert access.is_team_admin(mara, world.team)


def test_a_team_keeps_an_admin_and_a_removed_member_loses_the_roles(world: World) -> None:
    admin, at = TeamMember.objects.get(user=world.team_admin), timezone.now()
    with pytest.raises(teams.LastAdmin):
        teams.remove_member(admin, world.team_admin, at)
    with pytest.raises(teams.LastAdmin):
        teams.change_role(admin, TeamMember.Role.MEMBER, world.team_admin, at)
    teams.remove_member(TeamMember.objects.get(user=world.mara), world.team_admin, at)
    assert not world.mara.benchmark_roles.exists()
    with pytest.raises(Http404):
        access.team_for(world.mara, "nile-lab")


def test_making_a_team_makes_its_first_admin(world: World) -> None:
    team = teams.create_team("Third Lab", "third-lab", world.site_admin)
    assert access.is_team_admin(world.site_admin, team)


def test_a_cohort_is_made_and_changed_with_an_event_each(world: World) -> None:
    data = cohorts.CohortData(
        label="Yoruba", names={}, country="", languages=["yo"], direction="ltr", time_zone="Africa/Lagos"
    )
    cohort = cohorts.create_cohort(world.team, data, world.team_admin)
    cohorts.update_cohort(cohort, {**data, "label": "Yorùbá", "names": {"en": "Yoruba"}}, world.team_admin)
    cohort.refresh_from_db()
    assert cohort.label == "Yorùbá"
    verbs = Event.objects.filter(target=f"cohort:{cohort.pk}").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["cohort.created", "cohort.changed"]
    event_data = Event.objects.get(verb="cohort.changed").data
    assert event_data["before"] == {"label": "Yoruba", "names": {}}
    assert event_data["now"] == {"label": "Yorùbá", "names": {"en": "Yoruba"}}


def test_a_token_is_not_stored(world: World) -> None:
    invitation, token = links.invite(world.team, world.manager, timezone.now(), cohort=world.egypt)
    assert token not in str(vars(invitation))
    assert links.find_invitation(token, timezone.now()) == invitation


def test_a_link_is_taken_once_even_by_a_stale_object(world: World) -> None:
    """Two requests read the open link, then both use it: the second is refused by the update itself."""
    at = timezone.now()
    _link, token = links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
    first, second = links.find_sign_in_link(token, at), links.find_sign_in_link(token, at)
    assert links.use_sign_in_link(first, at) == world.nour
    with pytest.raises(links.LinkRefused, match="used"):
        links.use_sign_in_link(second, at)


def test_a_new_sign_in_link_ends_the_one_before(world: World) -> None:
    at = timezone.now()
    _link, old = links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
    _link, new = links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
    with pytest.raises(links.LinkRefused, match="revoked"):
        links.find_sign_in_link(old, at)
    assert links.find_sign_in_link(new, at).user == world.nour
    with pytest.raises(links.LinkRefused, match="expired"):
        links.find_sign_in_link(new, at + timedelta(hours=25))


def test_links_are_for_people_who_only_rate_for_this_team(world: World) -> None:
    at = timezone.now()
    assert links.may_sign_in_by_link(world.nour, world.team)
    for user in (world.mara, world.manager, world.site_admin, world.team_admin, world.reviewer, world.stranger):
        memberships.join(world.egypt, user, world.team_admin)
        allowed = user == world.stranger
        assert links.may_sign_in_by_link(user, world.team) is allowed
    memberships.join(world.other_cohort, world.nour, world.rival)
    with pytest.raises(links.LinkRefused, match="not_for_links"):
        links.make_sign_in_link(world.nour, world.egypt, world.manager, at)
