"""Lunch: koshari, black beans with rice, noodles and dumplings."""

from __future__ import annotations

import math

from benchmarks.demo.backdrops import room
from benchmarks.demo.canvas import local, ring, smooth
from benchmarks.demo.paint import Colour, Lin, Rad, darker, lighter, mix
from benchmarks.demo.scene import Scene
from benchmarks.demo.scenes_meals import bread, salad, side_of
from benchmarks.demo.things import bowl, cup, leaf, plate, steam, table


def lunch(s: Scene) -> None:
    """A midday table."""
    s.hour = s.pick(("day", "day", "golden"))
    horizon = 380 + s.j(20)
    room(s, horizon)
    table(s, horizon, s.tint({"egypt": "#a8683c", "brazil": "#b88a5c", "china": "#8a4428"}[s.culture]))
    {"egypt": koshari, "brazil": black_beans, "china": noodles}[s.culture](s)


def scatter(s: Scene, x: float, y: float, rx: float, count: int, size: float, hues: tuple[Colour, ...]) -> None:
    """Grains or pieces heaped in a dish whose mouth is at (x, y)."""
    spots = [(s.u(0, 2 * math.pi), math.sqrt(s.u(0, 1))) for _ in range(count)]
    for a, t in sorted(spots, key=lambda spot: spot[1] * math.sin(spot[0])):
        hue, w = s.pick(hues), size * s.u(0.8, 1.25)
        px, py = x + rx * t * math.cos(a), y + rx * 0.26 * t * math.sin(a) - (1 - t) * rx * 0.3
        s.c.ellipse(px, py, w, w * 0.5, Lin((lighter(hue, 0.4), hue, darker(hue, 0.45))), rot=s.u(0, 180))


def koshari(s: Scene) -> None:
    """Rice, lentils, macaroni and crisp onions; tomato sauce, bread and salad."""
    c, side = s.c, side_of(s)
    x = 600 - side * (40 + s.j(16))
    for k in range(3):
        bread(s, 600 + side * (330 + s.j(16)) + (k % 2) * 30, 540 - k * 18, 165)
    sauce = bowl(
        s, 600 - side * (380 + s.j(12)), 600, 116, s.pick(("#e8dcc4", "#c8a05a")), Lin(("#8a1e12", "#d8442a")), 0.6
    )
    c.ellipse(600 - side * 390, sauce - 2, 44, 9, "#f08a5a", alpha=0.6, blur=3)
    steam(s, 600 - side * 380, sauce - 20, 150, 0.25)
    rim = bowl(s, x, 812, 270, s.pick(("#2f6f8a", "#b8622e", "#e8dcc4", "#3f7a5a")), Lin(("#b08a5c", "#dcc298")), 0.5)
    scatter(s, x, rim, 238, 420, 12, ("#efe0bc", "#e0cc9c", "#6a4228", "#7a5030", "#e8d4a8", "#8a5c38"))
    for _ in range(34):
        px, py = x + s.u(-150, 150), rim - 40 + s.u(-44, 44)
        tone = s.pick(("#f0d890", "#e8c870"))
        c.ellipse(px, py, 17, 9, Lin((lighter(tone, 0.4), tone, darker(tone, 0.35))), rot=s.u(0, 180), bevel=2)
        c.ellipse(px, py, 6, 4, darker(tone, 0.5), alpha=0.6)
    c.poly(
        smooth(local(x, rim - 70, 1, [(-90, 10), (-40, -24), (40, -24), (92, 8), (50, 34), (-46, 36)])),
        Rad(("#f06a42", "#c8341e", "#8a1e12")),
        bevel=8,
    )
    for _ in range(46):
        px, py = x + s.u(-84, 84), rim - 92 + s.u(-24, 26)
        strip = [(px - 16, py + s.u(-6, 6)), (px, py - 7), (px + 16, py + s.u(-6, 6))]
        c.line(smooth(strip, closed=False, steps=4), 5, s.pick(("#6a3414", "#8a4a1e", "#4a2410")))
    salad(s, 600 + side * (370 + s.j(12)), 770)
    for k in range(3):
        leaf(c, 600 - side * 420, 800, 80, -90 + (k - 1) * 50, "#4f9a3e", 0.5)


