"""One existing object for every kind of id in a URL, so that tests/test_strangers.py can walk every route.

A new route with a new parameter: add a line to `build`, under the parameter's name, or, where the name means something
else there, under "namespace:route parameter". It must be an id that somebody in the world may open.
"""

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from annotation.models import (
    Annotation,
    Assignment,
    Campaign,
    CampaignCohort,
    Exclusion,
    InstructionText,
    InstructionVersion,
    Outcome,
    Participation,
    ProblemReport,
    Rating,
    Resolution,
    Review,
    ReviewBatch,
    RuleVersion,
    SampledAnswer,
    SheetVersion,
    Slot,
    Tally,
    Unit,
)
from api.models import WebhookDelivery
from api.services import webhooks
from benchmarks.models import Benchmark, Item, ItemReturn, Stage
from benchmarks.models.items import RETURNED
from benchmarks.pages import plugin_pages
from benchmarks.pages.plugin_pages import PluginPage
from benchmarks.services import storage
from benchmarks.services.label_sets import create_typed
from benchmarks.services.recipes.saved_recipes import keep_recipe, recipe_content
from evaluation.models import BenchmarkTable
from evaluation.tables import registry
from jobs.models import Job
from jobs.services import upload_parts
from people.models import Cohort, Rater, User
from people.services import links, messages, tokens
from predictions.models import Call, Collection, Endpoint, FactRequest, ImagePlan, PlanSet, Run
from releases.models import Release, ReleaseFile, ReleaseSelection, WithheldFile
from tests.annotation.chain.factories import RULE
from tests.api import plugin_samples
from tests.evaluation.sample_tables import SMALL
from tests.people import language_samples, people_posts, service_samples
from tests.personas import SHEET, World
from tests.predictions.knowledge import samples as knowledge


def open_campaign(world: World, cohort: Cohort, *, wanted: int = 2) -> CampaignCohort:
    """An open campaign over the world's items, by plain rows."""
    sheet, _made = SheetVersion.objects.get_or_create(
        stage=world.stage, major=1, minor=0, defaults={"definition": SHEET}
    )
    campaign = Campaign.objects.create(
        stage=world.stage, name="First round", state="open", sheet_version=sheet, opened_at=timezone.now()
    )
    version = InstructionVersion.objects.create(campaign=campaign, number=1)
    InstructionText.objects.create(version=version, language="en", body="Look first, then rate.")
    opened = CampaignCohort.objects.create(campaign=campaign, cohort=cohort, target_answers=wanted)
    Tally.objects.bulk_create(Tally(cohort=opened, shard=shard) for shard in range(Tally.SHARDS))
    for position, item in enumerate(world.items, start=1):
        unit, _made = Unit.objects.get_or_create(item=item, target=cohort.label)
        Slot.objects.create(cohort=opened, unit=unit, position=position, wanted=wanted)
    Tally.objects.filter(cohort=opened, shard=0).update(wanted=wanted * len(world.items))
    return opened


def rater(user: User) -> Rater:
    return Rater.objects.get_or_create(user=user, defaults={"kind": Rater.Kind.PERSON})[0]


def assign(opened: CampaignCohort, user: User, slot: Slot, *, code: str = "") -> Assignment:
    """The slot's unit in this person's hand; with a code, already answered."""
    at, person = timezone.now(), rater(user)
    participation, _made = Participation.objects.get_or_create(
        cohort=opened, rater=person, defaults={"last_seen_at": at}
    )
    assignment = Assignment.objects.create(
        campaign=opened.campaign,
        participation=participation,
        slot=slot,
        unit=slot.unit,
        rater=person,
        state="submitted" if code else "reserved",
        in_hand=not code,
        lease_until=None if code else at + timedelta(minutes=30),
        reserved_at=at,
        shown_at=at,
        changed_at=at,
    )
    Slot.objects.filter(pk=slot.pk).update(**({"submitted": 1} if code else {"reserved": 1}))
    if code:
        answer(opened, assignment, code)
    return assignment


