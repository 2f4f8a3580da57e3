"""Dual encoders: a trained one tells shapes apart, equals a bare open_clip loop, and is reached by its name only."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import LazySettings
from PIL import Image

from predictions.backends import clip, detector, grounding, torch_setup
from predictions.backends.contract import CallError, Decoding
from predictions.prompts.contract import Request
from tests.predictions.tiny_clip import KINDS, caption, draw_shape, png

MODEL = "local-dir:tiny"


def pictures(rounds: int, seed: int = 0) -> list[bytes]:
    return [png(draw_shape(*kind, seed=seed + number)) for number in range(rounds) for kind in KINDS]


def encode_plainly(root: Path, images: list[bytes], texts: list[str], size: int = clip.BATCH) -> tuple[Any, Any]:
    """What a script without us would do."""
    import io

    torch = torch_setup.torch()
    import open_clip

    model, preprocess = open_clip.create_model_from_pretrained(f"local-dir:{root / 'tiny'}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{root / 'tiny'}")
    model.eval()
    vectors = []
    with torch.inference_mode():
        for at in range(0, len(images), size):
            batch = torch.stack(
                [preprocess(Image.open(io.BytesIO(one)).convert("RGB")) for one in images[at : at + size]]
            )
            vectors.append(model.encode_image(batch, normalize=True).numpy())
        words = model.encode_text(tokenizer(texts), normalize=True).numpy() if texts else None
    return np.concatenate(vectors), words


def test_the_trained_one_beats_chance_clearly_on_pictures_it_never_saw(models_root: Path) -> None:
    encoder = clip.load(MODEL)
    scores = encoder.images(pictures(8)) @ encoder.texts([caption(*kind) for kind in KINDS]).T
    right = (scores.argmax(axis=1) == np.tile(np.arange(16), 8)).mean()
    print(f"{right:.2f} right of 128; chance is {1 / 16:.2f}")
    assert right > 0.5


def test_vectors_equal_a_bare_loop_and_have_unit_length(models_root: Path) -> None:
    images, texts = pictures(5), [caption(*kind) for kind in KINDS]
    encoder = clip.load(MODEL)
    wanted = encode_plainly(models_root, images, texts)
    for made, told in zip((encoder.images(images), encoder.texts(texts)), wanted, strict=True):
        assert made.dtype == np.float32 and np.abs(made - told).max() < 1e-6
        np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-6)
    assert encoder.images([]).shape == (0, 48) and encoder.texts([]).shape == (0, 48)


def test_a_picture_is_seen_as_people_see_it(models_root: Path) -> None:
    """Turned by its EXIF, and on white where it is transparent."""
    import io

    plain = draw_shape("red", "triangle", 3)
    buffer = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    plain.rotate(90, expand=True).save(buffer, "PNG", exif=exif)
    clear = Image.new("RGBA", (64, 64), (0, 0, 0, 0))
    white = Image.new("RGB", (64, 64), "white")
    vectors = clip.load(MODEL).images([png(plain), buffer.getvalue(), png(clear), png(white)])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-5)
    np.testing.assert_allclose(vectors[2], vectors[3], atol=1e-5)
    assert vectors[0] @ vectors[2] < 0.99


def test_a_probe_answers_the_cosine_of_each_text(models_root: Path) -> None:
    image, texts = png(draw_shape("blue", "cross", 1)), ("a blue cross", "a red circle")
    asked = Request(kind="probe", image="sha", texts=texts)
    answered = clip.backend().answer(asked, MODEL, Decoding(), lambda sha: {"sha": image}[sha])
    pixels, words = encode_plainly(models_root, [image], list(texts))
    assert np.abs(np.array(answered.reply.similarities) - words @ pixels[0]).max() < 1e-6
    assert answered.reply.model == MODEL and answered.seconds > 0
    with pytest.raises(CallError, match="answers probes only"):
        clip.backend().answer(Request(kind="chat"), MODEL, Decoding(), lambda sha: image)


def test_what_cannot_be_read_is_told_apart_and_the_rest_goes_on(models_root: Path) -> None:
    encoder = clip.load(MODEL)

    def gone() -> bytes:
        raise FileNotFoundError

    good = png(draw_shape("red", "circle", 1))
    [(places, vectors, failures)] = encoder.stream([lambda: good, lambda: b"no picture", gone, lambda: good])
    assert places == [0, 3] and vectors.shape == (2, 48)
    assert {place: error.words for place, error in failures.items()} == {
        1: "The picture cannot be read.", 2: "The picture file is missing. Import it again.",
    }  # fmt: skip
    with pytest.raises(CallError, match="cannot be read"):
        encoder.images([good, b"no picture"])


@pytest.mark.parametrize("name", ["", "..", "../tiny", "/etc", "a/b", ".hidden", "tiny\n", "missing", "lock"])
def test_only_folders_of_the_operators_are_opened(models_root: Path, name: str) -> None:
    with pytest.raises(torch_setup.ModelUnavailable, match="no folder"):
        clip.load(f"local-dir:{name}")


def test_a_link_out_of_the_folder_is_not_followed(models_root: Path, tmp_path: Path) -> None:
    (models_root / "away").symlink_to(tmp_path)
    with pytest.raises(torch_setup.ModelUnavailable, match="no folder"):
        clip.load("local-dir:away")
    (models_root / "away").unlink()


def test_a_model_without_weights_is_refused_never_random(models_root: Path, tmp_path: Path, settings: Any) -> None:
    settings.MODELS_ROOT = tmp_path
    (tmp_path / "bare").mkdir()
    config = (models_root / "tiny" / "open_clip_config.json").read_text()
    (tmp_path / "bare" / "open_clip_config.json").write_text(config)
    with pytest.raises(torch_setup.ModelUnavailable, match="“local-dir:bare” could not be loaded"):
        clip.load("local-dir:bare")
    with pytest.raises(torch_setup.ModelUnavailable, match="open_clip knows no “ViT-B-32/nobody”"):
        clip.load("ViT-B-32/nobody")


def a_copy(root: Path, folder: Path, **text: Any) -> Path:
    """Of the trained model, with more said of its text half."""
    shutil.copytree(root / "tiny", folder)
    config = json.loads((folder / "open_clip_config.json").read_text())
    config["model_cfg"]["text_cfg"] |= text
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    return folder


def test_code_that_comes_with_a_model_is_never_run(models_root: Path, tmp_path: Path, settings: Any) -> None:
    settings.MODELS_ROOT = tmp_path
    for name, more in (("asks", {"tokenizer_kwargs": {"trust_remote_code": True}}), ("brings", {})):
        folder = a_copy(models_root, tmp_path / name, hf_tokenizer_name="x", **more)
        told = {"tokenizer_class": "Evil", "auto_map": {"AutoTokenizer": ["evil.Evil", None]}}
        (folder / "tokenizer_config.json").write_text(json.dumps(told))
        (folder / "config.json").write_text(json.dumps({"model_type": "clip"}))
        (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Evil: pass\n")
    with pytest.raises(torch_setup.ModelUnavailable, match=r"trust_remote_code.*never run"):
        clip.load("local-dir:asks")
    with pytest.raises(torch_setup.ModelUnavailable, match="could not be loaded"):
        clip.load("local-dir:brings")
    assert not (tmp_path / "ran").exists()
    a_copy(models_root, tmp_path / "paths", hf_model_name=str(models_root / "tiny"))
    with pytest.raises(torch_setup.ModelUnavailable, match="is no name of a model"):
        clip.load("local-dir:paths")
    a_copy(models_root, tmp_path / "kind", tokenizer_kwargs={"clean": "canonicalize"})
    assert clip.load("local-dir:kind").dimensions == 48, "what is harmless is taken"


@pytest.mark.parametrize("name", ["/etc", "../../etc", "~/x", "tests", "a/b/c", "a/../b", "", "file:x", "a b"])
@pytest.mark.usefixtures("models_root")
def test_a_name_of_the_hub_is_no_path_on_this_machine(name: str) -> None:
    loads = [detector.load, grounding.load, lambda one: clip.load(f"hf-hub:{one}")]
    for load in loads:
        with pytest.raises(torch_setup.ModelUnavailable, match="is no name of a model"):
            load(name)


def test_without_the_packages_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_setup, "installed", lambda: False)
    torch_setup.unload_models()
    with pytest.raises(torch_setup.ModelUnavailable, match=r"Run \./emic models, then restart\."):
        clip.load(MODEL)


def test_one_model_stays_loaded(models_root: Path) -> None:
    assert clip.load(MODEL) is clip.load(MODEL)
    assert "local-dir:tiny" in torch_setup.local_models()


@pytest.mark.usefixtures("models_root")
def test_only_what_the_operator_lists_is_fetched(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    torch_setup.torch()
    import transformers

    names = {"ViT-B-32/laion2b_s34b_b79k": clip, "hf-hub:owner/name": clip, "owner/name": detector, "o/n": grounding}

    class Fetches(Exception):
        """What a library is asked for."""

    def fetches(*_args: object, **_more: object) -> None:
        raise Fetches("is fetched")

    monkeypatch.setattr(clip.clip_config, "load_checked_config", fetches)
    monkeypatch.setattr(transformers.AutoModelForObjectDetection, "from_pretrained", fetches)
    monkeypatch.setattr(transformers.AutoModelForZeroShotObjectDetection, "from_pretrained", fetches)
    for name, kind in names.items():
        torch_setup.unload_models()
        with pytest.raises(torch_setup.ModelUnavailable, match="is none of the models that are fetched here"):
            kind.load(name)
    settings.HUB_MODELS = list(names)
    for name, kind in names.items():
        with pytest.raises(torch_setup.ModelUnavailable, match="is fetched"):
            kind.load(name)
