"""What `make demo` says against the truth, over 200 samples: 80 rows of the bundled set are drawn, the other 489 give the true error of the trained model.

python -m studies.demo_headline    # writes docs/tables/headline_demo.md; about five minutes of one core
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

import unseen
from unseen.core.rng import stream
from unseen.datasets.read import read
from unseen.request.prepare import model_of

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "tables" / "headline_demo.md"
SAMPLES, N = 200, 80
FIRST = 1000  # seed of the first sample; the demo itself has seed 0


def one(seed: int) -> tuple[float, float, float, float]:
    """Return the true error, the headline and the ends of its interval for one sample."""
    whole = unseen.datasets.load("breast-cancer")
    order = stream(seed, "subsample").permutation(whole.n)
    sample = read("breast-cancer", n=N, seed=seed)
    rest = whole.take(order[N:])
    fitted = model_of("rbf-svm", sample).fit(sample, 0)
    truth = float(np.mean(fitted.predict(rest.X) != rest.y))
    e = unseen.estimate("rbf-svm", sample, random_state=seed, progress=False)
    assert e.interval is not None
    return truth, e.value, *e.interval


def main() -> None:
    """Run all samples and write the sentence."""
    warnings.simplefilter("ignore")
    truth, value, low, high = np.array([one(FIRST + k) for k in range(SAMPLES)]).T
    rms = float(np.sqrt(np.mean(np.square(value - truth))))
    held = float(np.mean((low <= truth) & (truth <= high)))
    text = (
        f"{SAMPLES} samples of {N} rows: the true error is {100 * truth.mean():.1f}% on average, the headline {100 * value.mean():.1f}%; "
        f"root mean squared deviation {100 * rms:.1f} points. The 95% interval held the true error of the model in {100 * held:.1f}% of the samples; "
        f"median width {100 * float(np.median(high - low)):.1f} points."
    )
    PAGE.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
