"""The demo: its pictures as files, their facts as a table, and the loader that imports them."""
