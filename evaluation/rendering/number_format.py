"""Numbers as they are shown: every form of a report rounds here, so that all show the same digits."""

from evaluation.metrics.estimate import Estimate

MINUS = "\u2212"


def format_number(value: float) -> str:
    """Two decimals with a true minus sign; what rounds to nothing has no sign."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", MINUS)


def format_interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{format_number(estimate.low)}, {format_number(estimate.high)}]"


def format_percent(share: float | None) -> str:
    """A share in percent; a whole number where it is one, and never 0 or 100 for what only rounds to it."""
    if share is None:
        return ""
    percent = 100 * share
    if percent == round(percent) or 10 <= percent <= 90:
        return f"{percent:.0f} %"
    return f"{min(max(percent, 0.1), 99.9):.1f} %"
