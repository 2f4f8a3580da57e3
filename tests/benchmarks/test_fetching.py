"""Pictures from elsewhere: only from the open internet, only so much, only so long, whatever the other side tries."""

import contextlib
import gzip
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchmarks.services import safe_fetch
from benchmarks.services.safe_fetch import FetchRefused, FetchResult, is_allowed_address

PUBLIC = "93.184.215.14"
MOST = 200_000
Answer = bytes | Callable[[socket.socket], None]


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def redirect_to(url: str) -> bytes:
    return http(b"", f"Location: {url}", status="302 Found")


@dataclass
class Elsewhere:
    """A server of the open internet: `names` resolve, and whatever is connected to ends here."""

    port: int
    names: dict[str, list[list[str]]] = field(default_factory=dict)
    pages: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    connected: list[tuple[str, int]] = field(default_factory=list)
    tls: ssl.SSLContext | None = None

    def resolve(self, host: str) -> list[str]:
        """Each time a name is asked for, its next answer; the last one again and again."""
        answers = self.names.get(host, [[PUBLIC]])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def connect(self, number: str, port: int, seconds: float) -> socket.socket:
        self.connected.append((number, port))
        return socket.create_connection(("127.0.0.1", self.port), seconds)

    def fetch(self, url: str, *, seconds: float = 5.0, most: int = MOST) -> FetchResult:
        return safe_fetch.fetch(url, most_bytes=most, seconds=seconds, resolve=self.resolve, connect=self.connect)

    def refuses(self, url: str, **how: Any) -> FetchRefused:
        with pytest.raises(FetchRefused) as found:
            self.fetch(url, **how)
        return found.value

    def serve(self, line: socket.socket) -> None:
        with contextlib.suppress(OSError), line:
            line = self.tls.wrap_socket(line, server_side=True) if self.tls else line
            head = b""
            while b"\r\n\r\n" not in head:
                if not (more := line.recv(4096)):
                    return
                head += more
            self.asked.append(head.decode())
            answer = self.pages.get(head.split()[1].decode(), http(b"nothing", status="404 Not Found"))
            answer(line) if callable(answer) else line.sendall(answer)


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    safe_fetch.SERVERS.forget()
    with socket.create_server(("127.0.0.1", 0)) as door:
        server = Elsewhere(door.getsockname()[1])

        def listen() -> None:
            while True:
                try:
                    line, _address = door.accept()
                except OSError:
                    return
                threading.Thread(target=server.serve, args=(line,), daemon=True).start()

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        yield server
        with contextlib.suppress(OSError):
            door.shutdown(socket.SHUT_RDWR)  # closing alone would leave it listening as long as accept() waits
        listener.join(5)


def test_a_picture_comes_from_the_address_that_was_checked(elsewhere: Elsewhere) -> None:
    elsewhere.pages["/tea%20house.jpg?size=full&x=1"] = http(b"\xff\xd8 picture")
    found = elsewhere.fetch("http://pictures.example/tea%20house.jpg?size=full&x=1#top")
    assert found == FetchResult(b"\xff\xd8 picture", "http://pictures.example/tea%20house.jpg?size=full&x=1")
    assert elsewhere.connected == [(PUBLIC, 80)]
    assert "\r\nHost: pictures.example\r\n" in elsewhere.asked[0]
    assert "cookie" not in elsewhere.asked[0].lower() and "authorization" not in elsewhere.asked[0].lower()


@pytest.mark.parametrize(
    "number",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
        "100.100.100.200", "169.254.169.254", "168.63.129.16", "192.0.0.192", "198.18.0.1", "203.0.113.5", "224.0.0.1",
        "240.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "fc00::1", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1", "64:ff9b:1::a00:1",
        "2002:7f00:1::", "2001:0:53aa:64c:0:fbff:80ff:fffe", "::7f00:1", "2001:db8::1",
        "fec0::1", "feff:ffff::1", "3fff::1", "3fff:fff::1", "5f00::1",
        "not a number",
    ],
)  # fmt: skip
def test_no_private_address_is_asked_however_it_was_come_by(elsewhere: Elsewhere, number: str) -> None:
    assert not is_allowed_address(number)
    elsewhere.names["inside.example"] = [[number]]
    assert elsewhere.refuses("http://inside.example/").code == "private"
    elsewhere.names["both.example"] = [[PUBLIC, number]]
    assert elsewhere.refuses("http://both.example/").code == "private"
    assert elsewhere.connected == []


