"""The specific set in CAIRE's chain: named concepts with articles, brought pictures, and links that people check."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Review
from benchmarks.models import FilterResult
from predictions.models import Call, EntityLink, KnowledgeEntry, KnowledgeIndex, Run
from tests.archives import pack_zip
from tests.chains.annotators import Annotator
from tests.chains.caire_study import SETS, Study
from tests.chains.link_client import LinkClient
from tests.chains.researcher import do_waiting_work
from tests.evaluation.output_forms import table_data
from tests.predictions.knowledge.colours import jsonl, row, square

ENTRIES, FILLERS = 20, 15
IN_BASE = {"Thangka": (250, 1, 1), "Menorah": (1, 250, 1), "Kente": (1, 1, 250), "Poncho": (250, 250, 1),
           "Kimono": (1, 250, 250)}  # fmt: skip
BROUGHT = {"Thangka": (250, 88, 83), "Menorah": (88, 250, 83), "Kente": (83, 88, 250), "Poncho": (250, 113, 13),
           "Kimono": IN_BASE["Kimono"]}  # fmt: skip
NO_GLOSS = "Menorah"  # so its picture finds no entry by glosses
KNOWN = "Kimono"  # its picture is one of the base
CASES = {"Thangka": ("exact", "exact", "exact"), "Kente": ("exact", "related", "related"),
         "Poncho": ("wrong", "wrong", "exact")}  # fmt: skip


def in_base(study: Study) -> set[str]:
    """The concepts that are named and have an article."""
    return {name for _label_set, name, _gold in study.size.proposed.values() if name in IN_BASE}


def remaining(study: Study) -> set[str]:
    """Those that the filter keeps: the base has not the very picture of them."""
    return in_base(study) - {KNOWN}


def file_of(name: str, data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def create_base(study: Study) -> None:
    """A knowledge base of 20 entries with pictures, and its index, through their pages."""
    researcher = study.researcher
    team = f"/teams/{study.world.team.slug}/"
    researcher.open(team)
    researcher.follow("Knowledge bases")
    researcher.submit("Create knowledge base", {"name": "Encyclopedia", "version": "1", "licence": "CC0"})
    colours = {**IN_BASE, **{f"Filler {n}": (120 + n, 120 + n, 120 + n) for n in range(FILLERS)}}
    rows = [row(name, f"{name}.png", gloss="" if name == NO_GLOSS else f"About {name}") for name in colours]
    pictures = {f"{name}.png": square(*colour, size=64) for name, colour in colours.items()}
    files = {"entries": file_of("base.jsonl", jsonl(rows)), "pictures": file_of("base.zip", pack_zip(pictures))}
    researcher.submit("Import", files)
    do_waiting_work()
    researcher.open(team)
    researcher.follow("Knowledge bases")
    researcher.follow("Encyclopedia")
    researcher.follow("Create index")
    researcher.submit("Create index", {"model": "local-dir:tiny", "over": "images"})
    do_waiting_work()
    index = KnowledgeIndex.objects.get()
    assert (index.count, KnowledgeEntry.objects.count()) == (ENTRIES, ENTRIES) and index.built_at


def create_label_sets(study: Study) -> None:
    researcher = study.researcher
    for name, labels in SETS.items():
        researcher.open(f"/teams/{study.world.team.slug}/targets/")
        researcher.follow("Add a set")
        researcher.submit("Save", {"name": name, "lines": "\n".join(labels)})


def propose_concepts(study: Study) -> None:
    """A model names six concepts; five have an article, which a person and a reviewer confirm."""
    researcher = study.researcher
    rows = [
        {
            "key": thing.replace(" ", "-"), "text": f"Name {thing} of the {label_set}", "label_set": label_set,
            "labels": ", ".join(SETS[label_set]),
        }
        for thing, (label_set, _name, _gold) in study.size.proposed.items()
    ]  # fmt: skip
    researcher.go("Import items", "Rare concepts to propose")
    researcher.submit("Import", {"manifest": file_of("rows.jsonl", jsonl(rows))})
    do_waiting_work()
    researcher.ask_models("Scripted", {"A": ("specific-proposals",)}, "")
    calls = Call.objects.filter(run__campaign__stage__key="specific-proposals", state="answered")
    assert calls.count() == len(study.size.things)
    run = link_stage(study, "Rare concepts to propose", method="named")
    assert dict(run.links.values_list("item__key", "reason"))["thing-3"] == "no_such_name"
    researcher.submit("Have people check the links")
    do_waiting_work()
    assert {item.concept for item in study.items("specific-concepts")} == in_base(study)
    confirm_concepts(study)


def confirm_concepts(study: Study) -> None:
    concepts = len(in_base(study))
    assert study.answer_by_all("Rare concepts", lambda _person, _text: {"article": "same"}) == concepts
    researcher = study.researcher
    researcher.go("People")
    researcher.follow("Roles")
    researcher.submit("Add role", {"user": study.world.reviewer.pk, "name": "reviewer"})
    reviewer = LinkClient(study.world.client(study.world.reviewer), researcher.home)
    reviewer.follow("Review")
    reviewer.follow("Start reviewing")
    for _concept in range(concepts):
        reviewer.submit("Accept A")
    do_waiting_work()
    assert Review.objects.filter(undone_at=None).count() == concepts
    assert len(study.items("specific-pictures")) == concepts


def link_stage(study: Study, stage: str, **values: str) -> Run:
    """Link the items of a stage, and open the page of the run."""
    researcher = study.researcher
    researcher.go("Predictions", "Linked entities")
    if values["method"] == "named":
        values["answers"] = researcher.choose("answers", "A")
    researcher.submit("Run", {"stage": researcher.choose("stage", stage), **values})
    do_waiting_work()
    researcher.open(researcher.path)
    researcher.follow("View links")
    run = Run.objects.filter(task=Run.Task.LINKING).latest("pk")
    assert run.complete, run.state
    return run


def bring_pictures(study: Study) -> None:
    """Five pictures, compared with the base as they arrive: one is in it, and is dropped with the entry's name."""
    researcher = study.researcher
    researcher.go("Predictions", "Item facts")
    index = researcher.choose("index", "Encyclopedia")
    specific = researcher.choose("stage", "Specific set")
    researcher.submit("Run", {"stage": specific, "what": "base_similarity", "index": index})

    def find(_person: Annotator, text: str) -> Mapping[str, Any]:
        return {"picture": SimpleUploadedFile("found.png", square(*BROUGHT[first_named(text)], size=64), "image/png")}

    assert study.answer_by_all("Pictures of rare concepts", find) == len(in_base(study))
    do_waiting_work()
    items = {item.concept: item for item in study.items("specific")}
    assert {name: item.intake for name, item in items.items()} == {
        name: "dropped" if name == KNOWN else "kept" for name in in_base(study)
    }
    result = FilterResult.objects.get(item=items[KNOWN], key="not_in_base")
    assert (result.reason, result.value) == ("in_base", {"similarity": 1.0, "entry": KNOWN})
    for item in items.values():
        label_set, _name, gold = next(row for row in study.size.proposed.values() if row[1] == item.concept)
        assert [item.context[key] for key in ("label_set", "gold", "gold_entity")] == [label_set, gold, item.concept]


