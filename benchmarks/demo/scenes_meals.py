"""Breakfast: ful and flat bread, cheese bread and fruit, congee with dough sticks and buns."""

from __future__ import annotations

import math

from benchmarks.demo.backdrops import room
from benchmarks.demo.canvas import Point, ring, smooth
from benchmarks.demo.paint import Colour, Lin, Rad, darker, lighter, mix
from benchmarks.demo.scene import Scene
from benchmarks.demo.scenes_drinks import glass
from benchmarks.demo.things import ball, bowl, cup, heap, lathe, leaf, plate, round_fill, steam, table


def breakfast(s: Scene) -> None:
    """A breakfast table in the morning."""
    s.hour = s.pick(("dawn", "day", "golden"))
    horizon = 395 + s.j(20)
    room(s, horizon)
    table(
        s,
        horizon,
        s.tint({"egypt": "#b8784a", "brazil": "#ece0c8", "china": "#94502e"}[s.culture]),
        cloth=s.culture == "brazil",
    )
    {"egypt": ful_table, "brazil": cheese_bread_table, "china": congee_table}[s.culture](s)


def side_of(s: Scene) -> int:
    """Which way round the table is laid."""
    return 1 if s.generated or s.rng.random() < 0.5 else -1


def ful_table(s: Scene) -> None:
    """Stewed beans with oil, flat loaves, falafel, egg and salad."""
    c, side = s.c, side_of(s)
    for k in range(5):
        bread(s, 600 - side * (300 + s.j(24)) + (k % 2) * 34, 548 - k * 17, 170)
    plate(s, 600 + side * (310 + s.j(20)), 560, 190, "#efe6d4", rim=s.pick(("#2f6f9a", "#3f8a5a", "#b84a34")))
    heap(s, 600 + side * 310, 545, (4, 3, 2), 44, ("#8a5426", "#7a481e", "#9a6430"), 0.8)
    for _ in range(12):
        leaf(
            c,
            600 + side * 310 + s.u(-120, 120),
            562 + s.u(-12, 30),
            34,
            s.u(0, 360),
            s.pick(("#4f9a3e", "#3a7a34")),
            0.5,
        )
    glass(s, 600 + side * (60 + s.j(16)), 560, 52, "#a8400e")
    rim = bowl(s, 600 + s.j(20), 800, 205, s.pick(("#b8622e", "#2f6f8a", "#c8a05a")), "#6a3a1c", 0.56)
    beans(s, 600, rim)
    salad(s, 600 + side * (390 + s.j(16)), 762)
    egg(s, 600 - side * (350 + s.j(16)), 780, 58)
    egg(s, 600 - side * (440 + s.j(16)), 745, 54)
    for k in range(3):
        ball(s, 600 - side * (270 + k * 46), 846 + (k % 2) * 12, 18, ("#3a4a24", "#4a3040", "#4f5a2a")[k], 0.85)


def bread(s: Scene, x: float, y: float, rx: float) -> None:
    """A puffed flat loaf dusted with bran."""
    c, crust = s.c, s.pick(("#e4b470", "#d8a25c", "#ecc084"))
    c.shadow(x + 8, y + 18, rx * 1.02, rx * 0.34, 0.5)
    c.ellipse(
        x,
        y,
        rx,
        rx * 0.34,
        Rad((lighter(crust, 0.5), crust, darker(crust, 0.45)), 0.42, 0.3, 0.8),
        tex=(20, 9, 0.22),
        bevel=8,
    )
    for _ in range(16):
        a, t = s.u(0, 2 * math.pi), s.u(0, 0.8)
        c.ellipse(
            x + rx * t * math.cos(a),
            y + rx * 0.3 * t * math.sin(a),
            s.u(5, 17),
            s.u(2, 6),
            darker(crust, 0.5),
            alpha=0.38,
            blur=1.5,
        )


