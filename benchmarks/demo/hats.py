"""Hats, caps and wraps of Brazil and China, each set on a stand."""

from __future__ import annotations

import math

from benchmarks.demo.canvas import Point, local, smooth
from benchmarks.demo.paint import Colour, Lin, Rad, darker, lighter
from benchmarks.demo.scene import Scene
from benchmarks.demo.things import lathe, round_fill


def bamboo_hat(s: Scene, x: float, y: float, z: float) -> None:
    """A wide cone of woven bamboo."""
    c, straw = s.c, s.pick(("#d8b05a", "#c89a4a", "#e0c47a"))
    c.ellipse(x, y - 14 * z, 190 * z, 40 * z, "#140a08", alpha=0.4, blur=8)
    rim = [
        (x + 206 * z * math.cos(a), y - 34 * z + 48 * z * math.sin(a)) for a in (math.pi * k / 24 for k in range(25))
    ]
    cone = local(x, y, z, [(-206, -34), (-60, -132), (0, -188), (60, -132), (206, -34)])
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
    pts = local(x, y, z, [(-100, -24), (-96, -84), (-58, -134), (0, -150), (58, -134), (96, -84), (100, -24)])
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
    band = local(x, y, z, [(-103, -46), (0, -26), (103, -46), (103, -14), (0, 10), (-103, -14)])
    c.poly(band, Lin(("#8a6420", "#ffe09a", "#c8922e", "#6a4614"), 0), bevel=4)
    c.ellipse(x, y - 10 * z, 15 * z, 15 * z, Rad(("#d0f0d8", "#5aa88a", "#1f5a48")), bevel=3)
    c.ellipse(x, y - 160 * z, 19 * z, 17 * z, Rad(("#ff9a8a", "#d8302a", "#6a1014")), bevel=3)


def silver_crown(s: Scene, x: float, y: float, z: float) -> None:
    """An embroidered cap under a silver crown with flowers and pendants."""
    c = s.c
    cloth = s.pick(("#7a2440", "#24406a", "#2a5a4a"))
    c.poly(
        smooth(local(x, y, z, [(-104, -20), (-90, -110), (0, -146), (90, -110), (104, -20), (0, -4)])),
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
    band = local(x, y, z, [(-108, -62), (0, -42), (108, -62), (108, -20), (0, 2), (-108, -20)])
    c.poly(band, silver, bevel=6)
    for k in range(-6, 7):
        px, py = x + k * 16.5 * z, y - (22 - 2.6 * (6 - abs(k)) * 1.3) * z
        c.line([(px, py), (px, py + 40 * z)], 2 * z, "#c4ccd8")
        c.ellipse(px, py + 44 * z, 6 * z, 8 * z, silver, bevel=2)
        c.ellipse(px, py - 16 * z, 5 * z, 5 * z, "#7a8494")


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
    up = local(x, y, z, [(-196, -50), (-150, -138), (0, -176), (150, -138), (196, -50), (0, -14)])
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
    pts = local(x, y, z, [(-106, -20), (-116, -90), (-64, -150), (64, -150), (116, -90), (106, -20), (0, -38)])
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
