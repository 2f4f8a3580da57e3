"""ValueGround from an empty benchmark to its tables, by pages alone: survey, pairs, review, revision, models, tables.

The practice model plans, draws, edits and criticises; a scripted server judges the pairs and chooses. Reviewers come
from two cohorts. The researcher and the first two sheets are in Chromium; what else people answer is posted to the
forms that they are shown. The full form has the counts of the specification, the short one two questions of them.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from statistics import fmean
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Sum
from playwright.sync_api import Page

from annotation.models import Outcome
from benchmarks.models import Item
from papers.valueground.builder.models import Build, BuildStep
from papers.valueground.builder.states import CONFIGURATION_NAMES
from papers.valueground.recipe import LABELLED
from people.models import Cohort
from predictions.models import Attempt, Call
from tests.chains.annotators import Annotator
from tests.chains.researcher import do_waiting_work
from tests.chains.values_numbers import (
    answers_of,
    bins_of,
    correlations_of,
    labels_of,
    margins_of,
    mean_costs,
    rank_bands,
    reversals_of,
    rubric_means,
)
from tests.chains.values_study import (
    BY_HAND,
    COUNTRIES,
    FULL,
    PASSES,
    PLACES,
    SHORT,
    SOURCES,
    Study,
    pair_of,
    reply,
)
from tests.evaluation.output_forms import figure_forms, table_data, table_forms
from tests.papers.valueground.survey_samples import page_of
from tests.personas import World
from tests.predictions.model_server import Server
from tests.start.test_practice import serving_practice_model

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COMMENT = "A calmer face."
TABLES = (
    "table-1", "table-2", "table-3", "table-4", "figure-3", "table-5", "table-6", "table-7", "table-8", "labels",
    "bands",
)  # fmt: skip
FIGURES = ("figure-3-map", "main-text")


@pytest.fixture(params=[pytest.param(SHORT, id="short"), pytest.param(FULL, id="full", marks=pytest.mark.slow)])
def study(
    request: pytest.FixtureRequest, world: World, scripted_server: Server, media: None, open_as: Callable[..., Page]
) -> Iterator[Study]:
    for cohort in (world.brazil, world.egypt):
        Cohort.objects.filter(pk=cohort.pk).update(label=f"North of {cohort.label}", country="")  # none of the recipe's
    scripted_server.answer_by(reply)
    with serving_practice_model() as practice:
        yield Study(world, practice, scripted_server.base_url, request.param, open_as)


def test_valueground_from_an_empty_benchmark_to_its_tables(study: Study) -> None:
    decide(study)
    create_cohorts(study)
    build_pairs(study)
    ask_judges(study)
    review(study)
    send_back(study)
    ask_model(study)
    give_up(study)
    read_labels(study)
    read_accuracy(study)
    read_reversals(study)
    read_margins_and_ranks(study)
    read_scores_and_costs(study)
    read_judges(study)
    read_all_forms(study)
    assert study.first_sheets.shown == {"Pair review": 2}


def decide(study: Study) -> None:
    """Import the survey; each question but the demographic one is to be decided, and one pair is set by hand."""
    researcher, size = study.researcher, study.size
    researcher.create_benchmark("valueground", "Values", study.world.team.pk)
    benchmark = study.benchmark
    assert "There is no survey yet." in researcher.page
    assert "Items come from the page “Survey”." in researcher.page and page_of(benchmark) in researcher.page
    researcher.follow("Import a survey")
    files = {kind: json.dumps(data).encode() for kind, data in study.files().items()}
    form = {kind: SimpleUploadedFile(f"{kind}.json", data) for kind, data in files.items()}
    researcher.submit("Import", {"name": "Survey", "label_set": "countries", **form})
    do_waiting_work()
    for key in size.words:
        researcher.open(f"{page_of(benchmark)}?q={key}")
        if key != BY_HAND:
            researcher.submit("Confirm Y")
            continue
        places = {f"place-{code}": str(place) for code, place in PLACES[key].items()}
        researcher.submit("Save and confirm", {"a": "0", "b": "2", **places})
    states = Counter(item.intake for item in study.items("options"))
    waiting = {"waiting": 7 - len(size.words)} if len(size.words) < 7 else {}
    assert states == {"kept": len(size.words), "dropped": 1, **waiting}


def create_cohorts(study: Study) -> None:
    researcher = study.researcher
    links = researcher.create_cohorts(list(COUNTRIES))
    for country in COUNTRIES:
        study.people[country] = [
            Annotator(f"{name} {country}", country, link)
            for name, link in zip(("Ana", "Bo"), links[country], strict=False)
        ]
    researcher.add_endpoint("Practice", study.practice, "seed")  # what is drawn again is another picture
    researcher.add_endpoint("Scripted", study.scripted)
    researcher.go("Predictions", "Model endpoints", "Practice")
    prices = {"price-0-model": "*", "price-0-request": "0.001", "price-0-generated": "0.02", "price-0-edited": "0.03"}
    researcher.submit("Save prices as a new version", prices)
    researcher.go("Open the whole chain")
    researcher.submit(researcher.button("Open "), {f"target_{study.stage('pair-review').pk}": "1"})


def build_pairs(study: Study) -> None:
    """Two sources draw a pair for each question, in as many rounds as their words say."""
    researcher, size = study.researcher, study.size
    researcher.go("Items", "Pairs", "Build pairs")
    form = {"budget": "50", "best_effort_to_review": "on"}
    for row, source in enumerate(SOURCES, start=1):
        form |= {f"s{row}-key": source, f"s{row}-chat_model": f"practice-{source}", f"s{row}-image_model": "practice"}
        for part in ("chat_endpoint", "image_endpoint"):
            form[f"s{row}-{part}"] = researcher.choose(f"s{row}-{part}", "Practice")
    researcher.submit("Build pairs", form)
    do_waiting_work()
    builds = {
        (build.question.key, build.source.key): (build.state, build.plan_round, build.edit_round)
        for build in study.builds()
    }
    at_once = ("accepted", 0, 0)
    assert builds == {
        (key, source): size.rounds.get((key, source), at_once) for key in size.words for source in SOURCES
    }
    assert sorted(map(pair_of, study.items("pair-review"))) == sorted(builds), "best effort is reviewed, too"


def ask_judges(study: Study) -> None:
    study.researcher.ask_models("Scripted", dict.fromkeys(study.size.judges, ("rubric",)), "")
    assert calls(study, "pair-review") == study.size.reviewed * len(study.size.judges)


def review(study: Study) -> None:
    """Two people in all judge each pair, one of each country."""
    first = [study.people[country][0] for country in COUNTRIES]
    sheets = [study.first_sheets.answer_by_sheet(person, "Pair review", study.judge) for person in first]
    assert sheets == [study.size.reviewed] * 2
    assert [study.people[country][1].answer("Pair review", lambda _text: None) for country in COUNTRIES] == [0, 0]
    do_waiting_work()
    rejected = len(study.size.rejected)
    expected = {"accepted": study.size.reviewed - rejected} | ({"rejected": rejected} if rejected else {})
    assert outcomes(study) == expected


def send_back(study: Study) -> None:
    """The next revision is offered to people who have not judged the first one, and accepted by them."""
    size, researcher = study.size, study.researcher
    if size.sent_back is None:
        return
    build = next(one for one in study.builds() if (one.question.key, one.source.key) == size.sent_back)
    former = Item.objects.get(build=build)
    researcher.open(f"{page_of(study.benchmark, 'pairs')}?pair={build.pk}")
    researcher.submit("Send back with a comment", {"comment": COMMENT, "target": "b"})
    do_waiting_work()
    second = Build.objects.get(replaces=build)
    assert (second.state, second.revision, second.comment) == ("accepted", 2, COMMENT)
    assert second.item is not None and second.item.replaces == former
    assert BuildStep.objects.filter(build=second, override="comment_open", output__route="revise_edits").exists()
    sheets = [
        [person.answer("Pair review", lambda _text: PASSES) for person in study.people[country]]
        for country in COUNTRIES
    ]
    assert sheets == [[0, 1], [0, 1]], "who judged revision 1 is not offered revision 2"
    do_waiting_work()
    assert outcomes(study) == {"accepted": size.reviewed - len(size.rejected) + 1, "rejected": len(size.rejected) - 1}
    assert calls(study, "pair-review") == (size.reviewed + 1) * len(size.judges), "the judges follow"


def ask_model(study: Study) -> None:
    """Questions whose pairs of both sources are accepted go on; both sources share one request without pictures."""
    pairs = [(key, source) for key in sorted(study.size.kept) for source in SOURCES]
    for key in ("choice", "alignment"):
        assert sorted(map(pair_of, study.items(key))) == pairs
    models = study.size.models
    study.researcher.ask_models("Scripted", dict.fromkeys(models, ("main", "text_only", "alignment")), "")
    each = len(pairs) * len(LABELLED) * len(models)
    assert (calls(study, "choice", "main"), calls(study, "choice", "text_only")) == (each, each)
    assert calls(study, "alignment") == len(pairs) * len(models)
    assert set(Call.objects.values_list("state", flat=True)) == {"answered"}
    texts = Call.objects.filter(run__rater__setting="text_only")
    requests = Attempt.objects.filter(call__in=texts, reply__isnull=False).values("reply__key").distinct()
    assert requests.count() == each // len(SOURCES), "both sources share one request"


def give_up(study: Study) -> None:
    """A pair that is given up takes its question out of the later stages; taken back, the same items return."""
    researcher, question = study.researcher, study.size.kept[0]
    build = next(one for one in study.builds() if (one.question.key, one.source.key) == (question, SOURCES[0]))
    before = {key: study.items(key) for key in ("choice", "alignment")}
    researcher.open(f"{page_of(study.benchmark, 'pairs')}?pair={build.pk}")
    researcher.submit("Give this pair up", {"reason": "Nobody would draw it so."})
    do_waiting_work()
    for key, items in before.items():
        assert study.items(key) == [item for item in items if item.concept != question]
    researcher.submit("Undo giving up")
    do_waiting_work()
    assert {key: study.items(key) for key in before} == before


def calls(study: Study, stage: str, setting: str = "") -> int:
    asked = Call.objects.filter(run__campaign__stage=study.stage(stage))
    return asked.filter(run__rater__setting=setting).count() if setting else asked.count()


def outcomes(study: Study) -> dict[str, int]:
    """Of the pairs that stand."""
    rows = Outcome.objects.filter(campaign__stage=study.stage("pair-review"), unit__item__withdrawn_at=None)
    return dict(Counter(rows.values_list("state", flat=True)))


def rows_of(study: Study, key: str, query: str = "") -> dict[str, list[float | None]]:
    """The values of a table by the name of the row; of a row in a group, by that of the group."""
    data = table_data(study.researcher.client, study.benchmark.slug, key, query)
    return {
        row["group"] or row["label"]: [cell["estimate"] and cell["estimate"]["value"] for cell in row["cells"]]
        for row in data["rows"]
    }


def near(values: Any) -> Any:
    return pytest.approx(list(values), abs=1e-9)


def near_or_none(values: Iterable[float | None]) -> list[Any]:
    return [value if value is None else pytest.approx(value, abs=1e-9) for value in values]


def read_labels(study: Study) -> None:
    """All countries of the set, each with its labels; what has none is counted by its reason."""
    size, labels = study.size, labels_of(study)
    rows = rows_of(study, "labels")
    assert sorted(rows) == sorted(LABELLED)
    for country, values in rows.items():
        own = Counter(label for (_question, name), label in labels.items() if name == country)
        assert values[1:5] == [own["a"], own["b"], own["tie"], own[""]], country
    sums = [sum(values[n] or 0 for values in rows.values()) for n in range(1, 5)]
    assert sums[0] + sums[1] == size.labels
    assert sums[2:] == [int(size.tie is not None), int(size.uncounted is not None)]


def read_accuracy(study: Study) -> None:
    """Each model's accuracy by setting and by country; their average is the mean over the models."""
    settings, countries, transfer = (rows_of(study, key) for key in ("table-2", "figure-3", "table-8"))
    each = [answers_of(study, model) for model in study.size.models]
    for model, own in zip(study.size.models, each, strict=True):
        assert len(own.main) == len(own.text) == study.size.labels * len(SOURCES)
        assert settings[model] == near(own.settings())
        assert countries[model][:-1] == near(own.by_country()[1])
        assert countries[model][-1] == pytest.approx(own.settings()[0])
        assert transfer[model][0] == pytest.approx(own.pearson())
    assert settings["Average"] == near(fmean(column) for column in zip(*(own.settings() for own in each), strict=True))


