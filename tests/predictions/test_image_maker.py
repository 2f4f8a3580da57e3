"""Pictures made and edited by a server: in the answer or behind an address, and always looked at."""

import hashlib
import io
from collections.abc import Iterator

import pytest
from PIL import Image

from benchmarks.services.safe_fetch import FetchRefused, FetchResult
from predictions.backends.contract import CallError
from predictions.backends.image_generation import GenerationRefused, ImageMaker, fetch_image
from tests.predictions import model_server
from tests.predictions.model_server import Act, Rule, Server
from tests.predictions.scripted_replies import PIXEL


def png(colour: str = "teal", size: int = 40) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (size, size), colour).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def maker(scripted_server: Server) -> Iterator[ImageMaker]:
    one = ImageMaker(scripted_server.base_url, "sk-quiet", seconds=30)
    yield one
    one.close()


def test_a_picture_is_made_from_words(scripted_server: Server, maker: ImageMaker) -> None:
    made = maker.generate("A wedding in Egypt", "painter", size="512x512", count=2, seed=4)
    assert made.pictures == (PIXEL, PIXEL) and made.provider_id == "req-1"
    assert (made.tokens_in, made.tokens_out) == (7, 11)
    body = scripted_server.asked[0].body
    assert body == {"model": "painter", "prompt": "A wedding in Egypt", "n": 2, "seed": 4, "size": "512x512"}


def test_pictures_are_edited_by_words(scripted_server: Server, maker: ImageMaker) -> None:
    first, second = png("red"), png("blue")
    assert maker.edit("Make it night", [first], "painter").pictures == (PIXEL,)
    maker.edit("Join them", [first, second], "painter", mask=png())
    single, double = (asked.body for asked in scripted_server.asked)
    assert single["prompt"] == "Make it night" and single["image"] == [[len(first), hashlib.sha256(first).hexdigest()]]
    assert [size for size, _sha in double["image[]"]] == [len(first), len(second)] and "mask" in double


def test_an_address_in_the_answer_is_fetched(scripted_server: Server) -> None:
    asked: list[str] = []

    def fetch(url: str) -> FetchResult:
        asked.append(url)
        return FetchResult(png(), url)

    scripted_server.rules(Rule(Act(text="https://pictures.example.org/1.png")))
    maker = ImageMaker(scripted_server.base_url, fetch=fetch)
    assert maker.generate("x", "painter").pictures == (png(),)
    assert asked == ["https://pictures.example.org/1.png"]
    maker.close()


def test_an_address_in_our_own_network_is_not_fetched(scripted_server: Server, maker: ImageMaker) -> None:
    scripted_server.rules(Rule(Act(text="http://169.254.169.254/latest/meta-data")))
    with pytest.raises(CallError, match="private network") as failed:
        maker.generate("x", "painter")
    assert failed.value.trouble == "connection"
    with pytest.raises(FetchRefused):
        fetch_image(f"{scripted_server.base_url}/pixel.png")


@pytest.mark.parametrize(
    "raw", ['{"data": []}', '{"data": [{}]}', '{"data": [{"b64_json": "AAAA"}]}', '{"data": [{"b64_json": "#"}]}', "no"]
)
def test_what_is_no_picture_is_not_kept(scripted_server: Server, maker: ImageMaker, raw: str) -> None:
    scripted_server.rules(Rule(Act(raw=raw)))
    with pytest.raises(CallError) as failed:
        maker.generate("x", "painter")
    assert failed.value.trouble == "transient"


def test_a_bomb_is_no_picture(scripted_server: Server, maker: ImageMaker, settings: object) -> None:
    settings.IMAGE_MAX_PIXELS = 0  # type: ignore[attr-defined]
    with pytest.raises(CallError):
        maker.generate("x", "painter")


def test_trouble_has_its_class_and_a_filter_is_a_refusal(scripted_server: Server, maker: ImageMaker) -> None:
    for act, kind in ((model_server.TOO_MANY, "rate_limit"), (model_server.STUMBLES, "transient")):
        scripted_server.rules(Rule(act))
        with pytest.raises(CallError) as failed:
            maker.generate("x", "painter")
        assert failed.value.trouble == kind
    blocked = '{"error": {"code": "moderation_blocked", "message": "no"}}'
    scripted_server.rules(Rule(Act(status=400, raw=blocked)))
    with pytest.raises(GenerationRefused):
        maker.edit("x", [png()], "painter")
