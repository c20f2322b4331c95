"""Results about nets that went through a store are the same records again: same numbers, same report, same images."""

from __future__ import annotations

import copy
import json
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="rankings of networks need torch")

from unseen.core.errors import InputError, UnknownName
from unseen.nets import augmentation_sheet, bench_of, cmi, estimate, from_store, rank, sample_net, score_measures
from unseen.nets.augmentation.sheet import pack_images, unpack_images
from unseen.nets.ranking.bench import MeasureRow
from unseen.nets.stored_records import KINDS
from unseen.show.sections import Notes, Table, Text, build
from unseen.store.records import Kept

HOSTILE = "<script>alert(1)</script> $x$ vs b"


def networks():
    """Twelve networks in two seeds whose gaps follow depth, width and dropout; a measure that knows it and one that does not."""
    rng = np.random.default_rng(3)
    cells = [(a, b, c) for a in (1, 2, 3) for b in (8, 16) for c in (0.0, 0.5)]
    nets, rows = [], []
    for seed in (0, 1):
        for k, (a, b, c) in enumerate(cells):
            gap = 0.1 + 0.03 * a + 0.01 * (b == 16) + 0.004 * (c > 0) + 0.001 * rng.random()
            nets.append(
                {
                    "zoo": HOSTILE,
                    "name": f"n{k}",
                    "seed": seed,
                    "train_accuracy": 1.0,
                    "test_accuracy": 1 - gap,
                    "gap": gap,
                    "depth": a,
                    "width": b,
                    "dropout": c,
                }
            )
            for name, value in (("knows", 4 * gap), (HOSTILE, rng.random()), ("epochs", 3.0)):
                rows.append(
                    MeasureRow(
                        zoo=HOSTILE,
                        seed=seed,
                        net=f"n{k}",
                        measure=name,
                        value=value,
                        std_error=0.1,
                        draws=1,
                        seconds=0.5,
                    )
                )
    return nets, rows


def scored():
    nets, rows = networks()
    columns = {m: [r.value for r in rows if r.measure == m] for m in ("knows", HOSTILE)}
    grid = {name: [net[name] for net in nets] for name in ("depth", "width", "dropout")}
    seeds = [net["seed"] for net in nets]
    return score_measures([net["gap"] for net in nets], columns, grid, seeds=seeds, n_permutations=19)


@pytest.fixture(scope="module")
def results():
    nets = {HOSTILE: sample_net("conv"), "b": sample_net("conv", seed=1), "c": sample_net("conv", seed=2)}
    conv = sample_net("conv")
    X, y = conv.X_train.numpy(), conv.y_train.numpy()
    own = rank(nets, measures=["weighted-augment", "path-norm", "alpha"], device="cpu")
    one = scored()
    return {
        "nets-rank": own,
        "nets-bench": bench_of(*networks(), n_permutations=9),
        "nets-cmi": one,
        "nets-score": one.scores["knows"],
        "nets-estimate": estimate(conv.module, X, y, method="bolster", n_mc=5),
        "nets-augmentations": augmentation_sheet(conv.X_train[:2], "all"),
        "calibrated": estimate(
            conv.module, X, y, method="calibrated-bolster", repeats=2, n_mc=3, training={"epochs": 2}
        ),
    }


def stored(result) -> Kept:
    """What a store gives back: keys in alphabetical order, JSON values only."""
    return Kept(
        id=1,
        kind=result.kept_as,
        name="mine",
        created="",
        payload=json.loads(json.dumps(result.to_record(), sort_keys=True, allow_nan=False)),
    )


def words(result):
    """Everything a report says in words and numbers."""
    blocks = [block for one in build(result) for block in one.blocks if isinstance(block, (Text, Table, Notes))]
    return json.dumps([repr(vars(block)) for block in blocks], sort_keys=True)  # NaN is unlike itself, its text is not


def same(a, b) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


@pytest.mark.parametrize(
    "name", ["nets-rank", "nets-bench", "nets-cmi", "nets-score", "nets-estimate", "calibrated", "nets-augmentations"]
)
def test_what_comes_back_says_the_same(results, name):
    result = results[name]
    again = from_store(stored(result))
    assert type(again) is type(result)
    assert same(again.to_dict(), result.to_dict())
    assert same(again.rows(), result.rows())
    assert words(again) == words(result)
    assert same(stored(again).payload, stored(result).payload)


def test_every_kind_that_is_kept_is_read_back(results):
    assert {result.kept_as for result in results.values()} == set(KINDS)


def test_images_come_back_to_the_byte(results):
    sheets = results["nets-rank"].sheets
    assert [sheet.category for sheet in sheets] == ["strong", "weak", "fixed", "all"]
    again = from_store(stored(results["nets-rank"])).sheets
    for before, after in zip(sheets, again):
        assert np.abs(before.images - after.images).max() <= 0.5 / 255 + 1e-9
        assert np.array_equal(before.penalties, after.penalties)
        assert before.labels == after.labels
    first = sample_net("conv").X_train[0].permute(1, 2, 0).numpy()
    assert np.allclose(sheets[2].images[0, 0], first, atol=1e-6)