@pytest.mark.parametrize(
    "number", ["100.100.100.200", "169.254.169.254", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"]
)
def test_no_setting_opens_the_metadata_of_a_cloud(elsewhere: Elsewhere, settings: Any, number: str) -> None:
    """As a literal, as a name, among good addresses, by a redirect."""
    settings.FETCH_ALLOW = ["100.64.0.0/10", "169.254.0.0/16", "168.63.129.0/24", "192.0.0.0/24", "fc00::/7"]
    literal = f"[{number}]" if ":" in number else number
    assert elsewhere.refuses(f"http://{literal}/").code == "private"
    elsewhere.names["inside.example"] = [[number]]
    elsewhere.names["both.example"] = [[PUBLIC, number]]
    assert elsewhere.refuses("http://inside.example/").code == "private"
    assert elsewhere.refuses("http://both.example/").code == "private"
    assert elsewhere.connected == []
    elsewhere.pages["/moved"] = redirect_to(f"http://{literal}/secret")
    assert elsewhere.refuses("http://pictures.example/moved").code == "private"
    assert elsewhere.connected == [(PUBLIC, 80)]


@pytest.mark.parametrize("number", ["8.8.8.8", "93.184.215.14", "2606:4700::6810:84e5", "::ffff:8.8.8.8"])
def test_the_open_internet_is_asked(number: str) -> None:
    assert is_allowed_address(number)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1/", "private"),
        ("http://[::1]/", "private"),
        ("http://[::ffff:127.0.0.1]/", "private"),
        ("http://[::ffff:7f00:1]:80/", "private"),
        ("http://[fe80::1%25eth0]/", "not_http"),
        ("http://2130706433/", "not_http"),
        ("http://0x7f000001/", "not_http"),
        ("http://0x7f.0.0.1/", "not_http"),
        ("http://0177.0.0.1/", "not_http"),
        ("http://127.1/", "not_http"),
        ("http://１２７.０.０.１/", "not_http"),
        ("http://user@pictures.example/", "credentials"),
        ("http://user:word@pictures.example/", "credentials"),
        ("http://pictures.example@127.0.0.1/", "credentials"),
        ("http://pictures.example\\@127.0.0.1/", "not_http"),
        ("http://pictures.example/a b", "not_http"),
        ("http://pictures.example/\r\nHost: inside", "not_http"),
        ("http://pictures.example:22/", "port"),
        ("http://pictures.example:6379/", "port"),
        ("http://pictures.example:99999/", "not_http"),
        ("file:///etc/passwd", "not_http"),
        ("ftp://pictures.example/", "not_http"),
        ("gopher://pictures.example/", "not_http"),
        ("data:image/png;base64,AAAA", "not_http"),
        ("//pictures.example/", "not_http"),
        ("pictures.example/tea.jpg", "not_http"),
        ("http:///tea.jpg", "not_http"),
        ("", "not_http"),
        ("http://pictures.example/" + "a" * 3000, "not_http"),
    ],
)
def test_addresses_that_are_none_of_a_picture_are_refused_before_anything_is_asked(
    elsewhere: Elsewhere, url: str, code: str
) -> None:
    refused = elsewhere.refuses(url)
    assert refused.code == code and refused.message
    assert elsewhere.connected == []


def test_redirect_is_followed_and_checked_again(elsewhere: Elsewhere) -> None:
    elsewhere.pages |= {"/a": redirect_to("/b"), "/b": redirect_to("http://other.example/c"), "/c": http(b"x")}
    assert elsewhere.fetch("http://pictures.example/a").url == "http://other.example/c"
    assert [head.split("Host: ")[1].split()[0] for head in elsewhere.asked] == [
        "pictures.example", "pictures.example", "other.example"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("there", "code"),
    [
        ("http://127.0.0.1/", "private"),
        ("http://localhost/", "private"),
        ("http://169.254.169.254/latest/meta-data/", "private"),
        ("http://[::1]/", "private"),
        ("http://user@pictures.example/", "credentials"),
        ("http://pictures.example:8080/", "port"),
        ("file:///etc/passwd", "not_http"),
        ("http://2130706433/", "not_http"),
    ],
)
def test_no_redirect_leads_inside(elsewhere: Elsewhere, there: str, code: str) -> None:
    elsewhere.names["localhost"] = [["127.0.0.1"]]
    elsewhere.pages["/a"] = redirect_to(there)
    assert elsewhere.refuses("http://pictures.example/a").code == code
    assert len(elsewhere.connected) == 1


def test_redirects_end(elsewhere: Elsewhere) -> None:
    elsewhere.pages |= {f"/{n}": redirect_to(f"/{n + 1}") for n in range(9)} | {"/3": http(b"x")}
    assert elsewhere.fetch("http://pictures.example/0").data == b"x"
    elsewhere.pages["/3"] = redirect_to("/4")
    assert elsewhere.refuses("http://pictures.example/0").code == "redirects"


