"""What home and history say of work that is over, and of whose it is."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Campaign, Slot
from annotation.services.campaigns import lifecycle
from people.models import CohortMember, User
from tests.annotation.pages.conftest import current_assignment
from tests.annotation.pages.test_home import rate
from tests.annotation.pages.test_sheet import SCRIPT
from tests.personas import World, make_consent_version

ClientOf = Callable[[User], Client]


def home(client: Client) -> str:
    return client.get("/work/").content.decode()


def finish(client: Client, campaign: Campaign, user: User) -> None:
    while client.get(f"/work/{campaign.pk}/").context["work_page"].hand:
        rate(client, campaign, user)


def test_a_finished_campaign_says_so_and_stands_below_the_open_ones(
    client_of: ClientOf, world: World, campaign: Campaign, nour: User
) -> None:
    client = client_of(nour)
    rate(client, campaign, nour)
    assert "Continue" in home(client)
    finish(client, campaign, nour)  # the cohort still wants a second answer for each
    html = home(client)
    assert "You have answered everything here." in html
    assert "Continue" not in html and f'href="/work/{campaign.pk}/"' not in html
    assert "No open work right now." in html
    assert "6 answered" in html
    second = lifecycle.create(world.stage, "Another round", world.owner, {world.egypt: 1}, seed=1)
    lifecycle.open_campaign(second, world.owner, timezone.now())
    html = home(client)
    assert html.index("Another round") < html.index("Relevance, all pictures")
    assert "One campaign is open for you." in html and "Start" in html


def test_work_that_others_hold_is_not_offered(
    client_of: ClientOf, world: World, campaign: Campaign, nour: User, tarek: User
) -> None:
    Slot.objects.filter(cohort__campaign=campaign).update(wanted=1)
    client, other = client_of(nour), client_of(tarek)
    other.get(f"/work/{campaign.pk}/")
    finish(client, campaign, nour)
    assert "All open items are taken until" in home(client)
    assert "Continue" in home(other)
    long_ago = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(rater__user=tarek, state="reserved").update(lease_until=long_ago)
    assert "Continue" in home(client)  # opening it gives them back


def test_what_one_lost_is_still_theirs_to_do(client_of: ClientOf, world: World, campaign: Campaign, nour: User) -> None:
    client = client_of(nour)
    client.get(f"/work/{campaign.pk}/")
    while current_assignment(campaign, nour) and Assignment.objects.filter(rater__user=nour).count() < 6:
        rate(client, campaign, nour)
    Assignment.objects.filter(rater__user=nour, state="reserved").update(
        state="released", in_hand=False, lease_until=None
    )
    Slot.objects.filter(cohort__campaign=campaign).update(reserved=0)
    assert "Continue" in home(client)


def test_the_cohorts_progress_is_not_ones_own(client_of: ClientOf, campaign: Campaign, nour: User, tarek: User) -> None:
    rate(client_of(tarek), campaign, tarek)
    html = home(client_of(nour))
    assert "<bdi>Egypt</bdi>, all together" in html
    assert "New for you" in html and "0 answered" not in html
    assert "1 answered" in home(client_of(tarek))


def test_closed_campaigns_are_listed_for_those_who_worked_in_them(
    client_of: ClientOf, world: World, campaign: Campaign, nour: User, tarek: User
) -> None:
    rate(client_of(nour), campaign, nour)
    lifecycle.close(campaign, world.owner, timezone.now())
    assert "This campaign is closed." in home(client_of(nour))
    assert "Relevance, all pictures" not in home(client_of(tarek))


def test_who_left_every_cohort_is_told_so(client_of: ClientOf, campaign: Campaign, nour: User) -> None:
    client = client_of(nour)
    assert "no longer in a cohort" not in home(client)
    CohortMember.objects.filter(user=nour).update(left_at=timezone.now())
    html = home(client)
    assert "You are no longer in a cohort." in html
    assert "not in a cohort yet" not in html


def test_home_shows_no_picture_before_there_is_consent(
    client_of: ClientOf, world: World, campaign: Campaign, nour: User
) -> None:
    client = client_of(nour)
    assert "<img" in home(client)
    make_consent_version(world.team, 2)
    html = home(client)
    assert "Read and decide" in html and "<img" not in html


def test_history_shows_which_picture_and_tells_its_buttons_apart(
    client_of: ClientOf, campaign: Campaign, nour: User
) -> None:
    client = client_of(nour)
    for _time in range(3):
        rate(client, campaign, nour)
    hand = current_assignment(campaign, nour)
    client.post(f"/assignments/{hand.pk}/skip", {"reason": "broken"}, **SCRIPT)
    html = client.get("/work/history/").content.decode()
    assert html.count("<img") == 4
    alts = re.findall(r'<img[^>]* alt="([^"]+)"', html)
    assert len(alts) == 4
    buttons = re.findall(r'<button class="link">Edit<span class="vh">(.*?)</span>', html)
    assert len(buttons) == len(set(buttons)) == 3


@pytest.mark.parametrize("away", ["left", "closed"])
def test_history_offers_no_change_where_it_cannot_work(
    client_of: ClientOf, world: World, campaign: Campaign, nour: User, away: str
) -> None:
    client = client_of(nour)
    rate(client, campaign, nour)
    assert "Edit<" in client.get("/work/history/").content.decode()
    if away == "left":
        CohortMember.objects.filter(user=nour).update(left_at=timezone.now())
    else:
        lifecycle.close(campaign, world.owner, timezone.now())
    html = client.get("/work/history/").content.decode()
    assert "Edit<" not in html
    assert ("<img" in html) == (away == "closed")
