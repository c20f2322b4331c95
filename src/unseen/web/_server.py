"""The dashboard behind a server of its own."""

from __future__ import annotations

import contextlib
import importlib
import secrets
import socket
import threading
from collections.abc import Callable
from typing import Any

from unseen.core.errors import InputError, MissingExtra
from unseen.web._guard import LOOPBACK, is_loopback

__all__ = ["address_of", "bind", "serve"]

LAST_PORT = 65535


def address_of(host: str, port: int, token: str | None = None) -> str:
    """Return the address to open in a browser.

    Examples
    --------
    >>> address_of("127.0.0.1", 8765), address_of("lab.example", 80, "abc"), address_of("::1", 8765)
    ('http://127.0.0.1:8765/', 'http://lab.example:80/?token=abc', 'http://[::1]:8765/')
    """
    if host in ("0.0.0.0", "::"):  # everywhere is no address to open
        host = socket.gethostname()
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/{f'?token={token}' if token else ''}"


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket, or say why there is none."""
    if not 0 <= port <= LAST_PORT:
        raise InputError(f"port {port} does not exist; give a number from 0 (any free one) to {LAST_PORT}.")
    try:
        family, kind, proto, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, proto)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(128)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot listen on {host} port {port}: {reason}. Try another --port or --host.") from error
    return listening


def serve(
    store: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    announce: Callable[[str], Any] | None = None,
) -> None:
    """Serve the dashboard of a store until interrupted.

    Parameters
    ----------
    store : str
        Address of a store.
    host : str
        Where to listen. This machine alone by default; anywhere else a token is needed, and made if none is given.
    port : int
        0 takes any free one.
    token : str, optional
        Secret that every request must know, at least 16 characters.
    announce : callable, optional
        Called once with the address to open, when the server listens.

    Examples
    --------
    >>> import unseen.web
    >>> unseen.web.serve("sqlite:///no-such-file.db")
    Traceback (most recent call last):
    ...
    unseen.core.errors.InputError: there is no store at 'no-such-file.db'; ...
    """
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("uvicorn", "web", "the dashboard") from error
    from unseen.web._app import dashboard

    listening = bind(host, port)
    # only now is it known which machine a name means: "localhost" may be another one
    near = is_loopback(listening.getsockname()[0])
    if token is None and not near:
        token = secrets.token_urlsafe(24)
    try:
        app = dashboard(store, token=token, hosts={*LOOPBACK, host} if near else None)
    except BaseException:  # whatever ends the start, Ctrl-C too: the port is given back and the error goes on
        listening.close()
        raise

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            app.stop()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=3,
        server_header=False,
        proxy_headers=False,
        ws="none",
    )
    threading.Thread(target=_load_drawing, daemon=True).start()
    if announce is not None:
        announce(address_of(host, listening.getsockname()[1], token))
    try:
        Server(config).run(sockets=[listening])
    finally:
        listening.close()
        app.close()


def _load_drawing() -> None:
    """Import what draws figures while nobody waits for it yet."""
    with contextlib.suppress(ImportError):  # a page that needs what is missing says so itself
        importlib.import_module("matplotlib.backends.backend_svg")
        importlib.import_module("unseen.study.figures.lines")
