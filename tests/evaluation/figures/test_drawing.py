"""Drawings by arithmetic: where marks lie, what is cut, and that each holds nothing, one thing and hundreds."""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path as File
from typing import Any

import pytest

from evaluation.figures.drawing import (
    axis,
    bars,
    boxes,
    colours,
    heat_map,
    lines,
    picture_strips,
    plane,
    points,
    ranks,
    scatter,
    shapes,
    strip,
)
from evaluation.figures.drawing.axis import AxisScale, Value, ticks
from evaluation.figures.drawing.colours import KINDS, TOKENS, contrast, ink_on, kind, sequential, steps
from evaluation.figures.drawing.scene import Path, Picture, Rect, Text, VectorScene
from evaluation.figures.drawing.text import clean, isolate_direction, shorten, width_of

ROOT = File(__file__).resolve().parents[3]
HALF = Value(0.5)
NONE = Value(None, why="No value: nothing yet.")


def marks_of(scene: VectorScene, kind_of: type) -> list[Any]:
    return [mark for mark in scene.marks if isinstance(mark, kind_of)]


def dots(scene: VectorScene) -> list[tuple[float, float]]:
    """Dots are lines without length."""
    found = [re.findall(r"M([\d.-]+) ([\d.-]+)h0", mark.d) for mark in marks_of(scene, Path)]
    return [(float(x), float(y)) for path in found for x, y in path]


def heats(rows: int, columns: int, value: Value = HALF) -> heat_map.HeatMap:
    names = tuple(f"row {n}" for n in range(rows)), tuple(f"m{n}" for n in range(columns))
    return heat_map.HeatMap(
        *names, tuple(tuple(value for _c in range(columns)) for _r in range(rows)), 0, 1, "rho", "none"
    )


def raters(count: int) -> strip.Strip:
    group = tuple(strip.Rater(f"R-{n:03}", Value(0.5, 0.4, 0.6, 9) if n % 50 != 7 else NONE) for n in range(count))
    return strip.Strip((("Egypt", group),))


def cloud(count: int) -> scatter.Scatter:
    points = tuple(scatter.Dot(f"item {n}", 1 + n % 40 / 10, 1 + n % 7 / 2) for n in range(count))
    return scatter.Scatter((scatter.Cloud("Lens", points, "r"),), "people", "model", 1, 5, True)


def course(count: int) -> lines.LineChart:
    points = tuple(lines.Point(float(n), f"{n} May", Value(0.1, 0.0, 0.3, 10 * n) if n else NONE) for n in range(count))
    return lines.LineChart((lines.LinePanel("Egypt", points),))


def stacks(count: int) -> bars.Stacks:
    rows = tuple(bars.Stack(f"cohort {n}", (0.5, 0.3, 0.2) if n % 9 else None, n, "no answers") for n in range(count))
    return bars.Stacks(("a", "b", "c"), KINDS[:3], rows, ("A", "B", "C"))


def ranked(count: int) -> ranks.Ranks:
    kinds = tuple(ranks.ListKind(f"tier {n}", tuple([1 / 3] * count)) for n in range(3))
    return ranks.Ranks((("Lens", kinds),), "rank", "share")


def cards(count: int) -> boxes.Overlays:
    drawn = (boxes.LabelledBox("R-1", (0.0, 0.0, 0.5, 1.0)), boxes.LabelledBox("Lens", (0.25, 0.0, 0.75, 1.0), 1 / 3))
    return boxes.Overlays(tuple(boxes.Card(f"drum {n}", "a" * 64, 400, 300, drawn) for n in range(count)))


def strips_of(count: int) -> picture_strips.Strips:
    tiles = tuple(
        picture_strips.StripPicture("Egypt", 0.5, kind(n), "a" * 64, f"image {n}", bool(n % 2)) for n in range(count)
    )
    return picture_strips.Strips((picture_strips.PictureStrip("Lens", "wedding", tiles),), (("Africa", kind(0)),))


