"""All stages of a benchmark are opened by one form: for which cohorts, with what, twice, and not at all."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Campaign, CampaignCohort, Slot
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.chain_opening import ChainRefused, StageOpening, open_chain
from annotation.services.queue import recount
from benchmarks.models import Benchmark, Item, Stage
from people.models import Cohort
from tests.chains.link_client import text_of
from tests.forms import inputs_of
from tests.module_world import built_once
from tests.personas import World, make_cohort, make_items, stand_in
from tests.samples import assign

pytestmark = pytest.mark.django_db
PAGE = "/b/questions/chain/open/"


@built_once
def benchmark(world: World) -> Benchmark:
    """CulturalVQA of mara's; the team has Egypt and Brazil, of which the recipe names Brazil, and India."""
    return make_benchmark(world)


def make_benchmark(world: World) -> Benchmark:
    form = {"recipe": "culturalvqa", "name": "Questions", "slug": "questions", "team": world.team.pk, "question": ""}
    assert world.client(world.mara).post("/benchmarks/new/", form).status_code == 302
    make_cohort(world.team, "India", world.tarek, languages=["hi"])
    return Benchmark.objects.get(slug="questions")


def stage_of(benchmark: Benchmark, key: str) -> Stage:
    return benchmark.stages.get(key=key)


def add_pictures(benchmark: Benchmark, **counts: int) -> None:
    """Items of the first stage, by the country that they show."""
    stage = stage_of(benchmark, "questions")
    for country, n in counts.items():
        items = Item.objects.bulk_create(Item(stage=stage, key=f"{country}-{i}", origin=country) for i in range(n))
        stand_in(items)


def form_of(client: Client) -> dict[str, Any]:
    """What a browser would send of the form as it is drawn."""
    reply = client.get(PAGE)
    assert reply.status_code == 200
    data: dict[str, Any] = {"cohorts": [], "do": "open"}
    for name, value in inputs_of(reply.content.decode().split("<main")[1]):
        if name == "cohorts":
            data["cohorts"].append(value)
        else:
            data[name] = value
    return data


def send(client: Client, changes: dict[str, Any] | None = None, status: int = 200) -> str:
    reply = client.post(PAGE, {**form_of(client), **(changes or {})}, follow=True)
    assert reply.status_code == status, reply.content.decode()[:3000]
    return reply.content.decode()


def test_stages_that_ask_nobody_need_no_instructions(world: World, benchmark: Benchmark) -> None:
    page = world.client(world.mara).get(PAGE).content.decode()
    assert page.count("Not needed") == benchmark.stages.filter(target_answers=0).count() == 2


def test_a_stage_that_is_open_for_models_asks_nobody_when_the_form_is_opened_again(
    world: World, benchmark: Benchmark
) -> None:
    client, judged = world.client(world.mara), stage_of(benchmark, "lave")
    send(client)
    form, page = form_of(client), text_of(client.get(PAGE).text)
    assert judged.target_answers == 0 and form[f"open_{judged.pk}"] == "on" and form[f"target_{judged.pk}"] == "0"
    assert "Brazil Open for models" in page and "Asked for 3 answers" in page
    assert "Asked for 1 answer" in page, "of the stages that ask people for one"
    send(client, {"cohorts": [*form["cohorts"], str(world.egypt.pk)]})
    assert judged.campaigns.get().state == Campaign.State.PAUSED and "Stuck" not in client.get("/b/questions/").text


