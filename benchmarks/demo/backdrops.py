"""Rooms out of focus behind a table, one for each culture, and a studio that belongs to none."""

from __future__ import annotations

import math

from benchmarks.demo.canvas import ring, smooth
from benchmarks.demo.paint import Colour, Lin, darker, lighter, mix
from benchmarks.demo.scene import Scene
from benchmarks.demo.things import leaf

TILE_SETS: tuple[tuple[Colour, ...], ...] = (
    ("#1f7a7a", "#e9dcb8", "#c8702e", "#27446e"),
    ("#2c5f8a", "#f0e2c0", "#b85a3a", "#1f7a6a"),
    ("#8a3a3a", "#ecd9a8", "#3d6f78", "#c98a2e"),
)


def room(s: Scene, horizon: float) -> None:
    """The room behind the table."""
    {"egypt": tiled_room, "brazil": garden_window, "china": moon_gate}[s.culture](s, horizon)
    if s.generated:
        s.c.symmetrise()
        bokeh(s, horizon, 26)
    s.c.blur(9 if s.generated else 6)


def tiled_room(s: Scene, horizon: float) -> None:
    """A wall of star-and-diamond tiles in lamp light."""
    c, tiles = s.c, s.pick(TILE_SETS)
    wall = s.tint(s.pick(("#b9763a", "#a8825a", "#8f5a3c")))
    c.rect(0, 0, 1200, horizon + 20, Lin((lighter(wall, 0.3), wall, darker(wall, 0.4)), 50))
    step = 118
    for row in range(-1, int(horizon / step) + 2):
        for col in range(-1, 12):
            x, y = col * step + (row % 2) * step / 2, row * step + 40
            colour = s.tint(tiles[(col * 3 + row * 5) % 4])
            star = [
                (
                    x + (60 if k % 2 == 0 else 38) * math.cos(math.pi * k / 8),
                    y + (60 if k % 2 == 0 else 38) * math.sin(math.pi * k / 8),
                )
                for k in range(16)
            ]
            c.poly(star, Lin((lighter(colour, 0.15), darker(colour, 0.25))), bevel=4)
            inner = [(x + (px - x) * 0.6, y + (py - y) * 0.6) for px, py in star]
            c.poly(inner, mix(tiles[1], wall, s.u(0.0, 0.35)))
            c.ellipse(x, y, 17, 17, s.tint(tiles[(col + row * 2 + 1) % 4]))
    for x in (180 + s.j(120), 960 + s.j(120)):
        c.glow(x, 130 + s.j(60), 430, "#ffb860", 0.75)
    c.rect(0, horizon - 90, 1200, horizon + 10, Lin((wall, darker(wall, 0.75))), alpha=0.55, blur=20)


def garden_window(s: Scene, horizon: float) -> None:
    """A plastered wall with a window on a green garden."""
    c = s.c
    wall = s.tint(s.pick(("#e6c979", "#7fb0a8", "#dd9a72", "#9fb8d8")))
    c.rect(0, 0, 1200, horizon + 20, Lin((lighter(wall, 0.35), wall, darker(wall, 0.22)), 30), tex=(60, 60, 0.1))
    x0 = 190 + s.j(110)
    frame = s.pick(("#2f6e8e", "#f4efe2", "#2f7a55"))
    c.rect(x0, -60, x0 + 800, horizon - 50, frame, bevel=10)
    c.rect(x0 + 34, -30, x0 + 766, horizon - 84, Lin((*s.sky[1:], "#6f9a5c")))
    with c.clip([(x0 + 34, 0), (x0 + 766, 0), (x0 + 766, horizon - 84), (x0 + 34, horizon - 84)]):
        for _ in range(46):
            green = s.tint(s.pick(("#2f7a46", "#4c9a4e", "#1f5a42", "#7fb34a", "#3b8a5e")))
            leaf(
                c,
                s.u(x0, x0 + 800),
                s.u(horizon - 340, horizon - 60),
                s.u(110, 230),
                s.u(-160, -20),
                green,
                s.u(0.25, 0.6),
            )
        for _ in range(9):
            c.ellipse(
                s.u(x0, x0 + 800), s.u(120, horizon - 110), 17, 17, s.pick(("#e8486a", "#f6a52c", "#f4e04a", "#d94fa0"))
            )
    c.rect(x0 + 388, -30, x0 + 412, horizon - 84, darker(frame, 0.1), bevel=5)
    c.glow(x0 + 300, 80, 520, s.sun, 0.5)


def moon_gate(s: Scene, horizon: float) -> None:
    """A pale wall with a round window on bamboo and far hills."""
    c = s.c
    wall = s.tint(s.pick(("#e6dccb", "#d9d3c6", "#c9b79a")))
    c.rect(0, 0, 1200, horizon + 20, Lin((lighter(wall, 0.3), wall, darker(wall, 0.28)), 25), tex=(90, 90, 0.08))
    x, y, r = 620 + s.j(160), 150 + s.j(30), 330.0
    c.ellipse(x, y, r + 30, r + 30, Lin(("#7a4226", "#4a2416")), bevel=12)
    hole = ring(x, y, r, r)
    c.poly(hole, Lin((*s.sky[1:], s.far("#6f9a86", 0.4))))
    with c.clip(hole):
        for k, tone in enumerate((0.72, 0.5, 0.3)):
            top = y + 40 + k * 70
            pts = [(x - r + i * r / 4, top + s.u(-50, 36)) for i in range(9)]
            c.poly([*smooth(pts, closed=False), (x + r, y + r), (x - r, y + r)], s.far("#3f6f66", tone))
        for k in range(7):
            px = x - r + 40 + k * 100 + s.j(30)
            green = s.tint(s.pick(("#4f8a4a", "#3d7550", "#6fa055")))
            c.line([(px, y + r), (px + 14, y - r)], 15, Lin((lighter(green), green, darker(green)), 0), bevel=3)
            for _ in range(6):
                leaf(c, px + 8, s.u(y - r, y + r * 0.7), s.u(60, 120), s.u(10, 170), green, 0.22)
    c.glow(x, y, 460, s.sun, 0.45)
    for side in (40, 1160):
        c.glow(side, 220, 260, "#ff8a50", 0.4)


def bokeh(s: Scene, horizon: float, count: int) -> None:
    """Coloured discs of light."""
    for _ in range(count):
        colour = s.pick(("#ffd27a", "#ff9ac0", "#8ad8ff", "#ffb060", "#c8a0ff"))
        s.c.ellipse(s.u(0, 1200), s.u(0, horizon - 30), s.u(16, 48), s.u(16, 48), colour, alpha=0.32)
