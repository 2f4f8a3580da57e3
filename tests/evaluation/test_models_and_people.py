"""Models and a judge beside people, where codes have no order; and what the pages say where there is no number."""

import json

import pytest

from annotation.models import Annotation, Campaign, Rating, Unit
from benchmarks.models import Stage
from evaluation.reports import stored_agreement
from evaluation.reports import stored_people as people_page
from evaluation.services.snapshots import THRESHOLD
from people.models import Rater
from tests.annotation.files.test_answer_files import import_answers
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.evaluation.test_measures import CHOICE, with_sheet
from tests.evaluation.test_people_page import NOMINAL
from tests.module_world import built_once
from tests.personas import World, make_cohort, make_user

# What most said: 1, 1, 2, 3, and of the last nobody knows. The model is right in three of these four; always saying 1
# would be right in two of them.
PEOPLE = ("11231", "12232", "11213")
MODEL = "12231"
GOLD = "1221"  # the model is right in three of four; the last item has none


def of_a_model(world: World, campaign: Campaign, codes: str, name: str = "heron", **more: str) -> None:
    fields = {"rater": name, "rater_kind": "model", "target": "Egypt", "field": "relevance", **more}
    rows = [{**fields, "item": item.key, "code": code} for item, code in zip(world.items, codes, strict=False)]
    job = import_answers(campaign, "\n".join(json.dumps(row) for row in rows).encode(), f"{name}.jsonl")
    assert job.result["counts"] == {"created": len(rows)}


@built_once
def nominal(world: World) -> Campaign:
    campaign = with_sheet(world, {**CHOICE, "key": "relevance", "config": NOMINAL})
    third = world.add_annotators(world.egypt, 1)[0]
    for user, codes in zip((world.nour, world.tarek, third), PEOPLE, strict=True):
        give_ratings(campaign, world.egypt, user, dict(zip(world.items, codes, strict=False)))
    Rating.objects.update(value=None)
    of_a_model(world, campaign, MODEL)
    return campaign


def read(world: World, rest: str) -> str:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/{rest}")
    assert reply.status_code == 200
    return reply.content.decode()


def test_without_an_order_a_model_is_right_or_wrong(world: World, nominal: Campaign) -> None:
    [line] = json.loads(read(world, "models.json?cohort=" + str(world.egypt.pk)))["models"]
    assert (line["overall"]["value"], line["overall"]["n_units"]) == (0.75, 4)
    page = read(world, f"models/?cohort={world.egypt.pk}")
    assert "Accuracy" in page and "Spearman" not in page and "0.75</bdi></b>" in page
    assert "Correct answer: the option that most people of the cohort chose. Ties left out: 1." in page
    assert 'name="truth"' not in page, "without gold there is no choice"


def test_where_no_cohort_is_asked_about_itself_people_of_all_make_one_majority(world: World, nominal: Campaign) -> None:
    """The third person is of another cohort: alone, neither cohort would have the same majority."""
    third = Rater.objects.get(user__email="egypt-1@example.org")
    for rows in (Rating.objects.all(), Annotation.objects.all()):
        rows.filter(rater=third).update(cohort=world.brazil)
    [line] = json.loads(read(world, "models.json"))["models"]
    assert line["overall"]["n_units"] != 4, "of each cohort by itself: ties, and items twice"
    Stage.objects.filter(pk=world.stage.pk).update(has_target=False)
    Unit.objects.filter(target="Egypt").update(target="")
    [line] = json.loads(read(world, "models.json"))["models"]
    assert (line["overall"]["value"], line["overall"]["n_units"]) == (0.75, 4)
    assert "most people of all cohorts chose" in read(world, "models/")


def test_gold_of_the_items_can_say_what_is_right(world: World, nominal: Campaign) -> None:
    for item, code in zip(world.items, GOLD, strict=False):
        item.context = {"gold": code}
        item.save()
    found = json.loads(read(world, "models.json?truth=gold"))
    assert (found["truth"], found["models"][0]["overall"]["value"]) == ("gold", 0.75)
    assert found["models"][0]["overall"]["n_units"] == 4
    assert "Correct answer: the gold answer of the item" in read(world, "models/?truth=gold")
    assert json.loads(read(world, "models.json?truth=people"))["truth"] == "people"


def test_a_judge_without_an_order_is_set_against_the_majority(world: World, nominal: Campaign) -> None:
    line = json.loads(read(world, "judge.json"))["cohorts"]["Egypt"]
    assert line["agreement_with_majority"]["value"] == 0.75
    assert line["base_rate"]["value"] == 0.5
    assert line["n_tied"] == 1
    page = read(world, f"judge/?cohort={world.egypt.pk}")
    assert "Agreement with the majority of others" in page and "Spearman" not in page
    assert "1 tie left out." in page
    base = page.split('data-l="Base rate"', 1)[1].split("</td>", 1)[0]
    assert "0.50" in base and "n = 4 × 3" in base


def test_two_judges_without_an_order_have_bounds(world: World, nominal: Campaign) -> None:
    """Of four units the first is mistaken on one, the second on that and another: r = 2 / sqrt(1 x 3 x 2 x 2)."""
    of_a_model(world, nominal, "12131", "egret")
    panel = json.loads(read(world, "judge.json"))["panel"]
    r = 2 / 12**0.5
    assert panel["error_correlation"]["value"] == pytest.approx(r)
    assert panel["error_correlation"]["method"].startswith("upper bound")
    assert panel["effective_judges"]["value"] == pytest.approx(2 / (1 + r))
    assert panel["effective_judges"]["method"].startswith("lower bound")
    page = read(world, f"judge/?cohort={world.egypt.pk}")
    assert "Correlation of their errors, upper bound" in page
    assert "Effective number of judges (at least)" in page
    assert "without the correction" not in page


