"""The page of figures and its files: who may open them, what they hold, and what is said while there is nothing."""

import csv
import io
import re
import struct
from typing import Any
from xml.etree import ElementTree

import pytest

from annotation.models import Campaign
from evaluation.figures import figure_builder, model_figures
from evaluation.rendering.number_format import format_number
from people.models import Rater
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.evaluation.figures.study import read, study
from tests.module_world import built_once
from tests.personas import World

KEYS = ("over-time", "annotators", "distribution", "cohorts-models", "models-people")
HOSTILE = '<script>alert("1")</script>\u202e"&\'\x07 مصر'


@built_once
def studied(world: World) -> Campaign:
    return study(world)


def url(world: World, rest: str = "") -> str:
    return f"/b/{world.benchmark.slug}/figures/{rest}"


def rows_of(world: World, key: str, query: str = "") -> list[dict[str, str]]:
    reply = world.client(world.mara).get(url(world, f"{key}.csv") + query)
    assert reply.status_code == 200, reply.content
    return list(csv.DictReader(io.StringIO(reply.content.decode("utf-8-sig"))))


def svg_of(world: World, key: str) -> tuple[ElementTree.Element, str]:
    reply = world.client(world.mara).get(url(world, f"{key}.svg"))
    assert reply.status_code == 200, reply.content
    return ElementTree.fromstring(reply.content), reply.content.decode()


def texts(root: ElementTree.Element) -> list[str]:
    return [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]


def alt(root: ElementTree.Element) -> str:
    return root.findtext("{http://www.w3.org/2000/svg}desc") or ""


def test_every_figure_stands_on_the_page_with_its_words_its_data_and_its_files(world: World, studied: Campaign) -> None:
    page = read(world, url(world))
    for key in KEYS:
        assert f'<section class="drawn stack" id="{key}"' in page
        for form in ("svg", "png", "csv"):
            assert f"{url(world)}{key}.{form}" in page
    assert page.count("<svg ") == 2 * len(KEYS)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert page.count("Data as a table") == 2 * len(KEYS)


def test_the_whole_page_speaks_the_readers_language(world: World) -> None:
    """Also what is sent after the request's own language is over."""
    world.mara.language = "ar"
    world.mara.save()
    study(world, models=())
    page = read(world, url(world))
    assert 'dir="rtl"' in page.partition("<body")[0]
    assert "مصر" in page  # the cohort's own name, in drawing and words
    assert "ما احتُسب" in page or "احتُسب" in page


def test_the_numbers_of_the_drawing_are_those_of_its_table(world: World, studied: Campaign) -> None:
    root, _svg = svg_of(world, "cohorts-models")
    rows = rows_of(world, "cohorts-models")
    assert len(rows) == 4
    for row in rows:
        assert format_number(float(row["value"])) in texts(root)
        # kept together, from left to right, also where the sentence runs the other way
        assert f"\u2066{format_number(float(row['value']))} [{format_number(float(row['low']))}, " in alt(root)
        assert row["items"] == "12"


def test_agreement_over_time_ends_at_what_the_agreement_page_says(world: World, studied: Campaign) -> None:
    last = [
        row
        for row in rows_of(world, "over-time")
        if row["until"] == max(r["until"] for r in rows_of(world, "over-time"))
    ]
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement.json").json()
    overall_values = {
        (row["cohort"]["label"], cell["condition"]): cell["estimates"]["alpha_ordinal"]["value"]
        for row in reply["rows"] for cell in row["cells"]
    }  # fmt: skip
    assert sorted(float(row["value"]) for row in last) == pytest.approx(sorted(overall_values.values()))
    assert len({row["until"] for row in rows_of(world, "over-time")}) == 3


def test_annotators_stand_in_the_order_of_their_names(world: World) -> None:
    study(world, people=5)
    rows = rows_of(world, "annotators")
    for cohort in ("Egypt", "Brazil"):
        names = [row["annotator"] for row in rows if row["cohort"] == cohort]
        assert len(names) == 5
        assert names == sorted(names)
    assert not {"Nour", "Tarek"} & {row["annotator"] for row in rows}


