"""Tables as pages and files: the same numbers in each, who may read them, and what stands there without any."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Campaign
from evaluation.models import Snapshot
from evaluation.rendering.latex import tex
from evaluation.rendering.number_format import MINUS
from evaluation.rendering.report import Cell, Row
from evaluation.services import snapshots
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData
from people.models import Cohort, User
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.evaluation.sample_tables import SMALL, tables_are
from tests.module_world import built_once
from tests.personas import World

# As in test_agreement_page: Egypt's two people on five photos, alpha nominal 1 - 0.4 x 90 / 66; here by origin.
FIRST, SECOND = "11223", "12233"


def refuse_without_data(given: Any) -> Any:
    raise MissingData("There are no predictions for this table yet.")


EMPTY = TableSpec("empty", "Table 15", "Retrieval", "Runs of models.", refuse_without_data)


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(20)
    new_campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(new_campaign, world.egypt, natural[:5], {world.nour: FIRST, world.tarek: SECOND})
    table(new_campaign, world.brazil, natural[:2], {world.bia: "45"})
    return new_campaign


@pytest.fixture
def tables(world: World, campaign: Campaign) -> Iterator[World]:
    with tables_are(world.benchmark, [SMALL, EMPTY]):
        yield world


def url(world: World, rest: str) -> str:
    return f"/b/{world.benchmark.slug}/tables/{rest}"


def read(world: World, rest: str, status: int = 200) -> str:
    reply = world.client(world.mara).get(url(world, rest))
    assert reply.status_code == status, reply.content.decode()
    return reply.content.decode("utf-8-sig")


def load_small_table(world: World, query: str = "") -> dict[str, Any]:
    reply = world.client(world.mara).get(url(world, f"small.json?{query}"))
    assert reply.status_code == 200
    return reply.json()  # type: ignore[no-any-return]


def cells(data: dict[str, Any]) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {
        (row["group"], row["label"], column): cell
        for row in data["rows"]
        for column, cell in zip(data["columns"], row["cells"], strict=True)
    }


def test_a_number_is_the_one_worked_out_by_hand(tables: World) -> None:
    # Natural photos are 0, 1, 4, 5, 8; of Egyptian origin 0, 4, 8: codes 1-1, 2-2, 3-3, and of Brazilian 1-2, 2-3.
    cells_by_name = cells(load_small_table(tables))
    assert cells_by_name["Egypt", "Egypt", "Agree_%"]["estimate"]["value"] == 1.0
    assert cells_by_name["Egypt", "Egypt", "Agree_%"]["shown"] == "100.0"
    assert cells_by_name["Egypt", "Brazil", "Agree_%"]["estimate"]["value"] == 0.0
    # D_o = 2 x 2 / 4 = 1; counts of 1, 2, 3 are 1, 2, 1: D_e = (16 - 1 - 4 - 1) / 12 = 10 / 12; alpha = 1 - 12 / 10
    assert cells_by_name["Egypt", "Brazil", "Alpha & more"]["estimate"]["value"] == pytest.approx(-0.2)
    assert cells_by_name["Egypt", "Brazil", "Alpha & more"]["shown"] == "-0.20"
    assert cells_by_name["Egypt", "Brazil", "Cut"]["empty"]


def test_every_form_shows_the_same_digits(tables: World) -> None:
    data = load_small_table(tables)
    numbers = [cell for cell in cells(data).values() if cell["estimate"] and cell["estimate"]["value"] is not None]
    shown = [cell["shown"] for cell in numbers]
    assert shown == ["1.00", "100.0", "100", "-0.20", "0.0"]
    page = read(tables, "small/")
    assert [text.replace(MINUS, "-") for text in re.findall(r'<b><bdi dir="ltr">([^<]+)</bdi></b>', page)] == shown
    latex = read(tables, "small.tex")
    assert re.findall(r"\$(-?[\d.]+)\$", latex) == shown
    lines = list(csv.DictReader(io.StringIO(read(tables, "small.csv"))))
    assert [line["shown"] for line in lines if line["value"]] == shown
    assert [line["value"] for line in lines if line["value"]] == [repr(c["estimate"]["value"]) for c in numbers]
    assert len(lines) == sum(not cell["empty"] for cell in cells(data).values()) == 14
    for line, cell in zip(lines, (c for c in cells(data).values() if not c["empty"]), strict=True):
        estimate = cell["estimate"] or {}
        assert line["shown_interval"] == cell["shown_interval"]
        assert line["reason"] == (estimate.get("reason") or "")
        assert line["mark"] == cell["mark"]


def test_what_has_no_value_says_why_and_is_never_nought(tables: World) -> None:
    found = cells(load_small_table(tables))["Brazil", "Egypt", "Alpha & more"]
    assert (found["shown"], found["estimate"]["value"]) == ("", None)
    assert found["estimate"]["reason"] == "too_few_raters"
    page = read(tables, "small/")
    assert page.count('<div class="undef">') == 5  # Brazil: two alphas, two shares, one share cut
    assert "1 person so far; two are needed." in page
    latex = read(tables, "small.tex")
    assert latex.count("n/a$^{b}$") == 5
    assert "$^{a}$ No interval: fewer than 3 raters" in latex
    assert r"\label{tab:sea-and-river-small}" in latex and "n of a value: 2 – 3 items." in latex
    assert latex.count("1 person so far; two are needed.") == 1


def test_the_caption_of_a_table_over_one_item_says_item(world: World) -> None:
    world.add_items(20)
    rated = of_condition(world.items, "natural")[:1]
    table(an_open_campaign(world), world.egypt, rated, {world.nour: "1", world.tarek: "1"})
    with tables_are(world.benchmark, [SMALL]):
        latex = read(world, "small.tex")
    assert "n of a value: 1 item." in latex


def test_each_printed_cell_has_a_comparison_with_its_reason(tables: World) -> None:
    plain = read(tables, "small/")
    assert "same after rounding" not in plain
    assert "Compared with the paper" in plain
    page = read(tables, "small/?paper=1")
    assert load_small_table(tables)["beside_the_paper"] == {"same": 2, "rounding": 0, "differs": 6}
    assert "The paper prints 8 of these cells: 2 the same, 0 the same after rounding, 6 different." in page
    assert len(re.findall(r'<span class="chip ok">same</span>', page)) == 2
    assert len(re.findall(r'<span class="chip back">differs</span>', page)) == 6
    assert '<li id="known-1">The text has 60, the figure 61.</li>' in page
    assert page.count('href="#known-1"') == 4


def test_options_change_the_numbers_and_are_listed(tables: World) -> None:
    assert load_small_table(tables)["options"] == {"decimals": "2", "campaigns": "all"}
    four = load_small_table(tables, "decimals=4")
    assert cells(four)["Egypt", "Brazil", "Alpha & more"]["shown"] == "-0.2000"
    assert "Decimals: four." in four["words"]
    page = read(tables, "small/?decimals=4")
    assert '<option value="4" selected>four</option>' in page
    assert "?decimals=4" in page  # the downloads carry it
    assert "-0.2000" in read(tables, "small.tex?decimals=4")


@pytest.mark.parametrize(
    "query", ["decimals=5", "decimals=2&decimals=4", "cohort=99999", "counted=some", "condition=x", "interval=90"]
)
def test_what_is_not_on_offer_is_named(tables: World, query: str) -> None:
    name = query.split("=")[0]
    page = read(tables, f"small/?{query}", 400)
    assert f"“{name}”" in page or "“decimals”" in page
    for form in ("json", "csv", "tex"):
        reply = tables.client(tables.mara).get(url(tables, f"small.{form}?{query}"))
        assert (reply.status_code, reply.json()["parameter"]) == (400, name)
    assert "There are: 2, 4." in read(tables, "small/?decimals=5", 400)


def test_the_address_narrows_who_is_counted(tables: World, campaign: Campaign) -> None:
    [third] = tables.add_annotators(tables.egypt, 1)
    give_ratings(
        campaign, tables.egypt, third, dict.fromkeys(of_condition(tables.items, "natural")[:5], "5"), because="surplus"
    )
    key = ("Egypt", "Egypt", "Agree_%")
    assert cells(load_small_table(tables))[key]["estimate"]["n_raters"] == 2
    assert cells(load_small_table(tables, "counted=all"))[key]["estimate"]["n_raters"] == 3
    report = load_small_table(tables, f"cohort={tables.egypt.pk}&interval=none")
    assert {row["group"] for row in report["rows"]} == {"Egypt"}
    assert "Only the cohorts: Egypt." in report["counted"]
    assert cells(report)["Egypt", "Egypt", "Agree_%"]["estimate"]["interval_reason"] == "not_asked"
    page = read(tables, f"small/?cohort={tables.egypt.pk}")
    assert f'<option value="{tables.egypt.pk}" selected>' in page
    assert "Filters or options are active." in page


def test_days_are_those_of_who_reads_as_on_the_page_of_agreement(tables: World, campaign: Campaign) -> None:
    """Noon of 1 March in Greenwich is the 2nd already in Kiritimati, 14 hours ahead."""
    query, key = "since=2026-03-02&interval=none", ("Egypt", "Egypt", "Agree_%")
    for zone, n in (("UTC", None), ("Pacific/Kiritimati", 10)):
        User.objects.filter(pk=tables.mara.pk).update(time_zone=zone)
        agreement = tables.client(tables.mara).get(f"/b/{tables.benchmark.slug}/agreement.json?{query}").json()
        words = f"Only answers submitted since 2 Mar 2026 ({zone})."
        assert words in agreement["counted"]
        assert agreement["n_ratings"] == (12 if n else 0)
        reply = tables.client(tables.mara).get(url(tables, f"small.json?{query}"))
        figures = tables.client(tables.mara).get(f"/b/{tables.benchmark.slug}/figures/distribution.csv?{query}")
        if n is None:
            assert (reply.status_code, figures.status_code) == (409, 409)
        else:
            assert words in reply.json()["counted"]
            assert cells(reply.json())[key]["estimate"]["n_ratings"] == 6
            assert figures.status_code == 200
            page = tables.client(tables.mara).get(f"/b/{tables.benchmark.slug}/figures/?{query}")
            assert words in b"".join(page.streaming_content).decode()  # type: ignore[attr-defined]


def test_what_was_counted_stands_under_the_table(tables: World, campaign: Campaign) -> None:
    data, page = load_small_table(tables), read(tables, "small/")
    words = (
        "Answers of people to “How relevant is this picture to …?” in the stage “Relevance rating”, from: Round one."
    )
    assert words in data["counted"]
    assert words in page
    assert "Alpha is nominal." in page
    assert data["selections"][0]["campaigns"] == [campaign.pk]
    assert "n = 3 × 2" in page


def test_without_data_the_page_says_what_to_bring(tables: World) -> None:
    page = read(tables, "empty/")
    assert "No value:" in page
    assert "There are no predictions for this table yet." in page
    assert "Runs of models." in page
    for form in ("json", "csv", "tex"):
        reply = tables.client(tables.mara).get(url(tables, f"empty.{form}"))
        assert (reply.status_code, reply.json()["error"]) == (409, "There are no predictions for this table yet.")
    assert read(tables, "none/", 404)


def test_the_list_says_of_each_table_what_it_needs_and_whether_it_is_there(tables: World) -> None:
    page = read(tables, "")
    assert page.index("Table 14") < page.index("Table 15")
    assert page.count("Has data") == 1
    assert "There are no predictions for this table yet." in page
    assert "Ratings by two people of a cohort." in page


def test_a_benchmark_of_no_paper_has_the_general_tables(world: World) -> None:
    page = read(world, "")
    assert "Agreement of each question" in page and "tables of the paper" not in page


def test_before_anybody_rated_the_table_says_so(world: World) -> None:
    world.add_items(4)
    with tables_are(world.benchmark, [SMALL]):
        assert "has no campaign yet" in read(world, "small/")
        assert "No data yet" in read(world, "")
        an_open_campaign(world)
        assert "There are no ratings in the stage" in read(world, "small/")
        assert "No data yet" in read(world, "")


def test_only_people_of_the_benchmark_see_them(tables: World) -> None:
    for rest in ("", "small/", "empty/", "small.json", "small.csv", "small.tex"):
        for user in (tables.mara, tables.owner, tables.reviewer, tables.team_admin, tables.site_admin):
            assert tables.client(user).get(url(tables, rest)).status_code in (200, 409), (rest, user)
        for user in (tables.stranger, tables.rival, tables.rival_rater, tables.nour, tables.manager):
            assert tables.client(user).get(url(tables, rest)).status_code == 404, (rest, user)
        assert tables.client().get(url(tables, rest)).status_code == 302
        assert tables.client(tables.mara).post(url(tables, rest)).status_code == 405


def build_odd_names(inputs: Any) -> Any:
    rows = [Row("=1+1", (Cell(text="+2"), Cell(text="a & b_{c}")), group="@home 100%")]
    inputs.observed("relevance", "relevance", ("person",))
    return inputs.table(corner="Who", columns=["-x", "<b>"], rows=rows)


def test_a_name_like_a_formula_is_only_a_name(tables: World) -> None:
    with tables_are(tables.benchmark, [replace(SMALL, build=build_odd_names, options=())]):
        first, second = csv.DictReader(io.StringIO(read(tables, "small.csv")))
        assert (first["row"], first["group"], first["shown"], first["column"]) == ("'=1+1", "'@home 100%", "'+2", "'-x")
        assert second["column"] == "<b>"
        latex = read(tables, "small.tex")
        assert r"a \& b\_\{c\}" in latex
        assert r"100\%" in latex
        assert "&lt;b&gt;" in read(tables, "small/")


@pytest.mark.parametrize("rest", ["", "small/", "small.json"])
def test_a_table_takes_the_same_number_of_queries_however_much_there_is(
    tables: World, campaign: Campaign, rest: str
) -> None:
    client = tables.client(tables.mara)

    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert client.get(url(tables, rest)).status_code == 200
        return len(seen)

    queries()
    before = queries()
    for user in tables.add_annotators(tables.egypt, 3):
        give_ratings(campaign, tables.egypt, user, dict.fromkeys(of_condition(tables.items, "natural"), "3"))
    assert queries() == before


def test_a_table_of_large_data_is_kept_and_says_how_old_it_is(
    tables: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots.get_or_compute, "__kwdefaults__", {"threshold": 0})
    first = load_small_table(tables)
    assert (first["stored"], first["newer"]) == (True, 0)
    natural = of_condition(tables.items, "natural")
    [third] = tables.add_annotators(tables.egypt, 1)
    give_ratings(campaign, tables.egypt, third, dict.fromkeys(natural[:5], "5"))
    again = load_small_table(tables)
    assert (again["newer"], again["computed_at"], again["rows"]) == (5, first["computed_at"], first["rows"])
    assert "5 newer answers" in read(tables, "small/")
    assert (
        cells(load_small_table(tables, "decimals=4"))["Egypt", "Egypt", "Agree_%"]["estimate"]["n_raters"] == 3
    )  # another table
    Snapshot.objects.update(computed_at=first["computed_at"].replace("2026", "2025"))
    fresh = load_small_table(tables, "fresh=1")
    assert fresh["newer"] == 0
    assert cells(fresh)["Egypt", "Egypt", "Agree_%"]["estimate"]["n_raters"] == 3
    assert load_small_table(tables)["rows"] == fresh["rows"]


def test_latex_takes_no_row_for_an_argument_and_no_name_for_a_paragraph() -> None:
    assert tex("[3] beta") == "{}[3] beta" and tex("*") == "{}*"
    assert tex("line1\r\n\r\nline2") == "line1 line2"
    assert tex("a\u202eb_c") == r"ab\_c"


def test_cohorts_bear_their_names_in_the_language_of_the_page_and_their_labels_in_files(tables: World) -> None:
    Cohort.objects.filter(pk=tables.egypt.pk).update(names={"ar": "مصر"})
    Cohort.objects.filter(pk=tables.brazil.pk).update(names={})
    assert "مصر" not in read(tables, "small/")
    User.objects.filter(pk=tables.mara.pk).update(language="ar")
    page = read(tables, "small/")
    assert ">مصر</span>" in page and ">Egypt</span>" not in page, "as the name of a row and of a group"
    assert ">Brazil</span>" in page, "a cohort without a name in this language keeps its label"
    file = read(tables, "small.csv")
    assert "مصر" not in file and "Egypt" in file