def first_named(text: str) -> str:
    """The concept that a sheet is about; what the offer to undo names comes later."""
    return min((name for name in IN_BASE if name in text), key=text.index)


def link_pictures(study: Study) -> None:
    """All pictures of the universal set and those of the specific set; one finds no entry. People check the others."""
    universal = link_stage(study, "Relevance rating", method="gloss_vt", nearest="1")
    assert universal.links.exclude(keys=[]).count() == 2 * study.size.prompts
    specific = link_stage(study, "Specific set", method="gloss_vt", nearest="1")
    links = {link.item.concept: link for link in EntityLink.objects.filter(run=specific).select_related("item")}
    assert {name: link.keys[:1] for name, link in links.items()} == {
        name: [] if name == NO_GLOSS else [name] for name in remaining(study)
    }
    assert links[NO_GLOSS].reason == "nothing_near"
    study.researcher.submit("Have people check the links")
    do_waiting_work()
    assert {item.concept for item in study.items("link-check")} == remaining(study) - {NO_GLOSS}


def ask_about_labels(study: Study) -> None:
    """Each picture's own set. The units of a picture without a link lack an article in the first run."""
    units, unlinked = study.size.units(remaining(study)), study.size.units((NO_GLOSS,))
    runs = ("specific-digit", "specific-no_retrieval", "specific-gold_context")
    study.researcher.ask_models("Scripted", {"A": runs}, "")
    calls = Call.objects.filter(run__campaign__stage__key="specific")
    states = Counter(calls.values_list("run__rater__setting", "state"))
    assert states == {
        ("", "answered"): len(units) - len(unlinked), ("", "failed"): len(unlinked),
        ("no_retrieval", "answered"): len(units), ("gold_context", "answered"): len(units),
    }  # fmt: skip
    lacking = set(calls.exclude(state="answered").values_list("item__concept", "reason"))
    assert lacking == {(NO_GLOSS, "no_article")}
    answers = study.answers("specific").filter(rater__kind="model")
    assert answers.count() == 3 * len(units) - len(unlinked)
    asked = set(calls.values_list("item__concept", "unit__target"))
    assert asked == units, "no unit asks a cohort's label instead of a set's"
    if "Poncho" in remaining(study):
        assert (len(units), len(unlinked), answers.count()) == (22, 5, 61)


