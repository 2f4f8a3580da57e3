"""A number that stands in two places is one number: the same value, interval and n, on pages, in files and in REST.

NUMBERS_OF_CAIRE and NUMBERS_OF_MIXED list them, each with every place where it stands. Whoever shows a number in
another place adds the place here.
"""

import csv
import html
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pytest
from django.test import Client

from annotation.services.campaigns import lifecycle
from benchmarks.models import Item
from benchmarks.services.benchmarks import create_from_recipe
from evaluation.rendering.number_format import MINUS, format_number
from people.models import User
from tests.api.clients import program
from tests.evaluation.data import NOON, table
from tests.evaluation.mixed import mixed_sheet
from tests.evaluation.sample_tables import model, store_answers
from tests.module_world import built_once
from tests.personas import World, sign_in, stand_in


class Shown(NamedTuple):
    """As a reader sees it; `interval` is empty where there is none."""

    value: str
    interval: str
    units: int
    raters: int


@dataclass
class Study:
    slug: str
    cohort: int
    reader: User

    @cached_property
    def client(self) -> Client:
        client = Client()
        sign_in(client, self.reader)
        return client

    @cached_property
    def replies(self) -> dict[str, str]:
        """By address: several numbers stand in one page, and are read in it."""
        return {}

    def text(self, address: str) -> str:
        if address not in self.replies:
            reply = self.client.get(f"/b/{self.slug}/{address}")
            assert reply.status_code == 200, (address, reply.content[:500])
            self.replies[address] = reply.content.decode("utf-8-sig")
        return self.replies[address]

    def json(self, address: str) -> Any:
        return json.loads(self.text(address))

    def lines(self, address: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.text(address))))

    def api(self, address: str) -> Any:
        path = f"/api/v1/benchmarks/{self.slug}/{address}"
        if path not in self.replies:
            reply = program(self.reader).get(path)
            assert reply.status_code == 200, (address, reply.content[:500])
            self.replies[path] = reply.content.decode()
        return json.loads(self.replies[path])


Place = Callable[[Study], Shown]


# ---- reading a number where it stands --------------------------------------------------------------------------------


def of_estimate(estimate: Mapping[str, Any]) -> Shown:
    """From all digits, in a file or in REST."""
    number = {name: float(estimate[name]) for name in ("value", "low", "high") if estimate[name] not in (None, "")}
    interval = f"[{format_number(number['low'])}, {format_number(number['high'])}]" if "low" in number else ""
    return Shown(format_number(number["value"]), interval, int(estimate["n_units"]), int(estimate["n_raters"]))


def of_html(part: str) -> Shown:
    """The first number of a part of a page; n beside it, or in columns of its own."""
    part = html.unescape(part)
    value = re.search(r'<b><bdi dir="ltr">([^<]+)</bdi></b>', part)
    assert value, part[:1500]
    rest = part[value.end() :]
    interval = re.match(r'<span><bdi dir="ltr">(\[[^<]+\])</bdi>', rest)
    size = re.search(
        r'n = (\d+) × (\d+)|data-l="Items"><bdi dir="ltr">(\d+)</bdi>.*?data-l="People"><bdi dir="ltr">(\d+)<',
        rest,
        re.DOTALL,
    )
    assert size, rest[:1500]
    units, raters = (int(one) for one in size.groups() if one)
    return Shown(value[1], interval[1] if interval else "", units, raters)


TEX = re.compile(
    r"\$(-?[\d.]+)\$"
    r"(?: \{\\scriptsize (?:\$(\[[^$]+\])\$|No interval[^}]+)\})?"
    r" \{\\scriptsize \$n = (\d+) \\times (\d+)\$\}"
)


def of_latex(line: str) -> Shown:
    match = TEX.search(line)
    assert match, line
    value, interval = (str(one or "").replace("-", MINUS) for one in match.groups()[:2])
    return Shown(value, interval, int(match[3]), int(match[4]))


def question_on_the_page(field: str) -> Place:
    def read(study: Study) -> Shown:
        page = study.text(f"agreement/?field={field}")
        part = page[page.index('id="questions-title"') : page.index('<div class="wrap cards agreement')]
        [body] = [one for one in part.split("<tbody")[1:] if 'aria-current="true"' in one]
        return of_html(body[body.index("<bdi>Egypt</bdi>") :])

    return read


