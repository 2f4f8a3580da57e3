import json
from benchmarks.models import Item
from tests.personas import World
from tests.releases.test_foreign_import import ForeignImporter, outcomes


def test_two_texts(world: World) -> None:
    data = json.dumps([{"id": n, "data": {"title": f"Title {n}", "text": f"Body {n}", "key": f"k{n}", "item_id": f"i{n}", "score": float("nan")}, "annotations": [
        {"id": n, "completed_by": 2, "result": [{"from_name": "kind", "type": "choices", "value": {"choices": ["a" if n % 2 else "b"]}}]}]} for n in range(1, 9)]).encode()
    importer = ForeignImporter(world, [("export.json", data)])
    job = importer.run([("export.json", data)])
    print(job.state, job.error, outcomes(job))
    for item in Item.objects.filter(stage=importer.stage)[:2]:
        print(item.key, repr(item.text), item.context)
    assert 0
