"""What is put right in the description of the API after it was generated."""

from typing import Any


def allow_null_as_any(result: Any, **_more: Any) -> Any:
    """A member of any type that may be null is described as one of "anything" and null; but null is anything, too, so
    that exactly one of the two is never right. Such a member is of any type."""
    _simplify(result)
    return result


def add_long_addresses(result: Any, **_more: Any) -> Any:
    """The web server refuses a request line over its limit, before the site sees it: the reply is no problem+json."""
    reply = {"description": "The address is too long.", "content": {"text/html": {"schema": {"type": "string"}}}}
    result["components"].setdefault("responses", {})["AddressTooLong"] = reply
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"]["414"] = {"$ref": "#/components/responses/AddressTooLong"}
    return result


def _simplify(node: Any) -> None:
    if isinstance(node, dict):
        if {} in node.get("oneOf", ()):
            del node["oneOf"]
        for member in node.values():
            _simplify(member)
    elif isinstance(node, list):
        for member in node:
            _simplify(member)