def read_reversals(study: Study) -> None:
    """Harmful and beneficial add up to reversal; harmful less beneficial is the drop of accuracy."""
    data = table_data(study.researcher.client, study.benchmark.slug, "table-5")
    instances = study.size.labels * len(SOURCES)
    assert {cell["estimate"]["n_units"] for row in data["rows"] for cell in row["cells"]} == {instances}
    for model, values in rows_of(study, "table-5").items():
        assert values == near(reversals_of([answers_of(study, model)]))
        reversal, harmful, beneficial, drop = (value or 0 for value in values)
        assert [harmful + beneficial, harmful - beneficial] == near([reversal, drop])
    countries, each = rows_of(study, "table-6"), [answers_of(study, model) for model in study.size.models]
    assert sorted(countries) == sorted(LABELLED)
    for country, values in countries.items():
        assert values == near(reversals_of(each, lambda one, country=country: one[2] == country)), country


def read_margins_and_ranks(study: Study) -> None:
    """Table 7: bins of equal size by margin, with the answers of all models pooled. Ranks by an exact test."""
    each = [answers_of(study, model) for model in study.size.models]
    rows = table_data(study.researcher.client, study.benchmark.slug, "table-7")["rows"]
    bins = bins_of(margins_of(study), len(rows))
    assert len(rows) == 5 and sum(map(len, bins)) == study.size.labels
    for row, members in zip(rows, bins, strict=True):
        margins = [margins_of(study)[pair] for pair in members]
        margin, size, reversal = row["cells"]
        assert margin["shown"].startswith(f"[{min(margins):.3f}, ") and size["estimate"]["value"] == len(members)
        share = reversals_of(each, lambda one, members=members: (one[0], one[2]) in members)[0]
        assert reversal["estimate"]["value"] == pytest.approx(share)
    data = table_data(study.researcher.client, study.benchmark.slug, "bands")
    shown = {row["label"]: (row["cells"][0]["estimate"]["value"], row["cells"][1]["shown"]) for row in data["rows"]}
    bands = rank_bands(each)
    assert shown == {
        model: (pytest.approx(own.settings()[0]), band)
        for model, own, band in zip(study.size.models, each, bands, strict=True)
    }


