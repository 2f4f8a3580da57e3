"""Where a page has nothing to show, it says what to do next, with links to it; and a page of models opens where models
have answered."""

import pytest
from django.utils import timezone

from annotation.models import Rating
from annotation.services.campaigns import lifecycle
from evaluation.selections.catalogue import catalogue_of
from people.models import User
from predictions.services.files import answer_import
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.evaluation.sample_tables import model, store_answers
from tests.evaluation.test_tables_caire import Study as Caire
from tests.evaluation.test_tables_culturalvqa import Study as Vqa
from tests.personas import World
from tests.predictions.model_file_samples import import_file, jsonl, lm_eval, store_file

pytestmark = pytest.mark.django_db


def read(world: World, path: str, user: User | None = None) -> str:
    reply = world.client(user or world.owner).get(path)
    assert reply.status_code == 200, path
    text: str = reply.content.decode()
    return text


@pytest.mark.parametrize("rest", ["agreement/", "agreement/live/"])
def test_a_campaign_without_ratings_says_what_to_do_next(world: World, rest: str) -> None:
    world.add_items(2)
    campaign = an_open_campaign(world)
    path, at = f"/b/{world.benchmark.slug}/{rest}", f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/"
    ways = ["View campaign progress", "Open another campaign", f'href="{at}answers/import/"', f'href="{at}"']
    invite = f"/cohorts/{world.egypt.pk}/invite"
    page = read(world, path)
    assert "They appear here as they arrive." in page
    assert all(way in page for way in ways)
    assert invite not in page, "who may not invite is sent to no door that stays shut"
    page = read(world, path, world.team_admin)
    assert invite in page and "Invite people to <bdi>Egypt</bdi>" in page
    assert world.client(world.team_admin).get(invite).status_code == 200
    give_ratings(campaign, world.egypt, world.nour, {world.items[0]: "3"})
    assert "They appear here as they arrive" not in read(world, path, world.team_admin)


def test_models_and_judge_open_where_a_model_has_answered(world: World) -> None:
    study = Vqa(world)
    study.answers()
    first, *_rest = catalogue_of(study.benchmark).stages
    assert first.key == "answers"
    slug = study.benchmark.slug
    for name in ("models", "judge"):
        report = world.client(world.owner).get(f"/b/{slug}/{name}.json").json()
        assert report["selection"]["stage"] == "answers", "no model has answered anywhere: the first stage"
    study.lave()
    for name in ("models", "judge"):
        report = world.client(world.owner).get(f"/b/{slug}/{name}.json").json()
        assert report["selection"]["stage"] == "lave"
        assert 'value="lave" selected' in read(world, f"/b/{slug}/{name}/")
        report = world.client(world.owner).get(f"/b/{slug}/{name}.json?stage=answers").json()
        assert report["selection"]["stage"] == "answers", "what the address names is shown"


def test_an_import_leads_to_the_stage_that_it_answered(world: World) -> None:
    world.add_items(1)
    campaign = an_open_campaign(world)
    [item] = world.items
    file = store_file(jsonl([lm_eval({"id": item.key, "country": "Egypt"}, "4")]))
    way = answer_import.next_link(import_file(world, campaign, file, target="doc.country"))
    assert way is not None and way.url == f"/b/{world.benchmark.slug}/models/?stage={world.stage.key}"
    assert "tiny-vlm" in read(world, way.url)


def test_judge_without_people_links_to_the_table_with_both(world: World) -> None:
    study = Vqa(world)
    study.lave("Brazil")
    path, table = f"/b/{study.benchmark.slug}/judge/?stage=lave", f"/b/{study.benchmark.slug}/tables/judge/"
    page = read(world, path)
    assert table not in page, "without verdicts of people there is no such table"
    item = study.item("model-answers", "q1/GPT-4", "q1", model="GPT-4", candidate="x")
    campaign = study.open("model-answers", "Brazil")
    study.answer(campaign, 0, item, {"verdict": "1"})
    page = read(world, path)
    assert table in page and "The judge compared with people" in page
    assert "No value:" not in page
    assert world.client(world.owner).get(table).status_code == 200


def test_a_table_that_lacks_a_model_leads_to_a_run_and_to_the_import(world: World) -> None:
    study = Caire(world)
    slug, pk = study.benchmark.slug, study.campaign.pk
    run, bring = f"/b/{slug}/predictions/run/new/?campaign={pk}", f"/b/{slug}/campaigns/{pk}/answers/import/"
    listed = read(world, f"/b/{slug}/tables/")
    page = read(world, f"/b/{slug}/tables/table-2/")
    for text in (listed, page):
        assert f'href="{run}"' in text and f'href="{bring}"' in text
    assert "Run a model" in page and "Import answers" in page
    study.score("Keen", {"a": (5, 2, 1), "b": (1, 5, 3), "c": (1, 2, 5), "d": (3, 3, 2)})
    assert run not in read(world, f"/b/{slug}/tables/table-2/")


def test_a_table_that_lacks_people_leads_to_no_run(world: World) -> None:
    study = Caire(world)
    Rating.objects.all().delete()
    slug, pk = study.benchmark.slug, study.campaign.pk
    store_answers(study.campaign, model(world.team, "Keen"), {(study.items["a"], "Egypt"): "3"})
    page = read(world, f"/b/{slug}/tables/table-2/")
    assert "These pictures have no ratings yet." in page
    assert f"/b/{slug}/campaigns/{pk}/answers/import/" in page and "Run a model" not in page


def test_a_closed_campaign_without_ratings_says_so_too(world: World) -> None:
    world.add_items(2)
    campaign = an_open_campaign(world)
    lifecycle.close(campaign, world.owner, timezone.now())
    assert "Open another campaign" in read(world, f"/b/{world.benchmark.slug}/agreement/")
