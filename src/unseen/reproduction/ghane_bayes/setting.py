"""Settings and rows of the Bayesian-network experiment: one line for every net, added to a file as it comes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from unseen.core.errors import InputError, UnknownName
from unseen.reproduction.rows import RowFile

__all__ = [
    "COLUMNS",
    "PARTS",
    "ROWS",
    "SAMPLERS",
    "WORDS",
    "BayesSetting",
    "setting_of",
]

PARTS = ("synthetic", "lenet", "mlp")
SAMPLERS = ("sghmc", "sgld", "ensemble", "laplace")
WORDS = ("part", "sampler", "prior")
COLUMNS = (
    "part", "sampler", "prior", "width", "n", "repetition", "true_error", "resub", "bayesian", "bayesian_bolster", "product_bolster",
    "nb_bolster", "test_doubt", "net_true_error", "net_resub", "net_posterior", "net_bayesian", "net_bayesian_bolster", "r_hat",
    "r_hat_limit", "ess", "seconds",
)  # fmt: skip
ROWS = RowFile(columns=COLUMNS, words=WORDS, whole=("width", "n", "repetition"), setting_words=WORDS)


@dataclass(frozen=True, kw_only=True)
class BayesSetting:
    """How posteriors are sampled and errors estimated; nothing of this is stated in the dissertation."""

    part: str = "synthetic"
    seed: int = 0
    sampler: str = "sghmc"
    prior: str = "unit"
    prior_scale: float = 1.0
    temperature: float = 1.0
    chains: int = 4
    n_samples: int = 100
    burn_in: int = 1000
    thin: int = 40
    step: float = 0.2
    friction: float = 0.05
    n_mc: int = 100
    nearest: str = "distinct"
    n_test: int = 5000
    epochs: int = 200

    def __post_init__(self) -> None:
        for name, known in (("part", PARTS), ("sampler", SAMPLERS)):
            if getattr(self, name) not in known:
                raise UnknownName(name, getattr(self, name), known)
        if self.n_samples < self.chains or self.chains < 1:
            raise InputError(f"{self.n_samples} samples cannot come from {self.chains} chains; give at least one each.")

    @property
    def starts(self) -> int:
        """Nets trained per repetition: one for every chain or member."""
        return {"ensemble": self.n_samples, "laplace": 1}.get(self.sampler, self.chains)


def setting_of(part: str, **chosen: Any) -> BayesSetting:
    """Return the defaults of a part, changed as asked.

    MNIST nets have layers of 25 to 784 inputs. Weights of size 1 give the net of 512 units logits of some 2,000 before any data,
    and chains that diverge at this step; three over the root of the inputs gives logits of 2 to 4.
    """
    base = BayesSetting(part=part)
    if part != "synthetic":
        base = replace(
            base,
            prior="fan-in",
            prior_scale=3.0,
            chains=2,
            n_samples=50,
            burn_in=500,
            thin=20,
            step=0.1,
            friction=0.02,
            n_mc=30,
            n_test=10_000,
        )
    return replace(base, **chosen)
