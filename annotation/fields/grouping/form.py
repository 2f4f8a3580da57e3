"""A grouping as a web form: one hidden input that a script writes; without a script, a select for each picture."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.fields.contract import Shown
from annotation.fields.form import Localiser, PostData
from annotation.fields.grouping.spec import PARTS, Answer, Config, count_pictures, picture_names, role_keys

OFFERED = 6  # pictures that "same as" names in a select: those beside it; "same as" is transitive


@dataclass(frozen=True)
class SelectOption:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class PictureRow:
    """One picture without a script: what is done with it, and what it is to the one that is kept."""

    number: int
    name: str
    acts: Sequence[SelectOption]
    roles: Sequence[SelectOption]


@dataclass(frozen=True)
class RoleKey:
    """A role as the sheet's script needs it."""

    code: str
    label: str
    key: str
    keeps: bool


class GroupingForm:
    script = "js/fields/grouping.js"
    style = ""
    draws_item = True

    def read(self, posted: PostData, name: str) -> Any:
        """The JSON that the script wrote; else the acts of the selects. What is no grouping stays as it came."""
        values = [str(value) for value in posted.getlist(name) if value]
        written = next((value for value in values if value.startswith("{")), None)
        if written is not None:
            return _canonical_json(written)
        return values[0] if len(values) == 1 and ":" not in values[0] else values or None

    def fill(self, raw: Any) -> list[str]:
        if raw is None:
            return []
        if isinstance(raw, Mapping):
            return [json.dumps(raw, ensure_ascii=False, separators=(",", ":"))]
        return [str(value) for value in raw] if isinstance(raw, (list, tuple)) else [str(raw)]

    def context(self, config: Config, answer: Any, speech: Localiser, shown: Shown | None) -> Mapping[str, Any]:
        order = picture_names(shown) if shown is not None else []
        acts = _picture_actions(answer)
        keys = role_keys(config)
        near = shown.context.get("near", {}) if shown is not None else {}
        return {
            "written": self.fill(answer)[0] if isinstance(answer, Mapping) and answer else "",
            "rows": [_row(name, order, acts, near, config, speech) for name in order],
            "roles": [RoleKey(role.code, speech.say(role.label), keys[role.code], role.keeps) for role in config.roles],
            "not_sure": config.not_sure,
            "keep_one": speech.say(config.keep_one),
            "keep_both": speech.say(config.keep_both),
            "count": len(order),
        }

    def answered(self, config: Config, answer: Answer, speech: Localiser) -> Mapping[str, Any]:
        labels = {role.code: speech.say(role.label) for role in config.roles}
        groups = [
            [(name, name in group["kept"], labels.get(group["roles"].get(name, ""), "")) for name in group["images"]]
            for group in answer["groups"]
        ]
        several = [group for group in groups if len(group) > 1]
        alone = [group[0] for group in groups if len(group) == 1]
        return {
            **count_pictures(answer),
            "several": several,
            "alone": alone,
            "out": answer["dropped"],
            "open": answer["unsure"],
        }


def _canonical_json(written: str) -> Any:
    """The JSON of a partition and nothing else; text that is something else stays text, for it is kept in drafts."""
    try:
        data = json.loads(written)
        written.encode()
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # a lone surrogate is a ValueError too
        return written[:200]
    shaped = isinstance(data, dict) and set(data) <= set(PARTS) and "\\u0000" not in written
    return data if shaped else written[:200]


def _picture_actions(answer: Any) -> dict[str, tuple[str, str]]:
    """Of each picture, the value of its select and its role, out of a whole, a partial or a refused answer."""
    acts: dict[str, tuple[str, str]] = {}
    if isinstance(answer, Mapping):
        for group in answer.get("groups") or []:
            if isinstance(group, Mapping):
                acts |= _group_actions(group)
        for part, act in (("dropped", "drop"), ("unsure", "unsure")):
            acts |= {str(name): (f"{act}:{name}", "") for name in answer.get(part) or []}
    elif isinstance(answer, (list, tuple)):
        for action in answer:
            act, name, *rest = [*str(action).split(":", 3), ""]
            chosen_action, role = acts.get(name, ("", ""))
            if act == "role":
                acts[name] = (chosen_action, rest[0])
            else:
                acts[name] = (":".join([act, name, *rest[:1]]) if act == "same" else f"{act}:{name}", role)
    return acts


def _group_actions(group: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    images, roles = list(group.get("images") or []), group.get("roles") or {}
    kept_images = list(group.get("kept") or images[:1])
    first = kept_images[0] if kept_images else ""
    return {
        name: (f"keep:{name}" if name == first else f"same:{name}:{first}", str(roles.get(name, ""))) for name in images
    }


def _row(
    name: str,
    order: list[str],
    acts: Mapping[str, tuple[str, str]],
    near: Mapping[str, Any],
    config: Config,
    speech: Localiser,
) -> PictureRow:
    action, role = acts.get(name, ("", ""))
    at = order.index(name)
    neighbours = (
        order[max(0, at - 2) : at]
        + [near_name for near_name, _alike in near.get(name, [])]
        + order[max(0, at - OFFERED) : at]
    )
    target = action.split(":")[2] if action.startswith("same:") else ""
    others = dict.fromkeys([*([target] if target else []), *neighbours[:OFFERED]])
    offered = [("keep", _("Keep")), ("drop", _("Drop"))] + ([("unsure", _("Not sure"))] if config.not_sure else [])
    rows = [("", _("Not decided")), *((f"{act}:{name}", label) for act, label in offered)]
    same = _("Same as %(number)s")
    rows += [
        (f"same:{name}:{target_name}", same % {"number": order.index(target_name) + 1})
        for target_name in others
        if target_name in order
    ]
    roles = [("", "–"), *((f"role:{name}:{one.code}", speech.say(one.label)) for one in config.roles)]
    return PictureRow(
        at + 1,
        name,
        [SelectOption(value, label, value == action) for value, label in rows],
        [SelectOption(value, label, value == f"role:{name}:{role}") for value, label in roles] if config.roles else [],
    )


FORM = GroupingForm()
