"""The agreement page: the numbers, who may see them, and that page, JSON and CSV say the same."""

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Campaign
from annotation.queries.answers import watermark
from annotation.services.answers.submit import Submission, submit
from annotation.services.campaigns import lifecycle
from annotation.services.queue.next_work import get_or_claim_work
from people.services.raters import rater_of
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.module_world import built_once
from tests.personas import World

# Two people, five items. Nominal: 2 disagree of 5 pairs. D_o = 2 x 2 / 10 = 0.4.
# Counts of 1, 2, 3 are 3, 4, 3: D_e = (100 - 9 - 16 - 9) / (10 x 9) = 66 / 90. alpha = 1 - 0.4 x 90 / 66 = 0.4545...
FIRST, SECOND = "11223", "12233"
NOMINAL = 1 - 0.4 * 90 / 66


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(20)
    return an_open_campaign(world)


@built_once
def rated(world: World, campaign: Campaign) -> Campaign:
    """Egypt has rated five natural photos, and given all 1 to three generated ones; in Brazil one person began."""
    natural, generated = of_condition(world.items, "natural"), of_condition(world.items, "generated")
    table(campaign, world.egypt, natural[:5], {world.nour: FIRST, world.tarek: SECOND})
    table(campaign, world.egypt, generated[:3], {world.nour: "111", world.tarek: "111"})
    table(campaign, world.brazil, natural[:2], {world.bia: "45"})
    return campaign


def url(world: World, rest: str = "agreement/") -> str:
    return f"/b/{world.benchmark.slug}/{rest}"


def cells(report: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["cohort"]["label"], cell["condition"]): cell for row in report["rows"] for cell in row["cells"]}


def read_json(world: World, query: str = "") -> dict[str, Any]:
    reply = world.client(world.mara).get(url(world, f"agreement.json?{query}"))
    assert reply.status_code == 200
    return reply.json()  # type: ignore[no-any-return]


def test_the_number_is_the_one_worked_out_by_hand(world: World, rated: Campaign) -> None:
    cell = cells(read_json(world, "measure=alpha_nominal"))["Egypt", "natural"]
    assert cell["estimates"]["alpha_nominal"]["value"] == pytest.approx(NOMINAL)
    assert cell["rated"] == {"n_units": 5, "n_raters": 2, "n_ratings": 10, "missing_share": 0}
    percent = cells(read_json(world, "measure=percent"))["Egypt", "natural"]["estimates"]["percent"]
    assert percent["value"] == pytest.approx(3 / 5)


def test_not_answered_share_is_of_requested_units(world: World, rated: Campaign) -> None:
    report = read_json(world)
    rows = {row["cohort"]["label"]: row for row in report["rows"]}
    # Egypt: 20 units asked, 2 people, 10 + 6 ratings. Brazil: 20 units, 1 person, 2 ratings.
    assert rows["Egypt"]["missing_of_asked"] == pytest.approx(1 - 16 / 40)
    assert rows["Brazil"]["missing_of_asked"] == pytest.approx(1 - 2 / 20)
    assert "missing_share" not in rows["Egypt"]
    assert cells(report)["Brazil", "generated"]["n_units_asked"] == 10
    page = world.client(world.mara).get(url(world)).content.decode()
    assert '<bdi dir="ltr">60 %</bdi>' in page
    assert '<bdi dir="ltr">90 %</bdi>' in page
    assert "Not answered" in page


def test_not_answered_share_counts_units_that_were_answered_and_not_asked(world: World, campaign: Campaign) -> None:
    """As answers of a file to items that have no slot."""
    later = world.add_items(10)
    natural = of_condition(world.items, "natural")
    assert len(natural) == 16 and len(of_condition(later, "natural")) == 6
    table(campaign, world.egypt, natural, {world.nour: "1" * 16})
    report = read_json(world)
    assert cells(report)["Egypt", "natural"]["n_units_asked"] == 10
    row = next(row for row in report["rows"] if row["cohort"]["label"] == "Egypt")
    # 16 natural units, 10 of them asked, and 10 generated ones that were asked: 16 of 26 answered by one person.
    assert row["missing_of_asked"] == pytest.approx(1 - 16 / 26)


