"""Any table: read as it is, with a proposal of what each column is. No database; docs/how-to/come-from-a-table.md."""
