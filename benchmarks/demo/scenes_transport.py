"""Transport: feluccas on the Nile, the hill tram, a fast train before karst mountains."""

from __future__ import annotations

from benchmarks.demo.canvas import smooth
from benchmarks.demo.land import arch, bush, palm, ridge, sky, walker, water, windows
from benchmarks.demo.paint import Colour, Lin, darker, lighter, mix
from benchmarks.demo.scene import Scene


def transport(s: Scene) -> None:
    """How people get about."""
    {"egypt": feluccas, "brazil": hill_tram, "china": fast_train}[s.culture](s)


def feluccas(s: Scene) -> None:
    """White sails on the river, palms on the far bank."""
    c, horizon = s.c, 500 + s.j(30)
    sun_x = sky(s, horizon)
    ridge(s, horizon - 40, 90, Lin((s.far("#c89a6a", 0.55), s.far("#a87a52", 0.35))), step=190, foot=horizon)
    ridge(s, horizon - 14, 26, s.far("#6f8a4a", 0.3), step=70, foot=horizon)
    for k in range(13):
        palm(s, 40 + k * 92 + s.j(40), horizon + 2, s.u(90, 160), s.u(0.2, 0.45))
    c.blur(1.6)
    if s.generated:
        c.symmetrise()
    water(s, horizon, 900, s.pick(("#2f6f8a", "#3f7f86", "#2a5a80")), sun_x)
    for k in range(3):
        felucca(s, (210, 640, 990)[k] + s.j(70), horizon + 34 + k % 2 * 8, 0.26 + s.u(0, 0.1), s.far("#f6efe0", 0.25))
    felucca(s, 600 + s.j(170), 730 + s.j(25), 1.0, s.pick(("#fbf3e2", "#f4e6cc", "#f0d8b0")))
    for k in range(16):
        x = (k * 23 + s.j(9)) if k < 8 else 1200 - (k - 8) * 23 + s.j(9)
        s.c.line(
            smooth([(x, 910), (x + s.j(14), 850), (x + s.u(-40, 40), s.u(730, 800))], closed=False),
            7,
            Lin((s.tint("#8fae5a"), s.tint("#2c4a2c"))),
            bevel=2,
        )


def felucca(s: Scene, x: float, y: float, z: float, sail: Colour) -> None:
    """A boat with a tall lateen sail, and its reflection."""
    c = s.c
    hull = s.tint(s.pick(("#2f5f8a", "#7a3a2a", "#f0ead8", "#2f7a6a")))
    c.shadow(x, y + 6 * z, 230 * z, 20 * z, 0.5, "#0a1a24")
    c.poly(
        [(x - 90 * z, y + 20 * z), (x + 120 * z, y + 20 * z), (x + 40 * z, y + 190 * z)], sail, alpha=0.28, blur=6 * z
    )
    mast = (x - 30 * z, y - 330 * z)
    c.line([(x - 30 * z, y - 20 * z), mast], 9 * z, "#5a3a22")
    cloth = [
        (x - 170 * z, y - 60 * z),
        (x - 60 * z, y - 270 * z),
        (x + 90 * z, y - 540 * z),
        (x + 150 * z, y - 300 * z),
        (x + 172 * z, y - 66 * z),
        (x, y - 44 * z),
    ]
    c.poly(smooth(cloth, steps=6), Lin((lighter(sail, 0.5), sail, darker(s.tint(sail), 0.24)), 15), bevel=14 * z)
    for k in range(1, 6):
        t = k / 6
        seam = [
            (x + (-170 + 260 * t) * z, y + (-60 - 480 * t) * z + 12 * z),
            (x + (20 + 100 * t) * z, y + (-150 - 200 * t) * z),
            (x + (172 - 30 * t) * z, y - (66 + 220 * t) * z),
        ]
        c.line(smooth(seam, closed=False), 2.2 * z, darker(sail, 0.35), alpha=0.5)
    c.line([(x - 185 * z, y - 44 * z), (x + 94 * z, y - 552 * z)], 8 * z, "#6e4628")
    body = [
        (x - 225 * z, y - 42 * z),
        (x - 180 * z, y - 4 * z),
        (x - 120 * z, y + 16 * z),
        (x + 130 * z, y + 16 * z),
        (x + 205 * z, y - 8 * z),
        (x + 250 * z, y - 54 * z),
    ]
    c.poly(
        [*smooth(body, closed=False), (x + 150 * z, y - 30 * z), (x - 120 * z, y - 26 * z)],
        Lin((lighter(hull, 0.25), hull, darker(hull, 0.5))),
        bevel=7 * z,
    )
    c.line(
        [(x - 225 * z, y - 42 * z), (x - 120 * z, y - 27 * z), (x + 150 * z, y - 31 * z), (x + 250 * z, y - 54 * z)],
        6 * z,
        "#f0e4c8",
    )
    for k in range(2):
        walker(s, x + (-130 + 60 * k) * z, y - 12 * z, 96 * z, ("#e8e4da", "#5a7a9a")[k], "#f4efe4")