def test_the_sheet_is_there_only_where_a_measure_augments_and_it_is_wanted():
    nets = {"a": sample_net("conv"), "b": sample_net("conv", seed=1)}
    assert rank(nets, measures=["path-norm"], device="cpu").sheets == ()
    assert rank(nets, measures=["weighted-augment"], images=False, device="cpu").sheets == ()
    flat = {name: torch.nn.Linear(2, 2) for name in "ab"}
    X, y = torch.randn(9, 2, generator=torch.Generator().manual_seed(0)), torch.arange(9) % 2
    assert rank(flat, X, y, measures=["path-norm", "weighted-augment"], device="cpu").sheets == ()


def test_large_and_standardised_images_are_shown_as_they_look():
    from unseen.nets import build_measure
    from unseen.nets.augmentation.sheet import sheets_for

    unit = torch.rand(3, 3, 200, 130, generator=torch.Generator().manual_seed(0))
    mean = torch.tensor([0.5, 0.2, 0.1]).reshape(-1, 1, 1)
    ends = ((-mean / 0.25).flatten().tolist(), ((1 - mean) / 0.25).flatten().tolist())
    sheets = sheets_for(build_measure("weighted-augment").sheets, (unit - mean) / 0.25, ends)
    assert sheets[2].images.shape == (2, 4, 50, 33, 3)
    expected = unit[0, :, :4, :4].mean(dim=(1, 2)).numpy()
    assert np.allclose(sheets[2].images[0, 0, 0, 0], expected, atol=1e-5)


def test_agreement_is_read_from_both_ways_it_is_written(results):
    result = results["nets-rank"]
    plain = Kept(
        id=1,
        kind="nets-rank",
        name="mine",
        created="",
        payload=json.loads(json.dumps(result.to_dict(), sort_keys=True)),
    )
    again = from_store(plain)
    assert {frozenset(pair) for pair in again.agreement} == {frozenset(pair) for pair in result.agreement}
    assert again.sheets == ()


def test_a_bench_without_its_networks_is_a_table_alone(results):
    result = results["nets-bench"]
    again = from_store(Kept(id=1, kind="nets-bench", name="mine", created="", payload=json.loads(result.to_json())))
    assert [one.id for one in build(again)] == ["answer", "table"]
    assert len(again.gap) == 0


def test_a_measure_taken_on_one_seed_only_comes_back(results):
    nets, rows = networks()
    half = bench_of(nets, [r for r in rows if r.measure != HOSTILE or r.seed == 0], n_permutations=9)
    again = from_store(stored(half))
    assert np.isnan(again.values[HOSTILE]).sum() == 12
    assert words(again) == words(half)
    from unseen.nets.figures.bench_scatter import scatter_info

    drawn = scatter_info(again, HOSTILE)
    assert len(drawn.gap) == len(drawn.values) == len(drawn.groups) == 12
    assert np.isfinite(drawn.values).all()


def test_an_estimate_of_an_older_version_is_read_with_what_it_has(results):
    payload = stored(results["nets-estimate"]).payload
    older = {k: v for k, v in payload.items() if k not in ("expected_rms", "situation", "bandwidth")}
    assert from_store(Kept(id=1, kind="nets-estimate", name="", created="", payload=older)).value == payload["value"]


def test_a_score_read_back_has_no_networks_to_permute(results):
    with pytest.raises(InputError, match="read back from a store"):
        from_store(stored(results["nets-score"])).noise_floor(9)


def test_several_measures_score_as_each_by_itself(results):
    found = results["nets-cmi"]
    nets, rows = networks()
    grid = {name: [net[name] for net in nets] for name in ("depth", "width", "dropout")}
    seeds = [net["seed"] for net in nets]
    for name in ("knows", HOSTILE):
        alone = cmi([net["gap"] for net in nets], [r.value for r in rows if r.measure == name], grid, seeds=seeds)
        assert found.scores[name].value == alone.value
        assert found.floors[name].p_value == alone.noise_floor(19).p_value
    assert found.best_first()[0] == "knows"
    assert found.scores["knows"].value == pytest.approx(1.0)
    with pytest.raises(InputError, match="at least one"):
        score_measures([0.1, 0.2], {}, {"a": [1, 2]})


DAMAGE = {
    "nets-rank": [
        ("names", []),
        ("names", ["a"]),
        ("probability", [[1.0]]),
        ("score", ["x"] * 3),
        ("values", {}),
        ("notes", [{}]),
        ("accuracy", None),
    ],
    "nets-bench": [
        ("lines", [{}]),
        ("gap", [1.0]),
        ("axes", {"depth": [1]}),
        ("noise_floor", None),
        ("left_out", 3),
        ("seeds", ["x"]),
    ],
    "nets-cmi": [("measures", []), ("measures", [{}]), ("values", {"knows": ["a"]}), ("gap", None)],
    "nets-score": [("value", None), ("by_set", []), ("interval", {}), ("sizes", "two")],
    "nets-estimate": [
        ("value", None),
        ("target", {"kind": "<script>"}),
        ("contributions", "long"),
        ("n_units", "many"),
    ],
    "nets-augmentations": [
        ("images", {}),
        ("images", {"shape": [1, 1, 10**9, 1, 1], "bytes": ""}),
        ("labels", []),
        ("penalties", [[]]),
    ],
}