def test_what_nobody_shares_with_the_model_is_not_called_unrated(world: World) -> None:
    world.add_items(4)
    campaign = an_open_campaign(world)
    for cohort, users in ((world.egypt, (world.nour, world.tarek)), (world.brazil, (world.bia, world.caio))):
        for user in users:
            give_ratings(campaign, cohort, user, dict(zip(world.items, "1234", strict=True)))
    of_a_model(world, campaign, "1234")
    for rest in ("models/", "judge/"):
        page = read(world, f"{rest}?cohort={world.brazil.pk}")
        assert "People and the model have rated no item in common." in page, rest
        assert "No ratings yet" not in page, rest
    assert "rated no item in common" not in read(world, f"models/?cohort={world.egypt.pk}")


def test_models_are_told_from_people(world: World, nominal: Campaign) -> None:
    page = read(world, "people/?cohort=all")
    row = page.split("heron", 1)[1].split("</tr>", 1)[0]
    assert ">Model</span>" in row and "0 %" not in row
    assert page.index("heron") > page.index(world.nour.name)


def test_many_people_come_page_by_page(world: World, nominal: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people_page, "PAGE", 2)
    first, second = (read(world, f"people/?cohort={world.egypt.pk}{more}") for more in ("", "&page=2"))
    names = [world.benchmark.pseudonym(rater) for rater in Rating.objects.filter(rater__kind="person")
             .values_list("rater", flat=True).distinct()]  # fmt: skip
    assert [sum(name in page for name in names) for page in (first, second)] == [2, 1]
    assert "of 3 who took part" in first and "1 to 2 of 3" in first and "3 to 3 of 3" in second
    assert f"?cohort={world.egypt.pk}&amp;page=2" in first
    missing = world.client(world.mara).get(f"/b/{world.benchmark.slug}/people/?page=9")
    assert missing.status_code == 404


def test_where_all_answers_are_the_same_the_order_says_nothing(world: World) -> None:
    world.add_items(2)
    campaign = an_open_campaign(world)
    for user in (world.nour, world.tarek):
        give_ratings(campaign, world.egypt, user, dict.fromkeys(world.items, "3"))
    assert "No two raters differ on any of these items" in read(world, "disagreement/")
    give_ratings(campaign, world.brazil, world.bia, {world.items[0]: "1"})
    give_ratings(campaign, world.brazil, world.caio, {world.items[0]: "5"})
    assert "No two raters differ on any of these items" not in read(world, "disagreement/")


def test_weeks_lead_to_their_line(world: World) -> None:
    world.add_items(4)
    campaign = an_open_campaign(world)
    for user in (world.nour, world.tarek):
        give_ratings(campaign, world.egypt, user, dict(zip(world.items, "1234", strict=True)))
    page = read(world, f"agreement/?by=time&cohort={world.egypt.pk}")
    assert f"figures/?cohort={world.egypt.pk}#over-time" in page
    assert (
        'id="over-time"'
        in b"".join(
            world.client(world.mara)
            .get(f"/b/{world.benchmark.slug}/figures/?cohort={world.egypt.pk}")
            .streaming_content  # type: ignore[attr-defined]
        ).decode()
    )
    assert "#over-time" not in read(world, "agreement/")


def test_many_raters_of_a_file_make_a_report_kept_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.http import QueryDict

    from evaluation.selections.catalogue import catalogue_of
    from evaluation.selections.selection import select

    world.add_items(2)
    campaign = an_open_campaign(world)
    monkeypatch.setattr(stored_agreement, "PAIRED", 2)
    selection = select(catalogue_of(world.benchmark), QueryDict("measure=spearman"))
    for number in range(3):
        assert stored_agreement.live_limit(selection) == THRESHOLD
        of_a_model(world, campaign, "12", f"r{number}", rater_kind="person", cohort="Egypt")
    assert stored_agreement.live_limit(selection) == 1


@pytest.mark.parametrize("n_answered", [5, 4])
def test_image_wise_says_what_it_leaves_out(world: World, n_answered: int) -> None:
    """Two of five items have no answer for a third cohort, so they have no correlation over cohorts; one about which
    the model said nothing at all is left out no less."""
    china = make_cohort(world.team, "China", *(make_user(name) for name in ("Wei", "Lan")))
    world.add_items(5)
    campaign = an_open_campaign(world, cohorts=[world.egypt, world.brazil, china])
    rated = {world.egypt: "12345", world.brazil: "54321", china: "351"}
    for cohort, codes in rated.items():
        for member in cohort.members.all():
            give_ratings(campaign, cohort, member.user, dict(zip(world.items, codes, strict=False)))
    for cohort, codes in {"Egypt": "23451", "Brazil": "34512", "China": "12345"}.items():
        of_a_model(world, campaign, codes[:n_answered], target=cohort)
    [line] = json.loads(read(world, "models.json"))["models"]
    assert line["image_wise"]["n_units"] == 3
    assert "2 of 5 left out" in read(world, "models/")