def hill_tram(s: Scene) -> None:
    """A yellow tram on a white aqueduct above the town."""
    c, horizon = s.c, 560.0
    sky(s, horizon)
    ridge(s, 430, 60, s.far("#4f7a6a", 0.55), step=150)
    hill = [
        (-60, 520),
        (120, 470),
        (250, 330),
        (330, 210),
        (400, 250),
        (470, 420),
        (620, 480),
        (800, 430),
        (960, 470),
        (1260, 420),
    ]
    if not s.generated and s.rng.random() < 0.5:
        hill = [(1200 - x, y) for x, y in reversed(hill)]
    c.poly(
        [*smooth(hill, closed=False), (1260, 700), (-60, 700)],
        Lin((s.far("#5a8a6a", 0.5), s.far("#3f6f56", 0.3))),
        tex=(26, 20, 0.16),
    )
    houses(s, 520)
    c.blur(2.2)
    if s.generated:
        c.symmetrise()
    aqueduct(s)
    tram(s, 600 + s.j(150), 534)
    for k in range(9):
        x = k * 150 + s.j(50)
        bush(s, x, 880 + s.j(20), 88 + s.j(20), s.tint(s.pick(("#2f6f3e", "#4a8a42", "#1f5a40"))), 9)
    for side in (70 + s.j(40), 1130 + s.j(40)):
        palm(s, side, 900, 430 + s.j(60), 0.05, "#3f8a46")


def houses(s: Scene, base: float) -> None:
    """Bright houses climbing the slope."""
    for row in range(3):
        for k in range(15):
            x, w = k * 86 - 20 + s.j(20), s.u(60, 92)
            y, h = base + row * 52 + s.j(12), s.u(56, 104)
            wall = s.far(s.pick(("#e8c46a", "#d9745a", "#7fb0c4", "#f0e6d2", "#c88ab0", "#8fbf9a")), 0.28 - row * 0.09)
            s.c.rect(x, y - h, x + w, y + 60, Lin((lighter(wall, 0.2), wall, darker(wall, 0.25)), 20))
            windows(s, (x, y - h, x + w, y + 20), 2, 2, lighter(wall, 0.6), s.pick(("#2a3a4a", "#f6cf7a", "#3a4a5a")))
            s.c.poly(
                [(x - 8, y - h), (x + w / 2, y - h - 24), (x + w + 8, y - h)],
                s.far("#a8502e", 0.25 - row * 0.08),
                tex=(6, 20, 0.3),
            )


def aqueduct(s: Scene) -> None:
    """Two tiers of white arches carrying the rails."""
    c = s.c
    stone = s.tint("#f4efe4")
    c.rect(0, 540, 1200, 900, Lin((lighter(stone, 0.3), stone, darker(stone, 0.25))), tex=(70, 46, 0.12))
    dark: Colour = s.far("#3a5a4a", 0.15)
    for k in range(-1, 9):
        x = k * 160 + 80
        c.poly(arch(x, 698, 54, 112), Lin((darker(stone, 0.42), darker(stone, 0.22)), 0))
        c.poly(arch(x + 9, 698, 49, 104), Lin((mix(s.sky[2], dark, 0.3), dark)))
        c.poly(arch(x, 920, 58, 182), Lin((darker(stone, 0.45), darker(stone, 0.22)), 0))
        c.poly(arch(x + 9, 920, 52, 174), Lin((dark, darker(dark, 0.3))))
    for y in (540, 706):
        c.rect(0, y, 1200, y + 15, Lin((lighter(stone, 0.6), darker(stone, 0.18))))
        c.rect(0, y + 15, 1200, y + 24, darker(stone, 0.6), alpha=0.35, blur=3)


