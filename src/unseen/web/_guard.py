"""What stands before every page: only reading, only known hosts, only with the token, and strict headers on every answer."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from unseen.core.errors import InputError

__all__ = ["HEADERS", "LOOPBACK", "SHORTEST_TOKEN", "Guard", "is_loopback", "safe_place"]

# 64 bits if the characters are hexadecimal: nobody guesses them over a network
SHORTEST_TOKEN = 16
LOOPBACK = ("localhost", "127.0.0.1", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def is_loopback(host: str) -> bool:
    """Say whether a host to bind to is reached from this machine alone.

    Examples
    --------
    >>> [is_loopback(h) for h in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "lab.example.org")]
    [True, True, True, False, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def safe_place(path: str, query: Iterable[tuple[str, str]] = ()) -> str:
    r"""Return an address on this server, never one that a browser would take for another server's.

    Examples
    --------
    >>> safe_place("//evil.example/x"), safe_place("/\\evil.example"), safe_place("/a b", [("page", "2")])
    ('/evil.example/x', '/evil.example', '/a%20b?page=2')
    """
    place = "/" + quote(path.lstrip("/\\"), safe="/-._~")
    text = urlencode(list(query))
    return f"{place}?{text}" if text else place


def _host_of(header: str) -> str:
    """Return the host of a Host header without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


class Guard:
    """An ASGI application around another one that lets only safe requests through.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    token : str, optional
        Secret that every request must know: by `Authorization: Bearer`, by the cookie that `?token=` sets.
    hosts : sequence of str, optional
        Names the server answers to; any where None. A page elsewhere that points its own name at this machine (DNS
        rebinding) is refused by this.
    """

    def __init__(self, app: Any, *, token: str | None = None, hosts: Iterable[str] | None = None) -> None:
        if token is not None and len(token) < SHORTEST_TOKEN:
            raise InputError(
                f"the token has {len(token)} characters; give at least {SHORTEST_TOKEN}, or none to have one made."
            )
        self.app = app
        self.token = token
        self.hosts = None if hosts is None else {h.lower() for h in hosts}
        digest = hashlib.sha256(f"unseen dashboard {token}".encode()).hexdigest()
        # the cookie does not carry the token itself, and two dashboards of one host do not take each other's
        self.cookie, self.pass_ = f"unseen_{digest[:8]}", digest[8:]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        send = _with_headers(send)
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        if scope["method"] not in ("GET", "HEAD"):
            await _answer(send, scope, 405, "The dashboard can only be read.", {"allow": "GET, HEAD"})
        elif self.hosts is not None and _host_of(headers.get("host", "")) not in self.hosts:
            await _answer(send, scope, 421, "This server does not answer to that host name.")
        elif self.token is None:
            await self.app(scope, receive, send)
        else:
            await self._ask(scope, receive, send, headers)

    def _is_authorised(self, headers: dict[str, str]) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(given.strip(), str(self.token)):
            return True
        try:
            held = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return held is not None and _same(held.value, self.pass_)

    async def _ask(self, scope: Any, receive: Any, send: Any, headers: dict[str, str]) -> None:
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        given = next((value for name, value in query if name == "token"), None)
        if given is None and self._is_authorised(headers):
            await self.app(scope, receive, send)
        elif given is None:
            sentence = "This dashboard needs its token: open the address that `unseen serve` printed."
            await _answer(send, scope, 401, sentence, {"www-authenticate": "Bearer"})
        elif not _same(given, str(self.token)):
            await _answer(send, scope, 401, "That is not the token of this dashboard.", {"www-authenticate": "Bearer"})
        else:
            secure = "; Secure" if scope.get("scheme") == "https" else ""
            cookie = f"{self.cookie}={self.pass_}; Path=/; HttpOnly; SameSite=Strict{secure}"
            place = safe_place(scope["path"], [pair for pair in query if pair[0] != "token"])
            # the token leaves the address bar and the history of the page
            await _answer(send, scope, 303, "Welcome.", {"location": place, "set-cookie": cookie})


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())


def _with_headers(send: Any) -> Any:
    """Return a `send` that adds the headers to whatever answer passes."""

    async def guard(message: Any) -> None:
        if message["type"] == "http.response.start":
            named = {k.lower() for k, _ in message.get("headers", ())}
            extra = {**HEADERS, "cache-control": "no-store"}
            added = [(k.encode(), v.encode()) for k, v in extra.items() if k.encode() not in named]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return guard


async def _answer(send: Any, scope: Any, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
    body = f"{sentence}\n".encode()
    given = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), **(headers or {})}
    lines = [(k.encode(), v.encode("latin-1")) for k, v in given.items()]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
