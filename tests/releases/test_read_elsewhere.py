"""A release, unpacked, is read by Hugging Face, mlcroissant, cffconvert, pandas and coreutils."""

import io
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml

from annotation.models import Annotation, Campaign
from benchmarks.models import Benchmark, ItemImage
from benchmarks.services.images import store_image
from config.local import setup
from releases.models import Release, ReleaseFile
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.pictures import encode_picture, noise
from tests.releases.description_schemas import CITATION, croissant_problems, problems_of
from tests.releases.release_steps import archive_bytes, built

SCRIPT = Path(__file__).parent / "read_elsewhere.py"
SPLIT = {"train": 50, "test": 50, "seed": 3}


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(24)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1234" * 3, world.tarek: "12.5" * 3})
    forms = ("PNG", "JPEG", "WEBP")
    for number, item in enumerate(world.items):
        data = encode_picture(noise(60 + number, 40, number), forms[number % 3])
        image, _made = store_image(world.team, data, name="a")
        ItemImage.objects.filter(item=item).update(image=image, licence="CC BY 4.0")
    jane = {"family": "Doe", "given": "Jane", "orcid": "https://orcid.org/0000-0002-1825-0097"}
    values = {"licence": "CC BY 4.0", "purpose": "To compare cultures.", "citation": "Doe 2026"}
    Benchmark.objects.filter(pk=world.benchmark.pk).update(
        **values, authors=[jane, {"name": "Nile Lab"}], card={"doi": "10.5281/zenodo.1"}
    )
    return campaign


def unpacked(world: World, release: Release, at: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(archive_bytes(world, release))) as archive:
        archive.extractall(at)
    return at / f"{world.benchmark.slug}-{release.version}"


def test_sums_agree_and_pandas_reads_types(world: World, campaign: Campaign, tmp_path: Path) -> None:
    folder = unpacked(world, built(world, pictures="licensed", **SPLIT), tmp_path)
    checked = subprocess.run(
        ["sha256sum", "--quiet", "--check", "SHA256SUMS"], cwd=folder, capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout) == (0, b"")
    parts = sorted((folder / "data/relevance/ratings").glob("*.parquet"))
    ratings = pandas.concat([pandas.read_parquet(part) for part in parts])
    assert len(ratings) == Annotation.objects.count()
    assert {name: str(ratings[name].dtype) for name in ("annotation", "counted", "submitted_at", "version")} == {
        "annotation": "int64", "counted": "bool", "submitted_at": "datetime64[us, UTC]", "version": "int32",
    }  # fmt: skip
    book = json.loads((folder / "codebook/relevance.json").read_text())
    assert [column["name"] for column in book["columns"]] == list(ratings.columns)[: len(book["columns"])]
    rows = sum(file["rows"] for file in book["files"] if file["path"].endswith(".parquet"))
    assert rows == len(ratings)
    citation = yaml.load((folder / "CITATION.cff").read_text(), yaml.BaseLoader)
    assert problems_of(citation, CITATION) == []
    assert problems_of(citation | {"license": "CC BY 4.0", "date-released": "May"}, CITATION) != []
    described = json.loads((folder / "croissant.json").read_text())
    assert any(file["@type"] == "cr:FileSet" for file in described["distribution"])
    assert croissant_problems(described) == []
    del described["distribution"][0]
    assert croissant_problems(described), "a file that is not declared"


def read_elsewhere(folder: Path) -> dict[str, Any]:
    python = setup.python_of(setup.CHECKS_VENV)
    assert python.exists(), "./emic test --slow makes .venv-checks"
    done = subprocess.run([python, SCRIPT, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    read: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return read


@pytest.mark.slow
@pytest.mark.parametrize("embed", [False, True])
def test_other_programs_read_a_release(world: World, campaign: Campaign, tmp_path: Path, embed: bool) -> None:
    release = built(world, pictures="licensed", withhold="on", **SPLIT, **({"embed": "on"} if embed else {}))
    read = read_elsewhere(unpacked(world, release, tmp_path))
    validated = read["croissant"]["validated"]
    assert validated["status"] == 0 and "Found the following" not in validated["output"].replace(
        "Found the following 1 warning(s)", ""
    ), validated
    manifest = release.facts["rows"]
    read_rows = read["croissant"]["rows"]
    of_tables = {name: rows for name, rows in read_rows.items() if name.startswith(tuple(manifest))}
    by_table: dict[str, int] = {}
    for name, rows in of_tables.items():
        by_table["/".join(name.split("/")[:2])] = by_table.get("/".join(name.split("/")[:2]), 0) + rows
    assert by_table == manifest
    apart = ReleaseFile.objects.filter(release=release, path__in=("gold.csv", "eligibility.csv"))
    assert (
        {file.path: read_rows[file.path.removesuffix(".csv")] for file in apart}
        == {file.path: file.rows for file in apart}
        != {}
    )
    face = read["hugging_face"]
    assert (face["card"]["license"], face["card"]["language"]) == ("cc-by-4.0", ["ar", "pt"])
    assert face["configs"]["relevance-items"].keys() == {"train", "test"}
    assert sum(face["configs"]["relevance-items"].values()) == 24
    assert face["configs"]["relevance-ratings"] == {"train": manifest["relevance/ratings"]}
    assert "timestamp[us, tz=UTC]" in face["types"]["submitted_at"] and "int64" in face["types"]["annotation"]
    if embed:
        assert len(face["pictures"]) == 24
        assert all([size] == sizes for size, sizes in face["pictures"])
    assert (read["cff"]["status"], read["bibtex"]["status"]) == (0, 0), read
    assert all(word in read["bibtex"]["output"] for word in ("author", "title", "year"))
