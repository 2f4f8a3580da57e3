from benchmarks.rules.derivations.contract import DerivationError, Draft, Picture, Result, Source
from benchmarks.rules.derivations.registry import Derivation

__all__ = ["Derivation", "DerivationError", "Draft", "Picture", "Result", "Source"]