def condition_on_the_page(field: str) -> Place:
    def read(study: Study) -> Shown:
        page = study.text(f"agreement/?field={field}")
        page = page[page.index('<div class="wrap cards agreement') :]
        return of_html(page[page.index("<bdi>Egypt</bdi>") :])

    return read


def in_report(field: str, *, rest: bool, questions: bool) -> Place:
    def read(study: Study) -> Shown:
        report = study.api(f"agreement/?field={field}") if rest else study.json(f"agreement.json?field={field}")
        rows = [row for row in report["questions" if questions else "rows"] if row["field"] == field]
        [row] = [row for row in rows if row["cohort"]["label"] == "Egypt"]
        [estimate] = (row if questions else row["cells"][0])["estimates"].values()
        assert of_estimate(estimate)[:2] == (estimate["shown"], estimate["shown_interval"])
        return of_estimate(estimate)

    return read


def in_csv(address: str, **wanted: str) -> Place:
    def read(study: Study) -> Shown:
        lines = study.lines(address)
        [line] = [one for one in lines if all(one[name] == value for name, value in wanted.items())]
        return of_estimate(line)

    return read


def in_latex(address: str, *words: str) -> Place:
    def read(study: Study) -> Shown:
        lines = [line for line in study.text(address).splitlines() if all(word in line for word in words)]
        return of_latex(lines[0])

    return read


def on_the_people_page(field: str) -> Place:
    """In the row of figures over the table; its parts are apart in the markup."""

    def read(study: Study) -> Shown:
        page = study.text(f"people/?cohort={study.cohort}&field={field}")
        match = re.search(
            r'<dd><bdi dir="ltr">([^<]+)</bdi> <small><bdi dir="ltr">(\[[^]]*\])? ?n = (\d+) × (\d+)</bdi>', page
        )
        assert match, page[page.index("<dl") : page.index("</dl")]
        return Shown(match[1], match[2] or "", int(match[3]), int(match[4]))

    return read


def agreement_places(field: str, label: str) -> dict[str, Place]:
    """Wherever the agreement of one question of a cohort stands."""
    return {
        "agreement page, every question": question_on_the_page(field),
        "agreement page, by condition": condition_on_the_page(field),
        "people page": on_the_people_page(field),
        "JSON, every question": in_report(field, rest=False, questions=True),
        "JSON, by condition": in_report(field, rest=False, questions=False),
        "REST, every question": in_report(field, rest=True, questions=True),
        "REST, by condition": in_report(field, rest=True, questions=False),
        "CSV, every question": in_csv("agreement/questions.csv", question=field, cohort="Egypt"),
        "CSV, by condition": in_csv(f"agreement.csv?field={field}", cohort="Egypt"),
        "LaTeX, every question": in_latex("agreement/questions.tex", label, "Egypt"),
        "LaTeX, by condition": in_latex(f"agreement.tex?field={field}", "Egypt", r"\\"),
    }


def boxes_on_the_models_page(study: Study) -> Shown:
    page = study.text("models/?field=main")
    page = page[page.index("<bdi>Egypt</bdi>") :]
    match = re.search(
        r'<b><bdi dir="ltr">([^<]+)</bdi></b><small[^>]*>(\[[^<]*)?[^<]*</small><small[^>]*>n = (\d+) × (\d+)', page
    )
    assert match, page[:800]
    return Shown(match[1], match[2] or "", int(match[3]), int(match[4]))


def in_table_14(read: Callable[[Study], Any]) -> Place:
    def find(study: Study) -> Shown:
        data = read(study)
        [row] = [one for one in data["rows"] if one["label"].startswith("Krippendorff")]
        return of_estimate(row["cells"][0]["estimate"])

    return find


def first_of_table_14(study: Study) -> Shown:
    lines = [one for one in study.lines("tables/table-14.csv") if one["row"].startswith("Krippendorff")]
    return of_estimate(lines[0])


