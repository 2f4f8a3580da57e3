"""What a reader of another tool's files gives, and what it is told. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, BinaryIO, Literal, Protocol, TypeAlias

LengthUnit = Literal["percent", "pixel", "fraction"]
Pivot = Literal["corner", "centre"]
QuestionKind = Literal["single", "several", "scale", "words", "boxes"]
MAX_OPTION = 40
"""The longest code of an option, as sheets have them, and the most options."""
HEAD = 256 * 1024
REFUSE, UPRIGHT = "refuse", "upright"
MAIN_ROLES = ("key", "picture", "text")
ROLES = ("country", "origin", "concept", "condition", "licence", "source")
LEAVE_OUT = "-"
"""What a column is that is not kept."""


@dataclass(frozen=True)
class ForeignFile:
    """A file by the name that its person gave it; `open` gives a new stream from its start."""

    name: str
    open: Callable[[], BinaryIO]
    size: int = 0

    @property
    def base(self) -> str:
        return self.name.rpartition("/")[2]

    @cached_property
    def head(self) -> bytes:
        """The first 256 KB, read once."""
        with self.open() as stream:
            return stream.read(HEAD)


@dataclass(frozen=True)
class ForeignBox:
    """A rectangle as its tool writes it. `size`: the picture's width and height in pixels, where the file names them.

    `angle`: clockwise in degrees about `pivot`. `turned`: by how many degrees the tool showed the whole picture turned.
    """

    x: float
    y: float
    width: float
    height: float
    unit: LengthUnit
    label: str = ""
    size: tuple[int, int] | None = None
    angle: float = 0.0
    pivot: Pivot = "corner"
    turned: float = 0.0


@dataclass(frozen=True)
class ForeignItem:
    """`row`: its place in the file, as a person counts. `picture`: a path or an address. `columns`: role to the column
    that the key, the picture and the text were taken from. `content`: the picture, where it lies in the row."""

    file: str
    row: int
    key: str
    picture: str = ""
    text: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    size: tuple[int, int] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ForeignAnswer:
    """What one rater said of one item: by question a code, a list of codes, a text, or a list of boxes.

    `model`: a prediction, whose rater is a model. `skipped`: cancelled or discarded, so it answers nothing.
    `left_out`: what has no field kind, by kind, as it stands in the file.
    """

    file: str
    row: int
    item: str
    rater: str
    values: Mapping[str, Any] = field(default_factory=dict)
    model: bool = False
    skipped: bool = False
    at: str = ""
    lead_seconds: float | None = None
    left_out: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class ForeignRater:
    """A rater that a file names, also where no answer of theirs is in it."""

    file: str
    row: int
    name: str


@dataclass(frozen=True)
class ForeignProblem:
    """A row that cannot be read, and why. `left_out`: nothing is wrong with it, but its kind has no place here."""

    file: str
    row: int
    code: str
    message: str
    left_out: str = ""


ForeignRecord: TypeAlias = ForeignItem | ForeignAnswer | ForeignRater | ForeignProblem


@dataclass(frozen=True)
class ForeignField:
    """A question that the files ask, as a sheet could ask it. `options`: code and label."""

    key: str
    kind: QuestionKind
    label: str = ""
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SourceProgram:
    """What wrote the files: its name, its version where they say it, and how it was recognised."""

    name: str
    version: str = ""
    sign: str = ""


@dataclass(frozen=True)
class ForeignMapping:
    """What a person chose on the preview. Empty members: the reader's own proposal.

    Attributes:
        key: the column that names the items; `picture`, `text`: those with their picture and their text.
        roles: further columns of the items, by the name that a manifest has for them, such as country.
        dropped: columns that are not kept.
        answers: question to the sheet's field; a question that is not there is left out. None: all, by their own names.
        rater: who answered, where the files do not say it.
        rater_member: a member of each annotation that names its rater.
        raters: a rater's name in the files to the one that is kept. `models`: those of them that are models.
        empty_is_answer: whether an empty list is an answer, where the tool lists all examples.
        rotated: what becomes of rotated boxes.
        encoding: how the letters of a table are stored, where it does not say it.
    """

    tool: str = ""
    key: str = ""
    picture: str = ""
    text: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    dropped: Sequence[str] = ()
    answers: Mapping[str, str] | None = None
    rater: str = ""
    rater_member: str = ""
    raters: Mapping[str, str] = field(default_factory=dict)
    models: Sequence[str] = ()
    empty_is_answer: bool = False
    rotated: str = REFUSE
    encoding: str = ""

    def with_columns(self, chosen: Mapping[str, str]) -> "ForeignMapping":
        """With what columns are, by their names: one of MAIN_ROLES or ROLES, LEAVE_OUT, or empty."""
        main: dict[str, Any] = {role: name for name, role in chosen.items() if role in MAIN_ROLES}
        roles = {name: role for name, role in chosen.items() if role in ROLES}
        dropped = [name for name, role in chosen.items() if role == LEAVE_OUT]
        return replace(self, roles=roles, dropped=dropped, **main)

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in ("", {}, (), [], False)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ForeignMapping":
        """Raises ValueError with the name of the member that is wrong."""
        types: dict[str, type | tuple[type, ...]] = {
            **dict.fromkeys(("tool", "key", "picture", "text", "rater", "rater_member", "rotated", "encoding"), str),
            **dict.fromkeys(("roles", "raters"), dict), "answers": (dict, type(None)),
            **dict.fromkeys(("dropped", "models"), (list, tuple)), "empty_is_answer": bool,
        }  # fmt: skip
        for name, value in data.items():
            if name not in types or not isinstance(value, types[name]) or not _is_flat(value):
                raise ValueError(name)
        if data.get("rotated", REFUSE) not in (REFUSE, UPRIGHT):
            raise ValueError("rotated")
        return cls(**{one.name: data[one.name] for one in fields(cls) if one.name in data})


def _is_flat(value: Any) -> bool:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list | tuple) else []
    return len(inner) <= 10_000 and all(isinstance(text, str) and len(text) <= 500 for text in inner)


class ForeignReader(Protocol):
    """One tool. `key` is stored; `name` is what people call it; `doc` lists the files that it reads."""

    key: str
    name: str

    def sniff(self, files: Sequence[ForeignFile]) -> float:
        """How likely the files are this tool's, 0 to 1. Looks at beginnings only; never raises."""

    def program(self, files: Sequence[ForeignFile]) -> SourceProgram: ...

    def sheet(self, files: Sequence[ForeignFile]) -> list[ForeignField]:
        """The questions that a configuration beside the answers declares; empty without one."""

    def read(self, files: Sequence[ForeignFile], mapping: ForeignMapping) -> Iterator[ForeignRecord]:
        """Everything in the files, in a fixed order; what cannot be read is a ForeignProblem. Raises SourceProblem if
        no row can be read at all."""
