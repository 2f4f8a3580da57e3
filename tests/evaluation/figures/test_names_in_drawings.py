"""Names in drawings by arithmetic: each whole or told apart from the others, inside the frame, and on nothing else."""

import math
from itertools import pairwise
from typing import Any

import pytest

from evaluation.figures.drawing import bars, heat_map, picture_strips, scatter
from evaluation.figures.drawing.axis import Value
from evaluation.figures.drawing.colours import kind, steps
from evaluation.figures.drawing.names import distinct_names
from evaluation.figures.drawing.scene import Text, VectorScene
from evaluation.figures.drawing.text import width_of

LONG = tuple(f"Model with a long name number {n:02} Instruct 7.12B" for n in range(30))
COHORTS = ("Brazil", "China", "Egypt")
WIDTHS = (330.0, 760.0)


def corners(text: Text) -> list[tuple[float, float]]:
    """Of what the text covers, turned as it is."""
    size = text.size or 13
    long = width_of(text.words, size, bold=text.bold)
    start = {"start": 0.0, "middle": -long / 2, "end": -long}[text.anchor]
    angle = math.radians(text.turn)
    turned = []
    for x, y in ((start, 0.0), (start + long, 0.0), (start, -size * 0.75), (start + long, -size * 0.75)):
        turned.append(
            (text.x + x * math.cos(angle) - y * math.sin(angle), text.y + x * math.sin(angle) + y * math.cos(angle))
        )
    return turned


def texts(scene: VectorScene) -> list[Text]:
    return list(dict.fromkeys(mark for mark in scene.marks if isinstance(mark, Text)))


def check_texts_fit(scene: VectorScene, width: float) -> None:
    """The drawing is as wide as asked, and so is all that is written in it, also what is turned."""
    assert scene.width == width
    for text in texts(scene):
        for x, y in corners(text):
            assert -10 <= x <= width + 10, text
            assert -10 <= y <= scene.height + 10, text


def box(text: Text) -> tuple[float, float, float, float]:
    places = corners(text)
    return (
        min(x for x, _y in places),
        min(y for _x, y in places),
        max(x for x, _y in places),
        max(y for _x, y in places),
    )


def on_each_other(scene: VectorScene) -> list[tuple[str, str]]:
    level = [(text.words, box(text)) for text in texts(scene) if not text.turn]
    return [
        (one, other)
        for place, (one, a) in enumerate(level)
        for other, b in level[place + 1 :]
        if a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 1 and b[1] < a[3] - 1
    ]


def models(rows: tuple[str, ...], columns: tuple[str, ...]) -> heat_map.HeatMap:
    cells = tuple(tuple(Value(0.25, 0.1, 0.4, 40) for _c in columns) for _r in rows)
    return heat_map.HeatMap(rows, columns, cells, 0, 1, "Spearman's rho with the cohort mean", "No value", "n: units")


@pytest.mark.parametrize("room", [90.0, 118.0, 200.0, 250.0])
def test_thirty_names_that_begin_alike_stay_apart(room: float) -> None:
    distinct = distinct_names(LONG, 13, room)
    assert len({name.lines for name in distinct}) == 30
    assert all(width_of(line, 13) <= room for name in distinct for line in name.lines)
    assert all(name.full == whole or " ".join(name.lines) == whole for name, whole in zip(distinct, LONG, strict=True))


def test_names_of_one_beginning_and_one_end_stay_apart() -> None:
    names = [f"{'very ' * 12}long {n} {'indeed ' * 12}" for n in range(30)]
    made = distinct_names(names, 13, 100)
    assert len({name.lines for name in made}) == 30
    assert distinct_names(["Egypt", "Egypt"], 13, 100)[0] == distinct_names(["Egypt"], 13, 100)[0]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("rows", "columns"), [(LONG, COHORTS), (COHORTS, LONG), (LONG[:7], LONG), (LONG[:3], COHORTS)])
def test_a_heat_map_is_never_wider_than_asked(rows: tuple[str, ...], columns: tuple[str, ...], width: float) -> None:
    scene = heat_map.draw(models(rows, columns), width)
    check_texts_fit(scene, width)
    assert on_each_other(scene) == []
    assert scene.texts.count("0.25") == len(rows) * len(columns)


@pytest.mark.parametrize("width", WIDTHS)
def test_many_models_are_rows(width: float) -> None:
    scene = heat_map.draw(models(COHORTS, LONG), width)
    numbers = [text for text in texts(scene) if text.words == "0.25"]
    assert len({text.x for text in numbers}) == 3
    assert len({text.y for text in numbers}) == 30


def test_cells_have_the_n_of_their_number() -> None:
    one = models(("Brazil",), ("Lens", "Quill"))
    scene = heat_map.draw(one, 760)
    number, n = (next(text for text in texts(scene) if text.words == words) for words in ("0.25", "n = 40"))
    assert (n.x, 10 < n.y - number.y < 16) == (number.x, True)
    assert "n: units" in scene.texts
    assert scene.texts.count("n = 40") == 2
    titles = [mark.title for mark in scene.marks if getattr(mark, "title", "")]
    assert titles[0] == "Brazil, Lens: 0.25 [0.10, 0.40], n = 40"