def answer(opened: CampaignCohort, assignment: Assignment, code: str) -> Annotation:
    annotation = Annotation.objects.create(
        assignment=assignment,
        rater=assignment.rater,
        version=1,
        client_key=f"sample-{assignment.pk}",
        answers={"relevance": code},
        sheet_version=opened.campaign.sheet_version,
        cohort=opened.cohort,
        language="en",
        shown_at=assignment.reserved_at,
        submitted_at=assignment.changed_at,
    )
    Rating.objects.create(
        annotation=annotation,
        campaign=opened.campaign,
        cohort=opened.cohort,
        unit=assignment.unit,
        rater=assignment.rater,
        field="relevance",
        code=code,
        value=float(code),
    )
    Tally.objects.filter(cohort=opened, shard=0).update(submitted=1, changes=1)
    return annotation


def answers_job(world: World, campaign_id: int) -> Job:
    return Job.objects.create(
        kind="import_answers", title="Answers", scope=world.benchmark.scope,
        state="done", finished_at=timezone.now(), params={"campaign": campaign_id, "digest": "0" * 64},
    )  # fmt: skip


def item_action_job(world: World) -> Job:
    """An action on items that has ended, with nothing left to undo."""
    params = {"benchmark": world.benchmark.pk, "action": "withdraw", "ids": [], "asked": {}, "last": 0}
    return Job.objects.create(
        kind="item_action", title="Withdraw: items", scope=world.benchmark.scope, state="done",
        finished_at=timezone.now(), params=params, created_by=world.mara,
    )  # fmt: skip


def a_run(world: World) -> Run:
    """Of a model of the team over a collection of the benchmark."""
    before = Collection.objects.filter(benchmark=world.benchmark).count()
    key = f"small-{before + 1}" if before else "small"
    collection = Collection.objects.create(benchmark=world.benchmark, key=key, name="Small")
    model = Rater.objects.create(kind="model", team=world.team, name="Model", setting="main")
    return Run.objects.create(
        benchmark=world.benchmark, rater=model, collection=collection, task=Run.Task.RETRIEVAL, complete=True
    )


def an_answer_run(world: World, campaign: Campaign) -> Call:
    """A model's pass over a campaign, finished, with one call that gave no value."""
    defaults = {"base_url": "http://localhost:1/v1"}
    endpoint, _made = Endpoint.objects.get_or_create(team=world.team, name="Server", defaults=defaults)
    model = Rater.objects.create(kind="model", team=world.team, name="Asked", setting="main")
    run = Run.objects.create(
        benchmark=world.benchmark, rater=model, campaign=campaign, endpoint=endpoint, model="asked", prompt="sheet",
        prompt_version="1", task=Run.Task.ANSWERS, source="endpoint", complete=True,
    )  # fmt: skip
    unit = Unit.objects.filter(slots__cohort__campaign=campaign).order_by("pk")[0]
    return Call.objects.create(
        run=run, item=unit.item, unit=unit, state="unparseable", reason="no_number", ended_at=timezone.now()
    )


def request_facts(world: World, endpoint: Endpoint, model: Rater) -> FactRequest:
    run = Run.objects.create(benchmark=world.benchmark, rater=model, endpoint=endpoint, model="m", task=Run.Task.FACTS)
    return FactRequest.objects.create(
        stage=world.stage, what="clip_score", endpoint=endpoint, model="m", run=run, changed_at=timezone.now(),
        state=FactRequest.State.CANCELLED,
    )  # fmt: skip


