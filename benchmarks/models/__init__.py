from benchmarks.models.benchmarks import Benchmark, RaterName, Role, Stage
from benchmarks.models.conditions import BenchmarkCondition
from benchmarks.models.images import Image
from benchmarks.models.intake import FilterResult, FilterVersion
from benchmarks.models.items import Item, ItemFact, ItemImage
from benchmarks.models.label_sets import CohortLabel, Label, LabelSet
from benchmarks.models.recipes import SavedRecipe
from benchmarks.models.revisions import FormerJudge, ItemReturn
from benchmarks.models.tallies import ItemTally, StageTally

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
    "ItemTally",
    "Label",
    "LabelSet",
    "RaterName",
    "Role",
    "SavedRecipe",
    "Stage",
    "StageTally",
]