def beans(s: Scene, x: float, rim: float) -> None:
    """Stewed beans with a swirl of oil, cumin and tomato."""
    c = s.c
    pool = ring(x, rim + 3, 182, 52)
    with c.clip(pool):
        for _ in range(150):
            a, t = s.u(0, 2 * math.pi), math.sqrt(s.u(0, 1))
            tone = s.pick(("#8a4f28", "#7a4020", "#9a6034", "#6a3818"))
            c.ellipse(
                x + 178 * t * math.cos(a),
                rim + 3 + 50 * t * math.sin(a),
                15,
                8,
                Lin((lighter(tone, 0.35), tone, darker(tone, 0.5))),
                rot=s.u(0, 180),
            )
        swirl = [
            (x + (30 + 11 * k) * math.cos(k * 0.5), rim + 2 + (8 + 3.1 * k) * math.sin(k * 0.5)) for k in range(11)
        ]
        c.line(smooth(swirl, closed=False), 12, Lin(("#ffe27a", "#d8a02a")), alpha=0.8, bevel=3)
        for _ in range(18):
            c.rect(
                (px := x + s.u(-90, 90)),
                (py := rim + s.u(-24, 26)),
                px + 13,
                py + 9,
                s.pick(("#d83a2a", "#e85a3a", "#5aa84a", "#4f9a3e")),
                r=3,
                bevel=2,
            )
    for k in range(3):
        leaf(c, x + s.j(20), rim - 6, 62, -150 + k * 55, "#4fa040", 0.5)


def salad(s: Scene, x: float, y: float) -> None:
    """A small dish of tomato and cucumber."""
    rim = bowl(s, x, y, 112, s.pick(("#f0e6d2", "#d8e4e6")), "#7a8a4a", 0.5)
    for k in range(34):
        a, t = s.u(0, 2 * math.pi), math.sqrt(s.u(0, 1))
        px, py = x + 88 * t * math.cos(a), rim - 8 + 22 * t * math.sin(a) - (1 - t) * 16
        hue = ("#d8382a", "#8ac05a", "#f0ead0", "#e8553a")[k % 4]
        s.c.rect(px - 11, py - 8, px + 11, py + 8, Lin((lighter(hue, 0.4), hue, darker(hue, 0.3))), r=5, bevel=2)


def egg(s: Scene, x: float, y: float, r: float) -> None:
    """Half a boiled egg."""
    s.c.shadow(x + 6, y + r * 0.45, r, r * 0.3, 0.45)
    s.c.ellipse(x, y, r, r * 0.66, Lin(("#ffffff", "#f4eee0", "#cfc4b0"), 70), bevel=5)
    s.c.ellipse(x + r * 0.1, y - 1, r * 0.46, r * 0.32, Rad(("#ffe27a", "#f6b62c", "#d88a1e")), bevel=4)


def cheese_bread_table(s: Scene) -> None:
    """A basket of cheese bread, papaya, orange juice, coffee with milk."""
    c, side = s.c, side_of(s)
    stripe = s.pick(("#d8543e", "#3f8a9a", "#4f9a5a"))
    for k in range(11):
        x = k * 130 - 60
        c.poly(
            [(x + (600 - x) * 0.3, 430), (x + 40 + (600 - x) * 0.3, 430), (x + 56, 905), (x, 905)], stripe, alpha=0.16
        )
    juice(s, 600 + side * (60 + s.j(16)), 575)
    basket(s, 600 - side * (275 + s.j(16)), 640)
    papaya(s, 600 + side * (310 + s.j(16)), 620, side)
    plate(s, 600 + side * (200 + s.j(16)), 782, 170, s.pick(("#f6f0e2", "#e8c46a", "#7fb0b8")))
    cup(s, 600 + side * 200, 778, 86, s.pick(("#f6f0e2", "#d8643e", "#3f7f9a")), "#9a6a42")
    steam(s, 600 + side * 200, 660, 180, 0.3)
    for k in range(3):
        puff(s, 600 - side * (60 + k * 92) + s.j(10), 812 + (k % 2) * 16, 56)
    for k in range(4):
        lathe_x = 600 - side * (430 + (k % 2) * 40)
        c.ellipse(
            lathe_x + s.j(8), 800 - k * 18, 50, 19, Lin(("#ffe79a", "#f4c83a", "#b8862a")), rot=-24 + k * 9, bevel=6
        )