def plugin_page(_request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    title = f"A page of a plugin, of {benchmark.slug}"
    head = f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>'
    return HttpResponse(
        f'<!doctype html><html lang="en"><head>{head}</head><body><main><h1>{title}</h1></main></body></html>'
    )


def draw_sample(world: World, answer: Annotation) -> ReviewBatch:
    batch = ReviewBatch.objects.create(
        stage=world.stage, author=answer.rater, seed=1, drawn=1, population=1, limit=0.1, at=timezone.now(),
        by=world.owner,
    )  # fmt: skip
    SampledAnswer.objects.create(batch=batch, annotation=answer)
    return batch


def sample_delivery(world: World) -> WebhookDelivery:
    """What was sent to a webhook of the benchmark."""
    url, verbs = "https://receiver.example.org/hook", ["campaign.opened"]
    webhook, _secret = webhooks.create(world.team, world.benchmark, url, verbs, world.mara)
    return webhooks.send_test(webhook, timezone.now())


def build(world: World) -> Mapping[str, Any]:
    """Everything of the world's first team. Nobody of the other team may open any of it."""
    world.add_items(3, images=True)
    opened = open_campaign(world, world.egypt)
    first, second, third = opened.slots.order_by("position")
    done = assign(opened, world.nour, first, code="4")
    decided = assign(opened, world.tarek, third, code="3").annotations.get()
    review = Review.objects.create(annotation=decided, reviewer=world.owner, decision="accept", at=timezone.now())
    Stage.objects.filter(pk=world.stage.pk).update(acceptance=Stage.Acceptance.BY_REVIEW)
    in_hand = assign(opened, world.nour, second)
    problem = ProblemReport.objects.create(assignment=in_hand, rater=in_hand.rater, text="The picture is turned.")
    invitation, _token = links.invite(world.team, world.manager, timezone.now(), cohort=world.egypt)
    message = messages.send(world.egypt, world.manager, "Two days are left.", timezone.now())
    job = Job.objects.create(
        kind="benchmarks.import",
        title="Import",
        scope=world.benchmark.scope,
        state="done",
        finished_at=timezone.now(),
        created_by=world.mara,
    )
    run = a_run(world)
    call = an_answer_run(world, opened.campaign)
    delivery = sample_delivery(world)
    for user in (world.stranger, world.rival):
        rater(user)
    registry.BY_RECIPE.setdefault(TABLES_OF, (SMALL,))
    plugin_pages.BY_RECIPE.setdefault(TABLES_OF, (PluginPage(SMALL.key, "Small", plugin_page),))
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe=TABLES_OF)
    return {
        "slug": world.benchmark.slug,
        "benchmark": world.benchmark.slug,
        "item_id": world.items[0].pk,
        "return_id": a_return(world).pk,
        "stage_id": world.stage.pk,
        "campaign_id": opened.campaign_id,
        "campaign_cohort_id": opened.pk,
        "row_id": opened.pk,
        "problem_id": problem.pk,
        "role_id": world.mara.benchmark_roles.get().pk,
        "assignment_id": in_hand.pk,
        "annotation:change assignment_id": done.pk,
        "annotation_id": done.annotations.get().pk,
        **row_samples(world, done),
        "review_id": review.pk,
        "batch_id": draw_sample(world, done.annotations.get()).pk,
        "rater_id": done.rater_id,
        "unit_id": done.unit_id,
        "job_id": job.pk,
        "run_id": run.pk,
        "collection_id": run.collection_id,
        "annotation:undo_item_action job_id": item_action_job(world).pk,
        "annotation:answers_withdraw job_id": answers_job(world, opened.campaign_id).pk,
        "team_id": world.team.pk,
        "cohort_id": world.egypt.pk,
        "user_id": world.mara.pk,
        "member_id": world.nour.cohort_memberships.get().pk,
        "api:team_member member_id": world.mara.team_memberships.get(team=world.team).pk,
        **{f"api:item_{act} row_id": done.unit.item_id for act in ("withdraw", "restore")},
        "resolution_id": a_resolution(done.annotations.get()).pk,
        "exclusion_id": a_lifted_exclusion(world, done.rater).pk,
        "api:table_spec key": a_composed_table(world).key,
        **{f"api:{name} key": world.stage.key for name in STAGE_ROUTES},
        "invitation_id": invitation.pk,
        "manager_id": world.egypt.managers.get().pk,
        "message_id": message.pk,
        "token_id": tokens.create_token(world.mara, "Notebook", timezone.now())[0].pk,
        "number": world.consent_version.number,
        "people:manager_remove user_id": world.manager.pk,
        "endpoint_id": call.run.endpoint_id,
        "call_id": call.pk,
        "request_id": request_facts(world, Endpoint.objects.get(pk=call.run.endpoint_id), run.rater).pk,
        "plan_set_id": PlanSet.objects.create(benchmark=world.benchmark, budget=1).pk,
        "predictions:images_action stage_id": plan_images(world, call.run.endpoint_id),
        **{f"predictions:{name} run_id": call.run_id for name in ANSWER_ROUTES},
        "upload_key": upload_parts.begin(world.mara.pk, 10).key,
        "sha256": "0" * 64,
        "webhook_id": delivery.webhook_id,
        "delivery_id": delivery.pk,
        "webhooks:team slug": world.team.slug,
        **{f"api:{name} key": SMALL.key for name in ("table_csv", "table_tex", "table_refresh")},
        **{f"api:{name} key": "agreement" for name in ("report", "report_csv", "report_tex")},
        **{f"api:{name} key": "distribution" for name in ("figure", "figure_csv", "figure_svg", "figure_png")},
        "api:import_withdraw job_id": answers_job(world, opened.campaign_id).pk,
        **{f"api:{name} run_id": call.run_id for name in API_RUN_ROUTES},
        "team": world.team.slug,
        **{f"predictions:{name} slug": world.team.slug for name in ENDPOINT_ROUTES},
        **{f"people:{name} slug": world.team.slug for name in TEAM_ROUTES},
        **{f"benchmarks:{name} slug": world.team.slug for name in TARGET_ROUTES},
        **{f"annotation:{name} slug": world.team.slug for name in RECIPE_ROUTES},
        **plugin_samples.build(world),
        "saved_recipe_id": keep_recipe(world.team, recipe_content(world.benchmark, "Kept", ""), world.mara)[0].pk,
        "label_set_id": create_typed(world.team, "Lands", f"{world.egypt.label}\nPeru", world.mara)[0].pk,
        **knowledge.samples(world),
        **service_samples.samples(world),
        **language_samples.samples(world),
        **release_samples(world),
        **export_samples(world),
        **TABLES,
        **FIGURES,
        **EXAMPLES,
        **PUBLIC_DOORS,
        **DJANGO_ADMIN,
        "object_id": world.nour.pk,
        "id": world.nour.pk,
    }


