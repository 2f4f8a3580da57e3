"""Authors of a benchmark, as people write them and as a citation needs them.

A line is `Family, Given; ORCID; affiliation`, or the name of a group. The last two may be missing.
"""

import re

Author = dict[str, str]
MAX_AUTHORS = 200
_ORCID = re.compile(r"(?:https://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])")


class AuthorError(ValueError):
    """A line cannot be read. Its arguments are the number of the line and a reason: "orcid" or "name"."""


def parse_authors(text: str) -> list[Author]:
    """Raises AuthorError."""
    authors: list[Author] = []
    for number, line in enumerate(text.splitlines(), 1):
        parts = [part.strip() for part in line.split(";")]
        if not any(parts):
            continue
        author = _named(number, parts[0])
        for part in parts[1:]:
            match = _ORCID.fullmatch(part)
            if match and not _is_checked(match[1]):
                raise AuthorError(number, "orcid")
            if match:
                author["orcid"] = f"https://orcid.org/{match[1]}"
            elif part:
                author["affiliation"] = part
        authors.append(author)
    return authors[:MAX_AUTHORS]


def author_lines(authors: list[Author]) -> str:
    """As `parse_authors` reads them."""
    lines = []
    for author in authors:
        name = author.get("name") or ", ".join(filter(None, (author.get("family"), author.get("given"))))
        lines.append("; ".join(filter(None, (name, author.get("orcid"), author.get("affiliation")))))
    return "\n".join(lines)


def author_name(author: Author) -> str:
    return author.get("name") or " ".join(filter(None, (author.get("given"), author.get("family"))))


def _named(number: int, text: str) -> Author:
    family, comma, first_names = (part.strip() for part in text.partition(","))
    if not family:
        raise AuthorError(number, "name")
    return {"family": family, "given": first_names} if comma and first_names else {"name": family}


def _is_checked(orcid: str) -> bool:
    """Whether its last character is the check digit of the others (ISO 7064, mod 11-2)."""
    digits, total = orcid.replace("-", ""), 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    return digits[-1] == "0123456789X"[(12 - total % 11) % 11]
