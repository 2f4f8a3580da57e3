"""What the codes of calls say to a researcher: what happened, then what to do."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.fields import messages

MISSING_INPUT = {
    "no_article": _("The linking run has no article for this item."),
    "no_titles": _("The linking run has no concepts for this item."),
    "no_links": _("No linking run is chosen, and the item itself brings no article and no concepts."),
    "no_gold_article": _("The knowledge base has no article for the right entry of this item (column gold_entity)."),
    "no_base": _("No knowledge base is chosen."),
    "no_image": _("A picture that is to be shown is missing."),
    "no_text": _("The item has no text to show."),
    "no_target": _("The item has no target culture, and the prompt needs one."),
    "no_question": _("The sheet does not have the question that the prompt asks."),
    "no_candidate": _("The item has no candidate answer to judge."),
    "no_references": _("The item has no answers of people to judge by."),
    "no_options": _("The item has no options to choose from."),
    "no_cut": _("The item does not say where its picture was cut."),
    "no_concept": _("The item has no concept, and the prompt names it."),
    "no_entities": _("The item has no entities, and the prompt names them."),
    "too_few_examples": _("There are fewer examples than the prompt shows."),
    "is_an_example": _("The item is one of the examples, so it is not asked about."),
    "bad_wording": _("The prompt has an unfilled placeholder. Edit the plan."),
    "no_scale": _("The sheet has no scale that the prompt could ask for."),
    "no_way": _("The endpoint offers none of the ways in which this prompt can be asked."),
    "no_pictures": _("The prompt shows pictures, and the endpoint takes none. If it does, tick “Pictures” there."),
    "no_continuation": _("The endpoint cannot say how likely a text is, and the prompt asks for it."),
}
"""What keeps a unit from being asked at all (the codes of `Lacking`): nothing is sent for it."""

REASONS = {
    **MISSING_INPUT,
    # nothing came that could be read
    "empty": _("The reply is empty. Ask again, or allow more words."),
    "cut_off": _("The reply stops before its end. Allow more tokens, then ask again."),
    "content_filter": _("The provider's filter stopped the reply."),
    "said_no": _("The model refused to answer."),
    "bad_json": _("The reply is not in the form that was asked for."),
    "no_verdict": _("The reply gives no verdict."),
    "two_verdicts": _("The reply gives two different verdicts, so neither is taken."),
    "no_number": _("There is no number in the reply."),
    "several_numbers": _("There are several numbers in the reply, so none is taken."),
    "no_choice": _("The reply names none of the choices."),
    "several_choices": _("The reply names several choices, so none is taken."),
    "no_box": _("There is no box in the reply."),
    "several_boxes": _("There are several boxes in the reply, so none is taken."),
    "not_one_to_one": _("The reply does not give each entry a rank of its own."),
    "outside_scale": _("The reply is out of range. It was not changed."),
    "empty_box": _("The box in the reply has no area."),
    "other_notation": _("The box uses another scale than the plan states. Correct the scale in the plan."),
    "outside_image": _("The box lies outside the picture."),
    "no_logprobs": _("The endpoint sent no log-probabilities. Ask in another way."),
    "other_tokens": _("The two likelihoods are of different tokens, so they cannot be set against each other."),
    "little_mass": _("The codes of the scale together are less likely than the run asks for, so none is taken."),
    "word_missing": _("The reply does not have the word of the item as it is written."),
    "culture_cue": _("The reply names a country or its people, which this prompt forbids."),
    "missing_answer": _("The reply leaves a question of the sheet without an answer."),
    "mixed": _(
        "Answers of this model were imported from a file in the meantime. A model has either a run or an import."
    ),
    "incomplete": _("Some question of the sheet has no readable answer."),
    "required": _("The reply leaves a question of the sheet without an answer."),
    "sheet": _("The reply was read, and the sheet does not take it as an answer."),
    # what happened on the way
    "rate_limit": _("Too many requests. Reduce the parallel requests of the endpoint, then retry."),
    "transient": _("The server returned an error each time. Retry later."),
    "timeout": _("No reply came in time. Retry, or wait longer at this endpoint."),
    "connection": _("The connection failed each time. Check the endpoint, then retry."),
    "not_allowed": _("Authentication failed. Check the API key of the endpoint, then retry."),
    "permanent": _("The server rejected this request. Its message is shown with the attempts."),
    "budget": _("The budget is exhausted. Raise it to send the remaining requests."),
    "stopped": _("The run was stopped before its turn, so it was not asked."),
    "fault": _("Internal error; see the operator's log."),
}  # fmt: skip

STOPPED = {
    "budget": _("What is left of the budget is too small for the next request. Raise it to go on."),
    "price": _("This model has no price any more, so its budget cannot be checked. Add a price, then resume."),
    "person": _("Paused by a user."),
    "not_allowed": _("Authentication failed. Check the API key of the endpoint, then resume."),
    "failures": _("Too many calls failed one after another. Look at why, then resume."),
    "connection": _("The server cannot be reached. Check the endpoint, then resume."),
    "stopped": _("Stopped by a user."),
    "files": _("Answers of this model were imported from a file. Withdraw either the run or the import."),
    "prompt_changed": _("The prompt's wording has changed since. Plan a new run."),
    "moved": _("The endpoint's address has changed. A run uses one server. Create a new run."),
    "retired": _("The endpoint was retired. Nothing more is asked of it."),
    "key": _("The endpoint's key cannot be read by this site any more. Type it in again there, then resume."),
    "closed": _("The campaign takes no answers now."),
}

OFFERS = (
    ("images", _("Pictures"), _("The model is shown pictures. Without this, nothing that shows some is asked.")),
    ("schema", _("JSON schema"), _("The reply keeps to a JSON schema that we send.")),
    ("guided", _("Guided choice"), _("The reply is one of the choices that we send, and nothing else.")),
    ("logprobs", _("Log-probabilities"), _("It says how likely each token was: a scale is read from all its codes.")),
    ("continuation", _("Likelihood of a text"), _("It says how likely a text is that we give, without writing any.")),
    ("seed", _("Seed"), _("It takes a seed, so that the same request tends to give the same reply.")),
)

WAYS = {
    "logprobs": _("by log-probabilities"),
    "guided": _("by guided choice"),
    "schema": _("by JSON schema"),
    "text": _("from free text"),
}

KINDS = {
    "continuation": _("from how likely the text is"),
    "probe": _("from how near the picture is to each text"),
    "grounding": _("from the boxes that were found"),
}

UNMADE = {
    "no_words": _(
        "no words in the language of its country. Choose the stage under “Native names from”, or add the column "
        "concept_in_native or words of queries"
    ),
    "no_query": _("no query of its concept and country is accepted"),
    "no_caption": _("no text of this collection names it in its column image_id"),
    "no_described": _("no words with the name of another country. Add them under “Words of queries”"),
    "no_country": _("no other country with another language has a picture of its concept"),
    "correct": _("no right candidate: no other country has a picture of its concept"),
    "language_biased": _("no other concept is pictured from its country"),
    "object_language_biased": _("no candidate of its concept from its country"),
    "object_relevant": _("no candidate of its concept from a third country"),
    "descriptor_relevant": _("no candidate of another concept from the country that is named"),
    "irrelevant": _("no candidate of another concept from another country"),
}

GOT = {**WAYS, "likelihood": KINDS["continuation"], "similarity": KINDS["probe"], "boxes": KINDS["grounding"]}
"""How an answer was got, by what stands with it (Call.how)."""

PROBLEMS = {
    "blank": _("There is only white space here. Write a text, or empty the field: then the prompt's own is sent."),
    "unknown_place": _("The placeholder {%(place)s} has no value. Remove it, or correct its name."),
    "missing_place": _("{%(place)s} is missing, and the prompt needs it."),
    "no_base": _("Choose the knowledge base that has the articles. Import one under “Knowledge bases” first."),
    "no_cut": _("Give a number: a likelihood on one side of it counts as relevant, on the other as not."),
    "not_a_choice": _("This is none of the choices."),
    "not_demonstrations": _("These could not be read as demonstrations. Write them in the form that the help shows."),
}


def incomplete(fields: Any) -> str:
    """Which questions of an answered call have no readable answer, and why. `fields`: code by field."""
    if not isinstance(fields, Mapping) or not fields:
        return reason_text("incomplete")
    parts = "; ".join(f"{field}: {field_reason(str(code)).rstrip('.')}" for field, code in fields.items())
    return str(_("Without a readable answer: %(fields)s. The others count.")) % {"fields": parts}


def unfit(problems: Any) -> str:
    """Which rules of the sheet a reply breaks. `problems`: codes by question."""
    if not isinstance(problems, Mapping) or not problems:
        return reason_text("sheet")
    rules = "; ".join(
        f"{field}: {', '.join(field_reason(str(code)).rstrip('.') for code in codes)}"
        for field, codes in problems.items()
    )
    return str(_("The reply was read, and the sheet does not take it: %(rules)s.")) % {"rules": rules}


def no_input_reason(units: int, missing: Mapping[str, int]) -> str:
    """Why a plan cannot start, where none of its units can be asked or a linking run has to be chosen; else empty.
    `missing`: units that cannot be asked, by the code of what they lack."""
    n = sum(missing.values())
    if missing.get("no_links") and n >= units:
        return gettext(
            "No item has an article or concepts of its own, and no linking run is chosen. Choose one in the plan."
        )
    if n < units:
        return ""
    [(code, _n)] = Counter(missing).most_common(1)
    text = ngettext(
        "The %(n)s item cannot be sent. %(reason)s", "None of the %(n)s items can be sent. %(reason)s", units
    )
    return text % {"n": f"{units:,}", "reason": reason_text(code)}


def field_reason(code: str) -> str:
    """Why one question has no readable answer: a code of the reading, or of the sheet."""
    of_sheet = str(messages.WORDS[code][0]) if code in messages.WORDS and code not in REASONS else ""
    return reason_text(code) if not of_sheet or "%(" in of_sheet else of_sheet


def sample_words(selection: Mapping[str, Any]) -> str:
    """How a run's sample was drawn; empty where it asks every unit, or where that was not stored."""
    strata = selection.get("strata")
    if not selection.get("sample") or not isinstance(strata, Mapping):
        return ""
    n = {name: strata.get(name, 0) for name in ("full", "some", "none")}
    numbers = n | {"n": sum(n.values()), "units": selection.get("units", 0)}
    sample_text = str(_("a sample of %(n)s of %(units)s items")) % numbers
    draw = _("drawn at random") if selection.get("draw") == "any" else _("items that people answered first")
    rest = _("%(full)s with all the answers of people that are wanted, %(some)s with fewer, %(none)s with none")
    return f"{sample_text}, {draw}: {str(rest) % numbers}"


def method_label(kind: str, way: str) -> str:
    """How an answer is got: by the kind of request, and by the way of a chat."""
    return str(KINDS.get(kind) or GOT.get(way) or way)


def option_problem_text(code: str, place: str) -> str:
    """Why an option of a prompt cannot be used."""
    return str(PROBLEMS.get(code) or _("This cannot be used as it is (%(code)s).")) % {"place": place, "code": code}


def no_query_text(code: str) -> str:
    """Why a picture yields no query."""
    return str(UNMADE.get(code) or code.replace("_", " "))


def tie_text(codes: Sequence[str]) -> str:
    """Why no code is taken, where several are the likeliest."""
    return str(_("These codes are equally likely, so none is taken: %(codes)s.")) % {"codes": ", ".join(codes)}


def reason_text(code: str) -> str:
    """A sentence for a call's reason; the code itself where nobody has written one."""
    return str(REASONS.get(code) or code.replace("_", " "))


def pause_reason_text(code: str) -> str:
    """Why a run was paused or stopped, as a sentence."""
    return str(STOPPED.get(code) or reason_text(code))