def test_one_press_opens_every_stage_for_the_cohorts_of_the_recipe(world: World, benchmark: Benchmark) -> None:
    add_pictures(benchmark, Brazil=3, India=2, Egypt=4)
    page = send(world.client(world.mara))
    stages = list(benchmark.stages.exclude(key="candidates"))
    assert f"{len(stages)} stages are open." in page, "candidates are imported and filtered: nobody answers there"
    campaigns = {campaign.stage.key: campaign for campaign in Campaign.objects.order_by("stage__position")}
    assert list(campaigns) == [stage.key for stage in stages]
    for key, campaign in campaigns.items():
        rows = campaign.cohorts.order_by("cohort__label").values_list("cohort__label", "target_answers")
        assert list(rows) == [(label, campaign.stage.target_answers or 1) for label in ("Brazil", "India")]
        assert lifecycle.current_instructions(campaign) == campaign.stage.instructions
        assert campaign.state == ("paused" if key == "lave" else "open"), "a judge reads there, and no people"
    questions = campaigns["questions"]
    wanted = {one.cohort.label: one.wanted for one in lifecycle.progress(questions)}
    assert wanted == {"Brazil": 3, "India": 2}, "each cohort is asked about its own items"
    assert Slot.objects.exclude(cohort__campaign=questions).count() == 0, "later stages open empty"
    assert not list(recount.iter_differences())
    assert "LAVE" not in world.client(world.bia).get("/work/").content.decode()
    sheet = world.client(world.bia).get(f"/work/{questions.pk}/")
    assert sheet.status_code in (200, 302), "people have the work at once"


def test_a_second_press_changes_nothing(world: World, benchmark: Benchmark) -> None:
    add_pictures(benchmark, Brazil=2, India=2)
    mara = world.client(world.mara)
    send(mara)
    before = [list(model.objects.order_by("pk").values()) for model in (Campaign, CampaignCohort, Slot)]
    assert "Everything is open already. Nothing was changed." in send(mara)
    assert [list(model.objects.order_by("pk").values()) for model in (Campaign, CampaignCohort, Slot)] == before


def test_a_new_cohort_joins_every_open_stage_and_the_others_keep_their_targets(
    world: World, benchmark: Benchmark
) -> None:
    add_pictures(benchmark, Brazil=2, China=5)
    mara = world.client(world.mara)
    question = stage_of(benchmark, "questions")
    send(mara, {f"target_{question.pk}": "4"})
    make_cohort(world.team, "China", world.caio)
    page = send(mara)
    assert "1 cohort joined stages that were open." in page
    assert Campaign.objects.count() == benchmark.stages.count() - 1
    assert Campaign.objects.get(stage__key="lave").cohorts.filter(cohort__label="China").exists()
    rows = CampaignCohort.objects.filter(campaign__stage=question).order_by("cohort__label")
    assert list(rows.values_list("cohort__label", "target_answers")) == [("Brazil", 4), ("China", 4), ("India", 4)]
    assert Slot.objects.filter(cohort__cohort__label="China").count() == 5
    assert not list(recount.iter_differences())


def test_a_stage_can_be_left_out_and_a_cohort_left_out_of_a_stage_stays_out(world: World, benchmark: Benchmark) -> None:
    mara = world.client(world.mara)
    rating, india = stage_of(benchmark, "model-answers"), Cohort.objects.get(label="India")
    data = form_of(mara)
    lave = stage_of(benchmark, "lave")
    del data[f"open_{lave.pk}"]
    data |= {f"target_{rating.pk}": "3", f"target_{rating.pk}_{world.brazil.pk}": "0"}
    assert mara.post(PAGE, data).status_code == 302
    assert not lave.campaigns.exists()
    assert list(rating.campaigns.get().cohorts.values_list("cohort", "target_answers")) == [(india.pk, 3)]
    page = send(mara)  # lave is offered again; Brazil is not pressed into the rating
    assert "1 stage is open." in page and lave.campaigns.exists()
    assert list(rating.campaigns.get().cohorts.values_list("cohort", flat=True)) == [india.pk]


def test_a_cohort_that_is_asked_for_nothing_is_not_asked_for_one_answer(world: World, benchmark: Benchmark) -> None:
    rating, india = stage_of(benchmark, "model-answers"), Cohort.objects.get(label="India")
    opening = StageOpening(rating.pk, {india.pk: 3, world.brazil.pk: 0})
    open_chain(benchmark, [opening], world.mara, timezone.now())
    assert list(rating.campaigns.get().cohorts.values_list("cohort", "target_answers")) == [(india.pk, 3)]
    open_chain(benchmark, [StageOpening(rating.pk, {world.brazil.pk: 0})], world.mara, timezone.now())
    assert list(rating.campaigns.get().cohorts.values_list("cohort", flat=True)) == [india.pk]
    page = send(world.client(world.mara))
    assert "0 stages" not in page and "for 0 cohorts" not in page


