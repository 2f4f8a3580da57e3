"""A reply is used again when, and only when, the very same thing would be asked."""

import hashlib
import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image as Pillow

from benchmarks.images import pictures
from benchmarks.models import Image
from benchmarks.services import storage
from predictions.backends.contract import Decoding
from predictions.prompts.contract import ImagePart, Message, Request, TextPart
from predictions.requests import preprocessing
from predictions.requests.keys import RequestIdentity, answer_methods, request_key, sent_request_json
from predictions.requests.preprocessing import bytes_of, digest_of

REQUEST_IDENTITY = RequestIdentity(
    7, "https://models.example.org/v1", "qwen", "main", "caire", "1", Decoding(), ("logprobs", "schema")
)
SHA = "ab" * 32
SCHEMA = {"type": "object", "properties": {"reason": {"type": "string"}, "score": {"enum": ["1", "2"]}}}
REQUEST = Request(
    messages=(Message("user", (TextPart("How relevant?"), ImagePart(SHA))),),
    ways=("logprobs", "schema", "text"),
    choices=("1", "2"),
    schema=SCHEMA,
)


def key(
    request: Request = REQUEST,
    identity: RequestIdentity = REQUEST_IDENTITY,
    repeat: int = 0,
    part: int = 0,
    sent: str = "s1",
) -> str:
    return request_key(request, identity, repeat=repeat, part=part, digest=lambda sha: sent + sha)


def test_nothing_changed_is_the_same_key() -> None:
    again = Request(**{name: getattr(REQUEST, name) for name in REQUEST.__dataclass_fields__})
    assert key() == key(again) and len(key()) == 64
    assert key() == key(identity=replace(REQUEST_IDENTITY, base_url="https://models.example.org/v1/"))


def changed_key(**how: Any) -> str:
    return key(replace(REQUEST, **how))


def key_of_identity(**how: Any) -> str:
    return key(identity=replace(REQUEST_IDENTITY, **how))


def one_message(*pieces: TextPart | ImagePart, role: Any = "user") -> tuple[Message, ...]:
    return (Message(role, pieces),)


CHANGES = {
    "the model": key_of_identity(model="llama"),
    "its revision": key_of_identity(revision="v2"),
    "the endpoint": key_of_identity(endpoint=8),
    "the address": key_of_identity(base_url="https://other.example.org/v1"),
    "the prompt": key_of_identity(prompt="lave"),
    "its version": key_of_identity(prompt_version="2"),
    "a byte of the image": key(sent="s2"),
    "another image": changed_key(messages=one_message(TextPart("How relevant?"), ImagePart("cd" * 32))),
    "the words": changed_key(messages=one_message(TextPart("How relevant!"), ImagePart(SHA))),
    "the order": changed_key(messages=one_message(ImagePart(SHA), TextPart("How relevant?"))),
    "who says it": changed_key(messages=one_message(TextPart("How relevant?"), ImagePart(SHA), role="system")),
    "where a text is cut": changed_key(messages=one_message(TextPart("How "), TextPart("relevant?"), ImagePart(SHA))),
    "the schema": changed_key(schema={**SCHEMA, "title": "x"}),
    "the order of its properties": changed_key(
        schema={**SCHEMA, "properties": dict(reversed(list(SCHEMA["properties"].items())))}  # type: ignore[attr-defined]
    ),
    "the choices": changed_key(choices=("1", "2", "3")),
    "the temperature": key_of_identity(decoding=Decoding(temperature=0.7)),
    "top p": key_of_identity(decoding=Decoding(top_p=0.9)),
    "the tokens of the prompt": changed_key(max_tokens=64),
    "the tokens of the run": key_of_identity(decoding=Decoding(max_tokens=65)),
    "the way": key_of_identity(offers=("schema",)),
    "the ways left": key_of_identity(decoding=Decoding(ways=("logprobs",))),
    "the kind": changed_key(kind="continuation"),
    "the continuation": changed_key(kind="continuation", continuation=" Cairo"),
    "the texts": changed_key(kind="probe", texts=("a", "b"), image=SHA),
    "the texts' order": changed_key(kind="probe", texts=("b", "a"), image=SHA),
    "the repeat": key(repeat=1),
    "the part": key(part=1),
}


def test_every_change_is_another_key() -> None:
    keys = {key(): "nothing", **{value: what for what, value in CHANGES.items()}}
    assert len(keys) == len(CHANGES) + 1, f"some share a key; apart: {sorted(keys.values())}"


def test_a_seed_counts_where_it_is_sent() -> None:
    seeded = Decoding(seed=5)
    assert key_of_identity(decoding=seeded) == key(), "an endpoint that takes no seed is asked the same"
    offers = (*REQUEST_IDENTITY.offers, "seed")
    assert key_of_identity(decoding=seeded, offers=offers) != key_of_identity(offers=offers)


def test_what_makes_no_difference_to_the_server_makes_none_to_the_key() -> None:
    assert key_of_identity(offers=("logprobs", "schema", "continuation")) == key()
    assert key_of_identity(decoding=Decoding(ways=("text", "schema", "logprobs"))) == key(), (
        "the order of preference is the prompt's"
    )
    assert key_of_identity(decoding=Decoding(max_tokens=512)) == key(), "as many as the prompt takes anyhow"


