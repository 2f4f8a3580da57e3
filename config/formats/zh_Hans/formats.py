"""Months without a leading zero."""

DATE_FORMAT = "Y年n月j日"
SHORT_DATE_FORMAT = "Y年n月j日"
MONTH_DAY_FORMAT = "n月j日"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "Y年n月j日 H:i"
SHORT_DATETIME_FORMAT = "Y年n月j日 H:i"
