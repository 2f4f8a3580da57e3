"""Dates of the Gregorian calendar, as everywhere on the site."""

DATE_FORMAT = "j F Y"
SHORT_DATE_FORMAT = "j F Y"
MONTH_DAY_FORMAT = "j F"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j F Y، H:i"
SHORT_DATETIME_FORMAT = "j F Y، H:i"
