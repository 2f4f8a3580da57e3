"""Dance: the whirling skirts of the tannoura, wide white skirts of Bahia, long silk sleeves."""

from __future__ import annotations

import math

from benchmarks.demo.backdrops import bokeh
from benchmarks.demo.canvas import Point, ring, smooth
from benchmarks.demo.paint import Colour, Fill, Lin, Rad, darker, lighter, mix
from benchmarks.demo.scene import Scene

SKINS: tuple[Colour, ...] = ("#8a5a3c", "#a8764e", "#6e4630", "#b98458")


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


def body(
    s: Scene, x: float, waist: float, z: float, top: Fill, arms: tuple[list[Point], list[Point]], sleeve: Colour | None
) -> None:
    """Torso, neck, head from behind and two arms; `waist` is the height of the belt."""
    c, skin = s.c, s.pick(SKINS)
    for arm in arms:
        c.line(
            smooth(arm, closed=False),
            30 * z,
            Lin((lighter(sleeve or skin, 0.25), darker(sleeve or skin, 0.25))),
            bevel=4,
        )
        c.ellipse(arm[-1][0], arm[-1][1], 15 * z, 15 * z, lighter(skin, 0.12))
    c.rect(x - 15 * z, waist - 185 * z, x + 15 * z, waist - 140 * z, darker(skin, 0.1))
    torso = [
        (x - 66 * z, waist - 148 * z),
        (x, waist - 160 * z),
        (x + 66 * z, waist - 148 * z),
        (x + 50 * z, waist - 70 * z),
        (x + 46 * z, waist + 8 * z),
        (x - 46 * z, waist + 8 * z),
        (x - 50 * z, waist - 70 * z),
    ]
    c.poly(smooth(torso, steps=5), top, bevel=9 * z)
    c.ellipse(x, waist - 214 * z, 39 * z, 46 * z, Lin((lighter(skin, 0.2), skin, darker(skin, 0.3)), 20))


def tannoura(s: Scene, x: float, base: float, z: float) -> None:
    """A whirling dancer: two spinning skirts in bright rings."""
    c, waist = s.c, base - 250 * z
    hues = s.pick(
        (
            ("#d8342a", "#f2c03a", "#2f8a5a", "#fdf3dc"),
            ("#2f6fb0", "#f2c03a", "#d8422e", "#fdf3dc"),
            ("#2f8a6a", "#f0a02e", "#b83a6a", "#f4ecd8"),
        )
    )
    tilt = s.j(7)
    c.shadow(x, base + 6, 300 * z, 44 * z, 0.6)
    for side in (-1, 1):
        c.line(
            [(x + side * 24 * z, waist), (x + side * 30 * z, base - 8 * z)],
            44 * z,
            Lin(("#f4efe4", "#b8a898")),
            bevel=5,
        )
        c.ellipse(x + side * 32 * z, base, 28 * z, 13 * z, "#3a2418")
    whirl(s, (x, waist + 66 * z), (400 * z, 100 * z), tilt, hues)
    c.poly(
        [(x - 50 * z, waist), (x + 50 * z, waist), (x + 120 * z, waist + 60 * z), (x - 120 * z, waist + 60 * z)],
        Lin((hues[0], darker(hues[0], 0.2))),
        bevel=6,
    )
    whirl(s, (x, waist + 4 * z), (215 * z, 50 * z), tilt * 1.4, (hues[2], hues[1], hues[0], hues[3]))
    up = s.pick((-1, 1))
    arms = (
        [(x + up * 50 * z, waist - 130 * z), (x + up * 130 * z, waist - 190 * z), (x + up * 120 * z, waist - 330 * z)],
        [(x - up * 50 * z, waist - 130 * z), (x - up * 160 * z, waist - 120 * z), (x - up * 250 * z, waist - 170 * z)],
    )
    body(s, x, waist, z, Lin((lighter("#f4efe4", 0.3), "#e8dcc8", "#b8a890"), 10), arms, "#f0e6d4")
    c.poly(
        [(x - 48 * z, waist - 140 * z), (x - 8 * z, waist - 140 * z), (x - 12 * z, waist), (x - 42 * z, waist)],
        hues[0],
        bevel=4,
    )
    c.poly(
        [(x + 48 * z, waist - 140 * z), (x + 8 * z, waist - 140 * z), (x + 12 * z, waist), (x + 42 * z, waist)],
        hues[0],
        bevel=4,
    )
    c.rect(x - 50 * z, waist - 18 * z, x + 50 * z, waist + 10 * z, hues[1], r=8 * z, bevel=4)
    c.poly(
        smooth(
            [
                (x - 40 * z, waist - 222 * z),
                (x - 36 * z, waist - 268 * z),
                (x, waist - 282 * z),
                (x + 36 * z, waist - 268 * z),
                (x + 40 * z, waist - 222 * z),
            ],
            steps=6,
        ),
        Lin((lighter(hues[3]), darker(hues[3], 0.25)), 15),
        bevel=5,
    )


