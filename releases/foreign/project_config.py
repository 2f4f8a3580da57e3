"""The YAML of a project, without what makes YAML dangerous: no tags, no aliases, nothing large. Pure."""

from collections.abc import Mapping
from typing import Any, BinaryIO

import yaml
from django.utils.translation import gettext as _

from benchmarks.imports.problems import SourceProblem

LONGEST = 1024 * 1024


def read_project_config(file: BinaryIO) -> Mapping[str, Any]:
    """Raises SourceProblem."""
    text = file.read(LONGEST + 1).decode("utf-8-sig", "replace")
    if len(text) > LONGEST:
        raise SourceProblem(_("The configuration is larger than 1 MB."))
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
                raise SourceProblem(_("The configuration has aliases or tags of YAML, which are not read."))
        data = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise SourceProblem(_("The configuration is no YAML that can be read.")) from error
    return data if isinstance(data, dict) else {}
