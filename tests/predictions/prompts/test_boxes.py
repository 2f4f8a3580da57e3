"""Boxes out of replies in every notation, on the declared scale; never guessed, never two as one."""

from dataclasses import replace

import pytest

from predictions.prompts.boxes import BoxScale, box_scale, parse_boxes, patch_box
from predictions.prompts.contract import DetectedBox, MissingInput, Reply, UnparsedReply
from tests.predictions.prompts.cases import case, text_reply

BOX = pytest.approx((0.1, 0.2, 0.3, 0.4))
GROUNDING = case("globalrg-grounding")


def read(
    text: str, scale: str = "1000", order: str = "xyxy", size: tuple[int, int] = (1024, 768), **more: object
) -> object:
    frame: BoxScale = box_scale(scale, order, size, **more)  # type: ignore[arg-type]
    found = parse_boxes(text, frame, patches=scale == "patches")
    return found.reason if isinstance(found, UnparsedReply) else found


@pytest.mark.parametrize(
    "text",
    [
        "<100><200><300><400>",
        "ajrak: <100> <200> <300> <400>",
        "<box><100><200><300><400></box>",
        "[100, 200, 300, 400]",
        "[[100, 200, 300, 400]]",
        "<box>[[100, 200, 300, 400]]</box>",
        "(100, 200, 300, 400)",
        "(100,200),(300,400)",
        "<ref>ajrak</ref><box>(100,200),(300,400)</box>",
        "<|box_start|>(100,200),(300,400)<|box_end|>",
        "[[100, 200], [300, 400]]",
        "100, 200, 300, 400",
        "100 200 300 400",
        "[١٠٠, ٢٠٠, ٣٠٠, ٤٠٠]",
        '{"box": [100, 200, 300, 400]}',
        '{"bbox_2d": [100, 200, 300, 400], "label": "ajrak"}',
        '```json\n[{"bbox_2d": [100, 200, 300, 400], "label": "ajrak"}]\n```',
        '{"x1": 100, "y1": 200, "x2": 300, "y2": 400}',
        '{"xmin": "100", "ymin": "200", "xmax": "300", "ymax": "400"}',
        '{"box": {"left": 100, "top": 200, "right": 300, "bottom": 400}}',
        '{"x": 100, "y": 200, "width": 200, "height": 200}',
        '{"cx": 200, "cy": 300, "w": 200, "h": 200}',
        '{"boxes": [[100, 200, 300, 400]]}',
        '{"box": "[100, 200, 300, 400]"}',
        "The ajrak is here: [100, 200, 300, 400]. Once more: [100, 200, 300, 400].",
        "[300, 400, 100, 200]",
    ],
)
def test_every_notation_is_read(text: str) -> None:
    assert read(text) == [BOX]


@pytest.mark.parametrize(
    ("text", "scale", "order"),
    [
        ("[0.1, 0.2, 0.3, 0.4]", "1", "xyxy"),
        ("[.1, .2, .3, .4]", "1", "xyxy"),
        ("[10, 20, 30, 40]", "100", "xyxy"),
        ("[102.4, 153.6, 307.2, 307.2]", "pixels", "xyxy"),
        ("[200, 100, 400, 300]", "1000", "yxyx"),
        ("[100, 200, 200, 200]", "1000", "xywh"),
        ("[200, 300, 200, 200]", "1000", "cxcywh"),
    ],
)
def test_the_declared_scale_and_order_are_applied(text: str, scale: str, order: str) -> None:
    assert read(text, scale, order) == [BOX]


def test_loc_tokens_are_parts_of_1024_from_the_top() -> None:
    text = "<loc0256><loc0128><loc0512><loc0768> ajrak"
    assert read(text, "1024") == [pytest.approx((0.125, 0.25, 0.75, 0.5))]


def test_patch_indexes_are_cells_of_the_grid() -> None:
    """By hand, on 32 x 32: cell 33 is (1, 1), cell 99 is (3, 3); from middle to middle: 1.5/32 to 3.5/32."""
    assert read("<object><patch_index_0033><patch_index_0099></object>", "patches") == [
        pytest.approx((1.5 / 32, 1.5 / 32, 3.5 / 32, 3.5 / 32))
    ]
    assert patch_box(0, 0, 32) == (0, 0, 1 / 32, 1 / 32)
    assert patch_box(0, 3, 4) == (0, 0, 1, 0.25)


