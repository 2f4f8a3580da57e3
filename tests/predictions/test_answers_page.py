"""The page that brings a model's answers: it recognises the file, shows what would come in, and asks only the rest."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Annotation, Campaign
from jobs.models import Job
from jobs.services import runner
from people.models import User
from predictions.models import Run
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.model_file_samples import inspect, jsonl, lm_eval, sample
from tests.predictions.test_coco_files import BOX, coco_box

URL = "/b/{}/predictions/answers/import/"
CODES = "12345"


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(5)
    campaign = an_open_campaign(world)
    give_ratings(campaign, world.egypt, world.nour, dict(zip(world.items, "12344", strict=True)))
    give_ratings(campaign, world.egypt, world.tarek, dict(zip(world.items, "11345", strict=True)))
    return campaign


def log(world: World) -> bytes:
    pairs = zip(world.items, CODES, strict=True)
    return jsonl([lm_eval({"n": n, "id": item.key, "country": "Egypt"}, code) for n, (item, code) in enumerate(pairs)])


def post_file(client: Client, world: World, campaign: Campaign, data: bytes, **more: Any) -> str:
    upload = SimpleUploadedFile("samples_rate.jsonl", data)
    reply = client.post(URL.format(world.benchmark.slug), {"campaign": campaign.pk, "file": upload, **more})
    assert reply.status_code == 200, reply.content.decode()[-3000:]
    return reply.content.decode()


def token(page: str) -> str:
    return re.search(r'name="sent" value="([^"]+)"', page)[1]  # type: ignore[index]


def begin_import(client: Client, world: World, page: str, **fields: str) -> Job:
    data = {"sent": token(page), "do": "begin", "model": "tiny", **fields}
    reply = client.post(URL.format(world.benchmark.slug), data)
    assert reply.status_code == 302, reply.content.decode()[-3000:]
    job = Job.objects.latest("pk")
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    return job


def test_a_log_is_recognised_and_asks_only_what_it_does_not_say(world: World, campaign: Campaign) -> None:
    client = world.client(world.mara)
    page = post_file(client, world, campaign, log(world))
    assert "Read as lm-eval / lmms-eval" in page and page.count("relevance</bdi>: <b>") == 5
    for asked in ("key", "field", "only", "rater"):
        assert f'name="{asked}"' not in page, f"{asked} has one possible answer"
    assert not Annotation.objects.filter(rater__kind="model").exists() and not Run.objects.exists()
    begin_import(client, world, page)
    [line] = json.loads(client.get(f"/b/{world.benchmark.slug}/models.json").content)["models"]
    assert (line["model"], line["answered"]["value"]) == ("tiny", 1.0)
    assert line["overall"]["value"] > 0.9 and line["overall"]["n_units"] == 5


def test_two_filters_are_asked_and_the_preview_follows(world: World, campaign: Campaign) -> None:
    client = world.client(world.mara)
    pairs = [(item.key, code) for item, code in zip(world.items, CODES, strict=True)]
    rows = [
        lm_eval({"id": key, "country": "Egypt"}, f"{code} surely", filtered=got or code, filter_=name)
        for name, got in (("strict", "[invalid]"), ("digits", ""))
        for key, code in pairs
    ]
    page = post_file(client, world, campaign, jsonl(rows))
    assert 'name="only"' in page and page.count("no answer") == 5
    again = client.post(URL.format(world.benchmark.slug), {"sent": token(page), "do": "look", "only": "digits"})
    assert again.status_code == 200 and again.content.decode().count("relevance</bdi>: <b>") == 5
    begin_import(client, world, page, only="digits")
    assert Annotation.objects.filter(rater__name="tiny", live=True).count() == 5


def test_ratings_table_and_inspect_log_are_compared_with_people(world: World, campaign: Campaign) -> None:
    client = world.client(world.mara)
    rows = [f"{item.key},Egypt,gpt,relevance,{code}" for item, code in zip(world.items, CODES, strict=True)]
    page = post_file(client, world, campaign, "\n".join(["item,cohort,rater,field,code", *rows]).encode())
    assert 'value="gpt"' in page, "the file says which model it is"
    begin_import(client, world, page, model="gpt")
    pairs = zip(world.items, CODES[::-1], strict=True)
    samples = [sample(item.key, code, answer=code, metadata={"country": "Egypt"}) for item, code in pairs]
    page = post_file(client, world, campaign, inspect(samples))
    assert 'value="openai/tiny"' in page and "Read as Inspect" in page
    begin_import(client, world, page, model="openai/tiny", key="id")
    read = json.loads(client.get(f"/b/{world.benchmark.slug}/models.json").content)["models"]
    assert [line["model"] for line in read] == ["gpt", "openai/tiny"]
    assert read[0]["overall"]["value"] > 0.9 and read[1]["overall"]["value"] < -0.9
    both = json.loads(client.get(f"/b/{world.benchmark.slug}/agreement.json?raters=both").content)
    people = json.loads(client.get(f"/b/{world.benchmark.slug}/agreement.json").content)
    counted = [[cell["rated"]["n_ratings"] for row in one["rows"] for cell in row["cells"]] for one in (both, people)]
    assert sum(counted[0]) == 20 and sum(counted[1]) == 10, "two models beside two people"
    judge = client.get(f"/b/{world.benchmark.slug}/judge.json").content
    assert json.loads(judge)["judge"]["model"] == "gpt"


def test_of_several_cultures_none_is_taken_for_granted(world: World) -> None:
    world.add_items(4)  # of Egypt and Brazil by turns
    campaign = an_open_campaign(world)
    client = world.client(world.mara)
    silent = jsonl([lm_eval({"id": item.key}, "4") for item in world.items])
    page = post_file(client, world, campaign, silent)
    assert 'name="target"' in page
    refused = client.post(URL.format(world.benchmark.slug), {"sent": token(page), "do": "begin", "model": "tiny"})
    assert (
        refused.status_code == 400
        and "Choose the target culture" in refused.content.decode()
        and not Job.objects.exists()
    )
    begin_import(client, world, page, target="=Brazil")
    assert set(Run.objects.get().calls.values_list("unit__target", flat=True)) == {"Brazil"}
    countries = ["Brazil", "Brazil", "Mars", "Egypt"]
    pairs = zip(world.items, countries, strict=True)
    page = post_file(
        client, world, campaign, jsonl([lm_eval({"id": item.key, "country": at}, "2") for item, at in pairs])
    )
    assert "Its culture, “Mars”, is none that is asked about" in page, "and not put to the item's own"
    job = begin_import(client, world, page, model="other")
    there = Run.objects.latest("pk").calls.order_by("item__key").values_list("unit__target", flat=True)
    assert list(there) == ["Brazil", "Brazil", "Egypt"] and job.rows.get(number=3).reason == "no_target"


def test_the_setting_that_a_table_names_is_kept(world: World, campaign: Campaign) -> None:
    client = world.client(world.mara)
    rows = [f"{item.key},Egypt,gpt,csv,relevance,{code}" for item, code in zip(world.items, CODES, strict=True)]
    head = "item,cohort,rater,setting,field,code"
    page = post_file(client, world, campaign, "\n".join([head, *rows]).encode())
    assert re.search(r'name="setting"[^>]*value="csv"|value="csv"[^>]*name="setting"', page)
    more = [one.replace(",csv,", ",main,") for one in rows[:2]]
    page = post_file(client, world, campaign, "\n".join([head, *rows, *more]).encode())
    assert 'name="of_setting"' in page, "two settings are two runs"
    begin_import(client, world, page, model="gpt", of_setting="main")
    run = Run.objects.get()
    assert (run.rater.setting, run.calls.count()) == ("main", 2)


def test_detections_are_recognised(world: World) -> None:
    stage = world.stage
    stage.sheet, stage.has_target, stage.own_items_only = {"fields": [BOX]}, True, True
    stage.save()
    world.add_items(2, images=True)
    stage.items.update(origin="Egypt")
    campaign = an_open_campaign(world)
    client = world.client(world.mara)
    page = post_file(client, world, campaign, json.dumps([coco_box(world.items[0].key, 0, 0, 32, 24)]).encode())
    assert "Read as COCO" in page and world.items[0].key in page
    begin_import(client, world, page)
    assert Annotation.objects.get(live=True, rater__kind="model").answers["box"][0]["x1"] == 0.1


def test_another_persons_file_cannot_be_begun_with(world: World, campaign: Campaign) -> None:
    page = post_file(world.client(world.mara), world, campaign, log(world))
    reply = world.client(world.owner).post(
        URL.format(world.benchmark.slug), {"sent": token(page), "do": "begin", "model": "x"}
    )
    assert reply.status_code == 302 and not Job.objects.exists()
    forged = world.client(world.mara).post(URL.format(world.benchmark.slug), {"sent": "x:y", "do": "begin"})
    assert forged.status_code == 302 and not Job.objects.exists()


@pytest.mark.parametrize("who", ["nour", "stranger", "rival", "reviewer", "manager"])
def test_who_does_not_work_on_it_finds_no_such_page(world: World, campaign: Campaign, who: str) -> None:
    user: User = getattr(world, who)
    assert world.client(user).get(URL.format(world.benchmark.slug)).status_code == 404
    assert world.client(world.mara).get(URL.format(world.benchmark.slug)).status_code == 200


def test_a_file_that_is_nothing_of_it_says_so(world: World, campaign: Campaign) -> None:
    upload = SimpleUploadedFile("x.csv", b"a,b\n1,2\n")
    reply = world.client(world.mara).post(URL.format(world.benchmark.slug), {"campaign": campaign.pk, "file": upload})
    assert reply.status_code == 400 and "one of them must be" in reply.content.decode()


def test_what_a_table_says_is_shown_and_an_item_that_is_not_here_leads_to_no_box(
    world: World, campaign: Campaign
) -> None:
    client = world.client(world.mara)
    rows = [(world.items[0].key, "4"), ("nowhere", "2")]
    data = "item,cohort,rater,rater_kind,field,code\n" + "".join(
        f"{key},Egypt,tiny,model,relevance,{code}\n" for key, code in rows
    )
    page = post_file(client, world, campaign, data.encode())
    assert '<span dir="auto">relevance: 4</span>' in page
    assert "There is no item “nowhere” in this stage." in page and "Create missing items" not in page
    job = begin_import(client, world, page)
    assert "Import the items first, then this file." in job.rows.get(number=3).message


def test_a_file_of_which_no_row_can_be_read_is_not_brought_in(world: World, campaign: Campaign) -> None:
    client = world.client(world.mara)
    page = post_file(client, world, campaign, b"{not json\n")
    assert "No row of this file can be read" in page and 'value="begin"' not in page
    assert 'value="begin"' in post_file(client, world, campaign, log(world))


def test_the_run_that_stands_in_the_way_is_led_to(world: World, campaign: Campaign) -> None:
    client = world.client(world.mara)
    first = begin_import(client, world, post_file(client, world, campaign, log(world)), target="doc.country")
    page = post_file(client, world, campaign, log(world).replace(b'"1"', b'"2"'))
    assert "View existing run" not in page
    fields = {"sent": token(page), "do": "begin", "model": "tiny", "target": "doc.country"}
    refused = client.post(URL.format(world.benchmark.slug), fields).content.decode()
    run = Run.objects.get(pk=first.params["run"])
    assert "Withdraw it first" in refused and f'/predictions/run/{run.pk}/">View existing run' in refused
