"""Farming: wheat by the Nile, coffee on red hills, rice on terraces."""

from __future__ import annotations

import math

from benchmarks.demo.canvas import Point, smooth
from benchmarks.demo.land import bush, palm, ridge, sky, walker
from benchmarks.demo.paint import Colour, Lin, darker, lighter, mix
from benchmarks.demo.scene import Scene
from benchmarks.demo.things import lathe, leaf


def farming(s: Scene) -> None:
    """The fields."""
    {"egypt": wheat, "brazil": coffee_hills, "china": rice_terraces}[s.culture](s)


def wheat(s: Scene) -> None:
    """Ripe wheat, sheaves, palms and a pigeon tower."""
    c, horizon = s.c, 470 + s.j(25)
    sky(s, horizon)
    ridge(s, horizon - 12, 80, Lin((s.far("#d0a878", 0.6), s.far("#b88a5a", 0.45))), step=200)
    ridge(s, horizon + 6, 22, s.far("#6a8a46", 0.35), step=60)
    for _ in range(11):
        palm(s, s.u(0, 1200), horizon + 12, s.u(120, 220), s.u(0.2, 0.4))
    c.blur(1.8)
    if s.generated:
        c.symmetrise()
    side = 1 if s.generated or s.rng.random() < 0.5 else -1
    for k in range(3):
        pigeon_tower(s, 600 + side * (250 + k * 92 + s.j(14)), horizon + 34 + k % 2 * 14, s.u(180, 270))
    palm(s, 600 - side * (400 + s.j(60)), horizon + 70, 380 + s.j(40), 0.05)
    gold = s.tint(s.pick(("#dba83a", "#e0b65a", "#c8a040")))
    c.rect(0, horizon + 20, 1200, 900, Lin((lighter(gold, 0.25), gold, darker(gold, 0.45))), tex=(10, 26, 0.35))
    for k in range(5):
        walker(
            s,
            600 - side * (160 - k * 84 + s.j(24)),
            horizon + 80 + s.j(12) + k % 2 * 20,
            112,
            s.tint(("#5f86a8", "#e8e2d4", "#a85a4a", "#4f7a5a", "#cdb88a")[k]),
            s.tint(s.pick(("#f4efe2", "#e6d4a8"))),
        )
    for k in range(6):
        y = horizon + 130 + (k // 2) * 62
        sheaf(s, 600 + (k % 2 * 2 - 1) * (200 + (k // 2) * 110 + s.j(40)) + s.j(20), y, 62 + k * 8, gold)
    stalks(s, gold)


def pigeon_tower(s: Scene, x: float, base: float, h: float) -> None:
    """A mud-brick tower for pigeons."""
    mud = s.tint("#c08a5a")
    fill = Lin((darker(mud, 0.15), lighter(mud, 0.35), mud, darker(mud, 0.5)), 0)
    lathe(s.c, x, base, ((0, 46), (h * 0.4, 42), (h * 0.8, 32), (h * 0.97, 18), (h, 4)), fill, squash=0.12)
    for row in range(5):
        y = base - h * (0.3 + row * 0.12)
        for k in range(-2, 3):
            s.c.ellipse(x + k * (10 - row), y, 2.6, 3.4, darker(mud, 0.7))
        s.c.line([(x - 44 + row * 4, y + 10), (x - 56 + row * 4, y + 8)], 3, darker(mud, 0.5))
        s.c.line([(x + 42 - row * 4, y + 10), (x + 54 - row * 4, y + 8)], 3, darker(mud, 0.5))
    s.c.ellipse(x, base - h - 6, 6, 8, lighter(mud, 0.3))


def sheaf(s: Scene, x: float, base: float, h: float, gold: Colour) -> None:
    """A bound sheaf."""
    c = s.c
    c.shadow(x + h * 0.15, base, h * 0.6, h * 0.14, 0.5)
    for k in range(-7, 8):
        tone = lighter(gold, 0.25) if k % 2 else darker(gold, 0.18)
        c.line(
            smooth(
                [
                    (x + k * h * 0.055, base),
                    (x + k * h * 0.02, base - h * 0.5),
                    (x + k * h * 0.065 + s.j(3), base - h * 1.05),
                ],
                closed=False,
            ),
            h * 0.065,
            tone,
        )
        c.ellipse(x + k * h * 0.07, base - h * 1.08, h * 0.035, h * 0.1, lighter(gold, 0.4), rot=k * 4)
    c.line([(x - h * 0.17, base - h * 0.5), (x + h * 0.17, base - h * 0.48)], h * 0.07, darker(gold, 0.5))


def stalks(s: Scene, gold: Colour) -> None:
    """Ears of wheat close to the eye."""
    for k in range(64):
        x = k * 19 + s.u(-12, 12)
        edge = abs(x - 600) / 600
        h = 60 + 150 * edge**1.4 + s.u(-20, 30)
        lean = s.u(-24, 24)
        tone = mix(lighter(gold, 0.35), darker(gold, 0.25), s.u(0, 1))
        s.c.line(
            smooth([(x, 912), (x + lean * 0.3, 905 - h * 0.5), (x + lean, 905 - h)], closed=False),
            3.5,
            darker(tone, 0.12),
        )
        for g in range(6):
            gx, gy = x + lean * (1 + g * 0.06), 905 - h - g * 9
            s.c.ellipse(gx - 4, gy, 4.2, 8, tone, rot=-24)
            s.c.ellipse(gx + 4, gy, 4.2, 8, darker(tone, 0.16), rot=24)


def coffee_hills(s: Scene) -> None:
    """Rows of coffee over rolling red earth, a farmhouse among trees."""
    c, horizon = s.c, 400.0
    sky(s, horizon + 40)
    ridge(s, 420, 150, Lin((s.far("#4f7f8a", 0.62), s.far("#5a8a7a", 0.5))), step=210)
    ridge(s, 450, 70, Lin((s.far("#5a9460", 0.42), s.far("#4f8a52", 0.3))), step=160)
    c.blur(2.2)
    if s.generated:
        c.symmetrise()
    side = 1 if s.generated or s.rng.random() < 0.5 else -1
    for k in range(3):
        coffee_slope(s, 450 + k * 66, k, side)
    farmhouse(s, 600 + side * (270 + s.j(40)), 512)
    coffee_rows(s, 610)
    for k in range(3):
        walker(
            s,
            330 + k * 150 + s.u(-50, 50),
            700 + s.j(18),
            116,
            s.tint(s.pick(("#f0ead8", "#4f86b0", "#d9645a", "#e0b04a"))),
            "#e8d29a",
            long=False,
            brim=True,
        )
    coffee_branch(s, -side)


def coffee_slope(s: Scene, y: float, k: int, side: int) -> None:
    """A far slope combed with rows."""
    c = s.c
    earth, green = s.far("#b8603a", 0.4 - k * 0.12), s.far("#3f7a42", 0.42 - k * 0.13)
    line = smooth(
        [(x, y + math.sin(x / (190 + k * 40) + k * 2 + side) * 34) for x in range(-60, 1300, 60)], closed=False, steps=3
    )
    outline = [*line, (1260, 900), (-60, 900)]
    c.poly(outline, Lin((lighter(earth, 0.2), earth)))
    for row in range(5):
        for col in range(64 - k * 10):
            x = col * (20 + k * 4) + (row % 2) * 9 - 20
            top = y + math.sin(x / (190 + k * 40) + k * 2 + side) * 34
            c.ellipse(
                x, top + 12 + row * (17 + k * 3), 10 + k * 2, 6 + k, Lin((lighter(green, 0.25), darker(green, 0.25)))
            )


def farmhouse(s: Scene, x: float, base: float) -> None:
    """A white farmhouse with a tiled roof."""
    c, white, roof = s.c, s.tint("#f6efe0"), s.tint("#b8502e")
    c.rect(x - 110, base - 66, x + 110, base, Lin((lighter(white, 0.3), darker(white, 0.2)), 10))
    c.poly(
        [(x - 132, base - 62), (x - 84, base - 116), (x + 84, base - 116), (x + 132, base - 62)],
        Lin((lighter(roof, 0.3), darker(roof, 0.2))),
        tex=(7, 30, 0.3),
    )
    for k in range(5):
        c.rect(x - 92 + k * 42, base - 48, x - 72 + k * 42, base - (0 if k == 2 else 18), s.tint("#2f6f9a"))
    for dx in (-170, 165, 210):
        bush(s, x + dx, base + 8, 60 + s.j(12), s.tint("#2f6a3a"), 8)


def coffee_rows(s: Scene, y: float) -> None:
    """The nearest rows, meeting far away."""
    c, earth = s.c, s.tint("#a84e2c")
    c.rect(0, y, 1200, 900, Lin((lighter(earth, 0.15), earth, darker(earth, 0.35))), tex=(20, 8, 0.25))
    for k in range(-5, 6):
        for step in range(14):
            t = (step / 13) ** 1.5
            px, py, r = 600 + k * (70 + 220 * t) + s.j(6), y + 8 + t * 300, 24 + 78 * t
            if (abs(k) < 1 and t > 0.1) or not -90 < px < 1290:
                continue
            green = s.tint(s.pick(("#2f6f3a", "#3f8446", "#28602f")))
            c.ellipse(
                px,
                py - r * 0.2,
                r,
                r * 0.62,
                Lin((lighter(green, 0.3), green, darker(green, 0.5)), 70),
                tex=(9, 7, 0.4),
            )
            for _ in range(3):
                c.ellipse(px + s.u(-0.7, 0.7) * r, py + s.u(-0.5, 0.1) * r, r * 0.07, r * 0.07, "#d8342c")


def coffee_branch(s: Scene, side: int) -> None:
    """A branch heavy with cherries in front."""
    c = s.c
    start = (600 + side * 640, 560 + s.j(30))
    pts = [start, (600 + side * 480, 640), (600 + side * 330, 740), (600 + side * 250, 830)]
    spine = smooth([(float(px), float(py)) for px, py in pts], closed=False)
    c.line(spine, 12, s.tint("#6a4a2e"), bevel=3)
    for k, (x, y) in enumerate(spine[::3]):
        for turn in (-1, 1):
            leaf(
                c,
                x,
                y,
                150 - k * 6,
                (150 if side > 0 else 30) + turn * 55 + s.j(12),
                s.tint(s.pick(("#2f8a42", "#3f9a4a", "#25703a"))),
                0.42,
            )
        for _ in range(5):
            cx, cy = x + s.u(-32, 32), y + s.u(-10, 34)
            red = s.pick(("#d8322a", "#c22a2a", "#e85a3a", "#8aa83a"))
            c.ellipse(cx, cy, 15, 14, Lin((lighter(red, 0.45), red, darker(red, 0.5)), 60), bevel=3)


def rice_terraces(s: Scene) -> None:
    """Stepped paddies holding the sky."""
    c = s.c
    sky(s, 420)
    for k in range(3):
        ridge(
            s,
            360 + k * 36,
            190 - k * 40,
            Lin((s.far("#4a7a6a", 0.75 - k * 0.16), s.far("#6a9a8a", 0.7 - k * 0.14))),
            step=170,
        )
    c.clouds(250, 520, mix(s.sky[-1], "#ffffff", 0.45), 0.95, (480, 70), salt=60)
    c.blur(2)
    if s.generated:
        c.symmetrise()
    shift = s.u(0, 6)
    for k in range(11):
        terrace(s, 420 + 10 * k + 3.3 * k * k, k, shift)
    village(s)
    for k in range(3):
        walker(
            s,
            380 + k * 170 + s.j(60),
            700 + s.j(30) + k * 12,
            104 + k * 6,
            s.tint(("#4f7fae", "#c8553a", "#e6dcc4")[k]),
            "#e0c27a",
            long=False,
            brim=True,
        )
    for k in range(90):
        x = k * 13.6 + s.u(-6, 6)
        leaf(c, x, 912, s.u(50, 110), -90 + s.u(-24, 24), s.tint(s.pick(("#6fae3e", "#8fc24a", "#4f9a3e"))), 0.14)


def terrace(s: Scene, y: float, k: int, shift: float) -> None:
    """One paddy: a green lip and a sheet of sky."""
    c = s.c
    h = 10 + k * 6.6
    edge: list[Point] = [
        (x, y + math.sin(x / (150 + k * 12) + shift + k * 0.55) * (10 + k * 3.2)) for x in range(-40, 1300, 50)
    ]
    line = smooth(edge, closed=False, steps=3)
    green = s.far(s.pick(("#5f9a3e", "#7fae46", "#4a8a42")), max(0.0, 0.45 - k * 0.06))
    c.poly([*line, (1260, 905), (-40, 905)], Lin((lighter(green, 0.25), green, darker(green, 0.4))), tex=(9, 14, 0.22))
    wide = [0.5 + 0.34 * math.sin(x / (95 + k * 17) + shift * 2 + k * 1.9) for x, _ in line]
    sheet = [(x, yy + h * 0.3) for x, yy in line] + [
        (x, yy + h * (0.3 + w)) for (x, yy), w in zip(line[::-1], wide[::-1], strict=True)
    ]
    pool = mix(s.sky[-1], s.far("#3f7f98", 0.1), 0.66)
    c.poly(sheet, Lin((darker(pool, 0.25), pool, mix(s.sky[-1], "#ffffff", 0.25), pool, darker(pool, 0.3)), 0))
    c.line([(x, yy + h * 0.3) for x, yy in line], 1.2 + k * 0.2, lighter(green, 0.5), alpha=0.7)
    for _ in range(10 + k):
        x, yy = line[int(s.u(0, len(line) - 1))]
        leaf(c, x, yy + h * s.u(0.5, 0.9), 6 + k * 2.2, -90 + s.u(-20, 20), lighter(green, 0.1), 0.3)


def village(s: Scene) -> None:
    """Wooden houses on a shoulder of the hill."""
    base = 470 + s.j(10)
    x0 = 250 + s.j(60) if s.generated or s.rng.random() < 0.5 else 820 + s.j(60)
    for k in range(4):
        x, w = x0 + k * 62 + s.j(8), 34 + s.j(5)
        y = base + (k % 2) * 16
        wood, tile = s.far("#8a5a36", 0.15), s.far("#4a4a50", 0.15)
        s.c.rect(x - w, y - 42, x + w, y + 10, Lin((lighter(wood, 0.25), darker(wood, 0.3)), 10), tex=(8, 30, 0.25))
        s.c.poly(
            [(x - w * 1.4, y - 36), (x - w * 0.7, y - 66), (x + w * 0.7, y - 66), (x + w * 1.4, y - 36)],
            Lin((lighter(tile, 0.3), tile)),
            tex=(5, 20, 0.25),
        )
        for p in (-0.5, 0.1, 0.6):
            s.c.rect(x + p * w - 4, y - 28, x + p * w + 5, y - 14, "#ffd890")
