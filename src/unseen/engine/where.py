"""Where fits run: in this process and joblib's workers, or on a dask cluster."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from multiprocessing import resource_tracker
from typing import Any

from unseen.core.errors import FitError, InputError, KindError, install_line
from unseen.engine.shared_data import sharing

__all__ = ["check_engine", "client_of", "count_workers", "current_client", "using"]

log = logging.getLogger("unseen")

_chosen: ContextVar[Any] = ContextVar("unseen_engine", default=None)
LOCAL = "local:"
LOOPBACK = "127.0.0.1"  # tasks are pickled code, so that no other machine may send any
DASHBOARD = "UNSEEN_DASK_DASHBOARD"  # set to 1, the dashboard of dask is served, on this machine only
PATIENCE = "10s"  # a scheduler that does not answer by then is not there
ADDRESSES = ("tcp://", "tls://", "ucx://", "ws://", "wss://", "inproc://")


@contextmanager
def using(engine: Any) -> Iterator[None]:
    """Run what follows on `engine`.

    Parameters
    ----------
    engine : None, "joblib", "dask", "local:N", address or distributed.Client
        None takes the dask client that is active, if any, and joblib else; "local:4" starts four workers on this machine
        and stops them at the end (they listen on 127.0.0.1 only; `UNSEEN_DASK_DASHBOARD=1` serves dask's dashboard there); an address such as "tcp://host:8786" connects to a scheduler.

    Examples
    --------
    >>> with using("joblib"):
    ...     current_client() is None
    True
    """
    local = isinstance(engine, str) and engine.startswith(LOCAL)
    with client_of(engine) as client, sharing(local):
        token = _chosen.set("joblib" if engine == "joblib" else client)
        try:
            yield
        finally:
            _chosen.reset(token)


def current_client() -> Any:
    """Return the dask client fits go to, or None if they go to joblib."""
    chosen = _chosen.get()
    if chosen is None:
        return _active()
    return None if isinstance(chosen, str) else chosen


def check_engine(engine: Any, argument: str = "engine") -> None:
    """Refuse what names no engine, before any work is done; `argument` is what the user calls it: `engine`, `--scheduler`.

    Examples
    --------
    >>> check_engine("local:4")
    >>> check_engine("ray", "--scheduler")
    Traceback (most recent call last):
    unseen.core.errors.InputError: --scheduler is 'ray'; it must be 'local:4' (four workers on this machine), an address such as 'tcp://host:8786', 'joblib' or 'dask'.
    """
    if engine is None or engine == "joblib":
        return
    if not isinstance(engine, str):
        if not (hasattr(engine, "submit") and hasattr(engine, "scatter")):
            raise KindError(
                f"{argument} is a {type(engine).__name__}; it must be 'joblib', 'dask', 'local:4', an address or a distributed.Client."
            )
    elif engine == "dask":
        if _active() is None:
            raise InputError(
                f"{argument} is 'dask', which needs an active client; make one with distributed.Client(), or give 'local:4' or "
                "an address such as 'tcp://host:8786'."
            )
    elif engine.startswith(LOCAL):
        count = engine.removeprefix(LOCAL)
        if not (count.isascii() and count.isdigit()) or int(count) < 1:
            raise InputError(f"{argument} is {engine!r}; after 'local:' comes the number of workers, as in 'local:4'.")
    elif not engine.startswith(ADDRESSES):
        raise InputError(
            f"{argument} is {engine!r}; it must be 'local:4' (four workers on this machine), an address such as "
            "'tcp://host:8786', 'joblib' or 'dask'."
        )


@contextmanager
def client_of(engine: Any, argument: str = "engine") -> Iterator[Any]:
    """Yield a connected client for what the user named, or None for joblib; what was started here is stopped at the end."""
    check_engine(engine, argument)
    if engine is None or engine == "joblib":
        yield None
    elif engine == "dask":
        yield _active()
    elif isinstance(engine, str):
        with _start_workers(engine, argument) as client:
            yield client
    else:
        yield engine


def count_workers(client: Any) -> int:
    """Return how many workers a cluster has now, one at least; a scheduler that is gone for good is an error."""
    try:
        workers = client.scheduler_info(n_workers=-1).get("workers", ())
    except OSError:  # the connection is being made again; the client closes if that fails
        workers = ()
    if not workers and client.status in ("closing", "closed"):
        raise FitError(
            "the dask scheduler is gone and does not answer any more; start it again and repeat the command: same seed, same numbers."
        )
    return max(1, len(workers))


def _active() -> Any:
    """Return the user's active client without importing dask for those who do not use it."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


@contextmanager
def _start_workers(text: str, argument: str) -> Iterator[Any]:
    """Connect to an address, or start workers of one thread each on this machine."""
    local = text.startswith(LOCAL)
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise InputError(f"{argument} {text!r} needs dask: {install_line('dask')}.") from error
    if not local:
        try:
            client = Client(text, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"no dask scheduler answers at {text}; is it running, and reachable from here?") from error
        with client:
            yield client
        return
    import dask

    asked = os.environ.get(DASHBOARD) == "1"
    pages = {} if asked else {"distributed.scheduler.http.routes": ["distributed.http.health"]}
    with ExitStack() as stack:
        try:
            with dask.config.set(pages), _hold_interrupts():
                cluster = LocalCluster(
                    n_workers=int(text.removeprefix(LOCAL)),
                    threads_per_worker=1,
                    host=LOOPBACK,
                    dashboard_address=f"{LOOPBACK}:0",
                    scheduler_kwargs={"dashboard": asked},
                    silence_logs=50,
                )
            stack.callback(_close, cluster)
            client = Client(cluster, set_as_default=False)
            stack.callback(_close, client)
            if asked:
                log.warning("dask's dashboard: %s", cluster.dashboard_link)
        except Exception as error:  # a worker that dies at its start ends in errors of many kinds
            raise FitError(
                f"the workers of {argument} {text!r} could not be started: {' '.join(str(error).split()).rstrip('.') or type(error).__name__}; "
                "is there memory for so many? Give fewer workers, or --jobs."
            ) from error
        yield client


@contextmanager
def _hold_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait, and let no process started meanwhile see one: the driver alone answers it and stops its workers."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # as it starts it lets interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _close(started: Any) -> None:
    """Close a client or a cluster; after Ctrl-C dask may find its own workers half started, and that is nobody's concern."""
    with suppress(Exception):
        started.close()
