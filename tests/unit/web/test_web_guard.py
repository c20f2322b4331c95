"""Nobody gets past the guard: only reading, only known hosts, only with the token, strict headers on every answer."""

from __future__ import annotations

from collections import Counter
from urllib.parse import quote, urlencode

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from unseen.core.errors import InputError
from unseen.web import dashboard
from unseen.web._guard import POLICY
from unseen.web._words import key_of

TOKEN = "correct-horse-battery-staple"
CLIMBS = [
    "../../../../etc/passwd",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/etc/passwd",
    "....//....//etc/passwd",
    "..\\..\\etc\\passwd",
    "/etc/passwd",
    "%00",
    "\u202e",
    "x" * 3000,
    "file:///etc/passwd",
    "..;/",
    "%252e%252e%252fetc",
]


@pytest.fixture
def app(made):
    opened = dashboard(made.url)
    yield opened
    opened.close()


@pytest.fixture
def locked(made):
    opened = dashboard(made.url, token=TOKEN, hosts=None)
    yield opened
    opened.close()


def addresses(made) -> list[str]:
    study, kept = f"/studies/{key_of('whole')}", f"/kept/{made.kept['reproduction']}"
    parts = ("", "/live", "/failures", "/cells", "/results.csv", "/results.json", "/summary.csv")
    return [
        "/",
        "/kept",
        "/compare",
        "/static/dashboard.css",
        "/static/htmx.min.js",
        "/nothing",
        "/studies/none-0123456789",
        *(study + part for part in parts),
        kept,
        f"{kept}/results.csv",
        f"{kept}/results.json",
        "/kept/999999",
    ]


def assert_strict(answer):
    assert answer["content-security-policy"] == POLICY
    assert "unsafe" not in answer["content-security-policy"]
    assert answer["x-content-type-options"] == "nosniff"
    assert answer["referrer-policy"] == "no-referrer"
    assert answer["x-frame-options"] == "DENY"
    assert "access-control-allow-origin" not in dict(answer.headers)
    assert max(Counter(k for k, _ in answer.headers).values()) == 1


def test_every_answer_has_strict_headers(app, ask, made):
    for address in addresses(made):
        assert_strict(ask(app, address))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_only_reading_is_possible_anywhere(app, ask, made, method):
    for address in addresses(made):
        answer = ask(app, address, method=method)
        assert answer.status == 405
        assert answer["allow"] == "GET, HEAD"
        assert_strict(answer)


def test_head_gives_the_headers_of_get_also_for_the_endless_stream(app, ask, made):
    for address in [*addresses(made), "/events"]:
        head = ask(app, address, method="HEAD")
        assert_strict(head)
        if address != "/events":
            assert head.status == ask(app, address).status


@pytest.mark.parametrize("climb", CLIMBS)
def test_no_address_climbs_out(app, ask, made, climb):
    text = quote(climb, safe="/%\\:;.")
    for start in (
        "/static/",
        "/studies/",
        "/kept/",
        f"/studies/{key_of('whole')}/",
        f"/kept/{made.kept['nets']}/",
        "/",
    ):
        answer = ask(app, start + text)
        assert answer.status == 404, start
        assert b"root:" not in answer.body
        assert_strict(answer)


@pytest.mark.parametrize(
    "query", ["item=../../etc/passwd", "item=kept.../x", "item=study.", "item=kept.99999999999999999999", "item=kept.²"]
)
def test_a_comparison_of_what_is_not_there_is_not_found(app, ask, query):
    assert ask(app, "/compare?" + quote(query, safe="=./")).status == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", None, "localhost.evil.example:8765", "[::2]:80"]
)
def test_a_strange_host_name_is_refused(app, ask, host):
    answer = ask(app, "/", host=host)
    assert answer.status == 421
    assert b"whole" not in answer.body
    assert_strict(answer)


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "LOCALHOST:1", "[::1]:8765"])
def test_this_machine_is_answered(app, ask, host):
    assert ask(app, "/", host=host).status == 200


def test_without_the_token_there_is_nothing(locked, ask, made):
    for address in [*addresses(made), "/events"]:
        answer = ask(locked, address)
        assert answer.status == 401
        assert answer["www-authenticate"] == "Bearer"
        assert b"whole" not in answer.body
        assert_strict(answer)


