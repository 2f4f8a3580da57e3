"""A cohort's page: who is there and what they do, a rest for all, and people who work there no longer."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign, Draft, Participation
from annotation.queries.roster import RosterRow, roster
from annotation.services.answers import drafts, submit
from annotation.services.answers.submit import Submission
from annotation.services.campaigns import lifecycle
from annotation.services.files.campaigns import open_for_imports
from annotation.services.queue import recount
from annotation.services.queue.next_work import Work, get_or_claim_work
from people.models import Cohort, CohortMember, User
from people.services import memberships
from people.services.raters import rater_of
from tests.personas import World


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> object:
    yield
    assert list(recount.iter_differences()) == []


def open_work(world: World, campaign: Campaign, user: User) -> Work:
    return get_or_claim_work(rater_of(user), campaign.cohorts.get(cohort=world.egypt), timezone.now())


def page_of(world: World, user: User, cohort: Cohort | None = None) -> str:
    reply = world.client(user).get(reverse("annotation:cohort", args=[(cohort or world.egypt).pk]))
    assert reply.status_code == 200
    return reply.content.decode()


def roster_row(world: World, user: User) -> RosterRow:
    return next(one for one in roster(world.egypt, timezone.now()) if one.member.user == user)


def test_the_roster_says_who_is_active_idle_or_gone_and_what_they_gave(world: World, campaign: Campaign) -> None:
    assert (roster_row(world, world.nour).state, roster_row(world, world.nour).given) == ("new", 0)
    work = open_work(world, campaign, world.nour)
    assert work.current
    sent = Submission(raw={"relevance": "4"}, client_key="one")
    work = submit.submit(work.current.pk, rater_of(world.nour), sent, timezone.now()).work
    assert work.current
    submit.skip(work.current.pk, rater_of(world.nour), "unknown", "", timezone.now())
    nour = roster_row(world, world.nour)
    assert (nour.state, nour.given, nour.skipped, nour.held, nour.approval) == ("active", 1, 1, 2, None)
    Participation.objects.update(last_seen_at=timezone.now() - timedelta(days=8))
    Assignment.objects.filter(state="submitted").update(state="accepted")
    assert (roster_row(world, world.nour).state, roster_row(world, world.nour).approval) == ("idle", 100)
    html = page_of(world, world.manager)
    assert "Relevance, all pictures" in html and "<b>1</b> of 12" in html and "nour@example.org" in html


def test_managers_see_only_their_own_cohort_and_are_no_researchers(world: World, campaign: Campaign) -> None:
    brazil = reverse("annotation:cohort", args=[world.brazil.pk])
    assert world.client(world.manager).get(brazil).status_code == 404
    for user in (world.nour, world.rival, world.stranger):
        assert world.client(user).get(reverse("annotation:cohort", args=[world.egypt.pk])).status_code == 404
    assert world.client(world.manager).get(f"/b/{world.benchmark.slug}/campaigns/").status_code == 404
    looked = page_of(world, world.mara)
    assert "Nour" in looked and "nour@example.org" not in looked and "Remove member" not in looked
    assert "Pause cohort" not in looked


def test_only_who_manages_the_cohort_sees_what_each_person_gave(world: World, campaign: Campaign) -> None:
    """Beside a benchmark's pseudonyms, the same numbers and moments would tell who is who."""
    work = open_work(world, campaign, world.nour)
    assert work.current
    sent = Submission(raw={"relevance": "4"}, client_key="one")
    submit.submit(work.current.pk, rater_of(world.nour), sent, timezone.now())
    telling = ("Last seen", "Answers</th>", "Accepted", "Skipped", "<time", "Consent")
    for user in (world.manager, world.team_admin):
        page = page_of(world, user)
        assert not [one for one in telling if one not in page]
    for user in (world.mara, world.reviewer):
        page = page_of(world, user)
        assert "Nour" in page and "Active" in page and not [one for one in telling if one in page]


def test_who_is_ended_gives_places_back_keeps_drafts_and_can_come_again(world: World, campaign: Campaign) -> None:
    work = open_work(world, campaign, world.nour)
    assert work.current and work.prefetched
    drafts.save(work.current.pk, rater_of(world.nour), {"relevance": "2"}, 1, timezone.now())
    member = CohortMember.objects.get(user=world.nour)
    end, back = (reverse(f"annotation:member_{what}", args=[member.pk]) for what in ("end", "reactivate"))
    for user in (world.mara, world.rival, world.nour):
        assert world.client(user).post(end).status_code == 404
        assert world.client(user).post(back).status_code == 404
    html = world.client(world.manager).post(end, follow=True).content.decode()
    assert "2 reservations were released." in html and "Reactivate" in html
    assert not Assignment.objects.filter(state="reserved").exists() and Draft.objects.count() == 1
    member.refresh_from_db()
    assert member.ended_by == world.manager
    nothing = open_work(world, campaign, world.nour).no_work
    assert nothing and nothing.reason == "not_a_member"
    assert "a member again" in world.client(world.manager).post(back, follow=True).content.decode()
    again = open_work(world, campaign, world.nour).current
    assert again == work.current and again.draft.answers == {"relevance": "2"}


def test_who_left_by_themselves_is_not_fetched_back(world: World, campaign: Campaign) -> None:
    member = CohortMember.objects.get(user=world.nour)
    memberships.end_membership(member, world.nour, timezone.now())
    assert roster_row(world, world.nour).state == "left"
    back = reverse("annotation:member_reactivate", args=[member.pk])
    assert "Send a new invitation" in world.client(world.manager).post(back, follow=True).content.decode()
    assert not memberships.active_cohorts(world.nour).exists()


def test_a_rest_for_all_gives_nothing_new_and_lets_people_finish(world: World, campaign: Campaign) -> None:
    hand = open_work(world, campaign, world.nour).current
    url = reverse("people:cohort_pause", args=[world.egypt.pk])
    for user in (world.mara, world.nour, world.rival):
        assert world.client(user).post(url, {"do": "pause"}).status_code == 404
    assert "Paused" in world.client(world.manager).post(url, {"do": "pause"}, follow=True).content.decode()
    assert open_work(world, campaign, world.nour).current == hand
    nothing = open_work(world, campaign, world.tarek).no_work
    assert nothing and nothing.reason == "cohort_paused"
    world.client(world.manager).post(url, {"do": "resume"})
    assert open_work(world, campaign, world.tarek).current


def test_a_campaign_for_models_alone_is_not_listed(world: World, campaign: Campaign) -> None:
    for_models = lifecycle.create(world.stage, "For a judge", world.owner, {world.egypt: 1})
    open_for_imports(for_models, world.owner, timezone.now())
    html = page_of(world, world.manager)
    assert "For a judge" not in html and "Relevance, all pictures" in html
