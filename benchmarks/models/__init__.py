from benchmarks.models.benchmarks import Benchmark, Role, Stage
from benchmarks.models.conditions import BenchmarkCondition
from benchmarks.models.images import Image
from benchmarks.models.intake import FilterResult, FilterVersion
from benchmarks.models.items import Item, ItemFact, ItemImage
from benchmarks.models.label_sets import CohortLabel, Label, LabelSet
from benchmarks.models.recipes import SavedRecipe
from benchmarks.models.revisions import FormerJudge, ItemReturn

__all__ = [
    "Benchmark",
    "BenchmarkCondition",
    "CohortLabel",
    "FilterResult",
    "FilterVersion",
    "FormerJudge",
    "Image",
    "Item",
    "ItemFact",
    "ItemImage",
    "ItemReturn",
    "Label",
    "LabelSet",
    "Role",
    "SavedRecipe",
    "Stage",
]
