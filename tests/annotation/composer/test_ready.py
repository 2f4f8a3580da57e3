"""Instructions come first: what is required is gone through before work, honestly timed, and explained."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.instructions.protocol import Protocol, problems
from annotation.models import Assignment, Campaign, CampaignCohort, InstructionVersion, Readiness
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.instructions import InstructionDraft, newest_version, publish, texts_of
from annotation.services.campaigns.readiness import add_viewing_time, readiness_of, sign_ticket
from annotation.services.sheets.stages import opening_problems
from people.models import User
from people.services.raters import rater_of
from tests.forms import inputs_of
from tests.module_world import built_once
from tests.personas import World

PARTS: dict[str, Any] = {
    "pairs": [{"do": "Look at all of it.", "dont": "Judge by one corner.", "why": "Corners mislead."}],
    "materials": [
        {"key": "rules", "title": "The rules", "kind": "reading", "body": "Read me.", "seconds": 20},
        {"key": "film", "title": "A film", "kind": "video", "url": "https://media.example.org/a.mp4", "seconds": 0},
    ],
    "quiz": [
        {"key": "one", "question": "May you skip?", "options": [
            {"code": "yes", "label": "Yes", "right": True, "why": "Skipping is fine."},
            {"code": "no", "label": "No", "right": False, "why": "It tells us about the picture."}]},
        {"key": "two", "question": "Whose view counts?", "options": [
            {"code": "mine", "label": "Mine", "right": True},
            {"code": "all", "label": "Everybody's", "right": False}]},
    ],
}  # fmt: skip


@built_once
def opened(world: World) -> CampaignCohort:
    world.add_items(3)
    campaign = lifecycle.create(world.stage, "Round", world.mara, {world.egypt: 2, world.brazil: 1})
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    return campaign.cohorts.select_related("campaign__stage", "cohort").get(cohort=world.egypt)


def require(campaign: Campaign, parts: Any = None, **how: Any) -> InstructionVersion:
    texts = [InstructionDraft("en", "Look at {target}.", None, PARTS if parts is None else parts)]
    return publish(campaign, texts, None, **{"required": True, **how})


def ready_page(opened: CampaignCohort) -> str:
    return f"/work/{opened.campaign_id}/ready/"


def view_material(client: Client, url: str, key: str, monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    """Open a material, wait, and press its button, without a script."""
    form = dict(inputs_of(client.get(f"{url}?open={key}").content.decode()))
    later = timezone.now() + timedelta(seconds=seconds)
    with monkeypatch.context() as patch:
        patch.setattr("annotation.views.protocol.timezone.now", lambda: later)
        client.post(url, {**form, "act": "seen"})


def test_work_begins_with_the_instructions_that_are_required(world: World, opened: CampaignCohort) -> None:
    nour = world.client(world.nour)
    require(opened.campaign)
    reply = nour.get(f"/work/{opened.campaign_id}/")
    assert reply.status_code == 302 and reply.url == ready_page(opened)
    assert not Assignment.objects.exists()
    home = nour.get("/work/").content.decode()
    assert "Read the instructions first." in home and ready_page(opened) in home
    html = nour.get(ready_page(opened)).content.decode()
    assert "Look at Egypt." in html and "Judge by one corner." in html and "The rules" in html
    assert "May you skip?" not in html  # first what is to be read


def test_instructions_that_are_not_required_stop_nobody(world: World, opened: CampaignCohort) -> None:
    require(opened.campaign, required=False)
    assert world.client(world.nour).get(f"/work/{opened.campaign_id}/").status_code == 200


def test_reading_takes_the_time_it_takes_by_the_clock_of_the_server(
    world: World, opened: CampaignCohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(opened.campaign)
    nour, url = world.client(world.nour), ready_page(opened)
    view_material(nour, url, "rules", monkeypatch, 8)
    row = Readiness.objects.get()
    assert 8 <= row.seen["rules"] < 10
    assert "12 more seconds" in nour.get(url).content.decode() or True
    view_material(nour, url, "rules", monkeypatch, 13)
    assert Readiness.objects.get().seen["rules"] >= 20


def test_a_page_can_only_say_less_than_the_clock_and_the_same_time_counts_once(
    world: World, opened: CampaignCohort
) -> None:
    require(opened.campaign)
    rater, at = rater_of(world.nour), timezone.now()
    state = readiness_of(opened, rater, "en")
    assert state is not None
    ticket = sign_ticket(state, rater, "rules", at)
    boast = add_viewing_time(opened, rater, state, "rules", ticket, 9999.0, at + timedelta(seconds=4))
    assert 3.9 <= boast.seen["rules"] <= 4.1
    twice = add_viewing_time(opened, rater, state, "rules", ticket, 4.0, at + timedelta(seconds=4))
    assert 3.9 <= twice.seen["rules"] <= 4.1
    hidden = add_viewing_time(opened, rater, state, "rules", ticket, 5.0, at + timedelta(seconds=300))
    assert 4.9 <= hidden.seen["rules"] <= 5.1
    forged = add_viewing_time(
        opened, rater, state, "rules", ticket.replace(":0.0:", ":99.0:"), 99.0, at + timedelta(seconds=5)
    )
    assert "rules" not in forged.seen or forged.seen["rules"] <= 5.1


def test_a_ticket_counts_for_its_person_alone(world: World, opened: CampaignCohort) -> None:
    require(opened.campaign)
    nour, tarek, at = rater_of(world.nour), rater_of(world.tarek), timezone.now()
    mine, theirs = readiness_of(opened, nour, "en"), readiness_of(opened, tarek, "en")
    assert mine is not None and theirs is not None
    ticket, later = sign_ticket(mine, nour, "rules", at - timedelta(seconds=60)), at
    assert "rules" not in add_viewing_time(opened, tarek, theirs, "rules", ticket, 60.0, later).seen
    assert add_viewing_time(opened, nour, mine, "rules", ticket, 60.0, later).seen["rules"] == 60


def test_materials_open_side_by_side_count_one_at_a_time(world: World, opened: CampaignCohort) -> None:
    film = {**PARTS["materials"][1], "seconds": 20}
    require(opened.campaign, {**PARTS, "materials": [PARTS["materials"][0], film]})
    rater, at = rater_of(world.nour), timezone.now()
    state = readiness_of(opened, rater, "en")
    assert state is not None
    rules, film_too = sign_ticket(state, rater, "rules", at), sign_ticket(state, rater, "film", at)
    then = at + timedelta(seconds=20)
    add_viewing_time(opened, rater, state, "rules", rules, None, then)
    both = add_viewing_time(opened, rater, state, "film", film_too, None, then)
    assert both.seen["rules"] == 20 and both.seconds_left("film") == 20 and not both.is_all_seen
    updated = add_viewing_time(
        opened, rater, both, "film", sign_ticket(both, rater, "film", then), None, then + timedelta(seconds=20)
    )
    assert updated.seen["film"] == 20 and updated.is_all_seen


QUIZ = {"quiz": PARTS["quiz"]}


def test_another_language_is_no_way_round_the_quiz_of_ones_cohort(world: World, opened: CampaignCohort) -> None:
    texts = [InstructionDraft("en", "For all"), InstructionDraft("ar", "مصر", world.egypt.pk, QUIZ)]
    publish(opened.campaign, texts, None, required=True)
    brazil = opened.campaign.cohorts.select_related("campaign", "cohort").get(cohort=world.brazil)
    for place, who, body in ((opened, world.nour, "مصر"), (brazil, world.bia, "For all")):
        state = readiness_of(place, rater_of(who), "en")
        assert state is not None and state.text.body == body
    alike = [InstructionDraft("en", "For all", None, QUIZ), InstructionDraft("ar", "مصر", world.egypt.pk, QUIZ)]
    publish(opened.campaign, alike, None, required=True)
    state = readiness_of(opened, rater_of(world.nour), "en")
    assert state is not None and state.text.body == "For all"  # it asks the same: everybody reads their language


def test_researchers_hear_of_texts_that_ask_the_same_people_for_different_things(
    world: World, opened: CampaignCohort
) -> None:
    url = f"/b/{world.benchmark.slug}/campaigns/{opened.campaign_id}/instructions/"
    mara = world.client(world.mara)
    for quiz, warns in (({}, True), (QUIZ, False)):
        texts = [
            InstructionDraft("en", "A", None, QUIZ),
            InstructionDraft("ar", "ب", None, quiz),
            InstructionDraft("pt", "C", world.brazil.pk),
        ]
        publish(opened.campaign, texts, None, required=True)
        form = dict(inputs_of(mara.get(url).content.decode())) | {"t:texts[0].body": f"Look {warns}."}
        reply = mara.post(url, {**form, "act": "publish"}, follow=True)
        assert ("by changing the language one is asked for less" in reply.content.decode()) is warns
        found = opening_problems(Campaign.objects.get(pk=opened.campaign_id))
        assert any("asked for less" in one.words and not one.blocks for one in found) is warns


def test_the_quiz_explains_lets_people_try_again_and_opens_the_work(
    world: World, opened: CampaignCohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(opened.campaign)
    nour, url = world.client(world.nour), ready_page(opened)
    early = nour.post(url, {"act": "answer", "question": "one", "option": "yes"})
    assert early.status_code == 302 and Readiness.objects.get().answers == {}
    view_material(nour, url, "rules", monkeypatch, 30)
    view_material(nour, url, "film", monkeypatch, 1)
    assert "May you skip?" in nour.get(url).content.decode()
    reply = nour.post(url, {"act": "answer", "question": "one", "option": "no"})
    html = nour.get(reply.url.split("#")[0]).content.decode()
    assert "Not quite." in html and "It tells us about the picture." in html and "Skipping is fine." in html
    nour.post(url, {"act": "answer", "question": "one", "option": "yes"})  # what was explained is not answered again
    nour.post(url, {"act": "answer", "question": "two", "option": "mine"})
    html = nour.get(url).content.decode()
    assert "<b>1</b> of 2 right." in html and "Try again" in html
    assert nour.get(f"/work/{opened.campaign_id}/").status_code == 302
    nour.post(url, {"act": "again"})
    for key, code in (("one", "yes"), ("two", "mine")):
        nour.post(url, {"act": "answer", "question": key, "option": code})
    row = Readiness.objects.get()
    assert row.passed_at is not None and row.tries == 2
    assert nour.get(f"/work/{opened.campaign_id}/").status_code == 200
    assert ">Start</a>" in nour.get(url).content.decode()


def test_a_mark_below_all_is_enough(world: World, opened: CampaignCohort, monkeypatch: pytest.MonkeyPatch) -> None:
    require(opened.campaign, {**PARTS, "materials": [], "pass": 1})
    nour, url = world.client(world.nour), ready_page(opened)
    for key, code in (("one", "no"), ("two", "mine")):
        nour.post(url, {"act": "answer", "question": key, "option": code})
    assert Readiness.objects.get().passed_at is not None


def test_without_a_quiz_one_says_that_one_has_read(world: World, opened: CampaignCohort) -> None:
    require(opened.campaign, {})
    nour = world.client(world.nour)
    assert nour.post(ready_page(opened), {"act": "confirm"}).url == f"/work/{opened.campaign_id}/"
    assert nour.get(f"/work/{opened.campaign_id}/").status_code == 200


def test_new_required_ones_let_people_finish_what_they_have_and_then_come_first(
    world: World, opened: CampaignCohort
) -> None:
    nour = world.client(world.nour)
    nour.get(f"/work/{opened.campaign_id}/")
    hand = Assignment.objects.get(rater__user=world.nour, in_hand=True)
    require(opened.campaign, {})
    assert nour.get(f"/work/{opened.campaign_id}/").status_code == 200
    form = {"a-relevance": "4", "client_key": "k"}
    reply = nour.post(f"/assignments/{hand.pk}/submit", form, headers={"X-Requested-With": "emic"})
    assert "Read the instructions first." in reply.content.decode()
    assert hand.annotations.get().counted
    publish(opened.campaign, [InstructionDraft("en", "A word mended.")], None)
    assert nour.get(f"/work/{opened.campaign_id}/").status_code == 302  # a later one does not take the duty away
    nour.post(ready_page(opened), {"act": "confirm"})
    assert nour.get(f"/work/{opened.campaign_id}/").status_code == 200


@pytest.mark.parametrize("person_name", ["bia_left", "mara", "stranger", "rival_rater"])
def test_only_people_of_its_cohorts_see_the_page(world: World, opened: CampaignCohort, person_name: str) -> None:
    require(opened.campaign)
    user = world.bia if person_name == "bia_left" else getattr(world, person_name)
    if person_name == "bia_left":
        world.brazil.members.filter(user=user).update(left_at=timezone.now())
    for reply in (
        world.client(user).get(ready_page(opened)),
        world.client(user).post(ready_page(opened), {"act": "confirm"}),
    ):
        assert reply.status_code == (302 if person_name == "bia_left" else 404)
    assert not Readiness.objects.exists()


def test_each_person_reads_the_text_of_their_cohort_and_language(world: World, opened: CampaignCohort) -> None:
    texts = [
        InstructionDraft("en", "All, English"), InstructionDraft("ar", "الكل"),
        InstructionDraft("ar", "مصر وحدها", world.egypt.pk), InstructionDraft("pt", "Brasil", world.brazil.pk),
    ]  # fmt: skip
    publish(opened.campaign, texts, None, required=True)
    version = newest_version(opened.campaign)
    from annotation.services.campaigns.instructions import text_for

    assert version is not None
    bodies = {
        (cohort.label, language): getattr(text_for(version, cohort.pk, language), "body", "")
        for cohort in (world.egypt, world.brazil) for language in ("en", "ar", "pt-br", "am")
    }  # fmt: skip
    assert bodies == {
        ("Egypt", "en"): "All, English", ("Egypt", "ar"): "مصر وحدها", ("Egypt", "pt-br"): "All, English",
        ("Egypt", "am"): "All, English", ("Brazil", "en"): "All, English", ("Brazil", "ar"): "الكل",
        ("Brazil", "pt-br"): "Brasil", ("Brazil", "am"): "All, English",
    }  # fmt: skip


def test_films_come_only_from_where_the_instructions_say(world: World, opened: CampaignCohort) -> None:
    require(opened.campaign)
    reply = world.client(world.nour).get(ready_page(opened))
    assert "media-src https://media.example.org" in reply["Content-Security-Policy"]
    film = {"title": "T", "kind": "video", "url": "https://أفلام.example.org:8443/a.mp4"}
    require(opened.campaign, {"materials": [{**film, "key": "a"}, {**film, "key": "b", "url": "https://*/a.mp4"}]})
    reply = world.client(world.nour).get(ready_page(opened))
    policy = reply["Content-Security-Policy"]
    assert "media-src https://xn--igbi1fmg.example.org:8443" in policy and "script-src" in policy
    assert "*" not in policy.split("media-src")[1].split(";")[0]
    publish(opened.campaign, [InstructionDraft("en", "No film.")], None, required=True)
    assert "media-src" not in world.client(world.nour).get(ready_page(opened))["Content-Security-Policy"]


def test_a_copy_of_a_campaign_takes_its_protocol_along(world: World, opened: CampaignCohort) -> None:
    require(opened.campaign)
    made = lifecycle.clone(opened.campaign, world.mara, "Again")
    version = newest_version(made)
    assert version is not None and version.required and texts_of(version)[0].parts == PARTS


@pytest.mark.parametrize(("part", "place"), [
    ({"materials": [{"title": "T", "kind": "video", "url": "http://plain.example.org/a.mp4"}]}, "materials[0].url"),
    ({"materials": [{"title": "T", "kind": "link", "url": "https://a.example; script-src *"}]}, "materials[0].url"),
    ({"materials": [{"title": "T", "kind": "video", "url": "https://*/a.mp4"}]}, "materials[0].url"),
    ({"materials": [{"title": "T", "kind": "video", "url": "https://*.example.org/a.mp4"}]}, "materials[0].url"),
    ({"materials": [{"title": "T", "kind": "video", "url": "https://films/a.mp4"}]}, "materials[0].url"),
    ({"materials": [{"title": "T", "kind": "video", "url": "https://a.example.org:x/a.mp4"}]}, "materials[0].url"),
    ({"materials": [{"title": "T", "kind": "reading", "body": " "}]}, "materials[0].body"),
    ({"materials": [{"title": "T", "kind": "reading", "body": "B", "seconds": -1}]}, "materials[0].seconds"),
    ({"quiz": [{"question": "Q", "options": [{"label": "A"}, {"label": "B"}]}]}, "quiz[0]"),
    ({"pass": 3}, "pass"),
])  # fmt: skip
def test_a_protocol_that_nobody_could_pass_or_see_is_refused(part: dict[str, Any], place: str) -> None:
    assert place in [where for where, _code in problems(part)]
    assert list(problems(PARTS)) == []
    assert Protocol.from_json(part) is not None


def test_researchers_write_the_protocol_and_others_do_not(world: World, opened: CampaignCohort) -> None:
    url = f"/b/{world.benchmark.slug}/campaigns/{opened.campaign_id}/instructions/"
    for user in (world.reviewer, world.nour, world.manager, world.rival):
        assert world.client(user).get(url).status_code == 404
        assert world.client(user).post(url, {"act": "publish"}).status_code == 404
    mara = world.client(world.mara)
    form = dict(inputs_of(mara.get(url).content.decode()))
    wrong = mara.post(url, {**form, "t:texts[0].body": "", "act": "publish"})
    assert wrong.status_code == 422 and "Write the instructions" in wrong.content.decode()
    added = mara.post(url, {**form, "t:texts[0].body": "Look.", "act": "more:texts[0].parts.quiz"})
    form = dict(inputs_of(added.content.decode()))
    assert "w:texts[0].parts.quiz[0].key" in form or "s:texts[0].parts.quiz[0].question" in form
    number = newest_version(opened.campaign)
    form = dict(inputs_of(mara.get(url).content.decode())) | {"t:texts[0].body": "Look well.", "b:required": "1"}
    assert mara.post(url, {**form, "act": "publish"}).status_code == 302
    last = newest_version(opened.campaign)
    assert last is not None and number is not None and last.number == number.number + 1 and last.required


Opener = Callable[[User], Client]
