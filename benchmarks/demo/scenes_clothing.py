"""Clothing, shown on dress forms as in a tailor's shop."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.demo.backdrops import room
from benchmarks.demo.canvas import Point, local, smooth
from benchmarks.demo.paint import Colour, Lin, darker, lighter, mix
from benchmarks.demo.scene import Scene
from benchmarks.demo.things import lathe, round_fill

SLEEVE: tuple[Point, ...] = ((-1.0, -2.5), (-1.9, -1.7), (-2.6, -0.3), (-1.95, 0.05), (-1.2, -0.9), (-0.8, -1.4))


def clothing(s: Scene) -> None:
    """Two garments on dress forms."""
    horizon = 690 + s.j(14)
    room(s, horizon)
    s.c.rect(0, horizon - 120, 1200, horizon + 4, "#1a1014", alpha=0.22, blur=30)
    floor = s.tint({"egypt": "#9a6a44", "brazil": "#b07a4e", "china": "#7a4430"}[s.culture])
    s.c.rect(0, horizon, 1200, 900, Lin((lighter(floor, 0.15), floor, darker(floor, 0.4))), tex=(300, 6, 0.35))
    pair = {"egypt": (galabeya, thobe), "brazil": (poncho, lace_dress), "china": (qipao, wide_robe)}[s.culture]
    left, right = pair if s.generated or s.rng.random() < 0.5 else pair[::-1]
    for garment, x in ((left, 318 + s.j(14)), (right, 882 + s.j(14))):
        form(s, x, 850)
        garment(s, x, 536.0, 101.0)
    s.c.glow(320 + s.j(140), 120, 640, s.sun, 0.25)


def form(s: Scene, x: float, base: float) -> None:
    """A turned foot and the neck of a dress form."""
    oak = s.tint("#8a5a34")
    s.c.shadow(x + 20, base, 170, 28, 0.5)
    lathe(s.c, x, base, ((0, 84), (12, 80), (24, 24), (150, 14)), round_fill(oak), squash=0.22)
    lathe(s.c, x, 288, ((0, 34), (30, 30), (46, 12), (66, 20), (80, 4)), round_fill(oak))


def cloth(hue: Colour) -> Lin:
    """Hanging cloth lit from the left."""
    return Lin((darker(hue, 0.15), lighter(hue, 0.3), hue, lighter(hue, 0.08), darker(hue, 0.42)), 0)


def drape(s: Scene, x: float, y: float, z: float, outline: Sequence[Point], hue: Colour) -> None:
    """A garment's body from the points of its right half, mirrored, with folds."""
    half = smooth(local(x, y, z, outline), closed=False)
    whole = [*half, *[(2 * x - px, py) for px, py in half[::-1]]]
    s.c.poly([(px + 22, py + 14) for px, py in whole], "#120a0c", alpha=0.35, blur=16)
    s.c.poly(whole, cloth(hue), bevel=12, tex=(3, 3, 0.08))
    hem_x, hem_y = outline[-2]
    with s.c.clip(whole):
        for k in range(-4, 5):
            t = k / 4.5
            fold = local(x, y, z, [(t * 0.55, -0.4), (t * 0.8 * hem_x, hem_y * 0.5), (t * hem_x * 1.05, hem_y + 0.4)])
            s.c.line(smooth(fold, closed=False), 15, darker(hue, 0.5), alpha=0.3, blur=6)
            s.c.line(
                [(px - 16, py) for px, py in smooth(fold, closed=False)], 10, lighter(hue, 0.5), alpha=0.22, blur=5
            )


def sleeves(s: Scene, x: float, y: float, z: float, hue: Colour, edge: Colour, spread: float = 1.0) -> None:
    """Two hanging sleeves with bordered cuffs."""
    for side in (-1, 1):
        pts = [(u * spread if u < -1 else u, v) for u, v in SLEEVE]
        s.c.poly(smooth(local(x, y, z, pts, -side), steps=6), cloth(hue), bevel=10, tex=(3, 3, 0.08))
        cuff = local(x, y, z, [(-2.54 * spread, -0.32), (-1.98 * spread, 0.0)], -side)
        s.c.line(cuff, 15, edge, bevel=3)


