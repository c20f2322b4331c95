"""Control characters and marks of direction in names and records are shown in the dashboard, not obeyed."""

from __future__ import annotations

import re

from unseen.core.controls import HIDDEN
from unseen.store import open_store
from unseen.web import dashboard

EVIL = "v\x1b[2J\u202etxt\x9b\u2066"


def test_pages(ask, tmp_path) -> None:
    with open_store(tmp_path / "kept.db") as store:
        store.keep("assessment", EVIL, {"rows": [{"method": EVIL, "estimate": 0.5}], EVIL: EVIL})
        store.keep("strange", EVIL, {"rows": [{EVIL: EVIL}]})
    app = dashboard(f"sqlite:///{tmp_path / 'kept.db'}")
    first = ask(app, "/").text
    seen, waiting = {}, ["/", *re.findall(r'href="(/[^"#]*)"', first)]
    while waiting:
        target = waiting.pop()
        if target not in seen and not target.startswith("/static") and len(seen) < 40:
            seen[target] = ask(app, target).text
            waiting += re.findall(r'href="(/[^"#]*)"', seen[target])
    pages = {target: page for target, page in seen.items() if page.lstrip().startswith("<!")}
    assert len(pages) >= 3
    assert any(r"v\u001b[2J\u202etxt" in page for page in pages.values())
    for target, page in pages.items():
        assert not HIDDEN.search(page), target
