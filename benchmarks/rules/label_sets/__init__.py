"""Sets of labels that an item can be asked about: countries, regions, religions. Pure: no rows, no settings."""
