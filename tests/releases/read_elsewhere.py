"""Reads an unpacked release with other programs and prints what they read, as JSON. Run by the Python of .venv-checks,
which has neither Emic nor Django.

Usage: read_elsewhere.py FOLDER
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}


def run(*command: str) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {"status": done.returncode, "output": done.stdout + done.stderr}


def croissant(folder: Path) -> dict[str, Any]:
    import mlcroissant

    program = Path(sys.executable).parent / "mlcroissant"
    validated = run(str(program), "validate", "--jsonld", str(folder / "croissant.json"))
    names = [record["@id"] for record in json.loads((folder / "croissant.json").read_text())["recordSet"]]
    # A Dataset reads each of its files once, so that each record set needs one of its own.
    rows = {name: sum(1 for _ in mlcroissant.Dataset(folder / "croissant.json").records(name)) for name in names}
    return {"validated": validated, "rows": rows}


def hugging_face(folder: Path, cache: Path) -> dict[str, Any]:
    import datasets
    from huggingface_hub import DatasetCard

    card = DatasetCard.load(folder / "README.md").data.to_dict()
    read: dict[str, Any] = {"card": card, "configs": {}}
    for name in [config["config_name"] for config in card["configs"]]:
        loaded = datasets.load_dataset(str(folder), name, cache_dir=str(cache))
        read["configs"][name] = {split: part.num_rows for split, part in loaded.items()}
        if name.endswith("-items") and "image" in next(iter(loaded.values())).column_names:
            rows = [row for part in loaded.values() for row in part if row["image"] is not None]
            read["pictures"] = [
                [row["image"].size, [(p["width"], p["height"]) for p in json.loads(row["pictures"])]] for row in rows
            ]
        if name.endswith("-ratings"):
            part = next(iter(loaded.values()))
            read["types"] = {key: str(feature) for key, feature in part.features.items()}
            read["nulls"] = sum(row["answer.relevance"] is None for part in loaded.values() for row in part)
    return read


def main() -> None:
    folder = Path(sys.argv[1])
    cffconvert = Path(sys.executable).parent / "cffconvert"
    citation = str(folder / "CITATION.cff")
    print(json.dumps({
        "croissant": croissant(folder),
        "hugging_face": hugging_face(folder, folder.parent / "cache"),
        "cff": run(str(cffconvert), "--validate", "-i", citation),
        "bibtex": run(str(cffconvert), "-f", "bibtex", "-i", citation),
    }, default=str))  # fmt: skip


if __name__ == "__main__":
    main()