def planes(count: int) -> plane.Plane:
    named = tuple(
        plane.Cluster(f"language {n}", ((n % 7, n % 5), (n, -n)), 9 * n, "-0.31") for n in range(min(count, 35))
    )
    others = plane.Cluster("others, 265 groups", ((1.0, 2.0),), 265) if count > 35 else None
    return plane.Plane(
        (plane.PlanePanel("CLIP", "Silhouette 0.3", "first", "second", named, others),), "n", "silhouette"
    )


def dated_points(count: int) -> points.Points:
    spots = tuple(
        points.PlotPoint(f"model {n}", n % 20, Value(n % 9 / 9, 0.1, 0.9) if n % 7 else NONE) for n in range(count)
    )
    ticks_, kinds = points.number_ticks((0, 5, 10, 15, 20)), (shapes.sign(0), shapes.sign(1))
    series = (points.Series(0, spots), points.Series(1, spots[:3]))
    panels = (points.PointPanel("GPT-4", "rho = 0.3", series), points.PointPanel("Qwen", "", ()))
    names = tuple((kind_of, "a kind with a name of some length") for kind_of in kinds)
    return points.Points(
        panels, "words", "accuracy", ticks_, (0, 0.5, 1), names, (points.Trend((0,), "#000"),), kinds, 2
    )


ALL: list[tuple[str, Callable[[Any, float], VectorScene], Callable[[int], Any]]] = [
    ("heat map", heat_map.draw, lambda n: heats(n, min(n, 14))),
    ("strip", strip.draw, raters),
    ("scatter", scatter.draw, cloud),
    ("course", lines.draw, course),
    ("stacks", bars.draw_stacks, stacks),
    ("bars", bars.draw_bars, lambda n: bars.Bars(tuple(bars.Bar(f"b{k}", Value(0.5, 0.4, 0.6, k)) for k in range(n)))),
    ("ranks", ranks.draw, ranked),
    ("boxes", boxes.draw, cards),
    ("lists", picture_strips.draw, strips_of),
    ("plane", plane.draw, planes),
    ("points", points.draw, dated_points),
]


@pytest.mark.parametrize("width", [330.0, 760.0])
@pytest.mark.parametrize("count", [0, 1, 3, 300])
@pytest.mark.parametrize(("name", "draw", "make"), ALL, ids=[name for name, *_rest in ALL])
def test_nothing_leaves_the_drawing(name: str, draw: Any, make: Any, count: int, width: float) -> None:
    scene = draw(make(count), width)
    assert scene.height > 0
    assert scene.width >= width
    for mark in scene.marks:
        if isinstance(mark, Text) and not mark.turn:
            long = width_of(mark.words, mark.size or 13, bold=mark.bold)
            start = mark.x - {"start": 0, "middle": long / 2, "end": long}[mark.anchor]
            assert start >= -10, mark  # the margin is 10
            assert start + long <= scene.width + 10, mark
            assert 0 < mark.y <= scene.height + 10, mark
        elif isinstance(mark, Rect | Picture):
            assert mark.x >= -1 and mark.x + mark.width <= scene.width + 1, mark
            assert mark.y >= -1 and mark.y + mark.height <= scene.height + 1, mark


def test_a_dot_lies_where_its_value_is() -> None:
    # Names take 40 + 12 at least, n 52: the axis of the strip runs from left to 760 - 52, from -0.2 to 1.
    scene = strip.draw(strip.Strip((("Egypt", (strip.Rater("R-1", Value(0.4, 0.1, 0.7, 9)),)),)), 760)
    [(x, y)] = dots(scene)
    words = {mark.words: mark for mark in marks_of(scene, Text)}
    assert x == pytest.approx((words["0.4"].x), abs=0.1)
    assert x == pytest.approx((words["−0.2"].x + words["1"].x) / 2, abs=0.1)
    assert y == 22 + 11  # below the cohort's name, in the middle of the first row


