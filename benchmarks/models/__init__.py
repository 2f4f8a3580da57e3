from benchmarks.models.benchmarks import Benchmark, Role, Stage
from benchmarks.models.images import Image
from benchmarks.models.items import Item, ItemFact, ItemImage

__all__ = ["Benchmark", "Image", "Item", "ItemFact", "ItemImage", "Role", "Stage"]
