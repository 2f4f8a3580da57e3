"""Every display draws a page and says the same to a model; what an item lacks is named."""

from dataclasses import replace

import pytest
from django.template.loader import render_to_string

from annotation.displays import DISPLAYS, Display, Shown, ShownImage, UnknownDisplay, display
from annotation.displays.contract import missing_inputs
from annotation.displays.layout import PLAIN, Layout, resolve_layout
from benchmarks.rules.displays import PICTURES, context_columns, default_pictures

ANY_NUMBER = {"contact": ("p001", "p002", "p003"), "words": ()}  # what they are tried with that need no picture
each_display = pytest.mark.parametrize("one", DISPLAYS, ids=lambda one: one.key)


def shown_for_display(one: Display) -> Shown:
    images = tuple(
        ShownImage(role, number, f"{number:064x}", 1000, 750, f"A {role}")
        for number, role in enumerate(one.roles or ANY_NUMBER[one.key], 1)
    )
    context = {key: f"What {key} says" for key in one.texts}
    return Shown(item_id=1, target="Egypt", target_name="Egypt", text="Some words", images=images, context=context)


def drawn(one: Display, shown: Shown, layout: Layout = PLAIN) -> str:
    """All of it: on the stage, at the head of the panel, in the strip of tools."""
    data = {"shown": shown, "said": resolve_layout(layout, shown, "en")}
    return "".join(render_to_string(name, data) for name in (one.template, one.aside, one.tools) if name)


@each_display
def test_it_draws_every_picture_with_its_words(one: Display) -> None:
    shown = shown_for_display(one)
    html = drawn(one, shown)
    for image in shown.images:
        assert f'alt="{image.alt}"' in html
    assert html.count("<img") == len(shown.images)
    assert html.count('width="1000"') == len(shown.images)
    for key in one.texts:
        assert f"What {key} says" in html
    assert not one.needs_text or "Some words" in html


@each_display
def test_it_says_the_same_to_a_model(one: Display) -> None:
    shown = shown_for_display(one)
    parts = one.to_messages(shown)
    assert {part.sha for part in parts if part.type == "image"} == {image.sha for image in shown.images}
    assert "Some words" in [part.text for part in parts]
    for key in one.texts:
        assert any(f"What {key} says" in part.text for part in parts)


def test_references_are_shown_only_where_the_stage_says_so() -> None:
    one = display("candidate")
    shown = replace(shown_for_display(one), context={"candidate": "It is tea", "references": ["Mint tea", "شاي"]})
    open_to_see = Layout.from_json({"references": True})
    assert "Mint tea" not in drawn(one, shown) and "شاي" in drawn(one, shown, open_to_see)
    assert not any("Mint tea" in part.text for part in one.to_messages(shown))
    assert any("Mint tea" in part.text for part in one.to_messages(shown, open_to_see))


def test_a_bare_pair_does_not_tell_what_the_pictures_stand_for() -> None:
    pair, bare = display("pair"), display("bare-pair")
    shown = shown_for_display(pair)
    for one, told in ((pair, True), (bare, False)):
        texts = [drawn(one, shown), " ".join(part.text for part in one.to_messages(shown))]
        assert all(("What option_a says" in text) is told for text in texts)
        assert all("Some words" in text for text in texts)
    assert [part.text or part.type for part in bare.to_messages(shown)] == ["Some words", "A", "image", "B", "image"]


@each_display
def test_what_is_missing_is_named(one: Display) -> None:
    assert missing_inputs(one, shown_for_display(one)) == []
    assert missing_inputs(one, Shown(item_id=1)) == [*one.roles, *(["text"] if one.needs_text else []), *one.texts]


def test_an_unknown_display_names_the_nearest() -> None:
    with pytest.raises(UnknownDisplay, match="did you mean 'image'"):
        display("imgae")


@pytest.mark.parametrize("key", ["pair", "bare-pair"])
def test_two_texts_stand_side_by_side_where_an_item_has_no_pictures(key: str) -> None:
    one = display(key)
    shown = replace(shown_for_display(display("pair")), images=(), text="")
    html = drawn(one, shown)
    assert "What option_a says" in html and "What option_b says" in html
    assert "no picture" not in html and "Blink" not in html and "Swap sides" in html
    parts = [part.text for part in one.to_messages(shown)]
    assert parts == ["A: What option_a says", "B: What option_b says"]
    assert missing_inputs(one, shown, "none") == []
    assert missing_inputs(one, Shown(item_id=1), "none") == ["option_a", "option_b"]


@pytest.mark.parametrize("key", ["image", "question", "candidate"])
def test_the_text_stands_where_the_picture_would(key: str) -> None:
    one = display(key)
    shown = replace(shown_for_display(one), images=())
    html = drawn(one, shown)
    assert html.count("Some words") == 1 and "no picture" not in html
    assert missing_inputs(one, shown, "optional") == [] and missing_inputs(one, shown, "one") == ["image"]


@each_display
def test_its_usual_number_of_pictures_shows_all_that_it_has_places_for(one: Display) -> None:
    usual = default_pictures(one.key)
    assert usual in PICTURES
    assert len(one.roles) < 2 or usual == "named"
    assert set(one.texts) <= set(context_columns(one.key, usual))
