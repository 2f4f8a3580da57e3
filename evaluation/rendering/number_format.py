"""Numbers as they are shown: every form of a report rounds here, so that all show the same digits."""

from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

from evaluation.metrics.estimate import Estimate

MINUS = "\u2212"


def round_decimal(value: float, decimals: int = 2, scale: float = 1.0, *, cut: bool = False) -> str:
    """The number times `scale` with so many decimals and a plain minus sign; what rounds to nothing has none. `cut`:
    further decimals are left off.

    Rounded as decimals are, half away from zero: 0.285 is 0.29, though the nearest binary number lies below it.
    Thirteen digits are looked at, so that the last bits of a sum decide nothing.

    >>> round_decimal(0.825), round_decimal(-0.004), round_decimal(0.999, 1, 100, cut=True)
    ('0.83', '0.00', '99.9')
    """
    exact = Decimal(f"{float(value):.13g}") * Decimal(repr(float(scale)))
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_DOWN if cut else ROUND_HALF_UP)
    return str(abs(rounded) if rounded == 0 else rounded)


def format_number(value: float) -> str:
    """Two decimals with a true minus sign; what rounds to nothing has no sign."""
    return round_decimal(value).replace("-", MINUS)


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
