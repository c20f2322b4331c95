"""Writes `guides/everyday.md`: fourteen everyday scripts with scikit-learn and with unseen side by side, and what both print."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import tempfile
import warnings
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "examples" / "everyday"
PAGE = Path(__file__).parent / "guides" / "everyday.md"
# Real tables with groups or an order of time come with no library; they lie beside the checkout, not in it.
SHARED = ROOT.parent / "shared" / "data"
TABLES = {"groups": "uci/vowel.csv.gz", "time_order": "uci/ozone_la.csv.gz"}

# name of the pair, its heading, and what the second version says more
PAIRS = {
    "cross_val_score": (
        "One score by folds",
        "The mean is the same. The spread over folds is no error of the mean: the folds share their training rows. The interval allows for that, "
        "and the sentence says which training size the accuracy belongs to.",
    ),
    "cross_validate": (
        "Several scores by folds",
        "Every score has its interval. Ten folds train on nearly all rows, so the answer is about this model.",
    ),
    "classification_report": (
        "A report of classes",
        "The same rates with limits: 72 test rows are few, and the table shows how few.",
    ),
    "held_out": ("A model and a test set", "`a.report()` adds ROC, precision-recall, calibration and confusion."),
    "importance": (
        "Which columns matter",
        "The limits hold for all columns together and on rows that no model was trained on; the repeats of one test set say nothing of other rows. "
        "No row is set aside.",
    ),
    "permutation_test": (
        "Any relation at all?",
        "Ten times as many permutations, by one solve per fold: a p-value as small as .001 can be seen.",
    ),
    "calibration": (
        "Are the probabilities right?",
        "The same Brier score with an interval, one sentence instead of ten pairs, and a test.",
    ),
    "roc": ("A ROC curve", "The same area with its interval; the figure has a band that holds the whole curve."),
    "grid_search": (
        "A tuned model",
        "The search runs inside every fold in both. The error is counted over rows, where scikit-learn takes the mean over folds of unequal size.",
    ),
    "two_models": (
        "Which of two models?",
        "The same difference. The paired t test takes 25 splits for independent; the corrected one knows that they share their rows.",
    ),
    "learning_curve": ("Would more rows help?", "The curve goes on beyond the rows there are, with limits."),
    "confusion": ("Which class is taken for which?", "The same counts, with limits for any of them."),
    "groups": (
        "Several rows of each speaker",
        "The same error on speakers nobody trained on. Speakers, not rows, are counted: the interval rests on 15 of them and says so, "
        "and says how many more would halve it.",
    ),
    "time_order": (
        "Days in the order of time",
        "The same error of predicting later days from earlier ones. The sentence names the training size, guessing shows what 4.27 is worth, "
        "and days without a target are left out and counted.",
    ),
}
LIBRARIES = {"sklearn": "scikit-learn", "unseen": "unseen"}

LEAD = """# Fourteen everyday scripts

<!-- Written by docs/make_pairs.py from examples/everyday: change the scripts. -->

What people write with scikit-learn, and the same with unseen: never longer, and the answer comes with an interval and the name of
what it is the error of. Both scripts of a pair stand in `examples/everyday/`. What they print was printed when this page was made.
The last two read real tables that lie beside the checkout, in `../shared/data/`; without them they say which table is missing.
"""


def code_of(path: Path) -> str:
    """Return a script without its first line, the docstring."""
    return path.read_text().split("\n", 2)[2].strip()


def run(path: Path) -> tuple[dict, str]:
    """Run a script in a temporary folder and return its names and what it printed."""
    out, before = io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            names = runpy.run_path(str(path))
        finally:
            os.chdir(before)
    return names, out.getvalue().rstrip()


def kept_section(pair: str) -> str:
    """Return the part of the page as it stands, if it shows the scripts as they are."""
    page = PAGE.read_text() if PAGE.exists() else ""
    start = page.find(f"## {PAIRS[pair][0]}\n")
    text = page[start:].split("\n\n## ")[0].rstrip() + "\n" if start >= 0 else ""
    stale = [library for library in LIBRARIES if f"```py\n{code_of(SCRIPTS / f'{pair}_{library}.py')}\n```" not in text]
    if stale or PAIRS[pair][1] not in text:
        raise SystemExit(f"the pair {pair} changed and needs {SHARED / TABLES[pair]}, which is not here")
    return text


def section(pair: str) -> str:
    """Return the part of the page about one pair; where its table is missing, the part that stands."""
    if pair in TABLES and not (SHARED / TABLES[pair]).exists():
        return kept_section(pair)
    heading, more = PAIRS[pair]
    sides = []
    for library, title in LIBRARIES.items():
        path = SCRIPTS / f"{pair}_{library}.py"
        sides.append(
            f":::{{container}} side\n**{title}**\n\n```py\n{code_of(path)}\n```\n\n```text\n{run(path)[1]}\n```\n:::"
        )
    return f"## {heading}\n\n{more}\n\n::::{{container}} pair\n" + "\n\n".join(sides) + "\n::::\n"


def main() -> None:
    """Write the page unless it is up to date."""
    text = "\n".join([LEAD, *(section(pair) for pair in PAIRS)])
    if not PAGE.exists() or PAGE.read_text() != text:
        PAGE.write_text(text)
        print(f"{PAGE.relative_to(ROOT)}: written anew", file=sys.stderr)


if __name__ == "__main__":
    main()
