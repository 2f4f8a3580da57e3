"""What an analysis needs to be repeated: of each answer of a model its run, its prompt, the way it came, its cost."""

import csv
import io
import json
import zipfile
from decimal import Decimal
from typing import Any

import pytest

from predictions.models import Call
from predictions.prompts.reply_text import READING_VERSION
from predictions.services.runs.engine import retries
from tests.evaluation.data import give_ratings
from tests.personas import World
from tests.predictions.model_file_samples import import_file, jsonl, lm_eval, run_of, store_file
from tests.predictions.model_server import Server
from tests.predictions.request_helpers import Plainly, a_campaign, a_plan, an_endpoint, drive_run, start_run, use


def exported_rows(world: World, form: str) -> list[dict[str, Any]]:
    form_data = {"stage": world.stage.pk, "form": form}
    reply = world.client(world.owner).post(f"/b/{world.benchmark.slug}/export/", form_data)
    assert reply.status_code == 200, reply
    archive = zipfile.ZipFile(io.BytesIO(b"".join(reply)))  # type: ignore[call-overload]
    [name] = [one for one in archive.namelist() if one.rpartition("/")[2] == f"ratings.{form}"]
    text = archive.read(name).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text))) if form == "csv" else list(map(json.loads, text.splitlines()))


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_answers_of_models_say_how_they_were_got(
    world: World, scripted_server: Server, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    use(monkeypatch, Plainly())
    monkeypatch.setattr(retries, "BACKOFF", 0.02)
    campaign = a_campaign(world, 2)
    give_ratings(campaign, world.egypt, world.nour, {world.items[0]: "4"})
    endpoint = an_endpoint(world, scripted_server.base_url, {"scripted": {"in": "1", "out": "2"}})
    run = drive_run(start_run(world, a_plan(campaign, endpoint, Plainly(), revision="r9", repeats=2)))
    row = lm_eval({"id": world.items[0].key, "country": "Egypt"}, "5")
    file_run = run_of(import_file(world, campaign, store_file(jsonl([row])), model="filed", target="doc.country"))
    rows = exported_rows(world, form)
    asked = [one for one in rows if str(one["run"]) == str(run.pk)]
    assert sorted(str(one["repeat"]) for one in asked) == ["0", "0", "1", "1"]
    assert {(one["endpoint"], one["model"], one["prompt"], one["answer_method"]) for one in asked} == {
        ("Scripted", "scripted r9", "plainly/1", "text")
    }
    spent = sum(call.cost for call in Call.objects.filter(run=run))
    assert sum(Decimal(str(one["cost"])) for one in asked) == pytest.approx(spent) and spent > 0
    decoding = asked[0]["decoding"]
    assert (json.loads(decoding) if form == "csv" else decoding)["shuffled_by"] == 3
    assert (json.loads(asked[0]["reply_notes"]) if form == "csv" else asked[0]["reply_notes"])[
        "reading"
    ] == READING_VERSION
    [filed] = [one for one in rows if str(one["run"]) == str(file_run.pk)]
    assert (filed["rater"], filed["answer_method"], filed["prompt"] or "") == ("filed", "text", "")
    [person] = [one for one in rows if one["rater_kind"] == "person"]
    assert not filed["cost"] and not filed["decoding"], "nobody knows how a file's answers were decoded, nor their cost"
    assert not any(person[name] for name in ("run", "answer_method", "cost", "reply_notes", "decoding"))