def black_beans(s: Scene) -> None:
    """A clay pot of black beans with rice, greens, orange slices and toasted flour."""
    c, side = s.c, side_of(s)
    clay = s.pick(("#6a3424", "#3a3034", "#8a4a2e"))
    x = 600 - side * (250 + s.j(14))
    rim = bowl(s, x, 640, 215, clay, "#1c100e", 0.72)
    scatter(s, x, rim + 8, 178, 150, 13, ("#2a1816", "#3a2220", "#1c1010", "#4a2a22"))
    for k in range(6):
        px = x + (k - 2.5) * 52 + s.j(8)
        c.ellipse(
            px, rim - 28 + (k % 2) * 22, 36, 20, Rad(("#e88a6a", "#a8442e", "#6a2418")), rot=s.u(-30, 30), bevel=5
        )
    for ear in (-1, 1):
        c.ellipse(x + ear * 218, rim + 22, 30, 17, Lin((lighter(clay, 0.3), darker(clay, 0.3))), bevel=5)
    steam(s, x, rim - 30, 190, 0.38)
    px = 600 + side * (255 + s.j(14))
    rice = bowl(s, px, 620, 150, s.pick(("#f4efe2", "#3f8a9a", "#e0a83a")), "#e8e0cc", 0.5)
    scatter(s, px, rice, 132, 210, 9, ("#fffaf0", "#f4ecdc", "#ece2cc"))
    plate(s, 600 + side * (30 + s.j(10)), 800, 205, "#f4efe4", rim=s.pick(("#d8643e", "#3f8a6a", "#3f7fb0")))
    for _ in range(150):
        a, t = s.u(0, 2 * math.pi), math.sqrt(s.u(0, 1))
        leaf(
            c,
            600 + side * 30 + 118 * t * math.cos(a),
            790 + 38 * t * math.sin(a) - 26 * (1 - t),
            52,
            s.u(0, 360),
            s.pick(("#2f7a34", "#4a9a44", "#256a2e")),
            0.3,
        )
    for k in range(4):
        orange_slice(s, 600 + side * (330 + (k % 2) * 96 + s.j(8)), 760 + (k // 2) * 66 - (k % 2) * 14, 60)
    flour = bowl(s, 600 - side * (330 + s.j(10)), 838, 108, "#b8784a", "#e0b868", 0.5)
    scatter(s, 600 - side * 330, flour, 90, 130, 6, ("#f0cc7a", "#e0b458", "#f8dc98"))


def orange_slice(s: Scene, x: float, y: float, r: float) -> None:
    """A slice of orange lying flat."""
    c = s.c
    c.shadow(x + 4, y + r * 0.3, r, r * 0.4, 0.4)
    for part, fill in (
        (1.0, Lin(("#ffb03a", "#e0781a"))),
        (0.88, "#fff0c8"),
        (0.82, Rad(("#ffd27a", "#f9a02e", "#f0881e"), 0.5, 0.5, 0.6)),
    ):
        c.ellipse(x, y, r * part, r * part * 0.6, fill)
    for k in range(5):
        a = math.pi * k / 5 + 0.2
        dx, dy = r * 0.8 * math.cos(a), r * 0.48 * math.sin(a)
        c.line([(x - dx, y - dy), (x + dx, y + dy)], 3, "#fff0c8")


def noodles(s: Scene) -> None:
    """A bowl of noodles with greens and egg, dumplings, tea."""
    c, side = s.c, side_of(s)
    glaze, paint = s.pick(
        (("#eef2f0", "#2f5fa8"), ("#2a3a44", "#c8a04a"), ("#f4ead6", "#b83a34"), ("#a8342a", "#f0c86a"))
    )
    plate(s, 600 + side * (300 + s.j(14)), 590, 210, lighter(glaze, 0.3), rim=paint, tilt=0.3)
    for k in range(7):
        row, col = (0, k - 1.0) if k < 3 else (1, k - 4.5)
        dumpling(s, 600 + side * 300 + col * 92 + s.j(5), 556 + row * 44, 50)
    for k in range(2):
        cup(s, 600 - side * (300 + k * 130 + s.j(8)), 560, 50, "#eaf0ec", "#b8862e", handle=False)
    x = 600 - side * (40 + s.j(14))
    rim = bowl(s, x, 818, 255, glaze, Lin(("#a8622a", "#d89a4a")), 0.56)
    for k in range(-4, 5):
        c.ellipse(x + math.sin(k * 0.34) * 222, rim + 76 - abs(k) * 5, 12, 10, paint, alpha=0.85)
    with c.clip(ring(x, rim + 2, 226, 64)):
        for _ in range(46):
            a, px, py = s.u(-0.5, 0.5), x + s.u(-170, 170), rim + s.u(-34, 40)
            wave = [
                (px + t * 100 * math.cos(a), py + t * 44 * math.sin(a) + math.sin(t * 5) * 9)
                for t in (-1, -0.5, 0, 0.5, 1)
            ]
            tone = s.pick(("#f4d88a", "#ecc86e", "#f8e4a8"))
            c.line(smooth(wave, closed=False, steps=5), 8, Lin((lighter(tone, 0.3), darker(tone, 0.25))), bevel=2)
    for k in range(5):
        leaf(
            c,
            x + side * 60 + (k - 2) * 12,
            rim + 16,
            78,
            -125 + k * 22 - side * 10,
            s.pick(("#3f9a44", "#2f7d3a", "#5ab056")),
            0.42,
        )
    for dx in (-96, -30):
        c.ellipse(x + dx * side, rim + 10 + (dx + 96) * 0.2, 44, 28, Lin(("#ffffff", "#e4dac8")), bevel=4)
        c.ellipse(x + dx * side, rim + 9 + (dx + 96) * 0.2, 22, 14, Rad(("#ffd060", "#f08a1e")), bevel=3)
    scatter(s, x + side * 40, rim + 30, 90, 24, 8, ("#6ac04a", "#4a9a3a", "#d8382a"))
    steam(s, x, rim - 40, 200, 0.4)
    for k in range(2):
        c.line(
            [(x + side * 90 + k * 18, rim - 30), (x + side * 420 + k * 26, rim - 118 + k * 26)],
            10,
            Lin(("#c8503a", "#4a1410")),
            bevel=2,
        )
    sauce = bowl(s, 600 + side * (360 + s.j(10)), 800, 78, glaze, Lin(("#2a120c", "#5a2a18")), 0.5)
    c.ellipse(600 + side * 350, sauce, 20, 5, "#e8a05a", alpha=0.6)


def dumpling(s: Scene, x: float, y: float, r: float) -> None:
    """A pleated crescent dumpling."""
    c, dough = s.c, mix("#fbf0da", "#e8c890", s.u(0, 0.4))
    c.shadow(x + 4, y + r * 0.42, r, r * 0.28, 0.4)
    shape = smooth(
        local(x, y, r, [(-1, 0.3), (-0.7, -0.35), (0, -0.6), (0.7, -0.35), (1, 0.3), (0.5, 0.5), (-0.5, 0.5)])
    )
    c.poly(shape, Rad((lighter(dough, 0.7), dough, darker(dough, 0.35)), 0.4, 0.25, 0.9), bevel=6)
    crest = [local(x, y, r, [(t, -0.3 - 0.32 * (1 - t * t))])[0] for t in (-0.8, -0.4, 0, 0.4, 0.8)]
    c.line(smooth(crest, closed=False), r * 0.16, Lin((lighter(dough, 0.6), darker(dough, 0.2))), bevel=3)
    for k in range(-3, 4):
        px = x + k * r * 0.24
        c.line(
            [(px, y - r * 0.56 + abs(k) * r * 0.07), (px + k * 2, y - r * 0.2)], 2.4, darker(dough, 0.45), alpha=0.45
        )