def test_an_axis_maps_its_ends_to_its_ends_and_cuts_what_lies_beyond() -> None:
    scale = AxisScale(-0.2, 1, 100, 700)
    assert (scale.at(-0.2), scale.at(1), scale.at(0.4)) == (100, 700, pytest.approx(400))
    assert (scale.at(-5), scale.at(5)) == (100, 700)
    upright = AxisScale(0, 1, 200, 0)
    assert upright.at(0.25) == 150


def test_an_interval_that_goes_on_beyond_the_axis_is_marked() -> None:
    low = strip.Strip((("Egypt", (strip.Rater("R-1", Value(0.4, -3.0, 0.7, 9)),)),))
    inside = strip.Strip((("Egypt", (strip.Rater("R-1", Value(0.4, -0.3, 0.7, 9)),)),))
    arrows = [sum(mark.d.endswith("z") for mark in marks_of(strip.draw(one, 760), Path)) for one in (low, inside)]
    assert arrows == [1, 0]


@pytest.mark.parametrize(
    ("low", "high", "made"),
    [(0, 0.93, (0, 0.2, 0.4, 0.6, 0.8, 1)), (1, 5, (1, 2, 3, 4, 5)), (0.31, 0.38, (0.3, 0.32, 0.34, 0.36, 0.38)),
     (2, 2, (1.4, 1.6, 1.8, 2, 2.2, 2.4, 2.6)), (-0.5, 0.5, (-0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6))],
)  # fmt: skip
def test_ticks_are_round_and_hold_both_ends(low: float, high: float, made: tuple[float, ...]) -> None:
    assert ticks(low, high) == pytest.approx(made)


def test_shares_are_as_wide_as_they_are() -> None:
    rows = (bars.Stack("Egypt", (0.5, 0.3, 0.2), 10),)
    scene = bars.draw_stacks(bars.Stacks(("a", "b", "c"), tuple(steps(3)), rows, ("1", "2", "3")), 760)
    segments = [mark for mark in marks_of(scene, Rect) if mark.title.startswith("Egypt")]
    assert [mark.title for mark in segments] == ["Egypt, a: 50.0 %", "Egypt, b: 30.0 %", "Egypt, c: 20.0 %"]
    whole = sum(mark.width for mark in segments)
    assert [mark.width / whole for mark in segments] == pytest.approx([0.5, 0.3, 0.2], abs=0.001)
    assert segments[1].x == pytest.approx(segments[0].x + segments[0].width, abs=0.11)


def test_a_bar_begins_at_zero_and_a_negative_one_goes_left() -> None:
    scene = bars.draw_bars(bars.Bars((bars.Bar("up", Value(0.5)), bars.Bar("down", Value(-0.5)))), 760)
    up, down = marks_of(scene, Rect)
    zero = next(mark.x for mark in marks_of(scene, Text) if mark.words == "0")
    assert up.x == pytest.approx(zero, abs=0.11)
    assert down.x + down.width == pytest.approx(zero, abs=0.11)
    assert up.width == down.width


def test_a_box_lies_on_its_picture_as_its_shares_say() -> None:
    card = boxes.Card("drum", "a" * 64, 100, 200, (boxes.LabelledBox("R-1", (0.1, 0.2, 0.6, 0.7)),))
    scene = boxes.draw(boxes.Overlays((card,)), 236)
    [picture] = marks_of(scene, Picture)
    box = next(mark for mark in marks_of(scene, Rect) if mark.y > picture.y and mark.width > 20)
    # 177 high, as the frame of 236 x 177 allows; 88.5 wide in the picture's own form, in the middle of the frame.
    assert (picture.width, picture.height) == (88.5, 177)
    assert picture.x == pytest.approx(73.75, abs=0.06)
    assert (box.x, box.y) == pytest.approx((73.75 + 8.85, picture.y + 35.4), abs=0.11)
    assert (box.width, box.height) == pytest.approx((44.25, 88.5), abs=0.11)


