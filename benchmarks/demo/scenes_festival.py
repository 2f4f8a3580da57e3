"""Festivals: Ramadan lanterns in a lane, a June feast, lanterns and fireworks for the new year."""

from __future__ import annotations

import math

from benchmarks.demo.canvas import Point, smooth
from benchmarks.demo.land import arch, crescent, dome, walker, windows
from benchmarks.demo.lanterns import bonfire, fanous, firework, paper_balloon, red_lantern
from benchmarks.demo.paint import Colour, Lin, darker, lighter, mix
from benchmarks.demo.scene import Scene
from benchmarks.demo.scenes_religion import eave, minaret

BRIGHT: tuple[Colour, ...] = ("#e8453a", "#f2b62c", "#2f9ac4", "#4fae5e", "#e85a9a", "#8a5ac4", "#fdf3dc", "#f2803a")


def festival(s: Scene) -> None:
    """An evening out of doors."""
    s.hour = s.pick(("dusk", "dusk", "golden"))
    {"egypt": lantern_lane, "brazil": june_feast, "china": new_year}[s.culture](s)


def night(s: Scene, horizon: float) -> None:
    """An evening sky with stars."""
    c = s.c
    stops: tuple[Colour, ...] = s.pick(
        (
            ("#0f1740", "#2a2766", "#6a3f80", "#d9845a"),
            ("#101f4a", "#1f4272", "#4f6a94", "#e0a070"),
            ("#1a1038", "#43206a", "#93407a", "#f09a5a"),
        )
    )
    c.rect(0, 0, 1200, horizon + 10, Lin(stops))
    c.clouds(60, horizon, mix(stops[2], stops[3], 0.4), 0.5, (520, 70), salt=4)
    for _ in range(90):
        r = s.u(0.8, 2.4)
        c.ellipse(s.u(0, 1200), s.u(0, horizon * 0.7), r, r, "#fff6dc", alpha=s.u(0.4, 1))


def street(s: Scene, vanish: Point, walls: tuple[Colour, ...], *, arched: bool) -> None:
    """Two rows of houses running to a vanishing point."""
    c, (vx, vy) = s.c, vanish
    c.rect(0, 600, 1200, 900, Lin(("#8a5548", "#3a2238")))
    for side in (-1, 1):
        for k in range(5, -1, -1):
            near, far = 0.78**k, 0.78 ** (k + 1)
            wall = mix(s.pick(walls), "#3a2048", 0.22 + 0.05 * k)

            def at(t: float, h: float, side: int = side) -> Point:
                return vx + side * 640 * t, vy + h * t

            face = [at(near, -430 + (k % 3) * 40), at(far, -430 + (k % 3) * 40), at(far, 390), at(near, 390)]
            c.poly(face, Lin((lighter(wall, 0.1), wall, lighter(wall, 0.18)), 90), tex=(30, 40, 0.14))
            c.poly(
                [face[0], face[1], (face[1][0], face[1][1] + 26 * far), (face[0][0], face[0][1] + 26 * near)],
                lighter(wall, 0.45),
            )
            for row in range(2):
                for col in range(2):
                    opening_in_wall(s, face, row, col, lit=s.rng.random() < 0.6, door=row == 1, arched=arched)


def opening_in_wall(s: Scene, face: list[Point], row: int, col: int, *, lit: bool, door: bool, arched: bool) -> None:
    """A window or door lying in the perspective of a wall."""

    def at(u: float, v: float) -> Point:
        x = face[0][0] + (face[1][0] - face[0][0]) * u
        top = face[0][1] + (face[1][1] - face[0][1]) * u
        low = face[3][1] + (face[2][1] - face[3][1]) * u
        return x, top + (low - top) * v

    u0, v0, v1 = 0.14 + col * 0.44, 0.16 + row * 0.4, 0.44 if not door else 0.99
    outline = [
        at(u0, v1),
        at(u0, v0 + 0.05),
        at(u0 + 0.15, v0 - (0.03 if arched else -0.05)),
        at(u0 + 0.3, v0 + 0.05),
        at(u0 + 0.3, v1),
    ]
    s.c.poly(outline, "#e8d8c0" if not arched else "#8a5a3a")
    inner = [
        at(u0 + 0.035, v1),
        at(u0 + 0.035, v0 + 0.07),
        at(u0 + 0.15, v0 + (0.0 if arched else 0.07)),
        at(u0 + 0.265, v0 + 0.07),
        at(u0 + 0.265, v1),
    ]
    s.c.poly(inner, Lin(("#ffe09a", "#e08a3a")) if lit else Lin(("#2a1c38", "#3a2440")))