@pytest.mark.parametrize(
    "wrong",
    [TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "", "None", "é" * 20],
)
def test_a_wrong_token_is_refused_however_it_comes(locked, ask, wrong):
    assert ask(locked, "/", headers=[("authorization", f"Bearer {wrong}")]).status == 401
    assert ask(locked, f"/?token={quote(wrong)}").status == 401
    assert ask(locked, "/", headers=[("cookie", f"{locked.cookie}={quote(wrong)}")]).status == 401
    assert ask(locked, "/", headers=[("authorization", f"Basic {TOKEN}")]).status == 401


def test_the_token_opens_by_header(locked, ask):
    assert ask(locked, "/", headers=[("authorization", f"Bearer {TOKEN}")]).status == 200


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address(locked, ask):
    answer = ask(locked, f"/kept?kind=assessment&token={TOKEN}")
    assert answer.status == 303
    assert answer["location"] == "/kept?kind=assessment"
    cookie = answer["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Secure" not in cookie
    assert TOKEN not in cookie
    assert_strict(answer)
    pair = cookie.partition(";")[0]
    assert ask(locked, "/kept", headers=[("cookie", pair)]).status == 200
    assert ask(locked, "/kept", headers=[("cookie", f"a=b; {pair}; c=d")]).status == 200
    assert TOKEN not in ask(locked, "/kept", headers=[("cookie", pair)]).text
    assert "Secure" in ask(locked, f"/?token={TOKEN}", scheme="https")["set-cookie"]


def test_the_cookie_of_one_dashboard_does_not_open_another(locked, ask, made):
    pair = ask(locked, f"/?token={TOKEN}")["set-cookie"].partition(";")[0]
    other = dashboard(made.url, token=TOKEN + "2", hosts=None)
    assert ask(other, "/", headers=[("cookie", pair)]).status == 401
    other.close()


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/%5Cevil.example/", "/\\\\evil.example", "///evil.example", "/%2F%2Fevil.example"]
)
def test_the_way_in_never_leads_elsewhere(locked, ask, path):
    place = ask(locked, f"{path}?token={TOKEN}")["location"]
    assert place.startswith("/")
    assert not place.startswith(("//", "/\\"))


def test_a_line_break_in_the_address_makes_no_header(locked, ask):
    answer = ask(locked, f"/a%0d%0aset-cookie:x=y?token={TOKEN}&b=%0d%0ac")
    assert "\n" not in answer["location"]
    assert "\r" not in answer["location"]


def test_a_short_token_is_refused(made):
    with pytest.raises(InputError, match="at least 16"):
        dashboard(made.url, token="short")


def test_websockets_are_closed(app, ask):
    assert ask(app, "/events", kind="websocket").status == -1008


def test_files_beside_the_pages_are_cached_by_their_content(app, ask):
    answer = ask(app, "/static/live.js")
    assert answer["content-type"].startswith("text/javascript")
    again = ask(app, "/static/live.js", headers=[("if-none-match", answer["etag"])])
    assert (again.status, again.body) == (304, b"")
    assert "Zero-Clause BSD" in ask(app, "/static/htmx.LICENSE.txt").text


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    from unseen.store import open_store

    url = f"sqlite:///{tmp_path_factory.mktemp('fuzz') / 'studies.db'}"
    with open_store(url) as store:
        store.keep("reproduction", "a", {"cells": [{"cell": f"c{k}", "ours": k} for k in range(400)]})
        store.keep("assessment", "b", {"error": 0.1, "interval": [0.0, 0.2]})
    opened = dashboard(url)
    yield opened
    opened.close()


NAMES = st.sampled_from(
    ["page", "kind", "item", "t0.page", "t0.sort", "t0.order", "f0-rows.show", "study", "token"]
) | st.text(max_size=5)
VALUES = st.sampled_from(
    ["0", "-1", "1e3", "99999999999999999999", "kept.1", "kept.2", "kept.0", "study.x", "²", "٣", "down"]
) | st.text(max_size=12)


@given(st.sampled_from(["/", "/kept", "/kept/1", "/compare"]), st.lists(st.tuples(NAMES, VALUES), max_size=4))
@settings(max_examples=60, deadline=None)
def test_no_query_breaks_a_page(fuzzed, ask, path, pairs):
    try:
        query = urlencode(pairs)
    except UnicodeEncodeError:
        assume(False)
    assert ask(fuzzed, f"{path}?{query}").status in (200, 404)


@given(st.text(max_size=30))
@settings(max_examples=60, deadline=None)
def test_no_path_breaks_the_server(fuzzed, ask, path):
    try:
        text = quote(path)
    except UnicodeEncodeError:
        assume(False)
    assert ask(fuzzed, f"/{text}").status in (200, 404)
