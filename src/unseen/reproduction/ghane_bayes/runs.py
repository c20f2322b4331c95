"""The repetitions of the Bayesian-network experiment: posteriors sampled side by side, estimates of each net, written row by row.

Needs numpy and torch alone for the MNIST parts, so that they run from the source tree on a bare GPU machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.rng import stream, task_seed
from unseen.reproduction.ghane_bayes.setting import ROWS, WORDS, BayesSetting

__all__ = ["DigitSamples", "GaussianSamples", "LogitDraws", "estimates_of", "run_cell"]

WATCHED = 50  # training rows whose logits say whether chains have settled
CPU_NUMBERS, GPU_NUMBERS = 1_000_000, 1_000_000_000  # activations in memory at once: 4 MB and 4 GB
JITTER = 0.01  # noise on the weights that a chain starts from
Say = Callable[[str], None]


@dataclass(frozen=True)
class GaussianSamples:
    """Samples of the two Gaussian classes of section 2.2.4.1; one for every repetition and size, whatever the width."""

    def draw(self, n: int, repetition: int, setting: BayesSetting) -> tuple[np.ndarray, ...]:
        """Return a training sample and fresh points to test on."""
        from unseen.datasets import GaussianBlocks

        rng = stream(setting.seed, "ghane-bayes", "synthetic", n, repetition)
        mine, fresh = (GaussianBlocks().draw(size, rng) for size in (n, setting.n_test))
        return mine.X.astype(np.float32), np.asarray(mine.y), fresh.X.astype(np.float32), np.asarray(fresh.y)


@dataclass(frozen=True, eq=False)
class DigitSamples:
    """Subsets of MNIST's training images, and its test images; `data` as from `read_mnist`."""

    data: tuple[Any, Any, Any, Any]

    def draw(self, n: int, repetition: int, setting: BayesSetting) -> tuple[np.ndarray, ...]:
        """Return a training sample with two images of each digit at least, and the test images."""
        X, y, X_test, y_test = self.data
        rng = stream(setting.seed, "ghane-bayes", "mnist", n, repetition)
        while True:
            rows = rng.choice(len(y), n, replace=False)
            if np.bincount(y[rows], minlength=10).min() >= 2:
                return X[rows], y[rows], X_test[: setting.n_test], y_test[: setting.n_test]


def run_cell(
    source: GaussianSamples | DigitSamples,
    width: int,
    n: int,
    repetitions: range,
    setting: BayesSetting,
    *,
    device: Any,
    out: Path | None,
    say: Say,
    chunk: int = 50,
) -> list[dict[str, Any]]:
    """Return one row per repetition for nets of one width and size; rows in `out` are kept, new ones added as they come."""
    done = {}
    if out is not None:
        mine = [row for row in ROWS.read(out, setting) if (row["width"], row["n"]) == (width, n)]
        done = {row["repetition"]: row for row in mine if ROWS.same_setting(row, setting)}
    missing = [k for k in repetitions if k not in done]
    for start in range(0, len(missing), chunk):
        for row in _sample_and_estimate(source, width, n, missing[start : start + chunk], setting, device, say):
            done[row["repetition"]] = row
            if out is not None:
                ROWS.append(out, [row], setting)
    return [done[k] for k in repetitions]


def _sample_and_estimate(
    source: Any, width: int, n: int, repetitions: list[int], setting: BayesSetting, device: Any, say: Say
) -> Iterator[dict[str, Any]]:
    import torch

    from unseen.nets.modules import device_of, exact_float32

    where = device_of(device)
    samples = [source.draw(n, k, setting) for k in repetitions]
    X, y = (torch.as_tensor(np.stack([one[part] for one in samples]), device=where) for part in (0, 1))
    seeds = [task_seed(setting.seed, "ghane-bayes", setting.part, n, width, k) for k in repetitions]
    begun = time.perf_counter()
    fits = _train(X, y, width, setting, seeds, where)
    trained = time.perf_counter()
    with exact_float32(False):
        draws = list(_posteriors(fits, X, y, setting, seeds))
        shared = (time.perf_counter() - begun) / len(repetitions)
        say(
            f"{setting.part} width={width} n={n}: {len(fits)} nets trained in {trained - begun:.1f} s, {len(draws)} posteriors "
            f"sampled in {time.perf_counter() - trained:.1f} s"
        )
        for k, repetition in enumerate(repetitions):
            start = time.perf_counter()
            point = fits.take([k * setting.starts])
            test = [torch.as_tensor(part, device=where) for part in samples[k][2:]]
            row = estimates_of(draws[k], point, X[k], y[k], test, setting, task_seed(seeds[k], "points"))
            row["seconds"] = shared + time.perf_counter() - start
            words = {name: getattr(setting, name) for name in WORDS}
            yield {**words, "width": width, "n": n, "repetition": repetition, **row}
    say(
        f"{setting.part} width={width} n={n}: estimated in {time.perf_counter() - begun - shared * len(repetitions):.1f} s"
    )


