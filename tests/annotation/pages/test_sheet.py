"""The sheet page through its public door, with a script and without one."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Draft, ProblemReport, Rating
from annotation.services.campaigns import lifecycle
from people.models import Consent, User
from tests.annotation.pages.conftest import current_assignment
from tests.personas import World, make_consent_version

ClientOf = Callable[[User], Client]
SCRIPT = {"HTTP_X_REQUESTED_WITH": "emic"}


@pytest.fixture
def page(campaign: Campaign) -> str:
    return f"/work/{campaign.pk}/"


@pytest.fixture
def browser(client_of: ClientOf, nour: User, page: str) -> Client:
    """Nour's, with a sheet open."""
    client = client_of(nour)
    assert client.get(page).status_code == 200
    return client


def key_in(html: str) -> str:
    found = re.search(r'name="client_key" value="([^"]+)"', html)
    assert found
    return found[1]


def draft_version_in(html: str) -> str:
    return re.findall(r'name="draft_version" value="([^"]+)"', html)[0]


def test_the_sheet_asks_about_the_persons_own_culture(browser: Client, page: str) -> None:
    html = browser.get(page).content.decode()
    assert "How relevant is this picture to Egypt?" in html
    assert "<img" in html and "srcset" in html
    assert html.count('type="radio" name="a-relevance"') == 10  # five in hand, five of the sheet ahead
    assert "Look first, then rate." in html
    assert 'data-key="5"' in html
    assert "<b>0</b> of 12" in html


def test_an_arabic_page_speaks_arabic(client_of: ClientOf, nour: User, page: str) -> None:
    nour.language = "ar"
    nour.save()
    html = client_of(nour).get(page).content.decode()
    assert 'dir="rtl"' in html
    assert "ما مدى صلة هذه الصورة بـمصر؟" in html
    assert "انظر أولاً، ثم قيّم." in html


def test_without_a_script_an_answer_leads_to_the_next_sheet(
    browser: Client, campaign: Campaign, nour: User, page: str
) -> None:
    first = current_assignment(campaign, nour)
    html = browser.get(page).content.decode()
    Assignment.objects.filter(pk=first.pk).update(shown_at=first.reserved_at - timedelta(minutes=1))
    posted = {"a-relevance": "4", "client_key": key_in(html), "active_seconds": "7.5", "shown_at": ""}
    answer = browser.post(f"/assignments/{first.pk}/submit", posted, follow=True)
    assert answer.redirect_chain == [(f"{page}?after={first.pk}", 302)]
    kept = Annotation.objects.get()
    assert (kept.answers, kept.counted, kept.active_seconds) == ({"relevance": "4"}, True, 7.5)
    assert Rating.objects.get().value == 4.0
    html = answer.content.decode()
    assert f"/assignments/{first.pk}/undo" in html
    assert f'data-assignment="{current_assignment(campaign, nour).pk}"' in html
    assert "<b>1</b> of 12" in html


def test_a_script_gets_the_next_sheet_in_the_same_reply(browser: Client, campaign: Campaign, nour: User) -> None:
    first = current_assignment(campaign, nour)
    reply = browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "2", "client_key": "k1"}, **SCRIPT)
    html = reply.content.decode()
    assert reply.status_code == 200
    assert "<html" not in html
    assert f'data-assignment="{current_assignment(campaign, nour).pk}"' in html
    assert 'id="gauge"' in html and 'id="undo"' in html


def test_a_sheet_that_the_page_shows_already_is_not_drawn_again(
    browser: Client, campaign: Campaign, nour: User
) -> None:
    first = current_assignment(campaign, nour)
    ahead = Assignment.objects.get(participation=first.participation, state="reserved", in_hand=False)
    posted = {"a-relevance": "2", "client_key": "k1", "showing": str(ahead.pk)}
    reply = browser.post(f"/assignments/{first.pk}/submit", posted, **SCRIPT).content.decode()
    hand, _, following = reply.partition("<template")
    assert f'data-bare data-assignment="{ahead.pk}"' in hand
    assert "a-relevance" not in hand and 'id="undo"' in hand and 'id="gauge"' in hand
    assert "a-relevance" in following and f'data-assignment="{ahead.pk}"' not in following


