"""Instruments: oud and drum, guitar with pandeiro and atabaque, pipa and gong."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.demo.backdrops import room
from benchmarks.demo.canvas import Point, ring, smooth
from benchmarks.demo.paint import Colour, Lin, Rad, darker, lighter, mix
from benchmarks.demo.scene import Scene
from benchmarks.demo.things import lathe, round_fill


class Leaning:
    """A frame of reference leaning against the wall: u across, v up from the foot."""

    def __init__(self, x: float, base: float, size: float, degrees: float) -> None:
        self.x, self.base, self.size = x, base, size
        self.cos, self.sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))

    def at(self, u: float, v: float) -> Point:
        """The point on the page."""
        return (
            self.x + (u * self.cos + v * self.sin) * self.size,
            self.base + (u * self.sin - v * self.cos) * self.size,
        )

    def all(self, points: Sequence[Point]) -> list[Point]:
        """Several points at once."""
        return [self.at(u, v) for u, v in points]


def instrument(s: Scene) -> None:
    """Instruments resting in a room between two songs."""
    horizon = 640 + s.j(20)
    room(s, horizon)
    s.c.rect(0, horizon - 130, 1200, horizon + 4, "#1a1014", alpha=0.25, blur=30)
    floor = s.tint({"egypt": "#8a5a38", "brazil": "#a86a42", "china": "#6a3a28"}[s.culture])
    s.c.rect(0, horizon, 1200, 900, Lin((lighter(floor, 0.15), floor, darker(floor, 0.4))), tex=(300, 6, 0.35))
    rug(s, horizon + 60)
    {"egypt": oud_scene, "brazil": guitar_scene, "china": pipa_scene}[s.culture](s)
    s.c.glow(300 + s.j(150), 120, 700, s.sun, 0.28)


def rug(s: Scene, y: float) -> None:
    """A rug in perspective, with borders."""
    c = s.c
    hues = s.pick(
        (("#8a2430", "#e8cf9a", "#23466a"), ("#1f5a5a", "#e8d8b0", "#a8442e"), ("#7a2a4a", "#f0d0a0", "#2f5f4a"))
    )
    for inset, hue in ((0, hues[0]), (20, hues[1]), (30, hues[2]), (66, hues[1]), (74, hues[0])):
        t = inset / 240
        top, low = y + inset * 0.55, 888 - inset * 0.8
        left, right = 150 + inset * 1.3, 1050 - inset * 1.3
        spread = 110 * (1 - t)
        c.poly(
            [(left, top), (right, top), (right + spread, low), (left - spread, low)],
            Lin((darker(hue, 0.2), hue)),
            tex=(8, 6, 0.22),
        )
    for k in range(13):
        x = 190 + k * 68.5
        c.poly([(x, y + 26), (x + 16, y + 19), (x + 32, y + 26), (x + 16, y + 33)], hues[1])
        x = 104 + k * 82.6
        c.poly([(x, 850), (x + 22, 836), (x + 44, 850), (x + 22, 864)], hues[1])
    for rx, hue in ((270, hues[2]), (220, hues[1]), (205, hues[2]), (110, hues[0])):
        mid = (y + 888) / 2
        c.poly(
            [(600 - rx, mid), (600, mid - rx * 0.3), (600 + rx, mid), (600, mid + rx * 0.3)],
            Lin((darker(hue, 0.15), hue)),
            tex=(8, 6, 0.2),
        )


def wood(colour: Colour) -> Lin:
    """A polished wooden face."""
    return Lin((lighter(colour, 0.4), colour, darker(colour, 0.32)), 30)


def cast(s: Scene, lean: Leaning, points: Sequence[Point]) -> None:
    """The shadow an instrument throws on what is behind it."""
    s.c.poly([(x + 34, y + 16) for x, y in lean.all(points)], "#100808", alpha=0.5, blur=16)


def strings(s: Scene, lean: Leaning, low: float, high: float, count: int, gap: float) -> None:
    """Strings from the bridge to the nut."""
    for k in range(count):
        u = (k - (count - 1) / 2) * gap
        s.c.line([lean.at(u, low), lean.at(u * 0.6, high)], 1.5, "#fff4d8", alpha=0.85)


def rose(s: Scene, lean: Leaning, v: float, r: float, ring_hue: Colour) -> None:
    """A carved sound hole."""
    x, y = lean.at(0, v)
    r *= lean.size
    s.c.ellipse(x, y, r * 1.16, r * 1.16, ring_hue)
    s.c.ellipse(x, y, r, r, "#1c100c")
    for k in range(8):
        a = math.pi * k / 8
        s.c.line(
            [(x - r * math.cos(a), y - r * math.sin(a)), (x + r * math.cos(a), y + r * math.sin(a))],
            r * 0.09,
            mix(ring_hue, "#c89a5a", 0.5),
        )
    for part in (0.66, 0.36):
        outline = ring(x, y, r * part, r * part)
        s.c.line([*outline, outline[0]], r * 0.09, mix(ring_hue, "#c89a5a", 0.5))


def pegs(s: Scene, spots: Sequence[Point], length: float, turn: float) -> None:
    """Tuning pegs."""
    dx, dy = math.cos(math.radians(turn)) * length, math.sin(math.radians(turn)) * length
    for x, y in spots:
        s.c.line([(x - dx, y - dy), (x + dx, y + dy)], 6, Lin(("#6a4228", "#2a1810")), bevel=2)
        for end in (-1, 1):
            s.c.ellipse(x + end * dx, y + end * dy, 8, 6, Lin(("#7a5236", "#2a1810")), bevel=2)


def oud_scene(s: Scene) -> None:
    """An oud against the wall, a goblet drum beside it."""
    flip = 1 if s.generated or s.rng.random() < 0.5 else -1
    drum(s, 600 + flip * (300 + s.j(24)), 830, 1.0)
    lean = Leaning(600 - flip * (110 + s.j(20)), 830, 1.0, flip * (13 + s.j(5)))
    face: list[Point] = [
        (0, 0),
        (112, 26),
        (178, 120),
        (172, 236),
        (112, 344),
        (36, 440),
        (0, 458),
        (-36, 440),
        (-112, 344),
        (-172, 236),
        (-178, 120),
        (-112, 26),
    ]
    outline = smooth(face)
    cast(s, lean, outline)
    rim: Colour = s.pick(("#5a2e1a", "#3a1e14", "#6a3a20"))
    s.c.poly(
        lean.all([(u * 1.05, v * 1.02 - 4) for u, v in outline]),
        Lin((lighter(rim, 0.3), darker(rim, 0.3)), 20),
        bevel=8,
    )
    s.c.poly(lean.all(outline), wood(s.pick(("#dba55a", "#e0b878", "#c8904a"))), bevel=7, tex=(6, 220, 0.16))
    s.c.poly(
        lean.all([(-25, 430), (25, 430), (20, 640), (-20, 640)]), Lin(("#3a2418", "#5a3a26", "#2a1810"), 0), bevel=4
    )
    s.c.poly(lean.all([(-20, 634), (20, 634), (16 + 34, 700), (60, 742), (34, 748), (-4, 700)]), wood(rim), bevel=5)
    pegs(s, [lean.at(6 + k * 8, 655 + k * 17) for k in range(5)], 28, flip * 13)
    rose(s, lean, 268, 52, "#7a4a28")
    for side in (-1, 1):
        x, y = lean.at(side * 88, 158)
        s.c.ellipse(x, y, 22, 22, "#7a4a28")
        s.c.ellipse(x, y, 17, 17, "#1c100c")
    s.c.poly(lean.all([(-62, 74), (62, 74), (58, 92), (-58, 92)]), Lin(("#5a3422", "#2a160e")), bevel=3)
    strings(s, lean, 84, 636, 6, 12)
    inlay = smooth([(u * 0.93, v * 0.95 + 9) for u, v in face])
    s.c.line(lean.all([*inlay, inlay[0]]), 3, "#6a3a20", alpha=0.7)


def drum(s: Scene, x: float, base: float, z: float) -> None:
    """A goblet drum with inlay."""
    c = s.c
    body = s.tint(s.pick(("#b8803a", "#2f6f7a", "#8a3a30")))
    c.shadow(x + 10, base + 2, 130 * z, 24 * z, 0.55)
    lathe(
        c,
        x,
        base,
        ((0, 92 * z), (24 * z, 80 * z), (120 * z, 48 * z), (170 * z, 56 * z), (240 * z, 112 * z), (300 * z, 122 * z)),
        round_fill(body, 0.55),
    )
    for h, w, rows in ((30, 76, 9), (240, 106, 13), (268, 116, 13)):
        for k in range(rows):
            a = math.pi * (k + 0.5) / rows
            px, py = x - w * z * math.cos(a), base - h * z + w * 0.2 * z * math.sin(a)
            c.poly(
                [(px, py - 11 * z), (px + 9 * z * math.sin(a), py), (px, py + 11 * z), (px - 9 * z * math.sin(a), py)],
                ("#f6ecd8", "#e0a83a")[k % 2],
            )
    c.ellipse(x, base - 302 * z, 124 * z, 34 * z, Lin(("#ffe6a8", "#b8802e")))
    c.ellipse(x, base - 303 * z, 112 * z, 28 * z, Lin(("#d8c8ac", "#fff8e8"), 70))


def guitar_scene(s: Scene) -> None:
    """A guitar, a tall drum and a pandeiro."""
    flip = 1 if s.generated or s.rng.random() < 0.5 else -1
    tall_drum(s, 600 + flip * (290 + s.j(20)), 800)
    lean = Leaning(600 - flip * (120 + s.j(16)), 836, 0.98, flip * (11 + s.j(4)))
    face: list[Point] = [
        (0, 0),
        (110, 14),
        (160, 90),
        (136, 180),
        (100, 232),
        (116, 300),
        (96, 366),
        (0, 388),
        (-96, 366),
        (-116, 300),
        (-100, 232),
        (-136, 180),
        (-160, 90),
        (-110, 14),
    ]
    outline = smooth(face)
    cast(s, lean, outline)
    side: Colour = s.pick(("#6a341c", "#4a2416", "#7a4222"))
    s.c.poly([(x + 12, y + 6) for x, y in lean.all(outline)], Lin((side, darker(side, 0.5)), 20), bevel=6)
    s.c.poly(lean.all(outline), wood(s.pick(("#e0a85a", "#d8924a", "#e8c080"))), bevel=7, tex=(6, 220, 0.16))
    edge = smooth([(u * 0.96, v * 0.97 + 6) for u, v in face])
    s.c.line(lean.all([*edge, edge[0]]), 3, "#5a2e1a", alpha=0.6)
    for r, hue in ((62, "#8a4a26"), (56, "#f0dcae"), (50, "#2f6a5a"), (45, "#140c0a")):
        s.c.ellipse(*lean.at(0, 262), r, r, hue)
    s.c.poly(
        lean.all([(-24, 300), (24, 300), (19, 640), (-19, 640)]), Lin(("#2a1810", "#4a3020", "#1a0e0a"), 0), bevel=4
    )
    for k in range(13):
        v = 640 - 330 * (1 - 0.9**k) * 1.25
        s.c.line([lean.at(-21, v), lean.at(21, v)], 2, "#d8c8a0")
    s.c.poly(lean.all([(-20, 636), (20, 636), (34, 670), (28, 748), (-28, 748), (-34, 670)]), wood(side), bevel=5)
    pegs(s, [lean.at(0, 672 + k * 26) for k in range(3)], 44, flip * 11)
    s.c.poly(lean.all([(-74, 88), (74, 88), (70, 108), (-70, 108)]), Lin(("#4a2a1c", "#1c0f0a")), bevel=3)
    strings(s, lean, 98, 640, 6, 9)
    pandeiro(s, 600 + flip * (90 + s.j(14)), 800, 92)


def tall_drum(s: Scene, x: float, base: float) -> None:
    """An atabaque: a tall tapering drum bound with rope."""
    c = s.c
    body = s.tint(s.pick(("#a8522e", "#c88a3a", "#3f6f8a")))
    c.shadow(x + 12, base + 2, 120, 22, 0.55)
    lathe(c, x, base, ((0, 78), (120, 92), (300, 118), (380, 112)), round_fill(body, 0.5))
    for k in range(9):
        a = math.pi * (k + 0.5) / 9
        c.line(
            [
                (x - 82 * math.cos(a), base - 10 + 14 * math.sin(a)),
                (x - 112 * math.cos(a), base - 360 + 24 * math.sin(a)),
            ],
            2.4,
            darker(body, 0.5),
            alpha=0.5,
        )
        c.line(
            [
                (x - 112 * math.cos(a), base - 368 + 26 * math.sin(a)),
                (x - 116 * math.cos(a + 0.17), base - 262 + 26 * math.sin(a)),
            ],
            4,
            "#f0e2c0",
        )
        c.line(
            [
                (x - 112 * math.cos(a + 0.34), base - 368 + 26 * math.sin(a)),
                (x - 116 * math.cos(a + 0.17), base - 262 + 26 * math.sin(a)),
            ],
            4,
            "#f0e2c0",
        )
    for h, w in ((110, 92), (256, 117), (366, 115)):
        curve = [
            (x - w * math.cos(t), base - h + w * 0.22 * math.sin(t)) for t in (math.pi * k / 24 for k in range(25))
        ]
        c.line(curve, 10, Lin(("#f6e6b8", "#b88a3a")), bevel=3)
    c.ellipse(x, base - 380, 113, 30, Lin(("#d8c4a0", "#fff6e2"), 70), bevel=3)


def pandeiro(s: Scene, x: float, base: float, r: float) -> None:
    """A frame drum standing on its edge."""
    c, y = s.c, base - r
    c.shadow(x + 8, base + 4, r, 16, 0.55)
    hoop = s.pick(("#d8422e", "#e0a83a", "#3f8a5a", "#a8683a"))
    c.ellipse(x + 10, y + 3, r, r, darker(hoop, 0.5))
    c.ellipse(x, y, r, r, Lin((lighter(hoop, 0.4), hoop, darker(hoop, 0.3)), 40), bevel=6)
    c.ellipse(x, y, r * 0.87, r * 0.87, Rad(("#fffaf0", "#f0e2c8", "#c8b08a"), 0.4, 0.35, 0.8))
    for k in range(6):
        a = 2 * math.pi * k / 6 + 0.4
        px, py = x + r * 0.95 * math.cos(a), y + r * 0.95 * math.sin(a)
        for off in (-6, 6):
            c.ellipse(
                px + off * math.cos(a),
                py + off * math.sin(a),
                17,
                8,
                Lin(("#fff2c0", "#b8862e")),
                rot=math.degrees(a) + 90,
                bevel=2,
            )


def pipa_scene(s: Scene) -> None:
    """A pipa, a hanging gong and a bamboo flute."""
    flip = 1 if s.generated or s.rng.random() < 0.5 else -1
    gong(s, 600 + flip * (270 + s.j(20)), 810)
    lean = Leaning(600 - flip * (140 + s.j(16)), 836, 1.0, flip * (10 + s.j(4)))
    face: list[Point] = [
        (0, 0),
        (100, 16),
        (146, 96),
        (136, 200),
        (88, 320),
        (44, 420),
        (26, 470),
        (-26, 470),
        (-44, 420),
        (-88, 320),
        (-136, 200),
        (-146, 96),
        (-100, 16),
    ]
    outline = smooth(face)
    cast(s, lean, outline)
    back: Colour = s.pick(("#4a1e16", "#2e1812", "#5a2e1e"))
    s.c.poly(
        lean.all([(u * 1.06, v * 1.01 - 4) for u, v in outline]),
        Lin((lighter(back, 0.25), darker(back, 0.4)), 20),
        bevel=7,
    )
    s.c.poly(lean.all(outline), wood(s.pick(("#dcb47a", "#d0a060", "#e6c896"))), bevel=7, tex=(6, 220, 0.14))
    s.c.poly(
        lean.all([(-26, 460), (26, 460), (19, 640), (-19, 640)]),
        Lin((lighter(back, 0.2), back, darker(back, 0.4)), 0),
        bevel=4,
    )
    for k in range(6):
        s.c.poly(
            lean.all([(-23, 478 + k * 26), (23, 478 + k * 26), (21, 490 + k * 26), (-21, 490 + k * 26)]),
            Lin(("#fff4dc", "#c8b48a")),
            bevel=2,
        )
    for k in range(12):
        w = 40 - k * 1.2
        s.c.line([lean.at(-w, 200 + k * 21), lean.at(w, 200 + k * 21)], 5, Lin(("#e8d09a", "#8a6a3a")), bevel=1)
    s.c.poly(lean.all([(-19, 636), (19, 636), (24, 700), (42, 740), (10, 752), (-20, 706)]), wood(back), bevel=5)
    s.c.ellipse(*lean.at(6, 716), 13, 13, Lin(("#fff6e0", "#b8a888")), bevel=3)
    pegs(s, [lean.at(0, 654 + k * 16) for k in range(4)], 40, flip * 10)
    s.c.poly(lean.all([(-54, 84), (54, 84), (48, 106), (-48, 106)]), Lin(("#5a2e1e", "#240f0a")), bevel=3)
    strings(s, lean, 96, 636, 4, 16)
    flute(s, 600 + flip * 40, 842, flip)


def gong(s: Scene, x: float, base: float) -> None:
    """A gong in a lacquered frame."""
    c = s.c
    red = s.tint("#9a2a22")
    c.shadow(x, base + 4, 210, 20, 0.5)
    for side in (-1, 1):
        c.rect(
            x + side * 180 - 12,
            base - 430,
            x + side * 180 + 12,
            base,
            Lin((lighter(red, 0.3), red, darker(red, 0.5)), 0),
            bevel=4,
        )
        c.rect(
            x + side * 180 - 50, base - 18, x + side * 180 + 50, base + 4, Lin((red, darker(red, 0.5))), r=8, bevel=4
        )
    top = smooth(
        [(x - 240, base - 452), (x - 190, base - 432), (x, base - 440), (x + 190, base - 432), (x + 240, base - 452)],
        closed=False,
    )
    c.line(top, 26, Lin((lighter(red, 0.3), darker(red, 0.3))), bevel=6)
    y = base - 238
    for side in (-1, 1):
        c.line([(x + side * 70, base - 430), (x + side * 80, y - 110)], 4, "#e8c87a")
    c.shadow(x + 26, y + 20, 150, 146, 0.35)
    c.ellipse(x, y, 146, 146, Rad(("#ffeab0", "#d8a044", "#9a6424", "#5a3412"), 0.38, 0.32, 0.85), bevel=8)
    for part in (0.84, 0.8, 0.52, 0.36):
        outline = ring(x, y, 146 * part, 146 * part)
        c.line([*outline, outline[0]], 2.4, "#6a4218", alpha=0.7)
    c.ellipse(x, y, 44, 44, Rad(("#fff0c0", "#d8a044", "#8a5a20"), 0.36, 0.3, 0.9), bevel=5)


def flute(s: Scene, x: float, y: float, side: int) -> None:
    """A bamboo flute with a tassel on the rug."""
    c = s.c
    start, end = (x - 190, y - side * 12), (x + 210, y + side * 12)
    c.line([(start[0], start[1] + 12), (end[0], end[1] + 12)], 16, "#140a08", alpha=0.4, blur=5)
    c.line([start, end], 19, Lin(("#f0d896", "#c8a04a", "#7a5a22")), bevel=4)
    for k in range(7):
        t = 0.25 + k * 0.09
        px, py = start[0] + (end[0] - start[0]) * t, start[1] + (end[1] - start[1]) * t
        c.ellipse(px, py - 2, 5.5, 4, "#2a1a0c")
    for k in range(-3, 4):
        c.line([(end[0] - 10, end[1]), (end[0] + 20 + k * 4, end[1] + 20 + abs(k) * -2 + k * 2)], 3, "#d8342a")