def puff(s: Scene, x: float, y: float, r: float) -> None:
    """A golden cheese bread."""
    tone = s.pick(("#e8b85a", "#e0a848", "#f0c878"))
    s.c.shadow(x + 8, y + r * 0.6, r, r * 0.28, 0.5)
    s.c.ellipse(
        x,
        y,
        r,
        r * 0.8,
        Rad((lighter(tone, 0.6), lighter(tone, 0.15), tone, darker(tone, 0.45)), 0.38, 0.28, 0.85),
        tex=(12, 9, 0.16),
        bevel=5,
    )
    for _ in range(6):
        a = s.u(0, 2 * math.pi)
        s.c.ellipse(
            x + r * 0.5 * math.cos(a),
            y + r * 0.36 * math.sin(a) - 4,
            s.u(4, 9),
            s.u(3, 5),
            "#a8682a",
            alpha=0.4,
            blur=1.5,
        )


def basket(s: Scene, x: float, base: float) -> None:
    """A woven basket heaped with cheese bread."""
    c, cane = s.c, s.tint("#b8803e")
    c.shadow(x, base + 4, 220, 36, 0.5)
    for level, count in enumerate((4, 4, 3, 2)):
        for k in range(count):
            puff(s, x + (k - (count - 1) / 2) * 92 + s.j(8), base - 118 - level * 48, 58)
    wall = [
        (x - 215, base - 116),
        (x + 215, base - 116),
        (x + 172, base - 6),
        (x + 60, base + 8),
        (x - 60, base + 8),
        (x - 172, base - 6),
    ]
    c.poly(wall, Lin((darker(cane, 0.2), lighter(cane, 0.3), cane, darker(cane, 0.5)), 0))
    for row in range(5):
        y, half = base - 100 + row * 23, 205 - row * 8
        for k in range(17):
            px = x - half + (k + 0.5) * 2 * half / 17
            tone = lighter(cane, 0.3) if (k + row) % 2 else darker(cane, 0.3)
            c.ellipse(
                px,
                y + 8 * (1 - ((px - x) / half) ** 2),
                half / 17 * 1.15,
                11,
                Lin((lighter(tone, 0.25), darker(tone, 0.3))),
            )
    c.line(
        smooth([(x - 218, base - 118), (x, base - 104), (x + 218, base - 118)], closed=False),
        18,
        Lin((lighter(cane, 0.4), darker(cane, 0.3))),
        bevel=5,
    )


def papaya(s: Scene, x: float, y: float, side: int) -> None:
    """Half a papaya on a plate."""
    c = s.c
    plate(s, x, y, 190, "#f2ead8", rim="#5a9a7a")
    shape: list[Point] = [(-165, 6), (-120, -52), (-20, -70), (90, -56), (160, -8), (110, 36), (0, 56), (-110, 46)]
    for part, fill in (
        (1.0, Lin(("#f0b83a", "#7a9a34"))),
        (0.93, Lin(("#ffb06a", "#f07a34", "#d8602a"), 50)),
        (0.5, Lin(("#c8502a", "#a83a20"))),
    ):
        c.poly(smooth([(x + side * px * part, y - 14 + py * part) for px, py in shape]), fill, bevel=6)
    for _ in range(34):
        a, t = s.u(0, 2 * math.pi), math.sqrt(s.u(0, 1))
        c.ellipse(x + 70 * t * math.cos(a), y - 16 + 24 * t * math.sin(a), 8, 7, Rad(("#8a8a90", "#2a262c", "#100c10")))