def test_each_annotator_has_the_numbers_of_their_own_answers(world: World) -> None:
    """Whoever answered fewest items has the least n, wherever the name stands."""
    world.add_items(6)
    world.add_annotators(world.egypt, 2)
    campaign = an_open_campaign(world)
    people = [row.user for row in world.egypt.members.order_by("pk")][:4]
    for number, person in enumerate(people):
        codes = "".join(str(1 + (place * 3 + number) % 5) for place in range(3 + number))
        table(campaign, world.egypt, world.items[: 3 + number], {person: codes})
    names = {
        world.benchmark.pseudonym(Rater.objects.get(user=person).pk): number for number, person in enumerate(people)
    }
    shared = {row["annotator"]: int(row["items"]) for row in rows_of(world, "annotators")}
    assert {name: shared[name] for name in names} == {name: min(3 + number, 5) for name, number in names.items()}


def test_shares_are_counts_of_what_was_answered(world: World) -> None:
    world.add_items(20)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural[:5], {world.nour: "11223", world.tarek: "1...."})
    rows = {row["code"]: row for row in rows_of(world, "distribution")}
    assert [(code, rows[code]["count"]) for code in "12345"] == [
        ("1", "3"),
        ("2", "2"),
        ("3", "1"),
        ("4", "0"),
        ("5", "0"),
    ]
    assert float(rows["1"]["share"]) == 0.5
    root, _svg = svg_of(world, "distribution")
    assert "50 %" in texts(root)
    assert "(50 % of 6)" in alt(root)


@pytest.mark.parametrize(
    "answers, words",
    [
        ("11123", "Not relevant (60 % of 5)"),
        ("11223", "Not relevant and Slightly relevant (a tie, 40 % of 5 each)"),
        ("12345", "a tie of 5 answers (20 % of 5 each)"),
    ],
)
def test_the_answer_given_most_often_is_named_with_all_that_tie(world: World, answers: str, words: str) -> None:
    world.add_items(20)
    natural = of_condition(world.items, "natural")
    table(an_open_campaign(world), world.egypt, natural[:5], {world.nour: answers})
    root, _svg = svg_of(world, "distribution")
    assert words in re.sub("[\u2068\u2069]", "", alt(root))


def test_a_png_is_the_same_drawing_at_two_pixels_for_one(world: World, studied: Campaign) -> None:
    root, _svg = svg_of(world, "distribution")
    png = world.client(world.mara).get(url(world, "distribution.png"))
    assert png["Content-Type"] == "image/png"
    assert png.content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png.content[16:24])
    assert (width, height) == (2 * float(root.get("width", "")), round(2 * float(root.get("height", ""))))


@pytest.mark.parametrize("key", KEYS)
def test_a_hostile_name_stays_a_name(world: World, studied: Campaign, key: str) -> None:
    world.egypt.label, world.egypt.names = HOSTILE, {}
    world.egypt.save()
    world.items[0].key = HOSTILE
    world.items[0].save()
    root, svg = svg_of(world, key)
    assert "<script" not in svg
    assert not re.search("[\u202e\x07]", svg)
    names = {node.tag.rpartition("}")[2] for node in root.iter()}
    assert names <= {"svg", "title", "desc", "defs", "pattern", "rect", "g", "path", "text", "image", "circle"}
    assert not [name for node in root.iter() for name in node.attrib if name.startswith("on") or name == "style"]
    page = read(world, url(world))
    assert "<script>alert" not in page


def test_a_drawing_by_itself_may_load_nothing(world: World, studied: Campaign) -> None:
    reply = world.client(world.mara).get(url(world, "distribution.svg"))
    assert reply["Content-Type"] == "image/svg+xml; charset=utf-8"
    assert reply["Content-Security-Policy"] == "default-src 'none'; img-src data:; sandbox"
    assert reply["X-Content-Type-Options"] == "nosniff"
    assert 'filename="sea-and-river-distribution.svg"' in reply["Content-Disposition"]


def test_while_there_is_nothing_it_says_what_is_missing(world: World) -> None:
    client = world.client(world.mara)
    page = read(world, url(world))
    assert "<svg " not in page
    assert "Not drawn yet" in page
    assert "No campaign has been opened yet" in page
    for form in ("svg", "png", "csv"):
        assert client.get(url(world, f"distribution.{form}")).status_code == 409
    world.add_items(4)
    an_open_campaign(world)
    assert "There are no ratings in the stage" in read(world, url(world))