def test_the_two_shares_that_are_missing_have_two_names(world: World, campaign: Campaign) -> None:
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural[:4], {world.nour: "1234", world.tarek: "12.."})
    # Of the 2 units that both rated nothing is missing; of the table of 4 units x 2 people, 2 of 8; of the 20 units
    # asked x 2 people, 34 of 40.
    text = world.client(world.mara).get(url(world, "agreement.csv")).content.decode("utf-8-sig")
    line = next(r for r in csv.DictReader(io.StringIO(text)) if (r["cohort"], r["condition"]) == ("Egypt", "natural"))
    assert (float(line["missing_share"]), float(line["missing_of_asked"])) == (0, pytest.approx(34 / 40))
    report = read_json(world)
    cell = cells(report)["Egypt", "natural"]
    assert (cell["rated"]["missing_share"], cell["estimates"]["alpha_ordinal"]["missing_share"]) == (0.25, 0)
    assert "missing_of_asked" not in cell
    row = next(row for row in report["rows"] if row["cohort"]["label"] == "Egypt")
    assert row["missing_of_asked"] == pytest.approx(34 / 40)
    page = world.client(world.mara).get(url(world)).content.decode()
    assert '<bdi dir="ltr">85 %</bdi>' in page


def test_n_is_of_the_units_that_two_people_have_rated(world: World, campaign: Campaign) -> None:
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural[:5], {world.nour: "11223", world.tarek: "122.."})
    found = cells(read_json(world))["Egypt", "natural"]
    assert (found["rated"]["n_units"], found["n_pairable"]) == (5, 3)
    estimate = found["estimates"]["alpha_ordinal"]
    assert (estimate["n_units"], estimate["left_out"]) == (3, "Left out: 2 items with one answer.")
    rows = csv.DictReader(io.StringIO("".join(_text(world, "agreement.csv"))))
    line = next(r for r in rows if (r["cohort"], r["condition"]) == ("Egypt", "natural"))
    assert (line["n_units_rated"], line["n_pairable"], line["n_units"]) == ("5", "3", "3")
    assert line["left_out"] == "Left out: 2 items with one answer."
    page = _text(world, "agreement/")
    assert '<bdi dir="ltr">n = 3 × 2</bdi>' in page and "n = 5 × 2" not in page
    assert "Left out: 2 items with one answer." in page
    assert "week to " in _text(world, "agreement/?by=time")


def _text(world: World, rest: str) -> str:
    return world.client(world.mara).get(url(world, rest)).content.decode("utf-8-sig")


def test_a_cohort_and_a_condition_can_be_chosen_on_the_page(world: World, rated: Campaign) -> None:
    client = world.client(world.mara)
    page = client.get(url(world)).content.decode()
    for name in ("cohort", "condition"):
        assert f'<select class="in" name="{name}"' in page
    chosen = client.get(url(world) + f"?cohort={world.egypt.pk}&condition=natural").content.decode()
    assert f'<option value="{world.egypt.pk}" selected>' in chosen
    assert '<option value="natural" selected>' in chosen
    assert "Brazil</bdi></th>" in page
    assert "Brazil</bdi></th>" not in chosen
    # Two of a kind are more than a select can say: they are carried along instead.
    several = client.get(url(world) + f"?cohort={world.egypt.pk}&cohort={world.brazil.pk}").content.decode()
    assert '<select class="in" name="cohort"' not in several
    assert several.count('<input type="hidden" name="cohort"') == 2


def test_a_discarded_draft_takes_no_part(world: World, rated: Campaign) -> None:
    draft = lifecycle.create(world.stage, "Never opened", world.owner, {world.egypt: 2})
    lifecycle.close(draft, world.owner, timezone.now())
    assert read_json(world)["selection"]["campaigns"] == [rated.pk]
    client = world.client(world.mara)
    assert client.get(url(world, f"agreement.json?campaign={draft.pk}")).status_code == 400
    for rest in ("agreement/", "export/"):
        page = client.get(url(world, rest)).content.decode()
        assert "Round one" in page
        assert "Never opened" not in page


def test_every_undefined_cell_says_why(world: World, rated: Campaign) -> None:
    found = cells(read_json(world))
    reasons = {key: cell["estimates"]["alpha_ordinal"]["reason"] for key, cell in found.items()}
    assert reasons == {
        ("Egypt", "natural"): None,
        ("Egypt", "generated"): "no_variation",
        ("Brazil", "natural"): "too_few_raters",
        ("Brazil", "generated"): "no_ratings",
    }
    page = world.client(world.mara).get(url(world)).content.decode()
    assert "All 6 ratings that can be compared are the same; percent agreement 100 %." in page
    assert "1 person so far; two are needed." in page
    assert "No ratings yet." in page and "There are no ratings yet." not in page
    assert ">0.00<" not in page


