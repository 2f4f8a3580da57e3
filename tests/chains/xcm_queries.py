"""3XCM's longer queries: people write them, a reviewer accepts them, and a collection takes them as query sets."""

import re
from collections.abc import Mapping

import pytest

from papers.xcm.tables.trials import THREE
from predictions.models import Collection
from tests.chains.link_client import BUTTON, LINK, text_of
from tests.chains.researcher import do_waiting_work
from tests.chains.searched_pictures import ASKED
from tests.chains.xcm_study import NATIVE, Study
from tests.chains.xcm_tables import shares_of_wins
from tests.evaluation.output_forms import table_data

SETS = ("task", "casual")
BEFORE, AFTER = f"{NATIVE['th']['market']} :)", f"{NATIVE['th']['market']} ^^"


def write(text: str) -> Mapping[str, str]:
    """The word stands above its concept; elsewhere on the page there may be the answer before."""
    [word] = re.findall(r"(\S+) Concept \w+", text)
    return {"task": f"A picture of {word}, for school", "casual": f"{word} :)"}


def write_queries(study: Study) -> None:
    """A person of each country writes two queries for each of its words, and a reviewer accepts them."""
    written = 0
    for country in ASKED:
        written += study.answer(study.people[country][1], "Longer queries", write)
    assert written == len(study.items("queries"))
    study.reviewer.follow("Review")
    study.reviewer.follow("Start reviewing")
    for _query in range(written):
        study.reviewer.submit("Accept A")
    do_waiting_work()


def take_queries(study: Study) -> None:
    """By a press the trials are asked in these words, too; a query that a reviewer returns leaves, and what its author
    corrects comes back as it is then."""
    researcher, collection = study.researcher, Collection.objects.get(key="pictures")
    researcher.go("Predictions", "Written queries Pictures 1")
    researcher.submit("Take the queries", {"stage": researcher.choose("stage", "Longer queries")})
    plain = collection.queries.filter(query_set="plain")
    asked = set(plain.filter(about__country__in=ASKED).values_list("key", flat=True))
    assert f"{2 * len(asked)} queries were taken." in text_of(researcher.page)
    assert {name: queries_of(collection, name).keys() for name in SETS} == dict.fromkeys(SETS, asked)

    change_decision(study, BEFORE, "Return to author R", reason="language", comment="Say it in another way.")
    markets = set(plain.filter(about__country="Thailand", about__concept="market").values_list("key", flat=True))
    assert markets and all(queries_of(collection, name).keys() == asked - markets for name in SETS)
    task = f"For school: {NATIVE['th']['market']}"
    study.people["Thailand"][1].correct({"task": task, "casual": AFTER})
    decide(study, AFTER, "Accept A")
    assert queries_of(collection, "casual").keys() == asked
    assert {queries_of(collection, "casual")[key] for key in markets} == {AFTER}
    assert {queries_of(collection, "task")[key] for key in markets} == {task}


def queries_of(collection: Collection, name: str) -> dict[str, str]:
    return dict(collection.queries.filter(query_set=name).values_list("key", "text"))


def change_decision(study: Study, answer: str, button: str, **why: str) -> None:
    """The reviewer takes an acceptance back, and decides again."""
    reviewer = study.reviewer
    reviewer.open(study.researcher.home)
    reviewer.follow("Review")
    states = [text_of(inside) for _address, inside in LINK.findall(reviewer.page)]
    reviewer.follow(next(state for state in states if state.startswith("Accepted")))
    row = next(row for row in reviewer.page.split("<li")[1:] if answer in text_of(f"<li{row}"))
    undo = next(label for button in BUTTON.findall(row) if (label := text_of(button[1])).startswith("Undo decision"))
    reviewer.submit(undo, within=row)
    decide(study, answer, button, **why)


def decide(study: Study, answer: str, button: str, **why: str) -> None:
    reviewer = study.reviewer
    reviewer.open(study.researcher.home)
    reviewer.follow("Review")
    row = next(row for row in reviewer.page.split("<li")[1:] if answer in text_of(f"<li{row}"))
    reviewer.open(re.findall(r'href="([^"]+/review/\d+/)', row)[0])
    reviewer.submit(button, {"reason": None, "comment": "", **why})
    do_waiting_work()


def check_query_sets(study: Study) -> None:
    """Figures 20 and 21 have the shares of each set, as they follow from the exported files; Figure 24 has both system
    prompts."""
    client, slug, query = study.researcher.client, study.benchmark.slug, "collection=pictures@1"
    rows = {row["label"]: row["cells"] for row in table_data(client, slug, "query-sets", query)["rows"]}
    assert {*SETS, "plain"} <= rows.keys()
    for name in (*SETS, "plain"):
        values = [cell["estimate"]["value"] for cell in rows[name] if cell["estimate"]]
        assert values == pytest.approx(shares_of_wins(study, "1", name, THREE)), name
    prompts = [row["label"] for row in table_data(client, slug, "prompts", query)["rows"]]
    assert len(set(prompts)) == 2, prompts
