"""Head coverings, shown on turned stands as in a craft shop."""

from __future__ import annotations

import math
from collections.abc import Callable

from benchmarks.demo.backdrops import room
from benchmarks.demo.canvas import local, smooth
from benchmarks.demo.hats import bamboo_hat, knotted_wrap, leather_hat, silk_cap, silver_crown, straw_hat
from benchmarks.demo.paint import Lin, Rad, darker, lighter
from benchmarks.demo.scene import Scene
from benchmarks.demo.things import lathe, round_fill, table

Cover = Callable[[Scene, float, float, float], None]


def head_coverings(s: Scene) -> None:
    """Three head coverings on stands; which stands where is left to chance."""
    horizon = 600 + s.j(20)
    room(s, horizon)
    table(s, horizon, s.tint({"egypt": "#7a4a2a", "brazil": "#b07a4a", "china": "#6a2f20"}[s.culture]))
    covers: dict[str, tuple[Cover, ...]] = {
        "egypt": (wound_turban, draped_scarf, tarboosh, knitted_cap),
        "brazil": (straw_hat, leather_hat, knotted_wrap),
        "china": (bamboo_hat, silk_cap, silver_crown),
    }
    chosen = list(covers[s.culture])
    if not s.generated:
        s.rng.shuffle(chosen)
    for k, (x, y, z) in enumerate(((255.0, 700.0, 0.92), (945.0, 700.0, 0.92), (600.0, 800.0, 1.16))):
        x, y = x + s.j(26), y + s.j(12)
        crown = stand(s, x, y, z)
        chosen[k](s, x, crown, z)
    s.c.glow(330 + s.j(120), 160, 600, s.sun, 0.22)


def stand(s: Scene, x: float, base: float, z: float) -> float:
    """A turned stand with a plain wooden form; returns the height of the form's middle."""
    c, oak = s.c, s.tint(s.pick(("#c89a62", "#b8804a", "#d8b888")))
    c.shadow(x + 14 * z, base + 4, 130 * z, 26 * z, 0.6)
    lathe(
        c,
        x,
        base,
        (
            (0, 96 * z),
            (14 * z, 94 * z),
            (24 * z, 40 * z),
            (60 * z, 20 * z),
            (110 * z, 26 * z),
            (150 * z, 18 * z),
            (170 * z, 44 * z),
        ),
        round_fill(oak),
        squash=0.2,
    )
    y = base - 268 * z
    c.ellipse(
        x, y, 92 * z, 112 * z, Rad((lighter(oak, 0.55), lighter(oak, 0.15), oak, darker(oak, 0.5)), 0.36, 0.3, 0.85)
    )
    return y


def wound_turban(s: Scene, x: float, y: float, z: float) -> None:
    """A length of cloth wound round a cap."""
    c, cloth = s.c, s.pick(("#f8f2e4", "#f4ead2", "#dfe6ea"))
    dome = smooth(
        local(x, y, z, [(-112, -14), (-128, -66), (-96, -128), (0, -158), (96, -128), (128, -66), (112, -14), (0, 2)])
    )
    c.ellipse(x, y - 142 * z, 52 * z, 26 * z, Lin((lighter("#a8743e", 0.2), darker("#a8743e"))), bevel=6)
    c.poly(dome, Lin((lighter(cloth, 0.5), cloth, darker(cloth, 0.4)), 20), bevel=10 * z)
    with c.clip(dome):
        for k in range(7):
            low, lean = y - (6 + k * 23) * z, (1 if k % 2 else -1) * (26 - k * 2) * z
            pts = [
                (x - 140 * z, low + lean),
                (x - 50 * z, low + 12 * z + lean * 0.3),
                (x + 50 * z, low + 12 * z - lean * 0.3),
                (x + 140 * z, low - lean),
            ]
            c.line(
                smooth(pts, closed=False),
                32 * z,
                Lin((lighter(cloth, 0.6), cloth, darker(cloth, 0.3)), 80),
                bevel=8 * z,
            )
            c.line(
                [(px, py + 17 * z) for px, py in smooth(pts, closed=False)],
                4 * z,
                darker(cloth, 0.55),
                alpha=0.4,
                blur=1.5,
            )
    tail = local(x, y, z, [(84, -30), (122, -30), (134, 60), (126, 140), (84, 136), (98, 50)])
    c.poly(smooth(tail), Lin((darker(cloth, 0.1), lighter(cloth, 0.4), cloth, darker(cloth, 0.4)), 0), bevel=6 * z)


