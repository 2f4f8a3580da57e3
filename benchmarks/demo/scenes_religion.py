"""Religion: a mosque with its court, a baroque church on its square, a pagoda in the hills."""

from __future__ import annotations

from benchmarks.demo.canvas import Point, smooth
from benchmarks.demo.land import arch, bush, crescent, dome, palm, ridge, sky, walker
from benchmarks.demo.paint import Colour, Lin, darker, lighter, mix
from benchmarks.demo.scene import Scene
from benchmarks.demo.things import lathe


def religion(s: Scene) -> None:
    """A place of worship, seen across its open space."""
    {"egypt": mosque, "brazil": church, "china": pagoda}[s.culture](s)


def wall_fill(s: Scene, colour: Colour) -> Lin:
    """Plaster lit from the left."""
    tone = s.tint(colour)
    return Lin((lighter(tone, 0.3), tone, darker(tone, 0.28)), 12)


def paving(s: Scene, y: float, colour: Colour) -> None:
    """Flagstones running to the horizon."""
    c, tone = s.c, s.tint(colour)
    c.rect(0, y, 1200, 900, Lin((lighter(tone, 0.1), tone, darker(tone, 0.3))), tex=(46, 12, 0.16))
    for k in range(-14, 15):
        c.line([(600 + k * 46, y), (600 + k * 200, 905)], 2, darker(tone, 0.4), alpha=0.45)
    for k in range(1, 9):
        py = y + (900 - y) * (k / 8) ** 1.9
        c.line([(0, py), (1200, py)], 1 + k * 0.25, darker(tone, 0.4), alpha=0.45)


def lit_arch(s: Scene, x: float, base: float, half: float, height: float, stone: Colour, *, pointed: bool) -> None:
    """A doorway or window with depth and, in the evening, light."""
    c = s.c
    c.poly(arch(x, base, half * 1.22, height * 1.1, pointed=pointed), Lin((lighter(stone, 0.3), darker(stone, 0.12))))
    c.poly(arch(x, base, half, height, pointed=pointed), darker(stone, 0.5))
    inner: Lin = (
        Lin(("#ffd98a", "#c8742e")) if s.hour in ("dusk", "golden") else Lin((darker(stone, 0.7), darker(stone, 0.5)))
    )
    c.poly(arch(x + half * 0.12, base, half * 0.84, height * 0.95, pointed=pointed), inner)


def minaret(s: Scene, x: float, base: float, height: float, w: float, stone: Colour) -> None:
    """A slender tower in three stages with balconies."""
    c, tone = s.c, s.tint(stone)
    shade = Lin((darker(tone, 0.25), lighter(tone, 0.4), tone, darker(tone, 0.4)), 0)
    c.rect(x - w, base - height * 0.5, x + w, base, shade, tex=(30, 14, 0.12))
    lathe(
        c,
        x,
        base - height * 0.5,
        ((0, w * 0.9), (height * 0.01, w * 1.35), (height * 0.035, w * 1.35)),
        shade,
        curved=False,
    )
    lathe(c, x, base - height * 0.53, ((0, w * 0.72), (height * 0.25, w * 0.64)), shade, curved=False)
    lathe(
        c,
        x,
        base - height * 0.78,
        ((0, w * 0.66), (height * 0.012, w * 1.05), (height * 0.03, w * 1.05)),
        shade,
        curved=False,
    )
    for k in (-1, 0, 1):
        c.line([(x + k * w * 0.42, base - height * 0.81), (x + k * w * 0.42, base - height * 0.88)], w * 0.16, tone)
    lathe(c, x, base - height * 0.87, ((0, w * 0.62), (height * 0.012, w * 0.62)), shade, curved=False)
    lathe(
        c,
        x,
        base - height * 0.885,
        ((0, w * 0.4), (height * 0.035, w * 0.52), (height * 0.07, w * 0.28), (height * 0.09, 2)),
        shade,
    )
    c.line([(x, base - height * 0.97), (x, base - height * 1.02)], max(2, w * 0.09), "#d8a83a")
    crescent(c, x, base - height * 1.035, w * 0.2, "#d8a83a")
    for row in range(5):
        c.poly(arch(x, base - height * (0.08 + row * 0.08), w * 0.25, height * 0.05, pointed=True), darker(tone, 0.6))
    c.poly(arch(x, base - height * 0.6, w * 0.22, height * 0.1, pointed=True), darker(tone, 0.6))


