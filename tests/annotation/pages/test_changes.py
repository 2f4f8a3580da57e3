"""Changing an answer, working when one may not any more, and what browsers should not send."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Draft, ProblemReport
from annotation.services.campaigns import lifecycle
from people.models import CohortMember, Consent, User
from tests.annotation.pages.conftest import current_assignment
from tests.annotation.pages.test_sheet import SCRIPT, draft_version_in
from tests.personas import World

ClientOf = Callable[[User], Client]


@pytest.fixture
def browser(client_of: ClientOf, nour: User, campaign: Campaign) -> Client:
    client = client_of(nour)
    client.get(f"/work/{campaign.pk}/")
    return client


def submit_code(browser: Client, hand: Assignment, code: str, **more: str) -> Any:
    posted = {"a-relevance": code, "client_key": f"k-{hand.pk}-{code}", **more}
    return browser.post(f"/assignments/{hand.pk}/submit", posted, **SCRIPT)


@pytest.fixture
def assignment(browser: Client, campaign: Campaign, nour: User) -> Assignment:
    hand = current_assignment(campaign, nour)
    assert submit_code(browser, hand, "2").status_code == 200
    return hand


def test_a_change_says_what_it_is_and_new_work_does_not(browser: Client, assignment: Assignment) -> None:
    html = browser.post(f"/assignments/{assignment.pk}/change", follow=True).content.decode()
    assert re.search(r"You are changing your answer of \d\d:\d\d\.", html)
    assert f'action="/assignments/{assignment.pk}/leave"' in html
    html = browser.get(f"/work/{assignment.campaign_id}/").content.decode()
    assert "You are changing" not in html and "/leave" not in html


def test_a_change_with_a_mistake_still_says_what_it_is(browser: Client, assignment: Assignment) -> None:
    browser.post(f"/assignments/{assignment.pk}/change")
    reply = submit_code(browser, assignment, "9")
    assert reply.status_code == 422
    assert "You are changing your answer of" in reply.content.decode()


def test_a_change_ends_in_the_history(browser: Client, assignment: Assignment) -> None:
    browser.post(f"/assignments/{assignment.pk}/change")
    for _time in range(2):  # sent again, because the reply was lost
        assert submit_code(browser, assignment, "5").json() == {"go": "/work/history/"}
    assert "Your new answer is saved." in browser.get("/work/history/").content.decode()
    browser.post(f"/assignments/{assignment.pk}/change")
    posted = {"a-relevance": "4", "client_key": "no-script"}
    assert browser.post(f"/assignments/{assignment.pk}/submit", posted)["Location"] == "/work/history/"
    assert Annotation.objects.get(live=True).answers == {"relevance": "4"}


def test_a_change_is_saved_from_the_page_that_showed_the_answer_and_from_no_earlier_one(
    browser: Client, assignment: Assignment
) -> None:
    """The page that opened the change sends the number of its draft before anything else was typed."""
    for version, code in enumerate("54", start=1):
        html = browser.post(f"/assignments/{assignment.pk}/change", follow=True).content.decode()
        opened = draft_version_in(html)
        assert opened == str(1000 * version)
        refused = submit_code(browser, assignment, "3", draft_version=str(int(opened) - 1), client_key=f"old-{version}")
        assert refused.status_code == 422 and "answered in another window" in refused.content.decode()
        assert Annotation.objects.filter(version=version, live=True).exists()
        browser.post(f"/assignments/{assignment.pk}/leave")
        browser.post(f"/assignments/{assignment.pk}/change")
        reply = submit_code(browser, assignment, code, draft_version=opened)
        assert reply.json() == {"go": "/work/history/"}
        assert "Your new answer is saved." in browser.get("/work/history/").content.decode()
        assert Annotation.objects.get(live=True).answers == {"relevance": code}


def test_a_change_from_a_page_that_names_no_draft_is_saved_once_it_was_opened(
    browser: Client, assignment: Assignment
) -> None:
    assert submit_code(browser, assignment, "5").status_code == 422, "it was not opened for a change"
    assert Annotation.objects.get().answers == {"relevance": "2"}
    browser.post(f"/assignments/{assignment.pk}/change")
    assert submit_code(browser, assignment, "4").json() == {"go": "/work/history/"}
    assert Annotation.objects.get(live=True).answers == {"relevance": "4"}


def test_a_change_can_be_left(browser: Client, assignment: Assignment) -> None:
    browser.post(f"/assignments/{assignment.pk}/change")
    browser.post(f"/assignments/{assignment.pk}/draft", {"a-relevance": "5", "draft_version": "1000"})
    reply = browser.post(f"/assignments/{assignment.pk}/leave", follow=True)
    assert reply.redirect_chain == [("/work/history/", 302)]
    assert "Your answer was not changed." in reply.content.decode()
    assert not Draft.objects.exists()
    assert Annotation.objects.get().answers == {"relevance": "2"}


def test_new_work_cannot_be_left(browser: Client, campaign: Campaign, nour: User) -> None:
    hand = current_assignment(campaign, nour)
    browser.post(f"/assignments/{hand.pk}/draft", {"a-relevance": "5", "draft_version": "0"})
    browser.post(f"/assignments/{hand.pk}/leave")
    assert Draft.objects.exists()


def test_after_the_close_a_change_is_refused_with_words(
    browser: Client, campaign: Campaign, world: World, assignment: Assignment
) -> None:
    browser.post(f"/assignments/{assignment.pk}/change")
    lifecycle.close(campaign, world.owner, timezone.now())
    words = "This campaign is closed. Your answer was not changed."
    html = submit_code(browser, assignment, "5").content.decode()
    assert words in html and "data-assignment" not in html
    assert words in browser.post(f"/assignments/{assignment.pk}/change", follow=True).content.decode()
    assert (
        "Your answer was not changed." in browser.post(f"/assignments/{assignment.pk}/undo", **SCRIPT).content.decode()
    )
    assert Annotation.objects.get(live=True).answers == {"relevance": "2"}


def close_campaign(world: World, campaign: Campaign) -> None:
    lifecycle.close(campaign, world.owner, timezone.now())


def leave_cohort(world: World, campaign: Campaign) -> None:
    CohortMember.objects.filter(user=world.nour).update(left_at=timezone.now())


def withdraws(world: World, campaign: Campaign) -> None:
    assert Consent.objects.filter(user=world.nour).update(withdrawn_at=timezone.now())


@pytest.mark.parametrize(
    ("ends", "note"),
    [
        (close_campaign, "Saved. The campaign was already closed, so it is not counted."),
        (leave_cohort, "Saved. You had left the cohort before it arrived, so it is not counted."),
        (withdraws, "Saved. You had not given consent at that time, so it is not counted."),
    ],
)
def test_late_work_is_kept_and_no_picture_comes_back(
    browser: Client,
    campaign: Campaign,
    world: World,
    assignment: Assignment,
    ends: Callable[[World, Campaign], None],
    note: str,
) -> None:
    hand = current_assignment(campaign, world.nour)
    ends(world, campaign)
    for code in ("9", "5"):  # refused, then taken
        html = submit_code(browser, hand, code).content.decode()
        assert "<img" not in html and "data-assignment" not in html and 'id="undo"' not in html
    for deed in ("undo", "change"):
        html = browser.post(f"/assignments/{assignment.pk}/{deed}", **SCRIPT, follow=True).content.decode()
        assert "data-assignment" not in html
    html = browser.get("/work/history/").content.decode()
    assert note in html
    assert "/change" not in html
    assert Annotation.objects.filter(counted=True).count() == 1


def test_a_character_that_cannot_be_stored_is_left_out(browser: Client, campaign: Campaign, nour: User) -> None:
    hand = current_assignment(campaign, nour)
    assert browser.post(f"/assignments/{hand.pk}/report", {"text": "up\x00side"}, **SCRIPT).status_code == 200
    assert ProblemReport.objects.get().text == "upside"
    assert browser.post(f"/assignments/{hand.pk}/report", {"text": "\x00"}, **SCRIPT).status_code == 422
    assert (
        browser.post(f"/assignments/{hand.pk}/draft", {"a-relevance": "\x004", "draft_version": "0"}).status_code == 200
    )
    assert Draft.objects.get().answers == {"relevance": "4"}
    reply = browser.post(
        f"/assignments/{hand.pk}/submit",
        {"a-relevance": "4", "client_key": "k\x00", "confirmed": "relevance:\x00", "shown_at": "\x00"},
        **SCRIPT,
    )
    assert reply.status_code == 200
    assert Annotation.objects.get().client_key == "k"
    following = current_assignment(campaign, nour)
    browser.post(f"/assignments/{following.pk}/skip", {"reason": "broken", "note": "a\x00b"}, **SCRIPT)
    following.refresh_from_db()
    assert (following.state, following.skip_note) == ("skipped", "ab")


def test_answers_without_a_key_are_two_answers(browser: Client, campaign: Campaign, nour: User) -> None:
    for _time in range(2):
        hand = current_assignment(campaign, nour)
        reply = browser.post(f"/assignments/{hand.pk}/submit", {"a-relevance": "4", "client_key": ""}, **SCRIPT)
        assert "answered in another window" not in reply.content.decode()
    assert Annotation.objects.count() == 2


def test_only_warnings_that_there_were_are_kept_as_confirmed(browser: Client, campaign: Campaign, nour: User) -> None:
    submit_code(browser, current_assignment(campaign, nour), "4", confirmed="relevance:made_up")
    assert Annotation.objects.get().confirmed == []


def test_a_draft_has_an_end(browser: Client, campaign: Campaign, nour: User) -> None:
    hand = current_assignment(campaign, nour)
    reply = browser.post(f"/assignments/{hand.pk}/draft", {"a-relevance": "x" * 70_000, "draft_version": "0"})
    assert reply.status_code == 413
    assert "too long" in reply.json()["words"]
    assert not Draft.objects.exists()


def test_a_draft_for_what_another_window_answered_says_so(browser: Client, assignment: Assignment) -> None:
    reply = browser.post(f"/assignments/{assignment.pk}/draft", {"a-relevance": "5", "draft_version": "0"}, **SCRIPT)
    assert reply.status_code == 410
    assert reply.json()["words"] == "This item was answered in another window."


def test_a_sixth_report_is_not_taken(browser: Client, campaign: Campaign, nour: User) -> None:
    url = f"/assignments/{current_assignment(campaign, nour).pk}/report"
    sent = [browser.post(url, {"text": f"dark {time}"}, **SCRIPT).status_code for time in range(6)]
    assert sent == [200] * 5 + [422]
    assert "several times" in browser.post(url, {"text": "dark"}, **SCRIPT).json()["words"]
    assert browser.post(url, {"text": "dark 1"}, **SCRIPT).status_code == 200  # the same words are one report
    assert ProblemReport.objects.count() == 5


def test_time_at_work_is_kept_to_what_is_possible(browser: Client, campaign: Campaign, nour: User) -> None:
    hand = current_assignment(campaign, nour)
    Assignment.objects.filter(pk=hand.pk).update(reserved_at=timezone.now() - timedelta(minutes=2))
    minute = (timezone.now() - timedelta(minutes=1)).isoformat()
    submit_code(browser, hand, "4", shown_at=minute, active_seconds="40000")
    seconds = Annotation.objects.get().active_seconds
    assert seconds is not None and 60 <= seconds < 100


@pytest.mark.parametrize(("language", "name"), [("en", "Egypt"), ("ar", "مصر")])
def test_instructions_name_the_culture(
    client_of: ClientOf, campaign: Campaign, world: World, language: str, name: str
) -> None:
    texts = {"en": "Think of {target} today.", "ar": "فكّر في {target} اليوم."}
    lifecycle.set_instructions(campaign, texts, world.owner)
    world.nour.language = language
    world.nour.save()
    html = client_of(world.nour).get(f"/work/{campaign.pk}/").content.decode()
    assert "{target}" not in html
    assert texts[language].replace("{target}", name) in html


def skip_sheet(browser: Client, campaign: Campaign, user: User, **how: Any) -> Assignment:
    hand = current_assignment(campaign, user)
    reply = browser.post(f"/assignments/{hand.pk}/skip", {"reason": "unknown"}, **how)
    assert reply.status_code == (200 if how else 302)
    hand.refresh_from_db()
    assert hand.state == "skipped"
    return hand


@pytest.mark.parametrize("how", [{}, SCRIPT], ids=["page", "script"])
def test_a_skip_is_undone_by_the_same_strip(
    browser: Client, campaign: Campaign, nour: User, how: dict[str, Any]
) -> None:
    hand = current_assignment(campaign, nour)
    reply = browser.post(f"/assignments/{hand.pk}/skip", {"reason": "unknown"}, follow=True, **how)
    html = reply.content.decode()
    assert f'action="/assignments/{hand.pk}/undo"' in html and 'name="version" value="0"' in html and "Skipped:" in html
    back = browser.post(f"/assignments/{hand.pk}/undo", {"version": "0"}, follow=True, **how).content.decode()
    assert f'data-assignment="{hand.pk}"' in back and 'id="undo"' not in back
    assert current_assignment(campaign, nour) == hand


def test_undo_of_a_skip_too_late_is_reported(browser: Client, campaign: Campaign, nour: User) -> None:
    hand = skip_sheet(browser, campaign, nour, **SCRIPT)
    Assignment.objects.filter(pk=hand.pk).update(changed_at=timezone.now() - timedelta(seconds=40))
    html = browser.post(f"/assignments/{hand.pk}/undo", {"version": "0"}, **SCRIPT).content.decode()
    assert "This skip can no longer be undone." in html and 'id="undo"' not in html
    hand.refresh_from_db()
    assert hand.state == "skipped"


def test_what_was_skipped_can_be_answered_from_the_history(browser: Client, campaign: Campaign, nour: User) -> None:
    hand = skip_sheet(browser, campaign, nour, **SCRIPT)
    assert f'action="/assignments/{hand.pk}/change"' in browser.get("/work/history/").content.decode()
    html = browser.post(f"/assignments/{hand.pk}/change", follow=True).content.decode()
    assert f'data-assignment="{hand.pk}"' in html and "You skipped this item" in html
    hand.refresh_from_db()
    assert hand.state == "skipped"  # until it is answered
    submit_code(browser, hand, "4", **SCRIPT)
    assert Annotation.objects.get().counted
    hand.refresh_from_db()
    assert (hand.state, hand.skip_reason) == ("submitted", "")


def test_what_somebody_else_skipped_is_not_there(
    browser: Client, campaign: Campaign, nour: User, client_of: ClientOf, tarek: User
) -> None:
    hand = skip_sheet(browser, campaign, nour, **SCRIPT)
    other = client_of(tarek)
    assert other.post(f"/assignments/{hand.pk}/undo", {"version": "0"}).status_code == 404
    assert other.post(f"/assignments/{hand.pk}/change").status_code == 404
    reply = other.get(f"/work/{campaign.pk}/?change={hand.pk}").content.decode()
    assert f'data-assignment="{hand.pk}"' not in reply