def juice(s: Scene, x: float, base: float) -> None:
    """A glass of orange juice."""
    c = s.c
    c.shadow(x + 16, base + 2, 74, 16, 0.45)
    lathe(c, x, base, ((0, 52), (190, 66)), Lin(("#f4ead8", "#fffaf0", "#e0d0b0"), 0), alpha=0.6, curved=False)
    lathe(c, x, base - 6, ((0, 49), (156, 60)), Lin(("#c8700e", "#ffc04a", "#f79a1e", "#b8600a"), 0), curved=False)
    c.ellipse(x, base - 162, 60, 15, Lin(("#f7a52a", "#ffd070")))
    outline = ring(x, base - 190, 66, 17)
    c.line([*outline, outline[0]], 3.4, "#fffaf0", alpha=0.85)
    c.line([(x - 48, base - 170), (x - 38, base - 20)], 8, "#fffaf0", alpha=0.55)
    c.ellipse(x + 62, base - 192, 38, 38, Lin(("#ffb84a", "#f08a1e")), bevel=3)
    c.ellipse(x + 62, base - 192, 31, 31, "#ffe0a0")
    for k in range(8):
        a = 2 * math.pi * k / 8
        c.ellipse(x + 62 + 18 * math.cos(a), base - 192 + 18 * math.sin(a), 11, 6, "#f9a83a", rot=math.degrees(a))


def congee_table(s: Scene) -> None:
    """Rice congee, fried dough sticks, buns in a steamer and pickles."""
    c, side = s.c, side_of(s)
    steamer(s, 600 + side * (290 + s.j(16)), 610)
    steam(s, 600 + side * 290, 400, 190, 0.4)
    plate(s, 600 - side * (300 + s.j(16)), 590, 215, "#e6eeea", rim=s.pick(("#2f5fa8", "#3a7a5a", "#b83a34")), tilt=0.3)
    for k in range(4):
        dough_stick(s, 600 - side * 300 + s.j(8), 580 - k * 24, 190, -10 + k * 7 + s.j(4))
    glaze, paint = s.pick((("#eef2f0", "#2f5fa8"), ("#c8dcd0", "#3a6a52"), ("#f4ead6", "#b83a34")))
    rim = bowl(s, 600 - side * (30 + s.j(14)), 815, 200, glaze, Lin(("#e8e0cc", "#fdf8ec"), 70), 0.6)
    x = 600 - side * 30
    for k in range(-4, 5):
        px, py = x + math.sin(k * 0.34) * 172, rim + 66 - abs(k) * 5
        curl = [(px - 15, py), (px - 6, py - 13), (px + 8, py - 8), (px + 5, py + 4), (px - 3, py + 1)]
        c.line(smooth(curl, closed=False), 4, paint, alpha=0.85)
    for k in range(26):
        a, t = s.u(0, 2 * math.pi), math.sqrt(s.u(0, 1))
        hue = ("#5aa84a", "#7ac05a", "#3f8a3a", "#d8422e")[k % 4]
        c.ellipse(
            x + 110 * t * math.cos(a),
            rim + 2 + 28 * t * math.sin(a),
            10,
            5,
            Lin((lighter(hue, 0.4), hue)),
            rot=s.u(0, 180),
        )
    steam(s, x, rim - 20, 190, 0.34)
    pickles = bowl(s, 600 + side * (330 + s.j(14)), 800, 92, glaze, "#6a3a1c", 0.52)
    for k in range(26):
        a, t = s.u(0, 2 * math.pi), math.sqrt(s.u(0, 1))
        hue = ("#8aa83a", "#a8b84a", "#d8602e")[k % 3]
        c.ellipse(
            600 + side * 330 + 70 * t * math.cos(a),
            pickles - 4 + 18 * t * math.sin(a),
            17,
            7,
            Lin((lighter(hue, 0.35), darker(hue, 0.3))),
            rot=s.u(0, 180),
            bevel=2,
        )
    for k in range(2):
        c.line(
            [(600 - side * (470 - k * 24), 846 - k * 6), (600 - side * (190 - k * 6), 872 - k * 4)],
            9,
            Lin(("#c8503a", "#5a1a14")),
            bevel=2,
        )