@pytest.mark.parametrize("showing", ["", "x", "0", "first", "99999999999999999999999"])
def test_any_other_sheet_on_the_page_gets_the_one_in_hand_as_a_whole(
    browser: Client, campaign: Campaign, nour: User, showing: str
) -> None:
    first = current_assignment(campaign, nour)
    posted = {"a-relevance": "2", "client_key": "k1", "showing": str(first.pk) if showing == "first" else showing}
    hand = browser.post(f"/assignments/{first.pk}/submit", posted, **SCRIPT).content.decode().partition("<template")[0]
    assert "data-bare" not in hand and "a-relevance" in hand
    assert f'data-assignment="{current_assignment(campaign, nour).pk}"' in hand


def test_a_reply_with_a_notice_brings_the_whole_sheet(browser: Client, campaign: Campaign, nour: User) -> None:
    first = current_assignment(campaign, nour)
    posted = {"reason": "no such reason", "showing": str(first.pk)}
    hand = browser.post(f"/assignments/{first.pk}/skip", posted, **SCRIPT).content.decode().partition("<template")[0]
    assert "Choose a reason" in hand and "a-relevance" in hand and "data-bare" not in hand


def test_the_same_key_sent_twice_is_one_answer(browser: Client, campaign: Campaign, nour: User) -> None:
    first = current_assignment(campaign, nour)
    for _time in range(2):
        reply = browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "2", "client_key": "k1"}, **SCRIPT)
        assert reply.status_code == 200
    assert Annotation.objects.count() == 1


@pytest.mark.parametrize("extra", [{}, SCRIPT], ids=["page", "script"])
def test_second_answer_to_a_sheet_is_shown_with_the_first_and_saved_as_draft(
    browser: Client, campaign: Campaign, nour: User, extra: dict[str, Any]
) -> None:
    first = current_assignment(campaign, nour)
    browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "2", "client_key": "k1"}, **SCRIPT)
    second = {"a-relevance": "5", "client_key": "k2", "draft_version": "0"}
    for _time in range(2):  # sent again where the reply was lost: nobody has seen both yet
        reply = browser.post(f"/assignments/{first.pk}/submit", second, **extra)
        html = reply.content.decode()
        assert reply.status_code == 422
        assert "This item was answered in another window." in html and 'value="5" data-key="5" checked' in html
        assert Annotation.objects.get().answers == {"relevance": "2"}
        assert Draft.objects.get().answers == {"relevance": "5"}
    shown = {"a-relevance": "5", "client_key": "k3", "draft_version": draft_version_in(html)}
    browser.post(f"/assignments/{first.pk}/submit", shown, **extra)
    assert Annotation.objects.get(live=True).answers == {"relevance": "5"}


def test_a_third_window_does_not_replace_the_answer_that_it_has_not_shown(
    browser: Client, campaign: Campaign, nour: User
) -> None:
    first = current_assignment(campaign, nour)
    for number, code in enumerate("253"):
        sent = {"a-relevance": code, "client_key": f"k{number}", "draft_version": "0"}
        reply = browser.post(f"/assignments/{first.pk}/submit", sent, **SCRIPT)
        assert reply.status_code == (422 if number else 200)
    assert Annotation.objects.get().answers == {"relevance": "2"}
    assert Draft.objects.get().answers == {"relevance": "3"}


