"""Facts that come by themselves: computed when items arrive, once each, and paused with a reason when a model fails."""

import re
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Outcome
from annotation.services.derivation import derived_items
from annotation.services.review import outcomes
from benchmarks.models import Item, ItemFact, Stage
from benchmarks.rules.filters import FilterState
from benchmarks.services import storage
from benchmarks.services.intake import by_hand
from jobs.models import Job
from jobs.services import lifecycle, runner
from predictions.models import FactRequest, Run
from predictions.services.encoders import item_facts
from predictions.tasks import start_fact_jobs
from tests.annotation.chain.factories import RULE, create_open_campaign
from tests.benchmarks.test_intake import SCORE, WORDS, set_up, states
from tests.importing import lines, upload
from tests.personas import World
from tests.pictures import png
from tests.predictions.encoders import ScriptedEncoder, script_encoder
from tests.predictions.shapes import MODEL, an_endpoint
from tests.samples import assign

pytestmark = pytest.mark.django_db
PICTURE = {"p.png": png(60, 40)}


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> ScriptedEncoder:
    return script_encoder(monkeypatch)


@pytest.fixture
def mara(world: World) -> Client:
    return world.client(world.mara)


def request_facts(world: World, client: Client, **more: Any) -> Any:
    data = {"stage": world.stage.pk, "what": "clip_score", "endpoint": an_endpoint(world).pk, "model": MODEL,
            "words": "context.assertion", "threshold": "0.5", **more}  # fmt: skip
    return client.post(reverse("predictions:facts", args=[world.benchmark.slug]), data)


def bring(client: Client, stage: Stage, **scores: float) -> None:
    """Import one item for each score, with the score as the words that the encoder reads."""
    rows = [{"key": key, "file": "p.png", "alt": "Logo" if key.startswith("logo") else "", "assertion": str(score)}
            for key, score in scores.items()]  # fmt: skip
    upload(client, stage, lines(*rows), PICTURE)


def work() -> None:
    """What the beat and a worker do."""
    start_fact_jobs()
    for job in Job.objects.filter(kind=item_facts.KIND, state="queued").order_by("pk"):
        runner.run(job.pk)


def act(client: Client, do: str, **more: Any) -> str:
    request = FactRequest.objects.latest("pk")
    address = reverse("predictions:fact_action", args=[request.stage.benchmark.slug, request.pk])
    reply = client.post(address, {"do": do, **more}, follow=True)
    assert reply.status_code == 200
    return text_of(reply.content.decode())


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def page(client: Client, name: str, *arguments: Any) -> str:
    return text_of(client.get(reverse(name, args=arguments)).content.decode())


def scored() -> dict[str, float]:
    return dict(ItemFact.objects.filter(key="clip_score").values_list("item__key", "value"))


def test_items_that_arrive_get_the_fact_unless_a_filter_drops_them(
    world: World, mara: Client, encoder: ScriptedEncoder
) -> None:
    set_up(world.stage, WORDS, SCORE)
    assert request_facts(world, mara).status_code == 302 and not Job.objects.filter(kind=item_facts.KIND).exists()
    bring(mara, world.stage, a=30, b=10, logo=40)
    assert states(world.stage) == {"a": "waiting", "b": "waiting", "logo": "dropped"}
    work()
    assert states(world.stage) == {"a": "kept", "b": "dropped", "logo": "dropped"}
    assert scored() == pytest.approx({"a": 30, "b": 10}), "an item that another filter drops is left alone"
    bring(mara, world.stage, c=24)
    work()
    work()
    assert scored() == pytest.approx({"a": 30, "b": 10, "c": 24}) and ItemFact.objects.count() == 3
    assert Run.objects.count() == 1 and encoder.batches == [2, 1], "one standing run"
    by_hand.decide(world.stage.items.get(key="logo"), FilterState.KEPT, "Fits", world.mara, timezone.now())
    work()
    assert scored()["logo"] == pytest.approx(40)