def whirl(s: Scene, at: Point, reach: tuple[float, float], tilt: float, hues: tuple[Colour, ...]) -> None:
    """A spinning skirt seen from a little above."""
    c, (x, y), (rx, ry) = s.c, at, reach
    c.poly(ring(x, y + ry * 0.16, rx, ry, tilt), darker(hues[0], 0.62))
    c.poly(ring(x, y, rx, ry, tilt), Lin((lighter(hues[0], 0.25), hues[0], darker(hues[0], 0.35)), 30), bevel=5)
    for part, hue in (
        (0.95, hues[1]),
        (0.9, hues[0]),
        (0.84, hues[3]),
        (0.8, hues[2]),
        (0.62, hues[1]),
        (0.58, hues[0]),
        (0.42, hues[3]),
        (0.39, hues[2]),
    ):
        c.poly(ring(x, y - ry * 0.03, rx * part, ry * part, tilt), Lin((lighter(hue, 0.25), hue, darker(hue, 0.3)), 30))
    turn = math.radians(tilt)
    for k in range(28):
        a = 2 * math.pi * k / 28
        for part, size in ((0.71, 0.032), (0.88, 0.016)):
            px, py = rx * part * math.cos(a), ry * part * math.sin(a) - ry * 0.03
            c.ellipse(
                x + px * math.cos(turn) - py * math.sin(turn),
                y + px * math.sin(turn) + py * math.cos(turn),
                rx * size,
                rx * size * 0.55,
                hues[1] if k % 2 else hues[3],
            )
    for k in range(14):
        a = 2 * math.pi * k / 14 + 0.2
        c.line(
            [
                (x + rx * 0.2 * math.cos(a), y + ry * 0.2 * math.sin(a)),
                (x + rx * 0.98 * math.cos(a + 0.3), y + ry * 0.98 * math.sin(a + 0.3)),
            ],
            3,
            "#1a0a14",
            alpha=0.2,
        )