def steamer(s: Scene, x: float, base: float) -> None:
    """A bamboo steamer of pleated buns."""
    c, cane = s.c, s.tint("#d0a45e")
    c.shadow(x, base + 8, 230, 44, 0.55)
    for k in range(2):
        y = base - k * 74
        lathe(c, x, y, ((0, 205), (70, 205)), round_fill(cane, 0.4), squash=0.2, curved=False)
        for h in (10, 58):
            curve = [(x - 205 * math.cos(t), y - h + 42 * math.sin(t)) for t in (math.pi * i / 30 for i in range(31))]
            c.line(curve, 9, Lin((lighter(cane, 0.4), darker(cane, 0.35))), bevel=3)
        for i in range(-3, 4):
            px = x + i * 56
            c.rect(
                px - 4,
                y - 50 + 38 * math.sqrt(1 - (i * 56 / 206) ** 2),
                px + 4,
                y - 16 + 38 * math.sqrt(1 - (i * 56 / 206) ** 2),
                darker(cane, 0.5),
            )
    top = base - 146
    c.ellipse(x, top, 206, 46, Lin((lighter(cane, 0.3), darker(cane, 0.2))))
    c.ellipse(x, top + 4, 190, 38, darker(cane, 0.55))
    for px, py in ((-84, -10), (84, -10), (0, -24), (-100, 14), (100, 14), (0, 12)):
        bun(s, x + px + s.j(5), top + py, 62)


def bun(s: Scene, x: float, y: float, r: float) -> None:
    """A pleated steamed bun."""
    c = s.c
    c.shadow(x + 4, y + r * 0.3, r, r * 0.3, 0.4)
    c.poly(
        smooth(
            [
                (x - r, y + r * 0.2),
                (x - r * 0.8, y - r * 0.4),
                (x, y - r * 0.82),
                (x + r * 0.8, y - r * 0.4),
                (x + r, y + r * 0.2),
                (x, y + r * 0.46),
            ]
        ),
        Rad(("#ffffff", "#faf4e8", "#e4d8c4", "#b0a08c"), 0.4, 0.25, 0.9),
        bevel=7,
    )
    for k in range(-4, 5):
        pts = [(x, y - r * 0.72), (x + k * r * 0.11, y - r * 0.45), (x + k * r * 0.2, y - r * 0.1)]
        c.line(smooth(pts, closed=False), 2.6, "#a89a86", alpha=0.5)
    c.ellipse(x, y - r * 0.74, r * 0.12, r * 0.07, "#8a6a4a", alpha=0.8)


def dough_stick(s: Scene, x: float, y: float, half: float, turn: float) -> None:
    """A long fried dough stick, two strands side by side."""
    c, tone = s.c, s.pick(("#d8963a", "#c8842e", "#e0a44a"))
    a = math.radians(turn)
    dx, dy = math.cos(a) * half, math.sin(a) * half * 0.4
    c.line([(x - dx + 6, y - dy + 18), (x + dx + 6, y + dy + 18)], 36, "#140a08", alpha=0.4, blur=7)
    for off, shade in ((11, 0.2), (-11, 0.0)):
        pts = [
            (x - dx + 2 * dx * t, y - dy + 2 * dy * t + off + math.sin(t * 9 + off) * 4)
            for t in (k / 8 for k in range(9))
        ]
        body: Colour = mix(tone, "#6a3a14", shade)
        c.line(smooth(pts, closed=False), 32, Lin((lighter(body, 0.5), body, darker(body, 0.45))), bevel=8)
    for _ in range(9):
        t = s.u(-0.9, 0.9)
        c.ellipse(x + dx * t, y + dy * t + s.u(-20, 14), s.u(5, 14), s.u(3, 6), lighter(tone, 0.5), alpha=0.45)
