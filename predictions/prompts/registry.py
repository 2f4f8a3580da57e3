"""The prompts of this site. A plugin of `papers` or of an installed package registers its own when Django starts."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from predictions.prompts import sheet
from predictions.prompts.contract import Kind, Prompt, Scene
from predictions.prompts.prompt_templates import OptionProblem, TemplatePrompt, digest

PROMPTS: tuple[Prompt, ...] = sheet.PROMPTS  # the general ones stay last; filled by `register_prompt` only


class DuplicatePrompt(ValueError):
    """The key names another prompt: keys are stored with runs and never change their meaning."""


def register_prompt(new: Prompt) -> None:
    """Make a prompt available, after those of its kind and before the general ones. Raises DuplicatePrompt."""
    global PROMPTS
    if any(one.key == new.key for one in PROMPTS):
        raise DuplicatePrompt(f"prompt {new.key!r}: the key is taken by another prompt")
    general = len(sheet.PROMPTS)
    PROMPTS = (*PROMPTS[:-general], new, *PROMPTS[-general:])


class UnknownPrompt(KeyError):
    def __str__(self) -> str:
        return str(self.args[0])


def prompt(key: str, version: str = "") -> Prompt:
    """`version` as it is stored with a run ("1", "1+0f3a9c21"); empty for the one there is. A prompt whose wording has
    changed since is another prompt: UnknownPrompt says so."""
    known = {one.key: one for one in PROMPTS}
    if key not in known:
        near = get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
        raise UnknownPrompt(f"no prompt {key!r}; {hint}")
    registered, wanted = known[key], version.partition("+")[0]
    if wanted and wanted != registered.version:
        raise UnknownPrompt(f"prompt {key!r} is now version {registered.version}, not {wanted}")
    return registered


def prompts_for(scene: Scene, kinds: Collection[Kind]) -> tuple[Prompt, ...]:
    """Those that can ask this, by what the endpoint answers; those written for such a sheet come first."""
    return tuple(one for one in PROMPTS if one.kind in kinds and one.fits(scene))


def version_of(registered: Prompt, options: Mapping[str, Any]) -> str:
    """What is stored with a run: the version, and a digest of the researcher's wording where there is one."""
    own = digest(options)
    return f"{registered.version}+{own}" if own else registered.version


def problems_of(one: Prompt, options: Mapping[str, Any]) -> list[OptionProblem]:
    """What keeps these options from being used: a place that nobody fills, a place that is missing."""
    return one.problems(options) if isinstance(one, TemplatePrompt) else []