def _train(X: Any, y: Any, width: int, setting: BayesSetting, seeds: list[int], where: Any) -> Any:
    """Train the nets that chains start from: as in section 2.2.4.3 for the synthetic data, in 2.2.4.2 for MNIST."""
    from unseen.nets import fit_many, make_mlp
    from unseen.reproduction.ghane_mnist.runs import make_net

    count, n = y.shape
    sets = [np.arange(k * n, (k + 1) * n) for k in range(count) for _ in range(setting.starts)]
    own = [task_seed(seed, "first weights", j) for seed in seeds for j in range(setting.starts)]
    if setting.part == "synthetic":
        how = {
            "epochs": 200,
            "batch_size": max(1, round(n / 10)),
            "lr": 0.01,
            "optimizer": "adam",
            "stop": "train-accuracy",
        }
        make: Any = partial(make_mlp, width=width)
    else:
        how = {
            "epochs": setting.epochs,
            "batch_size": 32,
            "lr": 0.02,
            "patience": 10,
            "validation": 0.1,
            "stop": "patience",
        }
        make = partial(make_net, "glorot") if setting.part == "lenet" else partial(make_mlp, depth=2, width=width)
    classes = 2 if setting.part == "synthetic" else 10
    return fit_many(make, X.flatten(0, 1), y.flatten(), sets, seeds=own, n_classes=classes, device=where, **how)