def draped_scarf(s: Scene, x: float, y: float, z: float) -> None:
    """A soft scarf draped over the form."""
    c = s.c
    hue, edge = s.pick(
        (
            ("#3f7f8a", "#e8d0a0"),
            ("#a84a5a", "#f0d8b0"),
            ("#5a5a9a", "#e8d8f0"),
            ("#3a6a4a", "#f0e0b0"),
            ("#c88a4a", "#fff0d8"),
        )
    )
    back = local(x, y, z, [(0, -136), (96, -86), (122, 20), (172, 150), (0, 186), (-172, 150), (-122, 20), (-96, -86)])
    c.poly(smooth(back), Lin((darker(hue, 0.15), lighter(hue, 0.3), hue, darker(hue, 0.5)), 10), bevel=14 * z)
    opening = smooth(local(x, y, z, [(0, -92), (64, -50), (62, 34), (0, 86), (-62, 34), (-64, -50)]))
    c.poly(opening, darker(hue, 0.62))
    c.ellipse(x, y - 2 * z, 56 * z, 80 * z, Rad(("#ecd2a8", "#c89a62", "#7a5430"), 0.4, 0.35, 0.85))
    c.line([*opening, opening[0]], 6 * z, edge, bevel=2)
    for k in range(7):
        t = k / 6
        pts = [
            (x - 70 * z + t * 24 * z, y + 40 * z + t * 40 * z),
            (x, y + (104 + t * 60) * z),
            (x + 110 * z + t * 20 * z, y + (70 + t * 54) * z),
        ]
        c.line(smooth(pts, closed=False), 4 * z, darker(hue, 0.5) if k % 2 else lighter(hue, 0.35), alpha=0.4, blur=1.4)
    for side in (-1, 1):
        pts = [
            (x + side * 60 * z, y - 110 * z),
            (x + side * 98 * z, y - 20 * z),
            (x + side * 112 * z, y + 60 * z),
            (x + side * 140 * z, y + 150 * z),
        ]
        c.line(smooth(pts, closed=False), 7 * z, darker(hue, 0.5), alpha=0.35, blur=3)
        c.line(
            [(px - 12 * z, py) for px, py in smooth(pts, closed=False)], 5 * z, lighter(hue, 0.5), alpha=0.35, blur=3
        )
    hem = local(x, y, z, [(-164, 146), (-90, 172), (0, 180), (90, 172), (164, 146)])
    c.line(smooth(hem, closed=False), 5 * z, edge, alpha=0.9)


def tarboosh(s: Scene, x: float, y: float, z: float) -> None:
    """A red felt hat with a tassel."""
    c, red = s.c, s.pick(("#a8242a", "#8a1e2a", "#b83028"))
    lathe(c, x, y - 8 * z, ((0, 98 * z), (60 * z, 92 * z), (150 * z, 76 * z)), round_fill(red, 0.28), squash=0.26)
    c.ellipse(x, y - 158 * z, 76 * z, 19 * z, Lin((lighter(red, 0.25), red)), bevel=3)
    c.ellipse(x, y - 160 * z, 7 * z, 4 * z, "#1a1014")
    c.line(smooth(local(x, y, z, [(0, -162), (60, -156), (90, -110)]), closed=False), 4 * z, "#1a1014")
    for k in range(-4, 5):
        c.line(
            [(x + 90 * z, y - 112 * z), (x + (94 + k * 4) * z, y - 20 * z + s.j(5))],
            3.4 * z,
            ("#1a1014", "#3a3038")[k % 2],
        )


def knitted_cap(s: Scene, x: float, y: float, z: float) -> None:
    """A round cap with worked patterns."""
    c = s.c
    hue, dots = s.pick((("#f4ecd8", "#b8823a"), ("#f8f4ea", "#3f7f9a"), ("#e8dcc4", "#a8443a")))
    pts = local(x, y, z, [(-100, -30), (-98, -90), (-60, -136), (0, -148), (60, -136), (98, -90), (100, -30), (0, -8)])
    c.poly(
        smooth(pts),
        Lin((darker(hue, 0.1), lighter(hue, 0.5), hue, darker(hue, 0.45)), 5),
        bevel=9 * z,
        tex=(4, 4, 0.14),
    )
    for row in range(4):
        w = (98, 96, 84, 56)[row] * z
        for k in range(13 - row * 2):
            a = math.pi * (k + 0.5) / (13 - row * 2)
            px, py = x - w * math.cos(a), y - (40 + row * 30) * z + 22 * z * math.sin(a)
            c.poly([(px, py - 9 * z), (px + 7 * z, py), (px, py + 9 * z), (px - 7 * z, py)], dots, alpha=0.85)
