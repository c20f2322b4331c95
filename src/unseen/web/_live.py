"""Progress as server-sent events: one reader of the store however many pages listen, and none when nobody does."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from unseen.web._source import StoreAway, StoreSource
from unseen.web._words import key_of, progress_words

__all__ = ["ProgressStream", "event", "news_of"]

SILENCE = 15.0  # seconds; proxies close a stream that is silent for half a minute or longer
LEISURE = 5.0  # pauses are this many times as long as a look at the store takes: at most a sixth of its time


def event(kind: str, content: Any) -> str:
    r"""Return a server-sent event; its data are JSON on one line, so that nothing stored can begin another event.

    Examples
    --------
    >>> event("progress", {"name": "a\n\nevent: b"})
    'event: progress\ndata: {"name": "a\\n\\nevent: b"}\n\n'
    """
    return f"event: {kind}\ndata: {json.dumps(content)}\n\n"


def news_of(progress: Any) -> dict[str, Any]:
    """Return the progress of a study as pages show it."""
    ended = progress.done + progress.failed
    return {
        "key": key_of(progress.name),
        "value": ended,
        "max": max(progress.total, 1),
        "state": progress.state,
        "words": progress_words(progress),
    }


class ProgressStream:
    """Hands the progress of all studies to every page that listens.

    Parameters
    ----------
    source : StoreSource
        Where progress is read.
    seconds : float
        Between two looks at the store.
    """

    def __init__(self, source: StoreSource, seconds: float = 1.0) -> None:
        self.source, self.seconds = source, seconds
        self.listeners = 0
        self.stopping = False
        self._trouble = ""
        self._news: dict[str, dict[str, Any]] = {}
        self._looked = False
        self._changed: asyncio.Event | None = None
        self._reader: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """End every stream soon; safe to call from a signal handler."""
        self.stopping = True

    async def stream(self, wanted: Callable[[str], bool] = lambda key: True) -> AsyncIterator[str]:
        """Yield events for the studies whose key is wanted: all at first, then those that changed."""
        self.listeners += 1
        try:
            if self._reader is None:
                self._looked, self._changed = False, asyncio.Event()
                self._reader = asyncio.create_task(self._read())
            yield "retry: 2000\n\n"
            async for text in self._events(wanted):
                yield text
        finally:
            self.listeners -= 1
            if self.listeners == 0 and self._reader is not None:
                self._reader.cancel()
                self._reader = None

    async def _events(self, wanted: Callable[[str], bool]) -> AsyncIterator[str]:
        sent: dict[str, dict[str, Any]] | None = None
        trouble = ""
        while not self.stopping:
            changed = self._changed
            if self._trouble != trouble:
                trouble = self._trouble
                yield event("trouble", trouble)
            news = {key: one for key, one in self._news.items() if wanted(key)}
            fresh = [one for key, one in news.items() if sent is None or sent.get(key) != one]
            gone = sorted(set(sent or ()) - set(news))
            if self._looked and not trouble and (fresh or gone or sent is None):
                sent = news
                yield event("progress", {"studies": fresh, "gone": gone})
            if not await self._wait(changed):
                yield ": still here\n\n"

    async def _wait(self, changed: asyncio.Event | None) -> bool:
        """Wait for a change; return False after a long silence, when a comment must be sent to notice a page that left."""
        waited = 0.0
        while changed is not None and not self.stopping and waited < SILENCE:
            try:
                await asyncio.wait_for(changed.wait(), 0.25)
                return True
            except TimeoutError:
                waited += 0.25
        return self.stopping

    async def _read(self) -> None:
        while not self.stopping:
            start = time.monotonic()
            await self._look()
            # a slow store is asked less often: watching must not take from those who compute
            await asyncio.sleep(max(self.seconds, LEISURE * (time.monotonic() - start)))

    async def _look(self) -> None:
        from starlette.concurrency import run_in_threadpool

        try:
            found = await run_in_threadpool(self.source.ask, lambda store: store.studies())
            news, trouble = {key_of(p.name): news_of(p) for p in found}, ""
        except StoreAway as error:
            news, trouble = self._news, str(error)
        if not self._looked or (news, trouble) != (self._news, self._trouble):
            self._news, self._trouble, self._looked = news, trouble, True
            old, self._changed = self._changed, asyncio.Event()
            if old is not None:
                old.set()
