from benchmarks.rules.derivations.contract import DerivationError, DerivationSource, ItemDraft, PictureRef, Result
from benchmarks.rules.derivations.registry import Derivation

__all__ = ["Derivation", "DerivationError", "DerivationSource", "ItemDraft", "PictureRef", "Result"]
