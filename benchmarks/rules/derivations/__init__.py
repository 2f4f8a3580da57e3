from benchmarks.rules.derivations.contract import DerivationError, ItemDraft, PictureRef, Result, Source
from benchmarks.rules.derivations.registry import Derivation

__all__ = ["Derivation", "DerivationError", "ItemDraft", "PictureRef", "Result", "Source"]
