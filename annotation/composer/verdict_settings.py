"""The form of a stage whose items are answers to judge: which answers, against what, and what they bring along."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotation.fields.settings import Setting
from benchmarks.rules.derivations import verdicts

Choices = Sequence[tuple[str, Any]]
DEFAULT_VARIANT = "(default)"
"""Stands in the form for the prompt variant without a name."""


def verdict_settings(
    answers: Choices, carried: Choices, variants: Sequence[str], params: Mapping[str, Any]
) -> tuple[Setting, ...]:
    """`answers`: the questions of the earlier stage. `carried`: names in the context of its items, with an example."""
    least = _("With fewer answers of people to the same question none of them is judged. Empty: 3.")

    def chosen_from(key: str, label: str, choices: Choices) -> Setting:
        """Its first choice is what holds where nothing is written, and stays unwritten."""
        choices = choices if key in params else [("", choices[0][1]), *choices[1:]]
        return Setting(key, "select", label, choices=choices, start=choices[0][0])

    return (
        Setting("field", "select", _("Question whose answers are judged"), choices=answers, start=_first(answers)),
        Setting("runs", "object", _("Answers of models"), row=_run_settings(variants, params.get("runs"))),
        chosen_from("people", _("Answers of people"), _people()),
        Setting("least", "int", _("Least answers of people"), least, optional=True),
        chosen_from("references", _("Reference answers"), _references()),
        chosen_from("when", _("Items appear"), _moments()),
        chosen_from("repeats", _("Repeated answers of a model"), _repeats()),
        chosen_from("pictures", _("Pictures"), _pictures()),
        *((_where(),) if "where" in verdicts.PARAMS else ()),
        carry_setting(carried),
    )


def carry_setting(carried: Choices) -> Setting:
    return Setting("carry", "many", _("Information copied from the item that was answered"), choices=carried)


def _run_settings(variants: Sequence[str], runs: Any) -> tuple[Setting, ...]:
    how = runs.get("how", "") if isinstance(runs, Mapping) else ""
    choices = [
        ("chosen" if how else "", _("those chosen on the page “Judged items”")),
        ("settings", _("every run with one of these prompt variants, also later ones")),
    ]
    choice = Setting("how", "select", _("Runs"), choices=choices, start=choices[0][0], redraws=True)
    if how != "settings":
        return (choice,)
    names = [(name or DEFAULT_VARIANT, name or _("without a name")) for name in variants]
    return (choice, Setting("settings", "many", _("Prompt variants"), choices=names))


def _where() -> Setting:
    note = _("Answers of models alone. The right answer is the one that settled a dispute, else the first person's.")
    measures = [
        ("", _("All answers")),
        ("equal", _("Those that differ from the right answer")),
        ("iou", _("Those whose box overlaps the right box too little")),
    ]
    return Setting(
        "where", "object", _("Which of them"),
        row=(
            Setting("measure", "select", _("Take"), note, choices=measures, start=""),
            Setting("at_most", "number", _("Overlap (IoU) at most"), _("0 for other answers than boxes."), start=0),
            Setting("no_answer", "bool", _("Replies without an answer, too"), start=False),
        ),
    )  # fmt: skip


def _people() -> Choices:
    return [("none", _("not judged")), ("leave_one_out", _("each one against those of the others"))]


def _references() -> Choices:
    return [
        ("people_and_asker", _("the answer of who wrote the question, then those of other people")),
        ("people", _("answers of people")),
        ("none", _("none are shown")),
    ]


def _moments() -> Choices:
    return [
        ("complete", _("when a question has all its answers of people")),
        ("now", _("as soon as there is an answer")),
    ]


def _repeats() -> Choices:
    return [("first", _("the first one")), ("all", _("all of them"))]


def _pictures() -> Choices:
    return [("none", _("none")), ("item", _("those of the item that was answered"))]


def _first(answers: Choices) -> str | None:
    return answers[0][0] if answers else None


def form_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as the form asks for them: it has a choice where the rule has a word or an object."""
    runs = params.get("runs", "")
    if isinstance(runs, Mapping) and "how" not in runs:
        names = runs.get("settings")
        names = [name or DEFAULT_VARIANT for name in names] if isinstance(names, list | tuple) else names
        runs = {**runs, "how": "settings", "settings": names}
    return {**params, "runs": runs if isinstance(runs, Mapping) else {"how": runs}}


def tidy_verdicts(params: dict[str, Any]) -> None:
    """The parameters as the rule reads them. What an earlier choice of the source left behind goes."""
    runs, where = params.get("runs"), params.get("where")
    if isinstance(runs, dict) and "how" in runs:
        names = runs.get("settings")
        names = ["" if name == DEFAULT_VARIANT else name for name in names] if isinstance(names, list) else []
        params["runs"] = {"settings": names} if runs["how"] == "settings" else runs["how"]
    if isinstance(where, dict) and not where.get("measure"):
        params.pop("where")
    for key in ("text", "image", "context"):
        if key not in verdicts.PARAMS:
            params.pop(key, None)
