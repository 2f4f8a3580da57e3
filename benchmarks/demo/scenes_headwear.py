"""Head coverings, shown on turned stands as in a craft shop."""

from __future__ import annotations

import math
from collections.abc import Callable

from benchmarks.demo.backdrops import room
from benchmarks.demo.canvas import Point, smooth
from benchmarks.demo.paint import Colour, Lin, Rad, darker, lighter
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
    for k, (x, y, z) in enumerate(((255, 700, 0.92), (945, 700, 0.92), (600, 800, 1.16))):
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
        [
            (x - 112 * z, y - 14 * z),
            (x - 128 * z, y - 66 * z),
            (x - 96 * z, y - 128 * z),
            (x, y - 158 * z),
            (x + 96 * z, y - 128 * z),
            (x + 128 * z, y - 66 * z),
            (x + 112 * z, y - 14 * z),
            (x, y + 2 * z),
        ]
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
    tail = [
        (x + 84 * z, y - 30 * z),
        (x + 122 * z, y - 30 * z),
        (x + 134 * z, y + 60 * z),
        (x + 126 * z, y + 140 * z),
        (x + 84 * z, y + 136 * z),
        (x + 98 * z, y + 50 * z),
    ]
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
    back = [
        (x, y - 136 * z),
        (x + 96 * z, y - 86 * z),
        (x + 122 * z, y + 20 * z),
        (x + 172 * z, y + 150 * z),
        (x, y + 186 * z),
        (x - 172 * z, y + 150 * z),
        (x - 122 * z, y + 20 * z),
        (x - 96 * z, y - 86 * z),
    ]
    c.poly(smooth(back), Lin((darker(hue, 0.15), lighter(hue, 0.3), hue, darker(hue, 0.5)), 10), bevel=14 * z)
    opening = smooth(
        [
            (x, y - 92 * z),
            (x + 64 * z, y - 50 * z),
            (x + 62 * z, y + 34 * z),
            (x, y + 86 * z),
            (x - 62 * z, y + 34 * z),
            (x - 64 * z, y - 50 * z),
        ]
    )
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
    hem = [
        (x - 164 * z, y + 146 * z),
        (x - 90 * z, y + 172 * z),
        (x, y + 180 * z),
        (x + 90 * z, y + 172 * z),
        (x + 164 * z, y + 146 * z),
    ]
    c.line(smooth(hem, closed=False), 5 * z, edge, alpha=0.9)


def tarboosh(s: Scene, x: float, y: float, z: float) -> None:
    """A red felt hat with a tassel."""
    c, red = s.c, s.pick(("#a8242a", "#8a1e2a", "#b83028"))
    lathe(c, x, y - 8 * z, ((0, 98 * z), (60 * z, 92 * z), (150 * z, 76 * z)), round_fill(red, 0.28), squash=0.26)
    c.ellipse(x, y - 158 * z, 76 * z, 19 * z, Lin((lighter(red, 0.25), red)), bevel=3)
    c.ellipse(x, y - 160 * z, 7 * z, 4 * z, "#1a1014")
    c.line(
        smooth([(x, y - 162 * z), (x + 60 * z, y - 156 * z), (x + 90 * z, y - 110 * z)], closed=False), 4 * z, "#1a1014"
    )
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
    pts = [
        (x - 100 * z, y - 30 * z),
        (x - 98 * z, y - 90 * z),
        (x - 60 * z, y - 136 * z),
        (x, y - 148 * z),
        (x + 60 * z, y - 136 * z),
        (x + 98 * z, y - 90 * z),
        (x + 100 * z, y - 30 * z),
        (x, y - 8 * z),
    ]
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


def brim(s: Scene, x: float, y: float, rx: float, ry: float, straw: Colour) -> None:
    """A woven brim."""
    c = s.c
    c.ellipse(x, y + 14, rx * 0.9, ry, "#140a08", alpha=0.4, blur=8)
    c.ellipse(x, y, rx, ry, Lin((lighter(straw, 0.45), straw, darker(straw, 0.35)), 60), bevel=6, tex=(7, 3, 0.25))
    for k in range(1, 5):
        part = 1 - k * 0.09
        outline = [
            (x + rx * part * math.cos(a), y + ry * part * math.sin(a))
            for a in (2 * math.pi * i / 48 for i in range(49))
        ]
        c.line(outline, 2, darker(straw, 0.45), alpha=0.35)


