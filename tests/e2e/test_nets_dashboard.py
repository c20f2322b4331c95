"""Results of `unseen nets` from the command line to the page: kept in a store, listed, drawn, read and used in a real browser."""

from __future__ import annotations

import itertools
import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from unseen.nets import make_vgg
from unseen.nets.files.weights import write_weights
from unseen.nets.ranking.bench import write_table
from unseen.store import open_store

other = runpy.run_path(str(Path(__file__).with_name("test_dashboard_browser.py")))
Address, Served, FAULTS, assert_own = (other[k] for k in ("Address", "Served", "FAULTS", "assert_own"))
tab_to, assert_sorts_by_keyboard = other["tab_to"], other["assert_sorts_by_keyboard"]
CONTRASTS, ARGUMENTS, Visit, PAPER = (other["report"][k] for k in ("CONTRASTS", "ARGUMENTS", "Visit", "PAPER"))
HOSTILE = "<script>alert(1)</script> \"' & $x_1$"
SHOWN = {
    "nets-rank": "ranking of networks",
    "nets-bench": "bench of measures",
    "nets-cmi": "scores of measures",
    "nets-estimate": "error of a net",
}
KINDS = {"rank": "nets-rank", "bench": "nets-bench", "cmi": "nets-cmi", "estimate": "nets-estimate"}


@pytest.fixture(scope="module")
def unseen(run_unseen):
    """Run a command of nets in this process."""

    def run(*words, cwd, code=0):
        done = run_unseen("nets", *words, cwd=cwd)
        assert done.returncode == code, done.stderr
        return done

    return run


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with three networks, one of a hostile name, their images, and tables of measured networks."""
    root = tmp_path_factory.mktemp("nets")
    (root / "mine").mkdir()
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = (0.4 * rng.random((24, 1, 8, 8)) + 0.6 * (np.arange(8) < 4 + 3 * y[:, None, None, None])).clip(0, 1)
    np.savez(root / "train.npz", X=X.astype(np.float32), y=y)
    networks = {}
    for k, name in enumerate((HOSTILE, "first", "second")):
        torch.manual_seed(k)
        net = make_vgg(n_features=(1, 8, 8), n_classes=2, blocks=1, width=4)
        write_weights(root / "mine" / f"{k}.safetensors", net.state_dict())
        networks[name] = {"weights": f"{k}.safetensors", "make": "make_vgg", "options": {"blocks": 1, "width": 4}}
    (root / "mine" / "manifest.json").write_text(json.dumps({"networks": networks}))
    code = "from unseen.nets import make_vgg\n\ndef make(n_features, n_classes, blocks=1, width=4):\n    return make_vgg(n_features=n_features, n_classes=n_classes, blocks=blocks, width=width)\n"
    (root / "own.py").write_text(code)
    tables(root, rng)
    return root


def tables(root, rng):
    nets, values, wide = [], [], []
    for seed in (0, 1):
        for k, (a, b, c) in enumerate(itertools.product((1, 2, 3), (8, 16), (0.0, 0.5))):
            gap = 0.1 + 0.03 * a + 0.02 * (b == 16) + 0.01 * (c > 0) + 0.002 * rng.random()
            common = {"zoo": "made-up", "name": f"n{k}", "seed": seed, "train_accuracy": 1.0, "test_accuracy": 1 - gap}
            axes = {"depth": a, "width": b, "dropout": c}
            nets.append({**common, "gap": gap, **axes})
            measured = {HOSTILE: 3 * gap, "coin": rng.random(), "epochs": float(k)}
            wide.append({"seed": seed, "gap": gap, **axes, **measured})
            values += [
                {
                    "zoo": "made-up",
                    "seed": seed,
                    "net": f"n{k}",
                    "measure": m,
                    "value": v,
                    "std_error": 0.1,
                    "draws": 1,
                    "seconds": 0.5,
                    "reason": "",
                }
                for m, v in measured.items()
            ]
    write_table(root / "networks.csv", nets)
    write_table(root / "values.csv", values)
    write_table(root / "wide.csv", wide)


def commands():
    return {
        "rank": (
            "rank",
            "mine",
            "--data",
            "train.npz",
            "--measures",
            "weighted-augment,path-norm",
            "--device",
            "cpu",
        ),
        "bench": ("bench", "--networks", "networks.csv", "--values", "values.csv", "--permutations", 19),
        "cmi": (
            "cmi",
            "wide.csv",
            "--measure",
            f"{HOSTILE},coin",
            "--grid",
            "depth,width,dropout",
            "--seed-column",
            "seed",
            "--permutations",
            19,
        ),
        "estimate": (
            "estimate",
            "--module",
            "own:make",
            "--weights",
            "mine/1.safetensors",
            "--data",
            "train.npz",
            "--method",
            "bolster",
            "--device",
            "cpu",
        ),
    }


@pytest.fixture(scope="module")
def printed(place):
    """What each command printed, in a process of its own, while it kept its result in a store."""
    out = {}
    for k, (name, words) in enumerate(commands().items()):
        command = [sys.executable, "-m", "unseen", "nets", *words, "--json", "--store", "sqlite:///runs.db"]
        done = subprocess.run(map(str, command), capture_output=True, text=True, cwd=place, check=False)
        assert done.returncode == 0, done.stderr
        assert f"kept as {KINDS[name]} {k + 1}" in done.stderr
        out[name] = done.stdout
    return out


@pytest.fixture(scope="module")
def store_url(place, printed):
    """The store in which each command kept its result."""
    return f"sqlite:///{place / 'runs.db'}"


@pytest.fixture(scope="module")
def base(store_url):
    served = Served(store_url)
    yield served.base
    served.stop()


@pytest.fixture(scope="module")
def started(chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield opened
        opened.close()


def without_times(value):
    """Return a result without what no two runs share."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k != "seconds"}
    return [without_times(v) for v in value] if isinstance(value, list) else value


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("name", list(KINDS))
def test_json_is_the_same_with_and_without_a_store(unseen, place, printed, name):
    plain = unseen(*commands()[name], "--json", "--quiet", cwd=place)
    assert plain.stderr == ""
    shown = json.loads(plain.stdout)
    assert without_times(shown) == without_times(json.loads(printed[name]))
    with open_store(place / "runs.db", read_only=True) as store:
        payload = store.record(list(KINDS).index(name) + 1).payload
    assert payload["measures"][0]["value"] == shown[0]["value"] if name == "cmi" else set(shown) <= set(payload)


