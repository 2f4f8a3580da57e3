"""CHANGES.md: what changed since the release before, as its authors say and as the frozen rows say."""

from collections.abc import Iterable, Iterator

from releases.descriptions.computed import count_of, withheld
from releases.descriptions.sections import known
from releases.models import Release
from releases.queries.differences import stored_differences
from releases.queries.main_numbers import MainNumber, PrintedNumber, main_numbers


def changes(release: Release) -> bytes:
    """In English, as all descriptions."""
    lines = [f"# Changes in {release.version}", ""]
    if release.notes:
        lines += [release.notes, ""]
    lines += [line for sentence in withheld(known(release)) for line in (sentence, "")]
    if release.parent is None:
        lines += ["Nothing was published before this release.", ""]
    else:
        lines += [*_needed(release), *_rows(release, release.parent), *_numbers(release, release.parent)]
    return "\n".join(lines).encode()


def _needed(release: Release) -> Iterator[str]:
    need = release.facts.get("need")
    if need:
        yield f"What changed makes this a {need['change']} version:"
        yield ""
        yield from (f"- {reason}" for reason in need["reasons"])
        yield ""


def _rows(release: Release, earlier: Release) -> Iterator[str]:
    also = " (rows that are withheld are counted, too)" if release.chosen.withheld or earlier.chosen.withheld else ""
    yield f"Rows by table, compared with {earlier.version}{also}:"
    yield ""
    yield "| table | before | now | added | removed | other state | other content |"
    yield "|---" * 7 + "|"
    for table in stored_differences(release):
        counts = (table.before, table.now, table.added, table.removed, table.restated, table.changed)
        yield f"| {table.table} | {' | '.join(map(str, counts))} |"
    yield ""


def _numbers(release: Release, earlier: Release) -> Iterator[str]:
    numbers = main_numbers(release, earlier)
    if not numbers:
        return
    yield "Agreement of people by question and cohort, with interval, items and raters:"
    yield ""
    yield f"| stage | question | cohort | measure | {earlier.version} | {release.version} |"
    yield "|---" * 6 + "|"
    yield from (_line(number) for number in numbers)
    yield ""


def _line(number: MainNumber) -> str:
    cells: Iterable[str] = (
        *(number.stage, number.question, number.cohort, number.measure),
        *(_printed(value) for value in (number.before, number.now)),
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _printed(number: PrintedNumber | None) -> str:
    if number is None:
        return "none"
    shown = " ".join(filter(None, (number.shown or number.reason, number.interval)))
    return f"{shown} ({count_of(number.items, 'item')}, {count_of(number.raters, 'rater')})"
