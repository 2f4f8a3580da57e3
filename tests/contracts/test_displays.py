"""Every display draws a page and says the same to a model; what an item lacks is named."""

from dataclasses import replace

import pytest
from django.template.loader import render_to_string

from annotation.displays import DISPLAYS, Display, Shown, ShownImage, UnknownDisplay, display
from annotation.displays.contract import required
from annotation.displays.layout import PLAIN, Layout, resolve_layout
from benchmarks.rules.displays import PICTURES, context_columns, default_pictures

ANY_NUMBER = {"contact": ("p001", "p002", "p003"), "words": ()}  # what they are tried with that need no picture
each_display = pytest.mark.parametrize("spec", DISPLAYS, ids=lambda one: one.key)


def missing_inputs(display: Display, shown: Shown, pictures: str = "one") -> list[str]:
    """What the display needs and the item does not have; empty when it can be shown."""
    parts = required(display, pictures)
    missing = [role for role in parts.roles if shown.image(role) is None]
    missing += ["text"] if parts.text and not shown.text.strip() else []
    return missing + [key for key in parts.context if not str(shown.context.get(key) or "").strip()]


def shown_for_display(spec: Display) -> Shown:
    images = tuple(
        ShownImage(role, number, f"{number:064x}", 1000, 750, f"A {role}")
        for number, role in enumerate(spec.roles or ANY_NUMBER[spec.key], 1)
    )
    context = {key: f"What {key} says" for key in spec.texts}
    return Shown(item_id=1, target="Egypt", target_name="Egypt", text="Some words", images=images, context=context)


def render_display(spec: Display, shown: Shown, layout: Layout = PLAIN) -> str:
    """All of it: on the stage, at the head of the panel, in the strip of tools."""
    data = {"shown": shown, "layout": resolve_layout(layout, shown, "en")}
    return "".join(render_to_string(name, data) for name in (spec.template, spec.aside, spec.tools) if name)


@each_display
def test_it_draws_every_picture_with_its_words(spec: Display) -> None:
    shown = shown_for_display(spec)
    html = render_display(spec, shown)
    for image in shown.images:
        assert f'alt="{image.alt}"' in html
    assert html.count("<img") == len(shown.images)
    assert html.count('width="1000"') == len(shown.images)
    for key in spec.texts:
        assert f"What {key} says" in html
    assert not spec.needs_text or "Some words" in html


@each_display
def test_it_says_the_same_to_a_model(spec: Display) -> None:
    shown = shown_for_display(spec)
    parts = spec.to_messages(shown)
    assert {part.sha for part in parts if part.type == "image"} == {image.sha for image in shown.images}
    assert "Some words" in [part.text for part in parts]
    for key in spec.texts:
        assert any(f"What {key} says" in part.text for part in parts)


def test_references_are_shown_only_where_the_stage_says_so() -> None:
    spec = display("candidate")
    shown = replace(shown_for_display(spec), context={"candidate": "It is tea", "references": ["Mint tea", "شاي"]})
    open_to_see = Layout.from_json({"references": True})
    assert "Mint tea" not in render_display(spec, shown) and "شاي" in render_display(spec, shown, open_to_see)
    assert not any("Mint tea" in part.text for part in spec.to_messages(shown))
    assert any("Mint tea" in part.text for part in spec.to_messages(shown, open_to_see))


def test_a_long_text_has_the_whole_width_and_labels_stand_apart() -> None:
    rows = [{"key": key, "label": {"en": key.title()}} for key in ("gold", "article", "concept")]
    context = {"gold": "Buddhism|Hinduism", "article": "All about it. " * 9, "concept": "a|b"}
    shown = replace(shown_for_display(display("words")), context=context)
    html = render_display(display("words"), shown, Layout.from_json({"show": rows}))
    assert "Buddhism, Hinduism" in html and "a|b" in html, "a bar in other words is one of theirs"
    assert html.count('class="long"') == 1 and '<div class="long"><dt><bdi>Article' in html


def test_a_bare_pair_does_not_tell_what_the_pictures_stand_for() -> None:
    pair, bare = display("pair"), display("bare-pair")
    shown = shown_for_display(pair)
    for one, told in ((pair, True), (bare, False)):
        texts = [render_display(one, shown), " ".join(part.text for part in one.to_messages(shown))]
        assert all(("What option_a says" in text) is told for text in texts)
        assert all("Some words" in text for text in texts)
    assert [part.text or part.type for part in bare.to_messages(shown)] == ["Some words", "A", "image", "B", "image"]


@each_display
def test_what_is_missing_is_named(spec: Display) -> None:
    assert missing_inputs(spec, shown_for_display(spec)) == []
    assert missing_inputs(spec, Shown(item_id=1)) == [*spec.roles, *(["text"] if spec.needs_text else []), *spec.texts]


def test_an_unknown_display_names_the_nearest() -> None:
    with pytest.raises(UnknownDisplay, match="did you mean 'image'"):
        display("imgae")


@pytest.mark.parametrize("key", ["pair", "bare-pair"])
def test_two_texts_stand_side_by_side_where_an_item_has_no_pictures(key: str) -> None:
    spec = display(key)
    shown = replace(shown_for_display(display("pair")), images=(), text="")
    html = render_display(spec, shown)
    assert "What option_a says" in html and "What option_b says" in html
    assert "no picture" not in html and "Blink" not in html and "Swap sides" in html
    parts = [part.text for part in spec.to_messages(shown)]
    assert parts == ["A: What option_a says", "B: What option_b says"]
    assert missing_inputs(spec, shown, "none") == []
    assert missing_inputs(spec, Shown(item_id=1), "none") == ["option_a", "option_b"]


@pytest.mark.parametrize("key", ["image", "question", "candidate"])
def test_the_text_stands_where_the_picture_would(key: str) -> None:
    spec = display(key)
    shown = replace(shown_for_display(spec), images=())
    html = render_display(spec, shown)
    assert html.count("Some words") == 1 and "no picture" not in html
    assert missing_inputs(spec, shown, "optional") == [] and missing_inputs(spec, shown, "one") == ["image"]


@each_display
def test_its_usual_number_of_pictures_shows_all_that_it_has_places_for(spec: Display) -> None:
    usual = default_pictures(spec.key)
    assert usual in PICTURES
    assert len(spec.roles) < 2 or usual == "named"
    assert set(spec.texts) <= set(context_columns(spec.key, usual))
