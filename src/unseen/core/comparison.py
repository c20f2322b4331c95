"""Comparisons of models: one pair, all pairs, a region of practical equivalence, and what choosing the best costs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import Estimate, Interval, scale_sentence
from unseen.core.notes import Note, merge_notes
from unseen.core.result import Result, plain
from unseen.core.scale import advantage, as_measure, gap_words, measure_name
from unseen.core.trust import Trust, trust

__all__ = ["Comparison", "Comparisons", "Rope", "Winner", "as_rope", "p_words", "pair_of", "rows_needed"]

_MEANS = {"zero-one": "error", "squared": "mean squared error", "absolute": "mean absolute error"}
POWER = 0.8  # chance of showing the difference that the rows needed are computed for: the usual one


@dataclass(frozen=True)
class Rope:
    """Region of practical equivalence around a difference of zero, and where the evidence lies.

    Parameters
    ----------
    low, high : float
        Ends of the region; differences inside it do not matter in practice.
    decision : str
        "a better", "b better", "equivalent" or "undecided".
    posterior : tuple of float or None
        Probabilities that the difference lies below, inside and above the region, from a Bayesian test.

    Examples
    --------
    >>> Rope(-0.01, 0.01, "a better").swap().decision
    'b better'
    """

    low: float
    high: float
    decision: str
    posterior: tuple[float, float, float] | None = None

    def swap(self) -> Rope:
        """Return the same evidence on b minus a."""
        words = {"a better": "b better", "b better": "a better"}.get(self.decision, self.decision)
        below, inside, above = self.posterior or (0.0, 0.0, 0.0)
        return Rope(-self.high, -self.low, words, None if self.posterior is None else (above, inside, below))


def as_rope(rope: float | tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a region given as a half-width or as a pair.

    Examples
    --------
    >>> as_rope(0.01)
    (-0.01, 0.01)
    """
    given = np.ravel(np.asarray(rope, dtype=float)).tolist()
    ends = [-given[0], given[0]] if np.ndim(rope) == 0 else given
    if len(ends) != 2 or not (np.all(np.isfinite(ends)) and ends[0] <= 0 <= ends[1]):
        raise InputError(f"rope is {rope!r}; give a half-width of at least 0, or a pair (low, high) around 0.")
    return ends[0], ends[1]


def p_words(p: float, sign: str = "p ") -> str:
    """Return a p-value as people write it: no p is 0 or 1.

    Examples
    --------
    >>> p_words(0.0312), p_words(1e-7), p_words(1.0), p_words(0.2, "")
    ('p = 0.031', 'p < 0.001', 'p > 0.99', '0.2')
    """
    if np.isnan(p):
        return f"{sign}unknown"
    if p < 0.001:
        return f"{sign}< 0.001"
    if p > 0.99:
        return f"{sign}> 0.99"
    return f"{sign}= {p:.2g}" if sign else f"{p:.2g}"


def rows_needed(n: int, difference: float, std_error: float, alpha: float, df: float | None = None) -> float:
    """Return how many units would show a difference with a chance of 80%, if it is what it seems.

    The variance of a difference falls as 1/n, so the standard error that gives this power, |d| / (q + z), asks for
    n ((q + z) se / d)^2 units; q is the quantile of the test at 1 - alpha/2 and z = .84 that of the power.

    Parameters
    ----------
    n : int
        Units that were used.
    difference, std_error : float
        What they showed.
    alpha : float
        Size of the test, two-sided.
    df : float or None
        Degrees of freedom of its t distribution; None for the normal law.

    Examples
    --------
    >>> round(rows_needed(200, 0.03, 0.02, 0.05))
    698
    """
    from scipy.special import ndtri, stdtrit

    critical = float(ndtri(1 - alpha / 2) if df is None else stdtrit(df, 1 - alpha / 2))
    if difference == 0:
        return float("inf")
    return float(n * np.square((critical + float(ndtri(POWER))) * std_error / difference))


