"""Groupings: whatever comes in, being the same is transitive, and every picture is in one place."""

import json
from dataclasses import replace
from typing import Any

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.displays.contact_sheet import DISPLAY, build_contact_groups
from annotation.fields.contract import InvalidAnswer, Shown, ShownImage
from annotation.fields.form import Localiser
from annotation.fields.grouping.form import FORM
from annotation.fields.grouping.spec import SPEC, picture_names, role_keys

NAMES = [f"p{number:03}" for number in range(1, 8)]
CONFIG = SPEC.config(
    {"roles": [{"code": "crop", "label": {"en": "Crop"}}, {"code": "time", "label": {"en": "Night"}, "keeps": True}]}
)


def shown_pictures(names: list[str] = NAMES, **context: Any) -> Shown:
    images = tuple(ShownImage(name, at, f"{at:064x}", 400, 300, f"A {name}") for at, name in enumerate(names, 1))
    return Shown(1, images=images, context=context)


acts = st.tuples(
    *(
        st.one_of(
            st.sampled_from([f"keep:{name}", f"drop:{name}", f"unsure:{name}"]),
            st.sampled_from([other for other in NAMES if other != name]).map(
                lambda other, name=name: f"same:{name}:{other}"
            ),
        )
        for name in NAMES
    )
)


@given(acts)
@settings(max_examples=300, deadline=None)
def test_acts_in_any_order_make_a_partition(actions: tuple[str, ...]) -> None:
    try:
        answer = SPEC.parse(list(actions), CONFIG, shown_pictures())
    except InvalidAnswer as refused:  # somebody is the same as what is dropped
        assert refused.problem.code == "picture_twice"
        return
    assert answer is not None
    places = [name for group in answer["groups"] for name in group["images"]] + answer["dropped"]
    assert sorted(places) == NAMES
    block = {name: at for at, group in enumerate(answer["groups"]) for name in group["images"]}
    for one in actions:
        if one.startswith("same"):
            _act, name, other = one.split(":")
            assert block[name] == block[other]
    for group in answer["groups"]:
        assert group["kept"] or set(group["images"]) <= set(answer["unsure"])
    assert SPEC.parse(answer, CONFIG, shown_pictures()) == answer
    assert SPEC.parse(list(reversed(actions)), CONFIG, shown_pictures()) == answer


KEYS = st.sampled_from(["groups", "images", "kept", "roles", "dropped", "unsure", "p001"])
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from([*NAMES, "groups"])
anything = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)


@given(anything)
@settings(max_examples=300, deadline=None)
def test_anything_else_is_refused_or_understood_and_never_an_error(raw: Any) -> None:
    try:
        SPEC.parse(raw, CONFIG, shown_pictures())
    except InvalidAnswer as refused:
        assert refused.problem.code in SPEC.problems
    FORM.context(CONFIG, raw if raw is None or isinstance(raw, str) else None, Localiser(), shown_pictures())


@pytest.mark.parametrize(
    "typed", ['{"groups": [NaN]}', '{"a": 1e999}', '{"x"', '{"groups":"\\ud800"}', "{" * 5000, "nonsense"]
)
def test_what_is_no_grouping_stays_text_in_drafts(typed: str) -> None:
    posted = QueryDict(mutable=True)
    posted.setlist("a-q", [typed])
    read = FORM.read(posted, "a-q")
    assert json.dumps(read, allow_nan=False).encode()
    with pytest.raises(InvalidAnswer):
        SPEC.parse(read, CONFIG, shown_pictures())
    assert FORM.context(CONFIG, read, Localiser(), shown_pictures())["count"] == 7


def test_refused_or_partial_answer_is_drawn_as_submitted() -> None:
    raw = {"groups": [{"images": ["p001", "p002"], "kept": ["p001"], "roles": {"p002": "crop"}}], "dropped": ["p004"]}
    rows = FORM.context(CONFIG, raw, Localiser(), shown_pictures())["rows"]
    chosen = [[one.label for one in row.acts if one.chosen] for row in rows]
    assert chosen == [["Keep"], ["Same as 1"], ["Not decided"], ["Drop"], *[["Not decided"]] * 3]
    assert [one.label for one in rows[1].roles if one.chosen] == ["Crop"]
    assert json.loads(FORM.context(CONFIG, raw, Localiser(), shown_pictures())["written"]) == raw
    with pytest.raises(InvalidAnswer) as refused:
        SPEC.parse(raw, CONFIG, shown_pictures())
    assert refused.value.problem.params == {"count": 4, "first": 3}


def test_numbers_follow_the_sheet_and_not_the_names() -> None:
    item = shown_pictures(
        groups=[["p005"], ["p007", "p001"], ["p002", "p009"]], near={"p001": [["p007", 0.9], ["p005", 0.1]]}
    )
    assert picture_names(item) == ["p007", "p001", "p005", "p002", "p003", "p004", "p006"]
    groups = build_contact_groups(item)
    assert [(group.number, [one.number for one in group.pictures]) for group in groups] == [
        (1, [1, 2]),
        (0, [3, 4, 5, 6, 7]),
    ]
    assert groups[0].pictures[1].near == "1:0.90 3:0.10"


def test_a_group_says_how_alike_any_two_of_it_are() -> None:
    near = {
        "p001": [["p002", 0.84], ["p003", 0.32]],
        "p002": [["p001", 0.84], ["p005", 0.05]],
        "p003": [["p002", 0.59]],
    }
    group = build_contact_groups(shown_pictures(groups=[["p001", "p002", "p003"]], near=near))[0]
    assert (group.low, group.high) == ("0.32", "0.84")  # not the nearest of each, and nobody outside


def test_pictures_that_nothing_compared_are_not_called_alone() -> None:
    [group] = build_contact_groups(shown_pictures(groups=[["p001"], ["p002"]]))
    assert (group.number, group.is_compared, len(group.pictures)) == (0, False, 7)
    [group] = build_contact_groups(shown_pictures(groups=[["p001"]], near={"p001": [["p002", 0.2]]}))
    assert group.is_compared
    shown = replace(shown_pictures(groups=[["p001"], ["p002"]]), text="A dance in Egypt")
    text = render_to_string(DISPLAY.template, {"shown": shown})
    assert "A dance in Egypt" in text and "no similar picture found" not in text and "<h3>" not in text


def test_roles_have_keys_that_the_sheet_has_not_taken() -> None:
    rows = [
        {"code": code, "label": {"en": label}} for code, label in (("shift", "Shift"), ("zoom", "Zoom"), ("d", "ksd"))
    ]
    keys = role_keys(SPEC.config({"roles": rows}))
    assert keys == {"shift": "h", "zoom": "z", "d": ""}