def a_lifted_exclusion(world: World, rater: Rater) -> Exclusion:
    """It stands no more, so that the answers of the samples count."""
    return Exclusion.objects.create(
        benchmark=world.benchmark, rater=rater, reason="Too fast.", by=world.owner, lifted_at=timezone.now(),
        lifted_by=world.owner,
    )  # fmt: skip


def a_resolution(answer: Annotation) -> Resolution:
    return Resolution.objects.create(
        unit=answer.assignment.unit, field="relevance", code="4", answer="4", chosen_annotation=answer,
        annotation=answer, reason="Sample.", by=answer.rater, at=timezone.now(), version=1,
    )  # fmt: skip


def a_composed_table(world: World) -> BenchmarkTable:
    table, _made = BenchmarkTable.objects.get_or_create(
        benchmark=world.benchmark, key="covered",
        defaults={"name": "Covered", "kind": BenchmarkTable.Kind.COVERAGE, "stage": world.stage.key},
    )  # fmt: skip
    return table


def release_samples(world: World) -> dict[str, Any]:
    """A release that is built, with a file."""
    selection = ReleaseSelection((world.stage.pk,), ()).to_json()
    version = f"1.{world.benchmark.releases.count()}.0"
    release = Release.objects.create(
        benchmark=world.benchmark, version=version, selection=selection, state=Release.State.READY,
        frozen_at=timezone.now(), built_at=timezone.now(), facts={"rows": {}},
    )  # fmt: skip
    content = b"1"
    sha256 = hashlib.sha256(content).hexdigest()
    file = ReleaseFile.objects.create(release=release, path="MANIFEST.json", sha256=sha256, bytes=1)
    storage.store(file.stored_name, content)
    withheld = WithheldFile.objects.create(release=release, path="withheld/answers.jsonl", sha256=sha256, bytes=1)
    storage.store(withheld.stored_name, content)
    return {"release_id": release.pk, "file_id": file.pk, "withheld_id": withheld.pk}


