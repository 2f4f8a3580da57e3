"""The paper behind a benchmark, of a citation as people write it: authors, title, venue and year, in this order."""

import re
from dataclasses import dataclass

from releases.descriptions.authors import Author

DOI = re.compile(r"10\.\d{4,9}/[^\s\"]+")
_SENTENCE_END = re.compile(r"(?<=\w\w)\. ")
_NAME = re.compile(r"(?:[^\W\d][\w.'\u2019-]*[ ]){0,5}(?:[^\W\d_a-z][\w.'\u2019-]*|et al)")
_PERSON = re.compile(r"(?P<given>\S+(?: [^\Wa-z]\S*)*?)(?P<particle>(?: [a-z]\S*)*) (?P<family>\S+)")
_GROUP = re.compile(
    r"(?i)\b(?:team|group|lab|laboratory|consortium|collaboration|project|institute|university|network)\b"
)
_ARXIV = re.compile(r"(?i)\barXiv:\s*(\d{4}\.\d{4,5})(?:v\d+)?")
_ADDRESS = re.compile(r"https?://[^\s\"]+")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_CONFERENCE = re.compile(
    r"\b(?:ACL|EMNLP|NAACL|EACL|AACL|COLING|LREC|CoNLL|CVPR|ICCV|ECCV|WACV|NeurIPS|ICLR|ICML|AAAI|IJCAI|CHI|CSCW|FAccT"
    r"|AIES|HCOMP|KDD|SIGIR|Interspeech|[Pp]roceedings|[Cc]onference|[Ww]orkshop|[Ss]ymposium)\b"
)


@dataclass(frozen=True)
class CitedPaper:
    """`venue`, `year`, `doi` and `url` are "" where the citation has none."""

    authors: list[Author]
    title: str
    venue: str = ""
    at_conference: bool = False
    year: str = ""
    doi: str = ""
    url: str = ""


def cited_paper(citation: str) -> CitedPaper | None:
    """Of a citation such as "Ada Ay, B. Bee. On bread. Venue 2024."; None where the text has another form: then nobody
    may be named as its author.

    >>> cited_paper("Ada Ay, B. van Bee. On bread: a study. EMNLP 2024.").venue
    'EMNLP 2024'
    >>> cited_paper("On bread. arXiv, version 3.")
    """
    names, *rest = _SENTENCE_END.split(" ".join(citation.split()))
    named = re.split(r", (?:and )?| and ", names)
    if len(rest) < 2 or not all(map(_NAME.fullmatch, named)):
        return None
    doi, address, preprint = (pattern.search(citation) for pattern in (DOI, _ADDRESS, _ARXIV))
    year = _YEAR.search(_without_addresses(" ".join(rest[1:])))
    venue = "arXiv" if preprint and _ARXIV.match(rest[1]) else _venue(rest[1])
    url = address[0].rstrip(".,;)") if address else f"https://arxiv.org/abs/{preprint[1]}" if preprint else ""
    return CitedPaper(
        _authors(names, named), rest[0], venue, bool(_CONFERENCE.search(venue)), year[0] if year else "",
        doi[0].rstrip(".,;)") if doi else "", url,
    )  # fmt: skip


def _authors(names: str, named: list[str]) -> list[Author]:
    """All in one name where it is not clear which words are a family name."""
    if any(_GROUP.search(name) or (" " not in name and name != "et al") for name in named):
        return [{"name": names}] if len(named) > 1 else [{"name": named[0]}]
    return [_person(name) for name in named if name != "et al"]


def _person(name: str) -> Author:
    match = _PERSON.fullmatch(name)
    if not match:
        return {"name": name}
    parts = {key: value.strip() for key, value in match.groupdict().items()}
    return {key: value for key, value in parts.items() if value}


def _venue(text: str) -> str:
    """Without addresses; a journal has no year in its name, which a conference has."""
    text = _without_addresses(text).strip(" .,;:")
    return text if _CONFERENCE.search(text) else _YEAR.sub("", text).strip(" .,;:()")


def _without_addresses(text: str) -> str:
    for pattern in (_ARXIV, _ADDRESS, DOI):
        text = pattern.sub("", text)
    return text
