"""The limit of a filter is chosen by labels of people, of candidates drawn without that filter."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, Rating
from annotation.services.derivation import derived_items
from benchmarks.models import Stage
from benchmarks.services.intake import filter_versions, judge_job
from jobs.models import Job
from jobs.services import runner
from tests.annotation.chain.factories import (
    ANSWER,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    live_items,
    points,
    process_derivations,
)
from tests.importing import lines, upload
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.test_filtering import RIGHT, SCORES
from tests.samples import rater

pytestmark = pytest.mark.django_db
SCORE: dict[str, Any] = {"key": "score", "kind": "fact", "params": {"key": "clip_score", "least": 23}}
WORDS: dict[str, Any] = {"key": "words", "kind": "blocked_words", "params": {"words": ["logo"], "in": ["text"]}}
CHOICE = {"filter": "score", "labels": "labels", "field": "relevant", "codes": ["1"]}


def carry_out(stage: Stage, *definition: Any) -> None:
    job = filter_versions.set_filters(stage, definition, None)
    assert job is not None
    runner.run(job.pk)
    process_derivations()


def page(client: Client, stage: Stage, **query: Any) -> str:
    reply = client.get(address(stage), query)
    assert reply.status_code == 200
    return " ".join(reply.content.decode().split())


def address(stage: Stage) -> str:
    return reverse("predictions:calibrate", args=[stage.benchmark.slug, stage.pk])


def use(client: Client, stage: Stage, limit: str, number: int, **more: Any) -> Any:
    return client.post(address(stage), {**CHOICE, "limit": limit, "number": number, **more}, follow=True)


@built_once
def candidates(world: World) -> Stage:
    """Six candidates and one that another filter drops; labels are drawn without the filter by score."""
    stage = a_stage(world.benchmark, "candidates", ANSWER, display="words", pictures="none")
    draw = {"kind": "sample", "from": ["candidates"], "of": "kept", "without": "score"}
    draw |= {"params": {"n": 9, "strata": {"fact": "clip_score", "bins": 3}}}
    a_stage(
        world.benchmark, "labels", {"fields": [points("relevant", 0, 1)]}, display="words", pictures="none",
        derivation=draw,
    )  # fmt: skip
    carry_out(stage, WORDS, SCORE)
    rows: list[dict[str, Any]] = [
        {"key": f"c{number}", "text": f"Text {number}", "country": "Egypt", "fact.clip_score": score}
        for number, score in enumerate(SCORES)
    ]
    upload(world.client(world.mara), stage, lines(*rows, {**rows[5], "key": "logo", "text": "A logo"}))
    process_derivations()
    return stage


@built_once
def labels(world: World, candidates: Stage) -> Campaign:
    """People of two cohorts label all of them, and are divided over the one with score 30."""
    stage = world.benchmark.stages.get(key="labels")
    campaign = create_open_campaign(stage, world.egypt, world.brazil)
    for user, cohort in ((world.nour, world.egypt), (world.bia, world.brazil)):
        for _item in range(6):
            sheet = claim_sheet(rater(user), campaign, cohort)
            assert sheet is not None
            number = int(sheet.unit.item.key[1])
            answer(sheet, relevant=str(int(RIGHT[number] and not (user == world.bia and number == 4))))
    return campaign


def test_each_filter_by_a_fact_links_to_the_page_of_its_labels(
    world: World, candidates: Stage, labels: Campaign
) -> None:
    mara = world.client(world.mara)
    filters = mara.get(f"/b/{world.benchmark.slug}/stages/{candidates.pk}/filters/").content.decode()
    assert filters.count("Choose a limit") == 1 and f"{address(candidates)}?filter=score" in filters
    start = page(mara, candidates, filter="score")
    assert '<option value="labels" selected>' in start and "Select the answers that mean relevant." in start
    assert "may be missing among these labels" not in start
    own = page(mara, candidates, filter="score", labels="candidates")
    assert "may be missing among" in own and "No question of “Candidates” has answers to choose from" in own


def test_labels_of_two_cohorts_give_precision_and_recall_with_intervals(
    world: World, candidates: Stage, labels: Campaign
) -> None:
    """At 20: kept 20, 23, 25, 31, of which 3 are relevant: 3/4, and all 3 relevant ones are kept."""
    mara = world.client(world.mara)
    shown = page(mara, candidates, **CHOICE)
    assert "5 items have a majority of those who answered (people: 2); relevant: 3." in shown
    assert "Ties between people: 1. Without answers: 0." in shown
    assert 'name="limit" inputmode="decimal" dir="ltr" value="20"' in shown and "Proposed." in shown
    assert '<td class="num">0.86</td></tr>' in shown, "F1 of 3/4 and 1: 6/7"
    assert "<span>1</span><span>0.5</span><span>0</span>" in shown and "against the limit" in shown
    assert "0.30–0.95, 3/4" in shown and "0.44–1.00, 3/3" in shown and shown.count("<polygon") == 2
    assert "At 99: 0 of 5 are kept. Precision – (nothing to count), recall 0.00" in page(
        mara, candidates, **CHOICE, limit="99"
    )
    Rating.objects.filter(cohort=world.brazil).update(counted=False)
    assert "6 items have a majority of those who answered (people: 1); relevant: 4." in page(mara, candidates, **CHOICE)


def test_use_as_limit_changes_exactly_the_items_between_and_says_what_was_seen(
    world: World, candidates: Stage, labels: Campaign
) -> None:
    mara, labelled = world.client(world.mara), [item.pk for item in live_items(labels.stage)]
    before = dict(candidates.items.values_list("key", "intake"))
    reply = use(mara, candidates, "20", 1)
    assert reply.redirect_chain and "The limit of “clip_score” is 20." in reply.content.decode()
    derived_items.rederive_stage(labels.stage)  # as another import would
    process_derivations()
    assert [item.pk for item in live_items(labels.stage)] == labelled, "while the job runs nothing is withdrawn"
    runner.run(Job.objects.get(kind=judge_job.KIND, state="queued").pk)
    process_derivations()
    after = dict(candidates.items.values_list("key", "intake"))
    assert {key for key in after if after[key] != before[key]} == {"c1"} and after["c1"] == "kept"
    version = candidates.filter_versions.latest("number")
    assert version.number == 2 and version.created_by == world.mara and version.definition[1]["params"]["least"] == 20
    measured = version.seen["score"]
    assert [measured[name] for name in ("limit", "n", "people", "cohorts", "tied")] == [20, 5, 2, 2, 1]
    assert (measured["precision"]["value"], measured["precision"]["count"], measured["precision"]["n"]) == (0.75, 3, 4)
    assert 0.30 < measured["precision"]["low"] < 0.31 and measured["recall"]["value"] == 1
    assert (measured["labels"], measured["field"], measured["codes"]) == ("labels", "relevant", ["1"])
    assert not candidates.items.filter(facts__key="fits").exists()
    assert 'value="1" checked' in page(mara, candidates, filter="score"), "the page starts with what was chosen last"


def test_what_was_seen_stays_with_the_limit_and_goes_with_it(world: World, candidates: Stage, labels: Campaign) -> None:
    mara, text = world.client(world.mara), "Precision 0.75"
    url = f"/b/{world.benchmark.slug}/stages/{candidates.pk}/filters/"
    use(mara, candidates, "20", 1)
    shown = mara.get(url).content.decode()
    assert text in shown and "(0.30–0.95, 3/4)" in shown and "Labelled items: 5, people: 2." in shown
    chosen = {**SCORE, "params": {"key": "clip_score", "least": 20.0}}
    candidates.refresh_from_db()
    carry_out(candidates, {**WORDS, "params": {"words": ["map"]}}, chosen)
    assert text in mara.get(url).content.decode(), "another filter was changed"
    carry_out(candidates, {**WORDS, "params": {"words": ["map"]}}, SCORE)
    assert text not in mara.get(url).content.decode(), "the limit was changed by hand"
    use(mara, candidates, "23", 4)
    version = candidates.filter_versions.latest("number")
    assert version.number == 5 and version.seen["score"]["limit"] == 23, "the same limit, now with what is known of it"


@pytest.mark.parametrize(("posted", "text"), [
    ({"limit": "x"}, "“x” is not a number."),
    ({"limit": ""}, "Enter a number."),
    ({"limit": "nan"}, "“nan” is not a number."),
    ({"codes": []}, "No answer is selected."),
    ({"filter": "gone"}, "changed meanwhile"),
    ({"codes": ["1", "7"]}, "changed meanwhile"),
    ({"number": "7"}, "Somebody else changed the filters."),
])  # fmt: skip
def test_what_cannot_be_used_is_refused_with_its_reason(
    world: World, candidates: Stage, labels: Campaign, posted: dict[str, Any], text: str
) -> None:
    reply = use(world.client(world.mara), candidates, **{"limit": "20", "number": 1, **posted})
    assert reply.status_code == 400 and text in reply.content.decode()
    assert candidates.filter_versions.count() == 1


def test_nobody_else_chooses_a_limit(world: World, candidates: Stage, labels: Campaign) -> None:
    for user in (world.stranger, world.rival, world.nour, world.reviewer, world.manager):
        client = world.client(user)
        assert client.get(address(candidates)).status_code == 404, user
        assert use(client, candidates, "20", 1).status_code == 404, user
    assert world.client().get(address(candidates)).status_code == 302
    other = world.other_benchmark.stages.get()
    assert (
        world.client(world.mara)
        .get(reverse("predictions:calibrate", args=[world.benchmark.slug, other.pk]))
        .status_code
        == 404
    )
    assert candidates.filter_versions.count() == 1


def test_a_withdrawn_candidate_takes_no_part(world: World, candidates: Stage, labels: Campaign) -> None:
    candidates.items.filter(key="c0").update(withdrawn_at=timezone.now(), withdrawn_because="broken")
    assert "4 items have a majority" in page(world.client(world.mara), candidates, **CHOICE)


def test_a_person_who_labels_a_candidate_again_has_one_vote(world: World, candidates: Stage, labels: Campaign) -> None:
    again = create_open_campaign(labels.stage, world.egypt)
    for _item in range(6):
        sheet = claim_sheet(rater(world.nour), again, world.egypt)
        assert sheet is not None
        number = int(sheet.unit.item.key[1])
        answer(sheet, relevant="1" if number == 0 else str(int(RIGHT[number])))
    assert "4 items have a majority of those who answered (people: 2); relevant: 3. Ties between people: 2." in page(
        world.client(world.mara), candidates, **CHOICE
    )