@dataclass(frozen=True, eq=False)
class LogitDraws:
    """Samples of the logits of one net: a function of a batch, how many, and how the chains look."""

    logits: Callable[[Any], Any]
    count: int
    r_hat: float = float("nan")
    _: KW_ONLY
    r_hat_limit: float = float("nan")
    ess: float = float("nan")

    def predictive(self, x: Any) -> Any:
        """Return the softmax averaged over samples, batch by batch."""
        import torch

        numbers = GPU_NUMBERS if x.is_cuda else CPU_NUMBERS
        size = max(1, numbers // (self.count * max(100, 6 * x[0].numel())))
        with torch.no_grad():
            return torch.cat([_mean_softmax(self.logits(part)) for part in x.split(size)])


def _mean_softmax(logits: Any) -> Any:
    """Return the softmax averaged over samples; of two classes one logistic function is quicker."""
    import torch

    if logits.shape[2] > 2:
        return logits.softmax(2).mean(0)
    second = torch.sigmoid(logits[..., 1] - logits[..., 0]).mean(0)
    return torch.stack([1 - second, second], 1)


def _posteriors(fits: Any, X: Any, y: Any, setting: BayesSetting, seeds: list[int]) -> Iterator[LogitDraws]:
    """Yield the posterior of each repetition."""
    starts, executor = setting.starts, fits.executor
    first = {name: value.unflatten(0, (len(X), starts)) for name, value in fits.params.items()}

    def of(weights: dict[str, Any]) -> Callable[[Any], Any]:
        return lambda x: executor(weights, {}, x, train=False, shared=True)

    if setting.sampler == "ensemble":
        yield from (LogitDraws(of({k: v[r] for k, v in first.items()}), starts) for r in range(len(X)))
    elif setting.sampler == "laplace":
        yield from (_laplace(fits.module(r), X[r], y[r], setting, seeds[r]) for r in range(len(X)))
    else:
        from unseen.nets.bayes import prior_scales, sample_many

        prior = prior_scales({k: v.shape[2:] for k, v in first.items()}, setting.prior, setting.prior_scale)
        states = sample_many(
            executor,
            first,
            {},
            X,
            y,
            kind=setting.sampler,
            per_chain=-(-setting.n_samples // starts),
            burn_in=setting.burn_in,
            thin=setting.thin,
            step=setting.step,
            temperature=setting.temperature,
            prior=prior,
            friction=setting.friction,
            jitter=JITTER,
            seeds=[task_seed(seed, "chains") for seed in seeds],
            whitened=True,
        )
        for r in range(len(X)):
            logits = of({k: v[r].flatten(0, 1) for k, v in states.items()})
            yield _with_diagnostics(logits, X[r], starts)


def _laplace(net: Any, X: Any, y: Any, setting: BayesSetting, seed: int) -> LogitDraws:
    from unseen.nets import posterior
    from unseen.nets.bayes import prior_scales

    last = list(
        prior_scales({k: v.shape for k, v in net.named_parameters()}, setting.prior, setting.prior_scale).values()
    )[-1]
    samples = posterior(
        net.to(X.device),
        X,
        y.cpu().numpy(),
        sampler="laplace",
        n_samples=setting.n_samples,
        prior_scale=last,
        temperature=setting.temperature,
        device=X.device,
        random_state=task_seed(seed, "chains"),
    )
    assert samples.draw is not None
    return LogitDraws(samples.draw, setting.n_samples)


def _with_diagnostics(logits: Callable[[Any], Any], X: Any, chains: int) -> LogitDraws:
    """Return the draws with R-hat, what settled chains of that length stay below, and effective size of some training logits."""
    import torch

    from unseen.nets.bayes import effective_size, largest_r_hat

    with torch.no_grad():
        z = logits(X[:WATCHED])
    count = len(z)
    z = (z - z.mean(2, keepdim=True))[..., 1:].flatten(1).double().cpu().numpy().reshape(chains, count // chains, -1)
    worst, limit = largest_r_hat(z)
    ess = min(effective_size(z[..., k]) for k in range(z.shape[2]))
    return LogitDraws(logits, count, worst, r_hat_limit=limit, ess=ess)


def estimates_of(
    draws: LogitDraws, point: Any, X: Any, y: Any, test: Any, setting: BayesSetting, seed: int
) -> dict[str, float]:
    """Return true errors and estimates of the Bayesian classifier and of the trained net it started from (`net_`)."""
    import torch

    def by_net(x: Any) -> Any:
        return point.logits(x)[0]

    with torch.no_grad():
        p, z = draws.predictive(X), by_net(X)
        decided = z.argmax(1)
        p_test, z_test = draws.predictive(test[0]), by_net(test[0])
    doubt = 1 - p.max(1).values
    row = {
        "true_error": _share(p_test.argmax(1) != test[1]),
        "resub": _share(p.argmax(1) != y),
        "bayesian": float(doubt.double().mean()),
        "test_doubt": float((1 - p_test.max(1).values).double().mean()),
        "net_true_error": _share(z_test.argmax(1) != test[1]),
        "net_resub": _share(decided != y),
        "net_posterior": float((1 - z.softmax(1).max(1).values).double().mean()),
        "net_bayesian": float((1 - p.gather(1, decided[:, None])).double().mean()),
    }
    means = _over_kernels(draws, by_net, X, y, p.shape[1], setting, seed)
    row["nb_bolster"], row["bayesian_bolster"], row["net_bayesian_bolster"] = means.mean(1).tolist()
    # equation (2.51): accuracy alpha_i P_i, alpha the share of the kernel that keeps the label
    row["product_bolster"] = float((1 - (1 - means[0]) * (1 - doubt.double())).mean())
    return {**row, "r_hat": draws.r_hat, "r_hat_limit": draws.r_hat_limit, "ess": draws.ess}


def _share(wrong: Any) -> float:
    return float(wrong.double().mean())


def _over_kernels(
    draws: LogitDraws, by_net: Any, X: Any, y: Any, classes: int, setting: BayesSetting, seed: int
) -> Any:
    """Return, for each kernel, means of: misclassified by the predictive; its doubt; its doubt of what the trained net says."""
    import torch

    from unseen.nets.estimates import KernelPoints, Kernels, diagonal_sizes

    kernels = Kernels(X, y, diagonal_sizes(X.flatten(1), y, classes, setting.nearest))
    total = torch.zeros(3, len(X), dtype=torch.float64, device=X.device)
    points = KernelPoints(setting.n_mc, "plain", seed)
    for rows, z in points.blocks(len(X), X[0].numel(), X.device, X.dtype):
        shape = z.shape[:2]
        moved = kernels.points_at(rows, z)
        p, decided = draws.predictive(moved), by_net(moved).argmax(1)
        own = y[rows].repeat_interleave(shape[1])
        wrong = (p.argmax(1) != own).double()
        each = torch.stack([wrong, 1 - p.max(1).values.double(), 1 - p.gather(1, decided[:, None])[:, 0].double()])
        total[:, rows] += each.reshape(3, *shape).sum(2)
    return total / setting.n_mc
