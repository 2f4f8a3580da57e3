"""Lights of an evening: lanterns, fire and fireworks."""

from __future__ import annotations

import math

from benchmarks.demo.canvas import Point, smooth
from benchmarks.demo.paint import Lin, Rad, darker, lighter
from benchmarks.demo.scene import Scene
from benchmarks.demo.things import lathe


def fanous(s: Scene, x: float, y: float, z: float) -> None:
    """A Ramadan lantern of brass and coloured glass."""
    c = s.c
    hue = s.pick((("#e8453a", "#f2b62c"), ("#2f9ac4", "#f2d06a"), ("#3fae6a", "#f2b62c"), ("#8a5ac4", "#f29a5a")))
    brass = Lin(("#8a5e1c", "#ffe28a", "#d8a03a", "#7a4e14"), 0)
    c.line([(x, 0), (x, y - 118 * z)], 2.5, "#1a1020")
    c.glow(x, y, 250 * z, "#ffb850", 0.95)
    lathe(c, x, y - 66 * z, ((0, 62 * z), (12 * z, 52 * z), (38 * z, 30 * z), (54 * z, 8 * z)), brass, squash=0.16)
    ringed = [
        (x + 13 * z * math.cos(a), y - 128 * z + 13 * z * math.sin(a))
        for a in (2 * math.pi * k / 24 for k in range(25))
    ]
    c.line(ringed, 4 * z, "#e0b04a")
    for k in range(5):
        a, b = -1 + k * 0.4, -1 + (k + 1) * 0.4
        pane = [
            (x + a * 58 * z, y - 62 * z),
            (x + b * 58 * z, y - 62 * z),
            (x + b * 40 * z, y + 66 * z),
            (x + a * 40 * z, y + 66 * z),
        ]
        c.poly(
            pane,
            Rad((lighter("#ffe9a0", 0.5), hue[1] if k == 2 else hue[k % 2], darker(hue[k % 2], 0.2)), 0.5, 0.6, 0.85),
        )
        for edge in (a, b):
            c.line([(x + edge * 58 * z, y - 62 * z), (x + edge * 40 * z, y + 66 * z)], 3.4 * z, "#7a5218")
    star: list[Point] = []
    for k in range(16):
        r = (15 if k % 2 else 25) * z
        star.append((x + r * math.cos(math.pi * k / 8), y + r * math.sin(math.pi * k / 8)))
    c.poly(star, "#fff2c0", alpha=0.75)
    lathe(c, x, y + 82 * z, ((0, 54 * z), (10 * z, 48 * z), (18 * z, 40 * z)), brass, squash=0.16)
    lathe(c, x, y - 60 * z, ((0, 60 * z), (8 * z, 64 * z)), brass, squash=0.16, curved=False)
    c.glow(x, y + 12 * z, 76 * z, "#fff0b8", 0.8)


def paper_balloon(s: Scene, x: float, y: float, z: float) -> None:
    """A glowing paper lantern."""
    c, hue = s.c, s.pick(("#ffb03a", "#ff8a3a", "#ffd05a"))
    c.glow(x, y, 210 * z, "#ffb050", 0.8)
    lathe(
        c,
        x,
        y + 62 * z,
        ((0, 20 * z), (40 * z, 38 * z), (92 * z, 46 * z), (124 * z, 16 * z)),
        Rad(("#fff6cc", lighter(hue, 0.2), darker(hue, 0.3)), 0.5, 0.6, 0.7),
    )
    for k in (-1, 0, 1):
        c.line(
            smooth(
                [(x + k * 9 * z, y + 60 * z), (x + k * 30 * z, y - 10 * z), (x + k * 7 * z, y - 60 * z)], closed=False
            ),
            2,
            darker(hue, 0.45),
            alpha=0.6,
        )
    c.rect(x - 20 * z, y + 58 * z, x + 20 * z, y + 68 * z, "#7a3a1a")


def red_lantern(s: Scene, x: float, y: float, z: float) -> None:
    """A round red lantern with gold caps and a tassel."""
    c = s.c
    c.line([(x, y - 130 * z), (x, y - 60 * z)], 2.2, "#1a1014")
    c.glow(x, y, 170 * z, "#ff5a2a", 0.85)
    c.ellipse(x, y, 72 * z, 56 * z, Rad(("#ffd88a", "#ff6a3a", "#d8241e", "#8a1216"), 0.46, 0.55, 0.66))
    for k in (-2, -1, 0, 1, 2):
        c.line(
            smooth([(x + k * 9 * z, y - 55 * z), (x + k * 31 * z, y), (x + k * 9 * z, y + 55 * z)], closed=False),
            2.2 * z,
            "#7a1014",
            alpha=0.55,
        )
    for side in (-1, 1):
        c.rect(
            x - 30 * z,
            y + side * 56 * z - 8 * z,
            x + 30 * z,
            y + side * 56 * z + 8 * z,
            Lin(("#8a641e", "#ffe28a", "#c8962e", "#7a5218"), 0),
            r=4 * z,
        )
    for k in range(-3, 4):
        c.line(
            [(x + k * 4 * z, y + 64 * z), (x + k * 6 * z + s.j(3), y + 118 * z)],
            3 * z,
            "#f2b83a" if k % 2 else "#d8342a",
        )


def firework(s: Scene, x: float, y: float, r: float) -> None:
    """A burst of sparks."""
    hue = s.pick(("#ffd060", "#ff6a8a", "#7ad8ff", "#b8ff9a", "#ffa04a"))
    s.c.glow(x, y, r * 1.5, hue, 0.6)
    for k in range(26):
        a = 2 * math.pi * k / 26
        for t in (0.35, 0.6, 0.8, 1.0):
            px, py = x + math.cos(a) * r * t, y + math.sin(a) * r * t + 22 * t * t
            s.c.ellipse(
                px,
                py,
                4.4 * (1.15 - t * 0.5),
                4.4 * (1.15 - t * 0.5),
                lighter(hue, 0.55 * (1 - t)),
                alpha=1.1 - t * 0.55 if t > 0.2 else 1,
            )


def bonfire(s: Scene, x: float, y: float) -> None:
    """A small log fire."""
    c = s.c
    c.glow(x, y - 40, 330, "#ff9a3a", 0.8)
    c.shadow(x, y + 6, 90, 16, 0.5)
    for turn in (-1, 0, 1):
        c.line(
            [(x - 60 + turn * 12, y + 4 - abs(turn) * 8), (x + 60 + turn * 12, y - 6 + turn * 9)],
            19,
            Lin(("#8a5a36", "#3a2014")),
            bevel=4,
        )
    for w, h, colour in ((56, 150, "#e8552a"), (40, 112, "#f79a2e"), (24, 72, "#ffe28a")):
        flame = [
            (x - w, y - 6),
            (x - w * 0.8, y - h * 0.4),
            (x - w * 0.2 + s.j(8), y - h * 0.66),
            (x + s.j(14), y - h),
            (x + w * 0.4, y - h * 0.55),
            (x + w, y - 10),
        ]
        c.poly(smooth(flame), colour, alpha=0.92, blur=2.5)
    for _ in range(26):
        c.ellipse(x + s.u(-90, 90), y - s.u(90, 330), 2.2, 2.2, "#ffd27a", alpha=s.u(0.4, 1))