def test_an_undefined_cell_is_hatched_and_has_no_number() -> None:
    scene = heat_map.draw(heats(1, 1, NONE), 760)
    cell = next(mark for mark in marks_of(scene, Rect) if mark.title)
    assert (cell.pattern, cell.fill) == ("hatch", "")
    assert cell.title == "row 0, m0: No value: nothing yet."
    assert not [text for text in scene.texts if re.fullmatch(r"[−\d.]+", text) and text not in ("0", "1")]
    assert "none" in scene.texts
    assert "none" not in heat_map.draw(heats(1, 1), 760).texts


def counted_map(*ns: int) -> heat_map.HeatMap:
    values = tuple(Value(0.1 * place, n=n) for place, n in enumerate(ns))
    columns = tuple(f"m{place}" for place in range(len(ns)))
    return heat_map.HeatMap(("row",), columns, (values,), 0, 1, "r", "none", "n: items", "n = {n} where none is shown")


def test_n_that_most_values_have_is_stated_once() -> None:
    scene = heat_map.draw(counted_map(200, 200, 1_200, 200, 6), 760)
    assert [text for text in scene.texts if text.startswith("n = ")] == ["n = 1,200", "n = 6"]
    assert "n: items; n = 200 where none is shown" in scene.texts
    titles = [mark.title for mark in marks_of(scene, Rect) if mark.title]
    assert titles[0] == "row, m0: 0.00, n = 200", "who points at a cell still reads it"
    for ns in ((200,), (10, 20, 30), (10, 10, 20, 30), (6, 6, 6)):
        scene = heat_map.draw(counted_map(*ns), 760)
        assert [text for text in scene.texts if text.startswith("n = ")] == [f"n = {n}" for n in ns]
        assert "n: items" in scene.texts


def test_long_names_are_names_of_rows() -> None:
    long = tuple(f"Simulated Heron, vision-language models (baseline {n}), natural photos" for n in range(8))
    short = ("drums", "food", "market")
    values = tuple(tuple(Value(0.5) for _name in long) for _name in short)
    scene = heat_map.draw(heat_map.HeatMap(short, long, values, 0, 1, "rho", "none"), 1000)
    assert not any(text.turn for text in marks_of(scene, Text)) and "drums" in scene.texts
    tall = [mark for mark in marks_of(scene, Rect) if mark.title]
    assert len({mark.y for mark in tall}) == 8 and tall[0].title == f"{long[0]}, drums: 0.50"
    both = heat_map.draw(
        heat_map.HeatMap(long, long, (tuple(Value(0.5) for _n in long),) * 8, 0, 1, "rho", "none"), 1000
    )
    assert any(text.turn for text in marks_of(both, Text)), "where both are long, columns stay columns"


def test_ink_is_read_on_every_colour_of_a_heat_map() -> None:
    shares = [place / 50 for place in range(51)]
    assert min(colours.contrast(colours.INK, colours.heat(share)) for share in shares) >= 4.5
    lightness = [colours.contrast("#000", colours.heat(share)) for share in shares]
    assert lightness == sorted(lightness, reverse=True), "it holds in grey"


def test_a_line_is_interrupted_where_there_is_no_value() -> None:
    points = [Value(0.1), Value(0.2), NONE, Value(0.4), Value(0.5)]
    panel = lines.LinePanel("Egypt", tuple(lines.Point(float(n), f"{n}", v) for n, v in enumerate(points)))
    scene = lines.draw(lines.LineChart((panel,)), 760)
    runs = [mark.d for mark in marks_of(scene, Path) if re.fullmatch(r"M[\d. ]+L[\d. ]+", mark.d)]
    assert len(runs) == 2
    assert len(dots(scene)) == 4
    assert len([mark for mark in marks_of(scene, Rect) if mark.pattern == "hatch"]) == 1


