"""A dual encoder that is trained in seconds on drawn shapes, and saved as open_clip's own local folder."""

import io
import json
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw

COLOURS = {"red": (214, 40, 40), "green": (40, 160, 60), "blue": (40, 80, 210), "yellow": (240, 200, 40)}
SHAPES = ("circle", "square", "triangle", "cross")
KINDS = [(colour, shape) for colour in COLOURS for shape in SHAPES]
SIZE = 32
WEIGHTS = "open_clip_pytorch_model.bin"
CONFIG = {
    "model_cfg": {
        "embed_dim": 48,
        "vision_cfg": {"image_size": SIZE, "layers": 2, "width": 64, "head_width": 32, "patch_size": 8},
        "text_cfg": {"context_length": 12, "vocab_size": 49408, "width": 48, "heads": 2, "layers": 1},
    },
    "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25], "interpolation": "bicubic",
                       "resize_mode": "squash"},
}  # fmt: skip


def draw_shape(colour: str, shape: str, seed: int, size: int = 64) -> Image.Image:
    """One shape somewhere on a pale ground."""
    rng = Random(seed)
    ground = tuple(rng.randint(200, 255) for _channel in range(3))
    picture = Image.new("RGB", (size, size), ground)
    draw, side = ImageDraw.Draw(picture), size * rng.uniform(0.45, 0.7)
    left, top = rng.uniform(0, size - side), rng.uniform(0, size - side)
    fill = tuple(min(255, max(0, value + rng.randint(-18, 18))) for value in COLOURS[colour])
    box = (left, top, left + side, top + side)
    if shape == "circle":
        draw.ellipse(box, fill)
    elif shape == "square":
        draw.rectangle(box, fill)
    elif shape == "triangle":
        draw.polygon([(left, top + side), (left + side, top + side), (left + side / 2, top)], fill)
    else:
        third = side / 3
        draw.rectangle((left + third, top, left + 2 * third, top + side), fill)
        draw.rectangle((left, top + third, left + side, top + 2 * third), fill)
    return picture


def caption(colour: str, shape: str) -> str:
    return f"a {colour} {shape}"


def png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def train(folder: Path, *, steps: int = 300, seed: int = 7) -> None:
    """Write config and weights of a model that tells the sixteen kinds apart far better than chance."""
    from predictions.backends import torch_setup

    torch = torch_setup.torch()
    import open_clip
    from open_clip.transform import PreprocessCfg, image_transform_v2

    folder.mkdir(parents=True)
    (folder / "open_clip_config.json").write_text(json.dumps(CONFIG))
    torch.manual_seed(seed)
    model = open_clip.model.CLIP(**CONFIG["model_cfg"])
    tokens = open_clip.get_tokenizer(f"local-dir:{folder}")([caption(*kind) for kind in KINDS])
    preprocess = image_transform_v2(PreprocessCfg(size=SIZE, **CONFIG["preprocess_cfg"]), is_train=False)
    pool = [[preprocess(draw_shape(*kind, seed=1000 + number)) for number in range(60)] for kind in KINDS]
    images, rng = torch.stack([torch.stack(kind) for kind in pool]), torch.Generator().manual_seed(seed)
    model.token_embedding.weight.requires_grad_(False)  # the largest part by far, and random words tell apart as well
    learned = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=1e-3, weight_decay=0.01)
    target = torch.arange(len(KINDS)).repeat(4)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * min(1.0, (step + 1) / 20) * (1 - step / steps)
        picks = torch.randint(0, images.shape[1], (len(target),), generator=rng)
        batch = images[target, picks]
        scores = model.encode_image(batch, normalize=True) @ model.encode_text(tokens, normalize=True).T * 12
        loss = torch.nn.functional.cross_entropy(scores, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save(model.state_dict(), folder / WEIGHTS)
