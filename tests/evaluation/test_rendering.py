"""One report in every form: the same numbers, each with n and an interval, or the reason why there is none."""

import csv
import io
import json

from django.template.loader import render_to_string

from evaluation.metrics.estimate import Estimate
from evaluation.rendering import json_file
from evaluation.rendering.axis import SHORT
from evaluation.rendering.csv_file import to_csv
from evaluation.rendering.html import page_table
from evaluation.rendering.latex import to_latex
from evaluation.rendering.report import NOTHING, Cell, PrintedValue, Reason, Report, ReportColumn, Row, number
from evaluation.rendering.text_file import to_text

AGREED = Estimate.of(
    -0.125, interval=(-0.25, 0.5), method="alpha", n_units=20, n_raters=3, n_ratings=55, resampled="units and raters"
)
UNKNOWN = Estimate.undefined(reason="no_variation", method="alpha", n_units=20, n_raters=3, n_ratings=60)
COLUMNS = ("cohort", "measure", "value", "shown", "shown_interval", "n_units", "reason", "confidence", "stage")
REPORT = Report(
    "Cohort",
    (
        ReportColumn("Ruler", "ruler", axis=SHORT, facts={"measure": "alpha"}),
        ReportColumn("Narrow", "narrow", "short", facts={"measure": "kappa"}),
        ReportColumn("Share", "share", "text", style="num", in_files=False),
    ),
    (
        Row("egypt", (number(AGREED, notes=("3 <items> left out",)), number(UNKNOWN), Cell(text="5 %")), name="Egypt"),
        Row("=brazil", (number(UNKNOWN, reason=Reason("no shared items.", "No item in common.")), NOTHING, NOTHING)),
    ),
    {"stage": "ratings"},
    COLUMNS,
)


def page(**choices: object) -> str:
    table = page_table(REPORT, "agreement", "Agreement", **choices)  # type: ignore[arg-type]
    return render_to_string("evaluation/report/table.html", {"table": table})


def test_a_page_shows_each_number_with_n_and_interval_or_its_reason() -> None:
    text = page()
    for part in ("Egypt", "−0.13", "[−0.25, 0.50]", "n = 20 × 3", "3 &lt;items&gt; left out", "5 %", "axis-short"):
        assert part in text, part
    assert "No variation." in text and "All 60 ratings" in text, "the estimate's own reason"
    assert "no shared items." in text and "No item in common." in text, "the reason of the cell, instead"
    assert "None" not in text and 'data-l="Share"' in text


def test_a_share_is_shown_in_percent_and_is_a_number_in_the_file() -> None:
    share = number(AGREED, text="100 %")
    report = Report("", (ReportColumn("Answered", shape="text"),), (Row("x", (share,)),), csv_columns=("value",))
    [row] = page_table(report, "")["groups"][0]["rows"]
    assert row["cells"][0]["text"] == "100 %" and "-0.125" in "".join(to_csv(report))


def test_a_page_leaves_out_columns_and_rows_without_a_cell() -> None:
    text = page(keys=("narrow", "share"))
    assert "Egypt" in text and "brazil" not in text and "Ruler" not in text
    assert text.count('scope="col"') == 3


def test_several_numbers_without_a_value_for_one_reason_share_it() -> None:
    cell = number(UNKNOWN, label="a").with_others([number(UNKNOWN, label="b")])
    report = Report("", (ReportColumn(axis=SHORT),), (Row("x", (cell,)),), csv_columns=("reason",))
    [row] = page_table(report, "")["groups"][0]["rows"]
    assert len(row["cells"][0]["lines"]) == 1
    assert "".join(to_csv(report)).count("no_variation") == 2, "the file has a line for each"


def test_csv_has_a_line_for_each_number_and_none_for_texts_and_empty_cells() -> None:
    first, second, third = csv.DictReader(io.StringIO("".join(to_csv(REPORT)).lstrip("\ufeff")))
    assert first == {
        "cohort": "", "measure": "alpha", "value": "-0.125", "shown": "−0.13", "shown_interval": "[−0.25, 0.50]",
        "n_units": "20", "reason": "", "confidence": "0.95", "stage": "ratings",
    }  # fmt: skip
    assert (second["measure"], second["value"], second["reason"]) == ("kappa", "", "no_variation")
    assert third["reason"] == "no_variation"