def test_cells_in_one_row_or_column_are_whole() -> None:
    """As transformers' processing of KOSMOS-2 has it: 5 is (5, 0); 3 and 67 are (3, 0) and (3, 2)."""
    assert patch_box(0, 5, 32) == pytest.approx((0, 0, 6 / 32, 1 / 32))
    assert patch_box(3, 67, 32) == pytest.approx((3 / 32, 0, 4 / 32, 3 / 32))
    assert patch_box(40, 1000, 32) == pytest.approx((8 / 32, 1 / 32, 9 / 32, 1))


def test_a_padded_square_is_taken_back() -> None:
    """A 200 x 100 picture in the middle of 200 x 200: 50 above and below. y 0.25 of the square is the picture's top."""
    assert read("[0.1, 0.25, 0.5, 0.75]", "1", size=(200, 100), padded=True) == [pytest.approx((0.1, 0, 0.5, 1))]
    assert read("[20, 50, 100, 150]", "pixels", size=(200, 100), padded=True) == [pytest.approx((0.1, 0, 0.5, 1))]


def test_what_reaches_into_the_bars_of_a_padded_square_is_cut_and_what_leaves_the_square_is_not() -> None:
    """The bars are y 0 to 0.25 and 0.75 to 1; a cell of KOSMOS-2's grid is 1/32."""
    assert read("[0.1, 0.1, 0.5, 0.75]", "1", size=(200, 100), padded=True) == [pytest.approx((0.1, 0, 0.5, 1))]
    assert read("[0.1, 0.5, 0.5, 0.7]", "1", size=(200, 100), padded=True) == [pytest.approx((0.1, 0.5, 0.5, 0.9))]
    assert read("[0.1, 0.1, 0.5, 1.1]", "1", size=(200, 100), padded=True) == "outside_scale"
    assert read("[0.1, 0.05, 0.5, 0.2]", "1", size=(200, 100), padded=True) == "empty_box"
    cells = "<patch_index_0264><patch_index_0792>"  # (8, 8) to (24, 24): half a cell into the lower bar
    assert read(cells, "patches", size=(200, 100), padded=True) == [
        pytest.approx((8.5 / 32, 0.5 / 16, 24.5 / 32, 1), abs=1e-6)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "first [100,200,300,400] then <5><6><7><8>",
        "<100><200><300><400> [1,2,3,4]",
        '{"box": [100, 200, 300, 400]} so [5, 6, 7, 8]',
        "(100, 200), (300, 400) or [5, 6, 7, 8]",
    ],
)
def test_boxes_in_two_notations_are_two(text: str) -> None:
    found = read(text)
    assert isinstance(found, list) and len(found) == 2
    assert GROUNDING.says(text) == "several_boxes"


@pytest.mark.parametrize(
    ("text", "scale", "reason"),
    [
        ("[0.1, 0.2, 0.3, 0.4]", "patches", "other_notation"),
        ('{"box": [0.1, 0.2, 0.3, 0.4]}', "patches", "other_notation"),
        ("[0.1, 0.2, 0.3, 0.4, 0.5]", "1", "no_box"),
        ("[100, 200, 300, 400]", "1", "outside_scale"),
        ("[100, 200, 300, 400]", "100", "outside_scale"),
        ("[-100, 200, 300, 400]", "1000", "outside_scale"),
        ("[1100, 0, 1200, 100]", "pixels", "outside_scale"),
        ("<loc0256><loc0128><loc0512><loc0768>", "1000", "other_notation"),
        ("<patch_index_0033><patch_index_0099>", "1000", "other_notation"),
        ("<patch_index_0033><patch_index_1024>", "patches", "outside_scale"),
        ("[100, 200, 100, 400]", "1000", "empty_box"),
        ("It is on the left.", "1000", "no_box"),
        ("<x_left><y_top><x_right><y_bottom>", "1000", "no_box"),
        ("[n, n, n, n]", "1000", "no_box"),
        ('{"box": [NaN, 0, 1, 1]}', "1", "no_box"),
        ('{"box": [1e999, 0, 1, 1]}', "1", "no_box"),
        ('{"box": [true, 0, 1, 1]}', "1", "no_box"),
        ('{"box": [1, 2, 3, 4], "box": [5, 6, 7, 8]}', "100", "two_verdicts"),
    ],
)
def test_what_is_no_box_of_the_scale_has_a_reason(text: str, scale: str, reason: str) -> None:
    assert read(text, scale) == reason


def test_a_pixel_of_rounding_is_put_back_and_more_is_not() -> None:
    assert read("[0, 0, 1001, 500]") == [pytest.approx((0, 0, 1, 0.5))]
    assert read("[0, 0, 1010, 500]") == "outside_scale"


