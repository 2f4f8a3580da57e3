"""Dance: the whirling skirts of the tannoura, wide white skirts of Bahia, long silk sleeves."""

from __future__ import annotations

import math

from benchmarks.demo.backdrops import bokeh
from benchmarks.demo.canvas import smooth
from benchmarks.demo.dancers import long_sleeves, tannoura, wide_skirt
from benchmarks.demo.paint import Colour, Lin, Rad, darker, lighter, mix
from benchmarks.demo.scene import Scene


def dance(s: Scene) -> None:
    """Three dancers on a stage, seen from behind."""
    stage(s)
    dancer = {"egypt": tannoura, "brazil": wide_skirt, "china": long_sleeves}[s.culture]
    for x, y, z in ((250, 700, 0.58), (950, 700, 0.58)):
        dancer(s, x + s.j(50), y + s.j(16), z + s.j(0.05))
    s.c.blur(1.8)
    dancer(s, 600 + s.j(60), 835, 1.06)
    if s.culture == "brazil" or s.generated:
        confetti(s)


def stage(s: Scene) -> None:
    """A dark stage with lamps, and a backdrop of the place."""
    c = s.c
    deep: Colour = s.pick(("#2a1238", "#132444", "#3a1424", "#10323a"))
    c.rect(0, 0, 1200, 660, Lin((darker(deep, 0.4), deep, lighter(deep, 0.2))))
    {"egypt": arcade, "brazil": facades, "china": moon}[s.culture](s, deep)
    bokeh(s, 560, 26 if s.generated else 14)
    if s.generated:
        c.symmetrise()
    c.blur(7)
    floor = {"egypt": "#8a4f2c", "brazil": "#a8664a", "china": "#5a2a2a"}[s.culture]
    c.rect(0, 628, 1200, 900, Lin((lighter(floor, 0.18), floor, darker(floor, 0.55))), tex=(300, 7, 0.3))
    c.rect(0, 600, 1200, 660, darker(deep, 0.3), alpha=0.5, blur=14)
    for x in (260, 940):
        beam = [(x - 30, -10), (x + 30, -10), (600 + (x - 600) * 0.1 + 330, 880), (600 + (x - 600) * 0.1 - 330, 880)]
        c.poly(beam, Lin(("#fff0c8", "#ffd890", "#c88a5a")), alpha=0.11, blur=16)
    c.ellipse(600, 820, 470, 86, "#ffd898", alpha=0.26, blur=30)


def arcade(s: Scene, deep: Colour) -> None:
    """Lit arches of an old courtyard."""
    for k in range(6):
        x = 100 + k * 200
        pts = [(x - 74, 640.0), (x - 74, 300.0), (x, 170.0), (x + 74, 300.0), (x + 74, 640.0)]
        s.c.poly(
            [pts[0], *smooth(pts[1:4], closed=False), pts[4]],
            Lin((mix(deep, "#e0a050", 0.75), mix(deep, "#c8702e", 0.5))),
        )
        s.c.line([(x - 100, 650), (x - 100, 280)], 30, mix(deep, "#d8a870", 0.5))
        s.c.glow(x, 330, 130, "#ffc870", 0.6)


def facades(s: Scene, deep: Colour) -> None:
    """Bright house fronts and paper flags."""
    for k in range(8):
        wall = mix(s.pick(("#e0684a", "#3f9a9a", "#e8b84a", "#d86a9a", "#5a8ad0")), deep, 0.35)
        x, top = k * 150, 190 + s.j(60)
        s.c.rect(x, top, x + 150, 650, wall)
        for r in range(2):
            for col in range(2):
                s.c.rect(
                    x + 22 + col * 66,
                    top + 50 + r * 190,
                    x + 62 + col * 66,
                    top + 160 + r * 190,
                    s.pick(("#ffe0a0", "#3a2a4a")),
                )
    for k in range(26):
        y = 90 + 90 * math.sin(math.pi * k / 26)
        s.c.poly(
            [(k * 48, y), (k * 48 + 40, y), (k * 48 + 20, y + 60)],
            s.pick(("#f2c84a", "#e85a4a", "#4ab0d8", "#6ac06a", "#f4efe4")),
        )


def moon(s: Scene, deep: Colour) -> None:
    """A great moon, plum branches and lanterns."""
    c, x = s.c, 600 + s.j(220)
    c.glow(x, 260, 560, "#ffe6b0", 0.7)
    c.ellipse(x, 260, 225, 225, Rad(("#fffbe8", "#fff0c8", "#f0c890"), 0.45, 0.4, 0.8))
    for side in (-1, 1):
        branch = smooth(
            [
                (600 + side * 640, 90),
                (600 + side * 470, 190 + s.j(30)),
                (600 + side * 350, 170),
                (600 + side * 240, 260 + s.j(40)),
            ],
            closed=False,
        )
        c.line(branch, 16, darker(deep, 0.5))
        for px, py in branch[::2]:
            for _ in range(4):
                c.ellipse(px + s.u(-50, 50), py + s.u(-40, 40), 15, 15, s.pick(("#ff9ab8", "#ffc8d4", "#f06a90")))


def confetti(s: Scene) -> None:
    """Paper in the air."""
    for _ in range(70):
        x, y, a = s.u(0, 1200), s.u(0, 820), s.u(4, 9)
        s.c.ellipse(
            x,
            y,
            a,
            a * s.u(0.3, 0.9),
            s.pick(("#f2c84a", "#e85a4a", "#4ab0d8", "#6ac06a", "#f48ab8")),
            rot=s.u(0, 180),
            alpha=0.85,
        )
