"""One report of every kind, made from small data: what the tests of pages open, and `python tests/e2e/report_samples.py FOLDER [NAME...]` writes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import unseen

EFFORT = "splits=5,repeats=1,bootstrap=20,leave_out=20,curve=2"
SPEC = {
    "seed": 3,
    "replications": 12,
    "n_test": 500,
    "sizes": [20, 40, 80],
    "populations": ["gaussian-blocks"],
    "models": ["lda", "knn:3"],
    "methods": ["resub", "bolster", "loo", "corrected-t"],
}


def _classes(n: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    code = np.arange(n) % classes
    return np.random.default_rng(seed).normal(size=(n, 6)) + 1.3 * np.eye(classes, 6)[code], code


def _many_classes() -> Any:
    X, code = _classes(120, 6, 5)
    names = np.array(["adenocarcinoma", "lymphoma", "melanoma", "sarcoma", "benign naevus", "no finding at all"])
    return unseen.assess("naive-bayes", X, names[code], random_state=0, effort=EFFORT)


def _two_classes() -> Any:
    X, code = _classes(120, 2, 6)
    return unseen.assess("logistic", X, np.where(code == 0, "yes", "no"), random_state=0, effort=EFFORT)


def _regression() -> Any:
    return unseen.assess("ridge", *unseen.datasets.load("diabetes").xy, random_state=0, effort=EFFORT)


def _by_site() -> Any:
    X, code = _classes(150, 2, 8)
    site = np.array(["Aachen university hospital", "Basel", "Copenhagen", "Dundee", "Eindhoven"])[np.arange(150) % 5]
    return unseen.assess("logistic", X, code, random_state=0, effort=EFFORT, by={"site": site})


def _by_patient() -> Any:
    patient = np.repeat([f"patient {k}" for k in range(30)], 5)
    rng = np.random.default_rng(10)
    X = rng.normal(size=(30, 6)).repeat(5, axis=0) + rng.normal(size=(150, 6))
    code = (X[:, 0] + rng.normal(size=30).repeat(5) > 0).astype(int)
    return unseen.assess("knn:3", X, np.where(code, "ill", "well"), groups=patient, random_state=0, effort=EFFORT)


def _in_time() -> Any:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(160, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + np.linspace(0, 2, 160) + rng.normal(size=160)
    return unseen.assess("ridge", X, y, time=np.arange(160), random_state=0, effort=EFFORT)


def _held_out() -> Any:
    from sklearn.linear_model import LogisticRegression

    X, code = _classes(240, 2, 12)
    model = LogisticRegression().fit(X[:120], code[:120])
    return unseen.assess(model, X[120:], code[120:], prefit=True, random_state=0)


def _many_measures() -> Any:
    scoring = ["roc_auc", "accuracy", "f1", "neg_brier_score", "neg_log_loss", "precision", "recall"]
    X, code = _classes(120, 2, 6)
    return unseen.assess("logistic", X, code, scoring=scoring, random_state=0, effort=EFFORT)


def _no_better_than_guessing() -> Any:
    rng = np.random.default_rng(13)
    X = rng.normal(size=(60, 4))
    X[5, 2] = np.nan
    return unseen.assess("cart", X, rng.integers(0, 2, 60), random_state=0, effort=EFFORT)


def _compare() -> Any:
    X, code = _classes(120, 2, 7)
    models = ["logistic", "naive-bayes", "knn:3", "cart"]
    return unseen.compare(models, X, code, random_state=0)


def _compare_by_site() -> Any:
    X, code = _classes(150, 2, 8)
    site = np.array(["Aachen university hospital", "Basel", "Copenhagen"])[np.arange(150) % 3]
    return unseen.compare(["logistic", "cart"], X, code, random_state=0, by={"site": site})


def _compare_numbers() -> Any:
    return unseen.compare(["ols", "knn:5"], *unseen.datasets.load("diabetes").xy, random_state=0)


def _truth_and_score() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    truth = rng.random(300) < 0.4
    return np.where(truth, "ill", "well"), np.clip(0.25 + 0.4 * truth + 0.2 * rng.normal(size=300), 0.01, 0.99)


def _measure() -> Any:
    truth, score = _truth_and_score()
    return unseen.measure(truth, y_score=score, positive="ill", n_bootstrap=100, random_state=0)


def _measure_many() -> Any:
    rng = np.random.default_rng(4)
    names = np.array(["adenocarcinoma", "lymphoma", "melanoma", "sarcoma", "benign naevus", "no finding at all"])
    truth = names[np.arange(300) % 6]
    return unseen.measure(truth, np.where(rng.random(300) < 0.7, truth, rng.choice(names, 300)), random_state=0)


def _measure_by_site() -> Any:
    truth, score = _truth_and_score()
    site = np.array(["Aachen university hospital", "Basel", "Copenhagen"])[np.arange(300) % 3]
    return unseen.measure(truth, y_score=score, positive="ill", n_bootstrap=100, random_state=0, by={"site": site})


def _measure_numbers() -> Any:
    rng = np.random.default_rng(4)
    truth = rng.normal(size=200)
    return unseen.measure(truth, truth + rng.normal(scale=0.5, size=200), random_state=0)


def _prediction_files(folder: Path, by: str | None = None) -> Any:
    import pandas as pd

    rng = np.random.default_rng(0)
    truth = rng.choice(["cat", "dog"], 300)
    names = []
    for name, accuracy in (("the_model_of_last_year", 0.85), ("a_large_model", 0.78), ("a_small_model", 0.72)):
        answer = np.where(rng.random(300) < accuracy, truth, "cat")
        site = np.array(["Aachen university hospital", "Basel", "Copenhagen"])[np.arange(300) % 3]
        frame = pd.DataFrame({"item": range(300), "y": truth, "yhat": answer, "site": site})
        names.append(str(folder / f"{name}.csv"))
        frame.to_csv(names[-1], index=False)
    return unseen.predictions(*names, truth="y", pred="yhat", id="item", by=by)


def _prediction_of_numbers(folder: Path) -> Any:
    import pandas as pd

    rng = np.random.default_rng(0)
    truth = rng.normal(10, 2, 120)
    names = []
    for name, noise in (("old", 1.2), ("new", 1.0)):
        names.append(str(folder / f"{name}.csv"))
        pd.DataFrame({"y": truth, "yhat": truth + noise * rng.normal(size=120)}).to_csv(names[-1], index=False)
    return unseen.predictions(*names, truth="y", pred="yhat")


def _disagree(folder: Path, labelled: bool = False) -> Any:
    import pandas as pd

    rng = np.random.default_rng(1)
    truth = rng.choice(["cat", "dog"], 400)
    names = []
    for name, accuracy in (("old_net", 0.85), ("new_net", 0.9)):
        answer = np.where(rng.random(400) < accuracy, truth, np.where(truth == "cat", "dog", "cat"))
        names.append(str(folder / f"{name}.csv"))
        pd.DataFrame({"item": [f"image-{k}" for k in range(400)], "yhat": answer}).to_csv(names[-1], index=False)
    found = unseen.disagree(*names, pred="yhat", id="item", budget=40)
    if not labelled:
        return found
    request = str(folder / "request.csv")
    frame = pd.read_csv(found.write(request))
    frame["label"] = [truth[int(item.split("-")[1])] for item in frame[frame.columns[0]]]
    frame.to_csv(request, index=False)
    return unseen.disagree(labelled=request)


def _diagnose() -> Any:
    data = unseen.datasets.load("breast-cancer").take(range(0, 560, 5))
    return unseen.diagnose("logistic", data, effort="quick", random_state=0)


def _diagnose_numbers() -> Any:
    return unseen.diagnose("ridge", unseen.datasets.load("diabetes"), effort="quick", random_state=0)


def _permutation_test() -> Any:
    X, code = _classes(80, 2, 9)
    return unseen.permutation_test("lda", X, code, n_permutations=99, random_state=0)


def _reproduce() -> Any:
    from unseen.reproduction import reproduce

    return reproduce("larsen-hansen", replications=20, random_state=0)


def _reproduce_seeds() -> Any:
    from unseen.reproduction import reproduce_over_seeds

    return reproduce_over_seeds("larsen-hansen", [0, 1, 2], replications=20)


def _resubstitute() -> Any:
    X, code = _classes(80, 2, 9)
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return unseen.resubstitute(LinearDiscriminantAnalysis().fit(X, code), X, code, random_state=0)


def _distribution() -> Any:
    X, y = unseen.datasets.load("diabetes").xy
    return unseen.distribution("ols", X, y, random_state=0)


def _kinetics() -> Any:
    study = unseen.kinetics.simulate(subjects=4, noise=0.03, between=0.2, random_state=0)
    return unseen.kinetics.fit(study.ttr, study.doses, scheme=unseen.kinetics.PHE_TYR)


def _kinetics_nca() -> Any:
    study = unseen.kinetics.simulate(subjects=4, noise=0.03, between=0.2, random_state=0)
    return unseen.kinetics.nca(study.ttr, study.doses, scheme=unseen.kinetics.PHE_TYR)


def _kinetics_groups() -> Any:
    two = unseen.kinetics.simulate(12, groups={"rest": {}, "diet": {"k02": 1.8}}, between=0.15, random_state=1)
    return unseen.kinetics.compare_groups(two.ttr, two.doses, group="group", permutations=19, random_state=0)


def _study(folder: Path) -> Any:
    made = unseen.Study("widths", store=f"sqlite:///{folder / 'widths.db'}").run(SPEC, n_jobs=1, progress=False)
    return made.summary()


def _pictures() -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(60) % 3
    noise = np.random.default_rng(0).random((60, 1, 8, 8))
    return np.clip(0.5 * noise + 0.5 * (np.arange(8) < 2 + 2 * y[:, None, None, None]), 0, 1).astype(np.float32), y


def _net(seed: int, width: int = 6) -> Any:
    import torch
    from torch import nn

    torch.manual_seed(seed)
    X, y = (torch.as_tensor(part) for part in _pictures())
    shape = [nn.Conv2d(1, width, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(9 * width, 3)]
    net = nn.Sequential(*shape)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
    for _ in range(20 + 10 * seed):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(X), y).backward()
        optimizer.step()
    return net


def _rank() -> Any:
    nets = {f"checkpoints/run-of-monday/epoch-{10 * k}.pt": _net(k) for k in range(1, 8)}
    return unseen.nets.rank(nets, *_pictures(), device="cpu")


def _net_estimate() -> Any:
    return unseen.nets.estimate(_net(3), *_pictures(), device="cpu", random_state=0)


def _scores() -> Any:
    rng = np.random.default_rng(1)
    depth, width, dropout = np.repeat([1, 2, 3], 4), np.tile([8, 8, 16, 16], 3), np.tile([0.0, 0.5], 6)
    gap = 0.05 * depth + 0.002 * width + 0.02 * rng.random(12)
    named = {"path-norm": gap + 0.02 * rng.random(12), "weighted-augment": 2 * gap, "depth alone": depth}
    return unseen.nets.score_measures(gap, named, {"depth": depth, "width": width, "dropout": dropout})


def _bench(folder: Path) -> Any:
    from unseen.nets.ranking.bench import write_table

    rng = np.random.default_rng(1)
    nets, values = [], []
    for seed in (0, 1):
        for k in range(12):
            depth, width, dropout = 1 + k // 4, 8 * (1 + k // 2 % 2), 0.5 * (k % 2)
            gap = 0.1 + 0.03 * depth + 0.02 * (width > 8) + 0.01 * dropout + 0.002 * rng.random()
            net = {"zoo": "small", "name": f"net {k}", "seed": seed, "train_accuracy": 1.0, "test_accuracy": 1 - gap}
            nets.append({**net, "gap": gap, "depth": depth, "width": width, "dropout": dropout})
            told = {"path-norm": 3 * gap + 0.01 * rng.random(), "coin": rng.random(), "epochs": float(k)}
            for name, value in told.items():
                row = {"zoo": "small", "seed": seed, "net": f"net {k}", "measure": name, "value": value}
                values.append({**row, "std_error": 0.1, "draws": 1, "seconds": 0.5, "reason": ""})
    for name, rows in (("networks.csv", nets), ("values.csv", values)):
        write_table(folder / name, rows)
    return unseen.nets.bench_of(folder / "networks.csv", folder / "values.csv", n_permutations=50)


def _progress() -> Any:
    from sklearn.linear_model import SGDClassifier

    X, code = _classes(160, 2, 14)
    net = SGDClassifier(loss="log_loss", random_state=0)
    return unseen.monitor(net, X[:100], code[:100], X[100:], code[100:], epochs=30)


def makers(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return what makes the result of each kind of report."""
    return {
        "assess-classes": _many_classes,
        "assess-two": _two_classes,
        "assess-numbers": _regression,
        "assess-slices": _by_site,
        "assess-groups": _by_patient,
        "assess-time": _in_time,
        "assess-prefit": _held_out,
        "assess-measures": _many_measures,
        "assess-guessing": _no_better_than_guessing,
        "compare": _compare,
        "compare-slices": _compare_by_site,
        "compare-numbers": _compare_numbers,
        "measure-two": _measure,
        "measure-many": _measure_many,
        "measure-numbers": _measure_numbers,
        "measure-slices": _measure_by_site,
        "predictions": lambda: _prediction_files(folder),
        "predictions-slices": lambda: _prediction_files(folder, "site"),
        "predictions-numbers": lambda: _prediction_of_numbers(folder),
        "disagree": lambda: _disagree(folder),
        "disagree-labelled": lambda: _disagree(folder, labelled=True),
        "diagnose": _diagnose,
        "diagnose-numbers": _diagnose_numbers,
        "permutation-test": _permutation_test,
        "resub": _resubstitute,
        "distribution": _distribution,
        "kinetics": _kinetics,
        "kinetics-subject": lambda: _kinetics()["s1"],
        "kinetics-groups": _kinetics_groups,
        "kinetics-nca": _kinetics_nca,
        "kinetics-simulated": lambda: unseen.kinetics.simulate(subjects=4, noise=0.03, between=0.2, random_state=0),
        "study": lambda: _study(folder),
        "nets-rank": _rank,
        "nets-estimate": _net_estimate,
        "nets-scores": _scores,
        "nets-bench": lambda: _bench(folder),
        "progress": _progress,
        "power": lambda: unseen.power(n=300, difference=0.03, disagreement=0.2),
        "power-size": lambda: unseen.power(difference=0.3, sd=2.0, power=0.8),
        "test-size": lambda: unseen.plan_test_size(0.02, error=0.1),
        "reproduce": _reproduce,
        "reproduce-seeds": _reproduce_seeds,
    }


def write_reports(folder: Path, only: Sequence[str] = ()) -> Iterator[tuple[str, Path]]:
    """Write one report of every kind, or of those named, and yield its name and path."""
    for name, make in makers(folder).items():
        if only and name not in only:
            continue
        path = folder / f"{name}.html"
        make().report(path)
        yield name, path


if __name__ == "__main__":
    import time

    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    for name, path in write_reports(target, sys.argv[2:]):
        print(f"{time.perf_counter() - start:6.1f} s {path.stat().st_size / 1000:7.0f} kB  {name}", flush=True)
        start = time.perf_counter()
