"""Home and history: the day, what is open and why not, and changing an answer."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Draft, Rating, Review, Slot
from annotation.pages.home import day_of
from annotation.pages.status_text import duration, format_date, greeting, time_zone_for
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.instructions import set_instructions
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Item, ItemImage
from people.models import User
from tests.annotation.pages.conftest import current_assignment
from tests.annotation.pages.test_sheet import SCRIPT
from tests.personas import World

ClientOf = Callable[[User], Client]


def rate(client: Client, campaign: Campaign, user: User, code: str = "4", seconds: str = "12") -> Assignment:
    client.get(f"/work/{campaign.pk}/")
    hand = current_assignment(campaign, user)
    Assignment.objects.filter(pk=hand.pk).update(shown_at=hand.reserved_at - timedelta(hours=1))
    posted = {"a-relevance": code, "client_key": f"key-{hand.pk}", "active_seconds": seconds}
    assert client.post(f"/assignments/{hand.pk}/submit", posted, **SCRIPT).status_code == 200
    return hand


def test_home_shows_what_is_open_and_takes_nothing(client_of: ClientOf, campaign: Campaign, nour: User) -> None:
    html = client_of(nour).get("/work/").content.decode()
    assert "Nour" in html
    assert "Relevance, all pictures" in html
    assert "Say how much a picture has to do with Egypt." in html
    assert "<b>0</b> of 12" in html
    assert "Start" in html and "Continue" not in html
    assert "Today: no answers yet" in html
    assert not Assignment.objects.exists()


def test_home_counts_the_day_and_lists_the_last_answers(client_of: ClientOf, campaign: Campaign, nour: User) -> None:
    client = client_of(nour)
    rate(client, campaign, nour, "4", "100")
    rate(client, campaign, nour, "1", "200")
    hand = current_assignment(campaign, nour)
    client.post(f"/assignments/{hand.pk}/skip", {"reason": "broken"}, **SCRIPT)
    html = client.get("/work/").content.decode()
    assert "Today: 2 answers, 5 min at work" in html
    assert "Continue" in html
    assert "<b>4</b> <bdi>Relevant</bdi>" in html.replace("\n", "")
    assert "It is broken or unreadable" in html
    assert html.count('class="link"') == 3  # a skip may be answered, too


def test_home_shows_the_week_once_there_is_an_answer_before_today(
    client_of: ClientOf, campaign: Campaign, nour: User
) -> None:
    client = client_of(nour)
    rate(client, campaign, nour, "4", "100")
    assert "last seven days" not in client.get("/work/").content.decode()
    Annotation.objects.update(submitted_at=timezone.now() - timedelta(days=3))
    rate(client, campaign, nour, "4", "100")
    html = client.get("/work/").content.decode()
    week = html[html.index('<ol class="week"') :].partition("</ol>")[0]
    assert re.findall(r"<b>(\d+)</b>", week) == ["0", "0", "0", "1", "0", "0", "1"]
    assert week.count("8V26") == 2, "one mark for each answer"
    Annotation.objects.filter(live=True).update(submitted_at=timezone.now() - timedelta(days=30))
    assert "last seven days" not in client.get("/work/").content.decode()


def test_a_campaign_without_pictures_or_summary_shows_words_and_its_question(
    client_of: ClientOf, campaign: Campaign, nour: User
) -> None:
    ItemImage.objects.filter(item__stage=campaign.stage).delete()
    Item.objects.filter(stage=campaign.stage).update(text="Ful medames with bread")
    Campaign.objects.update(summary="")
    User.objects.filter(pk=nour.pk).update(language="ar")
    html = client_of(nour).get("/work/").content.decode()
    assert '<span class="frame drawn" aria-hidden="true"><bdi>Ful medames with bread</bdi>' in html
    question = sheet_of(campaign.sheet_version).fields[0].label["ar"].replace("{target}", "مصر")
    assert f'<p dir="auto">{question}</p>' in html


def test_a_person_in_no_cohort_is_told_what_to_do(client_of: ClientOf, campaign: Campaign, stranger: User) -> None:
    html = client_of(stranger).get("/work/").content.decode()
    assert "You are not in a cohort yet." in html
    assert "Relevance, all pictures" not in html


def test_other_teams_people_see_none_of_it(client_of: ClientOf, campaign: Campaign, world: World) -> None:
    html = client_of(world.rival_rater).get("/work/").content.decode()
    assert "Your cohort has no open work right now." in html
    assert "Relevance" not in html


def test_a_draft_campaign_is_not_shown(client_of: ClientOf, world: World, campaign: Campaign, nour: User) -> None:
    lifecycle.create(world.stage, "Not yet", world.owner, {world.egypt: 1})
    assert "Not yet" not in client_of(nour).get("/work/").content.decode()


def test_home_says_why_there_is_nothing(client_of: ClientOf, world: World, campaign: Campaign, nour: User) -> None:
    place = CampaignCohort.objects.get(campaign=campaign, cohort=world.egypt)
    lifecycle.pause_cohort(place, world.owner)
    html = client_of(nour).get("/work/").content.decode()
    assert "Your cohort is paused in this campaign." in html
    assert "No open work right now" in html


def test_what_can_be_done_stands_before_what_cannot(
    client_of: ClientOf, world: World, campaign: Campaign, nour: User
) -> None:
    """Each with its benchmark; only work has a card and a button."""
    second = lifecycle.create(world.stage, "A second round", world.owner, {world.egypt: 1})
    lifecycle.open_campaign(second, world.owner, timezone.now())
    lifecycle.pause_cohort(CampaignCohort.objects.get(campaign=second, cohort=world.egypt), world.owner)
    html = client_of(nour).get("/work/").content.decode()
    work, idle = html.split("No open work right now")
    assert campaign.name in work and "A second round" not in work and work.count('class="job"') == 1
    assert "A second round" in idle and "Your cohort is paused in this campaign." in idle
    assert "/work/" not in idle and "<b>0</b> of 6" in idle
    assert work.count(world.benchmark.name) == idle.count(world.benchmark.name) == 1


def test_work_that_has_no_items_yet_has_no_progress(client_of: ClientOf, campaign: Campaign, nour: User) -> None:
    Item.objects.filter(stage=campaign.stage).update(withdrawn_at=timezone.now())
    html = client_of(nour).get("/work/").content.decode()
    assert campaign.name in html and "of 0" not in html and "all together" not in html


def test_home_costs_the_same_however_much_there_is(
    client_of: ClientOf, world: World, campaign: Campaign, nour: User
) -> None:
    client = client_of(nour)
    rate(client, campaign, nour)
    with CaptureQueriesContext(connection) as few:
        client.get("/work/")
    for _time in range(4):
        rate(client, campaign, nour)
    with CaptureQueriesContext(connection) as many:
        client.get("/work/")
    assert len(many) == len(few)


def test_home_asks_as_often_for_many_decisions_as_for_one(
    client_of: ClientOf, world: World, campaign: Campaign, nour: User
) -> None:
    client = client_of(nour)
    for _time in range(4):
        rate(client, campaign, nour)
    answers = list(Annotation.objects.filter(rater__user=nour))
    numbers = []
    for decided in (answers[:1], answers[1:]):
        for answer in decided:
            Review.objects.create(annotation=answer, reviewer=world.reviewer, decision="accept", at=timezone.now())
        with CaptureQueriesContext(connection) as queries:
            html = client.get("/work/").content.decode()
        numbers.append(len(queries))
        assert world.reviewer.name not in html, "an author is not told who decided"
    assert len(answers) == 4 and numbers[0] == numbers[1]


def test_home_asks_as_often_for_many_campaigns_as_for_few(
    client_of: ClientOf, world: World, campaign: Campaign, nour: User, tarek: User
) -> None:
    """Of three kinds: there is work, a limit is reached, others hold all that is left. Each says its own reason."""
    client, opened = client_of(nour), timezone.now()

    def open_campaigns(name: str) -> None:
        for kind in ("work", "limit", "held"):
            new = lifecycle.create(world.stage, f"{name}: {kind}", world.owner, {world.egypt: 1})
            lifecycle.open_campaign(new, world.owner, opened)
            if kind == "limit":
                rate(client, new, nour)
                new.cohorts.update(most_per_person=1)
            if kind == "held":
                Slot.objects.filter(cohort__campaign=new, position__gt=1).delete()
                client_of(tarek).get(f"/work/{new.pk}/")

    open_campaigns("First")
    with CaptureQueriesContext(connection) as few:
        client.get("/work/")
    open_campaigns("Second")
    open_campaigns("Third")
    with CaptureQueriesContext(connection) as many:
        home = client.get("/work/").context["home"]
    assert len(many) == len(few), [query["sql"] for query in many][len(few) :]
    reasons = {row.name: row.why and row.why.reason for row in home.open}
    assert {name.partition(": ")[2]: reason for name, reason in reasons.items() if ":" in name} == {
        "work": None, "limit": "own_share_done", "held": "all_reserved",
    }  # fmt: skip
    assert all(row.picture for row in home.open)


def test_history_pages_by_key_and_shows_each_once(
    client_of: ClientOf, campaign: Campaign, nour: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.views.history.PAGE", 2)
    client = client_of(nour)
    assignment_ids = [rate(client, campaign, nour).pk for _time in range(5)]
    Assignment.objects.filter(pk__in=assignment_ids).update(
        changed_at=timezone.now()
    )  # all at one moment: the id decides
    seen_ids: list[int] = []
    url = "/work/history/"
    for _page in range(3):
        reply = client.get(url)
        seen_ids += [row.assignment_id for row in reply.context["rows"]]
        url = f"/work/history/?before={reply.context['more'].urlsafe}" if reply.context["more"] else ""
    assert seen_ids == sorted(assignment_ids, reverse=True)
    assert url == ""


@pytest.mark.parametrize("before", ["", "x", "2026-01-01_5", "_", "2026-01-01T00:00:00+00:00_x"])
def test_a_broken_page_address_shows_the_newest(
    client_of: ClientOf, campaign: Campaign, nour: User, before: str
) -> None:
    client = client_of(nour)
    rate(client, campaign, nour)
    assert len(client.get("/work/history/", {"before": before}).context["rows"]) == 1


def test_history_is_ones_own(client_of: ClientOf, campaign: Campaign, nour: User, tarek: User) -> None:
    rate(client_of(nour), campaign, nour)
    assert client_of(tarek).get("/work/history/").context["rows"] == []


def test_an_answer_can_be_changed_and_counts_until_then(client_of: ClientOf, campaign: Campaign, nour: User) -> None:
    client = client_of(nour)
    assignment = rate(client, campaign, nour, "4")
    hand = current_assignment(campaign, nour)
    reply = client.post(f"/assignments/{assignment.pk}/change", follow=True)
    html = reply.content.decode()
    assert f'data-assignment="{assignment.pk}"' in html
    assert 'value="4" data-key="4" checked' in html
    assert Rating.objects.get(counted=True).code == "4"
    client.post(f"/assignments/{assignment.pk}/submit", {"a-relevance": "2", "client_key": "changed"}, **SCRIPT)
    assert Rating.objects.get(counted=True).code == "2"
    assert Annotation.objects.filter(live=True).count() == 1
    assert current_assignment(campaign, nour) == hand
    assert not Draft.objects.exists()


def test_an_accepted_answer_stays(client_of: ClientOf, campaign: Campaign, nour: User) -> None:
    client = client_of(nour)
    assignment = rate(client, campaign, nour)
    Assignment.objects.filter(pk=assignment.pk).update(state="accepted")
    assert "Edit" not in client.get("/work/history/").content.decode()
    assert (
        "can no longer be changed" in client.post(f"/assignments/{assignment.pk}/change", follow=True).content.decode()
    )


def test_anothers_reopened_answer_does_not_open_by_address(
    client_of: ClientOf, campaign: Campaign, nour: User, tarek: User
) -> None:
    client = client_of(nour)
    assignment = rate(client, campaign, nour)
    client.post(f"/assignments/{assignment.pk}/change")
    html = client_of(tarek).get(f"/work/{campaign.pk}/?change={assignment.pk}").content.decode()
    assert f'data-assignment="{assignment.pk}"' not in html
    assert f'data-assignment="{current_assignment(campaign, tarek).pk}"' in html


def test_a_surplus_answer_is_kept_and_says_so(client_of: ClientOf, campaign: Campaign, nour: User) -> None:
    client = client_of(nour)
    given = rate(client, campaign, nour)
    Rating.objects.update(counted=False)
    Annotation.objects.filter(assignment=given).update(counted=False, uncounted_because="surplus")
    html = client.get("/work/history/").content.decode()
    assert "Not counted" in html
    assert "Enough answers had arrived already" in html


def test_the_day_ruler_reaches_from_the_first_hour_to_the_last() -> None:
    local = datetime(2026, 3, 1, 13, 30, tzinfo=UTC)
    day = day_of([(local - timedelta(hours=1), 30.0, 1, True)], local)
    assert day.hours == ["07:00", "10:00", "13:00", "16:00", "19:00"]
    assert day.now == 649.2
    assert day.marks == "M550.8 8V26"
    corrected = day_of([(local, 7.0, 1, True), (local - timedelta(hours=1), 89.0, 1, False)], local)
    assert (corrected.answers, corrected.worked) == (1, "96 s"), "a correction takes no time at work away"
    early = day_of([(datetime(2026, 3, 1, 2, 0, tzinfo=UTC), 30.0, 1, True)], local)
    assert early.hours[0] == "02:00"


@pytest.mark.parametrize(("hour", "words"), [(4, "evening"), (5, "morning"), (12, "afternoon"), (18, "evening")])
def test_the_greeting_goes_by_the_hour(hour: int, words: str) -> None:
    assert words in greeting(hour)


@pytest.mark.parametrize(("seconds", "words"), [(59.6, "60 s"), (150, "2 min"), (6720, "1 h 52 min")])
def test_durations_are_rounded_as_people_say_them(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_today_is_the_persons_day(world: World) -> None:
    zone = time_zone_for(world.nour, world.egypt)
    assert str(zone) == "Africa/Cairo"
    world.nour.time_zone = "Asia/Tokyo"
    assert str(time_zone_for(world.nour, world.egypt)) == "Asia/Tokyo"
    world.nour.time_zone = "Mars/Olympus"
    assert str(time_zone_for(world.nour, world.egypt)) == "UTC"
    now = timezone.now()
    assert ":" in format_date(now, zone)
    assert format_date(now - timedelta(days=1), zone) == "Yesterday"


def test_instructions_that_are_only_a_text_come_once_before_the_work_and_again_after_a_change(
    client_of: ClientOf, campaign: Campaign, world: World, nour: User
) -> None:
    client, sheet, ready = client_of(nour), f"/work/{campaign.pk}/", f"/work/{campaign.pk}/ready/"
    assert f'href="{ready}"' in client.get("/work/").content.decode()
    assert "Look first, then rate." in client.get(ready).content.decode()
    assert client.post(ready, {"act": "confirm"}).headers["Location"] == sheet
    assert f'href="{ready}"' not in client.get("/work/").content.decode()
    set_instructions(campaign, {"en": "Look **twice**.\n\nSay:\n- who uses it\n- <i>where</i>"}, world.owner)
    assert f'href="{ready}"' in client.get("/work/").content.decode()
    html = client.get(ready).content.decode()
    assert "<p>Look <b>twice</b>.</p>" in html
    assert "<p>Say:</p>" in html and "<ul><li>who uses it</li><li>&lt;i&gt;where&lt;/i&gt;</li></ul>" in html
    assert client.get(sheet).status_code == 200  # nobody is stopped on the way