def test_one_rater_has_a_distribution_and_no_empty_frames(world: World) -> None:
    study(world, people=1, models=())
    assert len(rows_of(world, "distribution")) == 10
    for key in ("over-time", "annotators"):
        refused = world.client(world.mara).get(url(world, f"{key}.svg"))
        assert refused.status_code == 409
        assert refused.json()["error"].startswith("There is no value to draw. ")
    page = read(world, url(world))
    assert page.count("<svg ") == 2
    assert "Not drawn yet" in page
    assert "1 person so far; two are needed." in page


def test_a_cohort_can_be_picked_in_the_address_and_files_follow(world: World, studied: Campaign) -> None:
    query = f"?cohort={world.egypt.pk}"
    assert {row["cohort"] for row in rows_of(world, "cohorts-models", query)} == {"Egypt"}
    page = read(world, url(world) + query)
    assert f"{url(world)}distribution.csv{query}" in page
    wrong = world.client(world.mara).get(url(world) + "?cohort=99999")
    assert wrong.status_code == 400
    assert "“cohort”" in wrong.content.decode()
    assert world.client(world.mara).get(url(world, "distribution.csv?cohort=99999")).json()["parameter"] == "cohort"


@pytest.mark.parametrize("who", ["nour", "stranger", "rival"])
def test_others_find_no_figure(world: World, studied: Campaign, who: str) -> None:
    client: Any = world.client(getattr(world, who))
    assert world.client(world.mara).get(url(world, "annotators.csv")).status_code == 200
    for rest in ("", *(f"annotators.{form}" for form in ("svg", "png", "csv"))):
        assert client.get(url(world, rest)).status_code == 404
    assert world.client(world.mara).get(url(world, "nothing.svg")).status_code == 404


@pytest.mark.parametrize("query", ["run=999", "universal=zz"])
def test_a_run_or_a_query_that_is_not_here_is_refused_like_any_other_choice(
    world: World, studied: Campaign, query: str
) -> None:
    name, value = query.split("=")
    page = world.client(world.mara).get(f"{url(world)}?{query}")
    assert page.status_code == 400
    assert f"“{name}”" in page.content.decode()
    refused = world.client(world.mara).get(url(world, f"distribution.csv?{query}"))
    assert (refused.status_code, refused.json()["parameter"]) == (400, name)
    assert value in refused.json()["error"]


def test_a_png_is_light(world: World) -> None:
    study(world, models=tuple(f"Model {n}" for n in range(12)))
    png = world.client(world.mara).get(url(world, "cohorts-models.png")).content
    assert len(png) < 100_000


def test_sentences_of_figures_end_once(world: World) -> None:
    study(world, people=2)
    campaign = an_open_campaign(world, target=1)
    campaign.name = "The same word?"
    campaign.save()
    for key in ("over-time", "annotators", "distribution", "cohorts-models"):
        description = alt(svg_of(world, key)[0])
        assert not re.search(r"\.[\u2069)]?[;.]", description), description


def test_faulty_figure_shows_an_error_and_the_others_are_drawn(
    world: World, studied: Campaign, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    good = figure_builder.build_figure

    def make(ground: Any, spec: Any) -> Any:
        if spec.key == "annotators":
            raise ZeroDivisionError
        return good(ground, spec)

    monkeypatch.setattr(figure_builder, "build_figure", make)
    page = read(world, url(world))
    assert "The figure could not be drawn because of an internal error." in page
    assert page.count("<svg ") == 2 * (len(KEYS) - 1)
    assert page.rstrip().endswith("</html>")
    assert "Figure annotators of benchmark" in caplog.text


def test_of_too_many_models_and_ratings_there_are_no_intervals_and_of_far_too_many_no_figure(
    world: World, studied: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    [whole] = {tuple(bool(row["low"]) for row in rows_of(world, "cohorts-models")[:1])}
    assert whole == (True,)
    monkeypatch.setattr(model_figures, "MOST_WITH_INTERVALS", 1)
    assert not any(row["low"] for row in rows_of(world, "cohorts-models"))
    page = read(world, url(world))
    assert page.count("Without intervals: there are too many models and ratings for them.") == 2
    monkeypatch.setattr(model_figures, "MOST", 1)
    page = read(world, url(world))
    assert page.count("There are too many models and ratings to show at once.") == 2
    assert page.count("<svg ") == 2 * (len(KEYS) - 2)
