"""Label Studio: tasks.json and label-config.xml. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from annotation.fields.contract import localise
from annotation.sheets.sheet import Field, Sheet
from releases.writers.contract import (
    File,
    Row,
    TaskSource,
    boxes_of,
    options_of,
    picture_path,
    size_of,
    takes_boxes,
    whole_number,
)

IMAGE, TEXT = "image", "text"
MOST_STARS = 10


def write_label_studio(source: TaskSource, *, numbered: bool = False) -> list[File]:
    """`numbered`: with `completed_by`, the number of the rater, for tools that take any number there. Label Studio
    takes only accounts that it has: those of raters that the source knows are named by their addresses."""
    numbers = {rater: number for number, rater in enumerate(source.raters, start=1)}
    accounts = numbers if numbered else {rater: {"email": email} for rater, email in source.emails.items()}
    return [
        ("tasks.json", _tasks(source, accounts)),
        ("label-config.xml", [_config(source).encode()]),
    ]


def _tasks(source: TaskSource, accounts: Mapping[str, Any]) -> Iterator[bytes]:
    yield b"["
    for place, (item, answers) in enumerate(source.tasks()):
        task = _task(source.sheet, place + 1, item, answers, accounts)
        yield (b",\n" if place else b"\n") + json.dumps(task, ensure_ascii=False).encode()
    yield b"\n]\n"


def _task(sheet: Sheet, number: int, item: Row, answers: Sequence[Row], accounts: Mapping[str, Any]) -> dict[str, Any]:
    people = [row for row in answers if row["rater_kind"] == "person"]
    models = [row for row in answers if row["rater_kind"] != "person"]
    data = {name: value for name, value in item["context"].items() if name not in ("key", IMAGE, TEXT)}
    data |= {"key": item["key"], TEXT: item["text"], "emic_raters": [row["rater"] for row in people]}
    data |= {IMAGE: picture_path(item)} if item["pictures"] else {}
    data |= {name: item[name] for name in ("concept", "origin", "condition") if item[name]}
    size = size_of(item)
    return {
        "id": number, "data": data,
        "annotations": [
            {"result": _results(sheet, row, size), "was_cancelled": False, "created_at": row["submitted_at"],
             "lead_time": row["active_seconds"], **_completed_by(row["rater"], accounts)}
            for row in people
        ],
        "predictions": [
            {"model_version": " ".join(filter(None, (row["rater"], row["setting"]))),
             "result": _results(sheet, row, size)} for row in models
        ],
    }  # fmt: skip


def _completed_by(rater: str, accounts: Mapping[str, Any]) -> dict[str, Any]:
    return {"completed_by": accounts[rater]} if rater in accounts else {}


def _results(sheet: Sheet, row: Row, size: tuple[int, int] | None) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    for field in sheet.fields:
        answer = row["answers"].get(field.key)
        if answer is not None:
            results += _field_results(field, answer, _target(field, has_picture=size is not None), size)
    return results


def _target(field: Field, *, has_picture: bool) -> str:
    return IMAGE if has_picture or takes_boxes(field) else TEXT


def _field_results(field: Field, answer: Any, target: str, size: tuple[int, int] | None) -> list[dict[str, Any]]:
    head = {"from_name": field.key, "to_name": target}
    if takes_boxes(field):
        return [{**head, **_box(box, size)} for box in boxes_of(answer)]
    if _is_stars(field):
        stars = whole_number(answer)
        return [{**head, "type": "rating", "value": {"rating": stars}}] if stars is not None else []
    if options_of(field):
        codes = answer if isinstance(answer, list) else [answer]
        return [{**head, "type": "choices", "value": {"choices": codes}}]
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return [{**head, "type": "textarea", "value": {"text": [text]}}]


def _box(box: Mapping[str, Any], size: tuple[int, int] | None) -> dict[str, Any]:
    labelled = "label" in box
    value = {
        "x": box["x0"] * 100, "y": box["y0"] * 100, "width": (box["x1"] - box["x0"]) * 100,
        "height": (box["y1"] - box["y0"]) * 100, "rotation": 0,
    }  # fmt: skip
    value |= {"rectanglelabels": [box["label"]]} if labelled else {}
    sides = {"original_width": size[0], "original_height": size[1]} if size else {}
    return {"type": "rectanglelabels" if labelled else "rectangle", "value": value, "image_rotation": 0, **sides}


def _is_stars(field: Field) -> bool:
    """Whether the points are 1, 2, 3, ... in this order: what a rating there can have."""
    points = [point.code for point in getattr(field.config, "points", ())]
    return bool(points) and len(points) <= MOST_STARS and points == [str(n) for n in range(1, len(points) + 1)]


def _config(source: TaskSource) -> str:
    """Controls under the field's key, and what they are about."""
    item = next(iter(source.tasks()), (None, ()))[0]
    has_picture = bool(item and item["pictures"]) or any(map(takes_boxes, source.sheet.fields))
    lines = ["<View>", f'  <Image name="{IMAGE}" value="${IMAGE}"/>'] if has_picture else ["<View>"]
    lines.append(f'  <Text name="{TEXT}" value="${TEXT}"/>')
    for field in source.sheet.fields:
        target = _target(field, has_picture=has_picture)
        lines.append(f"  <Header value={quoteattr(localise(field.label, 'en'))}/>")
        lines.append(f"  {_control(field, f'name={quoteattr(field.key)} toName={quoteattr(target)}')}")
    return "\n".join([*lines, "</View>", ""])


def _control(field: Field, names: str) -> str:
    if takes_boxes(field):
        labels = field.spec.part_labels(field.config)
        inner = "".join(f"<Label value={quoteattr(label.code)}/>" for label in labels)
        return f"<RectangleLabels {names}>{inner}</RectangleLabels>" if labels else f"<Rectangle {names}/>"
    if _is_stars(field):
        return f'<Rating {names} maxRating="{len(options_of(field))}"/>'
    options = options_of(field)
    if not options:
        return f"<TextArea {names}/>"
    names_of = [localise(option.label, "en") for option in options]
    inner = "".join(
        _choice(option.code, label if names_of.count(label) == 1 else option.code)
        for option, label in zip(options, names_of, strict=True)
    )
    several = bool(getattr(field.config, "many", False))
    return f'<Choices {names} choice="{"multiple" if several else "single-radio"}">{inner}</Choices>'


def _choice(code: str, label: str) -> str:
    alias = "" if code == label else f" alias={quoteattr(code)}"
    return f"<Choice value={quoteattr(label)}{alias}/>"
