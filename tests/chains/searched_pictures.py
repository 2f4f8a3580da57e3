"""Pictures that searches found for concepts in three countries, near the colour of their concept; some repeat another
one, and some are found by a word that people merge with another."""

from dataclasses import dataclass

from PIL import Image

from tests import pictures as draw

ASKED, TYPED = ("Brazil", "Thailand"), "France"
COUNTRIES = (*ASKED, TYPED)
MERGED, STAYS = "railway", "train"
COLOURS = {
    "train": (230, 40, 40), "railway": (230, 60, 40), "market": (40, 230, 40), "tea": (40, 40, 230),
    "bridge": (230, 230, 40), "rain": (40, 230, 230),
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """`words`: concepts before the merge; `rare`: further ones, everyday things in one country alone. `per_cell`:
    pictures of a concept and country. `repeats`, `dropped`: how many a filter and people drop, each in a cell of its
    own. `corrected`: pictures whose labels a person corrects. `captioned`: pictures with captions."""

    words: tuple[str, ...]
    per_cell: int
    repeats: int
    dropped: int
    corrected: int
    captioned: int
    rare: tuple[str, ...] = ()

    @property
    def concepts(self) -> list[str]:
        return [word for word in self.words if word != MERGED]

    @property
    def cells(self) -> list[tuple[str, str]]:
        return [(concept, country) for concept in self.concepts for country in COUNTRIES]

    @property
    def kept(self) -> int:
        return self.per_cell * len(self.cells) - self.repeats

    @property
    def unique(self) -> int:
        return self.kept - self.dropped

    def word_of(self, concept: str, number: int) -> str:
        """What a picture is found for: the last of the cells of trains by the other word."""
        return MERGED if concept == STAYS and number == self.per_cell else concept

    def repeats_first(self, concept: str, country: str, number: int) -> bool:
        return number == 2 and (concept, country) in self.cells[: self.repeats]

    def drops(self, concept: str, country: str) -> bool:
        """Whether people drop one picture of the cell: the last cells, which lost none before."""
        return (concept, country) in self.cells[len(self.cells) - self.dropped :]


SHORT = Size(("train", "railway", "market"), 3, 1, 2, 2, 2, ("kayak",))
FULL = Size(tuple(COLOURS), 6, 5, 10, 4, 10)


def searched_pictures(size: Size) -> tuple[list[dict[str, str]], dict[str, bytes]]:
    """Rows of all searches and their pictures, near the colour of their concept; some repeat the first of the cell."""
    rows, pictures = [], {}
    for concept, country in size.cells:
        for number in range(1, size.per_cell + 1):
            word = size.word_of(concept, number)
            file = f"{country}-{concept}-{number}.jpg".lower()
            pictures[file] = picture_of(size, concept, country, number)
            rows.append({
                "file": file, "key": file.removesuffix(".jpg"), "country": country, "concept": word,
                "rank": str(number), "query_language": "en", "title": f"Picture {number}", "licence": "CC BY 4.0",
                "source": f"https://example.org/{file}", "alt": f"Picture {number} of {concept} in {country}",
            })  # fmt: skip
    return rows, pictures


def picture_of(size: Size, concept: str, country: str, number: int) -> bytes:
    again = size.repeats_first(concept, country, number)
    seed = 10_000 + 1000 * list(COLOURS).index(concept) + 100 * COUNTRIES.index(country) + (1 if again else number)
    page = Image.blend(draw.noise(16, 12, seed), Image.new("RGB", (16, 12), COLOURS[concept]), 0.5)
    page = page.resize((160, 120), Image.Resampling.BICUBIC)
    return draw.encode_picture(page, "JPEG", quality=85 if again else 95)
