"""Runs the code cells of a notebook in order, in a fresh interpreter that need not know this project:
`python run_cells.py notebook.ipynb https://site`. The example's address is replaced by the site's."""

import json
import sys
from pathlib import Path

EXAMPLE = "https://emic.example.org"


def main(notebook: str, site: str) -> None:
    names = {"__name__": "__main__"}
    for cell in json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            text = "".join(cell["source"]).replace(EXAMPLE, site)
            exec(compile(text, f"{notebook} {cell['id']}", "exec"), names)
    names["emic"].close()


if __name__ == "__main__":
    main(*sys.argv[1:])
