"""A chain of questions, answers of people and models to them, and a stage that judges the answers."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from annotation.fields.contract import Shown
from annotation.models import Unit
from annotation.services.answers import model_answers
from annotation.services.answers.model_answers import AnswerDestination, ModelAnswer
from annotation.services.derivation import stage_inputs
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Benchmark, Item, Stage
from people.models import Consent, ConsentVersion, Rater, User
from tests.annotation.chain.factories import (
    ASKED,
    GOOD,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    create_question_stages,
    live_items,
    process_derivations,
)
from tests.annotation.queue.factories import a_person

TO_REPLY = {**ASKED, "params": {"text": "question", "context": {"asker_answer": "answer"}}}


def judging(**params: Any) -> dict[str, Any]:
    return {"kind": "verdicts", "from": ["reply"], "params": {"field": "answer", **params}}


class Scene:
    """Questions of one writer, `target` answers to each by others, and a stage that judges these."""

    def __init__(
        self,
        questions: int = 1,
        target: int = 3,
        staffing: str = "not_own",
        benchmark: Benchmark | None = None,
        **params: Any,
    ) -> None:
        self.ask, self.reply, self.cohort = create_question_stages(pictures=questions, benchmark=benchmark)
        Stage.objects.filter(pk=self.reply.pk).update(derivation=TO_REPLY)
        self.judge = a_stage(
            self.ask.benchmark, "judge", GOOD, derivation=judging(**params), display="words", pictures="none",
            staffing=staffing,
        )  # fmt: skip
        self.asking = create_open_campaign(self.ask, self.cohort)
        self.writer = self.person()
        for n in range(questions):
            answer(claim_sheet(self.writer, self.asking, self.cohort), question=f"{n}?", answer="Asked tea")
        process_derivations()
        self.replying = create_open_campaign(self.reply, self.cohort, target=target)
        self.questions = live_items(self.reply)
        self.boss = User.objects.create(email=f"boss{self.ask.pk}@example.org", name="B")

    def person(self) -> Rater:
        """Somebody of the cohort, who gave consent where the team asks for it."""
        person = a_person(self.cohort)
        for version in ConsentVersion.objects.filter(team=self.cohort.team_id):
            Consent.objects.create(user=person.user, version=version, language="en")
        return person

    def people_answer(self, count: int = 3) -> list[Rater]:
        people = [self.person() for _n in range(count)]
        for number, person in enumerate(people):
            while work := claim_sheet(person, self.replying, self.cohort):
                answer(work, answer=f"Tea {number}")
        return people

    def model_answers(self, name: str, run: int, texts: Mapping[int, str] | None = None, repeat: int = 0) -> Rater:
        """A model answers questions (all, or those at these places) in a run, as the engine writes them."""
        rater, _new = Rater.objects.get_or_create(kind="model", team=self.ask.benchmark.team, name=name, setting="vlm")
        places = dict.fromkeys(range(len(self.questions)), f"{name} says") if texts is None else texts
        sheet, now, answers = sheet_of(self.replying.sheet_version), timezone.now(), []
        for place, text in places.items():
            unit, _new = Unit.objects.get_or_create(item=self.questions[place], target="")
            parsed = sheet.parse({"answer": text}, Shown(unit.item_id))
            key = f"run:{run}:{unit.pk}{repeat}:"
            answers.append(ModelAnswer(unit.pk, unit.item_id, repeat, key, parsed, now, now, run))
        model_answers.write(AnswerDestination.of(self.replying, rater), answers, now)
        return rater

    def choose(self, *runs: tuple[Rater, int], chosen: bool = True) -> None:
        choices = {(rater.pk, run): chosen for rater, run in runs}
        stage_inputs.choose_runs(self.judge, choices, self.boss, timezone.now())
        process_derivations()

    def judged(self) -> list[Item]:
        process_derivations()
        return live_items(self.judge)