def test_an_undo_that_is_asked_for_again_since_its_reply_was_lost_is_the_same_undo(
    browser: Client, campaign: Campaign, nour: User
) -> None:
    first = current_assignment(campaign, nour)
    browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "2", "client_key": "k1"}, **SCRIPT)
    for _time in range(2):
        html = browser.post(f"/assignments/{first.pk}/undo", {"version": "1"}, **SCRIPT).content.decode()
        assert f'data-assignment="{first.pk}"' in html and "undo" not in html.partition('id="main"')[2].lower()
        assert 'role="status"' not in html.partition('id="main"')[2].partition("</form>")[0]
    browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "3", "client_key": "k2"}, **SCRIPT)
    html = browser.post(f"/assignments/{first.pk}/undo", {"version": "1"}, **SCRIPT).content.decode()
    assert "This can no longer be undone. Your answer was not changed." in html
    second = current_assignment(campaign, nour)
    browser.post(f"/assignments/{second.pk}/skip", {"reason": "broken"}, **SCRIPT)
    for _time in range(2):
        html = browser.post(f"/assignments/{second.pk}/undo", {"version": "0"}, **SCRIPT).content.decode()
        assert f'data-assignment="{second.pk}"' in html and "can no longer be undone" not in html


@pytest.mark.parametrize("code", ["2", ""])
def test_the_same_answer_or_none_to_an_answered_sheet_goes_on_and_says_so(
    browser: Client, campaign: Campaign, nour: User, code: str
) -> None:
    first = current_assignment(campaign, nour)
    browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "2", "client_key": "k1"}, **SCRIPT)
    reply = browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": code, "client_key": "k2"}, **SCRIPT)
    assert reply.status_code == 200 and "answered in another window" in reply.content.decode()
    assert not Draft.objects.exists()


@pytest.mark.parametrize("extra", [{}, SCRIPT], ids=["page", "script"])
def test_a_missing_answer_is_told_under_its_field(
    browser: Client, campaign: Campaign, nour: User, extra: dict[str, Any]
) -> None:
    first = current_assignment(campaign, nour)
    reply = browser.post(f"/assignments/{first.pk}/submit", {"client_key": "k1"}, **extra)
    assert reply.status_code == 422
    assert 'id="e-relevance"' in reply.content.decode()
    assert not Annotation.objects.exists()
    assert (
        browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "9", "client_key": "k"}, **extra).status_code
        == 422
    )


def test_times_a_browser_says_are_kept_to_what_is_possible(browser: Client, campaign: Campaign, nour: User) -> None:
    first = current_assignment(campaign, nour)
    tomorrow = (timezone.now() + timedelta(days=1)).isoformat()
    posted = {"a-relevance": "2", "client_key": "k1", "shown_at": tomorrow, "active_seconds": "-5"}
    browser.post(f"/assignments/{first.pk}/submit", posted, **SCRIPT)
    kept = Annotation.objects.get()
    assert kept.shown_at <= kept.submitted_at
    assert kept.active_seconds is None


def test_undo_brings_the_sheet_back_with_its_answer(browser: Client, campaign: Campaign, nour: User) -> None:
    first = current_assignment(campaign, nour)
    browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "2", "client_key": "k1"}, **SCRIPT)
    html = browser.post(f"/assignments/{first.pk}/undo", **SCRIPT).content.decode()
    assert f'data-assignment="{first.pk}"' in html
    assert 'value="2" data-key="2" checked' in html
    browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "3", "client_key": "k2"}, **SCRIPT)
    assert Annotation.objects.get(live=True).answers == {"relevance": "3"}


def test_undo_names_the_answer_it_takes_back_and_touches_no_other(
    browser: Client, campaign: Campaign, nour: User
) -> None:
    first = current_assignment(campaign, nour)
    html = browser.post(
        f"/assignments/{first.pk}/submit", {"a-relevance": "2", "client_key": "k1"}, **SCRIPT
    ).content.decode()
    assert '<input type="hidden" name="version" value="1">' in html
    html = browser.post(
        f"/assignments/{first.pk}/undo", {"version": "2"}, **SCRIPT
    ).content.decode()  # a window that is behind
    assert "This can no longer be undone." in html
    assert Annotation.objects.get().live
    browser.post(f"/assignments/{first.pk}/undo", {"version": "1"}, **SCRIPT)
    assert not Annotation.objects.get().live


def test_undo_works_without_a_script(browser: Client, campaign: Campaign, nour: User) -> None:
    first = current_assignment(campaign, nour)
    browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "2", "client_key": "k1"})
    html = browser.post(f"/assignments/{first.pk}/undo", follow=True).content.decode()
    assert f'data-assignment="{first.pk}"' in html
    assert 'value="2" data-key="2" checked' in html