def lantern_lane(s: Scene) -> None:
    """Lanterns hung across an old lane under a crescent."""
    c, vanish = s.c, (600 + s.j(40), 520.0)
    night(s, 640)
    crescent(c, 600 + (s.u(-330, 330) if not s.generated else 0), 130, 46, "#fff0c8")
    minaret(s, vanish[0] - 90 + s.j(20), 640, 400, 22, "#d8b88a")
    dome(s, vanish[0] + 70 + s.j(20), 600, 84, s.tint("#b8a888"))
    c.glow(vanish[0], 560, 360, "#ffb050", 0.6)
    c.blur(1.6)
    street(s, vanish, ("#c89a6a", "#b8825a", "#d8b88a", "#a8745a"), arched=True)
    paving_lane(s, vanish)
    for _k in range(6):
        t = s.u(0.2, 1)
        walker(
            s,
            vanish[0] + s.u(-170, 170) * t,
            640 + t * 160,
            80 + t * 90,
            s.pick(("#e8e0d0", "#4a5a7a", "#7a3a4a", "#3a5a54", "#b89a6a")),
            s.pick(("#f4efe4", "#3a2a2a", "#c8a8b0", "#5a7a8a")),
        )
    for y, sag in ((120 + s.j(20), 90), (260 + s.j(16), 60), (360 + s.j(10), 36)):
        garland(s, y, sag)
    places = [(190, 300, 1.25), (960, 330, 1.3), (420, 250, 0.85), (760, 240, 0.85), (590, 330, 0.66)]
    for x, y, z in places:
        fanous(s, x + s.j(40), y + s.j(30), z)


def paving_lane(s: Scene, vanish: Point) -> None:
    """The ground of the lane, warm with light."""
    c = s.c
    ground = [(vanish[0] - 146, 606.0), (vanish[0] + 146, 606.0), (1330.0, 960.0), (-130.0, 960.0)]
    c.poly(ground, Lin(("#d8905a", "#8a5548", "#3a2238")), tex=(40, 10, 0.2))
    with c.clip(ground):
        for k in range(1, 9):
            y = 612 + 290 * (k / 8) ** 1.7
            c.line([(0, y), (1200, y)], 1 + k * 0.3, "#2a1828", alpha=0.3)
    c.glow(vanish[0], 660, 420, "#ffb860", 0.45)


def garland(s: Scene, y: float, sag: float) -> None:
    """A string of small lights and paper flags across the lane."""
    n = 26
    pts = [(k * 1200 / n, y + sag * math.sin(math.pi * k / n)) for k in range(n + 1)]
    s.c.line(pts, 2, "#1a1020", alpha=0.8)
    for k, (x, py) in enumerate(pts):
        colour = s.pick(BRIGHT)
        if k % 2:
            s.c.poly(
                [(x - 12, py), (x + 12, py), (x + s.j(3), py + 30)],
                Lin((lighter(colour, 0.2), darker(colour, 0.2))),
                alpha=0.92,
            )
        else:
            s.c.glow(x, py + 6, 34, "#ffd070", 0.9)
            s.c.ellipse(x, py + 6, 4.5, 5.5, "#fff4d0")


def june_feast(s: Scene) -> None:
    """Bunting over a colonial street, a bonfire, couples in bright clothes."""
    c, vanish = s.c, (600 + s.j(40), 520.0)
    night(s, 640)
    small_church(s, vanish[0])
    c.blur(1.4)
    street(s, vanish, ("#d9543e", "#3f9a8a", "#e0a83a", "#3f7fb8", "#c85a8a", "#8a6ab0", "#6aa84a"), arched=False)
    paving_lane(s, vanish)
    for row, (y, sag, size) in enumerate(((70, 120, 1.25), (190, 90, 1.0), (290, 64, 0.78), (366, 40, 0.58))):
        bunting(s, y + s.j(14), sag + s.j(16), size, row)
    for x, y, z in ((220, 250, 1.0), (985, 240, 1.1), (400, 330, 0.7), (800, 330, 0.7)):
        paper_balloon(s, x + s.j(40), y + s.j(24), z)
    bonfire(s, vanish[0] + s.j(30), 742)
    for k in range(4):
        px = 600 + (k - 1.5) * 235 + (90 if k > 1 else -90) * 0.4 + s.j(24)
        py, h = 800 + s.j(18) + (k % 2) * 16, 176.0
        first, second = s.pick(BRIGHT[:6]), s.pick(BRIGHT[:6])
        walker(s, px - 28, py, h, first, "#e8cf8a", long=False, brim=True)
        walker(s, px + 34, py + 6, h * 0.94, second, s.pick(("#2a1a16", "#e8cf8a")), brim=s.rng.random() < 0.5)
        c.rect(px + 0, py - 24, px + 68, py - 12, lighter(second, 0.6), alpha=0.8)