def straw_hat(s: Scene, x: float, y: float, z: float) -> None:
    """A straw hat with a ribbon."""
    straw, ribbon = s.pick(("#e8cc86", "#dcb868", "#f0dca8")), s.pick(("#c83a3a", "#2f6fa8", "#2f8a5a", "#3a2a20"))
    brim(s, x, y - 46 * z, 190 * z, 46 * z, straw)
    fill = Lin((darker(straw, 0.15), lighter(straw, 0.5), straw, darker(straw, 0.45)), 0)
    lathe(
        s.c,
        x,
        y - 52 * z,
        ((0, 100 * z), (60 * z, 96 * z), (104 * z, 84 * z), (120 * z, 56 * z), (124 * z, 10 * z)),
        fill,
        squash=0.22,
    )
    lathe(s.c, x, y - 52 * z, ((0, 101 * z), (32 * z, 99 * z)), round_fill(ribbon, 0.25), squash=0.22, curved=False)
    for k in range(5):
        curve = [
            (x - (97 - k * 3) * z * math.cos(t), y - (96 + k * 15) * z + 20 * z * math.sin(t))
            for t in (math.pi * i / 20 for i in range(21))
        ]
        s.c.line(curve, 2, darker(straw, 0.4), alpha=0.35)


def leather_hat(s: Scene, x: float, y: float, z: float) -> None:
    """A herdsman's leather hat with a turned-up brim and stitched stars."""
    c, hide = s.c, s.pick(("#8a5226", "#a8662e", "#6e3e1e"))
    up = [
        (x - 196 * z, y - 50 * z),
        (x - 150 * z, y - 138 * z),
        (x, y - 176 * z),
        (x + 150 * z, y - 138 * z),
        (x + 196 * z, y - 50 * z),
        (x, y - 14 * z),
    ]
    lathe(
        c,
        x,
        y - 60 * z,
        ((0, 96 * z), (70 * z, 92 * z), (116 * z, 66 * z), (126 * z, 8 * z)),
        round_fill(darker(hide, 0.15), 0.3),
        squash=0.2,
    )
    c.poly(smooth(up), Lin((lighter(hide, 0.35), hide, darker(hide, 0.42)), 60), bevel=9 * z, tex=(12, 9, 0.18))
    edge = smooth([(x + (px - x) * 0.92, y - 84 * z + (py - y + 84 * z) * 0.86) for px, py in up])
    c.line([*edge, edge[0]], 3.4 * z, "#f4d89a", alpha=0.9)
    for k in (-1, 0, 1):
        cx, cy = x + k * 86 * z, y - (96 - abs(k) * 12) * z
        star: list[Point] = []
        for i in range(12):
            r = (27 if i % 2 == 0 else 12) * z
            star.append((cx + r * math.sin(math.pi * i / 6), cy - r * math.cos(math.pi * i / 6)))
        c.poly(star, Lin(("#fff0c0", "#d8a84a")), bevel=2)
        c.ellipse(cx, cy, 6 * z, 6 * z, darker(hide, 0.4))
    for side in (-1, 1):
        c.line(
            smooth(
                [(x + side * 92 * z, y - 26 * z), (x + side * 76 * z, y + 70 * z), (x + side * 12 * z, y + 126 * z)],
                closed=False,
            ),
            6 * z,
            darker(hide, 0.4),
            bevel=2,
        )