def test_json_has_an_estimate_with_all_its_parts() -> None:
    data = json.loads(json.dumps(json_file.to_json({"alpha": AGREED, 3: (UNKNOWN, None)})))
    assert data == {"alpha": AGREED.to_json(), "3": [UNKNOWN.to_json(), None]}


def test_latex_has_the_interval_and_n_or_the_reason_and_no_command_from_outside() -> None:
    row = Row(r"\input{x} & y", (number(AGREED), number(UNKNOWN)))
    text = to_latex(Report("Cohort", (ReportColumn("A_b"), ReportColumn("B")), (row,)), "100 %")
    assert r"\begin{tabular}{lrr}" in text and r"A\_b" in text and r"\caption{100 \%}" in text
    assert r"\textbackslash{}input\{x\} \& y & $-0.13$ {\scriptsize $[-0.25, 0.50]$}" in text
    names = to_latex(Report("Model", (), (Row("CLIP", ()),)), "")
    assert names.count("CLIP \\\\") == 1, "a table of names alone has rows, too"
    assert r"$n = 20 \times 3$" in text and r"\emph{No variation.}" in text


PAPER = Report(
    "Model",
    tuple(ReportColumn(label, shape="paper") for label in ("Egypt", "Brazil")),
    (
        Row("CLIP", (Cell(AGREED, notes=("1 of 2 left out",)), Cell(UNKNOWN)), group="Encoders"),
        Row("Keen", (Cell(text="not run"), Cell(AGREED)), group="Others"),
    ),
)


def test_latex_of_a_paper_explains_by_a_letter_what_is_left_out_or_has_no_value() -> None:
    text = to_latex(PAPER, "Table 2.", "tab:clip")
    assert text.count(r"\midrule") == 2 and r"\multicolumn{3}{l}{\emph{Others}} \\" in text
    assert r"CLIP & $-0.13$$^{a}$ {\scriptsize $[-0.25, 0.50]$} & n/a$^{b}$ \\" in text
    assert r"Keen & not run & $-0.13$ {\scriptsize $[-0.25, 0.50]$} \\" in text
    assert r"\caption{Table 2. $^{a}$ 1 of 2 left out $^{b}$ No variation. All 60 ratings" in text
    assert r"\label{tab:clip}" in text


def test_text_has_the_columns_in_line_and_each_number_with_its_interval_or_the_reason() -> None:
    assert to_text(PAPER).splitlines() == [
        "Model                Egypt               Brazil",
        "Encoders",
        "CLIP   -0.13 [-0.25, 0.50]       (no_variation)",
        "Others",
        "Keen               not run  -0.13 [-0.25, 0.50]",
    ]


def test_rows_are_read_from_their_json_as_they_were() -> None:
    printed = PrintedValue("-0.10", "Other answers.")
    rows = (Row("CLIP", (Cell(AGREED, printed=printed, notes=("1 left out",)), Cell(UNKNOWN), NOTHING), group="Ours"),)
    stored = json.loads(json.dumps(json_file.to_json(rows)))
    assert stored[0]["cells"][0]["mark"] == "differs" and stored[0]["cells"][1]["why"]["title"] == "No variation."
    assert json_file.rows_from_json(stored) == rows


def test_data_of_a_drawing_are_shown_rounded_and_stand_whole_in_the_file() -> None:
    cells = (Cell(plain=1 / 3), Cell(plain=12345), Cell(text="=x"), Cell(plain=None))
    columns = tuple(ReportColumn(name, shape="text", style="num") for name in ("share", "items", "why", "low"))
    report = Report("model", columns, (Row("CLIP", cells),))
    text = render_to_string("evaluation/report/table.html", {"table": page_table(report, "data")})
    assert "0.33<" in text and "12,345<" in text and "None" not in text
    assert "".join(to_csv(report)).lstrip("\ufeff").split() == [
        "model,share,items,why,low", "CLIP,0.3333333333333333,12345,'=x,",
    ]  # fmt: skip
