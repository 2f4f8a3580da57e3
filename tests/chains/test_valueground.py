"""ValueGround from an empty benchmark to its tables, by pages alone: survey, pairs, review, models, tables.

The practice model plans, draws, edits, criticises and answers. Two questions, two sources, reviewers of two cohorts.
"""

from collections import Counter
from collections.abc import Iterator

import pytest

from benchmarks.models import Benchmark, Item
from papers.valueground.builder.models import Build
from people.models import Cohort
from predictions.models import Attempt, Call
from tests.chains.annotators import Annotator
from tests.chains.researcher import Researcher, do_waiting_work
from tests.evaluation.output_forms import table_forms
from tests.papers.valueground.survey_samples import ADJUSTMENT, CODEBOOK, METADATA, page_of, random_counts, upload
from tests.personas import World
from tests.start.test_practice import serving_practice_model

pytestmark = pytest.mark.django_db
COUNTRIES, SOURCES, QUESTIONS = ("Brazil", "India"), ("heron", "wren"), ("Q10", "Q2")
PASSES = {"match_a": "2", "match_b": "2", "pair_match": "2", "no_cue": "1"}
FAILS = {**PASSES, "pair_match": "0"}
WORDS = {"Q10": "[practice: revise_edits]", "Q2": "[practice: accept] [practice: replan source=wren]"}
TABLES = ("table-2", "table-5", "table-6", "table-8", "labels")


@pytest.fixture
def practice() -> Iterator[str]:
    with serving_practice_model() as address:
        yield address


def test_valueground_from_an_empty_benchmark_to_its_tables(world: World, practice: str) -> None:
    for cohort in (world.brazil, world.egypt):
        Cohort.objects.filter(pk=cohort.pk).update(label=f"North of {cohort.label}", country="")
    researcher = Researcher(world.client(world.team_admin))
    researcher.create_benchmark("valueground", "Values", world.team.pk)
    benchmark = Benchmark.objects.get(recipe="valueground")
    decide(researcher, benchmark)
    links = researcher.create_cohorts(list(COUNTRIES))
    people = [Annotator(f"Ana {country}", country, links[country][0]) for country in COUNTRIES]
    researcher.add_endpoint("Practice", practice)
    researcher.go("Open the whole chain")
    researcher.submit("Open the chain", {f"target_{benchmark.stages.get(key='pair-review').pk}": "1"})
    build(researcher, benchmark)
    for person in people:
        assert person.answer("Pair review", lambda _text: PASSES) > 0
    do_waiting_work()
    for key in ("choice", "alignment"):
        assert Item.objects.filter(stage__benchmark=benchmark, stage__key=key, withdrawn_at=None).count() == 4
    researcher.ask_models("Practice", {"practice-wren": ("main", "text_only", "alignment")}, "")
    asked = Counter(Call.objects.values_list("run__rater__setting", flat=True))
    assert asked["main"] == asked["text_only"] == 4 * 13 and sum(asked.values()) == 2 * 4 * 13 + 4
    texts = Call.objects.filter(run__rater__setting="text_only")
    requests = Attempt.objects.filter(call__in=texts, reply__isnull=False).values("reply__key").distinct()
    assert requests.count() == 2 * 13, "both sources share one request"
    for key in TABLES:
        table_forms(researcher.client, benchmark.slug, key)


def decide(researcher: Researcher, benchmark: Benchmark) -> None:
    """Import the survey; two questions are confirmed, and the overview counts them."""
    assert "There is no survey yet." in researcher.page
    metadata = {
        key: {**entry, "question": f"{entry['question']} {WORDS.get(key, '')}"} for key, entry in METADATA.items()
    }
    counts = random_counts({"Q10": [1, 2], "Q2": [1, 2, 3]}, seed=3)
    files = {"codebook": CODEBOOK, "metadata": metadata, "adjustment": ADJUSTMENT, "counts": counts}
    upload(researcher.client, benchmark, files)
    for key in QUESTIONS:
        researcher.client.post(page_of(benchmark), {"action": "confirm", "question": key})
    states = Item.objects.filter(stage__benchmark=benchmark, stage__key="options").values_list("intake", flat=True)
    assert Counter(states) == {"kept": 2, "waiting": 5, "dropped": 1}


def build(researcher: Researcher, benchmark: Benchmark) -> None:
    """Two sources draw a pair for each question, in as many rounds as their words say."""
    researcher.go("Items", "Pairs", "Build pairs")
    form = {"budget": ""}
    for row, source in enumerate(SOURCES, start=1):
        form |= {f"s{row}-key": source, f"s{row}-chat_model": f"practice-{source}", f"s{row}-image_model": "practice"}
        for part in ("chat_endpoint", "image_endpoint"):
            form[f"s{row}-{part}"] = researcher.choose(f"s{row}-{part}", "Practice")
    researcher.submit("Build pairs", form)
    do_waiting_work()
    rounds = Build.objects.values_list("question__key", "source__key", "state", "plan_round", "edit_round")
    assert sorted(rounds) == [
        ("Q10", "heron", "accepted", 0, 1), ("Q10", "wren", "accepted", 0, 1), ("Q2", "heron", "accepted", 0, 0),
        ("Q2", "wren", "accepted", 1, 0),
    ]  # fmt: skip
