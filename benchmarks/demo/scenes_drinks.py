"""Drinks: mint tea, coffee with a caipirinha, tea from a gaiwan."""

from __future__ import annotations

import math

from benchmarks.demo.backdrops import room
from benchmarks.demo.canvas import Point, smooth
from benchmarks.demo.paint import Colour, Lin, darker, lighter
from benchmarks.demo.scene import Scene
from benchmarks.demo.things import ball, bowl, cup, lathe, leaf, opening, plate, round_fill, steam, table, tray


def drinks(s: Scene) -> None:
    """The table laid with what people there drink."""
    horizon = 455 + s.j(25)
    room(s, horizon)
    wood = {"egypt": "#5a2e18", "brazil": "#9a6238", "china": "#6e2a1c"}[s.culture]
    table(s, horizon, s.tint(wood))
    {"egypt": mint_tea, "brazil": coffee_and_lime, "china": gaiwan_tea}[s.culture](s)


def mint_tea(s: Scene) -> None:
    """Tea in glasses with mint on a brass tray, a pot behind."""
    c = s.c
    tray(s, 600, 700, 500, s.pick(("#c9962e", "#d1a244", "#b9bcc0")))
    flip = -1 if s.rng.random() < 0.5 and not s.generated else 1
    teapot(s, 600 + flip * (265 + s.j(20)), 640, 1.0, s.pick(("#8d9aa0", "#c89a3a", "#3d6f9a")), flip)
    tea = s.pick(("#b8480e", "#a33a10", "#c96a18"))
    for dx, y, r in ((-280, 655, 55), (-150, 690, 62)) if not s.generated else ((-330, 690, 70),):
        glass(s, 600 + flip * (dx + s.j(12)), y, r, tea)
    glass(s, 600 - flip * 20 + s.j(20), 800, 92, tea)
    steam(s, 600 - flip * 20, 470, 230, 0.34)
    for k in range(6):
        cx, cy = 600 + flip * (210 + (k % 3) * 44 + s.j(10)), 772.0 - (k // 3) * 30 + s.j(6)
        sugar(s, cx, cy, 34)
    for k in range(4):
        leaf(c, 600 - flip * (270 + s.j(30)), 792 + s.j(12), 84, -60 + k * 45 + s.j(20), "#3f9a4a")


def glass(s: Scene, x: float, base: float, r: float, tea: Colour) -> None:
    """A tall tea glass with mint leaves."""
    c, h = s.c, r * 2.9
    c.shadow(x + r * 0.4, base + 4, r * 1.3, r * 0.3, 0.5)
    c.glow(x + r * 0.9, base + r * 0.12, r * 1.2, tea, 0.5)
    lathe(
        c,
        x,
        base,
        ((0, r * 0.74), (h, r)),
        Lin(("#efe6d2", "#cfae84", "#f6ecd8", "#9a7450"), 0),
        alpha=0.4,
        curved=False,
    )
    top = h * 0.77
    lathe(
        c,
        x,
        base - 6,
        ((0, r * 0.7), (top, r * 0.9)),
        Lin((darker(tea, 0.6), lighter(tea, 0.22), tea, darker(tea, 0.35), darker(tea, 0.6)), 0),
        curved=False,
    )
    c.ellipse(x, base - top * 0.15, r * 0.62, top * 0.34, darker(tea, 0.75), alpha=0.4, blur=r * 0.2)
    c.glow(x + r * 0.2, base - top * 0.75, r * 0.9, lighter(tea, 0.1), 0.45)
    c.ellipse(x, base - 6 - top, r * 0.9, r * 0.24, Lin((darker(tea, 0.15), lighter(tea, 0.3))))
    for k in range(5):
        leaf(
            c,
            x + s.j(r * 0.3),
            base - top + r * 0.1,
            r * s.u(0.75, 1.1),
            -150 + k * 30 + s.j(16),
            s.pick(("#3f9a4a", "#5cb85a", "#2f7d40")),
        )
    c.line([(x - r * 0.72, base - h * 0.92), (x - r * 0.55, base - h * 0.12)], r * 0.12, "#fffaf0", alpha=0.62)
    c.line([(x + r * 0.7, base - h * 0.85), (x + r * 0.56, base - h * 0.35)], r * 0.06, "#fffaf0", alpha=0.5)
    for k in range(13):
        a = math.pi * (k + 0.5) / 13
        c.ellipse(x - r * 0.97 * math.cos(a), base - h * 0.9 + r * 0.24 * math.sin(a), r * 0.05, r * 0.05, "#f0c040")
    outline = [
        (x + r * math.cos(2 * math.pi * k / 40), base - h + r * 0.26 * math.sin(2 * math.pi * k / 40))
        for k in range(41)
    ]
    c.line(outline, max(2.0, r * 0.045), "#fff6e4", alpha=0.85)


def teapot(s: Scene, x: float, base: float, size: float, metal: Colour, side: float) -> None:
    """A round-bellied metal pot; the spout points away from `side`."""
    c, z = s.c, size * 100

    def at(px: float, py: float) -> Point:
        return x + side * px * z, base - py * z

    c.shadow(x, base + 4, z * 1.25, z * 0.26, 0.5)
    c.line(
        smooth([at(0.9, 2.1), at(1.55, 2.15), at(1.85, 1.6), at(1.6, 0.9), at(0.95, 0.6)], closed=False),
        z * 0.16,
        Lin((lighter(metal, 0.4), darker(metal, 0.5))),
        bevel=5,
    )
    spout = smooth([at(-0.8, 1.0), at(-1.25, 1.25), at(-1.5, 1.95), at(-1.75, 2.2)], closed=False)
    lower = smooth([at(-1.62, 2.3), at(-1.3, 2.1), at(-1.1, 1.75), at(-0.8, 1.65)], closed=False)
    c.poly([*spout, *lower], Lin((lighter(metal, 0.3), darker(metal, 0.35))), bevel=7)
    lathe(
        c,
        x,
        base,
        ((0, z * 0.7), (z * 0.12, z * 0.78), (z * 0.9, z * 1.18), (z * 1.6, z * 1.08), (z * 2.25, z * 0.66)),
        round_fill(metal, 0.6),
    )
    lathe(
        c,
        x,
        base - z * 2.2,
        ((0, z * 0.72), (z * 0.1, z * 0.72), (z * 0.35, z * 0.5), (z * 0.62, z * 0.12)),
        round_fill(metal, 0.7),
        squash=0.2,
    )
    ball(s, x, base - z * 2.93, z * 0.15, metal)
    for part in (0.75, 1.5):
        curve = [
            (x + z * 1.14 * math.cos(math.pi * k / 20), base - z * part + z * 0.2 * math.sin(math.pi * k / 20))
            for k in range(1, 20)
        ]
        c.line(curve, 3, darker(metal, 0.45), alpha=0.55)
    c.ellipse(x - z * 0.5, base - z * 1.35, z * 0.16, z * 0.42, "#fffdf6", rot=8, alpha=0.55, blur=6)


def sugar(s: Scene, x: float, y: float, a: float) -> None:
    """A cube of sugar."""
    t = s.j(0.25)
    dx, dy = a * math.cos(t), a * math.sin(t) * 0.5
    s.c.shadow(x + 4, y + 3, a * 0.9, a * 0.3, 0.4)
    s.c.poly([(x, y), (x + dx, y - dy), (x + dx, y - dy - a * 0.8), (x, y - a * 0.8)], "#dccfb8")
    s.c.poly([(x, y), (x - a * 0.5, y - a * 0.32), (x - a * 0.5, y - a * 1.1), (x, y - a * 0.8)], "#b7a68c")
    s.c.poly(
        [
            (x, y - a * 0.8),
            (x + dx, y - dy - a * 0.8),
            (x + dx - a * 0.5, y - dy - a * 1.1),
            (x - a * 0.5, y - a * 1.1),
        ],
        "#fdf8ec",
    )


def coffee_and_lime(s: Scene) -> None:
    """A cafezinho in the foreground, a caipirinha and limes beside it."""
    c = s.c
    flip = 1 if s.generated or s.rng.random() < 0.5 else -1
    china = s.pick(("#f4efe4", "#2f7a9a", "#d9542e", "#f2c14a"))
    pot = s.pick(("#b9c0c4", "#c4552e", "#3f7f6a"))
    coffee_pot(s, 600 - flip * 330 + s.j(20), 640, pot, flip)
    tumbler(s, 600 + flip * (240 + s.j(24)), 725, 108)
    plate(s, 600 - flip * 120 + s.j(20), 772, 200, lighter(china, 0.15), rim=darker(china, 0.12))
    cup(s, 600 - flip * 120, 770, 98, china, "#4a2410", handle=True)
    steam(s, 600 - flip * 120, 630, 210, 0.34)
    for k in range(3):
        lime(s, 600 + flip * (60 + k * 105 + s.j(18)), 815 + (k % 2) * 24 + s.j(8), 46, cut=k != 1)
    for _ in range(26):
        x, y = 600 - flip * (340 + s.u(-130, 130)), 805 + s.u(-50, 55)
        c.ellipse(x, y, 12, 8, Lin(("#7a4a26", "#341a0c")), rot=s.u(0, 180), bevel=2)
    leaf(c, 600 + flip * 430, 835, 120, -140 * flip + 90 - 90 * flip, "#3f8f4a")


def coffee_pot(s: Scene, x: float, base: float, colour: Colour, side: float) -> None:
    """An enamel coffee pot."""
    c = s.c
    c.shadow(x, base + 4, 120, 24, 0.5)
    c.line(
        smooth(
            [
                (x - side * 70, base - 225),
                (x - side * 150, base - 230),
                (x - side * 160, base - 120),
                (x - side * 90, base - 60),
            ],
            closed=False,
        ),
        16,
        Lin((lighter(colour), darker(colour))),
        bevel=5,
    )
    c.poly(
        smooth(
            [
                (x + side * 60, base - 120),
                (x + side * 150, base - 235),
                (x + side * 165, base - 225),
                (x + side * 80, base - 60),
            ]
        ),
        darker(colour, 0.2),
        bevel=6,
    )
    lathe(c, x, base, ((0, 100), (20, 104), (150, 84), (250, 70)), round_fill(colour, 0.6))
    lathe(c, x, base - 250, ((0, 74), (22, 60), (40, 16)), round_fill(colour, 0.6))
    ball(s, x, base - 300, 15, "#2a1c18")
    c.ellipse(x - 40, base - 130, 12, 70, "#fffdf6", rot=-4, alpha=0.55, blur=5)


def tumbler(s: Scene, x: float, base: float, r: float) -> None:
    """A short glass of lime, ice and cachaca."""
    c, h = s.c, r * 1.75
    c.shadow(x + 26, base + 4, r * 1.2, r * 0.26, 0.45)
    c.glow(x + 60, base + 10, r * 1.3, "#d8f0a0", 0.4)
    lathe(
        c,
        x,
        base,
        ((0, r * 0.8), (h, r)),
        Lin(("#d8e8d0", "#f8fff0", "#c8d8b8", "#8aa080"), 0),
        alpha=0.55,
        curved=False,
    )
    lathe(
        c,
        x,
        base - 10,
        ((0, r * 0.75), (h * 0.8, r * 0.93)),
        Lin(("#8fae5a", "#e6f2b8", "#c8dc88", "#88a058"), 0),
        alpha=0.85,
        curved=False,
    )
    for k in range(4):
        lime(s, x + (-38, 30, -20, 42)[k] + s.j(8), base - (44, 58, 104, 120)[k], 36, cut=True)
    for k in range(5):
        px, py, a = x + (-52, 8, 54, -22, 30)[k] + s.j(8), base - h * 0.78 + (k % 2) * 26 + s.j(6), 27
        c.rect(px - a, py - a, px + a, py + a, Lin(("#ffffff", "#d6ecdc", "#a8ccb8"), 50), r=8, alpha=0.62, bevel=6)
    outline = [
        (x + r * math.cos(2 * math.pi * k / 40), base - h + r * 0.2 * math.sin(2 * math.pi * k / 40)) for k in range(41)
    ]
    c.line(outline, 4, "#fbfff4", alpha=0.85)
    c.line([(x - r * 0.8, base - h * 0.9), (x - r * 0.66, base - h * 0.12)], 11, "#ffffff", alpha=0.55)
    c.line([(x + 20, base - 60), (x + 86, base - h - 90)], 9, Lin(("#f25f4a", "#c23a2a")), bevel=3)
    lime(s, x - r * 0.86, base - h - 4, 42, cut=True)


def lime(s: Scene, x: float, y: float, r: float, *, cut: bool) -> None:
    """A lime, whole or cut."""
    c = s.c
    if not cut:
        ball(s, x, y, r, "#5c9a2e", 0.86)
        return
    c.shadow(x + 4, y + r * 0.7, r, r * 0.3, 0.35)
    c.ellipse(x, y, r, r * 0.84, Lin(("#6fae36", "#2f6a1c")), bevel=3)
    c.ellipse(x, y - 1, r * 0.87, r * 0.72, "#eef6c8")
    for k in range(8):
        a, b = 2 * math.pi * (k + 0.08) / 8, 2 * math.pi * (k + 0.92) / 8
        wedge = [
            (x, y),
            (x + r * 0.78 * math.cos(a), y + r * 0.64 * math.sin(a)),
            (x + r * 0.78 * math.cos(b), y + r * 0.64 * math.sin(b)),
        ]
        c.poly(wedge, Lin(("#c4dd62", "#9cc23c")))


def gaiwan_tea(s: Scene) -> None:
    """A gaiwan with its lid, a clay pot and small cups on a bamboo tray."""
    c = s.c
    bamboo = s.tint(s.pick(("#b58a4a", "#8a5a34", "#5a3a28")))
    c.poly([(190, 600), (1010, 600), (1120, 840), (80, 840)], "#140a08", alpha=0.5, blur=18)
    c.poly(
        [(190, 588), (1010, 588), (1110, 808), (90, 808)],
        Lin((lighter(bamboo, 0.25), darker(bamboo, 0.15))),
        tex=(200, 6, 0.25),
    )
    for k in range(1, 9):
        y = 588 + 220 * (k / 9) ** 1.2
        x = 100 * (k / 9) ** 1.2
        c.line([(196 - x, y), (1004 + x, y)], 3 + k * 0.35, darker(bamboo, 0.65))
    c.poly([(90, 808), (1110, 808), (1110, 842), (90, 842)], Lin((darker(bamboo, 0.2), darker(bamboo, 0.6))))
    flip = 1 if s.generated or s.rng.random() < 0.5 else -1
    glaze = s.pick(("#e9f0ee", "#b8d4c4", "#f4ead6"))
    clay_pot(s, 600 + flip * (250 + s.j(20)), 690, s.pick(("#8a4a2e", "#6e3426", "#4f5a4a")), flip)
    gaiwan(s, 600 - flip * (110 + s.j(20)), 760, 128, glaze, s.pick(("#2f5fa8", "#c23a3a", "#3a7a5a")))
    tea = s.pick(("#c8a03a", "#b8682a", "#a8b84a"))
    for k in range(3 if not s.generated else 4):
        cup(
            s,
            600 + flip * (120 + k * 105 + s.j(10)) - (80 if s.generated else 0),
            792 + s.j(6),
            42,
            glaze,
            tea,
            handle=False,
        )
    steam(s, 600 - flip * 110, 560, 220, 0.32)
    for _ in range(24):
        leaf(
            c,
            600 - flip * (390 + s.u(-75, 75)),
            748 + s.u(-30, 30),
            26,
            s.u(0, 360),
            s.pick(("#3f5a34", "#5a6a3a", "#2c4a30")),
            0.3,
        )


def gaiwan(s: Scene, x: float, base: float, r: float, glaze: Colour, paint: Colour) -> None:
    """A lidded tea bowl on its saucer."""
    c = s.c
    plate(s, x, base, r * 1.25, glaze, rim=paint, tilt=0.28)
    top = bowl(s, x, base - 4, r, glaze, Lin(("#a8742a", "#d8b050")), depth=0.95)
    for k in range(-3, 4):
        px, py = x + math.sin(k * 0.42) * r * 0.86, base - r * 0.52 + abs(k) * -4
        for turn in range(5):
            a = 2 * math.pi * turn / 5
            c.ellipse(px + 9 * math.cos(a), py + 9 * math.sin(a), 8, 7, paint, alpha=0.85)
        c.ellipse(px, py, 5, 5, "#f6d070")
        leaf(c, px + 8, py + 12, 26, 50, paint, 0.4)
    lid_x, lid_y = x + r * 0.14, top - r * 0.06
    lathe(
        c,
        lid_x,
        lid_y,
        ((0, r * 0.9), (r * 0.1, r * 0.82), (r * 0.26, r * 0.5), (r * 0.34, r * 0.2)),
        round_fill(glaze, 0.6),
        squash=0.26,
    )
    opening(c, lid_x, lid_y - r * 0.38, r * 0.24, r * 0.08, glaze, darker(glaze, 0.2))
    c.ellipse(x - r * 0.6, base - r * 0.5, r * 0.07, r * 0.26, "#ffffff", rot=14, alpha=0.6, blur=4)


def clay_pot(s: Scene, x: float, base: float, clay: Colour, side: float) -> None:
    """A small clay teapot."""
    c = s.c
    c.shadow(x, base + 4, 150, 28, 0.5)
    c.line(
        smooth(
            [
                (x + side * 95, base - 120),
                (x + side * 185, base - 130),
                (x + side * 185, base - 40),
                (x + side * 95, base - 40),
            ],
            closed=False,
        ),
        19,
        Lin((lighter(clay, 0.3), darker(clay))),
        bevel=6,
    )
    c.poly(
        smooth(
            [
                (x - side * 90, base - 40),
                (x - side * 150, base - 70),
                (x - side * 190, base - 140),
                (x - side * 172, base - 146),
                (x - side * 140, base - 110),
                (x - side * 90, base - 96),
            ]
        ),
        Lin((lighter(clay, 0.2), darker(clay))),
        bevel=6,
    )
    lathe(c, x, base, ((0, 82), (10, 92), (75, 132), (130, 108), (150, 74)), round_fill(clay, 0.35))
    lathe(c, x, base - 148, ((0, 80), (10, 76), (26, 40), (32, 10)), round_fill(clay, 0.4))
    ball(s, x, base - 190, 17, clay)
    c.ellipse(x - 56, base - 100, 14, 36, "#fff2e0", rot=14, alpha=0.3, blur=6)
