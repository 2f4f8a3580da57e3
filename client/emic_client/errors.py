"""What can go wrong, each kind as an exception of its own, with what the site wrote about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Problem:
    """A problem document (RFC 9457). `instance` is the number under which the site's log has the request.

    Attributes:
        errors: of a refused body, a list of pointer (which member), code and detail.
        parameter: which parameter of the address is wrong.
        needs: the scope that the token lacks.
    """

    type: str = ""
    title: str = ""
    status: int = 0
    detail: str = ""
    code: str = ""
    instance: str = ""
    errors: tuple[Mapping[str, Any], ...] = ()
    parameter: str = ""
    needs: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], status: int) -> Problem:
        texts = ("type", "title", "detail", "code", "instance", "parameter", "needs")
        errors = data.get("errors")
        return cls(
            status=status,
            errors=tuple(entry for entry in errors if isinstance(entry, dict)) if isinstance(errors, list) else (),
            raw=data,
            **{name: str(data.get(name) or "") for name in texts},
        )

    def __str__(self) -> str:
        sentences = [self.title, self.detail]
        sentences += [f"{entry.get('pointer', '')}: {entry.get('detail', '')}" for entry in self.errors[:10]]
        if len(self.errors) > 10:
            sentences.append(f"and {len(self.errors) - 10} more")
        if self.instance:
            sentences.append(f"(request {self.instance})")
        return " ".join(sentence for sentence in sentences if sentence)


class EmicError(Exception):
    """Anything that went wrong with a site. `problem` is what the site wrote; empty where it did not answer.

    `retry_after`: seconds after which the site may be asked again, where it said so.
    """

    retry_after: float | None = None

    def __init__(self, message: str = "", problem: Problem | None = None) -> None:
        self.problem = problem or Problem()
        super().__init__(message or str(self.problem))


class InvalidRequest(EmicError):
    """400: the address asks for what is not there; `problem.parameter` says which part."""


class Unauthorised(EmicError):
    """401: no token, or one that is mistyped, expired or revoked."""


class Forbidden(EmicError):
    """403: the token lacks a scope, which `problem.needs` names."""


class NotFound(EmicError):
    """404: no such thing, or nothing for this token: a stranger cannot tell which."""


class Conflict(EmicError):
    """409: the state of the site does not allow it, or there is nothing to compute from yet."""


class Gone(EmicError):
    """410: the file is no longer kept, or a position is from before a backup was restored."""


class Stale(EmicError):
    """412: somebody else changed it since it was read. Read it again."""


class Refused(EmicError):
    """422: the site does not take the content; `problem.errors` says which part of it."""


class RateLimited(EmicError):
    """429: too many requests, also after waiting as long as the site asked for."""


class ServerError(EmicError):
    """The site made a mistake (5xx), or is too busy."""


class Unreachable(EmicError):
    """The site does not answer."""


class BrokenStream(EmicError):
    """Rows stopped before the number that the site announced. What was read so far is not all of it."""


class WaitTimeout(EmicError):
    """The job was not over in the time that `wait` was given. It goes on."""


BY_STATUS: Mapping[int, type[EmicError]] = {
    400: InvalidRequest,
    401: Unauthorised,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    412: Stale,
    422: Refused,
    428: Stale,
    429: RateLimited,
}


def error_for(status: int, problem: Problem) -> EmicError:
    """The exception for a reply that is no success.

    >>> error_for(404, Problem(title="Not found"))
    NotFound('Not found')
    >>> error_for(418, Problem()), error_for(502, Problem(detail="Too busy."))
    (EmicError('The site answered with 418.'), ServerError('Too busy.'))
    """
    kind = BY_STATUS.get(status, ServerError if status >= 500 else EmicError)
    return kind(str(problem) or f"The site answered with {status}.", problem)