def in_the_figure(study: Study) -> Shown:
    line = study.lines("figures/over-time.csv")[-1]
    return of_estimate({**line, "n_units": line["items"], "n_raters": line["raters"]})


def shown_alpha(study: Study) -> Shown:
    return of_estimate(study.json("judge.json")["cohorts"]["Egypt"]["alpha_people"])


def of_the_model(study: Study) -> Shown:
    [line] = study.json("models.json")["models"]
    return of_estimate(line["overall"])


def model_on_the_page(study: Study) -> Shown:
    page = study.text("models/")
    return of_html(page[page.index("<bdi>Keen</bdi>") :])


# ---- the studies -----------------------------------------------------------------------------------------------------

# 17 pictures; the last has one rating.
RATED = {0: "11223344551122331", 1: "12223354551112431", 2: "1122334455112323."}


@built_once
def caire(world: World) -> Study:
    benchmark = create_from_recipe(world.team, "caire-universal", "CAIRE", "caire", world.owner)
    stage = benchmark.stages.get(key="relevance")
    items = [
        Item.objects.create(stage=stage, key=f"p{n:02}", concept="dance", origin="Egypt", condition="natural")
        for n in range(17)
    ]
    stand_in(items)
    campaign = lifecycle.create(stage, "Relevance", world.owner, {world.egypt: 3})
    lifecycle.open_campaign(campaign, world.owner, NOON)
    people = [world.nour, world.tarek, *world.add_annotators(world.egypt, 1)]
    rows = {people[0]: RATED[0], people[1]: RATED[1][:16] + ".", people[2]: RATED[2]}
    table(campaign, world.egypt, items, rows)
    keen = model(world.team, "Keen")
    answers = {(item, "Egypt"): digit for item, digit in zip(items, RATED[1], strict=True)}
    store_answers(campaign, keen, answers)
    return Study("caire", world.egypt.pk, world.owner)


@built_once
def mixed(world: World) -> Study:
    mixed_sheet(world)
    return Study(world.benchmark.slug, world.egypt.pk, world.mara)


NUMBERS_OF_CAIRE: dict[str, tuple[dict[str, Place], tuple[int, int]]] = {
    "alpha of a cohort": (
        agreement_places("relevance", "How much does this picture")
        | {
            "Table 14, JSON": in_table_14(lambda study: study.json("tables/table-14.json")),
            "Table 14, REST": in_table_14(lambda study: study.api("tables/table-14/")),
            "Table 14, CSV": first_of_table_14,
            "figure over time, CSV": in_the_figure,
            "judge, JSON": shown_alpha,
            "judge, CSV": in_csv("judge.csv", number="alpha_people", cohort="Egypt"),
        },
        (16, 3),
    ),
    "a model beside people": (
        {
            "models page": model_on_the_page,
            "JSON": of_the_model,
            "CSV": in_csv("models.csv", number="spearman", cohort=""),
        },
        (17, 3),
    ),
}
NUMBERS_OF_MIXED: dict[str, tuple[dict[str, Place], tuple[int, int]]] = {
    "ordered answers": (agreement_places("fits", "Does it fit"), (5, 3)),
    "sets of options": (agreement_places("seen", "What is in it"), (5, 3)),
    "boxes": (agreement_places("main", "Draw a box") | {"models page": boxes_on_the_models_page}, (5, 3)),
    "a question shown after some answers": (agreement_places("why", "Why does it not"), (2, 3)),
}


@pytest.mark.parametrize("name", list(NUMBERS_OF_CAIRE))
def test_a_number_of_pictures_is_the_same_wherever_it_stands(caire: Study, name: str) -> None:
    check_places(caire, *NUMBERS_OF_CAIRE[name])


def test_each_number_of_a_mixed_sheet_is_the_same_wherever_it_stands(mixed: Study) -> None:
    for places, size in NUMBERS_OF_MIXED.values():
        check_places(mixed, places, size)


def check_places(study: Study, places: dict[str, Place], size: tuple[int, int]) -> None:
    shown = {place: read(study) for place, read in places.items()}
    assert len(set(shown.values())) == 1, shown
    [number] = set(shown.values())
    assert (number.units, number.raters) == size, "n counts what entered the value"