def test_several_boxes_are_none() -> None:
    assert GROUNDING.says("[100, 200, 300, 400] or [500, 600, 700, 800]") == "several_boxes"
    assert GROUNDING.says('[{"bbox_2d": [1, 2, 3, 4]}, {"bbox_2d": [5, 6, 7, 8]}]') == "several_boxes"


def test_pixels_are_of_the_picture_as_it_is_sent_and_the_prompt_says_its_size() -> None:
    """The picture has 1600 x 1200 pixels; 800 is sent at most."""
    words = str(GROUNDING.asked(scale="pixels", longest=800))
    assert "800 pixels wide and 600 pixels high" in words
    assert GROUNDING.says("[80, 120, 240, 240]", scale="pixels", longest=800) == {"box": [[0.1, 0.2, 0.3, 0.4]]}


@pytest.mark.parametrize("options", [{"scale": "guess"}, {"order": "any"}])
def test_an_unknown_scale_asks_nothing(options: dict[str, str]) -> None:
    with pytest.raises(MissingInput, match="no_scale"):
        GROUNDING.asked(**options)
    assert [one.code for one in GROUNDING.prompt.problems(options)] == ["not_a_choice"]  # type: ignore[attr-defined]


def test_the_best_scored_of_a_detectors_boxes_is_taken() -> None:
    detector = case("globalrg-detector")
    reply = detector.read(
        Reply(boxes=(DetectedBox("a", 0.3, (0.5, 0.5, 0.6, 0.6)), DetectedBox("a", 0.7, (-0.01, 0, 0.5, 0.5))))
    )
    assert reply.answers == {"box": [[0, 0, 0.5, 0.5]]}  # type: ignore[union-attr]
    assert reply.notes["rule"] == "best_scored" and reply.notes["found"] == 2
    assert detector.read(Reply()).reason == "no_box"  # type: ignore[union-attr]


def test_a_reply_without_a_box_that_was_cut_off_says_so() -> None:
    found = GROUNDING.read(Reply("The ajrak is at [100, 200", finish="length"))
    assert isinstance(found, UnparsedReply) and found.reason == "cut_off"
    assert GROUNDING.read(text_reply("I see no ajrak.")).reason == "no_box"  # type: ignore[union-attr]


@pytest.mark.parametrize("scale", ["100", "1000", "1024", "pixels"])
@pytest.mark.parametrize(
    "text", ["[0.1, 0.2, 0.3, 0.4]", '{"bbox": [0.1, 0.2, 0.3, 0.4]}', "<0.1><0.2><0.3><0.4>", "[0, 0, 1, 1]"]
)
def test_fractions_are_no_box_where_another_scale_was_declared(text: str, scale: str) -> None:
    assert read(text, scale) == "other_notation"
    assert read(text, "1") != "other_notation"


def test_sides_in_json_may_be_pixels_of_a_large_picture_and_no_numbers_without_end() -> None:
    text = '{"x0": 1200, "y0": 2400, "x1": 3600, "y1": 4800}'
    assert read(text, "pixels", size=(12_000, 12_000)) == [BOX]
    assert read('{"x0": 1e10, "y0": 0, "x1": 1e11, "y1": 1}', "pixels", size=(12_000, 12_000)) == "no_box"


def test_a_box_of_one_thousandth_is_read_where_another_shows_that_the_scale_is_kept() -> None:
    boxes = [(0, 0, 0.001, 0.001), (0.1, 0.1, 0.5, 0.5)]
    for text in ("[0,0,1,1] [100,100,500,500]", "[100,100,500,500] [0,0,1,1]"):
        assert sorted(read(text)) == [pytest.approx(box) for box in boxes]  # type: ignore[call-overload]


@pytest.mark.parametrize("text", ["[0, 0, 2, 2]", "[0, 0, 0, 0]"])
def test_a_small_box_is_a_box_and_an_empty_one_is_empty(text: str) -> None:
    assert read(text) in ("empty_box", [(0.0, 0.0, 0.002, 0.002)])


def test_a_box_that_needs_a_label_is_not_asked_for_by_these_prompts() -> None:
    """The prompt of any sheet asks for the label."""
    scene = GROUNDING.scene()
    [question] = [one for one in scene.questions if one.key == "box"]
    assert GROUNDING.prompt.fits(scene)
    for label, fits in (({"type": "string", "enum": ["lamp"]}, False), ({"anyOf": []}, True)):
        asked = replace(question, schema={**question.schema, "items": {"properties": {"label": label}}})
        assert GROUNDING.prompt.fits(replace(scene, questions=(asked,))) is fits
