"""What the ways of asking models are called on pages: words, where a run stores the key of its prompt variant."""

from collections.abc import Iterable

from benchmarks.models import Benchmark, Stage
from benchmarks.queries.model_conditions import model_conditions
from benchmarks.templatetags.texts import localise
from predictions.prompts import registry


class VariantNames:
    """The names of a benchmark's prompt variants, by stage. Three queries, four without `stages`."""

    def __init__(self, benchmark: Benchmark, stages: Iterable[Stage] | None = None) -> None:
        usual = {prompt.key: prompt.setting for prompt in registry.PROMPTS}
        self._names = {
            (condition.stage, condition.setting or usual.get(condition.prompt, "")): localise(condition.name)
            for condition in model_conditions(benchmark, stages)
        }

    def name_of(self, variant: str, *stages: str) -> str:
        """The variant's name at the first of these stages that has one; of no stage, at any; else as it is stored."""
        if not variant:
            return ""
        keys = [(stage, variant) for stage in stages] or [key for key in self._names if key[1] == variant]
        return next((self._names[key] for key in keys if key in self._names), variant)