def knotted_wrap(s: Scene, x: float, y: float, z: float) -> None:
    """A bright cotton wrap with a big knot."""
    c = s.c
    hues = s.pick(
        (("#f2b62c", "#d8422e", "#2f8a6a"), ("#3f7fc0", "#fdf0d8", "#e85a4a"), ("#8a4ab0", "#f2c84a", "#3fae8a"))
    )
    pts = [
        (x - 106 * z, y - 20 * z),
        (x - 116 * z, y - 90 * z),
        (x - 64 * z, y - 150 * z),
        (x + 64 * z, y - 150 * z),
        (x + 116 * z, y - 90 * z),
        (x + 106 * z, y - 20 * z),
        (x, y - 38 * z),
    ]
    c.poly(
        smooth(pts), Lin((darker(hues[0], 0.1), lighter(hues[0], 0.35), hues[0], darker(hues[0], 0.5)), 8), bevel=12 * z
    )
    for k in range(5):
        t = k / 4
        pts = [
            (x - 108 * z, y - (26 + t * 66) * z),
            (x - 20 * z, y - (62 + t * 84) * z),
            (x + 108 * z, y - (24 + t * 60) * z),
        ]
        c.line(smooth(pts, closed=False), (13 if k % 2 else 8) * z, hues[1 + k % 2], bevel=3)
        c.line(
            [(px, py + 9 * z) for px, py in smooth(pts, closed=False)], 3 * z, darker(hues[0], 0.6), alpha=0.4, blur=1
        )
    for side in (-1, 1):
        wing = [
            (x + 20 * z, y - 136 * z),
            (x + (20 + side * 46) * z, y - 172 * z),
            (x + (20 + side * 78) * z, y - 158 * z),
            (x + (20 + side * 74) * z, y - 120 * z),
        ]
        c.poly(smooth(wing), Lin((lighter(hues[0], 0.35), hues[0], darker(hues[0], 0.35)), 45), bevel=8 * z)
    c.ellipse(
        x + 20 * z, y - 146 * z, 30 * z, 26 * z, Rad((lighter(hues[1], 0.4), hues[1], darker(hues[1], 0.4))), bevel=5
    )


def bamboo_hat(s: Scene, x: float, y: float, z: float) -> None:
    """A wide cone of woven bamboo."""
    c, straw = s.c, s.pick(("#d8b05a", "#c89a4a", "#e0c47a"))
    c.ellipse(x, y - 14 * z, 190 * z, 40 * z, "#140a08", alpha=0.4, blur=8)
    rim = [
        (x + 206 * z * math.cos(a), y - 34 * z + 48 * z * math.sin(a)) for a in (math.pi * k / 24 for k in range(25))
    ]
    cone = [
        (x - 206 * z, y - 34 * z),
        (x - 60 * z, y - 132 * z),
        (x, y - 188 * z),
        (x + 60 * z, y - 132 * z),
        (x + 206 * z, y - 34 * z),
    ]
    c.poly(
        [*smooth(cone, closed=False), *rim],
        Lin((darker(straw, 0.05), lighter(straw, 0.5), straw, darker(straw, 0.5)), 0),
        bevel=7 * z,
        tex=(5, 4, 0.2),
    )
    for k in range(1, 8):
        t = k / 8
        half, mid = 206 * z * t**1.15, y - 186 * z + 152 * z * t
        curve = [
            (x - half * math.cos(a), mid + 46 * z * t * math.sin(a)) for a in (math.pi * i / 24 for i in range(25))
        ]
        c.line(curve, 2.4 * z, darker(straw, 0.5), alpha=0.45)
    for k in range(1, 16):
        a = math.pi * k / 16
        c.line(
            [(x, y - 184 * z), (x + 200 * z * math.cos(a), y - 34 * z + 45 * z * math.sin(a))],
            1.8 * z,
            darker(straw, 0.5),
            alpha=0.4,
        )
    c.line([*rim], 7 * z, Lin((lighter(straw, 0.2), darker(straw, 0.4))), bevel=2)
    for side in (-1, 1):
        c.line(
            smooth(
                [(x + side * 90 * z, y), (x + side * 70 * z, y + 80 * z), (x + side * 8 * z, y + 130 * z)], closed=False
            ),
            5 * z,
            "#b8302a",
            bevel=1,
        )


