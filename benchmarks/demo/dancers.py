"""Dancers, seen from behind."""

from __future__ import annotations

import math

from benchmarks.demo.canvas import Point, local, ring, smooth
from benchmarks.demo.paint import Colour, Fill, Lin, darker, lighter, mix
from benchmarks.demo.scene import Scene

SILKS = (
    ("#d8486a", "#ffd0d8"),
    ("#3f8ac0", "#d0ecff"),
    ("#3fa08a", "#d4f4e4"),
    ("#c83a3a", "#ffe0b0"),
    ("#8a5ac0", "#ecdcff"),
)
COTTONS = (
    ("#f8f1e4", "#e0a83a"),
    ("#f2c84a", "#d8422e"),
    ("#e85a7a", "#fff0d8"),
    ("#4a9ad0", "#fff0d8"),
    ("#f8f1e4", "#3f9a6a"),
)
RINGS = (
    ("#d8342a", "#f2c03a", "#2f8a5a", "#fdf3dc"),
    ("#2f6fb0", "#f2c03a", "#d8422e", "#fdf3dc"),
    ("#2f8a6a", "#f0a02e", "#b83a6a", "#f4ecd8"),
)
SKINS: tuple[Colour, ...] = ("#8a5a3c", "#a8764e", "#6e4630", "#b98458")


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
    torso = local(x, waist, z, [(-66, -148), (0, -160), (66, -148), (50, -70), (46, 8), (-46, 8), (-50, -70)])
    c.poly(smooth(torso, steps=5), top, bevel=9 * z)
    c.ellipse(x, waist - 214 * z, 39 * z, 46 * z, Lin((lighter(skin, 0.2), skin, darker(skin, 0.3)), 20))


def tannoura(s: Scene, x: float, base: float, z: float) -> None:
    """A whirling dancer: two spinning skirts in bright rings."""
    c, waist = s.c, base - 250 * z
    hues = s.pick(RINGS)
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
        local(x, waist, z, [(-50, 0), (50, 0), (120, 60), (-120, 60)]),
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
        local(x, waist, z, [(-48, -140), (-8, -140), (-12, 0), (-42, 0)]),
        hues[0],
        bevel=4,
    )
    c.poly(
        local(x, waist, z, [(48, -140), (8, -140), (12, 0), (42, 0)]),
        hues[0],
        bevel=4,
    )
    c.rect(x - 50 * z, waist - 18 * z, x + 50 * z, waist + 10 * z, hues[1], r=8 * z, bevel=4)
    c.poly(
        smooth(
            local(x, waist, z, [(-40, -222), (-36, -268), (0, -282), (36, -268), (40, -222)]),
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
    hue, second = s.pick(COTTONS)
    sway = s.j(50) * z
    c.shadow(x + sway * 0.5, base + 4, 300 * z, 40 * z, 0.6)
    tiers(s, (x, waist), z, sway, (hue, second))
    lift = s.j(40) * z
    arms = (
        [(x + 52 * z, waist - 130 * z), (x + 140 * z, waist - 90 * z), (x + 226 * z, waist + 20 * z + lift)],
        [(x - 52 * z, waist - 130 * z), (x - 150 * z, waist - 150 * z), (x - 190 * z, waist - 250 * z - lift)],
    )
    body(s, x, waist, z, Lin((lighter("#f8f1e4", 0.4), "#efe2cc", "#b8a48c"), 10), arms, None)
    for side in (-1, 1):
        c.ellipse(x + side * 66 * z, waist - 132 * z, 40 * z, 30 * z, Lin(("#fffaf0", "#d8c8b0")), bevel=5)
    c.line(
        smooth(local(x, waist, z, [(-58, -150), (0, -116), (58, -150)]), closed=False),
        9 * z,
        second,
        bevel=2,
    )
    wrap(s, x, waist - 246 * z, z, second)


def tiers(s: Scene, at: Point, z: float, sway: float, hues: tuple[Colour, Colour]) -> None:
    """Four tiers of a skirt, the lowest drawn first, and its folds."""
    c, (x, waist), (hue, second) = s.c, at, hues
    base = waist + 330 * z
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
    silk, second = s.pick(SILKS)
    c.shadow(x, base + 4, 190 * z, 30 * z, 0.6)
    side = s.pick((-1, 1))
    high = [(70, -150), (210, -300), (360, -170), (300, 20), (420, 130)]
    low = [(70, -150), (170, -60), (330, -150), (380, -330), (250, -400)]
    ribbon(s, local(x, waist, z, high, side), 62 * z, second)
    ribbon(s, local(x, waist, z, low, -side), 62 * z, second)
    gown(s, (x, waist), z, side, (silk, second))
    arms = (
        local(x, waist, z, [(52, -128), (100, -180), (130, -225)], side),
        local(x, waist, z, [(52, -128), (110, -100), (160, -70)], -side),
    )
    body(s, x, waist, z, Lin((lighter(silk, 0.3), silk, darker(silk, 0.3)), 10), arms, silk)
    c.rect(x - 50 * z, waist - 22 * z, x + 50 * z, waist + 12 * z, Lin(("#ffe6a0", "#c8922e")), r=8 * z, bevel=4)
    c.ellipse(x, waist - 222 * z, 43 * z, 46 * z, Lin(("#4a3a3a", "#1a1214")), bevel=6)
    c.ellipse(x, waist - 276 * z, 26 * z, 24 * z, Lin(("#4a3a3a", "#1a1214")), bevel=5)
    for k in (-1, 0, 1):
        c.ellipse(x + k * 19 * z, waist - 258 * z, 9 * z, 9 * z, ("#ffd890", "#ff8aa8", "#ffd890")[k + 1], bevel=2)


def gown(s: Scene, at: Point, z: float, side: int, hues: tuple[Colour, Colour]) -> None:
    """A long gown from the belt to the floor, swinging away from `side`."""
    (x, waist), (silk, second) = at, hues
    left = [(-48.0, 0.0), (-74.0, 110.0), (-190.0 - 30 * side, 280.0), (-60.0, 308.0)]
    right = [(60.0, 310.0), (190.0 - 30 * side, 284.0), (74.0, 110.0), (48.0, 0.0)]
    cloth = Lin((lighter(silk, 0.15), silk, mix(silk, second, 0.55), second), 90)
    s.c.poly(smooth(local(x, waist, z, left + right), steps=6), cloth, bevel=12 * z)
    for k in range(-4, 5):
        fold = local(x, waist, z, [(k * 8, 8), (k * 15, 140), (k * 38 - side * 20, 286)])
        s.c.line(smooth(fold, closed=False), 5 * z, darker(silk, 0.45), alpha=0.25, blur=1.2)


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
