"""What the paper prints, from the files of `printed/`: see evaluation/tables/printed_values.py."""

from pathlib import Path

from evaluation.tables.printed_values import PrintedFolder

PRINTED = PrintedFolder(Path(__file__).with_name("printed"))
printed, rows = PRINTED.value, PRINTED.rows