def tram(s: Scene, x: float, base: float) -> None:
    """An open-sided yellow tram."""
    c = s.c
    paint = s.tint(s.pick(("#f2b824", "#f0c03a", "#eba51e")))
    c.shadow(x + 10, base + 4, 280, 14, 0.6)
    for side in (-150, 150):
        for dx in (-36, 36):
            c.ellipse(x + side + dx, base - 10, 21, 21, Lin(("#5a5a62", "#1c1a20")), bevel=3)
    c.rect(x - 240, base - 210, x + 240, base - 90, Lin(("#3a2a20", "#5a3a24")))
    for k in range(7):
        px = x - 206 + k * 68.5
        c.rect(px - 20, base - 150, px + 20, base - 84, Lin(("#a8703e", "#6a4022")), r=6, bevel=3)
        if k % 2 == 0 or s.rng.random() < 0.4:
            walker(
                s,
                px,
                base - 70,
                128,
                s.pick(("#e8e4da", "#d9542e", "#3f7fa8", "#5a9a5e", "#c84a7a")),
                "#2a1c18",
                long=False,
            )
    c.rect(x - 260, base - 92, x + 260, base - 26, Lin((lighter(paint, 0.4), paint, darker(paint, 0.35))), r=8, bevel=6)
    c.rect(x - 250, base - 66, x + 250, base - 60, "#2f5fa0")
    for k in range(8):
        px = x - 240 + k * 68.5
        c.rect(px - 5, base - 212, px + 5, base - 86, Lin((lighter(paint, 0.3), darker(paint, 0.3)), 0))
    c.rect(x - 282, base - 238, x + 282, base - 208, Lin((lighter(paint, 0.55), darker(paint, 0.2))), r=15, bevel=5)
    c.rect(x - 200, base - 254, x + 200, base - 236, Lin(("#f4efe4", "#b8b0a0")), r=9)
    for side in (-1, 1):
        c.glow(x + side * 262, base - 60, 60, "#fff0b0", 0.9)
        c.ellipse(x + side * 262, base - 60, 12, 12, "#fffbe8")
    c.line([(x + 30, base - 250), (x - 50, base - 350)], 5, "#2a2622")
    c.line([(-10, base - 352), (1210, base - 346)], 2.5, "#2a2622", alpha=0.7)


def fast_train(s: Scene) -> None:
    """A white train crossing a viaduct between karst peaks and rice fields."""
    c, horizon = s.c, 470.0
    sun_x = sky(s, horizon + 90)
    for layer in range(3):
        karst(s, 470 + layer * 50, 330 - layer * 50, s.far("#3f6a5a", 0.72 - layer * 0.2), 6 + layer)
        c.clouds(
            380 + layer * 40, 620 + layer * 20, mix(s.sky[-1], "#ffffff", 0.3), 0.85, (500, 90), salt=layer * 5 + 20
        )
    c.blur(1.6)
    if s.generated:
        c.symmetrise()
    water(s, 690, 900, "#3f7f7a", sun_x)
    viaduct(s, 600)
    train(s, 598)
    for k in range(12):
        bush(s, k * 110 + s.j(40), 905 + s.j(12), 70 + s.j(20), s.tint(s.pick(("#3f7a46", "#2f6a4a", "#6a9a4a"))))


