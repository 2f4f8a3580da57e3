"""Answers that a release withholds: after an import they are called withheld, and not missing."""

from annotation.models import Campaign
from benchmarks.models import Benchmark, Item
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.releases.import_steps import archive_of, run, start, start_later
from tests.releases.release_steps import built

SPLIT = {"train": 50, "test": 50, "seed": 3, "group_by": "item", "pictures": "names", "formats": ["jsonl"]}


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(40)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1234" * 5, world.tarek: "12.5" * 5})
    return campaign


def test_withheld_answers_are_a_state_of_items_with_a_count_and_end_with_a_later_version(
    world: World, campaign: Campaign
) -> None:
    release = built(world, **SPLIT, withhold="on")
    job = run(start(archive_of(release, world.owner), world.other_team, world.rival, slug="copy", name="Copy"))
    assert job.state == "done" and not job.rows.filter(outcome="error").exists(), job.error
    copy = Benchmark.objects.get(slug="copy")
    items = Item.objects.filter(stage__benchmark=copy)
    withheld = set(items.filter(answers_withheld=True).values_list("key", flat=True))
    assert withheld == set(release.items.filter(split="test").values_list("item__key", flat=True)) != set()
    assert not Item.objects.filter(stage=world.stage, answers_withheld=True).exists()

    client = world.client(world.rival)
    listed = client.get("/b/copy/items/?state=withheld&view=list").content.decode()
    assert all((f">{key}<" in listed) == (key in withheld) for key in items.values_list("key", flat=True))
    assert listed.count(">withheld</td>") == len(withheld) and "Answers withheld" in listed
    empty = client.get("/b/copy/items/?state=unanswered&view=list").content.decode()
    assert not [key for key in withheld if f">{key}<" in empty]
    one = items.filter(key__in=withheld)[0]
    assert "has answers to it, which are withheld" in client.get(f"/b/copy/items/{one.pk}/").content.decode()
    sentence = f"The answers to {len(withheld)} items of the stage “{world.stage.name}” are withheld"
    for page in ("agreement/", "tables/all-questions/"):
        reply = client.get(f"/b/copy/{page}")
        assert reply.status_code == 200 and sentence in reply.content.decode(), page
    own = world.client(world.mara).get(f"/b/{world.benchmark.slug}/items/").content.decode()
    assert "Answers withheld" not in own, "only an imported benchmark has them"

    whole = built(world, version="1.1.0", **SPLIT)
    job = run(start_later(copy, world.rival, archive_of(whole, world.owner)))
    assert job.state == "done", job.error
    assert not items.filter(answers_withheld=True).exists()
    assert sentence not in client.get("/b/copy/agreement/").content.decode()