def mosque(s: Scene) -> None:
    """Domes and minarets over an arcade."""
    c, horizon = s.c, 640.0
    sky(s, horizon)
    town(s, horizon)
    c.blur(2)
    if s.generated:
        c.symmetrise()
    stone = s.pick(("#dcc196", "#e6d4b4", "#d2ae84"))
    cap = s.pick(("#8fb0a8", "#cdb48a", "#a8b4c4"))
    x, tone = 600 + s.j(70), s.tint(stone)
    minaret(s, x - 330, horizon, 560, 36, stone)
    minaret(s, x + 330 + s.j(30), horizon, 560 if s.generated else s.u(430, 590), 36, stone)
    for side in (-1, 1):
        c.rect(x + side * 205 - 66, 430, x + side * 205 + 66, 480, wall_fill(s, stone))
        dome(s, x + side * 205, 434, 62, s.tint(cap))
    c.rect(x - 138, 360, x + 138, 470, wall_fill(s, stone), tex=(30, 14, 0.1))
    for k in range(7):
        lit_arch(s, x - 108 + k * 36, 420, 9, 40, tone, pointed=True)
    dome(s, x, 364, 136, s.tint(cap))
    c.rect(x - 420, 466, x + 420, horizon + 8, wall_fill(s, stone), tex=(34, 15, 0.14))
    stripe = darker(tone, 0.2)
    for k in range(5):
        c.rect(x - 420, 486 + k * 32, x + 420, 499 + k * 32, stripe, alpha=0.4)
    for k in range(29):
        px = x - 420 + k * 29.4
        c.poly([(px, 468), (px + 4, 452), (px + 13, 440), (px + 22, 452), (px + 26, 468)], tone)
    for k in range(-3, 4):
        if k:
            lit_arch(s, x + k * 118 - (22 if k < 0 else -22), horizon + 6, 36, 118, tone, pointed=True)
    c.rect(x - 84, 440, x + 84, horizon + 10, wall_fill(s, lighter(stone, 0.15)), tex=(30, 14, 0.1), bevel=5)
    lit_arch(s, x, horizon + 8, 54, 172, tone, pointed=True)
    paving(s, horizon + 4, "#d8c4a0")
    if s.hour == "dusk":
        c.glow(x, 600, 380, "#ffb860", 0.4)
    court(s, x, horizon)


def town(s: Scene, horizon: float) -> None:
    """Flat-roofed houses in the haze."""
    for k in range(24):
        x, h = k * 54 - 20 + s.j(20), s.u(60, 190)
        wall = s.far(s.pick(("#c8a070", "#b88a62", "#d8b88a")), 0.62)
        s.c.rect(x, horizon - h, x + s.u(50, 80), horizon, Lin((lighter(wall, 0.15), darker(wall, 0.1)), 20))


def court(s: Scene, x: float, horizon: float) -> None:
    """Palms and a few people walking towards the door."""
    for side in (-1, 1):
        palm(s, x + side * (510 + s.j(40)), horizon + 90, 330 + s.j(50), 0.06)
    for _k in range(4 if s.generated else 7):
        t = s.u(0.1, 0.75)
        robe = s.tint(s.pick(("#f0ece0", "#5f7f96", "#8a7a5a", "#3f4a5a", "#9a5a5a", "#c8b890")))
        cover = s.tint(s.pick(("#f4f0e6", "#d8c8a8", "#4a3a3a", "#7a4a5a", "#3f6f7a")))
        walker(s, x + s.u(-420, 420), horizon + 30 + t * 200, 74 + t * 96, robe, cover)


def church(s: Scene) -> None:
    """A white baroque church with two towers, palms and a square."""
    c, horizon = s.c, 650.0
    sky(s, horizon)
    ridge(s, 560, 190, Lin((s.far("#4f8a6a", 0.65), s.far("#3f7a5a", 0.45))), step=180)
    ridge(s, 610, 90, Lin((s.far("#4f8a5a", 0.4), s.far("#3f7a4a", 0.3))), step=130)
    c.blur(2.4)
    if s.generated:
        c.symmetrise()
    x, trim = 600 + s.j(60), s.tint(s.pick(("#e0a83a", "#3f7fae", "#c8744a", "#8a9a8a")))
    white = "#f8f1e2"
    for side in (-1, 1):
        tower(s, x + side * 225, horizon, white, trim)
    facade(s, x, horizon, white, trim)
    for k in range(3):
        c.rect(
            x - 330 - k * 24,
            horizon + k * 13 - 2,
            x + 330 + k * 24,
            horizon + k * 13 + 14,
            Lin((s.tint("#f0e6d2"), s.tint("#b8a88c"))),
        )
    paving(s, horizon + 38, "#c8b8a0")
    for side in (-1, 1):
        palm(s, x + side * (455 + s.j(30)), horizon + 60, 480 + s.j(60), 0.04, "#3f8a4a")
        bush(s, x + side * (500 + s.j(40)), horizon + 90, 80, s.tint("#3a7a40"), 9)
    people_on_square(s, x, horizon + 50)


