"""Look-alikes: scenes cropped, zoomed, shifted and at night lie together; other scenes do not."""

import io
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from benchmarks.images import perceptual_hash as looks
from benchmarks.images.perceptual_hash import Fingerprint, TooManyPictures, fingerprint
from benchmarks.models import Item, Stage
from benchmarks.services import picture_arrangement
from benchmarks.services.picture_arrangement import arrange
from tests.importing import draw_pictures, lines, upload
from tests.lookalikes import lookalikes
from tests.personas import World

SCENES = 5


@lru_cache(maxsize=1)
def draw_lookalikes() -> tuple[list[int], list[str], list[Image.Image], list[Fingerprint]]:
    made = list(lookalikes(SCENES, seed=11, size=(320, 240)))
    return [one.scene for one in made], [one.variant for one in made], [one.picture for one in made], [
        fingerprint(one.picture) for one in made
    ]  # fmt: skip


def test_scenes_stay_apart_and_their_variants_together() -> None:
    scenes, _how, _pictures, prints = draw_lookalikes()
    groups = looks.clusters(looks.similarities(prints))
    assert sorted(at for group in groups for at in group) == list(range(len(prints)))
    assert all(len({scenes[at] for at in group}) == 1 for group in groups)
    assert len(groups) <= SCENES + 1


def test_similarity_is_symmetric_within_bounds_and_one_for_the_same() -> None:
    *_rest, prints = draw_lookalikes()
    alike = looks.similarities(prints)
    assert np.array_equal(alike, alike.T) and alike.min() >= 0 and alike.max() <= 1
    assert np.array_equal(np.diag(alike), np.ones(len(prints)))
    assert looks.similarities([prints[0], prints[0]])[0, 1] == 1


def test_neighbours_on_the_sheet_are_more_alike_than_strangers() -> None:
    scenes, _how, _pictures, prints = draw_lookalikes()
    alike = looks.similarities(prints)
    order = [at for group in looks.clusters(alike) for at in group]
    neighbour_similarities = [alike[a, b] for a, b in pairwise(order) if scenes[a] == scenes[b]]
    assert np.mean(neighbour_similarities) > 1.4 * np.mean(alike[np.triu_indices(len(prints), 1)])


def test_another_light_is_less_alike_and_still_the_same_group() -> None:
    *_rest, pictures, prints = draw_lookalikes()
    dark = fingerprint(ImageEnhance.Brightness(pictures[0].convert("RGB")).enhance(0.4))
    by_day, by_night = looks.similarities([prints[0], fingerprint(pictures[0]), dark])[0, 1:]
    assert by_day == 1 and looks.ALIKE < by_night < 0.95


def test_copies_of_a_file_are_near_exact_and_look_alikes_are_not() -> None:
    _scenes, _how, pictures, prints = draw_lookalikes()
    copies = []
    for picture in pictures[:3]:
        buffer = io.BytesIO()
        picture.convert("RGB").resize((200, 150)).save(buffer, "JPEG", quality=60)
        copies.append(fingerprint(Image.open(buffer)))
    crop = next(at for at, how in enumerate(draw_lookalikes()[1]) if how == "crop")
    names = ["a", "b", "c", "crop", "a2", "b2", "c2"]
    duplicates = looks.near_exact_duplicates(
        names, [*prints[:1], *prints[10:11], *prints[20:21], prints[crop], *_copies(pictures)]
    )
    assert duplicates == {"a2": "a", "b2": "b", "c2": "c"}
    assert len(copies) == 3


def _copies(pictures: list[Image.Image]) -> list[Fingerprint]:
    return [fingerprint(pictures[at].convert("RGB").resize((200, 150))) for at in (0, 10, 20)]


def test_examples_stand_on_both_sides_of_the_threshold() -> None:
    *_rest, prints = draw_lookalikes()
    names = [f"p{at}" for at in range(len(prints))]
    over, under = looks.pairs_near_threshold(names, prints, 0.6, most=3)
    assert [pair.alike for pair in over] == sorted(pair.alike for pair in over) and over[0].alike >= 0.6
    assert [pair.alike for pair in under] == sorted((pair.alike for pair in under), reverse=True)
    assert under[0].alike < 0.6 and len(over) == len(under) == 3


def test_bounds_and_the_smallest_sets() -> None:
    *_rest, prints = draw_lookalikes()
    assert looks.arrangement([], []) == {"groups": [], "near": {}}
    assert looks.arrangement(["a"], prints[:1]) == {"groups": [["a"]], "near": {"a": []}}
    with pytest.raises(TooManyPictures, match="1001 pictures"):
        looks.similarities([prints[0]] * 1001)


def test_the_same_set_is_laid_out_the_same_way() -> None:
    *_rest, prints = draw_lookalikes()
    names = [f"p{at}" for at in range(len(prints))]
    assert looks.arrangement(names, prints) == looks.arrangement(
        names, [fingerprint(one) for one in draw_lookalikes()[2]]
    )


@pytest.mark.django_db
def test_an_item_keeps_its_groups_and_neighbours(world: World) -> None:
    from tests.browser.dedup_steps import make_item

    stage = Stage.objects.create(benchmark=world.benchmark, key="sets", name="Sets", display="contact", sheet={})
    images = []
    for number in (0, 1, 10):
        buffer = io.BytesIO()
        draw_lookalikes()[2][number].convert("RGB").resize((400, 300)).save(buffer, "JPEG")
        images.append((str(number), buffer.getvalue()))
    item = make_item(stage, "market", images)
    item.refresh_from_db()
    assert sorted(map(sorted, item.context["groups"])) == [["p001", "p002"], ["p003"]]
    assert item.context["near"]["p001"][0][0] == "p002" and "truth" in item.context
    before = dict(item.context)
    arrange(item)
    assert item.context == before


@pytest.mark.django_db
def test_what_another_import_says_of_a_picture_while_the_set_is_laid_out_stays(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, files = world.stage, draw_pictures(["market/1.png", "market/2.png", "market/3.png"])
    stage.display, stage.pictures, stage.sheet = "contact", "set", {}
    stage.save()
    client, real = world.client(world.mara), picture_arrangement.fingerprints_of
    imported: list[Item] = []

    def while_another_import_ends(item: Item) -> Iterator[tuple[str, Fingerprint]]:
        if not imported:
            imported.append(item)
            upload(client, stage, lines({"key": "market", "file": "market/3.png", "title": "Third"}), files)
        yield from real(item)

    monkeypatch.setattr(picture_arrangement, "fingerprints_of", while_another_import_ends)
    rows = [{"key": "market", "file": f"market/{n}.png", "title": f"Number {n}"} for n in (1, 2)]
    upload(client, stage, lines(*rows), files)
    item = stage.items.get()
    assert {role: own["title"] for role, own in item.context["pictures"].items()} == {
        "p001": "Number 1",
        "p002": "Number 2",
        "p003": "Third",
    }
    assert sorted(role for group in item.context["groups"] for role in group) == ["p001", "p002", "p003"]
