"""Windows that tests of a process use after one another. A window of its own for each test would start a process of the
browser, which takes three times as long as to load a page.

A window comes back empty: at a blank page without history, without what sites stored, listeners and routes. One whose
context was changed in a way that cannot be taken back is closed.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page

TIMEOUT = 15_000  # milliseconds
LASTING = (
    "add_init_script", "new_cdp_session", "expose_binding", "expose_function", "grant_permissions", "route_web_socket",
    "set_extra_http_headers", "set_geolocation",
)  # fmt: skip
# As the site's pages have it. From a page without it, as the browser's own blank one, a new process would be started.
SAME_GROUP = {"Cross-Origin-Opener-Policy": "same-origin"}
MEDIA = ("color_scheme", "reduced_motion", "forced_colors")


@dataclass
class Window:
    """A context with one page, and what a test changed in it."""

    key: str
    context: BrowserContext
    page: Page
    options: dict[str, Any]


class Windows:
    """The windows that no test uses now, by the options of their contexts."""

    def __init__(self, chromium: Browser) -> None:
        self.chromium = chromium
        self.idle: dict[str, list[Window]] = defaultdict(list)
        self.changed: set[BrowserContext] = set()  # for good
        self.listeners: list[tuple[Any, str, Any]] = []

    def take(self, options: dict[str, Any]) -> Window:
        key = json.dumps(options, sort_keys=True)
        window = self.idle[key].pop() if self.idle[key] else self.open(key, options)
        window.context.set_default_timeout(TIMEOUT)
        window.page.set_default_timeout(TIMEOUT)
        return window

    def open(self, key: str, options: dict[str, Any]) -> Window:
        context = self.chromium.new_context(**options)
        page = context.new_page()
        return Window(key, context, page, options)

    def give_back(self, window: Window, url: str) -> None:
        """Keep the window for another test if nothing of this one stays in it; `url` is the site's."""
        if window.context in self.changed or window.page.is_closed() or window.context.service_workers:
            self.changed.discard(window.context)
            window.context.close()
            return
        try:
            self.remove_listeners(window.context)
            self.empty(window, url)
        except Error:  # it did not leave its page
            window.context.close()
        else:
            self.idle[window.key].append(window)

    def remove_listeners(self, context: BrowserContext) -> None:
        remaining: list[tuple[Any, str, Any]] = []
        for target, event, listener in self.listeners:
            if target is context or target.context is context:
                target.remove_listener(event, listener)
            else:
                remaining.append((target, event, listener))
        self.listeners = remaining

    def empty(self, window: Window, url: str) -> None:
        context, page = window.context, window.page
        devtools = context.new_cdp_session(page)
        for other in context.pages:
            if other is not page:
                other.close()
        context.set_offline(True)  # a page that is left sends nothing more
        page.unroute_all(behavior="ignoreErrors")
        context.unroute_all(behavior="ignoreErrors")
        devtools.send("DOMStorage.clear", {"storageId": {"securityOrigin": url, "isLocalStorage": False}})
        page.route(f"{url}/blank", lambda route: route.fulfill(body="", content_type="text/html", headers=SAME_GROUP))
        page.goto(f"{url}/blank")
        page.unroute_all()
        devtools.send("Page.resetNavigationHistory")
        devtools.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
        devtools.detach()
        self.changed.discard(context)
        context.clear_cookies()
        context.set_offline(False)
        media = {name: window.options.get(name, "null") for name in MEDIA}
        page.emulate_media(media="null", **media)
        if "viewport" in window.options:
            page.set_viewport_size(window.options["viewport"])


def shared_windows(chromium: Browser) -> Iterator[Windows]:
    """The windows of a session, which remember what tests do to them."""
    windows = Windows(chromium)
    with pytest.MonkeyPatch.context() as patch:
        for kind in (Page, BrowserContext):
            for name in LASTING:
                if hasattr(kind, name):
                    patch.setattr(kind, name, lasting(windows, getattr(kind, name)))
            for name in ("on", "once"):
                patch.setattr(kind, name, listening(windows, getattr(kind, name)))
        yield windows


def lasting(windows: Windows, method: Callable[..., Any]) -> Callable[..., Any]:
    def call(target: Any, *arguments: Any, **named: Any) -> Any:
        windows.changed.add(target if isinstance(target, BrowserContext) else target.context)
        return method(target, *arguments, **named)

    return call


def listening(windows: Windows, method: Callable[..., Any]) -> Callable[..., Any]:
    def call(target: Any, event: str, listener: Any) -> None:
        windows.listeners.append((target, event, listener))
        method(target, event, listener)

    return call