def facade(s: Scene, x: float, horizon: float, white: Colour, trim: Colour) -> None:
    """The front of the church: gable, round window, doors."""
    c = s.c
    c.rect(x - 168, 330, x + 168, horizon, wall_fill(s, white), tex=(60, 60, 0.06))
    gable: list[Point] = [
        (x - 176, 340),
        (x - 160, 290),
        (x - 108, 284),
        (x - 84, 220),
        (x - 40, 196),
        (x, 140),
        (x + 40, 196),
        (x + 84, 220),
        (x + 108, 284),
        (x + 160, 290),
        (x + 176, 340),
    ]
    c.poly([(px, py - 10) for px, py in smooth(gable, closed=False)], trim)
    c.poly(smooth(gable, closed=False), wall_fill(s, white))
    cross(s, x, 138, 34, trim)
    c.ellipse(x, 258, 34, 34, trim)
    c.ellipse(x, 258, 26, 26, Lin(("#4f86b4", "#22406a")) if s.hour != "dusk" else Lin(("#ffe2a0", "#e0903a")))
    for y in (336, 478):
        c.rect(x - 178, y, x + 178, y + 14, trim, bevel=4)
    for k in (-1, 0, 1):
        lit_arch(s, x + k * 104, 460, 25, 96, trim, pointed=False)
        lit_arch(s, x + k * 104, horizon, 34 + (k == 0) * 10, 118 + (k == 0) * 26, trim, pointed=False)
    for k in (-1, 1):
        c.rect(x + k * 160 - 9, 340, x + k * 160 + 9, horizon, trim, bevel=4)


def people_on_square(s: Scene, x: float, y: float) -> None:
    """A few people on their way."""
    for _ in range(4 if s.generated else 7):
        t = s.u(0.05, 0.7)
        robe = s.tint(s.pick(("#f4efe4", "#d9645a", "#4f86b0", "#e0b04a", "#5a9a78", "#8a5a9a")))
        walker(
            s,
            x + s.u(-380, 380),
            y + 20 + t * 180,
            78 + t * 80,
            robe,
            s.pick(("#2a1c18", "#3a2620", "#e8d8b0")),
            long=s.rng.random() < 0.5,
        )


def cross(s: Scene, x: float, base: float, h: float, colour: Colour) -> None:
    """A small cross on the gable."""
    s.c.rect(x - 3.5, base - h, x + 3.5, base, colour)
    s.c.rect(x - h * 0.3, base - h * 0.74, x + h * 0.3, base - h * 0.54, colour)


def tower(s: Scene, x: float, base: float, white: Colour, trim: Colour) -> None:
    """A bell tower with a small bulbous roof."""
    c = s.c
    c.rect(x - 68, 250, x + 68, base, wall_fill(s, white), tex=(60, 60, 0.06))
    for k in (-1, 1):
        c.rect(x + k * 61 - 9, 250, x + k * 61 + 9, base, trim, bevel=4)
    for y in (244, 376, 500):
        c.rect(x - 78, y, x + 78, y + 13, trim, bevel=4)
    lit_arch(s, x, 368, 27, 92, trim, pointed=False)
    c.ellipse(x, 320, 15, 17, Lin(("#d8a83a", "#6a4a1a")), bevel=3)
    lit_arch(s, x, 480, 21, 74, trim, pointed=False)
    lit_arch(s, x, base - 20, 21, 88, trim, pointed=False)
    lathe(
        c,
        x,
        246,
        ((0, 70), (22, 64), (48, 46), (70, 50), (96, 30), (122, 6)),
        Lin((darker(trim, 0.2), lighter(trim, 0.4), trim, darker(trim, 0.45)), 0),
        squash=0.1,
    )
    cross(s, x, 124, 30, trim)


def pagoda(s: Scene) -> None:
    """A tall pagoda above pines and mist."""
    c, horizon = s.c, 700.0
    sky(s, horizon)
    for k in range(4):
        ridge(
            s,
            480 + k * 55,
            260 - k * 40,
            Lin((s.far("#4a7a72", 0.78 - k * 0.16), s.far("#7a9a90", 0.8 - k * 0.12))),
            step=150 - k * 12,
        )
        c.clouds(360 + k * 60, 640 + k * 40, mix(s.sky[-1], "#ffffff", 0.35), 0.9, (520, 70), salt=40 + k * 4)
    c.blur(2)
    if s.generated:
        c.symmetrise()
    x = 600 + s.j(150)
    ridge(s, 760, 40, Lin((s.tint("#5a8a5a"), s.tint("#2a4a34"))), step=200)
    for _ in range(14):
        pine(s, s.pick((x - s.u(190, 560), x + s.u(190, 560))), 790 + s.j(30), s.u(120, 240))
    tiers = 7 if s.generated else s.pick((5, 7, 7, 9))
    storeys(s, x, 780, tiers, s.pick(("#a8382a", "#8a4a2e", "#b84a34")))
    paving_steps(s, x)
    for k in range(3 if s.generated else 5):
        walker(
            s,
            x + s.j(90) + (k - 2) * 44,
            850 + s.j(20),
            84,
            s.tint(s.pick(("#c8742e", "#5a6a7a", "#8a9a8a", "#a84a4a", "#e0d8c8"))),
            "#241a18",
        )