def test_a_server_keeps_them_too(unseen, place, postgres):
    url = postgres.new_database()
    done = unseen(*commands()["bench"], "--store", url, cwd=place)
    assert "kept as nets-bench 1" in done.stderr
    unseen(*commands()["cmi"], "--store", url, "--quiet", cwd=place)
    from unseen.nets import from_store

    with open_store(url, read_only=True) as store:
        assert [k.kind for k in store.records()] == ["nets-cmi", "nets-bench"]
        assert from_store(store.record(1)).line(HOSTILE).cmi == pytest.approx(100)
        assert from_store(store.record(2)).scores[HOSTILE].value == pytest.approx(1)


@pytest.mark.parametrize("name", list(KINDS))
def test_a_store_that_cannot_be_is_told_before_any_work(unseen, place, name):
    done = unseen(*commands()[name], "--store", "nowhere/runs.db", cwd=place, code=2)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "the folder 'nowhere' does not exist" in done.stderr


def test_images_stay_at_home_where_asked(unseen, place):
    unseen(*commands()["rank"], "--no-images", "--store", "bare.db", "-q", "--report", "bare.html", cwd=place)
    with open_store(place / "bare.db", read_only=True) as store:
        assert store.record(1).payload["sheets"] == []
    assert "data:image" not in (place / "bare.html").read_text()
    unseen(*commands()["rank"], "--report", "full.html", "-q", cwd=place)
    assert "data:image/png" in (place / "full.html").read_text()


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")])
def test_pages_are_silent_fit_and_can_be_read(started, base, width, scheme):
    for number, name in enumerate(KINDS, 1):
        with Visit(started, Address(f"{base}/kept/{number}"), width, scheme) as visit:
            page = visit.page
            assert_own(visit, base)
            wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, f"{name} scrolls sideways by {wide} px"
            texts = page.evaluate(CONTRASTS)
            assert [t for t in texts if t["ratio"] < 4.5] == [], name
            assert [t for t in texts if t["size"] < 9.5] == [], name
            assert page.evaluate(FAULTS) == [], name
            assert page.locator("main figure svg").count() >= 1
            # of the two drawings of a figure, one for phones, the page shows one
            shown = (
                "[...document.querySelectorAll('figure:has(svg)')].every(f => [...f.querySelectorAll('svg')]"
                ".filter(s => s.getBoundingClientRect().height > 40).length >= 1)"
            )
            assert page.evaluate(shown)