def test_a_stage_for_models_opens_for_people_where_a_cohort_gets_a_number(world: World, benchmark: Benchmark) -> None:
    mara, lave = world.client(world.mara), stage_of(benchmark, "lave")
    stand_in([Item.objects.create(stage=lave, origin=label, key=label, text="?", context={"candidate": "Tea"})
              for label in ("Brazil", "India")])  # fmt: skip
    page = mara.get(PAGE).content.decode().split("LAVE", 1)[1].split("</tbody>")[0]
    assert "People are not asked, unless you enter a number" in page
    assert not Campaign.objects.exists()
    send(mara, {f"target_{lave.pk}_{world.brazil.pk}": "2"})
    campaign = lave.campaigns.get()
    assert campaign.state == "open"
    assert list(campaign.cohorts.values_list("cohort", "target_answers")) == [(world.brazil.pk, 2)]


def test_a_stage_that_nobody_answers_is_opened_only_on_request(world: World, benchmark: Benchmark) -> None:
    mara, candidates = world.client(world.mara), stage_of(benchmark, "candidates")
    assert f"open_{candidates.pk}" not in form_of(mara)
    send(mara)
    assert not candidates.campaigns.exists()
    send(mara, {f"open_{candidates.pk}": "on", f"target_{candidates.pk}": "1"})
    assert candidates.campaigns.get().state == "open"


def test_dates_are_of_the_chain_and_a_stage_may_have_its_own(world: World, benchmark: Benchmark) -> None:
    mara = world.client(world.mara)
    question, today = stage_of(benchmark, "questions"), timezone.now().date()
    last, sooner = today + timedelta(days=60), today + timedelta(days=20)
    send(mara, {"opens_on": today.isoformat(), "closes_on": last.isoformat(), f"closes_on_{question.pk}": str(sooner)})
    assert question.campaigns.get().closes_on == sooner
    assert set(Campaign.objects.exclude(stage=question).values_list("opens_on", "closes_on")) == {(today, last)}


def break_sheet(benchmark: Benchmark, key: str) -> None:
    Stage.objects.filter(benchmark=benchmark, key=key).update(sheet={"fields": [{"key": "x", "kind": "no such kind"}]})


def test_stages_that_are_wrong_refuse_the_whole_and_nothing_opens(world: World, benchmark: Benchmark) -> None:
    add_pictures(benchmark, Brazil=2)
    mara = world.client(world.mara)
    break_sheet(benchmark, "answers")
    Stage.objects.filter(benchmark=benchmark, key="lave").update(display="no such display")
    question = stage_of(benchmark, "questions")
    page = send(mara, status=400)
    alert = page.split('role="alert"')[1].split("</div>")[0]
    assert "Nothing was opened." in alert and "Answer writing" in alert and "LAVE" in alert
    assert "Question writing" not in alert
    assert not Campaign.objects.exists() and not Slot.objects.exists()
    past = StageOpening(question.pk, {world.brazil.pk: 1}, closes_on=timezone.now().date() - timedelta(days=1))
    with pytest.raises(ChainRefused) as refused:
        open_chain(benchmark, [past], world.mara, timezone.now())
    assert [list(refusal.reasons) for refusal in refused.value.refusals] == [["closes_before_it_opens"]]
    assert not Campaign.objects.exists()


def test_a_refusal_among_running_campaigns_leaves_these_alone(world: World, benchmark: Benchmark) -> None:
    mara = world.client(world.mara)
    data = form_of(mara)
    answers = stage_of(benchmark, "answers")
    del data[f"open_{answers.pk}"]
    mara.post(PAGE, data)
    make_cohort(world.team, "China")
    break_sheet(benchmark, "answers")
    send(mara, status=400)
    assert not CampaignCohort.objects.filter(cohort__label="China").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cohorts": []}, "Select at least one cohort."),
        ({"target_FIRST": "0"}, "greater than or equal to 1"),
        ({"target_FIRST": ""}, "Enter a number from 1 to 1000."),
        ({"target_FIRST": "many"}, "Enter a whole number"),
        ({"opens_on": "2030-02-02", "closes_on": "2030-02-01"}, "The last day lies before the first"),
        ({"cohorts": ["999999"]}, "not one of the available choices"),
    ],
)
def test_a_wrong_form_says_why_and_opens_nothing(
    world: World, benchmark: Benchmark, change: dict[str, Any], words: str
) -> None:
    first = str(stage_of(benchmark, "questions").pk)
    page = send(world.client(world.mara), {key.replace("FIRST", first): value for key, value in change.items()}, 400)
    assert words in page and not Campaign.objects.exists()