def test_a_name_that_changes_its_mind_is_asked_where_it_was_checked(elsewhere: Elsewhere) -> None:
    elsewhere.names["rebinds.example"] = [[PUBLIC], ["127.0.0.1"]]
    elsewhere.pages |= {"/a": http(b"x"), "/b": redirect_to("/a")}
    elsewhere.fetch("http://rebinds.example/a")
    assert elsewhere.connected == [(PUBLIC, 80)]  # resolved once: the second answer was never asked for
    elsewhere.names["rebinds.example"] = [[PUBLIC], ["127.0.0.1"]]
    assert elsewhere.refuses("http://rebinds.example/b").code == "private"


def test_names_of_other_scripts_are_asked_as_the_internet_writes_them(elsewhere: Elsewhere) -> None:
    elsewhere.pages["/%D8%B4%D8%A7%D9%8A.jpg"] = http(b"x")
    elsewhere.fetch("http://مثال.example/شاي.jpg")
    assert "Host: xn--mgbh0fb.example" in elsewhere.asked[0]


def test_a_name_nobody_knows_and_a_server_that_says_no(elsewhere: Elsewhere) -> None:
    elsewhere.names["nowhere.example"] = [[]]
    assert elsewhere.refuses("http://nowhere.example/").code == "not_found"
    elsewhere.pages["/secret"] = http(b"<b>root:x:0:0</b>", status="403 root:x:0:0")
    refused = elsewhere.refuses("http://pictures.example/secret")
    assert refused.code == "refused"
    assert "403" in refused.message and "root" not in refused.message  # nothing of what it said


def drip(line: socket.socket) -> None:
    line.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    for _time in range(600):
        line.sendall(b"a")
        time.sleep(0.05)


def drip_body(line: socket.socket) -> None:
    line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
    drip(line)


def silent(_line: socket.socket) -> None:
    time.sleep(30)


@pytest.mark.parametrize("answer", [drip, drip_body, silent], ids=lambda one: one.__name__)
def test_a_server_that_takes_its_time_is_left(elsewhere: Elsewhere, answer: Answer) -> None:
    elsewhere.pages["/"] = answer
    begun = time.monotonic()
    assert elsewhere.refuses("http://pictures.example/", seconds=0.6).code == "too_slow"
    assert time.monotonic() - begun < 1.5


def test_a_resolver_that_takes_its_time_is_left() -> None:
    begun = time.monotonic()
    with pytest.raises(FetchRefused) as found:
        safe_fetch.fetch("http://a.example/", most_bytes=9, seconds=0.4, resolve=lambda host: time.sleep(2) or [PUBLIC])
    assert found.value.code == "too_slow" and time.monotonic() - begun < 1.5


def endless(line: socket.socket) -> None:
    line.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    for _time in range(1000):
        line.sendall(b"x" * 65536)


def gzip_response(data: bytes) -> bytes:
    return http(gzip.compress(data), "Content-Encoding: gzip")


@pytest.mark.parametrize(
    "answer",
    [
        http(b"x" * (MOST + 1)),
        b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\nx",
        endless,
        gzip_response(bytes(50_000_000)),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b"x" * 65536 + b"\r\n"
        + (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 4 + b"0\r\n\r\n",
    ],
    ids=["long", "promised", "endless", "bomb", "chunks"],
)  # fmt: skip
def test_a_body_that_is_too_large_is_not_held(elsewhere: Elsewhere, answer: Answer) -> None:
    elsewhere.pages["/"] = answer
    tracemalloc.start()
    assert elsewhere.refuses("http://pictures.example/").code == "too_large"
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()


def test_what_fits_may_be_packed_and_in_pieces(elsewhere: Elsewhere) -> None:
    elsewhere.pages["/"] = gzip_response(b"picture" * 1000)
    assert elsewhere.fetch("http://pictures.example/").data == b"picture" * 1000
    elsewhere.pages["/"] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\npicture\r\n0\r\n\r\n"
    assert elsewhere.fetch("http://pictures.example/").data == b"picture"


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nonly a part",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 5\r\n\r\nplain",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 500 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["ssh", "nothing", "cut", "not packed", "unknown packing", "headers", "bad chunk"],
)
def test_what_is_no_answer_of_a_web_server_is_refused(elsewhere: Elsewhere, answer: bytes) -> None:
    elsewhere.pages["/"] = answer
    assert elsewhere.refuses("http://pictures.example/").code == "no_answer"


