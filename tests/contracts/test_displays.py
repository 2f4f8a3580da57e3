"""Every display draws a page and says the same to a model; what an item lacks is named."""

import pytest
from django.template.loader import render_to_string

from annotation.displays import DISPLAYS, Display, Shown, ShownImage, UnknownDisplay, display
from annotation.displays.contract import lacks

each_display = pytest.mark.parametrize("one", DISPLAYS, ids=lambda one: one.key)


def shown_for_display(one: Display) -> Shown:
    images = tuple(
        ShownImage(role, number, f"{number:064x}", 1000, 750, f"A {role}") for number, role in enumerate(one.roles, 1)
    )
    return Shown(item_id=1, target="Egypt", target_name="Egypt", text="Some words", images=images)


@each_display
def test_it_draws_every_picture_with_its_words(one: Display) -> None:
    shown = shown_for_display(one)
    html = render_to_string(one.template, {"shown": shown})
    for image in shown.images:
        assert f'alt="{image.alt}"' in html
    assert html.count("<img") == len(shown.images)
    assert 'width="1000"' in html


@each_display
def test_it_says_the_same_to_a_model(one: Display) -> None:
    shown = shown_for_display(one)
    parts = one.to_messages(shown)
    assert {part.sha for part in parts if part.type == "image"} == {image.sha for image in shown.images}
    assert "Some words" in [part.text for part in parts]


@each_display
def test_what_is_missing_is_named(one: Display) -> None:
    assert lacks(one, shown_for_display(one)) == []
    assert lacks(one, Shown(item_id=1)) == [*one.roles, *(["text"] if one.needs_text else [])]


def test_an_unknown_display_names_the_nearest() -> None:
    with pytest.raises(UnknownDisplay, match="did you mean 'image'"):
        display("imgae")