def test_the_button_says_what_it_opens(world: World, benchmark: Benchmark) -> None:
    mara = world.client(world.mara)

    def label(page: str) -> str:
        return text_of(page.partition('id="open-chain"')[2].partition("</button>")[0].partition(">")[2])

    def asked(**changes: Any) -> str:
        return label(mara.post(PAGE, form_of(mara) | {"do": "check"} | changes).content.decode())

    n = sum(name.startswith("open_") for name in form_of(mara))
    assert label(mara.get(PAGE).content.decode()) == asked() == f"Open {n} stages for 2 cohorts"
    assert asked(cohorts=[str(world.brazil.pk)]) == f"Open {n} stages for 1 cohort"
    assert asked(cohorts=[]) == "Open the whole chain", "an error is no number"
    send(mara)
    assert asked() == "Open the whole chain", "all of it is open"
    late = make_cohort(world.team, "China")
    assert asked(cohorts=[str(late.pk)]) == f"Open {n} stages for 1 cohort"


def test_no_stage_is_no_chain_and_a_cohort_of_another_team_cannot_be_asked(world: World, benchmark: Benchmark) -> None:
    mara = world.client(world.mara)
    data = {name: value for name, value in form_of(mara).items() if not name.startswith("open_")}
    assert "Select at least one stage." in mara.post(PAGE, data).content.decode()
    reply = mara.post(PAGE, {**form_of(mara), "cohorts": [str(world.other_cohort.pk)]})
    assert reply.status_code == 400 and not Campaign.objects.exists()
    theirs = StageOpening(stage_of(benchmark, "questions").pk, {world.other_cohort.pk: 1})
    with pytest.raises(ChainRefused):
        open_chain(benchmark, [theirs], world.mara, timezone.now())


def test_only_owners_and_researchers_open_a_chain(world: World, benchmark: Benchmark) -> None:
    benchmark.roles.create(user=world.reviewer, name="reviewer")
    data = form_of(world.client(world.mara))
    people = (world.reviewer, world.team_admin, world.manager, world.nour, world.stranger, world.rival)
    for person in people:
        client = world.client(person)
        assert client.get(PAGE).status_code == client.post(PAGE, data).status_code == 404, person.name
    assert not Campaign.objects.exists()


def test_the_page_says_what_each_cohort_gets_and_what_it_takes(world: World, benchmark: Benchmark) -> None:
    add_pictures(benchmark, Brazil=3, India=2, Egypt=9)
    Cohort.objects.filter(label="India").update(languages=["xh"])
    mara = world.client(world.mara)
    data = form_of(mara)
    page = mara.get(PAGE).content.decode()
    first = page.split("Question writing", 1)[1].split("</tbody>")[0]
    assert "2–9" in first and "its own items only" in first
    assert "3 items" in first and "2 items" in first and "9 items" in first
    assert "no text in" in first, "India reads isiXhosa here, and there are no instructions in it"
    without = [pk for pk in data["cohorts"] if pk != str(Cohort.objects.get(label="India").pk)]
    unasked = mara.post(PAGE, {**data, "cohorts": without, "do": "check"}).content.decode()
    assert "no text in" not in unasked, "a cohort that is not ticked needs no instructions"
    figures = page.split('class="figs"')[1].split("</dl>")[0]
    assert "<dd>5</dd>" in figures, "one question for each picture of Brazil and India, and not for Egypt's"
    assert "Not known before a pilot of 20 answers a stage" in figures
    assert "Not known before a first run with prices" in figures
    question = stage_of(benchmark, "questions")
    again = mara.post(PAGE, {**data, f"target_{question.pk}": "4", "do": "check"}).content.decode()
    assert "<dd>20</dd>" in again.split('class="figs"')[1] and not Campaign.objects.exists()
    send(mara)
    assert "<dd>0</dd>" in mara.get(PAGE).content.decode().split('class="figs"')[1], "nothing is asked twice"