def test_a_late_undo_says_what_else_can_be_done(browser: Client, campaign: Campaign, nour: User) -> None:
    first = current_assignment(campaign, nour)
    browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "2", "client_key": "k1"}, **SCRIPT)
    Annotation.objects.update(submitted_at=timezone.now() - timedelta(minutes=5))
    html = browser.post(f"/assignments/{first.pk}/undo", **SCRIPT).content.decode()
    assert "too late" in html
    assert Annotation.objects.get().live


def test_skip_takes_a_reason_of_the_stage_only(browser: Client, campaign: Campaign, nour: User) -> None:
    first = current_assignment(campaign, nour)
    browser.post(f"/assignments/{first.pk}/skip", {"reason": "bored"}, **SCRIPT)
    assert current_assignment(campaign, nour) == first
    html = browser.post(f"/assignments/{first.pk}/skip", {"reason": "unknown"}, **SCRIPT).content.decode()
    first.refresh_from_db()
    assert (first.state, first.skip_reason) == ("skipped", "unknown")
    assert f'data-assignment="{current_assignment(campaign, nour).pk}"' in html


def test_dialogs_open_without_a_script(browser: Client, page: str) -> None:
    for name in ("why", "report", "help"):
        html = browser.get(f"{page}?open={name}").content.decode()
        assert re.search(rf'<dialog id="{name}"[^>]* open', html), name
    assert not re.search(r"<dialog[^>]* open", browser.get(page).content.decode())


def test_a_problem_is_kept_and_the_work_goes_on(browser: Client, campaign: Campaign, nour: User) -> None:
    first = current_assignment(campaign, nour)
    url = f"/assignments/{first.pk}/report"
    assert browser.post(url, {"text": "  "}, **SCRIPT).status_code == 422
    assert browser.post(url, {"text": "Mirrored."}, **SCRIPT).json()["words"].startswith("Thank you")
    assert browser.post(url, {"text": "Mirrored."}, follow=True).status_code == 200
    assert {report.text for report in ProblemReport.objects.all()} == {"Mirrored."}
    assert current_assignment(campaign, nour) == first


def test_a_draft_comes_back_and_an_older_window_overwrites_nothing(
    browser: Client, campaign: Campaign, nour: User, page: str
) -> None:
    first = current_assignment(campaign, nour)
    url = f"/assignments/{first.pk}/draft"
    assert browser.post(url, {"a-relevance": "3", "draft_version": "0"}).json()["version"] == 1
    html = browser.get(page).content.decode()
    assert 'value="3" data-key="3" checked' in html
    assert 'name="draft_version" value="1"' in html
    stale = browser.post(url, {"a-relevance": "5", "draft_version": "0"})
    assert (stale.status_code, stale.json()["version"]) == (409, 1)
    assert Draft.objects.get().answers == {"relevance": "3"}
    assert browser.post(url, {"a-relevance": "5", "draft_version": "1"}).json()["version"] == 2


def test_a_draft_of_an_answered_sheet_is_gone(browser: Client, campaign: Campaign, nour: User) -> None:
    first = current_assignment(campaign, nour)
    browser.post(f"/assignments/{first.pk}/submit", {"a-relevance": "2", "client_key": "k1"}, **SCRIPT)
    assert browser.post(f"/assignments/{first.pk}/draft", {"a-relevance": "3", "draft_version": "0"}).status_code == 410


def test_nothing_left_says_why(browser: Client, campaign: Campaign, nour: User, page: str) -> None:
    while (hand := Assignment.objects.filter(rater__user=nour, state="reserved", in_hand=True).first()) is not None:
        reply = browser.post(
            f"/assignments/{hand.pk}/submit", {"a-relevance": "1", "client_key": f"k{hand.pk}"}, **SCRIPT
        )
    assert "You have answered everything here." in reply.content.decode()
    assert "Other people answer the rest." in reply.content.decode()
    assert 'id="undo"' in reply.content.decode()
    assert "You have answered everything here." in browser.get(page).content.decode()
    assert Annotation.objects.count() == 6


