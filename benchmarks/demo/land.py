"""Things out of doors: skies, hills, water, palms, houses."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.demo.canvas import Canvas, Point, smooth
from benchmarks.demo.paint import Colour, Lin, darker, lighter, mix
from benchmarks.demo.scene import Scene


def sky(s: Scene, horizon: float, *, cloud: float = 0.75) -> float:
    """Sky, sun and clouds; returns where the sun stands."""
    c = s.c
    c.rect(0, 0, 1200, horizon + 4, Lin(s.sky))
    x = 600.0 if s.generated else s.u(180, 1020)
    y = {"dawn": 0.72, "day": 0.22, "golden": 0.74, "dusk": 0.9}[s.hour] * horizon
    c.glow(x, y, 620, s.sun, 0.75)
    c.clouds(20, horizon * 0.95, mix(s.sun, "#ffffff", 0.35), cloud, (460, 90), salt=3)
    c.clouds(horizon * 0.35, horizon, mix(s.sun, s.sky[-1], 0.4), cloud * 0.8, (620, 46), salt=9)
    c.glow(x, y, 240, s.sun, 0.9)
    c.ellipse(x, y, 44, 44, lighter(s.sun, 0.7), blur=2)
    if s.hour == "dusk":
        for _ in range(60):
            c.ellipse(s.u(0, 1200), s.u(0, horizon * 0.5), *((s.u(0.9, 2.2),) * 2), "#fff6dc", alpha=0.85)
    return x


def ridge(s: Scene, y: float, height: float, fill: Colour | Lin, *, step: float = 120, foot: float = 900) -> None:
    """A line of soft hills."""
    n = int(1200 / step) + 3
    pts = [((i - 1) * step, y - s.u(0, height)) for i in range(n)]
    s.c.poly([*smooth(pts, closed=False), (1300, foot), (-200, foot)], fill)


def water(s: Scene, y0: float, y1: float, colour: Colour, sun_x: float) -> None:
    """Still water below `y0`: tint, glints and the path of the sun."""
    c = s.c
    c.rect(0, y0, 1200, y1, Lin((s.far(colour, 0.55), s.tint(colour), darker(s.tint(colour), 0.3))))
    c.mirror(y0, min(y1 - y0, y0), 0.55, 5)
    for k in range(110):
        t = s.u(0, 1) ** 1.5
        y, w = y0 + 4 + (y1 - y0) * t, 20 + 90 * t * s.u(0.4, 1)
        near = k % 2 == 0
        x = sun_x + s.u(-60 - 160 * t, 60 + 160 * t) if near else s.u(0, 1200)
        c.ellipse(x, y, w, 1.2 + 2.6 * t, s.sun if near else darker(colour, 0.35), alpha=0.5 if near else 0.22)


def palm(s: Scene, x: float, base: float, height: float, tone: float = 0.0, green: Colour = "#3f7a3a") -> None:
    """A date palm; `tone` fades it into the haze."""
    c, lean = s.c, s.j(0.12)
    top: Point = (x + lean * height, base - height)
    bark, leafage = s.far("#6e4a2c", tone), s.far(green, tone)
    trunk = smooth([(x, base), (x + lean * height * 0.3, base - height * 0.5), top], closed=False)
    for k in range(len(trunk) - 1):
        c.line(
            [trunk[k], trunk[k + 1]],
            height * (0.075 - 0.03 * k / len(trunk)),
            Lin((lighter(bark, 0.25), bark, darker(bark, 0.4)), 0),
        )
    for k in range(13):
        frond(c, top, height * s.u(0.36, 0.48), 172 + k * 16.5 + s.j(8), darker(leafage, 0.25 if k % 2 else 0.0))
    for k in range(3):
        c.ellipse(
            top[0] + (k - 1) * height * 0.05,
            top[1] + height * 0.08,
            height * 0.024,
            height * 0.04,
            s.far("#a8602e", tone),
        )


def frond(c: Canvas, top: Point, length: float, turn: float, colour: Colour) -> None:
    """One drooping palm leaf."""
    a = math.radians(turn)
    dx, dy = math.cos(a), math.sin(a)
    droop = length * (0.5 + 0.25 * abs(dx))
    spine = [
        (top[0] + dx * length * t, top[1] + dy * length * t * 0.8 + droop * t * t) for t in (k / 10 for k in range(11))
    ]
    for k in range(10):
        (x0, y0), (x1, y1) = spine[k], spine[min(k + 1, 10)]
        w = length * 0.17 * math.sin(math.pi * (k + 1.5) / 12)
        c.poly([(x0, y0), (x1, y1), (x1 + dx * w * 0.7, y1 + w)], Lin((lighter(colour, 0.25), darker(colour, 0.2))))
        c.poly([(x0, y0), (x1, y1), (x1 + dx * w * 0.3, y1 - w * 0.45)], darker(colour, 0.1))


def bush(s: Scene, x: float, y: float, r: float, colour: Colour, count: int = 7) -> None:
    """A rounded clump of leaves."""
    s.c.shadow(x, y + r * 0.1, r * 1.2, r * 0.22, 0.4)
    for k in range(count):
        a = math.pi * (0.1 + 0.8 * k / max(1, count - 1))
        px, py = x - math.cos(a) * r * 0.75, y - math.sin(a) * r * 0.55 - r * 0.15 + s.j(r * 0.1)
        s.c.ellipse(
            px, py, r * 0.48, r * 0.42, Lin((lighter(colour, 0.3), colour, darker(colour, 0.4)), 65), tex=(9, 7, 0.35)
        )


def dome(
    s: Scene,
    x: float,
    base: float,
    r: float,
    colour: Colour,
    *,
    pointed: float = 1.1,
    finial: Colour | None = "#d8a83a",
) -> None:
    """A dome with a finial."""
    fill = Lin((darker(colour, 0.2), lighter(colour, 0.45), colour, darker(colour, 0.45)), 0)
    pts = [
        (x - r, base),
        (x - r * 1.03, base - r * 0.3),
        (x - r * 0.72, base - r * 0.82 * pointed),
        (x, base - r * 1.18 * pointed),
        (x + r * 0.72, base - r * 0.82 * pointed),
        (x + r * 1.03, base - r * 0.3),
        (x + r, base),
    ]
    s.c.poly(smooth(pts, closed=False), fill)
    for k in range(-2, 3):
        s.c.line(
            smooth(
                [(x + k * r * 0.36, base), (x + k * r * 0.37, base - r * 0.4), (x + k * r * 0.16, base - r * pointed)],
                closed=False,
            ),
            max(1.5, r * 0.02),
            darker(colour, 0.35),
            alpha=0.4,
        )
    if finial is not None:
        top = base - r * 1.12 * pointed
        s.c.line([(x, top), (x, top - r * 0.36)], max(2.0, r * 0.045), finial)
        s.c.ellipse(x, top - r * 0.12, r * 0.07, r * 0.06, finial)
        if s.culture == "egypt":
            crescent(s.c, x, top - r * 0.45, r * 0.12, finial)


def crescent(c: Canvas, x: float, y: float, r: float, colour: Colour) -> None:
    """A crescent open at the top right."""
    outer = [(x + r * math.cos(t), y + r * math.sin(t)) for t in (math.radians(-60 + k * 10) for k in range(31))]
    inner = [
        (x + r * 0.32 + r * 0.78 * math.cos(t), y - r * 0.18 + r * 0.78 * math.sin(t))
        for t in (math.radians(-78 + k * 10) for k in range(31))
    ]
    c.poly([*outer, *inner[::-1]], colour)


def arch(x: float, base: float, half: float, height: float, *, pointed: bool = False) -> list[Point]:
    """The outline of an arched opening."""
    spring = height - half * (1.25 if pointed else 1.0)
    curve: list[Point] = []
    for k in range(13):
        t = math.pi * k / 12
        rise = math.sin(t) * (1.25 - 0.25 * abs(math.cos(t)) if pointed else 1.0)
        curve.append((x - half * math.cos(t), base - spring - half * rise))
    return [(x - half, base), *curve, (x + half, base)]


def walker(
    s: Scene, x: float, base: float, h: float, robe: Colour, cover: Colour, *, long: bool = True, brim: bool = False
) -> None:
    """A person seen from behind, small in the scene."""
    c = s.c
    c.shadow(x + h * 0.08, base, h * 0.24, h * 0.05, 0.45)
    w = h * (0.19 if long else 0.15)
    skin = s.pick(("#8a5a3c", "#a8764e", "#6e4630", "#c49068"))
    if not long:
        for side in (-1, 1):
            c.line([(x + side * w * 0.4, base - h * 0.45), (x + side * w * 0.5, base)], h * 0.09, darker(robe, 0.55))
    foot = base if long else base - h * 0.32
    c.poly(
        smooth(
            [
                (x - w * 0.75, base - h * 0.76),
                (x, base - h * 0.83),
                (x + w * 0.75, base - h * 0.76),
                (x + w, base - h * 0.4),
                (x + w * 1.05, foot),
                (x - w * 1.05, foot),
                (x - w, base - h * 0.4),
            ],
            steps=5,
        ),
        Lin((lighter(robe, 0.3), robe, darker(robe, 0.4)), 10),
        bevel=3,
    )
    for side in (-1, 1):
        c.line(
            [(x + side * w * 0.72, base - h * 0.72), (x + side * w * 1.1, base - h * 0.42)],
            h * 0.075,
            Lin((robe, darker(robe, 0.3))),
        )
    c.rect(x - h * 0.035, base - h * 0.88, x + h * 0.035, base - h * 0.78, skin)
    back: Colour = "#2a1c18" if brim else cover
    c.ellipse(x, base - h * 0.91, h * 0.072, h * 0.09, Lin((lighter(back, 0.25), back, darker(back, 0.4)), 20))
    if brim:
        c.ellipse(x, base - h * 0.93, h * 0.15, h * 0.036, Lin((lighter(cover, 0.4), darker(cover, 0.3))))
        c.ellipse(x, base - h * 0.96, h * 0.075, h * 0.055, Lin((lighter(cover, 0.5), cover)))


def windows(
    s: Scene, box: Sequence[float], rows: int, cols: int, frame: Colour, pane: Colour, *, arched: bool = False
) -> None:
    """A grid of windows on the wall `box` = (x0, y0, x1, y1)."""
    x0, y0, x1, y1 = box
    w, h = (x1 - x0) / cols, (y1 - y0) / rows
    for r in range(rows):
        for k in range(cols):
            cx, base = x0 + w * (k + 0.5), y0 + h * (r + 0.85)
            outer = arch(cx, base, w * 0.3, h * 0.7) if arched else _box(cx, base, w * 0.3, h * 0.7)
            inner = arch(cx, base, w * 0.22, h * 0.62) if arched else _box(cx, base - h * 0.03, w * 0.22, h * 0.62)
            s.c.poly(outer, frame)
            s.c.poly(inner, Lin((darker(pane, 0.2), pane)))


def _box(cx: float, base: float, half: float, height: float) -> list[Point]:
    return [(cx - half, base), (cx - half, base - height), (cx + half, base - height), (cx + half, base)]
