"""Write tables and stores as they are today, to be opened by later versions: `python tests/golden/make_files.py`.

They are made once; a version that cannot open them must be mended, not the files.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from calls import STUDY, Place, blobs, clouds, linear_net, networks, reduced

import unseen
from unseen.store import open_store

HERE = Path(__file__).resolve().parent
FILES = HERE / "files"
METHODS = {
    "classes.npz": (("corrected-t", "auto"), ("corrected-t", "brier"), ("resampled-t", "log-loss"), ("monte-carlo", "auc")),
    "numbers.npz": (("kfold", "auto"), ("cv-wald", "absolute"), ("cv-wald", "squared")),
}  # fmt: skip


def tables() -> None:
    from sklearn.linear_model import LinearRegression
    from sklearn.naive_bayes import GaussianNB

    X, y = clouds(48)
    named = np.where(y == 1, "wild", "calm")
    unseen.run(
        GaussianNB(),
        X,
        named,
        design=unseen.designs.MonteCarlo(),
        groups=np.arange(48) // 3,
        random_state=1,
        scores=True,
    ).save(FILES / "classes.npz")
    unseen.run(LinearRegression(), X[:, :2], X[:, 2], design="kfold", random_state=1).save(FILES / "numbers.npz")


def fill(url: str) -> None:
    """Put a finished study and results of many kinds into a store."""
    spec = Path("golden.toml")
    spec.write_text(STUDY)
    with unseen.Study("golden", url) as study:
        study.run(spec, n_jobs=1, progress=False)
    X, y = clouds(40)
    k, n = unseen.kinetics, unseen.nets
    made = k.simulate(subjects=1, random_state=1)

    told = networks(Place(Path()))
    images = {"a": n.sample_net("conv", epochs=12), "b": n.sample_net("conv", seed=1, epochs=12)}
    A, b = blobs()
    rng = np.random.default_rng(5)
    cells = [(a, w, c) for a in (1, 2) for w in (8, 16) for c in (0.0, 0.5)]
    grid = {name: [cell[j] for cell in cells] for j, name in enumerate(("depth", "width", "dropout"))}
    scores = n.score_measures(rng.random(8), {"one": rng.random(8), "two": rng.random(8)}, grid, n_permutations=19)
    kept = {
        "own-assessment": unseen.assess(
            "lda",
            X,
            y,
            effort={"splits": 10, "repeats": 1, "bootstrap": 10, "leave_out": 20, "curve": 1},
            random_state=0,
        ),
        "own-comparison": unseen.compare({"lda": "lda", "dummy": "dummy", "cart": "cart"}, X, y, random_state=0),
        "own-estimate": unseen.estimate("lda", X, y, method="corrected-t", random_state=0),
        "own-distribution": unseen.distribution("lda", X, y, n_splits=20, random_state=0),
        "own-ranking": unseen.rank({"a": [0.1, 0.2, 0.3, 0.2], "b": [0.2, 0.3, 0.5, 0.4], "c": [0.3, 0.1, 0.7, 0.5]}),
        "own-measures": unseen.measure(y, X[:, 0], n_bootstrap=100, positive=1, random_state=0),
        "own-fit": k.fit(made.ttr, made.doses, locations=["EC-EC"]),
        "own-nca": k.nca(made.ttr, made.doses),
        "own-nets-rank": n.rank(
            images, measures=["weighted-augment", "path-norm", "alpha"], device="cpu", accuracy=0.3
        ),
        "own-nets-bench": n.bench_of(*told, n_permutations=19),
        "own-nets-cmi": scores,
        "own-nets-score": scores.scores["one"],
        "own-nets-estimate": n.estimate(linear_net(), A, b, method="bolster", n_mc=5, device="cpu", random_state=0),
        "own-nets-calibrated": n.estimate(
            linear_net(),
            A,
            b,
            method="calibrated-bolster",
            repeats=2,
            n_mc=3,
            training={"epochs": 2},
            device="cpu",
            random_state=0,
        ),
        "own-nets-augmentations": n.augmentation_sheet(images["a"].X_train[:2], "all"),
    }
    for name, result in kept.items():
        result.keep(url, name)
    reproduce = [sys.executable, "-m", "unseen", "reproduce", "larsen-hansen", "-r", "4", "--option", "n_splits=10"]
    subprocess.run([*reproduce, "--store", url, "--quiet", "--json"], check=True, stdout=subprocess.DEVNULL)


def told_by(url: str) -> dict[str, object]:
    """What a store says: the study's summary, and every kept record with its kind."""
    with unseen.Study("golden", url) as study:
        summary = reduced(study.summary())
        state = study.status().state
    with open_store(url, read_only=True) as store:
        kept = [store.record(one.id) for one in reversed(store.records())]
    return {
        "state": state,
        "summary": summary,
        "kept": [{"id": one.id, "kind": one.kind, "name": one.name, "payload": reduced(one.payload)} for one in kept],
    }


def differing(a: object, b: object, where: str = "$") -> list[str]:
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return [line for key in a for line in differing(a[key], b[key], f"{where}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [line for k, (x, y) in enumerate(zip(a, b)) for line in differing(x, y, f"{where}[{k}]")]
    return [] if a == b else [f"{where}: {a!r} {b!r}"]


def estimates(name: str) -> dict[str, object]:
    table = unseen.load(FILES / name)
    return {
        f"{method} {loss}": reduced(unseen.estimate(table, method=method, loss=loss)) for method, loss in METHODS[name]
    }


def main() -> None:
    sys.path.insert(0, str(HERE.parent))
    from conftest import Postgres

    shutil.rmtree(FILES, ignore_errors=True)
    FILES.mkdir()
    tables()
    told = {name: estimates(name) for name in METHODS}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        url = f"sqlite:///{folder}/studies.db"
        fill(url)
        told["store"] = told_by(url)
        opened = sqlite3.connect(f"{folder}/studies.db", isolation_level=None)
        for statement in ("PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA journal_mode=DELETE", "VACUUM"):
            opened.execute(statement)
        opened.close()
        shutil.copy(f"{folder}/studies.db", FILES / "studies.db")
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))[-1].parent
        server = Postgres(programs, "-c fsync=off")
        try:
            url = server.new_database()
            fill(url)
            assert not (lines := differing(told["store"], told_by(url))), lines
            schema = url.rpartition("%3D")[2]
            where = ["-h", str(server.folder), "-p", str(server.port), "-U", "unseen", "postgres"]
            dump = subprocess.run(
                [programs / "pg_dump", "--no-owner", "--inserts", "-n", schema, *where],
                check=True,
                capture_output=True,
                text=True,
            )
            with gzip.GzipFile(FILES / "postgres.sql.gz", "wb", mtime=0) as file:
                file.write(dump.stdout.replace(schema, "golden_schema").encode())
        finally:
            server.close()
    (FILES / "told.json").write_text(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
