"""Licences by their SPDX identifiers, which programs read."""

import re

_SPDX = (
    *("CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0", "CC-BY-NC-ND-4.0"),
    *("CC-BY-3.0", "CC-BY-SA-3.0", "CC-BY-2.0", "CC-BY-SA-2.0", "MIT", "Apache-2.0", "BSD-3-Clause", "BSD-2-Clause"),
    *("ODbL-1.0", "PDDL-1.0", "ODC-By-1.0", "GPL-3.0-only"),
)


def spdx_identifier(licence: str) -> str:
    """The identifier in its exact spelling, of a licence as people write it; "" if it is none that is known."""
    return _BY_LETTERS.get(_letters(licence), "")


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower().removesuffix("international"))


_BY_LETTERS = {_letters(identifier): identifier for identifier in _SPDX}