def test_points_in_one_place_become_one_larger_point() -> None:
    points = (*[scatter.Dot("x", 2, 3)] * 12, scatter.Dot("y", 4, 4))
    scene = scatter.draw(scatter.Scatter((scatter.Cloud("Lens", points),), "x", "y", 1, 5), 330)
    wide = {
        group.width: mark.d
        for group in scene.groups
        for mark in group.marks
        if isinstance(mark, Path) and "h0" in mark.d
    }
    assert len(wide) == 2
    assert max(wide) > 2 * min(wide)


def test_least_squares_goes_through_points_on_a_line() -> None:
    on_a_line = tuple(scatter.Dot("", x, 2 * x - 1) for x in (1.0, 2.0, 4.0))
    assert scatter.least_squares(on_a_line) == pytest.approx((2, -1))
    assert scatter.least_squares(on_a_line[:1]) is None
    assert scatter.least_squares(()) is None


def test_many_raters_are_dense_and_few_have_their_names() -> None:
    few, many = strip.draw(raters(3), 760), strip.draw(raters(300), 760)
    assert [text for text in few.texts if text.startswith("R-")] == ["R-000", "R-001", "R-002"]
    names = [text for text in many.texts if text.startswith("R-")]
    assert names[0] == "R-000"
    assert names[-1] == "R-299"
    assert len(dots(many)) == 294
    assert many.height < 1000


def test_names_at_the_ends_of_lines_do_not_lie_on_each_other() -> None:
    scene = ranks.draw(ranked(20), 330)
    ends = sorted(mark.y for mark in marks_of(scene, Text) if mark.words.startswith("tier"))
    assert [b - a for a, b in pairwise(ends)] >= [14, 14]


@pytest.mark.parametrize(
    ("words", "start", "end"),
    [("A name far too long for its place", "A na", "lace"), ("اسم طويل جدا لا يسعه المكان هنا أبدا", "اسم", "بدا"),
     ("とても長い国の名前です本当に", "とて", "当に"),
     ("በጣም ረጅም የሆነ የሀገር ስም እዚህ", "በጣ", "ዚህ"), ("नमस्ते बहुत लंबा नाम है यहाँ", "नम", "हाँ")],
)  # fmt: skip
def test_a_long_name_is_cut_in_its_middle_and_stays_whole_in_its_title(words: str, start: str, end: str) -> None:
    shown, full = shorten(words, 13, 90)
    assert full == words
    assert shown.startswith(start) and shown.endswith(end)
    assert "…" in shown
    assert width_of(shown, 13) <= 90
    assert shorten(words, 13, 900) == (words, "")


def test_marks_of_direction_and_control_characters_reach_no_drawing() -> None:
    hostile = "\u202eevil\u2066\x00\x08 name\n\u200f"
    assert clean(hostile) == "evil name"
    assert isolate_direction(hostile) == "\u2068evil name\u2069"
    shown, _full = shorten("\u202e" + "x" * 80, 13, 60)
    assert "\u202e" not in shown


def test_colours_are_the_tokens_of_the_pages() -> None:
    css = (ROOT / "static/css/emic.css").read_text().partition("prefers-color-scheme: dark")[0]  # figures are light
    there = dict(re.findall(r"--([\w-]+): (#[0-9a-fA-F]+)", css))
    assert {name: there[name].lower() for name in TOKENS} == {name: colour.lower() for name, colour in TOKENS.items()}


def test_words_on_every_colour_can_be_read() -> None:
    for share in range(101):
        fill = sequential(share / 100)
        assert contrast(ink_on(fill), fill) >= 4.5, fill
    for look in (*KINDS, *steps(5), *steps(20)):
        assert contrast(look.ink, look.fill) >= 4.5, look