def _about(number: float) -> str:
    """Return a number of rows to two digits."""
    if number > 1e6:
        return "more than a million"
    digits = max(int(np.floor(np.log10(number))) - 1, 0)
    return f"about {round(number / 10**digits) * 10**digits:,}"


@dataclass(frozen=True, kw_only=True)
class Winner:
    """The best of several models, and its error corrected for having been chosen.

    Errors are of `loss`, smaller being better, as everywhere inside; where that was made from a score such as AUC, the text,
    `measured` and the JSON give the score itself.

    Parameters
    ----------
    name : str
        The winner.
    naive : float
        Its error as if it had been the only one.
    corrected : float
        Expected error of whatever wins, by bootstrap bias-corrected cross-validation.
    interval : Interval or None
        Bootstrap percentile interval of the corrected error, from the units left out of each draw; where these never differ,
        as with no error at all, Clopper and Pearson's for the tested units, and None for a loss without bounds.
    n_models, n_bootstrap : int
        Models it was chosen from, and bootstrap draws.
    loss : str
        What the errors are, such as "zero-one" or "1 - auc".

    References
    ----------
    Tsamardinos, I., Greasidou, E. and Borboudakis, G. (2018). Bootstrapping the out-of-sample predictions for efficient
    and accurate cross-validation. Machine Learning 107, 1895-1922.

    Examples
    --------
    >>> from dataclasses import replace
    >>> interval = Interval(0.125, 0.375, 0.95)
    >>> svm = Winner(name="svm", naive=0.125, corrected=0.25, interval=interval, n_models=3, n_bootstrap=1000, loss="1 - auc")
    >>> print(svm)
    largest AUC: svm, 0.875; corrected for the choice among 3 models 0.75 (95% interval 0.625 to 0.875)
    >>> print(replace(svm, interval=None, loss="zero-one"))
    smallest error: svm, 12.5%; corrected for the choice among 3 models 25.0%
    >>> print(replace(svm, corrected=0.125))
    largest AUC: svm, 0.875; correcting for the choice among 3 models leaves these digits as they are
    """

    name: str
    naive: float
    corrected: float
    interval: Interval | None
    n_models: int
    n_bootstrap: int
    loss: str = ""

    @property
    def measure_values(self) -> dict[str, Any]:
        """Name of the measure that was asked for, and value, corrected value and interval on its scale."""
        name, naive = as_measure(self.loss, self.naive)
        ends = (None, None) if self.interval is None else sorted(as_measure(self.loss, v)[1] for v in self.interval)
        corrected = as_measure(self.loss, self.corrected)[1]
        return {"name": name, "naive": naive, "corrected": corrected, "lower": ends[0], "upper": ends[1]}

    @property
    def best(self) -> str:
        """What it is the best by, such as "smallest error" or "largest AUC"."""
        return advantage(self.loss, most=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, what it is the best by, and the numbers on the scale of the measure that was asked for."""
        return {
            "name": self.name,
            "best": self.best,
            "loss": self.loss,
            "naive": plain(self.naive),
            "corrected": plain(self.corrected),
            "interval": plain(self.interval),
            "measure": plain(self.measure_values),
            "n_models": self.n_models,
            "n_bootstrap": self.n_bootstrap,
        }

    def __str__(self) -> str:
        m = self.measure_values
        naive, corrected = (_own_words(m[key], m["name"]) for key in ("naive", "corrected"))
        choice = f"the choice among {self.n_models} models"
        if naive == corrected:
            return f"{self.best}: {self.name}, {naive}; correcting for {choice} leaves these digits as they are"
        span = ""
        if self.interval is not None:
            low, high = (_own_words(m[end], m["name"]) for end in ("lower", "upper"))
            span = f" ({100 * self.interval.level:g}% interval {low} to {high})"
        return f"{self.best}: {self.name}, {naive}; corrected for {choice} {corrected}{span}"


SIGNED = ("t(", "normal")


@dataclass(frozen=True, kw_only=True)
class Comparison(Result):
    """The error of model a minus that of model b, on the same splits, with its uncertainty and a test.

    Parameters
    ----------
    a, b : str
        Names of the models; a negative difference favours a.
    estimate : Estimate
        The difference, its standard error and interval, and what it is the difference of.
    statistic : float or None
        Value of the test statistic.
    reference : str
        Distribution it was referred to.
    p : float or None
        Two-sided p-value; None for a Bayesian test.
    p_adjusted : float or None
        The same, adjusted for all pairs that were compared.
    share_of_splits : float or None
        Share of splits on which a has the smaller error, ties counted half; a statement about splits of these data, not about new
        data. None with one split, and with bootstrap samples: what they leave out is no split of the data.
    effect : float or None
        The difference divided by the standard deviation, over units, of a unit's mean difference.
    level : float
        Confidence level; a verdict is given at 1 - level.
    rope : Rope or None
        Region of practical equivalence, if one was asked for.
    ranks : float or None
        What a test of ranks has tested instead of the mean difference: below 0 if the ranks favour a.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.dummy import DummyClassifier
    >>> c = unseen.compare({"bayes": GaussianNB(), "dummy": DummyClassifier()}, X, y, random_state=0)
    >>> one = c["bayes", "dummy"]
    >>> one.difference < 0, one.verdict, c["dummy", "bayes"].difference == -one.difference
    (True, 'bayes has the smaller error', True)
    """

    shown_by: ClassVar[str] = "unseen.comparison"

    a: str
    b: str
    estimate: Estimate
    statistic: float | None
    reference: str
    p: float | None
    p_adjusted: float | None
    share_of_splits: float | None
    effect: float | None
    level: float
    rope: Rope | None = None
    ranks: float | None = None

    @property
    def difference(self) -> float:
        """Error of a minus error of b."""
        return self.estimate.value

    @property
    def std_error(self) -> float | None:
        """Standard error of the difference."""
        return self.estimate.std_error

    @property
    def interval(self) -> Interval | None:
        """Confidence interval of the difference."""
        return self.estimate.interval

    @property
    def test(self) -> str:
        """Id of the test."""
        return self.estimate.method

    @property
    def notes(self) -> tuple[Note, ...]:
        """Statistical weaknesses."""
        return self.estimate.notes

    @property
    def better(self) -> str | None:
        """Name of the model with the smaller error, None if they are equal."""
        return None if self.difference == 0 else (self.a if self.difference < 0 else self.b)

    @property
    def verdict(self) -> str:
        """What may be said, in words, at the level asked for."""
        if self._by_rope:
            return f"{self.decided} is better by more than the region" if self.decided else "practically equivalent"
        if self.decided:
            by_ranks = "smaller losses by signed ranks"
            return f"{self.decided} has the {advantage(self.estimate.loss) if self.ranks is None else by_ranks}"
        p = self._judged_p
        if p is None or np.isnan(p):
            return "undecided" if p is None else "no verdict: the difference has no spread"
        return "no difference shown"

    @property
    def decided(self) -> str | None:
        """Name of the model shown to be better at the level asked for, None if neither is."""
        if self._by_rope and self.rope is not None:
            return {"a better": self.a, "b better": self.b}.get(self.rope.decision)
        p = self._judged_p
        if p is None or not p < 1 - self.level:
            return None
        # ranks may favour the other model than the mean does, and it is them that were tested
        return self.better if self.ranks is None else (self.a if self.ranks < 0 else self.b)

    @property
    def _by_rope(self) -> bool:
        return self.rope is not None and self.rope.decision != "undecided"

    @property
    def _judged_p(self) -> float | None:
        return self.p if self.p_adjusted is None else self.p_adjusted

    def swap(self) -> Comparison:
        """Return the comparison of b with a: differences change their sign, p-values stay."""
        old = self.estimate
        turned = None if old.interval is None else Interval(-old.interval.high, -old.interval.low, old.interval.level)
        signed = self.statistic is not None and self.reference.startswith(SIGNED)
        return replace(
            self,
            a=self.b,
            b=self.a,
            estimate=replace(old, value=0.0 - old.value, interval=turned),
            statistic=-self.statistic if signed and self.statistic is not None else self.statistic,
            share_of_splits=None if self.share_of_splits is None else 1 - self.share_of_splits,
            effect=None if self.effect is None else 0.0 - self.effect,
            rope=None if self.rope is None else self.rope.swap(),
            ranks=None if self.ranks is None else 0.0 - self.ranks,
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the one row of `frame()`."""
        low, high = (None, None) if self.interval is None else self.interval
        return [
            {
                "a": self.a,
                "b": self.b,
                "difference": self.difference,
                "std_error": self.std_error,
                "lower": low,
                "upper": high,
                "p": self.p,
                "p_adjusted": self.p_adjusted,
                "share_of_splits": self.share_of_splits,
                "rope": None if self.rope is None else self.rope.decision,
                "verdict": self.verdict,
            }
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the row, the statistic, the target and the notes."""
        e = self.estimate
        more = {
            "test": self.test,
            "statistic": self.statistic,
            "reference": self.reference,
            "effect": self.effect,
            "level": self.level,
            "loss": e.loss,
            "target": str(e.target),
            "n_units": e.n_units,
            "n_fits": e.n_fits,
            "region": self.rope,
            "notes": list(self.notes),
        }
        return {k: plain(v) for k, v in {**self.rows()[0], **more}.items()}

    def __str__(self) -> str:
        text = f"{self.a} - {self.b}: {self.estimate.loss} {self.difference:+.4g}"
        if self.interval is not None:
            text += f", {100 * self.level:g}% interval {self.interval}"
        if self.p is not None:
            text += f", {p_words(self.p)}"
            if self.p_adjusted is not None and self.p_adjusted != self.p:
                text += f" (adjusted {p_words(self.p_adjusted)})"
        if self.rope is not None and self.rope.posterior is not None:
            text += ", posterior {:.3f} / {:.3f} / {:.3f} (a better / equivalent / b better)".format(
                *self.rope.posterior
            )
        return f"{text}: {self.verdict} ({self.test})"


def pair_of(pairs: Iterable[Comparison], names: Any, known: Collection[str], kind: str, example: str) -> Comparison:
    """Return the pair of two names, turned round if it was made in the other order.

    Parameters
    ----------
    pairs : iterable of Comparison
        Every pair once.
    names : tuple of str
        What the user asked for.
    known : collection of str
        Names that exist.
    kind, example : str
        What the names are of, and how to ask, for the messages.
    """
    if not (isinstance(names, tuple) and len(names) == 2):
        raise InputError(f"give the names of two {kind}s, as in {example}; got {names!r}.")
    for name in names:
        if name not in known:
            raise UnknownName(kind, name, known)
    for pair in pairs:
        if (pair.a, pair.b) == names:
            return pair
        if (pair.b, pair.a) == names:
            return pair.swap()
    raise InputError(f"{names[0]!r} cannot be compared with itself.")


@dataclass(frozen=True, kw_only=True)
class Comparisons(Result):
    """All pairs of several models on the same splits; `c["a", "b"]` is one of them, in either order.

    Parameters
    ----------
    pairs : tuple of Comparison
        Every pair once, in the order the models were given.
    estimates : mapping of str to Estimate
        The error of each model by itself.
    winner : Winner
        The best model and what choosing it costs.
    adjust : str
        How p-values were adjusted for the number of pairs.
    seed : int
        Seed of the run.
    remarks : tuple of Note
        Notes on the set of pairs.
    command : str
        Command line or call that made it, if it is known.
    target : str
        What the differences are differences of, such as "the algorithms trained on about 126 distinct rows of 200".
    reason : str
        Why this test was taken, if it was not asked for.
    unit : str
        What is counted: "row" or "group".
    slices : tuple of Slices
        The difference of each pair in every slice, if `by` was given.
    """

    shown_by: ClassVar[str] = "unseen.comparison"

    pairs: tuple[Comparison, ...]
    estimates: Mapping[str, Estimate]
    winner: Winner
    adjust: str
    seed: int = 0
    remarks: tuple[Note, ...] = ()
    command: str = ""
    target: str = ""
    reason: str = ""
    unit: str = "row"
    slices: tuple[Any, ...] = ()

    kept_as = "comparison"

    def __getitem__(self, names: tuple[str, str]) -> Comparison:
        return pair_of(self.pairs, names, self.estimates, "model", "c['a', 'b']")

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def title(self) -> str:
        """Heading of the report."""
        return "Comparison of " + ", ".join(self.estimates)

    @property
    def test(self) -> str:
        """Id of the test."""
        return self.pairs[0].test

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on the set of pairs and on each of them, each once."""
        return merge_notes(self.remarks, *(pair.notes for pair in self.pairs), *(s.notes for s in self.slices))

    @property
    def trust(self) -> Trust:
        """Whether the comparison can be trusted, and why not."""
        return trust(self.notes)

    @property
    def sentence(self) -> str:
        """The answer, after the reasons not to trust it if there are any."""
        return self.trust.before(self.answer)

    @property
    def answer(self) -> str:
        """The answer: which model to ship and by how much it is better, or that the data cannot say and how many rows could."""
        best = min(self.estimates, key=lambda name: self.estimates[name].value)
        own = sorted(
            (pair if pair.a == best else pair.swap() for pair in self.pairs if best in (pair.a, pair.b)),
            key=lambda pair: abs(pair.difference),
        )
        many = len(self.estimates) > 2
        lost = next((pair for pair in own if pair.decided == pair.b), None)
        if lost is not None:  # ranks may favour a model whose mean is larger
            return f"Ship {lost.b} rather than {lost.a}: {lost.verdict}."
        if all(pair.decided == best for pair in own):
            return _ship(own[0], {name: e.value for name, e in self.estimates.items()}, many)
        equal = [pair.b for pair in own if pair.rope is not None and pair.rope.decision == "equivalent"]
        if equal and all(pair.b in equal or pair.decided == best for pair in own):
            return _same(own[0] if own[0].b in equal else next(p for p in own if p.b in equal), [best, *equal])
        return self._open_sentence(best, [pair for pair in own if pair.decided != best], many)

    def _open_sentence(self, best: str, open_pairs: list[Comparison], many: bool) -> str:
        """Return that some models cannot be told apart, and how many rows would tell the nearest two."""
        pair = open_pairs[0]
        names = [best, *(other.b for other in open_pairs)]
        who = _enumerate_names(names) if many else "them"
        start = f"These data cannot tell {who} apart"
        if pair.p is not None and np.isnan(pair.p):
            return f"{start}: the difference has no spread, so that no test can judge it."
        if pair.difference == 0:
            return f"{start}: the errors of {best} and {pair.b} are equal on them."
        if not pair.std_error:
            return f"{start}."
        alpha = (1 - pair.level) / (1 if self.adjust == "none" else len(self.pairs))
        n = rows_needed(pair.estimate.n_units, pair.difference, pair.std_error, alpha, pair.estimate.df)
        of = f" tell {best} from {pair.b}" if many else ""
        return f"{start}; {_about(n)} {self.unit}s would{of}, if the difference is what it seems."

    @property
    def test_sentence(self) -> str:
        """Which test was used, why, and what the differences are differences of."""
        why = f" ({self.reason})" if self.reason else ""
        about = self.target or str(self.pairs[0].estimate.target)
        return f"Test: {self.test}{why}. Target: the difference of {about}."

    def model_sentences(self) -> list[str]:
        """Return each model's own error with its interval, in words."""
        lines = []
        for name, own in self.estimates.items():
            e = own.on_scale()
            called = {"zero-one": "error", "squared": "RMSE"}.get(e.loss, measure_name(e.loss))
            text = f"{name}: {called} {_own_words(e.value, e.loss)}"
            if e.interval is not None:
                low, high = (_own_words(end, e.loss) for end in e.interval)
                text += f" ({100 * e.interval.level:g}% interval {low} to {high})"
            lines.append(text)
        return lines

    def scale_sentence(self) -> str:
        """Return what errors are of if a score such as AUC was asked for; empty for a plain loss."""
        return scale_sentence(self.estimates)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per pair."""
        return [row for pair in self.pairs for row in pair.rows()]

    def to_dict(self) -> dict[str, Any]:
        """Return pairs, the models' own errors, the winner and the notes."""
        return {
            "sentence": self.sentence,
            "trust": self.trust.ok,
            "trust_reasons": list(self.trust.reasons),
            "test": self.test,
            "reason": self.reason,
            "target": self.target,
            "adjust": self.adjust,
            "seed": self.seed,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "models": {name: plain(e.row()) for name, e in self.estimates.items()},
            "winner": self.winner.to_dict(),
            **({"slices": [s.to_dict() for s in self.slices]} if self.slices else {}),
            "notes": [n.to_dict() for n in self.notes],
        }

    def __str__(self) -> str:
        head = [self.sentence, self.test_sentence, *filter(None, [self.scale_sentence()]), *self.model_sentences()]
        below = [line for s in self.slices for line in ("", s.sentence(), s.table())]
        return "\n".join([*head, *map(str, self.pairs), str(self.winner), *map(str, self.notes), *below])


def _own_words(value: float, loss: str) -> str:
    """Return a model's own error as people say it: a mean of squares by its root."""
    return _value(max(value, 0.0) ** 0.5 if loss == "squared" else value, loss)


def _value(value: float, loss: str) -> str:
    return f"{100 * value:.1f}%" if loss == "zero-one" else f"{value:.4g}"


def _enumerate_names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _gap(pair: Comparison) -> tuple[str, str]:
    """Return by how much a is better and between which ends, in words; empty if there is no interval."""
    loss = pair.estimate.loss
    size = gap_words(-pair.difference, loss)
    if pair.interval is None:
        return size, f"{p_words(pair.p)}" if pair.p is not None else ""
    low, high = (gap_words(-end, loss, bare=True) for end in (pair.interval.high, pair.interval.low))
    return size, f"{100 * pair.level:g}% interval {low} to {high}"


def _ship(pair: Comparison, own: Mapping[str, float], many: bool) -> str:
    """Return the sentence on a pair that was decided for a; `own` holds each model's own error."""
    if pair.ranks is not None:
        return f"Ship {pair.a}: {pair.verdict}."
    size, span = _gap(pair)
    name, _ = as_measure(pair.estimate.loss, 0.0)
    what, way = _MEANS.get(name, measure_name(name)), "lower" if name == pair.estimate.loss else "higher"
    if name == "squared":  # models are told by their roots, and a difference of mean squares has none
        mine, theirs = (_own_words(own[one], name) for one in (pair.a, pair.b))
        than = f" of {pair.b}, the next best" if many else ""
        text = f"Ship {pair.a}: its RMSE is {mine} against {theirs}{than}"
        text += f" (its {what} is {size} {way}{f', {span}' if span else ''})"
    else:
        than = f" than that of {pair.b}, the next best" if many else ""
        text = f"Ship {pair.a}: its {what} is {size} {way}{than}{f' ({span})' if span else ''}"
    region = pair.rope is not None and pair.rope.decision == "a better"
    return f"{text}, by more than the region of practical equivalence." if region else f"{text}."


def _same(pair: Comparison, names: list[str]) -> str:
    """Return the sentence on models whose difference lies inside the region."""
    size, span = _gap(pair)
    inside = "the difference lies inside the region of practical equivalence"
    return f"Ship whichever you like, {' or '.join(names)}: {inside} ({size}{f', {span}' if span else ''})."
