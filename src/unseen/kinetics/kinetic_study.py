"""All subjects of a tracer study: their fits, their failures and their means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from unseen.core.errors import InputError
from unseen.core.notes import Note, note
from unseen.core.result import Result, plain
from unseen.kinetics.group_means import FEWEST, GroupMean, group_mean
from unseen.kinetics.kinetic_fit import KineticFit
from unseen.kinetics.scheme import Scheme

__all__ = ["KineticStudy"]


@dataclass(frozen=True)
class KineticStudy(Result):
    """Fits of a study, by subject.

    Attributes
    ----------
    fits : tuple of KineticFit
    failures : mapping
        ``{subject: reason}`` for subjects that could not be fitted.
    location : str
        Location at which rates, pools and fluxes are shown and averaged.
    scheme : Scheme

    Examples
    --------
    >>> import unseen
    >>> made = unseen.kinetics.simulate(subjects=3, random_state=0)
    >>> study = unseen.kinetics.fit(made.ttr, made.doses, locations=["EC-EC"])
    >>> len(study), study.means()["k21"].n
    (3, 3)
    """

    shown_by: ClassVar[str] = "unseen.kinetics"

    fits: tuple[KineticFit, ...]
    failures: Mapping[str, str]
    location: str
    scheme: Scheme

    title = "Tracer kinetics"

    def __len__(self) -> int:
        return len(self.fits)

    def __iter__(self) -> Iterator[KineticFit]:
        return iter(self.fits)

    def __getitem__(self, subject: str) -> KineticFit:
        for one in self.fits:
            if one.subject == str(subject):
                return one
        if str(subject) in self.failures:
            raise InputError(self.failures[str(subject)])
        raise InputError(f"there is no subject {subject!r}; subjects: {', '.join(f.subject for f in self.fits)}.")

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes of all subjects and of the failures."""
        failed = tuple(note("K010", f"{k}: {v}") for k, v in self.failures.items())
        return tuple(n for f in self.fits for n in f.notes) + failed

    @property
    def summed_aicc(self) -> dict[str, float]:
        """AICc of each location summed over subjects, above the best."""
        shared = [a.location for a in self.fits[0].alternatives if all(_has(f, a.location) for f in self.fits)]
        sums = {p: sum(f.at(p).aicc for f in self.fits) for p in shared}
        return {p: v - min(sums.values()) for p, v in sums.items()}

    def means(
        self, names: Sequence[str] | None = None, *, location: str | None = None, level: float = 0.95
    ) -> dict[str, GroupMean]:
        """Mean of every quantity over subjects, each computed per subject first.

        Errors of positive quantities are relative ones (see `group_mean`), and so are those of differences of fluxes if each
        subject's value is more than two standard errors from zero. No interval begins below zero, and
        fewer than three subjects have a spread and no interval.

        Parameters
        ----------
        names : sequence of str, optional
            Quantities; all by default.
        location : str, optional
        level : float

        Returns
        -------
        dict
            ``{quantity: GroupMean}``.
        """
        values = [f.values(location) for f in self.fits]
        errors = [f.std_errors(location) for f in self.fits]
        wanted = names or [n for n in values[0] if all(n in v for v in values)]
        signed = self.fits[0].derivation(location)[1].may_be_negative

        def mean(n: str) -> GroupMean:
            y, se = [v[n] for v in values], [e[n] for e in errors]
            relative = all(v > (2 * e if signed(n) else 0) for v, e in zip(y, se))
            return group_mean(y, se, n, level, relative=relative, positive=True)

        return {n: mean(n) for n in wanted}

    def rows(self) -> list[dict[str, Any]]:
        """One row per subject: rates, pools and fluxes; a failed subject carries its reason."""
        rows: list[dict[str, Any]] = []
        for f in self.fits:
            best = min(f.alternatives, key=lambda a: a.aicc).location
            head = {"subject": f.subject, **f.covariates, "location": f.location, "best_location": best}
            rows.append(head | f.values() | {"removed": len(f.removed), "failure": None})
        return rows + [{"subject": k, "failure": v} for k, v in self.failures.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "location": self.location,
            "scheme": plain(self.scheme),
            "subjects": [f.to_dict() for f in self.fits],
            "means": [plain(m.rows()[0]) for m in self.means().values()],
            "summed_aicc": plain(self.summed_aicc),
            "failures": dict(self.failures),
        }

    def __str__(self) -> str:
        if len(self.fits) == 1 and not self.failures:
            return str(self.fits[0])
        lines = [f"{len(self.fits)} subjects fitted, {len(self.failures)} failed; conversion {self.location}", ""]
        lines += self._mean_lines()
        lines += ["", *(f"{k}: failed: {v}" for k, v in self.failures.items()), *self._remarks()]
        return "\n".join(lines).rstrip()

    def _mean_lines(self) -> list[str]:
        """Table of the means: with an interval, or for fewer than three subjects with their values."""
        means = self.means()
        if len(self.fits) < FEWEST:
            lines = [f"{'quantity':<8} {'mean':>9}   of the subjects"]
            values = [f.values() for f in self.fits]
            lines += [f"{n:<8} {m.mean:>9.4g}   {', '.join(f'{v[n]:.4g}' for v in values)}" for n, m in means.items()]
            return [*lines, "", f"An interval of a mean needs {FEWEST} subjects or more."]
        lines = [f"{'quantity':<8} {'mean':>9} {'SE':>9}   95% interval"]
        for m in means.values():
            span = "" if m.interval is None else f"[{m.interval.low:.4g}, {m.interval.high:.4g}]"
            lines.append(f"{m.name:<8} {m.mean:>9.4g} {m.std_error:>9.2g}   {span}")
        return lines

    def _remarks(self) -> list[str]:
        """Notes on the fits, at most three of a kind; all of them are in `notes`, in the report and in the JSON."""
        by_code: dict[str, list[Note]] = {}
        for one in (n for f in self.fits for n in f.notes):
            by_code.setdefault(one.code, []).append(one)
        lines = []
        for code, held in by_code.items():
            lines += [str(n) for n in held[:3]]
            lines += [f"{code} and {len(held) - 3} more of this kind"] if len(held) > 3 else []
        return lines


def _has(one: KineticFit, location: str) -> bool:
    return any(a.location == location for a in one.alternatives)
