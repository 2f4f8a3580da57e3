"""Dessert: basbousa with almonds, brigadeiros in paper cups, mooncakes with tea."""

from __future__ import annotations

import math

from benchmarks.demo.backdrops import room
from benchmarks.demo.canvas import smooth
from benchmarks.demo.paint import Colour, Lin, Rad, darker, lighter
from benchmarks.demo.scene import Scene
from benchmarks.demo.scenes_drinks import clay_pot, glass
from benchmarks.demo.scenes_meals import side_of
from benchmarks.demo.things import bowl, cup, lathe, leaf, plate, round_fill, steam, table, tray


def dessert(s: Scene) -> None:
    """Something sweet on the table."""
    horizon = 400 + s.j(20)
    room(s, horizon)
    table(s, horizon, s.tint({"egypt": "#6a3a22", "brazil": "#b8845a", "china": "#5a2a20"}[s.culture]))
    {"egypt": syrup_cake, "brazil": brigadeiros, "china": mooncakes}[s.culture](s)


def syrup_cake(s: Scene) -> None:
    """Diamonds of semolina cake on a tray, pistachios, a glass of tea."""
    c, side = s.c, side_of(s)
    glass(s, 600 + side * (390 + s.j(20)), 560, 62, "#a8400e")
    rim = bowl(s, 600 - side * (400 + s.j(16)), 560, 100, s.pick(("#2f6f8a", "#b8622e", "#e8dcc4")), "#3a5a24", 0.55)
    for _ in range(50):
        a, t = s.u(0, 2 * math.pi), math.sqrt(s.u(0, 1))
        hue = s.pick(("#8aa84a", "#a8c060", "#6a8a3a", "#c8a878"))
        c.ellipse(
            600 - side * 400 + 84 * t * math.cos(a),
            rim - 6 + 20 * t * math.sin(a) - (1 - t) * 12,
            12,
            8,
            Lin((lighter(hue, 0.4), hue, darker(hue, 0.4))),
            rot=s.u(0, 180),
        )
    tray(s, 600, 716, 480, s.pick(("#c9962e", "#b8bcc0", "#c87a3a")), 0.32)
    cake = s.pick(("#dba040", "#e0ac52", "#cf9236"))
    for row in range(-3, 4):
        count = 7 - abs(row)
        for k in range(count):
            slice_of_cake(s, 600 + (k - (count - 1) / 2) * 124 + s.j(4), 700 + row * 33 + s.j(2), cake)
    for _ in range(30):
        hue = s.pick(("#7aa042", "#94b858"))
        c.ellipse(s.u(240, 960), 830 + s.u(-20, 20), 6, 4, Lin((lighter(hue), darker(hue))), rot=s.u(0, 180))


def slice_of_cake(s: Scene, x: float, y: float, cake: Colour) -> None:
    """One diamond, glossy with syrup, with an almond."""
    c, w, h, deep = s.c, 58.0, 30.0, 26.0
    c.poly([(x - w, y + 8), (x, y + h + deep + 8), (x + w + 8, y + 10), (x, y - h)], "#1c0e08", alpha=0.28, blur=5)
    c.poly(
        [(x - w, y), (x, y + h), (x, y + h + deep), (x - w, y + deep)],
        Lin((lighter(cake, 0.2), darker(cake, 0.3))),
        tex=(5, 4, 0.25),
    )
    c.poly(
        [(x + w, y), (x, y + h), (x, y + h + deep), (x + w, y + deep)],
        Lin((darker(cake, 0.22), darker(cake, 0.5))),
        tex=(5, 4, 0.25),
    )
    crust = darker(cake, 0.22)
    c.poly(
        [(x - w, y), (x, y - h), (x + w, y), (x, y + h)],
        Lin((lighter(cake, 0.4), cake, crust), 30),
        tex=(7, 5, 0.2),
        bevel=4,
    )
    c.ellipse(x - 18, y - 7, 19, 5, "#fff6dc", rot=-24, alpha=0.6, blur=2)
    c.ellipse(x + 2, y + 1, 16, 7.5, Lin(("#fff6e2", "#e8cfa0", "#a87a42")), rot=-12, bevel=2)


def brigadeiros(s: Scene) -> None:
    """Chocolate truffles in bright paper cups, a cake stand behind, coffee."""
    c, side = s.c, side_of(s)
    cake_stand(s, 600 + side * (250 + s.j(16)), 600)
    cup(s, 600 - side * (330 + s.j(16)), 600, 74, s.pick(("#f6f0e2", "#d8643e", "#3f8a9a")), "#4a2410")
    steam(s, 600 - side * 330, 490, 150, 0.3)
    plate(
        s,
        600,
        735,
        470,
        s.pick(("#f8f2e6", "#f0d4c8", "#cfe4e0")),
        rim=s.pick(("#d8647a", "#e0a83a", "#5aa89a")),
        tilt=0.3,
    )
    papers = s.pick((("#e85a7a", "#f2c84a", "#5ab0c8", "#8ac46a"), ("#f08a3a", "#e8485a", "#f6d86a", "#c86ab0")))
    for row, (count, y) in enumerate(((4, 660), (5, 712), (6, 772))):
        for k in range(count):
            size = 54 + row * 6
            truffle(s, 600 + (k - (count - 1) / 2) * (size * 2.15) + s.j(5), y + s.j(4), size, papers[(k + row) % 4])
    for k in range(3):
        leaf(c, 600 + side * 460, 846, 92, (0 if side < 0 else 180) + (k - 1) * 36, "#4f9a4a", 0.4)