@pytest.mark.parametrize(("kind", "key", "value"), [(k, *pair) for k, pairs in DAMAGE.items() for pair in pairs])
def test_a_damaged_record_is_refused_in_words(results, kind, key, value):
    kept = stored(results[kind])
    payload = copy.deepcopy(kept.payload)
    payload[key] = value
    with pytest.raises(InputError):
        from_store(Kept(id=1, kind=kind, name="mine", created="", payload=payload))
    without = {k: v for k, v in payload.items() if k != key}
    if key not in ("gap", "axes", "values", "seeds", "contributions") or kind == "nets-rank":
        with pytest.raises(InputError, match="damaged, or was filed by other means"):
            from_store(Kept(id=1, kind=kind, name="mine", created="", payload=without))


def test_other_kinds_are_not_guessed(results):
    with pytest.raises(UnknownName, match="nets-rank"):
        from_store(Kept(id=1, kind="assessment", name="x", created="", payload={}))
    with pytest.raises(InputError):
        from_store(Kept(id=1, kind="nets-rank", name="x", created="", payload=[1, 2]))


def test_a_text_of_a_few_bytes_cannot_fill_the_memory():
    import base64
    import zlib

    bomb = base64.b64encode(zlib.compress(bytes(10**7))).decode()
    with pytest.raises(InputError, match="damaged"):
        unpack_images({"shape": [4], "bytes": bomb})
    with pytest.raises(InputError, match="damaged"):
        unpack_images({"shape": [4], "bytes": "!!"})
    held = pack_images(np.array([[-1.0, 0.2, 2.0]]))
    assert np.allclose(unpack_images(held), [[0, 0.2, 1]])


def test_results_are_kept_from_python(results, tmp_path):
    pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
    from unseen.store import open_store

    url = f"sqlite:///{tmp_path / 'runs.db'}"
    numbers = [results[kind].keep(url, f"my {kind}") for kind in KINDS]
    with open_store(url, read_only=True) as store:
        assert [(k.kind, k.name) for k in reversed(store.records())] == [(kind, f"my {kind}") for kind in KINDS]
        for kind, number in zip(KINDS, numbers):
            assert same(from_store(store.record(number)).to_dict(), results[kind].to_dict())


READ = """
import json, sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError("torch is not installed here")

sys.meta_path.insert(0, NoTorch())
from unseen.nets import from_store
from unseen.show.sections import build
from unseen.store.records import Kept
for kind, payload in json.load(sys.stdin).items():
    print(kind, [one.id for one in build(from_store(Kept(id=1, kind=kind, name="", created="", payload=payload)))])
"""


@pytest.mark.slow
@pytest.mark.sample
def test_a_machine_without_torch_shows_them_too(results):
    payloads = {kind: stored(results[kind]).payload for kind in KINDS}
    done = subprocess.run(
        [sys.executable, "-c", READ], input=json.dumps(payloads), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "nets-rank ['answer', 'table', 'augmentations']" in done.stdout
    assert "nets-bench ['answer', 'table', 'scatter']" in done.stdout
    assert "nets-cmi ['answer', 'table', 'scatter', 'sets']" in done.stdout


def test_sheets_show_what_the_measures_look_at():
    from unseen.nets import augmentation_sheet, build_measure
    from unseen.nets.augmentation.sheet import sheets_for

    X = torch.rand(3, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    kinds = {
        name: [s.category for s in sheets_for(build_measure(name).sheets, X, (0.0, 1.0))]
        for name in ("always-generalize", "multi-augment", "augment-margin", "path-norm")
    }
    assert kinds == {
        "always-generalize": ["changes"],
        "multi-augment": ["strong", "weak", "fixed", "all"],
        "augment-margin": [],
        "path-norm": [],
    }
    sheet = augmentation_sheet(X[:2], "changes")
    assert sheet.penalties.tolist() == [[0.0, 6, 1, 2, 3, 1, 12, 2]] * 2
    plain = X[:2].permute(0, 2, 3, 1).double().numpy()
    assert np.array_equal(sheet.images[:, 0], plain)
    assert np.array_equal(sheet.images[:, 1], plain[:, :, ::-1])  # mirrored
    assert np.allclose(sheet.images[:, 5], np.minimum(plain + 0.5, 1))  # brighter
    black = (sheet.images[:, 7] == 0).all(axis=3)
    assert black.any(axis=(1, 2)).all()
    assert np.array_equal(sheet.images[:, 7][~black], plain[~black])
