"""What a ranking should do with networks that do not fit their training data: checkpoints of training runs, and the zoos, under several rules.

    python -m studies.checkpoint_ranking run --data FOLDER     # zoo/checkpoints.csv; FOLDER holds mnist/, fashion-mnist/ and the files of CIFAR-10; six minutes of one core
    python -m studies.checkpoint_ranking judge                 # docs/tables/checkpoint_ranking.md; seconds

Runs of three data sets, true labels or a fifth of them wrong, three small convolution nets: eighteen in all, which `run` adds one by one where they are missing; eleven checkpoints each, from the first epoch to the fortieth. The rule of `unseen.nets.ranking.expected_error.stand_apart`
(a third, three sampling errors and .02) was chosen on the zoos and on the nine runs of SEEN, and is judged on the others. A ranking's loss is the test error of the network that it puts first, less the smallest.
Test errors are those on labels as noisy as the training labels.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from studies.gap_transfer import CLASSES, ZOOS, networks_of, read_zoos
from unseen.nets import kendall_tau
from unseen.nets.ranking.expected_error import order_of_errors, stand_apart

TABLE = Path(__file__).resolve().parents[1] / "docs" / "tables" / "checkpoint_ranking.md"
RUNS = ZOOS / "checkpoints.csv"
SETS = {"mnist": 1000, "fashion": 1500, "cifar": 2000}  # training rows
TESTED = 3000
NETS = ((8, 0.05, 0.0), (24, 0.05, 0.0), (16, 0.02, 0.01))  # width, step length, weight decay
EPOCHS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 28, 40)
SEEN = {("mnist", 0.0), ("mnist", 0.2), ("fashion", 0.0)}
LEVEL = 0.1976  # the typical gap of the zoos, as without copies
MEASURE = "always-generalize"


@dataclass(frozen=True)
class Choice:
    """Networks of the same data to choose from: training and test errors, and the value of the measure."""

    label: str
    train: np.ndarray
    test: np.ndarray
    value: np.ndarray
    rows: int
    classes: int = 10
    measure: str = MEASURE

    @property
    def place(self) -> np.ndarray:
        """Places by the measure, 0 to 1, ties sharing theirs."""
        less = (self.value[None, :] < self.value[:, None]).sum(1)
        same = (self.value[None, :] == self.value[:, None]).sum(1) - 1
        return (less + same / 2) / (len(self.value) - 1)


def train_run(name: str, noise: float, net: tuple[int, float, float], folder: Path) -> Iterator[dict[str, float | str]]:
    """Train one net and yield a row per checkpoint."""
    import torch
    from torch import nn

    from studies.zoo_data import cut
    from unseen.nets import Net, build_measure
    from unseen.nets.zoo.data import zoo_data

    torch.set_num_threads(1)
    n, (width, lr, decay) = SETS[name], net
    raw = cut(folder, name)
    d = zoo_data({k: v[:n] if k.endswith("train") else v[:TESTED] for k, v in raw.items()})
    y, (channels, side) = d.labels_with_noise(noise), d.X_train.shape[1:3]
    torch.manual_seed(width)
    module = nn.Sequential(
        nn.Conv2d(channels, width, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(2 * width * (-(-side // 4)) ** 2, 10),
    )
    optimizer = torch.optim.SGD(module.parameters(), lr=lr, momentum=0.9, weight_decay=decay)
    for epoch in range(1, max(EPOCHS) + 1):
        for rows in torch.randperm(n).split(50):
            optimizer.zero_grad()
            nn.functional.cross_entropy(module(d.X_train[rows]), y[rows]).backward()
            optimizer.step()
        if epoch not in EPOCHS:
            continue
        with torch.no_grad():
            train = float((module(d.X_train).argmax(1) != y).double().mean())
            wrong = float((module(d.X_test).argmax(1) != d.y_test).double().mean())
        value = build_measure(MEASURE)(Net(module, d.X_train, y, value_range=d.value_range)).value
        test = wrong + noise * (1 - wrong - wrong / 9)
        yield {
            "data": name,
            "noise": noise,
            "width": width,
            "epoch": epoch,
            "train": train,
            "test": test,
            "value": value,
        }


def run(folder: Path, target: Path = RUNS) -> None:
    """Train the runs that the file does not hold yet, and add their rows."""
    known = {(r["data"], float(r["noise"]), int(r["width"])) for r in networks_of(target)} if target.exists() else set()
    for name in SETS:
        for noise in (0.0, 0.2):
            for net in NETS:
                if (name, noise, net[0]) in known:
                    continue
                rows = list(train_run(name, noise, net, folder))
                with target.open("a", newline="") as file:
                    writer = csv.DictWriter(file, list(rows[0]))
                    if not known:
                        writer.writeheader()
                    writer.writerows(rows)
                known.add((name, noise, net[0]))
                print(name, noise, net, flush=True)


def choices_of_runs(path: Path = RUNS) -> list[Choice]:
    """Return the checkpoints of each run."""
    runs: dict[tuple[str, float, str], list[dict[str, str]]] = {}
    for row in networks_of(path):
        runs.setdefault((row["data"], float(row["noise"]), row["width"]), []).append(row)
    found = []
    for (name, noise, _), rows in runs.items():
        columns = [np.array([float(row[key]) for row in rows]) for key in ("train", "test", "value")]
        when = "seen" if (name, noise) in SEEN else "not seen"
        label = f"checkpoints, {'a fifth of the labels wrong' if noise else 'true labels'}, {when}"
        found.append(Choice(label, *columns, rows=SETS[name]))
    return sorted(found, key=lambda c: (c.label.endswith("not seen"), c.label))


def choices_of_zoos() -> list[Choice]:
    """Return the networks of each zoo that saw the same rows and labels."""
    found = []
    for name, table in read_zoos().items():
        nets, train = networks_of(ZOOS / f"networks_{name}.csv"), table.error - table.gap
        measure = MEASURE if MEASURE in table.values else "pal-score-between"
        for own in table.sets:
            rows = int(nets[own[0]].get("train_rows") or 2000)
            classes = CLASSES.get(name.split("-")[0], 10)
            found.append(
                Choice(f"zoo {name}", train[own], table.error[own], table.values[measure][own], rows, classes, measure)
            )
    return found


def ours(c: Choice) -> np.ndarray:
    """Return expected errors as `rank` gives them without copies."""
    guessing = 1 - 1 / c.classes
    found = order_of_errors(c.place, c.place[None], c.train, LEVEL, [c.measure], rows=c.rows, guessing=guessing)
    return found.errors


def apart_by(share: float, by: float) -> Callable[[Choice], np.ndarray]:
    """Return the rule that at most so large a share stands apart, by three sampling errors and so much more."""

    def rule(c: Choice) -> np.ndarray:
        known = np.sort(c.train)
        reference = float(known[len(known) - max(1, int(share * len(known) + 1e-9)) - 1])
        sampling = np.sqrt(max(reference * (1 - reference), 1 / c.rows) / c.rows)
        return np.where(c.train > reference + by + 3 * sampling, 2 + c.train, c.place)

    return rule


RULES: dict[str, Callable[[Choice], np.ndarray]] = {
    "the measure alone": lambda c: c.place,
    "training error alone": lambda c: c.train + 1e-9 * c.place,
    "training error plus gap": lambda c: c.train + 0.213 * c.place,  # the slope of docs/tables/net_ranking.md
    "apart: up to half": apart_by(1 / 2, 0.02),
    "**apart: up to a third, as `rank` does**": ours,
    "apart: up to a quarter": apart_by(1 / 4, 0.02),
    "apart: up to a third, by .10": apart_by(1 / 3, 0.1),
}


def judge(choices: list[Choice]) -> str:
    """Return the table: mean loss and mean tau of each rule in each kind of choice."""
    kinds = list(dict.fromkeys(c.label for c in choices))
    lines = ["| networks to choose from | rankings | " + " | ".join(RULES) + " |", "|---|---:|" + "---:|" * len(RULES)]
    for kind in kinds:
        own = [c for c in choices if c.label == kind]
        cells = []
        for rule in RULES.values():
            found = [np.round(rule(c), 12) for c in own]
            loss = np.mean([c.test[int(np.argmin(e))] - c.test.min() for c, e in zip(own, found)])
            tau = np.nanmean([kendall_tau(c.test, e) for c, e in zip(own, found)])
            cells.append(f"{loss:.3f}, {tau:.2f}")
        lines.append(f"| {kind} | {len(own)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Train, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "judge"))
    parser.add_argument("--data", type=Path, help="folder of the image sets")
    parser.add_argument("--table", type=Path, default=TABLE)
    given = parser.parse_args()
    if given.what == "run":
        run(given.data)
        return
    choices = choices_of_runs() + choices_of_zoos()
    made = judge(choices)
    given.table.write_text(made)
    print(made)
    print("apart in the runs:", [int(stand_apart(c.train, c.rows, 0.9).sum()) for c in choices_of_runs()])


if __name__ == "__main__":
    main()