def test_the_scale_gets_darker_all_the_way() -> None:
    light = [contrast(sequential(share / 50), "#000") for share in range(51)]
    assert light == sorted(light, reverse=True)
    assert len(set(light)) == 51


def test_a_plane_keeps_its_distances() -> None:
    """4 across and 1 upwards, as on paper; the number of a group lies on its medians."""
    group = plane.Cluster("ja", ((0.0, 0.0), (4.0, 1.0), (2.0, 0.5)), 3)
    scene = plane.draw(plane.Plane((plane.PlanePanel("CLIP", "", "first", "second", (group,)),)), 760)
    (x0, y0), (x1, y1), (x2, y2) = dots(scene)[:3]
    assert (x1 - x0) / (y0 - y1) == pytest.approx(4, abs=0.01)
    number = next(mark for mark in marks_of(scene, Text) if mark.words == "1" and mark.anchor == "middle" and mark.bold)
    assert (number.x, number.y) == pytest.approx((x2, y2 + 4.2), abs=0.11)


def test_numbers_of_groups_in_one_place_do_not_lie_on_each_other() -> None:
    groups = tuple(plane.Cluster(f"l{n}", ((0.0, 0.0), (1.0, 1.0)), 2) for n in range(9))
    scene = plane.draw(plane.Plane((plane.PlanePanel("CLIP", "", "first", "second", groups),)), 760)
    heights = sorted(mark.y for mark in marks_of(scene, Text) if mark.anchor == "middle" and mark.bold)
    assert len(heights) == 9
    assert min(b - a for a, b in pairwise(heights)) >= 14.9


def test_groups_differ_in_shape_and_colour_together() -> None:
    signs = [shapes.sign(n) for n in range(plane.GROUPS)]
    assert len(set(signs)) == plane.GROUPS
    assert all(a.shape != b.shape and a.colour != b.colour for a, b in pairwise(signs))


def test_a_point_lies_between_its_marks_and_one_without_value_is_not_drawn() -> None:
    spots = (points.PlotPoint("a", 5, Value(0.25, 0.0, 0.5)), points.PlotPoint("b", 5, NONE))
    panel = points.PointPanel("GPT-4", "", (points.Series(0, spots),))
    marks = points.number_ticks((0, 10))
    scene = points.draw(points.Points((panel,), "x", "y", marks, (0, 1), signs=(shapes.sign(0),)), 760)
    [(x, y)] = dots(scene)
    words = {mark.words: mark for mark in marks_of(scene, Text)}
    assert x == pytest.approx((points.LEFT + 8 + 738) / 2, abs=0.1)
    assert y == pytest.approx(44 + points.HIGH * 0.75, abs=0.1)
    assert "a" in words and "b" not in words


def test_kinds_differ_by_more_than_colour() -> None:
    """Neighbours in a bar differ in lightness, and no two kinds have the same pattern."""
    patterns = [look.pattern for look in KINDS]
    assert len(set(patterns)) == len(patterns)
    dashes = [dash for _colour, dash in ranks.LINES]
    assert len(set(dashes)) == len(dashes)


def test_numbers_have_a_true_minus_and_nothing_has_none() -> None:
    assert [axis.format_value(v) for v in (0.314, -0.314, -0.001, 1)] == ["0.31", "−0.31", "0.00", "1.00"]
    assert [axis.tick_words(v) for v in (-0.2, 0.0, 0.5)] == ["−0.2", "0", "0.5"]


def test_boxes_of_one_number_are_one_layer_of_the_drawing() -> None:
    groups = boxes.draw(cards(2), 520).groups
    numbers = {mark.words: group.layer for group in groups for mark in group.marks if isinstance(mark, Text)}
    assert numbers["1"] == 1 and numbers["2"] == 2
    assert [group.layer for group in groups if any(isinstance(mark, Picture) for mark in group.marks)] == [0, 0]
    assert all(group.layer for group in groups if group.dash), "lines of a box are never left behind"
