"""Encrypted lines: the certificate is held against the name that was typed, though the line goes to a number."""

import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from predictions.backends import connections
from predictions.backends.contract import CallError, Decoding
from predictions.backends.openai import OpenAI
from predictions.prompts.contract import Message, Request, TextPart

ASKED = Request(messages=(Message("user", (TextPart("Is anybody there?"),)),))
NAME = "models.example.org"


def certificate(folder: Path) -> Path:
    """Self-signed, for NAME only; key and certificate in one file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    builder = x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
    file, plain = folder / "both.pem", serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    file.write_bytes(secret + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return file


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"choices": [{"message": {"content": self.headers["Host"]}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def encrypted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Its port. This process trusts its certificate."""
    file = certificate(tmp_path)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    trusting = httpx.create_ssl_context()
    trusting.load_verify_locations(file)
    monkeypatch.setattr(connections, "_certificates", lambda: trusting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def ask(address: str) -> str:
    backend = OpenAI(address, "sk-x", seconds=5, resolve=lambda host: ["127.0.0.1"])
    try:
        return backend.answer(ASKED, "m", Decoding(), lambda sha: b"").reply.text
    finally:
        backend.close()


def test_the_certificate_is_of_the_name_and_the_line_goes_to_the_number(encrypted: int) -> None:
    assert ask(f"https://{NAME}:{encrypted}/v1") == f"{NAME}:{encrypted}"


def test_another_name_is_refused(encrypted: int) -> None:
    with pytest.raises(CallError) as failed:
        ask(f"https://thief.example.org:{encrypted}/v1")
    assert failed.value.trouble == "connection"


def test_a_certificate_that_nobody_vouches_for_is_refused(encrypted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_certificates", httpx.create_ssl_context)
    with pytest.raises(CallError) as failed:
        ask(f"https://{NAME}:{encrypted}/v1")
    assert failed.value.trouble == "connection"