def check_links(study: Study) -> None:
    """Three people say how each entry fits; the case of a link is what most of them say."""
    cases = {name: iter(each) for name, each in CASES.items()}

    def judge(_person: Annotator, text: str) -> Mapping[str, str]:
        return {"link": next(cases[re.findall(r"It is said to show (\w+)", text)[0]])}

    checked = remaining(study) - {NO_GLOSS}
    assert study.answer_by_all("Link check", judge) == 3 * len(checked)
    assert study.answers("link-check").count() == 3 * len(checked)
    table = table_data(study.researcher.client, study.benchmark.slug, "link-cases")
    [shares] = [values_of(table, row) for row in table["rows"]]
    n = len(checked)
    wrong = ("Poncho" in checked) / n
    assert shares == pytest.approx({"Exact": 1 / n, "Narrower or broader": 0, "Related": 1 / n, "Wrong": wrong})


def read_specific_tables(study: Study) -> None:
    """Tables 1 and 8 equal the test's own count, 10 and 11 too; Table 3 finds the entry of every picture but one."""
    client, slug = study.researcher.client, study.benchmark.slug
    counted = {setting: own_f1(study, setting) for setting in ("", "no_retrieval", "gold_context")}
    rows = table_data(client, slug, "table-1")["rows"]
    f1 = [row["cells"][0]["estimate"]["value"] for row in rows]
    assert sorted(f1) == pytest.approx(sorted((counted[""], counted["no_retrieval"])))
    [row] = table_data(client, slug, "table-10")["rows"]
    assert row["cells"][0]["estimate"]["value"] == pytest.approx(counted["gold_context"])
    table = table_data(client, slug, "table-3")
    assert [row["cells"][0]["estimate"]["value"] for row in table["rows"]] == [
        pytest.approx(1 - 1 / len(remaining(study)))
    ]


def own_f1(study: Study, setting: str) -> float:
    """Micro F1 over the pairs of picture and label that were scored, at 4 and more."""
    counts: Counter[str] = Counter()
    answers = study.answers("specific").filter(rater__kind="model", rater__setting=setting)
    for annotation in answers.select_related("assignment__unit__item"):
        unit = annotation.assignment.unit
        is_gold = unit.target in unit.item.context["gold"].split("|")
        is_chosen = int(annotation.answers["relevance"]) >= 4
        counts[f"{is_gold} {is_chosen}"] += 1
    hits = counts["True True"]
    return 2 * hits / (2 * hits + counts["True False"] + counts["False True"])


def values_of(table: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, float]:
    cells = zip(table["columns"], row["cells"], strict=True)
    return {name: cell["estimate"]["value"] for name, cell in cells}
