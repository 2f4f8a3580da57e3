"""Copies of other tools' files, each damaged in one way, with the rows that the damage is in."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq

from tests.releases.foreign_samples import content

UNKNOWN = "xyzzy"
UNKNOWN_NUMBER = "987"
BAD_BYTE = "\udc81"
"""As surrogateescape reads a byte that is nothing in UTF-8 and cp1252."""


@dataclass(frozen=True)
class SplitFile:
    """A file's text around its rows. `first`: the number of the first row in reports."""

    head: str
    rows: list[str]
    between: str
    tail: str
    first: int = 1

    def joined(self, rows: Sequence[str]) -> str:
        return self.head + self.between.join(rows) + self.tail


def split_list(text: str) -> SplitFile:
    rows = [json.dumps(row, ensure_ascii=False) for row in json.loads(text)]
    return SplitFile("[\n", rows, ",\n", "\n]")


def split_lines(text: str) -> SplitFile:
    return SplitFile("", text.splitlines(), "\n", "\n")


def split_table(text: str) -> SplitFile:
    named, separator = re.match(r"(sep=;\s+)?", text), next(mark for mark in "\t;," if mark in text.partition("\n")[0])
    assert named
    start, text = named.group(), text[named.end() :]
    rows = []
    for cells in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
        line = io.StringIO()
        csv.writer(line, delimiter=separator, lineterminator="\n").writerow(cells)
        rows.append(line.getvalue().removesuffix("\n"))
    return SplitFile(f"{start}{rows[0]}\n", rows[1:], "\n", "\n", first=2)


def split_member(name: str) -> Callable[[str], SplitFile]:
    """An object's member that is a list or an object, put last."""

    def split(text: str) -> SplitFile:
        whole = json.loads(text)
        value = whole.pop(name)
        head = f'{json.dumps(whole, ensure_ascii=False)[:-1]}, "{name}": '
        if isinstance(value, list):
            return SplitFile(f"{head}[\n", [json.dumps(row, ensure_ascii=False) for row in value], ",\n", "\n]}")
        rows = [f"{json.dumps(key)}: {json.dumps(row, ensure_ascii=False)}" for key, row in value.items()]
        return SplitFile(f"{head}{{\n", rows, ",\n", "\n}}")

    return split


def split_images(text: str) -> SplitFile:
    rows = re.findall(r"<image .*?</image>", text, re.DOTALL)
    return SplitFile(text[: text.index(rows[0])], rows, "\n", text[text.rindex(rows[-1]) + len(rows[-1]) :])


@dataclass(frozen=True)
class DamagedFile:
    """`path`: in the folder of samples. `member`: of a zip, the file that is damaged. `label`: what finds a label in a
    row, in a group. `named`: the splitting where rows that hold text are others than those with answers."""

    path: str
    split: Callable[[str], SplitFile]
    label: str
    member: str = ""
    companions: tuple[str, ...] = ()
    rater: str = ""
    encoding: str = "utf-8"
    named: Callable[[str], SplitFile] | None = None

    @property
    def base(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def reported(self) -> str:
        """How reports call the file."""
        return self.member or self.base

    @property
    def asked_encoding(self) -> str:
        """What a person answers where a table does not say it."""
        return self.encoding if self.path.startswith("csv/") and self.encoding in ("utf-8", "cp1252") else ""

    def text(self) -> str:
        data = content(self.path)
        if self.member:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                data = archive.read(self.member)
        return data.decode(self.encoding)

    def upload(self, text: str) -> tuple[str, bytes]:
        data = text.encode(self.encoding, "surrogatepass" if self.encoding == "utf-16" else "surrogateescape")
        if not self.member:
            return self.base, data
        target = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content(self.path))) as old, zipfile.ZipFile(target, "w") as new:
            for name in old.namelist():
                new.writestr(name, data if name == self.member else old.read(name))
        return self.base, target.getvalue()


Damaged = tuple[str, set[int]]
"""The text, and the numbers of the rows that are damaged."""


