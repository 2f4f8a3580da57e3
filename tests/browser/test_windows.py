"""A window that tests share comes to each of them empty."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.windows import Windows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
STATE = """() => ({
  stored: localStorage.length + sessionStorage.length, cookie: document.cookie.includes('c=1'),
  online: navigator.onLine, width: innerWidth,
  dark: matchMedia('(prefers-color-scheme: dark)').matches, printed: matchMedia('print').matches,
})"""
EMPTY = {"stored": 0, "cookie": False, "online": True, "width": 700, "dark": False, "printed": False}


def test_a_window_that_was_used_comes_back_empty(windows: Windows, live_server: Any) -> None:
    options = {"base_url": live_server.url, "viewport": {"width": 700, "height": 500}, "timezone_id": "Asia/Tokyo"}
    window = windows.take(options)
    page, lines = window.page, []
    page.on("console", lambda message: lines.append(message.text))
    page.route("**/sign-in", lambda route: route.fulfill(body="another page"))
    window.context.new_page()
    page.goto("/sign-in")
    assert page.content().count("another page") == 1
    page.evaluate("localStorage.a = sessionStorage.b = document.cookie = 'c=1'; console.log('first')")
    page.emulate_media(color_scheme="dark", media="print")
    page.set_viewport_size({"width": 400, "height": 500})
    windows.give_back(window, live_server.url)

    assert windows.take(options) is window
    assert window.context.pages == [page]
    page.goto("/sign-in")
    page.evaluate("console.log('second')")
    assert "another page" not in page.content()
    assert page.evaluate(STATE) == EMPTY
    assert lines == ["first"]
    page.go_back()
    assert page.url.endswith("/blank"), "no page of another test is behind it"
    windows.give_back(window, live_server.url)


def test_a_window_with_a_lasting_change_is_closed(windows: Windows, live_server: Any) -> None:
    options = {"base_url": live_server.url, "timezone_id": "Asia/Tokyo"}
    window = windows.take(options)
    page: Page = window.page
    page.add_init_script("window.stays = true")
    windows.give_back(window, live_server.url)
    assert page.is_closed()
    assert windows.take(options) is not window
