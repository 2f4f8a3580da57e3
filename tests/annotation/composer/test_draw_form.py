"""A stage of drawn items, composed through its form: what may be chosen, and how many items result."""

import pytest

from benchmarks.models import Stage
from benchmarks.services.intake import filter_versions
from jobs.services import runner
from tests.annotation.chain.factories import ANSWER, a_stage, process_derivations
from tests.annotation.composer.test_pages import post_form
from tests.importing import lines, upload
from tests.personas import World

pytestmark = pytest.mark.django_db
SCORE = {"key": "score", "kind": "fact", "params": {"key": "clip_score", "least": 23}}


def test_labels_for_a_limit_are_drawn_by_the_form(world: World) -> None:
    candidates = a_stage(world.benchmark, "candidates", ANSWER, display="words", pictures="none")
    job = filter_versions.set_filters(candidates, [SCORE], None)
    assert job is not None
    runner.run(job.pk)
    rows = [
        {"key": f"c{n}", "text": f"Text {n}", "country": "Egypt", "rank": n, "fact.clip_score": 15 + n}
        for n in range(12)
    ]
    client, start = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/"
    upload(client, candidates, lines(*rows))
    client.post(start, {"name": "Labels", "like": ""})
    stage = Stage.objects.get(name="Labels")
    url = f"{start}{stage.pk}/"
    post_form(client, url, "field:choice")
    choice = {"s:display": "words", "s:pictures": "none", "w:sheet.fields[0].label.en": "Is it relevant?"}
    post_form(client, url, "save", change={**choice, "s:derivation.kind": "sample"})
    post_form(client, url, "save", change={"m:derivation.from": "candidates"})
    post_form(client, url, "save", change={"s:derivation.of": "kept"})
    page = client.get(url).content.decode()
    for text in (
        'value="item.context.rank"', "its “rank” (0)", "its fact “clip_score” (15", "clip_score: At least 23",
        "Spread over bins", "4 items result from what is accepted now.",
    ):  # fmt: skip
        assert text in page, text
    bins = {"i:derivation.params.n": "6", "s:derivation.params.strata.fact": "clip_score"}
    post_form(client, url, "save", change={**bins, "s:derivation.without": "score"})
    assert "6 items result from what is accepted now." in client.get(url).content.decode()
    assert post_form(client, url, "publish").status_code == 302
    stage.refresh_from_db()
    assert stage.derivation["without"] == "score"
    assert stage.derivation["params"]["strata"] == {"fact": "clip_score", "bins": 4}
    process_derivations()
    scores = [int(key[1:]) // 3 for key in stage.items.values_list("key", flat=True)]
    assert sorted(scores) == [0, 0, 1, 1, 2, 3], "of each quarter of the scores, on both sides of the limit"
