"""An export that comes back into the same benchmark: the same people said the same, so nothing new follows."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Campaign, ItemContributor
from annotation.services.files import answer_files
from benchmarks.models import Stage
from jobs.services import runner
from people.models import Cohort
from tests.annotation.chain.factories import answer, asking, hand, live, opened, settle
from tests.annotation.queue.factories import a_person

pytestmark = pytest.mark.django_db
ANSWERS = {"question": "What is it?", "answer": "Tea"}
ALWAYS = {"clauses": [{"key": "any", "expression": 'answer == "Tea"', "words": {"en": "Tea"}}], "over": "majority"}


def bring(campaign: Campaign, cohort: Cohort, rater: str) -> None:
    row: dict[str, Any] = {"item": "ask-000", "rater": rater, "cohort": cohort.label, "answers": ANSWERS}
    job = answer_files.start(campaign, None, SimpleUploadedFile("a.jsonl", json.dumps(row).encode()))  # type: ignore[arg-type]
    runner.run(job.pk)
    assert list(job.rows.values_list("outcome", flat=True)) == ["created"]
    settle()


@pytest.mark.parametrize("acceptance", ["on_submit", "by_rule"])
def test_what_comes_back_makes_no_second_item_and_its_author_is_not_asked(acceptance: str) -> None:
    ask, reply, cohort = asking(acceptance, **({"acceptance_rule": ALWAYS} if acceptance == "by_rule" else {}))
    writer = a_person(cohort)
    answer(hand(writer, opened(ask, cohort), cohort), **ANSWERS)
    settle()
    [item] = live(reply)
    bring(opened(ask, cohort), cohort, ask.benchmark.pseudonym(writer.pk))
    assert live(reply) == [item]
    assert ItemContributor.objects.filter(item=item, rater=writer).exists()
    assert hand(writer, opened(reply, cohort), cohort) is None


def test_imported_answer_of_another_person_is_a_separate_item() -> None:
    ask, reply, cohort = asking()
    answer(hand(a_person(cohort), opened(ask, cohort), cohort), **ANSWERS)
    settle()
    again = opened(ask, cohort)
    bring(again, cohort, "Ana of the field trip")
    assert len(live(reply)) == 2
    assert not any("Ana" in one.key for one in live(Stage.objects.get(pk=reply.pk)))  # no names in keys
