"""The code of the how-to runs as it is written, one block after the other, against a live site."""

import re
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Campaign
from people.services import tokens
from tests.client.downloaded import check_sums
from tests.importing import draw_pictures
from tests.personas import World, draw_images
from tests.predictions.model_server import Server
from tests.predictions.request_helpers import an_endpoint
from tests.test_docs import ROOT

PAGE = ROOT / "docs" / "how-to" / "use-the-client.md"


@pytest.fixture
def token(world: World) -> str:
    from django.utils import timezone

    return tokens.create_token(world.mara, "notebook", timezone.now(), scopes=("write", "export"))[1]


def test_every_block_of_the_page_runs(
    world: World, campaign: Campaign, token: str, live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], worker: None, scripted_server: Server, many_requests: None,
) -> None:  # fmt: skip
    monkeypatch.setenv("EMIC_TOKEN", token)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pictures").mkdir()
    for name, data in draw_pictures(["a.png", "b.png"]).items():
        (tmp_path / "pictures" / name).write_bytes(data)
    (tmp_path / "captions.csv").write_text("img_file,Image ID\na.png,0001\nb.png,0002\n")
    draw_images(world.items)
    an_endpoint(world, scripted_server.base_url, {"scripted": {"in": "1", "out": "2"}}, name="Practice model")
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for block in blocks:
        text = (
            block.replace("https://emic.example.org", live_server.url)
            .replace('"breads"', f'"{world.benchmark.slug}"')
            .replace('"lab"', f'"{world.team.slug}"')
        )
        exec(compile(text, PAGE.name, "exec"), names)
    names["emic"].close()
    printed = capsys.readouterr().out
    assert len(blocks) >= 5 and "item-00000 Egypt R-" in printed and "colour This parameter is unknown" in printed
    assert "Import of captions.csv: Done, Added: 2" in printed and "Image ID is key" in printed
    assert "Brazil 0 of " in printed and "campaign.paused campaign:" in printed
    assert "webhook.test waiting []" in printed
    assert re.search(r"^\d+ units, \d+ requests, \{'low'", printed, re.MULTILINE) and re.search(
        r"^done 0\.\d+$", printed, re.MULTILINE
    )
    assert "ready {" in printed and check_sums(tmp_path / "breads-1.0.0") and list(tmp_path.glob("*.zip"))
    assert (tmp_path / "answers.jsonl").read_text().count("\n") == 8
