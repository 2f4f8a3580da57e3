"""Pictures are compared by their pixels: the same, nearly the same, another size, much changed."""

import io

import pytest
from PIL import Image, ImageDraw

from papers.valueground.builder.image_comparison import compare
from papers.valueground.builder.seeds import question_seed, step_seed


def picture(changed: int = 0, side: int = 100, level: int = 255) -> bytes:
    """A grey square of which the first `changed` columns have another colour."""
    image = Image.new("RGB", (side, side), (100, 100, 100))
    if changed:
        ImageDraw.Draw(image).rectangle((0, 0, changed - 1, side), fill=(100, level, 100))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("base", "a", "b", "fault", "sides"),
    [
        (picture(), picture(5), picture(10), "", ()),
        (picture(), picture(5), picture(5), "identical", ("a", "b")),
        (picture(), picture(5), picture(), "identical", ("b",)),
        (picture(), picture(5), picture(90, level=116), "identical", ("b",)),
        (picture(), picture(5), picture(90, level=117), "", ()),
        (picture(), picture(5), picture(10, side=50), "size_differs", ("b",)),
        (None, picture(5), picture(10, side=50), "size_differs", ("b",)),
        (None, picture(5), picture(5), "identical", ("a", "b")),
    ],
)
def test_a_fault_is_named_with_its_sides(base: bytes, a: bytes, b: bytes, fault: str, sides: tuple[str, ...]) -> None:
    comparison = compare(a, b, base)
    assert (comparison.fault, comparison.sides) == (fault, sides)


def test_the_shares_are_of_all_pixels() -> None:
    shares = compare(picture(5), picture(70), picture()).shares
    assert shares == {"base_a": 0.05, "base_b": 0.7, "a_b": 0.65}


def test_seeds_name_every_part_of_a_step() -> None:
    first = (7, "Q56", "one", "planner", 1, 0, 0, "a")
    variants = {step_seed(*(*first[:n], type(first[n])(2), *first[n + 1 :])) for n in range(len(first))}
    assert len(variants) == len(first) and all(0 <= seed < 2**31 for seed in variants)
    assert step_seed(*first) == step_seed(*first) and question_seed(7, "Q56", "a") != question_seed(7, "Q57", "a")
