"""What an embedding run costs beside a bare loop: `python tests/performance/embedding.py [--pictures 1000]`.

A vision transformer with random weights (13 million parameters, 224 x 224) encodes photographs of 640 x 480. The bare
loop is open_clip's own: open, preprocess, stack, encode, 64 at a time. The run is ours, whole: job, rows, reading out
of the storage, upright and sRGB, shards in 16 bits on disk, progress. In turns in one process; the best round counts.
"""

import argparse
import hashlib
import io
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.load import server  # noqa: E402

AIM = 0.9
BATCH = 64
CONFIG = {
    "model_cfg": {
        "embed_dim": 384,
        "vision_cfg": {"image_size": 224, "layers": 6, "width": 384, "head_width": 64, "patch_size": 32},
        "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 64, "heads": 2, "layers": 1},
    },
    "preprocess_cfg": {},
}


def model(folder: Path) -> None:
    from predictions.backends import torch_setup

    torch = torch_setup.torch()
    import open_clip

    folder.mkdir(parents=True)
    (folder / "open_clip_config.json").write_text(json.dumps(CONFIG))
    torch.manual_seed(1)
    torch.save(open_clip.model.CLIP(**CONFIG["model_cfg"]).state_dict(), folder / "open_clip_pytorch_model.bin")


def photograph(number: int) -> bytes:
    from PIL import Image

    noise = Image.effect_noise((160, 120), 40 + number % 30).resize((640, 480), Image.Resampling.BICUBIC)
    turned = noise.transpose(Image.Transpose.ROTATE_180)
    out = io.BytesIO()
    Image.merge("RGB", (noise, noise.point(lambda v: (v + number) % 256), turned)).save(out, "JPEG", quality=88)
    return out.getvalue()


def collection(count: int) -> Any:
    from benchmarks.models import Image
    from benchmarks.services import storage
    from predictions.models import Collection, Entry
    from tests.personas import make_world

    world = make_world()
    new_collection = Collection.objects.create(benchmark=world.benchmark, key="photographs", name="Photographs")
    entries = []
    for number in range(count):
        data = photograph(number)
        image = Image.objects.create(
            team=world.team,
            sha256=hashlib.sha256(data).hexdigest(),
            format="JPEG",
            bytes=len(data),
            width=640,
            height=480,
        )
        storage.store(image.original_name, data)
        entries.append(Entry(collection=new_collection, key=f"p{number:05}", image=image))
    Entry.objects.bulk_create(entries)
    return world, new_collection


def bare(folder: Path, paths: list[Path]) -> Any:
    """open_clip as its own documentation uses it."""
    import numpy as np
    import open_clip
    import torch
    from PIL import Image

    clip, preprocess = open_clip.create_model_from_pretrained(f"local-dir:{folder}")
    clip.eval()
    began, vectors = time.perf_counter(), []
    with torch.inference_mode():
        for at in range(0, len(paths), BATCH):
            batch = torch.stack([preprocess(Image.open(path).convert("RGB")) for path in paths[at : at + BATCH]])
            vectors.append(clip.encode_image(batch, normalize=True).numpy())
    return time.perf_counter() - began, np.concatenate(vectors)


def ours(world: Any, collection_row: Any) -> Any:
    from django.conf import settings
    from django.utils import timezone

    from jobs.services import runner
    from predictions.backends import clip
    from predictions.models import Endpoint, Run
    from predictions.queries.results import vectors_of
    from predictions.services.encoders import encoder_runs

    clip.load("local-dir:timed")  # the bare loop's clock starts after loading, too
    shutil.rmtree(settings.VECTORS_ROOT, ignore_errors=True)
    Run.objects.update(withdrawn_at=timezone.now())
    endpoint, _made = Endpoint.objects.get_or_create(team=world.team, kind="open_clip", name="Here")
    plan = encoder_runs.EncoderPlan(collection_row, endpoint, "local-dir:timed", "Timed", "embedding")
    run = encoder_runs.open_run(plan, world.mara, timezone.now())
    began = time.perf_counter()
    runner.run(run.job_id)
    seconds = time.perf_counter() - began
    run.refresh_from_db()
    assert run.complete, run.options
    return seconds, vectors_of(run)[1]


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--pictures", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--threads", type=int, default=0, help="of torch; 0: as many as it takes")
    asked = options.parse_args()
    with server.database() as home:
        import numpy as np
        from django.conf import settings

        from benchmarks.models import Image
        from predictions.backends import torch_setup

        settings.MODELS_ROOT, settings.VECTORS_ROOT = home / "models", home / "vectors"
        model(home / "models" / "timed")
        if asked.threads:
            torch_setup.torch().set_num_threads(asked.threads)
        world, collection_row = collection(asked.pictures)
        paths = [settings.MEDIA_ROOT / image.original_name for image in Image.objects.order_by("pk")]
        plain, own = [], []
        for number in range(asked.rounds):
            seconds, wanted = bare(home / "models" / "timed", paths)
            plain.append(seconds)
            seconds, found = ours(world, collection_row)
            own.append(seconds)
            apart = float(np.abs(found - wanted.astype(np.float16)).max())
            rates = f"bare loop {asked.pictures / plain[-1]:6.1f} pictures/s, run {asked.pictures / own[-1]:6.1f}"
            print(f"round {number + 1}: {rates}; vectors apart by at most {apart:.1e}", flush=True)
            assert apart < 2e-3
        share = min(plain) / min(own)
        size = sum(path.stat().st_size for path in (home / "vectors").rglob("*.npy"))
        print(f"an embedding run goes at {share:.0%} of a bare open_clip loop (aim {AIM:.0%})", flush=True)
        print(f"{size / 1e6:.2f} MB of vectors on disk")
        return 0 if share >= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