def neckline(s: Scene, x: float, y: float, z: float, hue: Colour, edge: Colour, depth: float = 0.55) -> None:
    """A round neck with a bordered slit."""
    c = s.c
    c.ellipse(x, y - 2.45 * z, 0.42 * z, 0.2 * z, darker(hue, 0.6))
    arc = [
        (x + 0.44 * z * math.cos(a), y - 2.45 * z + 0.22 * z * math.sin(a))
        for a in (math.pi * k / 16 for k in range(17))
    ]
    c.line(arc, 11, edge, bevel=3)
    c.line([(x, y - 2.22 * z), (x, y - (2.2 - depth) * z)], 8, edge, bevel=2)


def stitches(s: Scene, x: float, y: float, rows: int, gap: float, hues: Sequence[Colour], widen: float = 0.0) -> None:
    """Rows of embroidered diamonds."""
    for row in range(rows):
        count = 3 + round(row * widen)
        for k in range(count):
            px, py = x + (k - (count - 1) / 2) * gap, y + row * gap * 0.8
            hue = hues[(k + row) % len(hues)]
            r = gap * 0.4
            s.c.poly([(px - r, py), (px, py - r), (px + r, py), (px, py + r)], Lin((lighter(hue, 0.3), hue)))


def galabeya(s: Scene, x: float, y: float, z: float) -> None:
    """A long loose robe with braided edges."""
    hue, edge = s.pick((("#e8e0cc", "#b8863a"), ("#4f7088", "#e0c890"), ("#8a9a8a", "#f0e6cc"), ("#c8b08a", "#6a4a2a")))
    sleeves(s, x, y, z, hue, edge)
    drape(s, x, y, z, [(0.4, -2.5), (1.05, -2.35), (1.0, -1.0), (1.2, 0.8), (1.5, 2.75), (0.0, 2.85)], hue)
    neckline(s, x, y, z, hue, edge, 1.1)
    for k in range(6):
        s.c.ellipse(x, y - 2.1 * z + k * 21, 6, 6, edge, bevel=2)
    s.c.line(local(x, y, z, [(0.35, -0.9), (0.85, -0.95)]), 5, edge)


def thobe(s: Scene, x: float, y: float, z: float) -> None:
    """A dark dress with an embroidered breast panel."""
    hue = s.pick(("#2a2030", "#4a1a2a", "#1f3040"))
    hues = s.pick(
        (("#d8342a", "#f0b83a", "#e86a3a"), ("#3f9ac0", "#f0d060", "#e8e0cc"), ("#e85a8a", "#f0b83a", "#6ab06a"))
    )
    sleeves(s, x, y, z, hue, hues[0], 1.1)
    drape(s, x, y, z, [(0.4, -2.5), (1.0, -2.35), (0.85, -1.0), (1.2, 0.8), (1.6, 2.75), (0.0, 2.85)], hue)
    panel = local(x, y, z, [(-0.6, -2.1), (0.6, -2.1), (0.55, -0.75), (-0.55, -0.75)])
    s.c.poly(panel, darker(hues[0], 0.45), alpha=0.7)
    stitches(s, x, y - 1.95 * z, 9, 19, hues, 0.3)
    neckline(s, x, y, z, hue, hues[1], 0.2)
    for side in (-1, 1):
        for k in range(9):
            px, py = local(x, y, z, [(0.9 + k * 0.05, 0.5 + k * 0.24)], side)[0]
            s.c.poly([(px - 9, py), (px, py - 11), (px + 9, py), (px, py + 11)], hues[k % 3])
    for k in range(-6, 7):
        px, py = x + k * 25, y + (2.6 - abs(k) * 0.012) * z
        s.c.poly([(px - 10, py), (px, py - 12), (px + 10, py), (px, py + 12)], hues[k % 3])