def storeys(s: Scene, x: float, base: float, tiers: int, red: Colour) -> None:
    """The tiers of the pagoda, each a little narrower, under swept roofs."""
    c, tile = s.c, s.tint(s.pick(("#3f4f56", "#4a5a4a", "#5a4a3a")))
    rise = 600 / tiers
    wall = s.tint(red)
    for k in range(tiers):
        w, y = 124 * (1 - k * 0.56 / tiers), base - k * rise
        c.rect(x - w, y - rise, x + w, y, Lin((darker(wall, 0.1), lighter(wall, 0.28), wall, darker(wall, 0.5)), 0))
        for p in range(-2, 3):
            c.rect(x + p * w * 0.46 - w * 0.03, y - rise, x + p * w * 0.46 + w * 0.03, y, darker(wall, 0.45))
        for p in (-1, 0, 1):
            glow: Colour = "#ffd88a" if s.hour in ("dusk", "golden") else "#3a2420"
            c.poly(arch(x + p * w * 0.46 + (w * 0.0), y - 2, w * 0.13, rise * 0.52), glow)
        c.rect(x - w * 1.08, y - rise * 0.16, x + w * 1.08, y - rise * 0.1, lighter(wall, 0.35))
        eave(s, x, y - rise * 0.7, w * 1.52, rise * 0.46, tile)
    top = base - tiers * rise
    lathe(
        c,
        x,
        top + 6,
        ((0, 22), (14, 12), (30, 16), (50, 8), (70, 10), (110, 2)),
        Lin(("#8a641e", "#ffe08a", "#c8962e", "#6a4a14"), 0),
    )


def eave(s: Scene, x: float, y: float, half: float, h: float, tile: Colour) -> None:
    """A roof with upturned corners."""
    c = s.c
    c.ellipse(x, y + h * 0.3, half * 0.74, h * 0.22, "#1a1012", alpha=0.5, blur=4)
    left = [(x - half * 0.56, y - h * 0.72), (x - half * 0.78, y - h * 0.16), (x - half * 1.04, y - h * 0.2)]
    right = [(2 * x - px, py) for px, py in reversed(left)]
    under = [(x + half * 0.8, y + h * 0.16), (x, y + h * 0.24), (x - half * 0.8, y + h * 0.16)]
    c.poly(
        [*smooth(left, closed=False), *under[::-1], *smooth(right, closed=False)],
        Lin((lighter(tile, 0.35), tile, darker(tile, 0.35))),
        bevel=4,
    )
    for k in range(-6, 7):
        c.line(
            [(x + k * half * 0.085, y - h * 0.7), (x + k * half * 0.122, y + h * 0.16)],
            1.6,
            darker(tile, 0.5),
            alpha=0.55,
        )
    c.line(
        smooth(
            [left[2], (x - half * 0.8, y + h * 0.15), (x, y + h * 0.24), (x + half * 0.8, y + h * 0.15), right[0]],
            closed=False,
        ),
        4,
        "#d8a84a",
    )


def pine(s: Scene, x: float, base: float, h: float) -> None:
    """A pine with flat layered boughs."""
    c, green = s.c, s.tint(s.pick(("#2f5a44", "#3f6a4a", "#28503a")))
    c.line([(x, base), (x + s.j(8), base - h)], h * 0.06, s.tint("#4a3226"))
    for k in range(5):
        y, w = base - h * (0.35 + k * 0.15), h * (0.4 - k * 0.06)
        c.ellipse(
            x + s.j(h * 0.06), y, w, h * 0.085, Lin((lighter(green, 0.25), darker(green, 0.35))), tex=(6, 5, 0.35)
        )


def paving_steps(s: Scene, x: float) -> None:
    """Stone steps up to the door."""
    stone = s.tint("#c8c0b0")
    for k in range(9):
        half, y = 62 + k * 13, 780 + k * 14
        s.c.rect(
            x - half, y, x + half, y + 16, Lin((lighter(stone, 0.4), stone, darker(stone, 0.4))), tex=(30, 8, 0.12)
        )
    for side in (-1, 1):
        s.c.poly(
            [(x + side * 66, 770), (x + side * 84, 770), (x + side * 200, 905), (x + side * 168, 905)],
            Lin((stone, darker(stone, 0.4))),
            bevel=3,
        )