def truffle(s: Scene, x: float, y: float, r: float, paper: Colour) -> None:
    """A truffle with sprinkles in a pleated cup."""
    c = s.c
    c.shadow(x + 6, y + r * 0.42, r, r * 0.26, 0.45)
    n = 13
    rim = [
        (x + r * 1.04 * math.cos(t) * (1 if i % 2 else 0.95), y - r * 0.16 + r * 0.28 * math.sin(t))
        for i, t in enumerate(math.pi * k / n for k in range(n + 1))
    ]
    foot = [
        (x + r * 0.72 * math.cos(t), y + r * 0.36 + r * 0.14 * math.sin(t))
        for t in (math.pi * k / n for k in range(n + 1))
    ]
    chocolate = s.pick(("#5a2e18", "#4a2414", "#6a3a20", "#e8d8bc", "#5a2e18"))
    c.ellipse(x, y - r * 0.2, r * 1.02, r * 0.3, darker(paper, 0.5))
    c.ellipse(
        x,
        y - r * 0.46,
        r * 0.84,
        r * 0.76,
        Rad((lighter(chocolate, 0.55), lighter(chocolate, 0.12), chocolate, darker(chocolate, 0.6)), 0.36, 0.28, 0.85),
    )
    for _ in range(34):
        a, t = s.u(0, 2 * math.pi), math.sqrt(s.u(0, 1)) * 0.9
        px, py = x + r * 0.8 * t * math.cos(a), y - r * 0.48 + r * 0.72 * t * math.sin(a)
        tone = mixed_sprinkle(s, chocolate)
        c.ellipse(px, py, r * 0.1, r * 0.042, tone, rot=s.u(0, 180))
    c.poly([*rim, *foot[::-1]], Lin((darker(paper, 0.1), lighter(paper, 0.45), paper, darker(paper, 0.4)), 0))
    for i in range(n + 1):
        c.line([rim[i], foot[i]], 2, darker(paper, 0.45) if i % 2 else lighter(paper, 0.5), alpha=0.5)


def mixed_sprinkle(s: Scene, chocolate: Colour) -> Colour:
    """A sprinkle a little darker or lighter than its truffle."""
    return s.pick((darker(chocolate, 0.4), lighter(chocolate, 0.25), darker(chocolate, 0.15)))


def cake_stand(s: Scene, x: float, base: float) -> None:
    """A glass stand with a caramel flan."""
    c = s.c
    c.shadow(x, base + 4, 120, 22, 0.45)
    lathe(
        c,
        x,
        base,
        ((0, 96), (12, 70), (24, 22), (84, 16), (104, 60)),
        Lin(("#a8b8bc", "#ffffff", "#d4dee0", "#8a989c"), 0),
        squash=0.2,
    )
    plate(s, x, base - 108, 210, "#e4ecec", tilt=0.2)
    lathe(c, x, base - 112, ((0, 150), (80, 126)), round_fill("#e8bc5a", 0.5), squash=0.2, curved=False)
    c.ellipse(x, base - 192, 127, 26, Lin(("#c8701e", "#8a3f10"), 20), bevel=4)
    c.ellipse(x, base - 192, 40, 9, "#3a1c0c")
    for k in range(7):
        a = math.pi * (k + 0.5) / 7
        px, py = x - 127 * math.cos(a), base - 192 + 26 * math.sin(a)
        c.line([(px, py), (px - 5 * math.cos(a), py + s.u(16, 60))], 15, Lin(("#a8581a", "#c87a2a")), bevel=3)
    c.ellipse(x - 50, base - 197, 38, 7, "#ffe8b8", alpha=0.6, blur=3)


