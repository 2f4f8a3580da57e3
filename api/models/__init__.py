"""What the API remembers of programs."""

from api.models.requests import ApiRequest

__all__ = ["ApiRequest"]