def small_church(s: Scene, x: float) -> None:
    """A white church closing the street."""
    c = s.c
    for side in (-1, 1):
        c.rect(x + side * 92 - 21, 430, x + side * 92 + 21, 640, Lin(("#fff3dc", "#c8a088"), 0))
        c.poly(
            smooth(
                [
                    (x + side * 92 - 25, 432),
                    (x + side * 92 - 12, 400),
                    (x + side * 92, 370),
                    (x + side * 92 + 12, 400),
                    (x + side * 92 + 25, 432),
                ],
                closed=False,
            ),
            "#c86a4a",
        )
        c.poly(arch(x + side * 92, 490, 9, 40), "#5a4a6a")
    c.rect(x - 70, 500, x + 70, 640, Lin(("#fff6e4", "#d8b8a0"), 20))
    c.poly(
        smooth(
            [(x - 74, 502), (x - 60, 480), (x - 34, 474), (x, 424), (x + 34, 474), (x + 60, 480), (x + 74, 502)],
            closed=False,
        ),
        "#fbeedb",
    )
    c.line(
        smooth(
            [(x - 74, 502), (x - 60, 480), (x - 34, 474), (x, 424), (x + 34, 474), (x + 60, 480), (x + 74, 502)],
            closed=False,
        ),
        5,
        "#c86a4a",
    )
    c.ellipse(x, 492, 12, 12, "#3f6fa0")
    for k in (-1, 0, 1):
        c.poly(arch(x + k * 42, 556, 9, 38), "#3f6fa0")
    c.poly(arch(x, 636, 20, 62), "#5a3a4a")


def bunting(s: Scene, y: float, sag: float, size: float, row: int) -> None:
    """Swallow-tailed flags on a sagging string."""
    c = s.c
    reach = 600 * (1.04 - row * 0.19)
    n = int(reach * 2 / (58 * size))
    pts = [(600 - reach + k * 2 * reach / n, y + sag * math.sin(math.pi * k / n)) for k in range(n + 1)]
    c.line(pts, 2.2, "#2a1830", alpha=0.7)
    for k in range(n):
        x, py = (pts[k][0] + pts[k + 1][0]) / 2, (pts[k][1] + pts[k + 1][1]) / 2
        colour = BRIGHT[(k * 5 + row * 3) % 8] if s.generated else s.pick(BRIGHT)
        w, h, sway = 22 * size, 64 * size, s.j(7)
        flag = [(x - w, py), (x + w, py), (x + w + sway, py + h), (x + sway, py + h * 0.72), (x - w + sway, py + h)]
        c.poly(flag, Lin((lighter(colour, 0.22), colour, darker(colour, 0.18)), 20))
        c.poly([flag[1], flag[2], flag[3], (x, py)], darker(colour, 0.5), alpha=0.22)


def new_year(s: Scene) -> None:
    """Red lanterns along a street, a gate and fireworks."""
    c, vanish = s.c, (600 + s.j(30), 540.0)
    night(s, 660)
    for _ in range(4):
        firework(s, s.u(160, 1040), s.u(80, 270), s.u(80, 170))
    c.glow(vanish[0], 600, 420, "#ff9a4a", 0.6)
    c.blur(1.4)
    street(s, vanish, ("#8a3a30", "#a8503a", "#7a4038", "#9a6a4a"), arched=False)
    paving_lane(s, vanish)
    gate(s, vanish[0], 660)
    for _ in range(8):
        t = s.u(0.25, 1)
        walker(
            s,
            vanish[0] + s.u(-190, 190) * t,
            650 + t * 170,
            74 + t * 92,
            s.pick(("#b8302a", "#3f5a84", "#d8a04a", "#5a4a5a", "#e0d4c4", "#3f6a5a")),
            "#201614",
            long=s.rng.random() < 0.4,
        )
    for side in (-1, 1):
        for k in range(5):
            t = 0.8**k
            red_lantern(s, vanish[0] + side * (500 * t + 20) + s.j(8), 210 + (1 - t) * 290 + s.j(8), t * 1.05)
    for k in range(5 if not s.generated else 7):
        x = 600 + (k - (2 if not s.generated else 3)) * 130 + s.j(30)
        red_lantern(s, x, 92 + abs(k - 2) * 14 + s.j(20), 0.5 + s.j(0.1))


def gate(s: Scene, x: float, base: float) -> None:
    """A painted ceremonial gate at the end of the street."""
    c = s.c
    for dx in (-118, -48, 48, 118):
        c.rect(x + dx - 8, base - 190, x + dx + 8, base, Lin(("#e05a44", "#a8281e", "#5a1414"), 0))
        c.rect(x + dx - 12, base - 14, x + dx + 12, base, "#b8a890")
    for y, half in ((base - 196, 84), (base - 150, 150)):
        c.rect(x - half * 0.94, y, x + half * 0.94, y + 24, Lin(("#3f7fa8", "#1f4a7a")))
        for k in range(-5, 6):
            c.ellipse(x + k * half * 0.16, y + 12, 6, 6, "#f2c04a")
        eave(s, x, y - 18, half * 1.15, 40, "#3f6a5a")
    windows(s, (x - 30, base - 178, x + 30, base - 152), 1, 1, "#c8962e", "#7a1414")
