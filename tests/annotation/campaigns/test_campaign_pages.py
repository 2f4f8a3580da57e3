"""Campaigns, planned through the pages: by those who may, with words for what cannot be done now."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Campaign, InstructionText, ProblemReport, Slot
from annotation.services.answers.problem_reports import report_problem
from annotation.services.answers.submit import Submission, submit
from annotation.services.queue.next_work import get_or_claim_work
from benchmarks.models import Item
from jobs.models import Event
from people.services.raters import rater_of
from tests.personas import World


def home(world: World) -> str:
    return f"/b/{world.benchmark.slug}/campaigns/"


def page_of(world: World, campaign: Campaign, rest: str = "") -> str:
    return f"{home(world)}{campaign.pk}/{rest}"


def campaign_form(world: World, **more: Any) -> dict[str, Any]:
    targets = {f"target_{world.egypt.pk}": "2", f"target_{world.brazil.pk}": ""}
    texts = {"text_en": "Look first.", "text_ar": "انظر أولاً."}
    return (
        {"name": "Round one", "summary": "Rate pictures", "conditions": ["natural", "generated"]}
        | targets
        | texts
        | more
    )


def create_campaign(world: World, client: Client, **more: Any) -> Campaign:
    reply = client.post(home(world) + "new/", campaign_form(world, **more))
    assert reply.status_code == 302, reply.content.decode()
    return Campaign.objects.latest("pk")


def do(client: Client, world: World, campaign: Campaign, act: str, **more: str) -> str:
    """Press a button; what the page then says."""
    return client.post(page_of(world, campaign, "action/"), {"act": act, **more}, follow=True).content.decode()


@pytest.fixture
def mara_client(world: World) -> Client:
    world.add_items(8)
    return world.client(world.mara)


@pytest.fixture
def opened(world: World, mara_client: Client) -> Campaign:
    campaign = create_campaign(world, mara_client)
    do(mara_client, world, campaign, "open")
    campaign.refresh_from_db()
    assert campaign.state == "open"
    return campaign


def rate_one(world: World, campaign: Campaign) -> Assignment:
    rater = rater_of(world.nour)
    work = get_or_claim_work(rater, campaign.cohorts.get(cohort=world.egypt), timezone.now())
    assert work.current
    submit(work.current.pk, rater, Submission({"relevance": "4"}, f"key-{work.current.pk}"), timezone.now())
    return work.current


def test_a_draft_is_made_and_opened(world: World, mara_client: Client) -> None:
    campaign = create_campaign(world, mara_client)
    assert (campaign.state, campaign.conditions, campaign.created_by) == ("draft", [], world.mara)
    assert {row.cohort: row.target_answers for row in campaign.cohorts.all()} == {world.egypt: 2}
    texts = InstructionText.objects.filter(version__campaign=campaign)
    assert set(texts.values_list("language", "body")) == {("en", "Look first."), ("ar", "انظر أولاً.")}
    assert "The campaign is open." in do(mara_client, world, campaign, "open")
    assert Slot.objects.filter(cohort__campaign=campaign).count() == 8


def test_only_one_condition_is_asked(world: World, mara_client: Client) -> None:
    campaign = create_campaign(world, mara_client, conditions=["natural"])
    do(mara_client, world, campaign, "open")
    slots = Slot.objects.filter(cohort__campaign=campaign)
    assert set(slots.values_list("unit__item__condition", flat=True)) == {"natural"}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": ""}, "required"),
        ({"conditions": ["painted"]}, "painted"),
        ({"opens_on": "2026-05-02", "closes_on": "2026-05-01"}, "The last day lies before the first"),
        ({"opens_on": "tomorrow"}, "valid date"),
    ],
)
def test_invalid_campaign_form_shows_errors_and_creates_nothing(
    world: World, mara_client: Client, wrong: dict[str, Any], words: str
) -> None:
    reply = mara_client.post(home(world) + "new/", campaign_form(world, **wrong))
    assert reply.status_code == 400
    assert words in reply.content.decode()
    assert not Campaign.objects.exists()


def test_somebody_must_be_asked(world: World, mara_client: Client) -> None:
    for target in ("", "0", "-3", "many"):
        reply = mara_client.post(home(world) + "new/", campaign_form(world, **{f"target_{world.egypt.pk}": target}))
        assert reply.status_code == 400
        assert "Enter the number of answers per item for at least one cohort" in reply.content.decode()


def test_a_cohort_of_another_team_cannot_be_asked(world: World, mara_client: Client) -> None:
    campaign = create_campaign(world, mara_client, **{f"target_{world.other_cohort.pk}": "3"})
    assert [row.cohort for row in campaign.cohorts.all()] == [world.egypt]


def test_opening_without_items_is_refused_with_the_reason(world: World) -> None:
    client = world.client(world.mara)
    campaign = create_campaign(world, client, conditions=[])
    assert "There are no items to show yet" in do(client, world, campaign, "open")
    campaign.refresh_from_db()
    assert campaign.state == "draft"


def test_pause_go_on_and_close(world: World, mara_client: Client, opened: Campaign) -> None:
    assert "No new work is assigned" in do(mara_client, world, opened, "pause")
    assert get_or_claim_work(rater_of(world.nour), opened.cohorts.get(), timezone.now()).no_work
    assert "The campaign is paused already." in do(mara_client, world, opened, "pause")
    do(mara_client, world, opened, "resume")
    assert get_or_claim_work(rater_of(world.nour), opened.cohorts.get(), timezone.now()).current
    asked = mara_client.get(page_of(world, opened, "close/"))
    assert "cannot be reopened" in asked.content.decode()
    opened.refresh_from_db()
    assert opened.state == "open"
    mara_client.post(page_of(world, opened, "close/"))
    opened.refresh_from_db()
    assert opened.state == "closed"
    assert "The campaign is closed. Copy the campaign" in do(mara_client, world, opened, "resume")


def test_a_copy_is_a_draft_of_its_own(world: World, mara_client: Client, opened: Campaign) -> None:
    do(mara_client, world, opened, "clone", name="Round two")
    copy = Campaign.objects.latest("pk")
    assert (copy.name, copy.state, copy.summary) == ("Round two", "draft", opened.summary)
    assert copy.cohorts.get().target_answers == 2


def test_targets_change_while_people_work(world: World, mara_client: Client, opened: Campaign) -> None:
    row = opened.cohorts.get()
    rate_one(world, opened)
    address = page_of(world, opened, f"cohorts/{row.pk}/")
    page = mara_client.post(address, {"do": "target", "target": "3"}, follow=True).content.decode()
    assert "Egypt is asked for 3 answers to each item." in page
    assert set(Slot.objects.filter(cohort=row).values_list("wanted", flat=True)) == {3}
    assert "<b>1</b> of 24" in page
    assert (
        "At least one answer"
        in mara_client.post(address, {"do": "target", "target": "0"}, follow=True).content.decode()
    )


def test_what_one_person_may_answer_is_limited_while_people_work(
    world: World, mara_client: Client, opened: Campaign
) -> None:
    row = opened.cohorts.get()
    address = page_of(world, opened, f"cohorts/{row.pk}/")
    limits = {"do": "limits", "most_per_person": "20", "most_per_day": "5"}
    page = mara_client.post(address, limits, follow=True).content.decode()
    assert "20 answers in all, 5 a day" in page and "People can finish what is in progress." in page
    wrong = mara_client.post(address, limits | {"most_per_day": "0"}, follow=True).content.decode()
    assert "A limit is a number from 1" in wrong and "20 answers in all, 5 a day" in wrong
    mara_client.post(address, {"do": "limits", "most_per_person": "", "most_per_day": ""})
    row.refresh_from_db()
    assert (row.most_per_person, row.most_per_day) == (None, None)
    assert world.client(world.reviewer).post(address, limits).status_code == 404


def test_a_page_from_before_the_campaign_closed_changes_nothing(
    world: World, mara_client: Client, opened: Campaign
) -> None:
    row = opened.cohorts.get()
    address = page_of(world, opened, f"cohorts/{row.pk}/")
    mara_client.post(page_of(world, opened, "close/"))
    for wish in ({"do": "target", "target": "3"}, {"do": "limits", "most_per_day": "5"}, {"do": "pause"}):
        page = mara_client.post(address, wish, follow=True).content.decode()
        assert "The campaign is closed. Copy the campaign to continue." in page
    row.refresh_from_db()
    assert (row.target_answers, row.most_per_day, row.paused) == (2, None, False)


def test_a_cohort_rests_alone(world: World, mara_client: Client) -> None:
    campaign = create_campaign(world, mara_client, **{f"target_{world.brazil.pk}": "2"})
    do(mara_client, world, campaign, "open")
    egypt, brazil = (campaign.cohorts.get(cohort=cohort) for cohort in (world.egypt, world.brazil))
    mara_client.post(page_of(world, campaign, f"cohorts/{egypt.pk}/"), {"do": "pause"})
    assert get_or_claim_work(rater_of(world.nour), egypt, timezone.now()).no_work
    assert get_or_claim_work(rater_of(world.bia), brazil, timezone.now()).current
    mara_client.post(page_of(world, campaign, f"cohorts/{egypt.pk}/"), {"do": "resume"})
    egypt.refresh_from_db()
    assert get_or_claim_work(rater_of(world.nour), egypt, timezone.now()).current


def test_new_instructions_are_a_new_version(world: World, mara_client: Client, opened: Campaign) -> None:
    address = page_of(world, opened, "instructions/")
    form = {"act": "publish", "s:texts[0].language": "en", "t:texts[0].body": "Look twice."}
    page = mara_client.post(address, form, follow=True).content.decode()
    assert "Instructions 2 are published" in page
    assert "Look twice." in page
    mara_client.post(address, form)
    assert opened.instruction_versions.count() == 2


def test_items_added_later_join_the_campaign(world: World, mara_client: Client, opened: Campaign) -> None:
    world.add_items(3)
    assert "3 new items were added." in do(mara_client, world, opened, "fill")
    assert "There were no new items to add." in do(mara_client, world, opened, "fill")


def test_a_reported_problem_is_shown_and_answered(world: World, mara_client: Client, opened: Campaign) -> None:
    assignment = rate_one(world, opened)
    report_problem(assignment.pk, rater_of(world.nour), "It is upside down", timezone.now())
    problem = ProblemReport.objects.get()
    page = mara_client.get(page_of(world, opened)).content.decode()
    assert "It is upside down" in page
    assert world.benchmark.pseudonym(rater_of(world.nour).pk) in page
    assert world.nour.name not in page
    address = page_of(world, opened, f"problems/{problem.pk}/")
    assert "Write a few words" in mara_client.post(address, {"answer": " "}, follow=True).content.decode()
    assert "We turned it" in mara_client.post(address, {"answer": "We turned it"}, follow=True).content.decode()
    problem.refresh_from_db()
    assert (problem.answered_by, problem.answer) == (world.mara, "We turned it")
    assert Event.objects.filter(verb="problem.answered", actor=world.mara).count() == 1


def test_progress_stands_on_the_list(world: World, mara_client: Client, opened: Campaign) -> None:
    rate_one(world, opened)
    page = mara_client.get(home(world)).content.decode()
    assert "<b>1</b> of 16" in page
    assert "Round one" in page


def test_the_list_and_the_top_of_the_page_say_that_problems_wait(
    world: World, mara_client: Client, opened: Campaign
) -> None:
    for address in (home(world), page_of(world, opened)):
        assert "reported problem" not in mara_client.get(address).content.decode()
    assignment = rate_one(world, opened)
    report_problem(assignment.pk, rater_of(world.nour), "It is upside down", timezone.now())
    assert (
        f'href="{page_of(world, opened)}#problems">1 reported problem waits'
        in mara_client.get(home(world)).content.decode()
    )
    assert 'href="#problems">1 reported problem waits' in mara_client.get(page_of(world, opened)).content.decode()
    problem = ProblemReport.objects.get()
    mara_client.post(page_of(world, opened, f"problems/{problem.pk}/"), {"answer": "We turned it"})
    for address in (home(world), page_of(world, opened)):
        assert "1 reported problem, answered" in mara_client.get(address).content.decode()


def test_a_draft_says_what_it_would_ask_and_offers_only_what_it_can(world: World, mara_client: Client) -> None:
    campaign = create_campaign(world, mara_client, conditions=["natural"])
    page = mara_client.get(page_of(world, campaign)).content.decode()
    for text in (page, mara_client.get(home(world)).content.decode()):
        assert "4 items; answers to each: 2" in text
        assert "of 0" not in text
    for missing in ('value="pause"', "Close…"):
        assert missing not in page
    assert "Discard the draft…" in page
    do(mara_client, world, campaign, "open")
    page = mara_client.get(page_of(world, campaign)).content.decode()
    assert "<b>0</b> of 8" in page
    assert "answers to each" not in page
    assert page.count('value="pause"') == 2
    assert "Close…" in page


def test_a_draft_is_discarded_and_never_called_closed(world: World, mara_client: Client, opened: Campaign) -> None:
    draft = create_campaign(world, mara_client, name="Mistake")
    asked = mara_client.get(page_of(world, draft, "close/")).content.decode()
    assert "Discard the draft “Mistake”?" in asked
    assert "cannot be undone" in asked
    html = mara_client.post(page_of(world, draft, "close/"), follow=True).content.decode()
    assert "The draft is discarded." in html
    assert world.client(world.nour).get(f"/work/{Campaign.objects.latest('pk').pk}/").status_code == 404
    assert world.client(world.nour).get(f"/work/{opened.pk}/").status_code == 200
    assert "Discarded draft" in html
    assert "Discarded draft" in mara_client.get(home(world)).content.decode()
    assert "The campaign is closed" in do(mara_client, world, draft, "open")
    mara_client.post(page_of(world, opened, "close/"))
    assert "Discarded draft" not in mara_client.get(page_of(world, opened)).content.decode()


def test_closing_is_no_green_button(world: World, mara_client: Client, opened: Campaign) -> None:
    asked = mara_client.get(page_of(world, opened, "close/")).content.decode().split("<main", 1)[1]
    assert '<button class="btn halt">Close campaign</button>' in asked
    assert "btn go" not in asked


Ask = Callable[[Client, str], Any]


def test_reviewers_look_and_do_not_touch(world: World, opened: Campaign) -> None:
    client = world.client(world.reviewer)
    for address in (home(world), page_of(world, opened)):
        page = client.get(address)
        assert page.status_code == 200
        assert 'method="post"' not in page.content.decode().split("<main", 1)[1]
    row = opened.cohorts.get()
    posts = ["action/", "close/", "instructions/", f"cohorts/{row.pk}/", "problems/1/"]
    before = Event.objects.count()
    for rest in posts:
        assert (
            client.post(page_of(world, opened, rest), {"act": "pause", "do": "pause", "target": "5"}).status_code == 404
        )
    assert client.get(home(world) + "new/").status_code == 404
    assert client.post(home(world) + "new/", campaign_form(world)).status_code == 404
    opened.refresh_from_db()
    assert (opened.state, Event.objects.count()) == ("open", before)


def test_others_find_nothing(world: World, opened: Campaign) -> None:
    row = opened.cohorts.get()
    rests = ["", "action/", "close/", "instructions/", f"cohorts/{row.pk}/", "problems/1/"]
    addresses = [home(world), home(world) + "new/", *(page_of(world, opened, rest) for rest in rests)]
    for user in (world.stranger, world.rival, world.nour, world.manager):
        client = world.client(user)
        for address in addresses:
            assert client.get(address).status_code in (404, 405), (user, address)
            assert client.post(address).status_code in (404, 405), (user, address)
    for address in addresses:
        assert world.client().get(address).status_code in (302, 405)


def test_a_campaign_of_another_benchmark_is_not_found_here(world: World, opened: Campaign) -> None:
    client = world.client(world.rival)
    foreign = f"/b/{world.other_benchmark.slug}/campaigns/{opened.pk}/"
    assert client.get(f"/b/{world.other_benchmark.slug}/campaigns/").status_code == 200
    assert client.get(foreign).status_code == 404
    assert client.post(foreign + "action/", {"act": "pause"}).status_code == 404


def test_an_unknown_button_is_not_found(world: World, mara_client: Client, opened: Campaign) -> None:
    assert mara_client.post(page_of(world, opened, "action/"), {"act": "__init__"}).status_code == 404
    assert mara_client.get(page_of(world, opened, "action/")).status_code == 405


@pytest.mark.parametrize("has_target", [True, False])
def test_a_draft_promises_each_cohort_its_own_items_only(world: World, has_target: bool) -> None:
    """What a draft says is what the cohort gets when it opens; without a target, cohorts could share units."""
    stage = world.stage
    stage.own_items_only, stage.has_target = True, has_target
    stage.save()
    world.add_items(11, images=True)
    for number, item in enumerate(world.items):
        Item.objects.filter(pk=item.pk).update(origin="Egypt" if number < 8 else "Brazil")
    client = world.client(world.mara)
    campaign = create_campaign(world, client, **{f"target_{world.brazil.pk}": "1", "conditions": []})
    for page in (client.get(home(world)), client.get(page_of(world, campaign))):
        text = page.content.decode()
        assert "8 items; answers to each: 2" in text and "3 items; answers to each: 1" in text
        assert "11 items" not in text
    do(client, world, campaign, "open")
    slots = Slot.objects.filter(cohort__campaign=campaign)
    assert slots.filter(cohort__cohort=world.egypt).count() == 8
    assert slots.filter(cohort__cohort=world.brazil).count() == 3
