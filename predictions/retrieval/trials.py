"""Forced-choice trials of 3XCM out of pictures: who is a candidate, and a seeded draw. Pure.

Three candidates (spec 3XCM, RQ2), for each picture as seed with its concept c, country k and language l:
  correct           c, another country
  language_biased   another concept, country k
  irrelevant        another concept, another country
Six (RQ3); the query names the country d, drawn from the other countries that have c and another language:
  correct                   c, d
  object_language_biased    c, k
  object_relevant           c, a third country
  descriptor_relevant       another concept, d
  language_biased           another concept, k
  irrelevant                another concept, a third country
The query is words: the seed gives concept, country and language, and with six may itself be the candidate of c and k
(the paper does not say). No candidate of another concept carries c among its labels. With `other_language`, candidates
from another country have another language too. A seed for which a candidate is missing yields no trial, and the reason
is counted.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from benchmarks.rules.derivations.contract import seeded_random


@dataclass(frozen=True)
class TrialPicture:
    """`native`: the concept in the country's language. `labels`: all concepts the picture shows, if that is known."""

    key: str
    concept: str
    country: str
    language: str
    native: str
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TrialDraft:
    """`described`: the query's words with the descriptor; empty with three candidates."""

    seed: TrialPicture
    roles: Mapping[str, str] = field(hash=False)
    descriptor: str = ""
    described: str = ""


@dataclass(frozen=True)
class TrialSet:
    trials: tuple[TrialDraft, ...]
    left_out: Mapping[str, int]
    """How many seeds yield none, by reason: "no_words", "no_described" (none with the country's name), "no_country", or
    the role without a candidate."""


Texts = Mapping[tuple[str, str, str], str]
"""(concept, descriptor country, language) to the query's words."""
Fits = Callable[[TrialPicture], bool]
Lot = Callable[[str], float]
"""A number in (0, 1) for each name, the same for the same seed."""


class _Pools:
    """Candidates by what they must be; each made once for a seed's concept, country and descriptor."""

    def __init__(self, pictures: Sequence[TrialPicture], other_language: bool) -> None:
        self.pictures = sorted(pictures, key=lambda trial_picture: trial_picture.key)
        self.other_language = other_language
        self.made: dict[tuple[str, ...], list[TrialPicture]] = {}
        self.of: str = ""

    def of_seed(self, seed: TrialPicture) -> None:
        """Seeds come concept by concept and country by country: what was made for another is let go."""
        here = f"{seed.concept}\t{seed.country}"
        if here != self.of:
            self.made, self.of = {}, here

    def draw(self, lot: Lot, name: tuple[str, ...], fits: Fits) -> TrialPicture | None:
        if name not in self.made:
            self.made[name] = [picture for picture in self.pictures if fits(picture)]
        pool = self.made[name]
        return pool[int(lot(name[0]) * len(pool))] if pool else None


def draw_three(pictures: Sequence[TrialPicture], seed: int, *, other_language: bool = False) -> TrialSet:
    return _draw_set(
        pictures,
        other_language,
        lambda trial_picture, pools: _draft_of_three(
            trial_picture, pools, partial(_draw_key, seed, f"3/{trial_picture.key}")
        ),
    )


def draw_six(pictures: Sequence[TrialPicture], texts: Texts, seed: int, *, other_language: bool = False) -> TrialSet:
    """`texts`: the words of queries with a descriptor; where none are known there is no trial."""
    countries: dict[str, dict[str, str]] = defaultdict(dict)
    for picture in pictures:
        countries[picture.concept][picture.country] = picture.language
    return _draw_set(
        pictures, other_language,
        lambda item, pools: _draft_of_six(
            item, pools, texts, countries[item.concept], partial(_draw_key, seed, f"6/{item.key}")
        ),
    )  # fmt: skip


def _draw_key(seed: int, of: str, name: str) -> float:
    return seeded_random(seed, f"{of}/{name}")


def _draw_set(
    pictures: Sequence[TrialPicture], other_language: bool, draw: Callable[[TrialPicture, _Pools], TrialDraft | str]
) -> TrialSet:
    pools, trials, left_out = _Pools(pictures, other_language), list[TrialDraft](), Counter[str]()
    for seed in sorted(
        pictures, key=lambda trial_picture: (trial_picture.concept, trial_picture.country, trial_picture.key)
    ):
        pools.of_seed(seed)
        draft = draw(seed, pools)
        if isinstance(draft, str):
            left_out[draft] += 1
        else:
            trials.append(draft)
    return TrialSet(tuple(sorted(trials, key=lambda trial_draft: trial_draft.seed.key)), dict(left_out))


def _draft_of_three(seed: TrialPicture, pools: _Pools, lot: Lot) -> TrialDraft | str:
    if not seed.native:
        return "no_words"
    abroad, other = _same_concept_abroad(seed, pools), _other_concept_filter(seed)
    wanted: dict[str, Fits] = {
        "correct": lambda trial_picture: trial_picture.concept == seed.concept and abroad(trial_picture),
        "language_biased": lambda trial_picture: other(trial_picture) and trial_picture.country == seed.country,
        "irrelevant": lambda trial_picture: other(trial_picture) and abroad(trial_picture),
    }
    return _draw_roles(seed, pools, lot, wanted)


def _draft_of_six(
    seed: TrialPicture, pools: _Pools, texts: Texts, countries: Mapping[str, str], lot: Lot
) -> TrialDraft | str:
    if not seed.native:
        return "no_words"
    abroad, other = _same_concept_abroad(seed, pools), _other_concept_filter(seed)
    open_ones = [name for name, language in sorted(countries.items()) if language != seed.language]
    if not open_ones:
        return "no_country"
    other_country = open_ones[int(lot("descriptor") * len(open_ones))]
    words = texts.get((seed.concept, other_country, seed.language), "")
    if not words:
        return "no_described"
    wanted: dict[str, Fits] = {
        "correct": lambda trial_picture: (
            trial_picture.concept == seed.concept and trial_picture.country == other_country
        ),
        "object_language_biased": lambda trial_picture: (
            trial_picture.concept == seed.concept and trial_picture.country == seed.country
        ),
        "object_relevant": lambda trial_picture: (
            trial_picture.concept == seed.concept and abroad(trial_picture) and trial_picture.country != other_country
        ),
        "descriptor_relevant": lambda trial_picture: other(trial_picture) and trial_picture.country == other_country,
        "language_biased": lambda trial_picture: other(trial_picture) and trial_picture.country == seed.country,
        "irrelevant": lambda trial_picture: (
            other(trial_picture) and abroad(trial_picture) and trial_picture.country != other_country
        ),
    }
    found = _draw_roles(seed, pools, lot, wanted, other_country)
    return found if isinstance(found, str) else TrialDraft(seed, found.roles, other_country, words)


def _same_concept_abroad(seed: TrialPicture, pools: _Pools) -> Fits:
    return lambda trial_picture: (
        trial_picture.country != seed.country and not (pools.other_language and trial_picture.language == seed.language)
    )


def _other_concept_filter(seed: TrialPicture) -> Fits:
    return lambda trial_picture: trial_picture.concept != seed.concept and seed.concept not in trial_picture.labels


def _draw_roles(
    seed: TrialPicture, pools: _Pools, lot: Lot, wanted: Mapping[str, Fits], *named: str
) -> TrialDraft | str:
    roles: dict[str, str] = {}
    for role, fits in wanted.items():
        picture = pools.draw(lot, (role, *named), fits)
        if picture is None:
            return role
        roles[role] = picture.key
    return TrialDraft(seed, roles)
