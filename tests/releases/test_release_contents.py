"""What else a release has: pictures without metadata, records of the paper, and what changed since the last one."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator

import pytest
from django.utils import timezone
from PIL import Image as Pillow
from PIL.PngImagePlugin import PngInfo

from annotation.models import Annotation, Campaign, ItemSource
from annotation.services.answers import consent
from benchmarks.models import Benchmark, Item, ItemImage
from benchmarks.services.images import store_image
from predictions.models import Collection, Entry, Query
from releases.contents.pictures import file_name
from releases.exports import document_files, record_files
from releases.exports.document_files import DocumentFile
from releases.exports.record_files import RecordFile
from releases.formats.picture_metadata import Unreadable, strip_metadata
from releases.models import Release
from releases.rows.columns import Row, RowColumn
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.pictures import encode_picture, noise
from tests.releases.release_steps import act, address, build, built, csv_rows, files_of, json_rows

SECRET = b"Seen-by-nobody"
AUNT = "Who is my aunt?"


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "1234", world.tarek: "12.5"})
    return campaign


def tagged(form: str, orientation: int = 6) -> bytes:
    """A picture with secrets in each place that its format has for them, and behind its end."""
    exif = Pillow.Exif()
    exif[0x0112], exif[0x010F], exif[0x8825] = orientation, SECRET.decode(), {1: "N", 2: (30.0, 2.0, 3.0)}
    options: dict[str, object] = {"exif": exif, "xmp": b"<x>" + SECRET + b"</x>", "icc_profile": b"profile" * 20}
    if form == "PNG":
        options["pnginfo"] = PngInfo()
        options["pnginfo"].add_text("Author", SECRET.decode())  # type: ignore[attr-defined]
    if form == "JPEG":
        options |= {"comment": SECRET, "progressive": True}
    out, picture = io.BytesIO(), noise(120, 90)
    if form == "GIF":
        frames = [noise(40, 30, seed) for seed in (1, 2, 3)]
        frames[0].save(out, form, save_all=True, append_images=frames[1:], loop=0, comment=SECRET, duration=50)
    else:
        picture.save(out, form, **options)
    return out.getvalue() + SECRET


def pixels(data: bytes) -> list[bytes]:
    with Pillow.open(io.BytesIO(data)) as picture:
        frames = []
        for number in range(getattr(picture, "n_frames", 1)):
            picture.seek(number)
            frames.append(picture.convert("RGB").tobytes())
        return frames


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "GIF", "AVIF"])
def test_pixels_profile_and_orientation_stay_and_all_else_goes(form: str) -> None:
    data = tagged(form)
    stripped = strip_metadata(data, form.lower(), 1 if form in ("GIF", "AVIF") else 6)
    assert SECRET in data
    assert SECRET not in stripped
    with Pillow.open(io.BytesIO(data)) as before, Pillow.open(io.BytesIO(stripped)) as after:
        assert after.info.get("icc_profile") == before.info.get("icc_profile")
        assert dict(after.getexif()) == ({} if form in ("GIF", "AVIF") else {0x0112: 6})
    if form == "AVIF":  # encoded again, upright
        assert Pillow.open(io.BytesIO(stripped)).size == (90, 120)
    else:
        assert pixels(stripped) == pixels(data)
    again = strip_metadata(stripped, form.lower(), 1 if form in ("GIF", "AVIF") else 6)
    assert again == stripped or form == "AVIF"


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "GIF", "AVIF"])
def test_a_picture_that_is_cut_is_unreadable_and_never_a_crash(form: str) -> None:
    data = tagged(form)
    for length in range(0, 400, 3):
        with pytest.raises(Unreadable):
            strip_metadata(data[:length], form.lower())


def test_files_have_names_that_any_file_system_takes() -> None:
    keys = ("plain-1.a", "../../etc/passwd", "a/b", "a b", "", ".hidden", "=cmd", "\u202eabc", "x" * 300, "CON\n")
    names = [file_name("relevance", key, "image", "jpeg") for key in keys]
    assert names[0] == "images/relevance/plain-1.a.jpg"
    assert len(set(names)) == len(keys)
    for name in names[1:]:
        assert name.startswith("images/relevance/") and name.count("/") == 2, name
        assert name.isascii() and ".." not in name and " " not in name, name


def with_picture(world: World, number: int, data: bytes, **values: str) -> None:
    image, _made = store_image(world.team, data, name="camera.jpg")
    ItemImage.objects.filter(item=world.items[number]).update(image=image, **values)


def test_files_of_licensed_pictures_are_stripped_and_named(world: World, campaign: Campaign) -> None:
    with_picture(world, 0, tagged("JPEG"), licence="CC-BY-4.0", file_name="Ägypten/IMG 1.jpg", source="A museum")
    with_picture(world, 1, tagged("JPEG"), licence="CC-BY-4.0")
    with_picture(world, 2, tagged("PNG"))
    release = built(world, pictures="licensed")
    files = files_of(world, release)
    rows = {row["item"]: row for row in json_rows(files["jsonl/pictures.jsonl"])}
    keys = [item.key for item in world.items]
    assert len(rows) == 8
    assert rows[keys[0]]["imported_file"] == "Ägypten/IMG 1.jpg", "names are kept as imported"
    assert rows[keys[0]]["file"] == rows[keys[1]]["file"] == f"images/relevance/{keys[0]}.jpg", "bytes are there once"
    assert rows[keys[2]]["file"] is None and rows[keys[3]]["file"] is None
    assert {row["item"] for row in csv_rows(files["csv/pictures.csv"])} == rows.keys()
    with zipfile.ZipFile(io.BytesIO(files["images.zip"])) as archive:
        shipped = archive.read(rows[keys[0]]["file"])
        sums = archive.read("images/SHA256SUMS").decode()
        assert sorted(archive.namelist()) == ["images/SHA256SUMS", rows[keys[0]]["file"]]
    assert SECRET not in shipped
    assert pixels(shipped) == pixels(tagged("JPEG"))
    assert sums == f"{hashlib.sha256(shipped).hexdigest()}  relevance/{keys[0]}.jpg\n"
    assert rows[keys[0]]["source_sha256"] == hashlib.sha256(tagged("JPEG")).hexdigest()
    assert "6 of 8 pictures have no licence. Their files are left out." in act(world, release, "nothing")
    assert "images.zip" not in files_of(world, built(world, version="1.1.0", pictures="names"))


def records(rows: Iterator[Row]) -> Iterator[Row]:
    for row in rows:
        if row["counted"]:
            yield {"picture": row["item"], "level": int(row["codes"]["relevance"])}


def test_records_and_documents_of_the_paper_are_made_of_the_frozen_rows(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = (RowColumn("picture", "", "text", "Key."), RowColumn("level", "", "int4", "1 to 5."))
    record = RecordFile("levels", "relevance", "One record for each answer.", columns, records)
    document = DocumentFile("sum", "relevance", "All.", lambda _b, ids: ({"campaigns": list(ids)}, 1))
    monkeypatch.setitem(record_files.BY_RECIPE, "of.tests", (record,))
    monkeypatch.setitem(document_files.BY_RECIPE, "of.tests", (document,))
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe="of.tests")
    files = files_of(world, built(world))
    levels = [row["level"] for row in json_rows(files["jsonl/relevance/records-levels.jsonl"])]
    assert levels == [int(code) for code in Annotation.objects.order_by("pk").values_list("ratings__code", flat=True)]
    assert json.loads(files["documents/relevance-sum.json"]) == {"campaigns": [campaign.pk]}
    book = json.loads(files["codebook/relevance.json"])["further"]["records-levels"]
    assert [column["name"] for column in book["columns"]] == ["picture", "level"]
    assert {file["rows"] for file in book["files"]} == {len(levels)}


def test_a_release_says_what_changed_since_the_last_one(world: World, campaign: Campaign) -> None:
    Benchmark.objects.filter(pk=world.benchmark.pk).update(licence="CC-BY-4.0")
    first = built(world)
    assert "Nothing was published before" in files_of(world, first)["CHANGES.md"].decode()
    act(world, first, "publish", sure="1")
    changed, gone, uncounted = Annotation.objects.order_by("pk")[:3]
    changed.ratings.update(code="5")
    Annotation.objects.filter(pk=gone.pk).update(live=False, counted=False, uncounted_because="withdrawn")
    Annotation.objects.filter(pk=uncounted.pk).update(counted=False, uncounted_because="excluded")
    table(campaign, world.brazil, of_condition(world.items, "natural"), {world.bia: "1234"})
    second = build(Release.objects.get(pk=built(world, version="1.1.0").pk))
    line = "| relevance/ratings | 7 | 10 | 4 | 1 | 1 | 1 |"
    assert line in files_of(world, second)["CHANGES.md"].decode()
    page = world.client(world.mara).get(address(second)).content.decode()
    assert "What changed since 1.0.0" in page
    assert second.parent == first


def test_soft_labels_count_a_person_once_with_the_latest_answer(world: World, campaign: Campaign) -> None:
    natural = of_condition(world.items, "natural")
    table(an_open_campaign(world, name="Round two"), world.egypt, natural, {world.nour: "2..."})
    labels = json_rows(files_of(world, built(world))["jsonl/relevance/soft_labels.jsonl"])
    first = {row["code"]: (row["n"], row["answers"]) for row in labels if row["item"] == natural[0].key}
    assert first == {"1": (1, 2), "2": (1, 2)}


def test_soft_labels_and_agreement_are_those_of_the_frozen_answers(world: World, campaign: Campaign) -> None:
    first = Annotation.objects.order_by("pk")[0]
    files = files_of(world, built(world))
    labels = json_rows(files["jsonl/relevance/soft_labels.jsonl"])
    by_item: dict[str, dict[str, tuple[int, int, float, float]]] = {}
    for row in labels:
        assert (row["question"], row["cohort"]) == ("relevance", "Egypt")
        values = (row["n"], row["answers"], row["share"], round(row["smoothed"], 4))
        by_item.setdefault(row["item"], {})[row["code"]] = values
    natural = [item.key for item in of_condition(world.items, "natural")]
    # "1234" and "12.5", five options: (2 + 1/5) / 3, (1 + 1/5) / 2, (1 + 1/5) / 3
    assert [by_item[key] for key in natural] == [
        {"1": (2, 2, 1.0, 0.7333)}, {"2": (2, 2, 1.0, 0.7333)}, {"3": (1, 1, 1.0, 0.6)},
        {"4": (1, 2, 0.5, 0.4), "5": (1, 2, 0.5, 0.4)},
    ]  # fmt: skip
    document = json.loads(files["agreement.json"])["relevance"]
    [egypt] = [q for q in document["questions"] if q["cohort"]["label"] == "Egypt" and q["field"] == "relevance"]
    alpha = egypt["estimates"]["alpha_ordinal"]
    assert alpha["n_units"] == 3 and f"{alpha['shown']}".encode() in files["agreement/relevance.csv"]
    assert f"alpha_ordinal {alpha['shown']}" in files["DATA_STATEMENT.md"].decode()
    assert [path for path in files if path.startswith("instructions/relevance/")]
    Annotation.objects.filter(pk=first.pk).update(counted=False, uncounted_because="surplus")
    files = files_of(world, built(world, version="1.1.0", train=50, test=50, withhold="on"))
    assert json.loads(files["agreement.json"]) == {"relevance": {"reason": "answers_withheld"}}
    split = {row["key"]: row["split"] for row in json_rows(files["jsonl/relevance/items.jsonl"])}
    shipped = {row["item"] for row in json_rows(files["jsonl/relevance/soft_labels.jsonl"])}
    assert {split[key] for key in shipped} <= {"train"}


def test_soft_labels_leave_out_withdrawn_items_as_all_numbers_do(world: World, campaign: Campaign) -> None:
    first, *others = of_condition(world.items, "natural")
    Item.objects.filter(pk=first.pk).update(withdrawn_at=timezone.now())
    files = files_of(world, built(world))
    labels = {row["item"] for row in json_rows(files["jsonl/relevance/soft_labels.jsonl"])}
    assert labels == {item.key for item in others}
    rows = [row for row in json_rows(files["jsonl/relevance/ratings.jsonl"]) if row["item"] == first.key]
    assert [row["withdrawn"] for row in rows] == [True, True], "the answers are there, and marked"


@pytest.fixture
def aunt(world: World, campaign: Campaign) -> Item:
    """An item that was made of an answer of Nour, with a text and a picture of hers, also in a collection. She has
    withdrawn her consent since."""
    answer = Annotation.objects.filter(rater__user=world.nour)[0]
    derived = Item.objects.create(stage=world.stage, key="made", text=AUNT, withdrawn_at=timezone.now())
    ItemSource.objects.create(item=derived, source=answer.assignment.unit.item, annotation=answer)
    image = store_image(world.team, encode_picture(noise(60, 40, 77), "PNG"), name="a.png")[0]
    ItemImage.objects.create(item=derived, image=image, licence="Hers alone")
    collection = Collection.objects.create(
        benchmark=world.benchmark, key="all", name="All", stage=world.stage, params={"of": "kept", "what": "images"}
    )
    about = {"item": "made", "text": AUNT, "country": "Egypt", "labels": [AUNT]}
    Entry.objects.create(collection=collection, key="made", image=image, text=AUNT, about=about)
    other = {"item": world.items[0].key, "text": "A street"}
    Query.objects.create(collection=collection, query_set="native", key="made", text="bread", about=about)
    Entry.objects.create(collection=collection, key=world.items[0].key, text="A street", about=other)
    consent.withdraw(world.nour, world.team, timezone.now())
    return derived


def test_no_file_has_what_was_made_of_a_withdrawn_answer(world: World, aunt: Item) -> None:
    files = files_of(world, built(world))
    sha = aunt.images.get().image.sha256
    assert [path for path, data in files.items() if AUNT.encode() in data or sha.encode() in data] == []
    entries = {row["key"]: row for row in json_rows(files["site/entries.jsonl"])}
    assert entries["made"]["about"] == {"item": "made", "country": "Egypt"}, "rankings name its key"
    assert (entries["made"]["text"], entries["made"]["image"]) == ("", None)
    [query] = json_rows(files["site/queries.jsonl"])
    assert (query["text"], query["about"]) == ("bread", {"item": "made", "country": "Egypt"})
    assert entries[world.items[0].key]["about"] == {"item": world.items[0].key, "text": "A street"}