def cut(file: DamagedFile) -> Damaged:
    """The file ends within a row, after about two thirds of them."""
    parts = file.split(file.text())
    last = len(parts.rows) * 2 // 3
    whole = parts.joined(parts.rows[: last + 1]).removesuffix(parts.tail)
    lost = set(range(parts.first + last, parts.first + len(parts.rows)))
    return whole[: -len(parts.rows[last]) // 2], lost


def wrong_encoding(file: DamagedFile) -> Damaged:
    """Some rows have a letter in cp1252."""
    parts = (file.named or file.split)(file.text())
    rows = list(parts.rows)
    places = (len(rows) - 1,) if file.named else (0, 5)
    for at in places:
        rows[at] = re.sub(r"([a-z]{2})(?=[\"#,.\t-])", rf"\1{BAD_BYTE}", rows[at], count=1)
        assert BAD_BYTE in rows[at], rows[at]
    return parts.joined(rows), {parts.first + at for at in places}


def unknown_label(file: DamagedFile) -> Damaged:
    """One label is none of the questionnaire's."""
    parts = file.split(file.text())
    at = next(at for at, row in enumerate(parts.rows) if re.search(file.label, row))
    match = re.search(file.label, parts.rows[at])
    assert match
    row, label = parts.rows[at], UNKNOWN_NUMBER if file.label == BOX_LABEL else UNKNOWN
    rows = [*parts.rows[:at], row[: match.start(1)] + label + row[match.end(1) :], *parts.rows[at + 1 :]]
    return parts.joined(rows), {parts.first + at}


def bad_rows(file: DamagedFile) -> Damaged:
    """Every tenth row is broken."""
    parts = file.split(file.text())
    rows = [_broken(row, parts) if at % 10 == 0 else row for at, row in enumerate(parts.rows)]
    return parts.joined(rows), {parts.first + at for at in range(0, len(rows), 10)}


def _broken(row: str, parts: SplitFile) -> str:
    if parts.head.startswith("<"):
        return row.replace("</image>", "<open></image>")
    if parts.between == "\n" and parts.first == 2:
        return row + next(mark for mark in "\t;," if mark in parts.head) + "one cell too many"
    return row[:-4]


Damage = Callable[[DamagedFile], Damaged]
DAMAGES: tuple[Damage, ...] = (cut, wrong_encoding, unknown_label, bad_rows)
CONFIG = ("label-studio/label-config.xml",)
BOX_LABEL = r'"category_id": \d*(\d)'
COCO = DamagedFile("cvat/instances_default.json", split_member("annotations"), BOX_LABEL, named=split_member("images"))
CVAT = DamagedFile("cvat/annotations-potato.xml", split_images, r'label="([^"]+)"', rater="lena")
DOCCANO_LABEL = r'"label": ?\["([^"]+)"'
FILES = [
    DamagedFile("label-studio/export.json", split_list, r'"choices": \["([^"]+)"', companions=CONFIG),
    DamagedFile("label-studio/export-min.json", split_list, r'"kind": "([^"]+)"', companions=CONFIG),
    DamagedFile("label-studio/export.csv", split_table, r"(?<=,)(clothing|food|ritual)(?=,)", companions=CONFIG),
    DamagedFile("label-studio/export.tsv", split_table, r"(?<=\t)(clothing|food|ritual)(?=\t)", companions=CONFIG),
    replace(COCO, path="label-studio/export-coco.zip", member="result.json"),
    *[DamagedFile(f"doccano/text-classification.{form}.zip", split, label, f"ann2.{form}")
      for form, split, label in (("jsonl", split_lines, DOCCANO_LABEL), ("json", split_list, DOCCANO_LABEL),
                                 ("csv", split_table, r",(clothing|food|ritual)(?=[,#])"))],
    *[DamagedFile(f"doccano/seq2seq.{form}.zip", split, "", f"ann2.{form}")
      for form, split in (("jsonl", split_lines), ("csv", split_table))],
    DamagedFile("doccano/image-classification.jsonl.zip", split_lines, DOCCANO_LABEL, "ann2.jsonl"),
    DamagedFile("doccano/bounding-box.jsonl.zip", split_lines, r'"label": ?"([^"]+)"', "ann2.jsonl"),
    DamagedFile("potato/annotations.jsonl", split_lines, r'"kind": \{"([^"]+)"',
                companions=("potato/config.yaml", "potato/items.json")),
    DamagedFile("potato/items.json", split_lines, "", companions=("potato/annotations.jsonl", "potato/config.yaml")),
    DamagedFile("potato/annotations.csv", split_table, "", companions=("potato/config.yaml", "potato/items.json")),
    DamagedFile("potato/user_state-ann2.json", split_member("instance_id_to_label_to_value"),
                r'"kind", "name": "([^"]+)"', companions=("potato/config.yaml", "potato/items.json")),
    replace(COCO, path="potato/annotations-coco.json", rater="lena"),
    CVAT,
    replace(CVAT, path="cvat/annotations-datumaro.xml"),
    COCO,
    DamagedFile("argilla/records.json", split_list, r'"kind": \[\{"value": "([^"]+)"',
                companions=("argilla/.argilla/settings.json",)),
    *[DamagedFile(f"csv/{name}", split_table, r"(?<=[,;\t])(clothing|food|ritual)", encoding=encoding)
      for name, encoding in (("comma-utf8.csv", "utf-8"), ("semicolon-utf8-bom.csv", "utf-8-sig"),
                             ("sep-line.csv", "utf-8-sig"), ("semicolon-cp1252.csv", "cp1252"),
                             ("tab-utf16le-bom.txt", "utf-16"))],
    DamagedFile("csv/lines.jsonl", split_lines, r'"labels": "(clothing|food|ritual)'),
]  # fmt: skip


def as_parquet(table: pa.Table) -> bytes:
    target = io.BytesIO()
    pq.write_table(table, target)
    return target.getvalue()