def test_page_json_and_csv_show_the_same_digits(world: World, rated: Campaign) -> None:
    client = world.client(world.mara)
    query = "?measure=table"
    page = client.get(url(world) + query).content.decode()
    report = read_json(world, "measure=table")
    text = client.get(url(world, "agreement.csv") + query).content.decode("utf-8-sig")
    lines = {(r["cohort"], r["condition"], r["measure"]): r for r in csv.DictReader(io.StringIO(text))}
    conditions = page[page.index('<div class="wrap cards agreement') :]
    shown = re.findall(r'<b><bdi dir="ltr">([^<]+)</bdi></b>', conditions)
    every = [(key, m, e) for key, cell in cells(report).items() for m, e in cell["estimates"].items()]
    assert len(every) == len(lines) == 12
    assert shown == [e["shown"] for _key, _m, e in every if e["value"] is not None]
    assert len(shown) == 3
    for (cohort, condition), measure, estimate in every:
        line = lines[cohort, condition, measure]
        assert line["shown"] == estimate["shown"]
        assert line["value"] == ("" if estimate["value"] is None else repr(estimate["value"]))
        assert line["reason"] == (estimate["reason"] or "")


def test_a_rater_who_does_not_count_is_left_out_and_can_be_looked_at(world: World, rated: Campaign) -> None:
    [third] = world.add_annotators(world.egypt, 1)
    natural = of_condition(world.items, "natural")
    give_ratings(rated, world.egypt, third, dict.fromkeys(natural[:5], "5"), because="surplus")
    assert cells(read_json(world))["Egypt", "natural"]["rated"]["n_raters"] == 2
    assert cells(read_json(world, "counted=all"))["Egypt", "natural"]["rated"]["n_raters"] == 3


def test_two_rounds_are_counted_together_and_one_at_a_time(world: World, rated: Campaign) -> None:
    again = an_open_campaign(world, name="Round two")
    natural = of_condition(world.items, "natural")
    table(again, world.egypt, natural[:5], {world.nour: SECOND})
    both = cells(read_json(world, "measure=alpha_nominal"))["Egypt", "natural"]
    assert (both["rated"]["n_ratings"], both["estimates"]["alpha_nominal"]["value"]) == (10, 1.0)
    first = cells(read_json(world, "measure=alpha_nominal&repeats=first"))["Egypt", "natural"]
    assert first["estimates"]["alpha_nominal"]["value"] == pytest.approx(NOMINAL)
    one = cells(read_json(world, f"measure=alpha_nominal&campaign={again.pk}"))["Egypt", "natural"]
    assert (one["rated"]["n_ratings"], one["estimates"]["alpha_nominal"]["reason"]) == (5, "too_few_raters")


def test_concepts_conditions_and_cohorts_can_be_picked(world: World, rated: Campaign) -> None:
    report = read_json(world, f"condition=natural&cohort={world.egypt.pk}")
    assert list(cells(report)) == [("Egypt", "natural")]
    concept = of_condition(world.items, "natural")[0].concept
    picked = cells(read_json(world, f"concept={concept}"))["Egypt", "natural"]
    assert 0 < picked["rated"]["n_ratings"] < 10


@pytest.mark.parametrize(
    "query",
    ["measure=mean", "interval=90", "counted=some", "cohort=x", "cohort=99999", "condition=painted", "field=__class__",
     "concept=war", "campaign=0", "stage=none", "repeats=1", "raters=model", "measure=percent&measure=spearman"],
)  # fmt: skip
def test_what_is_not_on_offer_is_named_never_an_error_of_ours(world: World, rated: Campaign, query: str) -> None:
    client = world.client(world.mara)
    name = query.split("=")[0]
    for rest in ("agreement/", "agreement/live/", "agreement.json", "agreement.csv", "agreement.tex"):
        reply = client.get(url(world, rest) + "?" + query)
        assert reply.status_code == 400, rest
        if rest in ("agreement/", "agreement/live/"):
            assert f"“{name}”" in reply.content.decode(), rest
        else:
            assert reply.json()["parameter"] == name, rest
    assert client.get(url(world) + "?someone=else").status_code == 200