def test_what_hatched_means_is_never_cut() -> None:
    data = heat_map.HeatMap(
        ("a",), ("b",), ((Value(None, why="x"),),), 0, 1, "rho", "No value: see the table for why", "n: units"
    )
    for width in WIDTHS:
        scene = heat_map.draw(data, width)
        assert "".join(scene.texts).count("…") == 0
        check_texts_fit(scene, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_segment_has_its_share_alone(width: float) -> None:
    rows = tuple(bars.Stack(name, (0.22, 0.18, 0.57, 0.03), 40) for name in LONG)
    data = bars.Stacks(("not", "a little", "much", "very"), tuple(steps(4)), rows, ("1", "2", "3", "4"))
    scene = bars.draw_stacks(data, width)
    check_texts_fit(scene, width)
    assert on_each_other(scene) == []
    assert {"1: not", "2: a little", "3: much", "4: very"} <= set(scene.texts)  # the legend names the codes
    shares = [text for text in scene.texts if text.endswith("%")]
    assert {text.removesuffix(" %") for text in shares} <= {"22", "18", "57", "0", "25", "50", "75", "100"}
    assert not {"1", "2", "3", "4"} & set(scene.texts)


def cloud(*dots: tuple[str, float, float], fit: Any = None) -> scatter.Scatter:
    points = tuple(scatter.Dot(*one) for one in dots)
    return scatter.Scatter((scatter.Cloud("Lens", points, "r", fit),), "people", "model", 1, 5, True)


def test_of_many_points_only_those_furthest_from_the_diagonal_are_named() -> None:
    many = [(f"item {n:02}", 1 + n / 10, 1 + n / 10 + (3 if n == 4 else -2.5 if n == 30 else 0.1)) for n in range(38)]
    named = [text for text in scatter.draw(cloud(*many), 330).texts if text.startswith("item")]
    assert named[:2] == ["item 04", "item 30"]
    assert len(named) <= scatter.NAMED
    level = [(f"item {n:02}", 1 + n / 10, 1 + n / 10) for n in range(38)]
    assert not [text for text in scatter.draw(cloud(*level), 330).texts if text.startswith("item")]


def test_names_of_points_lie_on_no_point_no_line_and_no_name() -> None:
    row = [(f"o-{n}", 1.5 + n / 4, 2.0) for n in range(8)]
    fit = (0.5, 1.0)
    scene = scatter.draw(cloud(*row, fit=fit), 330)
    names = [text for text in texts(scene) if text.words.startswith("o-")]
    boxes = {text.words: box(text) for text in names}
    assert len(boxes) >= 6
    assert on_each_other(scene) == []
    start, end = (next(t.x for t in texts(scene) if t.words == words and t.anchor == "middle") for words in ("1", "5"))
    low, high = (next(t.y - 4 for t in texts(scene) if t.words == words and t.anchor == "end") for words in ("1", "5"))

    def at(x: float, y: float) -> tuple[float, float]:
        return start + (x - 1) / 4 * (end - start), low + (y - 1) / 4 * (high - low)

    for name, (x0, y0, x1, y1) in boxes.items():
        for _who, x, y in row:
            px, py = at(x, y)
            assert not (x0 < px < x1 and y0 < py < y1), name
        for step in range(400):
            value = 1 + step / 100
            for px, py in (at(value, value), at(value, fit[0] * value + fit[1])):
                assert not (x0 < px < x1 and y0 < py < y1), name


def test_three_points_have_no_line_and_say_why_they_have_no_interval() -> None:
    three = tuple(scatter.Dot(f"c{n}", n, 2 * n) for n in (1.0, 2.0, 3.0))
    assert scatter.fit_line(three) is None
    assert scatter.fit_line((*three, scatter.Dot("c4", 4, 4))) is not None
    value = Value(0.76, n=3, no_interval="No interval: fewer than 4 points")
    assert scatter.correlation_words("r", value) == "r = 0.76, n = 3. No interval: fewer than 4 points"


@pytest.mark.parametrize("width", WIDTHS)
def test_panels_of_models_with_long_names_have_different_titles(width: float) -> None:
    points = tuple(scatter.Dot(f"i{n}", 1 + n / 4, 2) for n in range(9))
    r = "r = 0.76 [0.10, 0.90], n = 1,234. No interval: fewer than 4 points"
    clouds = tuple(scatter.Cloud(name, points, r) for name in LONG[:12])
    scene = scatter.draw(scatter.Scatter(clouds, "Mean of people", "Model", 1, 5, True), width)
    check_texts_fit(scene, width)
    titles = [text.words for text in texts(scene) if text.bold]
    assert len(set(pairwise(titles))) >= 12
    assert on_each_other(scene) == []


def test_tiles_without_pictures_have_their_names() -> None:
    tiles = tuple(
        picture_strips.StripPicture("Japan", 0.5, kind(0), "", f"japan-breakfast-{n:04}", None) for n in range(5)
    )
    scene = picture_strips.draw(picture_strips.Strips((picture_strips.PictureStrip("Lens", "w", tiles),)), 330)
    assert [f"{n:04}" for n in range(5)] == [text for text in scene.texts if text.startswith("000")]
