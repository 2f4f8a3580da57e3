"""A mail server for tests. It accepts, refuses, is busy, says nothing at all, or closes the line after a letter."""

import email
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from typing import Any, Literal

Mode = Literal["accepts", "refuses", "busy", "hangs", "closes"]
SMTP = "django.core.mail.backends.smtp.EmailBackend"


class _Handler(socketserver.StreamRequestHandler):
    server: "MailServer"

    def handle(self) -> None:
        if self.server.mode == "hangs":
            self.server.stopped.wait(60)
            return
        self._say("220 ready")
        while line := self.rfile.readline().decode().strip():
            if not self._answer(line):
                return

    def _answer(self, line: str) -> bool:
        verb = line.split()[0].upper()
        if verb == "RCPT" and self.server.mode in ("refuses", "busy"):
            self._say("550 5.1.1 No such user here" if self.server.mode == "refuses" else "451 4.3.0 Try again later")
        elif verb == "DATA":
            self._say("354 go on")
            return self._take()
        elif verb == "QUIT":
            self._say("221 bye")
            return False
        else:
            self._say("250 ok")
        return True

    def _take(self) -> bool:
        lines: list[bytes] = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b"."))
        self.server.letters.append(email.message_from_bytes(b"".join(lines)))
        if self.server.mode == "closes":
            return False
        self._say(f"250 2.0.0 Ok: queued as {len(self.server.letters)}")
        return True

    def _say(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\r\n")


class MailServer(socketserver.ThreadingTCPServer):
    """`letters` are those it received whole, whatever it answered."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.mode: Mode = "accepts"
        self.letters: list[Message] = []
        self.stopped = threading.Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def recipients(self) -> list[str]:
        return [str(letter["To"]) for letter in self.letters]

    def text(self, number: int = -1) -> str:
        return bytes(self.letters[number].get_payload(decode=True)).decode()  # type: ignore[arg-type]

    def use(self, settings: Any) -> None:
        """Let the site send by it. Each answer is waited for a second, so that a silent one is noticed soon."""
        settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = SMTP, "127.0.0.1", self.port
        settings.EMAIL_TIMEOUT = 1


@contextmanager
def mail_serving() -> Iterator[MailServer]:
    with MailServer() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield server
        server.stopped.set()
        server.shutdown()


def closed_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