def test_a_pause_says_so(client_of: ClientOf, campaign: Campaign, world: World, nour: User, page: str) -> None:
    lifecycle.pause_cohort(CampaignCohort.objects.get(campaign=campaign, cohort=world.egypt), world.owner)
    assert "Your cohort is paused" in client_of(nour).get(page).content.decode()


def test_without_consent_the_text_comes_first(
    client_of: ClientOf, world: World, campaign: Campaign, nour: User, page: str
) -> None:
    make_consent_version(world.team, 2)
    reply = client_of(nour).get(page)
    assert reply.status_code == 302
    assert reply["Location"].startswith(f"/consent/{world.team.pk}?next=%2Fwork%2F")
    assert not Assignment.objects.exists()
    Consent.objects.create(user=nour, version=world.team.consent_versions.get(number=2), language="en")
    assert client_of(nour).get(page).status_code == 200


@pytest.mark.parametrize("who", ["stranger", "rival", "rival_rater", "mara", "site_admin"])
def test_whoever_is_in_no_cohort_of_it_finds_nothing(client_of: ClientOf, world: World, page: str, who: str) -> None:
    assert client_of(getattr(world, who)).get(page).status_code == 404
    assert not Assignment.objects.exists()


def test_a_signed_out_person_is_asked_to_sign_in(client: Client, page: str) -> None:
    for url in (page, "/work/", "/work/history/"):
        assert client.get(url)["Location"].startswith("/sign-in?next=")


DEEDS = ["submit", "skip", "undo", "draft", "report", "change", "leave"]


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("person_name", ["tarek", "bia", "stranger", "rival_rater", "mara", "site_admin", None])
def test_nobody_touches_anothers_sheet(
    browser: Client,
    client_of: ClientOf,
    world: World,
    campaign: Campaign,
    nour: User,
    deed: str,
    person_name: str | None,
) -> None:
    theirs = current_assignment(campaign, nour)
    client = client_of(getattr(world, person_name)) if person_name else Client()
    posted = {"a-relevance": "1", "client_key": "x", "reason": "unknown", "text": "x", "draft_version": "0"}
    reply = client.post(f"/assignments/{theirs.pk}/{deed}", posted)
    assert reply.status_code == (404 if person_name else 302)
    assert client.post(f"/assignments/99999999/{deed}", posted).status_code == (404 if person_name else 302)
    theirs.refresh_from_db()
    assert theirs.state == "reserved"
    assert not Annotation.objects.exists() and not Draft.objects.exists() and not ProblemReport.objects.exists()


@pytest.mark.parametrize("deed", DEEDS)
def test_deeds_are_posted(browser: Client, campaign: Campaign, nour: User, deed: str) -> None:
    assert browser.get(f"/assignments/{current_assignment(campaign, nour).pk}/{deed}").status_code == 405


def test_a_form_from_elsewhere_is_refused(world: World, campaign: Campaign, nour: User, page: str) -> None:
    client = world.client(nour, enforce_csrf_checks=True)
    client.get(page)
    reply = client.post(
        f"/assignments/{current_assignment(campaign, nour).pk}/submit", {"a-relevance": "1", "client_key": "x"}
    )
    assert reply.status_code == 403
    assert not Annotation.objects.exists()


def test_pages_hold_no_inline_style_or_script(browser: Client, page: str) -> None:
    for url in (page, "/work/", "/work/history/"):
        html = browser.get(url).content.decode()
        assert not re.search(r"\sstyle=|\son\w+=|<style|<script>", html), url


def test_others_answers_are_not_on_the_page(client_of: ClientOf, campaign: Campaign, world: World, page: str) -> None:
    tarek = client_of(world.tarek)
    tarek.get(page)
    hand = current_assignment(campaign, world.tarek)
    tarek.post(f"/assignments/{hand.pk}/submit", {"a-relevance": "5", "client_key": "k"}, **SCRIPT)
    html = client_of(world.nour).get(page).content.decode()
    assert "checked" not in html.split('id="why"')[0]