def wide_skirt(s: Scene, x: float, base: float, z: float) -> None:
    """A dancer in a wide tiered skirt and a wound head wrap."""
    c, waist = s.c, base - 330 * z
    hue, second = s.pick(
        (
            ("#f8f1e4", "#e0a83a"),
            ("#f2c84a", "#d8422e"),
            ("#e85a7a", "#fff0d8"),
            ("#4a9ad0", "#fff0d8"),
            ("#f8f1e4", "#3f9a6a"),
        )
    )
    sway = s.j(50) * z
    c.shadow(x + sway * 0.5, base + 4, 300 * z, 40 * z, 0.6)
    for k in range(4, 0, -1):
        t = k / 4
        w, y = (50 + 245 * t**0.8) * z, waist + 330 * z * t
        hem = [
            (x + sway * t + w * math.cos(a), y + 26 * z * t * math.sin(a) + 7 * z * math.sin(a * 9))
            for a in (math.pi * i / 32 for i in range(33))
        ]
        top = 42 * z + (k - 1) * 20 * z
        outline = [
            *hem,
            (x + sway * t - w * 0.9, y - 70 * z),
            (x - top, waist),
            (x + top, waist),
            (x + sway * t + w * 0.9, y - 70 * z),
        ]
        tone = hue if k % 2 else mix(hue, second, 0.16)
        c.poly(outline, Lin((darker(tone, 0.1), lighter(tone, 0.35), tone, darker(tone, 0.35)), 0), bevel=8 * z)
        c.line(hem, 8 * z, second, alpha=0.9)
        c.line([(px, py - 15 * z) for px, py in hem], 2.5 * z, second, alpha=0.7)
    for k in range(-5, 6):
        end = (x + sway + k * 50 * z, base - 8 * z)
        c.line(
            smooth(
                [(x + k * 7 * z, waist + 10 * z), (x + sway * 0.4 + k * 24 * z, waist + 130 * z), end], closed=False
            ),
            5 * z,
            darker(hue, 0.5),
            alpha=0.2,
            blur=1.5,
        )
    lift = s.j(40) * z
    arms = (
        [(x + 52 * z, waist - 130 * z), (x + 140 * z, waist - 90 * z), (x + 226 * z, waist + 20 * z + lift)],
        [(x - 52 * z, waist - 130 * z), (x - 150 * z, waist - 150 * z), (x - 190 * z, waist - 250 * z - lift)],
    )
    body(s, x, waist, z, Lin((lighter("#f8f1e4", 0.4), "#efe2cc", "#b8a48c"), 10), arms, None)
    for side in (-1, 1):
        c.ellipse(x + side * 66 * z, waist - 132 * z, 40 * z, 30 * z, Lin(("#fffaf0", "#d8c8b0")), bevel=5)
    c.line(
        smooth([(x - 58 * z, waist - 150 * z), (x, waist - 116 * z), (x + 58 * z, waist - 150 * z)], closed=False),
        9 * z,
        second,
        bevel=2,
    )
    wrap(s, x, waist - 246 * z, z, second)


def wrap(s: Scene, x: float, y: float, z: float, colour: Colour) -> None:
    """A head wrap, knotted behind."""
    c = s.c
    c.ellipse(x, y, 50 * z, 40 * z, Lin((lighter(colour, 0.3), colour, darker(colour, 0.4)), 30), bevel=6)
    for k in (-1, 0, 1):
        c.line(
            smooth(
                [
                    (x - 46 * z, y + k * 14 * z + 6 * z),
                    (x, y + k * 18 * z - 10 * z),
                    (x + 46 * z, y + k * 14 * z + 2 * z),
                ],
                closed=False,
            ),
            3 * z,
            darker(colour, 0.45),
            alpha=0.6,
        )
    c.ellipse(x, y + 14 * z, 15 * z, 12 * z, lighter(colour, 0.2), bevel=3)