def export_samples(world: World) -> dict[str, Any]:
    """An export that is done, with its file."""
    stored, at = f"exports/sample-{world.benchmark.pk}.zip", timezone.now()
    storage.store(stored, b"1")
    file = {"name": "export.zip", "stored": stored, "bytes": 1, "sha256": "0" * 64, "at": at.isoformat()}
    params = {"stage": world.stage.pk, "key": world.stage.key, "campaigns": [], "form": "csv", "versions": False}
    job = Job.objects.create(
        kind="export_rows", title="Export", scope=world.benchmark.scope, state="done", finished_at=at, params=params,
        result={"file": file},
    )  # fmt: skip
    names = ("api:export job_id", "api:export_file job_id", "releases:export_file job_id")
    return {"file_path": "MANIFEST.json", **dict.fromkeys(names, job.pk)}


def plan_images(world: World, endpoint: int) -> int:
    """A plan of images for the stage."""
    ImagePlan.objects.get_or_create(
        stage=world.stage, defaults={"source": world.stage, "endpoint_id": endpoint, "model": "painter"}
    )
    return world.stage.pk


def a_return(world: World) -> ItemReturn:
    """Of an item that nothing else uses."""
    at, key = timezone.now(), f"returned-{world.stage.items.count()}"
    item = Item.objects.create(stage=world.stage, key=key, withdrawn_at=at, withdrawn_because=RETURNED)
    return ItemReturn.objects.create(item=item, by=world.mara, comment="Too dark", maker="import", at=at)


def row_samples(world: World, done: Assignment) -> dict[str, Any]:
    """A row of each kind that REST shows alone."""
    annotation = done.annotations.get()
    rule, _made = RuleVersion.objects.get_or_create(stage=world.stage, number=1, defaults={"definition": RULE})
    outcome, _made = Outcome.objects.get_or_create(
        campaign=done.campaign,
        unit=done.unit,
        defaults={"state": "accepted", "rule_version": rule, "answers": 1, "at": timezone.now()},
    )
    rating = annotation.ratings.first() or Rating.objects.create(
        annotation=annotation, campaign=done.campaign, unit=done.unit, rater=done.rater, field="relevance", code="3"
    )
    return {
        "api:item row_id": done.unit.item_id,
        "api:annotation row_id": annotation.pk,
        "api:rating row_id": rating.pk,
        "api:outcome row_id": outcome.pk,
    }


TABLES_OF = "tests.samples"  # a recipe that is none, with a table of the tests
STAGE_ROUTES = (
    "stage", "stage_draft", "stage_publish", "stage_versions", "stage_filters", "stage_coverage", "stage_inputs",
    "stage_second_reviews",
)  # fmt: skip
TABLES = {
    "api:table key": "small",
    "evaluation:table key": "small",
    "benchmarks:plugin_page key": "small",
    "evaluation:table_file key": "small",
    "evaluation:table_file form": "csv",
}
EXAMPLES = {"predictions:example example_name": "collection", "predictions:example form": "csv"}
FIGURES = {"evaluation:figure_file key": "distribution", "evaluation:figure_file form": "csv"}
PUBLIC_DOORS = {"token": "unknown-token", "uidb64": "MQ", "signed": "unsigned"}
DJANGO_ADMIN = {"app_label": "people", "content_type_id": 1, "url": "nothing"}


