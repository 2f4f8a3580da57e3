"""How many proxies stand before the site (EMIC_PROXY)."""

ON, OFF = ("true", "yes", "on"), ("false", "no", "off")


def count(text: str) -> int | None:
    """The number of proxies that add to `X-Forwarded-For`; None where the text is neither a number nor yes or no."""
    text = text.strip().lower()
    if text in ON:
        return 1
    if text in ("", *OFF):
        return 0
    return int(text) if text.isascii() and text.isdigit() and len(text) < 3 else None