@pytest.mark.slow
@pytest.mark.sample
def test_a_hostile_name_is_text_everywhere(started, base):
    places = ["/", "/kept", *(f"/kept/{k}" for k in range(1, 4)), "/compare?item=kept.1&item=kept.2&item=kept.3"]
    for place in places:
        with Visit(started, Address(f"{base}{place}")) as visit:
            assert_own(visit, base)
            assert "<script>alert(1)</script>" in visit.page.inner_text("main"), place
            assert visit.page.locator("main script").count() == 0


@pytest.mark.slow
@pytest.mark.sample
def test_images_are_there_with_their_penalties(started, base):
    with Visit(started, Address(f"{base}/kept/1")) as visit:
        page = visit.page
        assert page.locator("#augmentations svg image").count() >= 4
        penalties = page.locator("#augmentations svg text").all_text_contents()
        assert "9.00" in penalties
        # the browser has really decoded them
        decoded = page.evaluate(
            """async () => Promise.all([...document.querySelectorAll('#augmentations image')].map(async (i) => {
              const shown = new Image(); shown.src = i.href.baseVal; await shown.decode(); return shown.naturalWidth; }))"""
        )
        assert min(decoded) > 40


@pytest.mark.slow
@pytest.mark.sample
def test_the_bench_is_sorted_and_the_scatter_chosen_by_keyboard(started, base):
    with Visit(started, Address(f"{base}/kept/2")) as visit:
        page = visit.page
        tab_to(page, "tau")
        assert_sorts_by_keyboard(page, "#table-1")
        tab_to(page, "coin")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press("Enter")
        page.wait_for_url("**scatter=coin#scatter")
        assert page.inner_text("#scatter-title") == "Gap against coin"
        assert page.locator("#scatter [aria-current]").inner_text() == "coin"
        assert_own(visit, base)


@pytest.mark.slow
@pytest.mark.sample
def test_the_list_leads_to_each_kind(started, base):
    with Visit(started, Address(f"{base}/")) as visit:
        page = visit.page
        for kind in KINDS.values():
            assert page.locator("ul.records .kind", has_text=SHOWN[kind]).count() == 1
        page.click("text=All results")
        page.click(f"ul.chips >> text={SHOWN['nets-bench']}")
        assert page.locator("#records tbody tr").count() == 1
        page.click("#records tbody a")
        assert page.inner_text("#answer-title") == "Which measure can be trusted"
        assert_own(visit, base)


@pytest.mark.slow
@pytest.mark.sample
def test_without_script_and_on_paper_all_is_there(started, base):
    context = started.new_context(java_script_enabled=False)
    page = context.new_page()
    for number in range(1, 5):
        page.goto(f"{base}/kept/{number}")
        assert page.locator("section").count() >= 3
        assert page.locator("figure svg").count() >= 1
    context.close()
    for number in (1, 2):
        with Visit(started, Address(f"{base}/kept/{number}"), PAPER, "dark", "print") as visit:
            assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            assert [t for t in visit.page.evaluate(CONTRASTS) if t["ratio"] < 4.5] == []
            cut = (
                "[...document.querySelectorAll('figure .scroll')].filter(s => s.scrollWidth > s.clientWidth + 1).length"
            )
            assert visit.page.evaluate(cut) == 0