def long_sleeves(s: Scene, x: float, base: float, z: float) -> None:
    """A dancer in silk whose sleeves draw arcs in the air."""
    c, waist = s.c, base - 300 * z
    silk, second = s.pick(
        (
            ("#d8486a", "#ffd0d8"),
            ("#3f8ac0", "#d0ecff"),
            ("#3fa08a", "#d4f4e4"),
            ("#c83a3a", "#ffe0b0"),
            ("#8a5ac0", "#ecdcff"),
        )
    )
    c.shadow(x, base + 4, 190 * z, 30 * z, 0.6)
    side = s.pick((-1, 1))
    ribbon(
        s,
        [
            (x + side * 70 * z, waist - 150 * z),
            (x + side * 210 * z, waist - 300 * z),
            (x + side * 360 * z, waist - 170 * z),
            (x + side * 300 * z, waist + 20 * z),
            (x + side * 420 * z, waist + 130 * z),
        ],
        62 * z,
        second,
    )
    ribbon(
        s,
        [
            (x - side * 70 * z, waist - 150 * z),
            (x - side * 170 * z, waist - 60 * z),
            (x - side * 330 * z, waist - 150 * z),
            (x - side * 380 * z, waist - 330 * z),
            (x - side * 250 * z, waist - 400 * z),
        ],
        62 * z,
        second,
    )
    gown = [
        (x - 48 * z, waist),
        (x - 74 * z, waist + 110 * z),
        (x - 190 * z - side * 30 * z, base - 20 * z),
        (x - 60 * z, base + 8 * z),
        (x + 60 * z, base + 10 * z),
        (x + 190 * z - side * 30 * z, base - 16 * z),
        (x + 74 * z, waist + 110 * z),
        (x + 48 * z, waist),
    ]
    c.poly(smooth(gown, steps=6), Lin((lighter(silk, 0.15), silk, mix(silk, second, 0.55), second), 90), bevel=12 * z)
    for k in range(-4, 5):
        c.line(
            smooth(
                [
                    (x + k * 8 * z, waist + 8 * z),
                    (x + k * 15 * z, waist + 140 * z),
                    (x + k * 38 * z - side * 20 * z, base - 14 * z),
                ],
                closed=False,
            ),
            5 * z,
            darker(silk, 0.45),
            alpha=0.25,
            blur=1.2,
        )
    arms = (
        [
            (x + side * 52 * z, waist - 128 * z),
            (x + side * 100 * z, waist - 180 * z),
            (x + side * 130 * z, waist - 225 * z),
        ],
        [
            (x - side * 52 * z, waist - 128 * z),
            (x - side * 110 * z, waist - 100 * z),
            (x - side * 160 * z, waist - 70 * z),
        ],
    )
    body(s, x, waist, z, Lin((lighter(silk, 0.3), silk, darker(silk, 0.3)), 10), arms, silk)
    c.rect(x - 50 * z, waist - 22 * z, x + 50 * z, waist + 12 * z, Lin(("#ffe6a0", "#c8922e")), r=8 * z, bevel=4)
    c.ellipse(x, waist - 222 * z, 43 * z, 46 * z, Lin(("#4a3a3a", "#1a1214")), bevel=6)
    c.ellipse(x, waist - 276 * z, 26 * z, 24 * z, Lin(("#4a3a3a", "#1a1214")), bevel=5)
    for k in (-1, 0, 1):
        c.ellipse(x + k * 19 * z, waist - 258 * z, 9 * z, 9 * z, ("#ffd890", "#ff8aa8", "#ffd890")[k + 1], bevel=2)


def ribbon(s: Scene, path: list[Point], width: float, colour: Colour) -> None:
    """A sleeve flowing along a path, broader towards its end."""
    spine = smooth(path, closed=False, steps=10)
    upper: list[Point] = []
    lower: list[Point] = []
    for k, (x, y) in enumerate(spine):
        nx, ny = (
            spine[min(k + 1, len(spine) - 1)][0] - spine[max(k - 1, 0)][0],
            spine[min(k + 1, len(spine) - 1)][1] - spine[max(k - 1, 0)][1],
        )
        size = math.hypot(nx, ny) or 1.0
        w = width * (0.35 + 0.65 * k / len(spine)) * (0.75 + 0.25 * math.sin(k * 0.5)) / 2
        upper.append((x - ny / size * w, y + nx / size * w))
        lower.append((x + ny / size * w, y - nx / size * w))
    s.c.poly(
        [*upper, *lower[::-1]], Lin((lighter(colour, 0.4), colour, darker(colour, 0.25)), 60), alpha=0.92, bevel=10
    )
    s.c.line(spine, 3, darker(colour, 0.35), alpha=0.35)


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
