"""ValueGround's figures: with pictures against without."""

from __future__ import annotations

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.figures.drawing import scatter
from evaluation.figures.estimate_text import estimate_text, list_text, value_of
from evaluation.figures.figure import Figure
from evaluation.figures.spec import FigureData, FigureSpec
from evaluation.figures.table_figures import ACCURACY, heat_spec, spec_of
from evaluation.metrics.association import pearson_of
from evaluation.tables.table import MissingData
from papers.valueground.tables.answers import known_answers, load_instances
from papers.valueground.tables.labels import TABLES

MOST = 12


def main_against_text(ground: FigureData) -> Figure:
    """Each country a point, on the same instances: accuracy of text only across, of the main setting upwards."""
    of = load_instances(ground)
    clouds, rows, descriptions = [], [], []
    for model in of.models:
        known = known_answers(of, model)
        dots = []
        for place, country in enumerate(of.countries):
            in_country = known & (of.country == place)
            if in_country.any():
                text = float((of.text[model] == of.gold)[in_country].mean())
                main = float((of.main[model] == of.gold)[in_country].mean())
                dots.append(scatter.Dot(country, text, main))
                rows.append((model, country, text, main, int(in_country.sum())))
        if not dots:
            continue
        r = pearson_of(np.array([d.x for d in dots]), np.array([d.y for d in dots]))
        label = scatter.correlation_words("r", value_of(r))
        clouds.append(scatter.Cloud(model, tuple(dots), label, scatter.fit_line(tuple(dots))))
        descriptions.append((model, estimate_text(r)))
    if not clouds:
        raise MissingData(
            _("No model has answered both with pictures and without. Import its answers of both settings.")
        )
    drawing = scatter.Scatter(
        tuple(clouds[:MOST]), _("Accuracy, text only"), _("Accuracy, main"), 0.0, 1.0, diagonal=True
    )
    more = [_("The table has the models beyond the first %(n)s.") % {"n": MOST}] if len(clouds) > MOST else []
    return Figure(
        key="main-text",
        title=_("Accuracy with pictures against text only, by country"),
        alt=list_text(descriptions, _("Pearson's r over countries:")),
        columns=(_("model"), _("country"), _("text only"), _("main"), _("instances")),
        rows=tuple(rows),
        draw=lambda width: scatter.draw(drawing, width),
        words=(
            _("Over the instances that have a label and both answers."),
            _("Dotted: y = x. Dashed: least squares, of four points or more."),
            *more,
            *ground.words(),
        ),
    )


FIGURES = (
    heat_spec(spec_of(TABLES["valueground"], "figure-3"), measure=ACCURACY, number="Figure 3"),
    FigureSpec(
        "main-text",
        "Figure 7",
        gettext_lazy("Accuracy with pictures against text only, by country"),
        gettext_lazy(
            "Models' answers in the stage “The picture that fits a country” (with pictures and with words alone), "
            "and the survey's counts."
        ),
        main_against_text,
    ),
)