def poncho(s: Scene, x: float, y: float, z: float) -> None:
    """A woollen poncho of the south with striped borders, over dark cloth."""
    hue, second = s.pick((("#a8342a", "#f0e2c0"), ("#3a4a6a", "#e0c890"), ("#7a5a3a", "#f4e8cc")))
    under = "#3a3034"
    drape(s, x, y, z, [(0.3, 0.0), (0.8, 0.2), (0.9, 1.2), (1.0, 2.5), (0.0, 2.55)], under)
    drape(s, x, y, z, [(0.36, -2.5), (1.2, -2.2), (1.9, -0.6), (2.05, 0.7), (0.9, 1.15), (0.0, 1.3)], hue)
    for part, tone in ((0.0, second), (0.16, darker(hue, 0.4)), (0.28, second)):
        band = local(
            x,
            y,
            z,
            [(-2.02, 0.56 - part), (-0.9, 1.0 - part), (0, 1.14 - part), (0.9, 1.0 - part), (2.02, 0.56 - part)],
        )
        s.c.line(smooth(band, closed=False), 9, tone, alpha=0.95)
    for k in range(-14, 15):
        px = x + k * 0.14 * z
        py = y + (1.28 - 0.14 * (k / 7) ** 2) * z
        s.c.line([(px, py - 8), (px + s.j(4), py + 20)], 3, second)
    neckline(s, x, y, z, hue, second, 0.5)


def lace_dress(s: Scene, x: float, y: float, z: float) -> None:
    """A white lace blouse over a wide patterned skirt, with beads."""
    hue = s.pick(("#e0a83a", "#3f8ac0", "#d8546a", "#4aa07a"))
    white = "#f8f2e6"
    drape(s, x, y, z, [(0.5, -0.7), (0.7, -0.5), (1.7, 1.0), (2.05, 2.6), (0.9, 2.8), (0.0, 2.85)], hue)
    for row, v in enumerate((0.9, 1.7, 2.45)):
        half = 1.5 + row * 0.24
        hem = local(x, y, z, [(-half, v), (-half * 0.5, v + 0.18), (0, v + 0.24), (half * 0.5, v + 0.18), (half, v)])
        s.c.line(smooth(hem, closed=False), 17, mix(white, hue, 0.1), bevel=4)
        for px, py in smooth(hem, closed=False, steps=6):
            s.c.ellipse(px, py + 11, 10, 8, white)
    for side in (-1, 1):
        s.c.poly(
            smooth(local(x, y, z, [(0.7, -2.4), (1.5, -2.1), (1.6, -1.4), (0.9, -1.3)], side)), cloth(white), bevel=10
        )
    drape(s, x, y, z, [(0.5, -2.4), (1.0, -2.25), (0.85, -1.3), (0.75, -0.5), (0.0, -0.42)], white)
    for k in range(3):
        drop = local(
            x, y, z, [(-0.5, -2.3), (-0.3, -1.75 + k * 0.2), (0, -1.6 + k * 0.24), (0.3, -1.75 + k * 0.2), (0.5, -2.3)]
        )
        bead = ("#d8342a", "#f0c04a", "#3f8ac0")[k]
        for px, py in smooth(drop, closed=False, steps=5):
            s.c.ellipse(px, py, 6, 6, Lin((lighter(bead, 0.5), darker(bead, 0.2))))
    s.c.rect(x - 0.76 * z, y - 0.6 * z, x + 0.76 * z, y - 0.4 * z, darker(hue, 0.2), r=6, bevel=3)


