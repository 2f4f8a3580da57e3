"""Licences by their SPDX identifiers, which programs read."""

import hashlib
import re

_SPDX = (
    *("CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0", "CC-BY-NC-ND-4.0"),
    *("CC-BY-3.0", "CC-BY-SA-3.0", "CC-BY-2.0", "CC-BY-SA-2.0", "MIT", "Apache-2.0", "BSD-3-Clause", "BSD-2-Clause"),
    *("ODbL-1.0", "PDDL-1.0", "ODC-By-1.0", "GPL-3.0-only"),
)
EXTENSIONS = {"jpeg": "jpg"}
"""Of picture files, where it is not the name of the format."""
_UNKNOWN = ("unknown", "none", "n/a", "?", "not known")
_FORBIDDING = ("all rights reserved", "no redistribution", "not be redistributed", "do not redistribute", "proprietary")


def spdx_identifier(licence: str) -> str:
    """The identifier in its exact spelling, of a licence as people write it; "" if it is none that is known."""
    return _BY_LETTERS.get(_letters(licence), "")


def is_known(licence: str) -> bool:
    """Whether it says anything."""
    return bool(words := _words(licence)) and words not in _UNKNOWN


def may_be_shared(licence: str) -> bool:
    """Whether files under this licence may be given to others, as far as its words say."""
    return is_known(licence) and not any(part in _words(licence) for part in _FORBIDDING)


def data_licence_file(licence: str) -> bytes:
    """LICENSE of the data."""
    identifier = spdx_identifier(licence)
    address = f"Its text: https://spdx.org/licenses/{identifier}.html\n" if identifier else ""
    text = " ".join(licence.split()) or "Not stated."
    return f"Licence of the data: {text}\n{address}Pictures have licences of their own: see LICENSES.\n".encode()


def picture_licence_file(licence: str, pictures: int, uses: int) -> bytes:
    """A file of LICENSES."""
    identifier = spdx_identifier(licence)
    lines = [f"Licence: {' '.join(licence.split())}"]
    if identifier:
        lines += [f"SPDX identifier: {identifier}", f"Its text: https://spdx.org/licenses/{identifier}.html"]
    often = f", used {uses:,} times" if uses > pictures else ""
    lines.append(
        f"Pictures of the release under it: {pictures:,}{often}. The table pictures has the licence and source of each."
    )
    return "\n".join([*lines, ""]).encode()


def licence_file_name(licence: str) -> str:
    """Where a release describes a licence. Two licences have two names."""
    name = spdx_identifier(licence)
    if not name:
        plain = re.sub(r"[^A-Za-z0-9.]+", "-", licence).strip("-.")[:60]
        name = f"{plain or 'licence'}-{hashlib.sha256(licence.encode()).hexdigest()[:8]}"
    return f"LICENSES/{name}.txt"


def _words(licence: str) -> str:
    return " ".join(licence.lower().replace("-", " ").split())


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower().removesuffix("international"))


_BY_LETTERS = {_letters(identifier): identifier for identifier in _SPDX}
