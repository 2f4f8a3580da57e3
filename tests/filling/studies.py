"""Each recipe with what fills a benchmark of it by the pages, once and a second time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.filling import caire, culturalvqa, globalrg, valueground, xcm
from tests.filling.public_client import PublicDoor
from tests.personas import World


@dataclass(frozen=True)
class Study:
    fill: Callable[[World], PublicDoor]
    fill_again: Callable[[PublicDoor], None]  # with a second version of what its tables read, or a second campaign


STUDIES: Mapping[str, Study] = {
    "caire-universal": Study(caire.fill, caire.fill_again),
    "culturalvqa": Study(culturalvqa.fill, culturalvqa.fill_again),
    "globalrg-grounding": Study(globalrg.fill_grounding, globalrg.fill_grounding_again),
    "globalrg-retrieval": Study(globalrg.fill_retrieval, globalrg.fill_retrieval_again),
    "valueground": Study(valueground.fill, valueground.fill_again),
    "3xcm": Study(xcm.fill, xcm.fill_again),
}