@pytest.fixture
def certified(elsewhere: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    """It speaks TLS, with a certificate for pictures.example that this machine believes."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("makes its certificate with openssl")
    names = "-subj /CN=pictures.example -addext subjectAltName=DNS:pictures.example"
    made = f"req -x509 -newkey rsa:2048 -nodes -days 2 -keyout {tmp_path}/key -out {tmp_path}/cert {names}"
    subprocess.run([openssl, *made.split()], check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", f"{tmp_path}/cert")
    elsewhere.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    elsewhere.tls.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    elsewhere.pages["/"] = http(b"x")
    return elsewhere


def test_the_certificate_is_that_of_the_name_though_the_number_is_asked(certified: Elsewhere) -> None:
    assert certified.fetch("https://pictures.example/").data == b"x"
    assert certified.connected == [(PUBLIC, 443)]
    assert certified.refuses("https://other.example/").code == "no_answer"


def test_strange_servers_hold_no_more_than_two_of_us(elsewhere: Elsewhere, monkeypatch: Any) -> None:
    elsewhere.pages["/"] = silent
    elsewhere.names |= {"one.example": [["93.184.215.15"]], "two.example": [["93.184.215.16"]]}
    with occupied(elsewhere, "one.example"), occupied(elsewhere, "two.example"):
        assert elsewhere.refuses("http://pictures.example/", seconds=3.0).code == "busy"


@contextlib.contextmanager
def occupied(elsewhere: Elsewhere, name: str) -> Iterator[None]:
    """Somebody waits for an answer of this server meanwhile, and gets none in three seconds."""
    waiting = threading.Thread(target=elsewhere.refuses, args=(f"http://{name}/",), kwargs={"seconds": 3.0})
    waiting.start()
    time.sleep(0.2)
    yield
    waiting.join()


def test_one_server_holds_one_of_us_and_another_is_asked_meanwhile(elsewhere: Elsewhere) -> None:
    elsewhere.pages |= {"/": silent, "/tea": http(b"tea")}
    elsewhere.names |= {
        "slow.example": [["2a00:1450:4001::1"]], "same.example": [["2a00:1450:4001::2"]],
        "other.example": [["93.184.215.16"]],
    }  # fmt: skip
    with occupied(elsewhere, "slow.example"):
        assert elsewhere.refuses("http://same.example/tea", seconds=3.0).code == "busy"
        assert elsewhere.fetch("http://other.example/tea").data == b"tea"


def test_a_server_that_was_too_slow_is_not_asked_again_for_a_while(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_fetch, "COOLING_SECONDS", 0.5)
    elsewhere.names["other.example"] = [["93.184.215.16"]]
    elsewhere.pages |= {"/": silent, "/tea": http(b"tea"), "/none": http(b"", status="404 Not Found")}
    assert elsewhere.refuses("http://pictures.example/none").code == "refused"  # soon answered: may be asked again
    assert elsewhere.refuses("http://pictures.example/", seconds=0.3).code == "too_slow"
    asked = len(elsewhere.connected)
    assert elsewhere.refuses("http://pictures.example/tea").code == "too_slow" and len(elsewhere.connected) == asked
    assert elsewhere.fetch("http://other.example/tea").data == b"tea"
    time.sleep(0.5)
    assert elsewhere.fetch("http://pictures.example/tea").data == b"tea"


def test_a_server_has_to_begin_soon_and_may_go_on_longer(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(line: socket.socket) -> None:
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nt")
        time.sleep(0.8)
        line.sendall(b"ea.")

    monkeypatch.setattr(safe_fetch, "FIRST_SECONDS", 0.4)
    elsewhere.pages |= {"/": silent, "/tea": late}
    assert elsewhere.fetch("http://pictures.example/tea").data == b"tea."
    begun = time.monotonic()
    assert elsewhere.refuses("http://pictures.example/").code == "too_slow" and time.monotonic() - begun < 1.5


def test_a_deployment_may_name_its_own_network(elsewhere: Elsewhere, settings: Any) -> None:
    settings.FETCH_ALLOW = ["10.20.0.0/16"]
    elsewhere.names["pictures.lab.example"] = [["10.20.3.4"]]
    elsewhere.pages["/"] = http(b"x")
    assert elsewhere.fetch("http://pictures.lab.example/").data == b"x"
    elsewhere.names["other.lab.example"] = [["10.21.3.4"]]
    assert elsewhere.refuses("http://other.lab.example/").code == "private"


def test_every_refusal_has_words() -> None:
    raised = set(re.findall(r'FetchRefused\("(\w+)"', Path(safe_fetch.__file__).read_text()))
    assert raised == set(safe_fetch.WORDS)
