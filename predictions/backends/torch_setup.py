"""What every local model needs before it is loaded: torch in order, a device, a folder, one model kept at a time.

torch is imported inside functions only: the base install has none, and the web process needs none.
"""

from __future__ import annotations

import importlib.util
import io
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.utils.translation import gettext as _
from PIL import Image

from benchmarks.images import pictures
from predictions.backends.contract import CallError

LOCAL = "local-dir:"
NAME = re.compile(r"[\w][\w.+-]{0,99}")
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?(@[\w.-]{1,95})?", re.ASCII)
MODULES = ("torch", "torchvision", "open_clip", "transformers")
Loaded = TypeVar("Loaded")
Thing = TypeVar("Thing")
_kept: dict[str, Any] = {}
_loading = threading.RLock()


class ModelUnavailable(CallError):
    """The model cannot be used here. The words are for the researcher, and say what to do."""

    def __init__(self, words: str) -> None:
        super().__init__("permanent", words)


def installed() -> bool:
    return all(map(importlib.util.find_spec, MODULES))


def missing_packages_text() -> str:
    """What to do where the packages are not there; empty where they are."""
    return "" if installed() else _("Local models are not installed here. Run ./emic models, then restart.")


def torch() -> Any:
    """The module, ready for torchvision. Raises ModelUnavailable.

    Where a torch without CUDA stands beside a torchvision that was built for CUDA, two operators are missing and
    torchvision cannot be imported. Their schemas are enough for what is used of it here.
    """
    if words := missing_packages_text():
        raise ModelUnavailable(words)
    with _loading:
        import torch as module

        if "library" not in _kept:
            _kept["library"] = None if _has_operators(module) else _declare_operators(module)
        return module


def _has_operators(module: Any) -> bool:
    """Whether torchvision's own can be loaded by this torch; torchvision loads them again, which does no harm."""
    module_spec = importlib.util.find_spec("torchvision")
    folders = map(Path, module_spec.submodule_search_locations or ()) if module_spec else ()
    for file in (file for folder in folders for file in folder.glob("_C*.*")):
        try:
            module.ops.load_library(str(file))
        except (OSError, RuntimeError):
            continue
        return True
    return False


def _declare_operators(module: Any) -> Any:
    """Their schemas. Kept alive by who calls: with the library go its schemas."""
    library = module.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library


def device() -> tuple[str, Any]:
    """Where models run, and in which precision: bfloat16 (or float16) on a GPU, float32 on the CPU."""
    module = torch()
    if not module.cuda.is_available():
        return "cpu", module.float32
    return "cuda", module.bfloat16 if module.cuda.is_bf16_supported() else module.float16


def folder_of(model: str) -> Path | None:
    """The folder of a `local-dir:NAME`; None for a model of the hub. Never outside EMIC_MODELS.

    Raises ModelUnavailable.
    """
    if not model.startswith(LOCAL):
        return None
    name = model.removeprefix(LOCAL)
    root = Path(settings.MODELS_ROOT).resolve()
    path = (root / name).resolve() if NAME.fullmatch(name) else root
    if path.parent != root or not path.is_dir():
        text = _("There is no folder “%(name)s” in the folder of models. Its operator puts models there (EMIC_MODELS).")
        raise ModelUnavailable(text % {"name": name[:100]})
    return path


def check_allowed(model: str) -> None:
    """What is fetched, the operator has listed, as it is named here. Raises ModelUnavailable."""
    if model not in settings.HUB_MODELS:
        text = _(
            "“%(name)s” is none of the models that are fetched here. The operator lists them in EMIC_HUB_MODELS, or "
            "puts the model into the folder of models, as local-dir:name."
        )
        raise ModelUnavailable(text % {"name": model[:100]})


def hub_name(name: str) -> str:
    """The name itself, where it can be one of the Hugging Face hub and nothing on this machine.

    Raises ModelUnavailable.
    """
    if HUB_NAME.fullmatch(name) and ".." not in name and not Path(name).exists():
        return name
    text = _("“%(name)s” is no name of a model. Write owner/name as on the hub, or local-dir:name.")
    raise ModelUnavailable(text % {"name": name[:100]})


def pretrained(model: str, models: Any, processors: Any) -> tuple[Any, Any]:
    """A model of transformers, where models run and ready to be asked, and its processor. `models`, `processors`: the
    classes that read them. Code that comes with a model is never run. Raises ModelUnavailable."""
    folder = folder_of(model)
    source, is_local = (str(folder), True) if folder else (hub_name(model), False)
    if not is_local:
        check_allowed(model)
    where, dtype = device()
    how: dict[str, Any] = {"local_files_only": is_local, "trust_remote_code": False}
    found = models.from_pretrained(source, dtype=dtype, **how)
    return found.to(where).eval(), processors.from_pretrained(source, **how)


class TransformersModel:
    """A model that looks at pictures, one at a time."""

    def __init__(self, name: str, model: Any, processor: Any) -> None:
        self.name = name
        self._model, self._processor = model, processor
        self._torch = torch()
        self._device, self._dtype = device()
        self._busy = threading.Lock()

    @contextmanager
    def _model_output(self, inputs: Any) -> Iterator[Any]:
        """What the model makes of inputs; others wait until it has been read."""
        with self._busy, self._torch.inference_mode():
            inputs["pixel_values"] = inputs["pixel_values"].to(self._dtype)
            yield self._model(**inputs)


def local_models() -> list[str]:
    """What can be named as `local-dir:NAME` here, in order of name."""
    root = Path(settings.MODELS_ROOT)
    if not root.is_dir():
        return []
    names = sorted(path.name for path in root.iterdir() if path.is_dir() and NAME.fullmatch(path.name))
    return [f"{LOCAL}{name}" for name in names]


def known_models() -> list[str]:
    """What a form can propose as a model: those that are here, then those that may be fetched."""
    return [*local_models(), *settings.HUB_MODELS]


def cached_model(kind: str, model: str, load: Callable[[], Loaded]) -> Loaded:
    """The model of this kind that is loaded in this process; another one takes its place. Raises ModelUnavailable."""
    with _loading:
        cached = _kept.get(kind)
        if cached is None or cached[0] != model:
            _kept.pop(kind, None)  # its memory first
            cached = _kept[kind] = (model, _load_model(model, load))
        return cached[1]  # type: ignore[no-any-return]


def _load_model(model: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except CallError:
        raise
    except MemoryError as error:
        text = _("“%(model)s” does not fit into this machine's memory.")
        raise ModelUnavailable(text % {"model": model[:100]}) from error
    except Exception as error:  # what libraries raise over files that they cannot read has no common name
        text = _("“%(model)s” could not be loaded: %(why)s")
        why = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise ModelUnavailable(text % {"model": model[:100], "why": why}) from error


def unload_models() -> None:
    """Let go of every model; for tests and for memory."""
    with _loading:
        for kind in [name for name in _kept if name != "library"]:
            del _kept[kind]


def upright(data: bytes) -> Image.Image:
    """The picture as people see it, in its own size: upright, sRGB, on white. Raises CallError."""
    try:
        return pictures.upright_rgb(io.BytesIO(data), settings.IMAGE_MAX_PIXELS)
    except pictures.NotAPicture as error:
        raise CallError("permanent", _("The picture cannot be read.")) from error


def batches(things: Sequence[Thing], size: int) -> list[Sequence[Thing]]:
    return [things[at : at + size] for at in range(0, len(things), size)]
