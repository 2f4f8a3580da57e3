"""An export that comes back into the same benchmark: the same people said the same, so nothing new follows."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation import tasks
from annotation.models import Campaign, ItemContributor, Slot
from annotation.services.derivation import intake_changes
from annotation.services.files import answer_files
from benchmarks.imports.records import Defaults
from benchmarks.models import Stage
from benchmarks.services import imports
from jobs.services import runner
from people.models import Cohort, User
from tests.annotation.chain.factories import (
    ANSWER,
    a_benchmark,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    create_question_stages,
    items,
    live_items,
    process_derivations,
)
from tests.annotation.queue.factories import a_cohort, a_person

pytestmark = pytest.mark.django_db
ANSWERS = {"question": "What is it?", "answer": "Tea"}
ALWAYS = {"clauses": [{"key": "any", "expression": 'answer == "Tea"', "words": {"en": "Tea"}}], "over": "majority"}


def import_answers(campaign: Campaign, cohort: Cohort, rater: str) -> None:
    row: dict[str, Any] = {"item": "ask-000", "rater": rater, "cohort": cohort.label, "answers": ANSWERS}
    job = answer_files.start(campaign, None, SimpleUploadedFile("a.jsonl", json.dumps(row).encode()))  # type: ignore[arg-type]
    runner.run(job.pk)
    assert list(job.rows.values_list("outcome", flat=True)) == ["created"]
    process_derivations()


@pytest.mark.parametrize("acceptance", ["on_submit", "by_rule"])
def test_what_comes_back_makes_no_second_item_and_its_author_is_not_asked(acceptance: str) -> None:
    ask, reply, cohort = create_question_stages(
        acceptance, **({"acceptance_rule": ALWAYS} if acceptance == "by_rule" else {})
    )
    writer = a_person(cohort)
    answer(claim_sheet(writer, create_open_campaign(ask, cohort), cohort), **ANSWERS)
    process_derivations()
    [item] = live_items(reply)
    import_answers(create_open_campaign(ask, cohort), cohort, ask.benchmark.pseudonym(writer.pk))
    assert live_items(reply) == [item]
    assert ItemContributor.objects.filter(item=item, rater=writer).exists()
    assert claim_sheet(writer, create_open_campaign(reply, cohort), cohort) is None


def test_imported_answer_of_another_person_is_a_separate_item() -> None:
    ask, reply, cohort = create_question_stages()
    answer(claim_sheet(a_person(cohort), create_open_campaign(ask, cohort), cohort), **ANSWERS)
    process_derivations()
    again = create_open_campaign(ask, cohort)
    import_answers(again, cohort, "Ana of the field trip")
    assert len(live_items(reply)) == 2
    assert not any("Ana" in one.key for one in live_items(Stage.objects.get(pk=reply.pk)))  # no names in keys


def test_open_campaigns_and_later_stages_have_what_was_imported_once_the_import_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not a minute later, when the beat comes round; of what was refused there is nothing."""
    sent: list[str] = []
    monkeypatch.setattr(intake_changes, "dispatch", sent.append)
    benchmark, user = a_benchmark(), User.objects.create(email="researcher@example.org", name="R")
    words = {"display": "words", "pictures": "none"}
    first = a_stage(benchmark, "first", ANSWER, **words)
    handed_on = {"kind": "promote", "from": ["first"], "of": "items", "params": {"text": "item.text"}}
    second = a_stage(benchmark, "second", ANSWER, derivation=handed_on, **words)
    items(first, 1, text="Rain")
    cohort = a_cohort(benchmark.team)
    for stage in (first, second):
        create_open_campaign(stage, cohort)
    rows = b'{"key": "a", "text": "Tea"}\n{"key": "a", "text": "Coffee"}\n'
    manifest = SimpleUploadedFile("rows.jsonl", rows)
    job = imports.start_upload(first, user, archive=None, manifest=manifest, defaults=Defaults())
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done" and sent == ["annotation.derive_unnoticed", "annotation.fill_open_campaigns"]
    tasks.derive_unnoticed()
    tasks.fill_open_campaigns()
    assert sorted(Slot.objects.values_list("unit__item__stage__key", "unit__item__text")) == [
        ("first", "Rain"), ("first", "Tea"), ("second", "Rain"), ("second", "Tea"),
    ]  # fmt: skip
