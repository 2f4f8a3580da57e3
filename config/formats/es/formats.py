"""Short dates with the month in letters."""

DATE_FORMAT = r"j \d\e F \d\e Y"
SHORT_DATE_FORMAT = r"j \d\e F \d\e Y"
MONTH_DAY_FORMAT = r"j \d\e F"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = r"j \d\e F \d\e Y, H:i"
SHORT_DATETIME_FORMAT = r"j \d\e F \d\e Y, H:i"
