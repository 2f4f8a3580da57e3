"""What several people's groupings say of each picture: it stays, it is dropped, or it waits. Pure.

Majority for each picture: it stays or is dropped where more than half of the people say so. It waits where there is no
majority, such as a tie or "not sure", and where it would be dropped for pictures that are all dropped themselves, since
of what looks alike one picture must be left.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class PictureState(StrEnum):
    STAYS = "stays"
    DROPPED = "dropped"
    WAITS = "waits"


@dataclass(frozen=True)
class PictureVote:
    """`repeats`: the picture that is kept in the place of a dropped one; empty where it was dropped alone.

    `reason`, of what waits: "unsure" (somebody was not sure), "tie", or "none_left".
    """

    state: PictureState
    repeats: str = ""
    reason: str = ""


def count_votes(groupings: Sequence[Mapping[str, Any]]) -> dict[str, PictureVote]:
    """By the name of a picture. `groupings`: stored answers of a grouping field, one of each person."""
    keeps, dropped, unsure = Counter[str](), Counter[str](), Counter[str]()
    for_which: dict[str, Counter[str]] = defaultdict(Counter)
    for grouping in groupings:
        doubtful = set(grouping["unsure"])
        unsure.update(doubtful)
        dropped.update(name for name in grouping["dropped"] if name not in doubtful)
        for group in grouping["groups"]:
            stays = [name for name in group["kept"] if name not in doubtful]
            keeps.update(stays)
            for name in group["images"]:
                if name not in doubtful and name not in group["kept"]:
                    dropped[name] += 1
                    for_which[name].update(stays)
    majority = len(groupings) / 2
    votes = {}
    for name in sorted({*keeps, *dropped, *unsure}):
        if keeps[name] > majority:
            votes[name] = PictureVote(PictureState.STAYS)
        elif dropped[name] > majority:
            votes[name] = _dropped(for_which.get(name, {}), dropped, majority)
        else:
            votes[name] = PictureVote(PictureState.WAITS, reason="unsure" if unsure[name] else "tie")
    return votes


def _dropped(for_which: Mapping[str, int], dropped: Mapping[str, int], majority: float) -> PictureVote:
    """The picture it repeats is the one that most people name and that is not dropped itself; of several the first."""
    left = [name for name in for_which if dropped[name] <= majority]
    if for_which and not left:
        return PictureVote(PictureState.WAITS, reason="none_left")
    repeats = min(left, key=lambda name: (-for_which[name], name), default="")
    return PictureVote(PictureState.DROPPED, repeats)


def is_undecided(groupings: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a picture waits for another person."""
    return any(vote.state == PictureState.WAITS for vote in count_votes(groupings).values())
