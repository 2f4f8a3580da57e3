"""What a model of open_clip says of itself, read with care: a file of the hub, or of a folder, that anybody may have
written. open_clip hands parts of it on to libraries that would run code for it, or open any path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from predictions.backends.torch_setup import ModelUnavailable, hub_name

HARMLESS = {"clean", "strip_sep_token", "language", "reduction_mask", "additional_special_tokens"}
"""What a tokenizer may be told. Not among them: `trust_remote_code`, paths, proxies."""


def load_checked_config(model: str, source: str) -> Mapping[str, Any]:
    """The config of `source`, where nothing in it reaches further than the model's own weights.

    Raises ModelUnavailable.
    """
    import open_clip

    config = open_clip.get_model_config(source)
    text = config.get("text_cfg") if isinstance(config, dict) else None
    if not isinstance(config, dict) or not isinstance(text, dict):
        raise ModelUnavailable(_("“%(model)s” has no config that open_clip can read.") % {"model": model[:100]})
    more = text.get("tokenizer_kwargs") or {}
    if not isinstance(more, dict) or set(more) - HARMLESS:
        raise _refused(model, ", ".join(sorted(set(more) - HARMLESS)) if isinstance(more, dict) else "tokenizer_kwargs")
    vision = config.get("vision_cfg")
    for part, key in ((text, "hf_model_name"), (text, "hf_tokenizer_name"), (vision, "timm_model_name")):
        name = part.get(key) if isinstance(part, dict) else None
        if name and not (key == "hf_tokenizer_name" and source.startswith("local-dir:")):  # the folder's own is taken
            hub_name(str(name).removeprefix("hf-hub:"))
    return config


def _refused(model: str, what: str) -> ModelUnavailable:
    text = _("“%(model)s” asks for what no model is given here (%(what)s): code that comes with one is never run.")
    return ModelUnavailable(text % {"model": model[:100], "what": what[:100]})


def tokenizer(source: str, config: Mapping[str, Any]) -> Any:
    """As open_clip.get_tokenizer makes it, out of the config that was checked, and never by code of the model."""
    import open_clip
    from open_clip.tokenizer import DEFAULT_CONTEXT_LENGTH, HFTokenizer, SimpleTokenizer

    kind, _colon, rest = source.partition(":")
    if not rest:
        return open_clip.get_tokenizer(source)  # one of open_clip's own
    text = config["text_cfg"]
    length = text.get("context_length", DEFAULT_CONTEXT_LENGTH)
    more = text.get("tokenizer_kwargs") or {}
    if name := text.get("hf_tokenizer_name"):
        where = Path(rest) if kind == "local-dir" else name
        mode = text.get("tokenizer_mode")
        return HFTokenizer(where, context_length=length, tokenizer_mode=mode, trust_remote_code=False, **more)
    return SimpleTokenizer(context_length=length, **more)