def silk_cap(s: Scene, x: float, y: float, z: float) -> None:
    """A six-panelled silk cap with a knot on top."""
    c, silk = s.c, s.pick(("#1f2430", "#2a2f5a", "#5a1a24", "#1f3f3a"))
    pts = [
        (x - 100 * z, y - 24 * z),
        (x - 96 * z, y - 84 * z),
        (x - 58 * z, y - 134 * z),
        (x, y - 150 * z),
        (x + 58 * z, y - 134 * z),
        (x + 96 * z, y - 84 * z),
        (x + 100 * z, y - 24 * z),
    ]
    c.poly(
        [*smooth(pts, closed=False), (x, y - 2 * z)],
        Lin((darker(silk, 0.1), lighter(silk, 0.45), silk, darker(silk, 0.5)), 0),
        bevel=10 * z,
    )
    for k in (-2, -1, 0, 1, 2):
        c.line(
            smooth([(x, y - 150 * z), (x + k * 30 * z, y - 126 * z), (x + k * 47 * z, y - 30 * z)], closed=False),
            3 * z,
            lighter(silk, 0.35),
            alpha=0.5,
        )
        c.ellipse(x + k * 38 * z, y - 84 * z + abs(k) * 5 * z, 14 * z, 14 * z, "#d8a84a", alpha=0.75)
        c.ellipse(x + k * 38 * z, y - 84 * z + abs(k) * 5 * z, 8 * z, 8 * z, silk)
    band = [
        (x - 103 * z, y - 46 * z),
        (x, y - 26 * z),
        (x + 103 * z, y - 46 * z),
        (x + 103 * z, y - 14 * z),
        (x, y + 10 * z),
        (x - 103 * z, y - 14 * z),
    ]
    c.poly(band, Lin(("#8a6420", "#ffe09a", "#c8922e", "#6a4614"), 0), bevel=4)
    c.ellipse(x, y - 10 * z, 15 * z, 15 * z, Rad(("#d0f0d8", "#5aa88a", "#1f5a48")), bevel=3)
    c.ellipse(x, y - 160 * z, 19 * z, 17 * z, Rad(("#ff9a8a", "#d8302a", "#6a1014")), bevel=3)


def silver_crown(s: Scene, x: float, y: float, z: float) -> None:
    """An embroidered cap under a silver crown with flowers and pendants."""
    c = s.c
    cloth = s.pick(("#7a2440", "#24406a", "#2a5a4a"))
    c.poly(
        smooth(
            [
                (x - 104 * z, y - 20 * z),
                (x - 90 * z, y - 110 * z),
                (x, y - 146 * z),
                (x + 90 * z, y - 110 * z),
                (x + 104 * z, y - 20 * z),
                (x, y - 4 * z),
            ]
        ),
        Lin((lighter(cloth, 0.2), cloth, darker(cloth, 0.4)), 10),
        bevel=8 * z,
    )
    silver = Lin(("#8a94a4", "#ffffff", "#c4ccd8", "#6a7484"), 0)
    for k in range(-5, 6):
        a = k * 0.23
        px, py = x + math.sin(a) * 128 * z, y - 84 * z - math.cos(a) * 112 * z
        c.line([(x + math.sin(a) * 90 * z, y - 70 * z - math.cos(a) * 50 * z), (px, py)], 3 * z, "#b8c0cc")
        for i in range(6):
            t = 2 * math.pi * i / 6
            c.ellipse(px + 10 * z * math.cos(t), py + 10 * z * math.sin(t), 8 * z, 8 * z, silver, bevel=2)
        c.ellipse(px, py, 6 * z, 6 * z, s.pick(("#d8424a", "#3f9ac0", "#f0c04a")))
    band = [
        (x - 108 * z, y - 62 * z),
        (x, y - 42 * z),
        (x + 108 * z, y - 62 * z),
        (x + 108 * z, y - 20 * z),
        (x, y + 2 * z),
        (x - 108 * z, y - 20 * z),
    ]
    c.poly(band, silver, bevel=6)
    for k in range(-6, 7):
        px, py = x + k * 16.5 * z, y - (22 - 2.6 * (6 - abs(k)) * 1.3) * z
        c.line([(px, py), (px, py + 40 * z)], 2 * z, "#c4ccd8")
        c.ellipse(px, py + 44 * z, 6 * z, 8 * z, silver, bevel=2)
        c.ellipse(px, py - 16 * z, 5 * z, 5 * z, "#7a8494")