def mooncakes(s: Scene) -> None:
    """Moulded mooncakes on a plate, one cut open, and tea."""
    c, side = s.c, side_of(s)
    clay_pot(s, 600 + side * (310 + s.j(16)), 600, s.pick(("#8a4a2e", "#6e3426")), side)
    for k in range(2):
        cup(s, 600 - side * (250 + k * 130 + s.j(10)), 590, 54, "#eaf0ec", "#b8862e", handle=False)
        steam(s, 600 - side * (250 + k * 130), 530, 120, 0.24)
    plate(
        s,
        600,
        738,
        470,
        s.pick(("#e6eeec", "#c4d8cc", "#f4ead8")),
        rim=s.pick(("#2f5fa8", "#b8342e", "#3a7a5a")),
        tilt=0.31,
    )
    crust = s.pick(("#c87a2e", "#b86a26", "#d48a3a"))
    for x, y, r in ((395, 668, 104), (600, 645, 100), (805, 668, 104), (470, 748, 118)):
        mooncake(s, x + s.j(8), y + s.j(5), r, crust)
    cut_mooncake(s, 735 + s.j(8), 762, 122, crust)
    for _ in range(18):
        px, py = 600 + side * s.u(300, 520), 842 + s.u(-26, 26)
        c.ellipse(px, py, 8, 6, s.pick(("#ffc8d0", "#f4a0b0", "#fff0e8")), rot=s.u(0, 180))
    branch = smooth([(600 + side * 560, 800), (600 + side * 450, 836), (600 + side * 330, 846)], closed=False)
    c.line(branch, 7, "#5a3a2a", bevel=2)
    for px, py in branch[::4]:
        for i in range(5):
            a = 2 * math.pi * i / 5
            c.ellipse(px + 12 * math.cos(a), py - 10 + 10 * math.sin(a), 9, 9, "#ffb8c4")
        c.ellipse(px, py - 10, 5, 5, "#f6d060")


def scallops(x: float, y: float, r: float, squash: float) -> list[tuple[float, float]]:
    """The outline of a moulded cake."""
    out = []
    for k in range(96):
        a = 2 * math.pi * k / 96
        w = r * (1 + 0.045 * math.cos(12 * a))
        out.append((x + w * math.cos(a), y + w * squash * math.sin(a)))
    return out


def mooncake(s: Scene, x: float, y: float, r: float, crust: Colour) -> None:
    """A round mooncake with a pressed flower."""
    c, q, h = s.c, 0.46, r * 0.5
    c.shadow(x + 10, y + h * 0.9, r * 1.08, r * 0.44, 0.5)
    low, top = scallops(x, y + h * 0.62, r, q), scallops(x, y - h * 0.3, r, q)
    c.poly(low, Lin((darker(crust, 0.2), darker(crust, 0.6)), 0))
    c.poly(
        [
            (x - r * 1.03, y - h * 0.3),
            (x + r * 1.03, y - h * 0.3),
            (x + r * 1.03, y + h * 0.62),
            (x - r * 1.03, y + h * 0.62),
        ],
        Lin((darker(crust, 0.15), lighter(crust, 0.25), crust, darker(crust, 0.5)), 0),
    )
    for k in range(13):
        a = math.pi * k / 12
        px = x - r * math.cos(a)
        c.line(
            [(px, y - h * 0.3 + r * q * math.sin(a)), (px, y + h * 0.6 + r * q * math.sin(a) * 0.95)],
            r * 0.035,
            darker(crust, 0.5),
            alpha=0.5,
        )
    c.poly(top, Rad((lighter(crust, 0.5), lighter(crust, 0.12), crust, darker(crust, 0.3)), 0.38, 0.3, 0.85), bevel=8)
    yy = y - h * 0.3
    inner = scallops(x, yy, r * 0.8, q)
    c.line([*inner, inner[0]], r * 0.05, darker(crust, 0.35), bevel=3)
    for k in range(8):
        a = 2 * math.pi * k / 8
        c.ellipse(
            x + r * 0.42 * math.cos(a),
            yy + r * 0.42 * q * math.sin(a),
            r * 0.2,
            r * 0.085,
            Lin((lighter(crust, 0.4), darker(crust, 0.25))),
            rot=math.degrees(math.atan2(q * math.sin(a), math.cos(a))),
            bevel=4,
        )
    c.ellipse(x, yy, r * 0.17, r * 0.085, Lin((lighter(crust, 0.45), darker(crust, 0.15))), bevel=4)


def cut_mooncake(s: Scene, x: float, y: float, r: float, crust: Colour) -> None:
    """A mooncake cut in half: paste and a golden yolk."""
    c = s.c
    c.shadow(x + 8, y + r * 0.34, r * 1.05, r * 0.3, 0.5)
    face = [
        (x - r, y - r * 0.26),
        (x + r, y - r * 0.26),
        (x + r * 0.97, y + r * 0.3),
        (x + r * 0.5, y + r * 0.36),
        (x - r * 0.5, y + r * 0.36),
        (x - r * 0.97, y + r * 0.3),
    ]
    lid = [p for p in scallops(x, y - r * 0.26, r, 0.46) if p[1] <= y - r * 0.25]
    c.poly(lid, Rad((lighter(crust, 0.5), crust, darker(crust, 0.3)), 0.4, 0.3, 0.85), bevel=7)
    c.poly(face, Lin((lighter(crust, 0.3), crust)), bevel=4)
    paste = s.pick(("#6a2e1c", "#8a5a26", "#4a2014"))
    c.poly(
        [(x + (px - x) * 0.93, y + 4 + (py - y) * 0.84) for px, py in face],
        Lin((lighter(paste, 0.15), paste, darker(paste, 0.25))),
        tex=(6, 5, 0.25),
    )
    c.ellipse(x, y + r * 0.06, r * 0.3, r * 0.24, Rad(("#ffe08a", "#f79a2a", "#c8601a")), bevel=5)
