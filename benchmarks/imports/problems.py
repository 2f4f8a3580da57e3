class RowProblem(Exception):
    """One row cannot be taken. `code` for machines, `message` for the report: what is wrong, what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class SourceProblem(Exception):
    """The whole source cannot be read; the message is for the person who brought it."""