def qipao(s: Scene, x: float, y: float, z: float) -> None:
    """A fitted silk dress with a high collar and blossoms."""
    hue, edge = s.pick((("#a8242e", "#f0c86a"), ("#1f5a5a", "#f0d890"), ("#2a3a7a", "#e0d0f0"), ("#e0b8c0", "#a83a5a")))
    for side in (-1, 1):
        s.c.poly(
            smooth(local(x, y, z, [(0.7, -2.4), (1.25, -2.15), (1.4, -1.5), (0.95, -1.45)], side)), cloth(hue), bevel=9
        )
    drape(s, x, y, z, [(0.4, -2.5), (0.95, -2.3), (0.85, -1.4), (0.66, -0.7), (0.98, 0.3), (0.9, 2.7), (0.0, 2.8)], hue)
    s.c.poly(local(x, y, z, [(-0.38, -2.75), (0.38, -2.75), (0.46, -2.36), (-0.46, -2.36)]), cloth(hue), bevel=5)
    s.c.line(local(x, y, z, [(-0.38, -2.76), (0.38, -2.76)]), 6, edge)
    s.c.line(smooth(local(x, y, z, [(0, -2.4), (0.3, -2.05), (0.8, -1.75)]), closed=False), 6, edge, bevel=1)
    for u, v in ((0.04, -2.36), (0.28, -2.06), (0.6, -1.84)):
        px, py = local(x, y, z, [(u, v)])[0]
        s.c.ellipse(px, py, 10, 6, edge, rot=30, bevel=2)
    spray = smooth(local(x, y, z, [(-0.7, 2.5), (-0.3, 1.5), (0.2, 0.8), (0.1, -0.2), (-0.4, -1.0)]), closed=False)
    s.c.line(spray, 5, darker(edge, 0.45))
    for px, py in spray[::4]:
        blossom(s, px + s.u(-22, 22), py + s.u(-12, 12), s.u(10, 17), lighter(edge, 0.3))
    s.c.line(local(x, y, z, [(0.93, 1.2), (0.88, 2.7)]), 5, edge)


def blossom(s: Scene, x: float, y: float, r: float, hue: Colour) -> None:
    """A five-petalled flower."""
    for k in range(5):
        a = 2 * math.pi * k / 5
        s.c.ellipse(
            x + r * 0.75 * math.cos(a), y + r * 0.75 * math.sin(a), r * 0.62, r * 0.62, Lin((lighter(hue, 0.4), hue))
        )
    s.c.ellipse(x, y, r * 0.35, r * 0.35, "#d8643a")


def wide_robe(s: Scene, x: float, y: float, z: float) -> None:
    """A robe with crossed collar, wide sleeves and a sash."""
    hue, edge, sash = s.pick(
        (
            ("#7ab0b8", "#f0ece0", "#2a5a7a"),
            ("#d8909a", "#fff0e4", "#8a2a4a"),
            ("#8aa878", "#f4ecd4", "#3a5a3a"),
            ("#e8dcc4", "#8a3a34", "#a8342a"),
        )
    )
    for side in (-1, 1):
        wide = [(0.9, -2.4), (1.9, -1.5), (2.75, 0.3), (2.3, 1.15), (1.6, 0.7), (1.0, -1.1)]
        s.c.poly(smooth(local(x, y, z, wide, side), steps=6), cloth(hue), bevel=12, tex=(3, 3, 0.08))
        s.c.line(
            smooth(local(x, y, z, [(2.72, 0.32), (2.58, 0.85), (2.3, 1.12)], side), closed=False), 15, edge, bevel=3
        )
    drape(s, x, y, z, [(0.4, -2.5), (1.0, -2.3), (0.85, -1.0), (1.1, 0.6), (1.55, 2.75), (0.0, 2.85)], hue)
    for side in (1, -1):
        s.c.line(
            local(x, y, z, [(-0.42, -2.5), (0.5, -0.9)], side),
            30,
            Lin((lighter(edge, 0.3), darker(edge, 0.15))),
            bevel=5,
        )
    s.c.rect(
        x - 0.88 * z,
        y - 0.98 * z,
        x + 0.88 * z,
        y - 0.55 * z,
        Lin((lighter(sash, 0.3), sash, darker(sash, 0.3))),
        r=6,
        bevel=5,
    )
    for dx in (-0.1, 0.14):
        s.c.line(
            smooth(local(x, y, z, [(dx, -0.7), (dx * 2, 0.4), (dx * 3.2, 1.5)]), closed=False), 17, cloth(sash), bevel=4
        )
    s.c.ellipse(x, y - 0.76 * z, 15, 15, Lin(("#d0f0dc", "#4a9a7a")), bevel=4)
    for _ in range(9):
        blossom(s, x + s.u(-1.2, 1.2) * z, y + s.u(1.7, 2.5) * z, s.u(7, 12), mix(edge, "#ffffff", 0.3))
