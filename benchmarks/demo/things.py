"""Things on a table: turned vessels, plates, leaves, steam."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.demo.canvas import Canvas, Point, ring, smooth
from benchmarks.demo.paint import Colour, Fill, Lin, Rad, darker, lighter, mix
from benchmarks.demo.scene import Scene

Profile = Sequence[tuple[float, float]]


def round_fill(colour: Colour, shine: float = 0.5) -> Lin:
    """The shading of something turned on a lathe, lit from the left."""
    return Lin((darker(colour, 0.35), lighter(colour, shine), colour, darker(colour, 0.25), darker(colour, 0.52)), 0)


def lathe(
    c: Canvas,
    x: float,
    base: float,
    profile: Profile,
    fill: Fill,
    *,
    squash: float = 0.24,
    bevel: float = 0.0,
    alpha: float = 1.0,
    curved: bool = True,
) -> None:
    """A solid of revolution standing at (x, base); the profile gives (height, radius) from the foot up."""
    right = [(x + r, base - h) for h, r in profile]
    side = smooth(right, closed=False, steps=6) if curved and len(right) > 2 else right
    foot = profile[0][1]
    arc = [
        (x + foot * math.cos(a), base + foot * squash * math.sin(a))
        for a in (math.pi * k / 12 for k in range(11, 0, -1))
    ]
    left = [(2 * x - px, py) for px, py in side]
    c.poly([*side[::-1], *arc[::-1], *left] if foot > 2 else [*side[::-1], *left], fill, bevel=bevel, alpha=alpha)


def opening(c: Canvas, x: float, y: float, rx: float, ry: float, rim: Colour, inside: Fill, lip: float = 0.1) -> None:
    """The mouth of a vessel: a rim and what is in it."""
    c.ellipse(x, y, rx, ry, Lin((lighter(rim, 0.6), rim, darker(rim, 0.15)), 20))
    c.ellipse(x, y + ry * 0.05, rx * (1 - lip), ry * (1 - lip * 1.3), inside)


def bowl(s: Scene, x: float, base: float, r: float, colour: Colour, inside: Fill, depth: float = 0.62) -> float:
    """A bowl; returns the height of its rim."""
    c, h = s.c, r * depth
    c.shadow(x + r * 0.12, base + 2, r * 1.0, r * 0.22, 0.5)
    lathe(
        c, x, base, ((0, r * 0.42), (h * 0.1, r * 0.46), (h * 0.45, r * 0.84), (h, r)), round_fill(colour), squash=0.2
    )
    opening(c, x, base - h, r, r * 0.3, colour, inside)
    return base - h


def cup(s: Scene, x: float, base: float, r: float, colour: Colour, drink: Colour, *, handle: bool = True) -> None:
    """A small cup; with a handle on the right if asked."""
    c, h = s.c, r * 1.25
    c.shadow(x + r * 0.2, base, r * 1.1, r * 0.26, 0.45)
    if handle:
        c.line(
            smooth(
                [
                    (x + r * 0.8, base - h * 0.85),
                    (x + r * 1.45, base - h * 0.75),
                    (x + r * 1.3, base - h * 0.35),
                    (x + r * 0.7, base - h * 0.2),
                ],
                closed=False,
            ),
            r * 0.17,
            Lin((lighter(colour), darker(colour))),
            bevel=3,
        )
    lathe(
        c, x, base, ((0, r * 0.6), (h * 0.25, r * 0.78), (h * 0.65, r * 0.95), (h, r)), round_fill(colour), squash=0.22
    )
    opening(c, x, base - h, r, r * 0.27, colour, darker(colour, 0.2))
    c.ellipse(x, base - h + r * 0.07, r * 0.84, r * 0.2, Lin((darker(drink, 0.2), drink, lighter(drink, 0.25))))


def plate(
    s: Scene, x: float, y: float, rx: float, colour: Colour, *, rim: Colour | None = None, tilt: float = 0.36
) -> None:
    """A plate seen from the side of the table."""
    c, ry = s.c, rx * tilt
    c.shadow(x + rx * 0.04, y + ry * 0.28, rx * 1.05, ry * 0.95, 0.55)
    c.ellipse(x, y + rx * 0.035, rx, ry, darker(colour, 0.38))
    c.ellipse(x, y, rx, ry, Lin((lighter(colour, 0.45), colour, darker(colour, 0.14)), 60), bevel=rx * 0.03)
    if rim is not None:
        c.ellipse(x, y, rx * 0.93, ry * 0.92, rim)
        c.ellipse(x, y, rx * 0.89, ry * 0.87, Lin((lighter(colour, 0.35), colour), 60))
    c.ellipse(
        x,
        y + ry * 0.03,
        rx * 0.7,
        ry * 0.66,
        Lin((darker(colour, 0.16), colour, lighter(colour, 0.5)), 75),
        bevel=rx * 0.02,
    )


def tray(s: Scene, x: float, y: float, rx: float, metal: Colour, tilt: float = 0.3) -> None:
    """An engraved metal tray."""
    c, ry = s.c, rx * tilt
    c.shadow(x, y + ry * 0.3, rx * 1.06, ry * 1.05, 0.6)
    c.ellipse(x, y + rx * 0.045, rx, ry, Lin((darker(metal, 0.3), darker(metal, 0.55)), 90))
    c.ellipse(x, y, rx, ry, Lin((lighter(metal, 0.6), metal, darker(metal, 0.25), lighter(metal, 0.2)), 25), bevel=10)
    for part in (0.92, 0.74, 0.7, 0.38):
        outline = ring(x, y, rx * part, ry * part)
        c.line([*outline, outline[0]], 2.2, darker(metal, 0.4), alpha=0.7)
    for k in range(44):
        a = 2 * math.pi * k / 44
        c.ellipse(x + rx * 0.83 * math.cos(a), y + ry * 0.83 * math.sin(a), 11, 5, darker(metal, 0.42), alpha=0.75)


def leaf(c: Canvas, x: float, y: float, length: float, turn: float, colour: Colour, width: float = 0.36) -> None:
    """A leaf from its stalk at (x, y), pointing along `turn` degrees."""
    a = math.radians(turn)
    dx, dy = math.cos(a), math.sin(a)

    def at(t: float, w: float) -> Point:
        return x + dx * length * t - dy * length * w, y + dy * length * t + dx * length * w

    half = width / 2
    c.poly(
        [at(0, 0), at(0.3, half), at(0.65, half * 0.8), at(1, 0), at(0.65, -half * 0.8), at(0.3, -half)],
        Lin((lighter(colour, 0.22), colour, darker(colour, 0.25)), turn),
        bevel=2,
    )
    c.poly([at(0, 0), at(0.3, half), at(0.65, half * 0.8), at(1, 0)], darker(colour, 0.4), alpha=0.35)


def steam(s: Scene, x: float, y: float, height: float, strength: float = 0.3) -> None:
    """Two wisps of steam."""
    for side in (-1, 1):
        points = []
        for k in range(7):
            t = k / 6
            points.append((x + side * 14 + math.sin(t * 5 + side + s.j(0.6)) * 20 * (0.3 + t), y - height * t))
        s.c.line(smooth(points, closed=False), 15, "#fffaf0", alpha=strength, blur=8)


def heap(
    s: Scene, x: float, y: float, rows: Sequence[int], r: float, colours: Sequence[Colour], squash: float = 0.9
) -> None:
    """A heap of round things, the lowest row first."""
    for level, count in enumerate(rows):
        for k in range(count):
            px = x + (k - (count - 1) / 2) * r * 1.72 + s.j(r * 0.14)
            py = y - level * r * 1.28 + s.j(r * 0.08)
            ball(s, px, py, r * (1 + s.j(0.06)), s.pick(colours), squash)


def ball(s: Scene, x: float, y: float, r: float, colour: Colour, squash: float = 1.0) -> None:
    """Something round, lit from the upper left."""
    s.c.shadow(x + r * 0.1, y + r * squash * 0.7, r * 1.02, r * 0.35, 0.35)
    shine = 0.65 if s.generated else 0.4
    stops = (lighter(colour, shine), mix(colour, lighter(colour, shine), 0.25), colour, darker(colour, 0.5))
    s.c.ellipse(x, y, r, r * squash, Rad(stops, 0.34, 0.28, 0.86))


def table(s: Scene, y: float, colour: Colour, *, cloth: bool = False) -> None:
    """A table top from height `y` down."""
    c = s.c
    tex = (5.0, 3.0, 0.07) if cloth else (340.0, 7.0, 0.42)
    c.rect(0, y, 1200, 900, Lin((lighter(colour, 0.2), colour, darker(colour, 0.4))), tex=tex)
    c.rect(0, y - 3, 1200, y + 5, lighter(colour, 0.4), alpha=0.5)
    if not cloth:
        for k in range(1, 5):
            py = y + (900 - y) * (k / 5) ** 1.5
            c.rect(0, py, 1200, py + 2.5 + k * 0.4, darker(colour, 0.6), alpha=0.6)
    c.glow(380 + s.j(160), y + 60, 520, s.sun, 0.28)
