"""What a request brings: the members of its JSON body and the parameters of its address, none of them unknown."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from rest_framework import exceptions, serializers
from rest_framework.request import Request

from api.protocol.problems import BadContent, InvalidParameter, Refused

Errors = list[dict[str, str]]
UNKNOWN = "unknown-member"


def check_parameters(request: Request, known: Sequence[str]) -> None:
    """Raises InvalidParameter."""
    for name, values in request.query_params.lists():
        if name not in known:
            names = ", ".join(known) or "-"
            raise InvalidParameter(name, _("This parameter is unknown. There are: %(names)s.") % {"names": names})
        if any("\0" in value for value in values):
            raise InvalidParameter(name, _("A NUL character cannot be stored."))


def read_content(request: Request, shape: type[serializers.Serializer[Any]] | None) -> dict[str, Any]:
    """The members of a body, checked by their types. Raises BadContent; without a shape a body must be empty."""
    try:
        data = request.data
    except RecursionError as error:
        raise exceptions.ParseError(_("The JSON is nested too deeply.")) from error
    return check_content({} if isinstance(data, QueryDict) else data, shape)  # without a body and a type


def check_content(data: Any, shape: type[serializers.Serializer[Any]] | None) -> dict[str, Any]:
    """The members of an object. Raises BadContent."""
    if not isinstance(data, dict):
        raise BadContent([problem("", "not-an-object", _("The body has to be a JSON object."))])
    if pointer := next(_unstorable(data), None):
        raise BadContent([problem(pointer, "character", _("A NUL character or a lone surrogate cannot be stored."))])
    if pointer := next(_unbounded(data), None):
        raise BadContent([problem(pointer, "number", _("This number is beyond all bounds."))])
    serializer = (shape or serializers.Serializer)(data=data)
    errors = [*_unknown(serializer, data)]
    if not serializer.is_valid():
        errors += _flat(serializer.errors)
    if errors:
        raise BadContent(errors)
    return dict(serializer.validated_data)


def problem(pointer: str, code: str, detail: Any) -> dict[str, str]:
    """One entry of `errors`; the pointer is that of RFC 6901."""
    return {"pointer": pointer, "code": code, "detail": str(detail)}


def refused(member: str, text: str, **more: Any) -> Refused:
    """A member of the content cannot be taken, for this reason."""
    return Refused(text, errors=[problem(f"/{member}", "refused", text)], **more)


def step(name: Any) -> str:
    """A part of a pointer."""
    return "/" + str(name).replace("~", "~0").replace("/", "~1")


def _unstorable(value: Any, pointer: str = "") -> Iterator[str]:
    """Where texts are that the database cannot keep."""
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            yield pointer
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _unstorable(name, pointer)
            yield from _unstorable(member, pointer + step(name))
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield from _unstorable(member, pointer + step(place))


def _unbounded(value: Any, pointer: str = "") -> Iterator[str]:
    """Where numbers are that JSON writes and cannot keep, such as 1e400."""
    if isinstance(value, float) and not math.isfinite(value):
        yield pointer
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from _unbounded(member, pointer + step(name))


def _unknown(serializer: Any, data: Any, pointer: str = "") -> Iterator[dict[str, str]]:
    """Members that the shape does not have, at any depth that it describes."""
    if isinstance(serializer, serializers.ListSerializer) and isinstance(data, list):
        for place, member in enumerate(data):
            yield from _unknown(serializer.child, member, pointer + step(place))
    elif isinstance(serializer, serializers.Serializer) and isinstance(data, dict):
        fields = serializer.fields
        for name, member in data.items():
            if name in fields:
                yield from _unknown(fields[name], member, pointer + step(name))
            else:
                words = _("This member is unknown. There are: %(names)s.") % {"names": ", ".join(fields) or "-"}
                yield problem(pointer + step(name), UNKNOWN, words)


def _flat(errors: Any, pointer: str = "") -> Errors:
    """The errors of a serializer as a list."""
    if isinstance(errors, Mapping):
        parts = [
            _flat(member, pointer if name == "non_field_errors" else pointer + step(name))
            for name, member in errors.items()
        ]
        return [entry for part in parts for entry in part]
    if isinstance(errors, list) and any(isinstance(member, Mapping | list) for member in errors):
        parts = [_flat(member, pointer + step(place)) for place, member in enumerate(errors) if member]
        return [entry for part in parts for entry in part]
    return [problem(pointer, getattr(error, "code", "invalid"), error) for error in errors]


# ---- the forms of the pages ------------------------------------------------------------------------------------------


def form_data(content: Mapping[str, Any]) -> QueryDict:
    """A body as a page would post it: null and false are left out, a list is repeated."""
    data = QueryDict(mutable=True)
    for name, value in content.items():
        if isinstance(value, list | tuple):
            data.setlist(name, [str(member) for member in value])
        elif value is not None and value is not False:
            data[name] = "on" if value is True else str(value)
    return data


def check_form(form: forms.BaseForm) -> dict[str, Any]:
    """The cleaned data of a page's form. Raises Refused with its errors, each at its member."""
    if form.is_valid():
        return dict(form.cleaned_data)
    raise Refused(_("The form of the page would refuse this."), errors=form_problems(form))


def form_problems(form: forms.BaseForm, pointer: str = "") -> Errors:
    """The errors of a form, each at its member below the pointer."""
    return [
        problem(pointer if name == "__all__" else pointer + step(name), detail.code, detail)
        for name, details in form.errors.as_data().items()
        for detail in _details(details)
    ]


def _details(errors: Any) -> list[Any]:
    return [exceptions.ErrorDetail(str(text), error.code or "invalid") for error in errors for text in error.messages]