def read_judges(study: Study) -> None:
    """Table 4: the mean of the judges against that of people, and each person against the other."""
    expected = correlations_of(study)
    shown = rows_of(study, "table-4")
    assert [values[:4] for values in shown.values()] == [near_or_none(values) for values in expected]
    assert any(value is not None for values in expected for value in values[2:]), "some people can be compared"


def read_scores_and_costs(study: Study) -> None:
    """Table 1 by people and by judges, which are the default once there are any; Table 3 is the sum of the steps."""
    for query, kind in (("", "model"), ("scored_by=model", "model"), ("scored_by=person", "person")):
        rows = rows_of(study, "table-1", query)
        assert {source: near(values) for source, values in rows.items()} == rubric_means(
            study.answers("pair-review", kind)
        )
    steps = BuildStep.objects.filter(build__plan__benchmark=study.benchmark)
    attempts = Attempt.objects.filter(scope__in=[step.scope for step in steps])
    assert steps.aggregate(cost=Sum("cost")) == attempts.aggregate(cost=Sum("cost"))
    assert sum((build.cost for build in Build.objects.all()), Decimal(0)) == steps.aggregate(cost=Sum("cost"))["cost"]
    data = table_data(study.researcher.client, study.benchmark.slug, "table-3")
    assert {row["label"] for row in data["rows"]} == {CONFIGURATION_NAMES["planner_editor_critic"]}
    for query in ("", "revisions=with"):
        costs = mean_costs(study, with_revisions=bool(query))
        assert rows_of(study, "table-3", query) == {source: [pytest.approx(cost)] for source, cost in costs.items()}


def read_all_forms(study: Study) -> None:
    for key in TABLES:
        table_forms(study.researcher.client, study.benchmark.slug, key)
    for key in FIGURES:
        figure_forms(study.researcher.client, study.benchmark.slug, key)