# What an insider would send, so that a refusal is one of the person and not of an empty form. Others get ANYTHING.
ANYTHING: Mapping[str, str] = {
    "name": "Third round",
    "note": "x",
    "text": "x",
    "reason": "unknown",
    "do": "lift",
    "sure": "1",
    "client_key": "outsider",
    "a-relevance": "5",
}
POSTS: Mapping[str, Mapping[str, str]] = {
    "annotation:campaign_action": {"act": "pause"},
    "annotation:item_action": {"do": "withdraw", "scope": "all"},
    "annotation:coverage_action": {"act": "keys", "keys": "item-00000"},
    "annotation:return_item": {"comment": "Too dark"},
    "annotation:review": {"decision": "accept"},
    "annotation:review_decide": {"decision": "accept"},
    "annotation:campaign_instruct": {
        "act": "publish",
        "s:texts[0].language": "en",
        "t:texts[0].body": "Do as I say.",
    },
    "annotation:ready": {"act": "confirm"},
    "benchmarks:role": {"name": "none"},
    "benchmarks:filter_edit": {"kind": "aspect", "number": "0", "least": "0.5", "most": "2"},
    "benchmarks:filters_action": {"do": "assign"},
    "benchmarks:filter_decide": {"state": "dropped", "reason": "x"},
    "evaluation:person": {"do": "exclude", "reason": "x"},
    "predictions:answer_run_action": {"do": "withdraw"},
    "releases:new": {"version": "9.0.0", "formats": "csv", "pictures": "names"},
    "releases:action": {"do": "build"},
    "releases:description": {"doi": "10.5281/zenodo.1"},
    "releases:fill": {"pay": "Not paid."},
    "predictions:plan_set_action": {"do": "stop"},
    "predictions:conditions": {"do": "remove", "condition": "relevance"},
    "predictions:condition_edit": {"prompt": "sheet", "name": "Again", "stage": "relevance", "setting": "again"},
    "predictions:images_action": {"do": "pause"},
    "predictions:model_details": {"model": "Asked", "access": "open"},
    "predictions:endpoint_new": {"kind": "openai", "name": "Mine", "base_url": "https://a.example/v1"},
    "predictions:endpoint_action": {"do": "retire"},
    "annotation:saved_recipe": {"do": "remove"},
    "benchmarks:targets": {"add": "countries"},
    "benchmarks:target_new": {"name": "Faiths", "kind": "religions", "lines": "Sufism"},
    "predictions:knowledge": {"name": "Mine", "version": "1"},
    "predictions:links_action": {"do": "withdraw"},
    **people_posts.POSTS,
    # What a person may do with what is their own would change it: these stay empty.
    "people:me": {},
    "people:password_change": {},
    "people:tokens": {},
    "people:team_new": {"name": "Mine", "slug": "mine"},
    "benchmarks:create": {},
}

TEAM_ROUTES = (
    "team",
    "team_invite",
    "team_settings",
    "member_role",
    "member_remove",
    "consent_texts",
    "consent_version",
    "cohort_new",
)
TARGET_ROUTES = ("targets", "target_new", "target_sample", "target_set", "target_cohorts")
RECIPE_ROUTES = ("recipes", "saved_recipe", "saved_recipe_file")
ENDPOINT_ROUTES = ("endpoints", "endpoint_new", "endpoint", "endpoint_prices", "endpoint_action", "model_details")
API_RUN_ROUTES = (
    *("run", "run_calls", "run_cost", "run_start", "run_pause", "run_resume", "run_stop", "run_withdraw"),
    "run_restore",
)
ANSWER_ROUTES = ("answer_run", "answer_run_live", "answer_run_action", "call", "calls_file")
