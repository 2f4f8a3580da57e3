"""Secrets of endpoints, encrypted. The key comes from the environment: a copy of the database alone opens none."""

import base64
import binascii
from collections.abc import Callable, Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

Rotation = Callable[[], tuple[int, list[int]]]
ROTATIONS: dict[str, Rotation] = {}
"""By what the secrets are of: encrypts them with the first key, and returns how many and those that no key opens."""


def register_rotation(name: str, rotation: Rotation) -> None:
    """Let an app above have its own secrets encrypted anew with those of endpoints."""
    ROTATIONS[name] = rotation


class MissingKey(Exception):
    """This site has no key to encrypt with, or one that is none; the message says what to do."""


class WrongKey(Exception):
    """The secret was encrypted with a key that this site has not; the message says what to do."""


def _keys() -> MultiFernet:
    """The first encrypts, all are tried for reading. Raises MissingKey."""
    keys: Sequence[str] = settings.SECRETS_KEYS
    if not keys:
        raise MissingKey(_("API keys cannot be stored. The operator must set EMIC_SECRETS_KEY."))
    try:
        return MultiFernet([Fernet(_decode_key(one)) for one in keys])
    except (ValueError, binascii.Error) as error:
        raise MissingKey(_("EMIC_SECRETS_KEY is invalid: it takes 32 random bytes in base 64.")) from error


def _decode_key(told: str) -> bytes:
    """Base 64 of either alphabet."""
    data = base64.b64decode(told.strip().replace("-", "+").replace("_", "/"), validate=True)
    return base64.urlsafe_b64encode(data)


@sensitive_variables()
def encrypt(secret: str) -> str:
    """Encrypted, for the database. Raises MissingKey."""
    return _keys().encrypt(secret.encode()).decode()


@sensitive_variables()
def decrypt(encrypted: str) -> str:
    """The secret itself, for the request's header alone. Raises MissingKey, Unopened."""
    try:
        return _keys().decrypt(encrypted.encode()).decode()
    except InvalidToken as error:
        raise WrongKey(_("The secret was kept with another key than this site has now. Type it in again.")) from error


def reencrypt(encrypted: str) -> str:
    """The same secret, encrypted with the first key. Raises MissingKey, Unopened."""
    try:
        return _keys().rotate(encrypted.encode()).decode()
    except InvalidToken as error:
        raise WrongKey(_("The secret was kept with another key than this site has now. Type it in again.")) from error


def key_problem() -> str:
    """What is wrong with the keys that are set, if anything is."""
    try:
        _keys()
    except MissingKey as problem:
        return str(problem) if settings.SECRETS_KEYS else ""
    return ""
