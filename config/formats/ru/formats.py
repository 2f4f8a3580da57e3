"""The month of a date is in the genitive (E), which Django's catalogue has."""

DATE_FORMAT = "j E Y"
SHORT_DATE_FORMAT = "j E Y"
MONTH_DAY_FORMAT = "j E"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j E Y, H:i"
SHORT_DATETIME_FORMAT = "j E Y, H:i"