def test_unchanged_is_204_and_a_new_rating_is_seen(world: World, rated: Campaign) -> None:
    client = world.client(world.mara)
    page = client.get(url(world)).content.decode()
    mark = re.search(r'data-watermark="(\d+)"', page)
    assert mark
    look = url(world, f"agreement/live/?seen={mark[1]}")
    assert client.get(look).status_code == 204
    row = rated.cohorts.get(cohort=world.brazil)
    rater = rater_of(world.caio)
    work = get_or_claim_work(rater, row, timezone.now())
    assert work.current
    submit(work.current.pk, rater, Submission({"relevance": "5"}, "key-1"), timezone.now())
    fresh = client.get(look)
    assert fresh.status_code == 200
    assert "18 ratings" in page
    assert "19 ratings" in fresh.content.decode()
    assert f'data-watermark="{watermark(world.benchmark)}"' in fresh.content.decode()


def test_an_exclusion_is_seen_too(world: World, campaign: Campaign) -> None:
    row = campaign.cohorts.get(cohort=world.egypt)
    rater = rater_of(world.nour)
    work = get_or_claim_work(rater, row, timezone.now())
    assert work.current
    submit(work.current.pk, rater, Submission({"relevance": "5"}, "key-1"), timezone.now())
    client = world.client(world.mara)
    look = url(world, f"agreement/live/?seen={watermark(world.benchmark)}")
    assert client.get(look).status_code == 204
    person = url(world, f"people/{rater.pk}/")
    assert client.post(person, {"do": "exclude", "reason": "Answers came from a script"}).status_code == 302
    fresh = client.get(look)
    assert fresh.status_code == 200
    assert "0 ratings" in fresh.content.decode()


def test_looking_again_costs_the_same_however_much_there_is(world: World, rated: Campaign) -> None:
    client = world.client(world.mara)

    def queries() -> Iterator[str]:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            reply = client.get(url(world, f"agreement/live/?seen={watermark(world.benchmark)}"))
        assert reply.status_code == 204
        yield from (query["sql"] for query in captured.captured_queries)

    before = list(queries())
    natural = of_condition(world.items, "natural")
    for user in world.add_annotators(world.egypt, 3):
        give_ratings(rated, world.egypt, user, dict.fromkeys(natural, "3"))
    assert len(list(queries())) == len(before)
    assert not [sql for sql in before if "annotation_rating" in sql or "benchmarks_item" in sql]


def test_only_people_of_the_benchmark_see_it(world: World, rated: Campaign) -> None:
    for rest in ("agreement/", "agreement/live/", "agreement.json", "agreement.csv", "agreement.tex"):
        for user in (world.mara, world.owner, world.reviewer, world.team_admin, world.site_admin):
            assert world.client(user).get(url(world, rest)).status_code == 200, (rest, user)
        for user in (world.stranger, world.rival, world.rival_rater, world.nour, world.manager):
            assert world.client(user).get(url(world, rest)).status_code == 404, (rest, user)
        assert world.client().get(url(world, rest)).status_code == 302
        assert world.client(world.mara).post(url(world, rest)).status_code == 405


def test_before_any_campaign_the_page_says_so(world: World) -> None:
    client = world.client(world.mara)
    page = client.get(url(world))
    assert page.status_code == 200
    assert "No campaign is open yet" in page.content.decode()
    assert client.get(url(world, "agreement.json")).status_code == 409


def test_statistic_that_does_not_fit_the_scale_is_reported(world: World, rated: Campaign) -> None:
    client = world.client(world.mara)
    assert "equally wide" in client.get(url(world) + "?measure=pearson").content.decode()
    assert "equally wide" not in client.get(url(world)).content.decode()


def test_inclusion_text_is_shown_with_the_numbers(world: World, rated: Campaign) -> None:
    page = world.client(world.mara).get(url(world)).content.decode()
    assert "Round one" in page
    assert "Only counted answers" in page
    assert "ordinal distance" in page
    selection = read_json(world)["selection"]
    assert selection["campaigns"] == [rated.pk]
    assert selection["cohorts"] == [world.brazil.pk, world.egypt.pk]


def test_a_cohort_named_like_a_formula_is_only_a_name_in_csv_and_latex(world: World, rated: Campaign) -> None:
    world.egypt.label = "=HYPERLINK(1)&{x}_%"
    world.egypt.save()
    client = world.client(world.mara)
    text = client.get(url(world, "agreement.csv")).content.decode("utf-8-sig")
    assert "'=HYPERLINK(1)&{x}_%" in {row["cohort"] for row in csv.DictReader(io.StringIO(text))}
    assert r"=HYPERLINK(1)\&\{x\}\_\%" in client.get(url(world, "agreement.tex")).content.decode()
