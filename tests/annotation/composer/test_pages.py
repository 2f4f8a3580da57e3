"""The composer's pages: who may compose, drafts and conflicts, publishing, versions, and opening that is refused."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from annotation.models import Draft, StageDraft
from annotation.pages import publishing
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.lifecycle import CampaignRefused
from annotation.services.sheets import stages
from benchmarks.models import Stage
from people.models import Cohort, User
from tests.chains.link_client import text_of
from tests.forms import inputs_of
from tests.personas import World, make_benchmark
from tests.samples import assign, open_campaign

ClientOf = Callable[[User], Client]
SCRIPT = {"X-Requested-With": "emic"}


def page(world: World, stage: Stage) -> str:
    return f"/b/{world.benchmark.slug}/stages/{stage.pk}/"


def post_form(client: Client, url: str, act: str, **changed: Any) -> Any:
    """The form as it is drawn now, with some inputs changed, and a button pressed. `changed`: name to value."""
    posted: dict[str, list[str]] = {}
    for name, value in inputs_of(client.get(url).content.decode()):
        posted.setdefault(name, []).append(value)
    posted |= {name: [value] for name, value in changed.get("change", {}).items()}
    return client.post(url, {**posted, "act": act})


@pytest.fixture
def mara(world: World) -> Client:
    return world.client(world.mara)


@pytest.mark.parametrize("who", ["reviewer", "nour", "manager", "team_admin", "stranger", "rival"])
def test_only_those_who_work_on_a_benchmark_compose_it(world: World, who: str) -> None:
    client = world.client(getattr(world, who))
    before = stages.content_of(world.stage)
    for url in (f"/b/{world.benchmark.slug}/stages/", page(world, world.stage), page(world, world.stage) + "preview/",
                page(world, world.stage) + "versions/"):  # fmt: skip
        assert client.get(url).status_code == 404
        assert client.post(url, {"act": "publish", "name": "x", "s:name": "Mine"}).status_code == 404
    assert stages.content_of(world.stage) == before and world.benchmark.stages.count() == 1
    assert world.client(world.owner).get(page(world, world.stage)).status_code == 200


def test_a_stage_of_another_benchmark_is_not_found_under_this_one(world: World, mara: Client) -> None:
    assert mara.get(page(world, world.other_benchmark.stages.get())).status_code == 404


def test_a_button_saves_the_draft_and_leaves_the_stage_alone(world: World, mara: Client) -> None:
    reply = post_form(mara, page(world, world.stage), "field:text")
    assert reply.status_code == 302 and "at=sheet.fields[1]" in reply.url
    draft = StageDraft.objects.get(stage=world.stage)
    assert [one["kind"] for one in draft.content["sheet"]["fields"]] == ["rating", "text"]
    assert len(world.stage.sheet["fields"]) == 1
    assert "A new question" in mara.get(page(world, world.stage)).content.decode()


def test_two_windows_do_not_overwrite_each_other(world: World, mara: Client) -> None:
    url = page(world, world.stage)
    old = dict(inputs_of(mara.get(url).content.decode()))
    post_form(world.client(world.owner), url, "save", change={"s:name": "The owner's name"})
    reply = mara.post(url, {**old, "s:name": "Mara's name", "act": "save"})
    html = reply.content.decode()
    assert reply.status_code == 409
    assert "Owner saved this stage" in html and 'value="Mara&#x27;s name"' in html
    assert StageDraft.objects.get(stage=world.stage).content["name"] == "The owner's name"
    kept = dict(inputs_of(html))
    assert mara.post(url, {**kept, "act": "keep"}).status_code == 302
    assert StageDraft.objects.get(stage=world.stage).content["name"] == "Mara's name"


def test_a_script_hears_of_the_conflict_without_losing_its_form(world: World, mara: Client) -> None:
    url = page(world, world.stage)
    old = dict(inputs_of(mara.get(url).content.decode()))
    first = mara.post(url, {**old, "act": "draft"}, headers=SCRIPT).json()
    assert first["seen"] != old["seen"] and "Draft saved" in first["saved"]
    second = mara.post(url, {**old, "act": "draft"}, headers=SCRIPT)
    assert second.status_code == 409 and "Keep my version" in second.json()["conflict"]


def test_what_is_wrong_is_not_published_and_each_problem_is_linked(world: World, mara: Client) -> None:
    url = page(world, world.stage)
    post_form(mara, url, "field:choice")
    reply = post_form(mara, url, "publish")
    html = reply.content.decode()
    assert reply.status_code == 422
    assert 'data-to="sheet.fields[1].label"' in html and 'id="at-sheet.fields[1].label"' in html
    assert "Question 2, Label" in html
    assert Stage.objects.get(pk=world.stage.pk).version == 1


def test_publishing_is_refused_for_what_the_page_lists_in_its_order(world: World) -> None:
    world.add_items(1)
    open_campaign(world, world.egypt)
    rows = {"rows": "set:nowhere", "columns": "concept", "per_cell": 1, "counts": "accepted"}
    content = stages.content_of(world.stage) | {"name": "", "has_target": not world.stage.has_target, "coverage": rows}
    draft = stages.save_draft(world.stage, content, stages.revision(world.stage, None), world.mara, timezone.now())
    with pytest.raises(stages.NotPublishable) as refused:
        stages.publish(world.stage, stages.revision(world.stage, draft), world.mara, timezone.now())
    listed = [problem for problem in stages.problems(world.stage, content) if problem.blocks]
    assert refused.value.problems == listed
    assert {problem.path for problem in listed} >= {"name", "coverage.rows", "has_target"}


def test_the_first_publishing_of_a_blank_stage_makes_version_1(world: World, mara: Client) -> None:
    mara.post(f"/b/{world.benchmark.slug}/stages/", {"name": "Own", "like": ""})
    stage = world.benchmark.stages.get(name="Own")
    url = page(world, stage)
    stale = dict(inputs_of(mara.get(url).content.decode()))
    post_form(mara, url, "field:text")
    for n in (1, 2):
        post_form(mara, url, "save", change={"w:sheet.fields[0].label.en": f"Say {n}"})
        reply = post_form(mara, url, "publish")
        assert f"Version {n} is published." in mara.get(reply["Location"]).content.decode()
        assert [row.number for row in stage.versions.order_by("number")] == list(range(1, n + 1))
    assert mara.post(url, {**stale, "act": "draft"}, headers=SCRIPT).status_code == 409, (
        "an old page overwrites nothing"
    )


@pytest.mark.parametrize("answered", [False, True])
def test_publishing_says_what_the_running_campaign_takes_and_what_it_keeps(
    world: World, mara: Client, answered: bool
) -> None:
    """What a campaign reads from its stage changes at once; the questions it was opened with stay, with answers or
    without."""
    url = page(world, world.stage)
    world.add_items(1)
    opened = open_campaign(world, world.egypt)
    campaign = opened.campaign
    if answered:
        assign(opened, world.nour, opened.slots.get(), code="3")
    opened_with = campaign.sheet_version_id

    def published(**change: str) -> str:
        post_form(mara, url, "save", change=change)
        reply = post_form(mara, url, "publish")
        assert reply.status_code == 302, reply.content[:2000]
        return text_of(mara.get(reply["Location"]).content.decode())

    message = published(**{"s:name": "Renamed"})
    assert (
        "Version 2 is published. The running campaign uses at once: “Name”." in message
        and "New campaigns" not in message
    )
    assert Stage.objects.get(pk=campaign.stage_id).name == "Renamed"
    message = published(**{"w:sheet.fields[0].label.en": "Is it like {target}?"})
    assert (
        "Only new campaigns use: “Questions”. The running campaign keeps what it was opened with." in message
        and "at once" not in message.partition("is published.")[2][:40]
    )
    campaign.refresh_from_db()
    assert campaign.sheet_version_id == opened_with
    lifecycle.close(campaign, world.mara, timezone.now())
    assert "Version 4 is published. New campaigns use it." in published(**{"s:name": "Again"})


def test_every_column_of_a_stage_changes_at_once_or_at_opening_or_is_held() -> None:
    known = {*publishing.AT_ONCE, *publishing.AT_OPENING, *stages.HELD}
    assert known == {*stages.COLUMNS}
    assert len(known) == len(publishing.AT_ONCE) + len(publishing.AT_OPENING) + len(stages.HELD)


def test_publishing_makes_a_version_that_can_be_brought_back(world: World, mara: Client) -> None:
    url = page(world, world.stage)
    post_form(mara, url, "save", change={"w:sheet.fields[0].label.en": "Is it like {target}?"})
    assert post_form(mara, url, "publish").status_code == 302
    stage = Stage.objects.get(pk=world.stage.pk)
    assert stage.version == 2 and stage.sheet["fields"][0]["label"]["en"] == "Is it like {target}?"
    assert not StageDraft.objects.filter(stage=stage).exists()
    assert [one.number for one in stage.versions.order_by("number")] == [1, 2]
    assert mara.get(f"{url}versions/?number=1").status_code == 200
    assert "How relevant is this picture" in mara.get(f"{url}preview/?number=1").content.decode()
    mara.post(f"{url}versions/", {"number": "1"})
    assert StageDraft.objects.get(stage=stage).content["sheet"]["fields"][0]["label"]["en"].startswith("How relevant")
    assert Stage.objects.get(pk=stage.pk).version == 2


def test_the_preview_shows_what_is_not_saved_and_writes_nothing(world: World, mara: Client) -> None:
    from tests.test_strangers import snapshot

    world.add_items(1)
    form = dict(inputs_of(mara.get(page(world, world.stage)).content.decode()))
    before = snapshot()
    del form["j:sheet.fields[0].label"]
    form |= {"w:sheet.fields[0].label.ar": "هل هذا من {target}؟", "preview_language": "ar"}
    reply = mara.post(page(world, world.stage) + "preview/", form)
    html = reply.content.decode()
    assert 'dir="rtl"' in html and "هل هذا من مصر؟" in html
    assert reply["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in reply["Content-Security-Policy"]
    assert snapshot() == before


def sheet_with_check(words: str) -> dict[str, str]:
    """A sheet of one text that is checked, as the form posts it."""
    check = {"key": "c", "expression": 'q1 == "x"', "words": {"en": words}, "blocks": True}
    return {
        "s:name": "S", "s:display": "image", "s:sheet.fields[0].key": "q1", "s:sheet.fields[0].kind": "text",
        "s:sheet.fields[0].label.en": "Q", "j:sheet.fields[0].config": "{}", "j:sheet.checks": json.dumps([check]),
    }  # fmt: skip


def test_a_preview_keeps_nothing_for_the_next_one_nor_for_another_team(world: World, mara: Client) -> None:
    for cohort in (world.egypt, world.other_cohort):
        Cohort.objects.filter(pk=cohort.pk).update(label="Egypt", names={})
    url = page(world, world.stage) + "preview/"
    first = mara.post(url, sheet_with_check("As we wrote it")).content.decode()
    changed = mara.post(url, sheet_with_check("Written anew")).content.decode()
    assert "As we wrote it" in first and "Written anew" in changed and "As we wrote it" not in changed
    other = f"/b/{world.other_benchmark.slug}/stages/{world.other_benchmark.stages.get().pk}/preview/"
    theirs = world.client(world.rival).post(other, sheet_with_check("Of the fjord")).content.decode()
    assert "Of the fjord" in theirs and "Written anew" not in theirs


def test_the_preview_shows_the_questions_that_can_be_read(world: World, mara: Client) -> None:
    post_form(mara, page(world, world.stage), "field:choice")
    html = mara.get(page(world, world.stage) + "preview/").content.decode()
    assert "How relevant is this picture" in html and html.count("data-field=") == 1


def test_words_reach_campaigns_that_run_only_when_they_are_chosen(world: World, mara: Client) -> None:
    world.add_items(2)
    opened = open_campaign(world, world.egypt)
    other = open_campaign(world, world.brazil)
    assignment = assign(opened, world.nour, opened.slots.order_by("position")[0])
    Draft.objects.create(assignment=assignment, answers={"relevance": "4"}, version=1, saved_at=timezone.now())
    url = page(world, world.stage)
    post_form(mara, url, "save", change={"w:sheet.fields[0].label.en": "Is it like {target}?"})
    html = mara.get(url).content.decode()
    assert "Only texts changed." in html and f'name="roll" value="{opened.campaign_id}"' in html
    post_form(mara, url, "publish", change={"roll": str(opened.campaign_id)})
    opened.campaign.refresh_from_db()
    other.campaign.refresh_from_db()
    assert str(opened.campaign.sheet_version) == "1.1" and str(other.campaign.sheet_version) == "1.0"
    sheet = world.client(world.nour).get(f"/work/{opened.campaign_id}/").content.decode()
    assert "Is it like" in sheet and Draft.objects.get().answers == {"relevance": "4"}


def test_a_campaign_names_its_sheet_as_the_stage_numbers_its_versions(world: World, mara: Client) -> None:
    world.add_items(1)
    first = lifecycle.create(world.stage, "First", world.mara, {world.egypt: 1})
    url = page(world, world.stage)
    for label in ("Is it like {target}?", "Is it of {target}?"):
        post_form(mara, url, "save", change={"w:sheet.fields[0].label.en": label})
        post_form(mara, url, "publish")
    world.stage.refresh_from_db()
    second = lifecycle.create(world.stage, "Second", world.mara, {world.egypt: 1})
    shown = {campaign: mara.get(f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/") for campaign in (first, second)}
    texts = {campaign: " ".join(reply.content.decode().split()) for campaign, reply in shown.items()}
    assert "Version 3 is published." in mara.get(url).content.decode()
    assert re.findall(r"version [^<;]*", texts[first]) == ["version 1 (1.0 in filters and exports)"]
    assert re.findall(r"version [^<;]*", texts[second]) == ["version 3 (1.1 in filters and exports)"]


def test_changed_codes_never_reach_a_campaign_that_runs(world: World, mara: Client) -> None:
    world.add_items(1)
    opened = open_campaign(world, world.egypt)
    url = page(world, world.stage)
    post_form(mara, url, "save", change={"s:sheet.fields[0].config.points[0].code": "0"})
    html = mara.get(url).content.decode()
    assert "Questions or codes changed." in html and 'name="roll"' not in html
    post_form(mara, url, "publish", change={"roll": str(opened.campaign_id)})
    opened.campaign.refresh_from_db()
    assert str(opened.campaign.sheet_version) == "1.0"


def test_a_new_stage_begins_blank_or_like_another_of_the_team_and_never_like_one_of_another(
    world: World, mara: Client
) -> None:
    url, first = f"/b/{world.benchmark.slug}/stages/", world.stage
    mara.post(url, {"name": "Blank", "like": ""})
    mara.post(url, {"name": "Again", "like": f"stage:{first.pk}"})
    mara.post(url, {"name": "Theirs", "like": f"stage:{world.other_benchmark.stages.get().pk}"})
    mara.post(url, {"name": "Of a recipe", "like": "recipe:caire-universal:relevance"})
    new_stages = {stage.name: stage for stage in world.benchmark.stages.all()}
    assert new_stages["Blank"].sheet == {"fields": []} and new_stages["Theirs"].sheet == {"fields": []}
    assert new_stages["Again"].sheet == new_stages["Relevance rating"].sheet
    assert len({stage.key for stage in new_stages.values()}) == 5
    assert mara.post(url, {"name": " "}).status_code == 400


def test_a_new_stage_is_made_like_those_of_benchmarks_one_works_on_alone(world: World, mara: Client) -> None:
    """Being of the team opens no benchmark of it; nor does reviewing show how it is made."""
    apart = make_benchmark(world.team, "kept-apart", owner=world.owner, reviewer=world.mara)
    hidden = apart.stages.get()
    hidden.instructions = {"en": "Not for everybody."}
    hidden.save()
    url = f"/b/{world.benchmark.slug}/stages/"
    assert "Kept Apart" not in mara.get(url).content.decode()
    mara.post(url, {"name": "Peeked", "like": f"stage:{hidden.pk}"})
    assert world.benchmark.stages.get(name="Peeked").instructions == {}
    owner = world.client(world.owner)
    assert "Kept Apart" in owner.get(url).content.decode()
    owner.post(url, {"name": "Like it", "like": f"stage:{hidden.pk}"})
    assert world.benchmark.stages.get(name="Like it").instructions == {"en": "Not for everybody."}


def test_only_a_stage_that_nothing_hangs_on_is_removed(world: World, mara: Client) -> None:
    url = f"/b/{world.benchmark.slug}/stages/"
    world.add_items(1)
    mara.post(url, {"name": "Blank"})
    blank = world.benchmark.stages.get(name="Blank")
    mara.post(url, {"remove": str(world.benchmark.stages.get(key="relevance").pk)})
    mara.post(url, {"remove": str(blank.pk)})
    assert [stage.key for stage in world.benchmark.stages.all()] == ["relevance"]


def test_a_campaign_opens_only_when_its_stage_has_no_problem_and_says_all_of_them(world: World) -> None:
    stage = world.stage
    campaign = lifecycle.create(stage, "Round", world.mara, {world.egypt: 1})
    items = world.add_items(4)
    for item in items[:2]:
        item.images.all().delete()
    stage.skip_reasons = [{"code": "x", "label": {}}]
    stage.acceptance, stage.acceptance_rule = "by_rule", {}
    stage.save()
    campaign.refresh_from_db()
    with pytest.raises(CampaignRefused) as refused:
        lifecycle.open_campaign(campaign, world.mara, timezone.now())
    text = " ".join(refused.value.reasons)
    assert "2 items have no “image”" in text and "item-00000" in text
    assert "Reasons to skip 1, Label" in text and "The rule has no clause yet. Add one." in text
    html = world.client(world.mara).get(f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/").content.decode()
    assert "Before it opens" in html and "2 items have no" in html


def test_missing_languages_of_instructions_are_a_warning_only(world: World) -> None:
    world.add_items(1)
    campaign = lifecycle.create(world.stage, "Round", world.mara, {world.brazil: 1})
    found = stages.opening_problems(campaign)
    assert [one.blocks for one in found] == [False] and "Brazil" in found[0].words
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    assert campaign.state == "open"


def test_a_draft_is_json_that_the_database_keeps(world: World, mara: Client) -> None:
    reply = post_form(mara, page(world, world.stage), "save", change={"s:name": "A\x00B", "j:layout": "{bad"})
    assert reply.status_code == 302
    draft = StageDraft.objects.get(stage=world.stage)
    assert draft.content["name"] == "AB" and "{bad" in json.dumps(draft.content)


def test_what_a_running_campaign_reads_of_its_stage_is_not_changed_under_its_people(world: World, mara: Client) -> None:
    open_campaign(world, world.egypt)
    stage, url = world.stage, page(world, world.stage)
    wording = {**stages.content_of(stage), "name": "How relevant", "target_answers": 4}
    stages.save_draft(stage, wording, stages.revision(stage, None), world.mara, timezone.now())
    assert post_form(mara, url, "publish").status_code == 302
    assert world.stage.name == "How relevant"
    stage = world.stage
    held = {**stages.content_of(stage), "staffing": "others", "has_target": not stage.has_target}
    draft = stages.save_draft(stage, held, stages.revision(stage, None), world.mara, timezone.now())
    with pytest.raises(stages.NotPublishable) as refused:
        stages.publish(stage, stages.revision(stage, draft), world.mara, timezone.now())
    assert {one.path for one in refused.value.problems} == {"staffing", "has_target"}
    assert world.stage.staffing == "anyone"
    words = "is running and depends on this. Close it first, or create a new stage."
    assert words in mara.get(url).text, "the form says so before anybody publishes"
    reply = post_form(mara, url, "publish")
    assert reply.status_code == 422 and words in reply.text
    assert 'data-to="staffing"><bdi>Who may answer</bdi>' in reply.text, "it is named as on the form"


def test_undo_lasts_until_the_next_change_and_is_not_offered_on_coming_back(world: World, mara: Client) -> None:
    url = page(world, world.stage)
    post_form(mara, url, "copy:sheet.fields[0]")
    post_form(mara, url, "drop:sheet.fields[1]")
    assert 'value="undo"' in mara.get(f"{url}?at=sheet.fields").text
    assert 'value="undo"' not in mara.get(url).text


def test_questions_are_named_by_what_they_ask_and_buttons_by_what_they_move(world: World, mara: Client) -> None:
    first = world.stage.sheet["fields"][0]
    second = {"key": "why", "kind": "text", "label": {"en": "Why?"}, "config": {"long": False}}
    after = {"show_if": {"field": first["key"], "in": ["1"]}}
    Stage.objects.filter(pk=world.stage.pk).update(sheet={"fields": [first, second | after]})
    html = mara.get(page(world, world.stage)).text
    asked = escape(first["label"]["en"])
    assert f"only after “{asked}”" in html and f'<option value="{first["key"]}" selected>{asked}</option>' in html
    assert 'aria-label="Question 2: delete"' in html and 'aria-label="Points 1: delete"' in html
    assert 'aria-labelledby="l-sheet.fields[1].label n-w:sheet.fields[1].label.en"' in html


def test_a_name_loses_what_the_database_cannot_store(world: World, mara: Client) -> None:
    assert mara.post(f"/b/{world.benchmark.slug}/stages/", {"name": "One\x00 more"}).status_code == 302
    assert Stage.objects.latest("pk").name == "One more"
