"""A run out of a file that is withdrawn while its file comes in."""

import threading

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import Rating
from jobs.models import Job, JobRow
from predictions.models import Run
from predictions.services.files import answer_import
from predictions.services.runs import answer_runs
from tests.evaluation.data import an_open_campaign
from tests.personas import World
from tests.predictions.model_file_samples import import_file, jsonl, lm_eval, store_file

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_run_withdrawn_amid_a_step_counts_none_of_its_answers(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add_items(6)
    campaign, taken, threads = an_open_campaign(world), answer_import.import_batch, []

    def withdraw(run: Run) -> None:
        try:
            answer_runs.withdraw(run, world.mara, timezone.now())
        finally:
            connection.close()

    def import_and_withdraw(run: Run, *step: object) -> list[JobRow]:
        rows = taken(run, *step)  # type: ignore[arg-type]
        threads.append(threading.Thread(target=withdraw, args=(run,)))
        threads[-1].start()
        threads[-1].join(1)
        return rows

    monkeypatch.setattr(answer_import, "STEP", 3)
    monkeypatch.setattr(answer_import, "import_batch", import_and_withdraw)
    samples = [lm_eval({"id": item.key, "country": "Egypt"}, "4", number=n) for n, item in enumerate(world.items)]
    job = import_file(world, campaign, store_file(jsonl(samples)), target="doc.country")
    for thread in threads:
        thread.join(30)
    assert Run.objects.get(pk=job.params["run"]).withdrawn_at is not None
    assert not Rating.objects.filter(campaign=campaign, rater__kind="model", counted=True).exists()
    assert job.state == Job.State.FAILED and "withdrawn meanwhile" in job.error
