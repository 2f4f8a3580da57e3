"""ValueGround's figures: with pictures against without."""

from __future__ import annotations

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.figures.drawing import scatter
from evaluation.figures.figure import Figure
from evaluation.figures.said import in_words, listed, value_of
from evaluation.figures.spec import FigureSpec, Ground
from evaluation.metrics.association import pearson_of
from evaluation.tables.spec import Missing
from evaluation.tables.valueground_answers import asked, known_answers

MOST = 12


def main_against_text(ground: Ground) -> Figure:
    """Each country a point, on the same instances: accuracy of text only across, of the main setting upwards."""
    of = asked(ground)
    clouds, rows, found = [], [], []
    for model in of.models:
        known = known_answers(of, model)
        dots = []
        for place, country in enumerate(of.countries):
            here = known & (of.country == place)
            if here.any():
                text = float((of.text[model] == of.gold)[here].mean())
                main = float((of.main[model] == of.gold)[here].mean())
                dots.append(scatter.Dot(country, text, main))
                rows.append((model, country, text, main, int(here.sum())))
        if not dots:
            continue
        r = pearson_of(np.array([d.x for d in dots]), np.array([d.y for d in dots]))
        said = scatter.correlation_words("r", value_of(r))
        clouds.append(scatter.Cloud(model, tuple(dots), said, scatter.fitted(tuple(dots))))
        found.append((model, in_words(r)))
    if not clouds:
        raise Missing(_("No model has answered both with pictures and without. Import its answers of both settings."))
    drawing = scatter.Scatter(
        tuple(clouds[:MOST]), _("Accuracy, text only"), _("Accuracy, main"), 0.0, 1.0, diagonal=True
    )
    return Figure(
        key="main-text",
        title=_("Accuracy with pictures against text only, by country"),
        alt=listed(found, _("Pearson's r over countries:")),
        columns=(_("model"), _("country"), _("text only"), _("main"), _("instances")),
        rows=tuple(rows),
        draw=lambda width: scatter.draw(drawing, width),
        words=(
            _("Over the instances that have a label and both answers."),
            _("Dotted: y = x. Dashed: least squares, of four points or more."),
            *ground.words(),
        ),
    )


FIGURES = (
    FigureSpec(
        "main-text",
        "Figure 7",
        gettext_lazy("Accuracy with pictures against text only, by country"),
        gettext_lazy("Models' answers in the stage “choice” (settings main and text_only), and the survey's counts."),
        main_against_text,
    ),
)
