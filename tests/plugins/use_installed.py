"""Run by the Python of a fresh environment in which the example plugin is installed: what does Emic make of it?"""

import io
import json
import sys
import zipfile
from pathlib import Path

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import transaction  # noqa: E402

from benchmarks.models import Benchmark  # noqa: E402
from benchmarks.recipes.registry import recipe  # noqa: E402
from benchmarks.services.benchmarks import create_from_recipe  # noqa: E402
from papers import plugins  # noqa: E402
from predictions.prompts.contract import ImagePart, Question, Reply, Scene, SceneImage  # noqa: E402
from predictions.prompts.registry import prompt, prompts_for  # noqa: E402
from tests.evaluation.data import an_open_campaign, table  # noqa: E402
from tests.personas import make_world  # noqa: E402

settings.ALLOWED_HOSTS = ["testserver"]


def use() -> dict[str, object]:
    import emic_greetings

    world = make_world()
    benchmark = create_from_recipe(world.team, "greetings", "Greetings", "greetings-here", world.mara)
    world.add_items(4)
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe="greetings")
    table(an_open_campaign(world), world.egypt, world.items[:4], {world.nour: "1234", world.tarek: "1244"})
    client, at = world.client(world.mara), f"/b/{world.benchmark.slug}"
    page = client.get(f"{at}/tables/agreement/")
    export = client.post(f"{at}/export/", {"stage": world.stage.pk, "form": "jsonl"})
    with zipfile.ZipFile(io.BytesIO(b"".join(export.streaming_content))) as archive:  # type: ignore[attr-defined]
        name = next(one for one in archive.namelist() if one.endswith("records-greetings.jsonl"))
        records = [json.loads(line) for line in archive.read(name).splitlines()]
    question = Question("relevance", "How usual is this greeting in Egypt?", {}, tuple("12345"))
    scene = Scene("a", "Egypt", images=(SceneImage("image", "0" * 64, 9, 9),), questions=(question,))
    usual = prompt("greetings-usual", "1")
    asked = usual.ask(scene, 0)
    read = usual.read(scene, asked, [Reply("4")])
    return {
        "file": str(Path(emic_greetings.__file__).resolve()),
        "registered": [plugin.key for plugin in plugins.REGISTERED],
        "failures": [failure.message for failure in plugins.FAILURES],
        "stages": list(benchmark.stages.values_list("key", flat=True)),
        "summary": dict(recipe("greetings").summary),
        "page": page.status_code,
        "forms": {form: client.get(f"{at}/tables/agreement.{form}").status_code for form in ("csv", "json", "tex")},
        "table": client.get(f"{at}/tables/agreement.json").json(),
        "records": records,
        "offered": [one.key for one in prompts_for(scene, ["chat"])],
        "picture": any(isinstance(piece, ImagePart) for piece in asked.requests[0].messages[-1].pieces),
        "answers": dict(getattr(read, "answers", {})),
        "choose": "Greetings" in client.get("/benchmarks/new/").content.decode(),
    }


with transaction.atomic():
    result = use()
    transaction.set_rollback(True)
json.dump(result, sys.stdout)