def test_the_page_says_for_each_stage_whose_answers_the_number_counts(world: World, benchmark: Benchmark) -> None:
    shared, own = stage_of(benchmark, "questions"), stage_of(benchmark, "answers")
    Stage.objects.filter(pk=shared.pk).update(has_target=False, own_items_only=False, target_in_all=True)
    Stage.objects.filter(pk=own.pk).update(own_items_only=True)
    each = benchmark.stages.exclude(pk__in=[shared.pk, own.pk]).filter(own_items_only=False, target_in_all=False)
    page = world.client(world.mara).get(PAGE).content.decode()
    assert (
        text_of(page).count("answers for each item, from all cohorts together")
        == benchmark.stages.filter(target_in_all=True).count()
    )
    assert text_of(page).count("answers for each item, from each cohort") == each.count()
    assert "answers for each item, from its own cohort" in page and "Wanted, each cohort" not in page


def test_hours_are_known_from_twenty_answers_on(world: World) -> None:
    slug, mara = world.benchmark.slug, world.client(world.mara)
    make_items(world.stage, 20)
    campaign = lifecycle.create(world.stage, "Pilot", world.mara, {world.egypt: 1})
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    row = campaign.cohorts.get()
    for slot in row.slots.all():
        assign(row, world.nour, slot, code="3")
    Annotation.objects.update(active_seconds=90.0)
    form = {"cohorts": [world.egypt.pk, world.brazil.pk], f"open_{world.stage.pk}": "on", "do": "check"}
    form[f"target_{world.stage.pk}"] = "4"

    def figures() -> str:
        reply = mara.post(f"/b/{slug}/chain/open/", form)
        return reply.content.decode().split('class="figs"')[1].split("</dl>")[0]

    # Brazil's 20 items x 4 answers x 90 s; Egypt is asked already
    assert "<dd>80</dd>" in figures() and "2 h" in figures() and "by the quartiles of 20 answers" in figures()
    Annotation.objects.filter(pk=Annotation.objects.order_by("pk")[0].pk).update(active_seconds=None)
    assert "Not known before a pilot" in figures()


def test_a_closed_stage_is_not_opened_again_by_itself_and_a_draft_is_left_alone(
    world: World, benchmark: Benchmark
) -> None:
    mara, question = world.client(world.mara), stage_of(benchmark, "questions")
    draft = lifecycle.create(stage_of(benchmark, "answers"), "My draft", world.mara, {world.brazil: 9})
    send(mara)
    draft.refresh_from_db()
    assert draft.state == "draft" and draft.cohorts.count() == 1
    lifecycle.close(question.campaigns.get(), world.mara, timezone.now())
    assert f"open_{question.pk}" not in form_of(mara)
    send(mara, {f"open_{question.pk}": "on"})
    assert sorted(question.campaigns.values_list("state", flat=True)) == ["closed", "open"]


def test_without_a_cohort_the_page_leads_to_the_cohorts(world: World) -> None:
    CampaignCohort.objects.all().delete()
    rival = world.client(world.rival)
    slug = world.other_benchmark.slug
    world.other_cohort.members.all().delete()
    world.other_cohort.delete()
    page = rival.get(f"/b/{slug}/chain/open/").content.decode()
    assert "The team has no cohort yet." in page and f'href="/b/{slug}/cohorts/"' in page


@pytest.mark.django_db(transaction=True)
def test_two_presses_at_once_open_one_chain(world: World) -> None:
    benchmark = make_benchmark(world)
    add_pictures(benchmark, Brazil=4, India=4)
    stages, at = list(benchmark.stages.all()), timezone.now()
    cohorts = Cohort.objects.filter(team=world.team, label__in=["Brazil", "India"])
    openings = [StageOpening(stage.pk, {cohort.pk: 2 for cohort in cohorts}) for stage in stages]

    def press(_number: int) -> int:
        try:
            return len(open_chain(benchmark, openings, world.mara, at).campaigns)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        opened = sorted(pool.map(press, range(4)))
    assert opened == [0, 0, 0, len(stages)]
    assert Campaign.objects.count() == len(stages)
    assert CampaignCohort.objects.count() == 2 * len(stages)