def test_a_score_that_is_no_number_is_a_failure_of_its_item_alone(
    world: World, mara: Client, encoder: ScriptedEncoder
) -> None:
    set_up(world.stage, SCORE)
    bring(mara, world.stage, a=30, b=float("nan"), c=float("inf"), d=10)
    request_facts(world, mara)
    work()
    assert scored() == pytest.approx({"a": 30, "d": 10})
    request = FactRequest.objects.get()
    assert request.state == "active" and request.run.complete
    failed = request.failures.order_by("item__key").values_list("item__key", "message")
    assert [key for key, _text in failed] == ["b", "c"] and "gave no number" in failed[0][1]
    assert states(world.stage) == {"a": "kept", "b": "waiting", "c": "waiting", "d": "dropped"}


def test_an_import_and_a_changed_filter_tell_the_worker(
    world: World, mara: Client, encoder: ScriptedEncoder, monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:  # fmt: skip
    sent: list[str] = []
    monkeypatch.setattr("predictions.services.encoders.fact_requests.dispatch", lambda task: sent.append(task))
    with django_capture_on_commit_callbacks(execute=True):
        bring(mara, world.stage, a=30)
    assert sent == [], "nobody asks for a fact"
    request_facts(world, mara)
    work()
    with django_capture_on_commit_callbacks(execute=True):
        bring(mara, world.stage, b=30)
    assert sent == ["predictions.start_fact_jobs"], "a stage without filters too"


def test_a_killed_job_computes_each_fact_once(
    world: World, mara: Client, encoder: ScriptedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_facts, "STEP", 2)
    set_up(world.stage, SCORE)
    bring(mara, world.stage, a=30, b=10, c=30, d=10, e=30)
    request_facts(world, mara)
    run = Run.objects.get()

    def die(number: int) -> None:
        if number == 1:
            raise KeyboardInterrupt

    encoder.before_batch = die
    with pytest.raises(KeyboardInterrupt):
        runner.run(run.job_id)
    assert len(scored()) == 2 and Job.objects.get(pk=run.job_id).state == "running"
    judged, whole = [], item_facts.judge_items

    def die_before_the_commit(*arguments: Any) -> None:
        judged.append(arguments)
        if len(judged) == 2:
            raise KeyboardInterrupt
        whole(*arguments)

    monkeypatch.setattr(item_facts, "judge_items", die_before_the_commit)
    later = timezone.now() + runner.LEASE * 2
    encoder.before_batch = lambda number: None
    for attempt in range(2):
        runner.requeue_stalled(later + attempt * runner.RESEND * 2)
        Job.objects.filter(pk=run.job_id).update(lease_until=None)
        if attempt == 0:
            with pytest.raises(KeyboardInterrupt):
                runner.run(run.job_id)
        else:
            runner.run(run.job_id)
    assert len(scored()) == ItemFact.objects.count() == 5
    assert states(world.stage) == {"a": "kept", "b": "dropped", "c": "kept", "d": "dropped", "e": "kept"}
    run.refresh_from_db()
    assert run.complete and run.state == "done" and run.options["rows"] == 5


def test_a_raised_limit_changes_the_next_stage_by_exactly_the_items_between(
    world: World, mara: Client, encoder: ScriptedEncoder
) -> None:
    stage = world.stage
    set_up(stage, SCORE)
    request_facts(world, mara)
    bring(mara, stage, a=22.9, b=23, c=24.9, d=25, e=31)
    later = Stage.objects.create(
        benchmark=world.benchmark, key="later", name="Later", sheet=stage.sheet, position=9,
        derivation={"kind": "promote", "from": [stage.key], "of": "kept", "params": {"text": "item.key"}},
    )  # fmt: skip
    work()
    before = _live(later)
    set_up(stage, {**SCORE, "params": {"key": "clip_score", "least": 25}})
    after = _live(later)
    assert before == {"b", "c", "d", "e"} and before - after == {"b", "c"} and after < before


def _live(stage: Stage) -> set[str]:
    derived_items.process_due(timezone.now())
    return set(stage.items.filter(withdrawn_at=None).values_list("text", flat=True))


def test_a_model_that_fails_pauses_the_request_and_pages_say_why(
    world: World, mara: Client, encoder: ScriptedEncoder
) -> None:
    set_up(world.stage, SCORE)
    bring(mara, world.stage, a=30, b=10)
    encoder.works = False
    request_facts(world, mara)
    work()
    assert FactRequest.objects.get().state == "paused" and Job.objects.latest("pk").state == "failed"
    filters = ("benchmarks:filters", world.benchmark.slug, world.stage.pk)
    for place in (filters, ("predictions:facts", world.benchmark.slug)):
        text = page(mara, *place)
        assert "2 items wait for clip_score: encoder not reachable. There is no folder “tiny”" in text, place
        assert "Retry" in text
    overview = page(mara, "benchmarks:detail", world.benchmark.slug)
    assert "2 items wait for clip_score: encoder not reachable." in overview and "View facts" in overview
    bring(mara, world.stage, c=30)
    jobs = Job.objects.count()
    work()
    assert Job.objects.count() == jobs, "nothing is tried until a person says so"
    encoder.works = True
    text = act(mara, "resume", back="filters")
    assert "Filters" in text and "3 items wait for clip_score. It is being computed." in text
    assert "wait for clip_score" not in page(mara, "benchmarks:detail", world.benchmark.slug), "nobody need do anything"
    work()
    assert states(world.stage) == {"a": "kept", "b": "dropped", "c": "kept"}
    assert "wait for clip_score" not in page(mara, *filters)


def test_a_request_is_paused_resumed_and_cancelled_by_hand(
    world: World, mara: Client, encoder: ScriptedEncoder
) -> None:
    bring(mara, world.stage, a=30)
    request_facts(world, mara)
    assert "is paused" in act(mara, "pause") and Job.objects.latest("pk").state == "cancelled"
    work()
    assert scored() == {} and Run.objects.get().state == "paused"
    assert "paused by a user" in page(mara, "predictions:facts", world.benchmark.slug)
    act(mara, "resume")
    work()
    assert len(scored()) == 1 and FactRequest.objects.get().state == "active"
    refused = request_facts(world, mara, model="local-dir:other")
    assert refused.status_code == 400 and "Cancel it first" in refused.content.decode()
    assert "Existing facts are kept" in act(mara, "cancel")
    bring(mara, world.stage, b=30)
    work()
    assert set(scored()) == {"a"} and Run.objects.get().state == "done"
    assert request_facts(world, mara, model="local-dir:other").status_code == 302, "the form makes another one"
    work()
    assert set(scored()) == {"a", "b"} and ItemFact.objects.count() == 3, "the newest run has a fact of each"


def test_a_job_that_is_cancelled_or_resumed_on_its_own_page_pauses_and_resumes(
    world: World, mara: Client, encoder: ScriptedEncoder
) -> None:
    bring(mara, world.stage, a=30)
    request_facts(world, mara)
    job = Job.objects.latest("pk")
    lifecycle.request_cancel(job, world.mara)
    work()
    assert FactRequest.objects.get().state == "paused" and scored() == {}, "the beat does not go on behind their back"
    lifecycle.resume(job, world.mara)
    runner.run(job.pk)
    assert FactRequest.objects.get().state == "active" and len(scored()) == 1


def test_an_internal_error_pauses_instead_of_starting_jobs_without_end(
    world: World, mara: Client, encoder: ScriptedEncoder
) -> None:
    bring(mara, world.stage, a=30)
    request_facts(world, mara)

    def break_down(number: int) -> None:
        raise RuntimeError("out of memory")

    encoder.before_batch = break_down
    with pytest.raises(RuntimeError):
        work()
    work()
    assert Job.objects.filter(kind=item_facts.KIND).count() == 1
    assert "the job failed. Internal error" in page(mara, "predictions:facts", world.benchmark.slug)


def test_pictures_that_cannot_be_read_are_named_and_tried_again_on_request(
    world: World, mara: Client, encoder: ScriptedEncoder
) -> None:
    set_up(world.stage, SCORE)
    bring(mara, world.stage, a=30)
    image = Item.objects.get(key="a").images.get().image
    data = item_facts.original(image.sha256)
    default_storage.delete(image.original_name)
    request_facts(world, mara)
    work()
    work()
    assert encoder.batches == [0], "not tried again and again"
    text = page(mara, "predictions:facts", world.benchmark.slug)
    assert "1 picture cannot be read" in text and "The picture file is missing" in text
    assert "1 item waits for clip_score. 1 picture cannot be read." in page(
        mara, "benchmarks:filters", world.benchmark.slug, world.stage.pk
    )
    storage.store(image.original_name, data)
    act(mara, "resume")
    work()
    assert states(world.stage) == {"a": "kept"}


def test_the_next_action_leads_to_where_the_fact_comes_from(
    world: World, mara: Client, encoder: ScriptedEncoder
) -> None:
    an_endpoint(world)
    set_up(world.stage, SCORE)
    bring(mara, world.stage, a=30)
    overview = mara.get(reverse("benchmarks:detail", args=[world.benchmark.slug])).content.decode()
    address = re.search(r'href="([^"]*/facts/[^"]*)"', overview)
    assert address is not None and "Compute facts" in overview
    form = mara.get(address[1].replace("&amp;", "&").partition("#")[0]).content.decode()
    assert f'<option value="{world.stage.pk}" selected>' in form and '<option value="clip_score" selected>' in form
    set_up(world.stage, {"key": "own", "kind": "fact", "params": {"key": "sharpness", "least": 1}})
    overview = mara.get(reverse("benchmarks:detail", args=[world.benchmark.slug])).content.decode()
    assert "1 item waits for sharpness." in text_of(overview) and f"/import/?stage={world.stage.key}" in overview


def test_a_rule_decides_in_the_step_that_brings_the_fact_it_waits_for(
    world: World, mara: Client, encoder: ScriptedEncoder
) -> None:
    rule = {**RULE, "clauses": [{"key": "fits", "expression": "facts.clip_score >= 20", "words": {"en": "It fits"}}]}
    Stage.objects.filter(pk=world.stage.pk).update(acceptance="by_rule", acceptance_rule=rule, has_target=False)
    bring(mara, world.stage, a=30)
    opened = create_open_campaign(world.stage, world.egypt).cohorts.get()
    assign(opened, world.nour, opened.slots.get(), code="4")
    outcomes.judge_items(list(world.stage.items.values_list("pk", flat=True)), timezone.now())
    assert Outcome.objects.get().waits_for == ["clip_score"]
    an_endpoint(world)
    overview = page(mara, "benchmarks:detail", world.benchmark.slug)
    assert "1 item waits for clip_score. Nothing computes it yet." in overview and "Compute facts" in overview
    request_facts(world, mara)
    work()
    assert Outcome.objects.get().state == "accepted"
    assert "waits for clip_score" not in page(mara, "benchmarks:detail", world.benchmark.slug)


def test_others_neither_see_nor_change_a_request(world: World, mara: Client, encoder: ScriptedEncoder) -> None:
    bring(mara, world.stage, a=30)
    request_facts(world, mara)
    request = FactRequest.objects.get()
    own = reverse("predictions:fact_action", args=[world.benchmark.slug, request.pk])
    for user in (world.stranger, world.rival, world.nour, world.reviewer):
        assert world.client(user).post(own, {"do": "cancel"}).status_code == 404
    theirs = reverse("predictions:fact_action", args=[world.other_benchmark.slug, request.pk])
    assert world.client(world.rival).post(theirs, {"do": "cancel"}).status_code == 404
    assert mara.post(own, {"do": "dance"}).status_code == 400 and mara.get(own).status_code == 405
    assert FactRequest.objects.get().state == "active"


def test_words_become_vectors_of_items_without_a_picture(world: World, mara: Client, encoder: ScriptedEncoder) -> None:
    Stage.objects.filter(pk=world.stage.pk).update(pictures="none", display="words")
    world.stage.refresh_from_db()
    upload(mara, world.stage, b"key,text\ntrain,40\nrailway,20\nempty,\n")
    assert "No facts yet" in page(mara, "predictions:facts", world.benchmark.slug)
    reply = request_facts(world, mara, what="text_vector", words="text")
    assert reply.status_code == 302
    work()
    vectors = dict(ItemFact.objects.filter(key="text_vector").values_list("item__key", "value"))
    assert vectors == {"train": [0.4, 0.0], "railway": [0.2, 0.0]}
    text = page(mara, "predictions:facts", world.benchmark.slug)
    assert "2 items have the fact" in text and "No facts yet" not in text
    upload(mara, world.stage, b"key,text\nrails,30\n")
    work()
    assert ItemFact.objects.filter(key="text_vector", item__key="rails").exists(), "an item that arrives later"