def test_ways_are_the_prompts_that_the_endpoint_offers() -> None:
    assert answer_methods(REQUEST, REQUEST_IDENTITY) == ("logprobs", "schema", "text")
    assert answer_methods(replace(REQUEST, choices=()), REQUEST_IDENTITY) == ("schema", "text")
    assert answer_methods(REQUEST, replace(REQUEST_IDENTITY, offers=())) == ("text",)
    assert answer_methods(REQUEST, replace(REQUEST_IDENTITY, offers=(), decoding=Decoding(ways=("schema",)))) == ()


def test_what_is_kept_of_a_request_names_images_by_sha_and_by_what_was_sent() -> None:
    request_json = sent_request_json(REQUEST, lambda sha: "digest")
    assert request_json["messages"] == [
        {"role": "user", "pieces": [{"text": "How relevant?"}, {"image": SHA, "sent": "digest"}]}
    ]
    assert "texts" not in request_json and "image" not in request_json


def store_picture(picture: Pillow.Image, form: str = "PNG", **how: Any) -> str:
    out = io.BytesIO()
    picture.save(out, form, **how)
    sha = hashlib.sha256(out.getvalue()).hexdigest()
    storage.store(Image(sha256=sha).original_name, out.getvalue())
    return sha


@pytest.fixture(autouse=True)
def forgetful() -> Iterator[None]:
    preprocessing.KEPT.forget()
    yield
    preprocessing.KEPT.forget()


def noise(width: int, height: int, seed: int = 1) -> Pillow.Image:
    return Pillow.effect_noise((width, height), 40 + seed).convert("RGB")


def test_images_are_sent_upright_small_and_bare() -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6  # lies on its side
    exif[0x010E] = "taken at home by Nour"
    picture = Pillow.new("RGB", (1600, 800), "red")
    picture.paste("blue", (0, 0, 800, 800))
    sha = store_picture(picture, "JPEG", exif=exif, comment=b"taken at home", icc_profile=None)
    sent = bytes_of(sha)
    shown = Pillow.open(io.BytesIO(sent))
    assert (shown.format, shown.size) == ("JPEG", (512, 1024))
    assert shown.getpixel((256, 100))[2] > 200 and shown.getpixel((256, 900))[0] > 200  # type: ignore[index]
    assert not dict(shown.getexif()) and b"home" not in sent
    assert Pillow.open(io.BytesIO(bytes_of(sha, 200))).size == (100, 200)


def test_small_images_are_not_enlarged_and_transparent_ones_lie_on_white() -> None:
    sent = Pillow.open(io.BytesIO(bytes_of(store_picture(Pillow.new("RGBA", (30, 20), (0, 0, 0, 0))))))
    assert sent.size == (30, 20) and sent.getpixel((3, 3)) == (255, 255, 255)


def test_sizes_are_bounded() -> None:
    assert (preprocessing.scaled_size(0), preprocessing.scaled_size(10**6)) == (16, preprocessing.MOST)


def test_the_same_image_is_the_same_bytes_and_one_pixel_another_digest() -> None:
    picture = noise(64, 48)
    sha = store_picture(picture)
    first = digest_of(sha)
    preprocessing.KEPT.forget()
    assert digest_of(sha) == first == hashlib.sha256(bytes_of(sha)).hexdigest(), "made once and kept"
    picture.putpixel((5, 5), (255, 0, 255))
    assert digest_of(store_picture(picture)) != first
    assert digest_of(sha, 32) != first


def test_images_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sha, resized = store_picture(noise(64, 40)), []
    sent = pictures.jpeg_for_model
    monkeypatch.setattr(pictures, "jpeg_for_model", lambda *given: resized.append(given) or sent(*given))  # type: ignore[func-returns-value]
    for _ in range(3):
        bytes_of(sha)
        preprocessing.KEPT.forget()
    assert len(resized) == 1


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocessing, "MEMORY", 12_000)
    monkeypatch.setattr(preprocessing, "DIGESTS", 3)
    shas = [store_picture(noise(60, 60, seed)) for seed in range(6)]
    sizes = [len(bytes_of(sha)) for sha in shas]
    assert sum(sizes) > 12_000
    kept = preprocessing.KEPT
    assert kept._size == sum(map(len, kept._bytes.values())) <= 12_000
    assert len(kept._digests) == 3 and kept.data((shas[-1], 1024)) is not None


def test_what_is_missing_or_no_picture_says_so() -> None:
    with pytest.raises(FileNotFoundError):
        bytes_of("00" * 32)
    data = b"GIF89a and no more"
    sha = hashlib.sha256(data).hexdigest()
    storage.store(Image(sha256=sha).original_name, data)
    with pytest.raises(pictures.NotAPicture):
        bytes_of(sha)


def test_a_bomb_is_not_decoded(settings: Any) -> None:
    sha = store_picture(Pillow.new("L", (400, 400)))
    settings.IMAGE_MAX_PIXELS = 1000
    with pytest.raises(pictures.NotAPicture) as refused:
        bytes_of(sha)
    assert refused.value.code == "too_many_pixels"
