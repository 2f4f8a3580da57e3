from django.utils.translation import get_language_info

NARROWER = {"zh": "zh-hans"}  # Django knows the scripts, people say the language


def own_name(code: str) -> str:
    """What a language calls itself; its code where nobody knows."""
    try:
        return str(get_language_info(NARROWER.get(code, code))["name_local"])
    except KeyError:
        return code