def karst(s: Scene, base: float, height: float, colour: Colour, count: int) -> None:
    """Steep rounded peaks."""
    for k in range(count):
        x, w, h = 1200 * (k + 0.5) / count + s.u(-70, 70), s.u(80, 150), height * s.u(0.5, 1.0)
        pts = [
            (x - w, base + 60),
            (x - w * 0.72, base - h * 0.45),
            (x - w * 0.4, base - h * 0.85),
            (x + w * s.u(-0.1, 0.15), base - h),
            (x + w * 0.45, base - h * 0.75),
            (x + w * 0.7, base - h * 0.35),
            (x + w, base + 60),
        ]
        s.c.poly(
            smooth(pts, closed=False),
            Lin((lighter(colour, 0.12), colour, mix(colour, s.sky[-1], 0.45))),
            tex=(16, 40, 0.14),
            bevel=12,
        )
    s.c.rect(0, base + 40, 1200, 720, Lin((mix(colour, s.sky[-1], 0.4), colour)))


def viaduct(s: Scene, y: float) -> None:
    """Concrete piers and a deck."""
    c, stone = s.c, s.tint("#d8d4cc")
    for k in range(5):
        x = 120 + k * 240
        c.poly(
            [(x - 30, y + 30), (x + 30, y + 30), (x + 22, 880), (x - 22, 880)],
            Lin((lighter(stone, 0.3), stone, darker(stone, 0.45)), 0),
            tex=(30, 60, 0.1),
        )
        c.poly(
            [(x - 66, y + 26), (x + 66, y + 26), (x + 28, y + 72), (x - 28, y + 72)], Lin((stone, darker(stone, 0.35)))
        )
        c.shadow(x, 880, 60, 12, 0.5, "#0a1a24")
    c.rect(-10, y, 1210, y + 32, Lin((lighter(stone, 0.4), stone, darker(stone, 0.4))))
    for k in range(21):
        c.rect(k * 60 - 1, y - 14, k * 60 + 2, y + 4, darker(stone, 0.4))


def train(s: Scene, base: float) -> None:
    """A fast train with a long nose, its cars running out of the picture."""
    c = s.c
    stripe = s.pick(("#c23a34", "#2f6fb0", "#3a9a7a"))
    nose = 1010 + s.j(90)
    top = base - 104
    body = [
        (nose, base - 26),
        (nose - 40, base - 58),
        (nose - 130, base - 96),
        (nose - 220, top),
        (-20, top),
        (-20, base - 4),
        (nose - 30, base - 4),
    ]
    c.poly([*smooth(body[:4], closed=False), *body[4:]], Lin(("#ffffff", "#eef2f4", "#c4ccd2", "#8a929c")), bevel=8)
    c.poly(
        [(nose - 8, base - 32), (nose - 200, base - 40), (-20, base - 40), (-20, base - 26), (nose - 2, base - 24)],
        stripe,
    )
    c.poly(
        smooth([(nose - 96, base - 78), (nose - 150, base - 94), (nose - 196, base - 98), (nose - 186, base - 76)]),
        Lin(("#6a8aa0", "#1a2430")),
        bevel=3,
    )
    for k in range(40):
        x = nose - 250 - k * 33
        if k % 9 == 8:
            c.rect(x - 2, top, x + 3, base - 4, "#7a828c")
        else:
            c.rect(
                x - 11,
                base - 86,
                x + 11,
                base - 58,
                Lin(("#f6d890" if s.hour == "dusk" else "#7fa0b4", "#22303e")),
                r=5,
            )
    c.glow(nose - 12, base - 40, 80, "#fffbe0", 0.9)
    c.rect(-20, base - 6, nose - 40, base + 4, "#23262e", alpha=0.7)
    for k in range(6):
        c.line(
            [(nose - 300 - k * 90, top - 12 - k * 4), (nose - 620 - k * 120, top - 12 - k * 4)],
            3,
            "#ffffff",
            alpha=0.3,
            blur=3,
        )
    wires(s, base)


def wires(s: Scene, base: float) -> None:
    """Masts and the wire above the rails."""
    c = s.c
    c.line([(-10, base - 190), (1210, base - 190)], 2, "#2a3038", alpha=0.6)
    for k in range(5):
        x = 230 + k * 240
        c.line([(x, base), (x, base - 205), (x - 50, base - 190)], 4, "#4a525c")
