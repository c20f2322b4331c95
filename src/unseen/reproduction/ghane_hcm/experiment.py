"""The hybrid compartmental model of phenylalanine and tyrosine: table 4.1 and figure 4.5 of Ghane's dissertation (2022)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.errors import InputError
from unseen.core.registry import register
from unseen.core.rng import task_seed
from unseen.engine.events import Reporter
from unseen.reproduction.ghane_hcm.formulas import FORMULAS, worst_misfit
from unseen.reproduction.published_numbers import read_published
from unseen.reproduction.record import Cell, Check, Reproduction

__all__ = ["GhaneHcm"]

PLACES = {"alternative1": "IC-IC", "alternative2": "EC-EC", "alternative3": "whole-body"}
NAMES = {"U_phe": "U_precursor", "U_tyr": "U_product", "F_phe_tyr": "Fconv"}
RATES = {"k_phe_tyr": "kappa"}

REMARKS = (
    "The subjects' data, their number and the tracer doses are not published. Rates: the mean over simulated subjects that were made "
    "with table 4.1 and fitted as the dissertation did not (full covariance, known error). Fluxes: the formulas applied to "
    "the centres of table 4.1 with the pools Q1 and Q3 given as options.",
    "'printed' follows section 4.4.2 with the sign of alternative 3 mended: with the printed minus U_Phe would be 29, not 248.",
    "'mass balance' counts conversion once. k02 is obtained from the Phe-6 curve alone and is the total loss, conversion included; "
    "adding the conversion flux again is what makes the published appearance twice that of constant infusion (88 to 99).",
    "k of table 4.1 is the raw multiplier of equation 4.3e, not a fractional rate. The non-compartmental conversion on the same data is "
    "5.7; it equals 60 k D, so the Tyr-4 dose was about 2.9 per kg, and k Q1 = 21.3 has no meaning.",
    "No pair of pools meets all published fluxes at k = 0.033: the Phe fluxes want k = 0.027 and Q1 = 13.1, so that k and Q1 vary together "
    "over subjects or table and fluxes come from different fits. They are anchors to within 5 to 15%, not exact values.",
)


@register
@dataclass(frozen=True)
class GhaneHcm:
    """Published rates and fluxes of the hybrid compartmental model beside ours, under both conventions.

    Parameters
    ----------
    q1, q3 : float
        Sampled pools of phenylalanine and tyrosine, in micromol per kg fat-free mass.
    dose_tyr : float
        Dose of the tyrosine tracer, which turns the multiplier k into a flux.
    noise : float
        Relative error of the simulated samples.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, chapter 4.

    Examples
    --------
    >>> GhaneHcm(q1=13.1).q1
    13.1
    """

    q1: float = 12.0
    q3: float = 19.0
    dose_tyr: float = 2.9
    noise: float = 0.02
    group: ClassVar[str] = "reproduction"
    id: ClassVar[str] = "ghane-hcm"
    title: ClassVar[str] = "Hybrid compartmental model of phenylalanine and tyrosine"
    source: ClassVar[str] = "Ghane (2022), dissertation, Texas A&M University, table 4.1 and figure 4.5"
    replications: ClassVar[int] = 40
    extra: ClassVar[str] = ""
    minutes: ClassVar[float] = 0.3

    def run(self, replications: int, seed: int, reporter: Reporter, n_jobs: int | None) -> Reproduction:
        """Recover table 4.1 from simulated subjects, and compute the fluxes both ways."""
        if min(self.q1, self.q3, self.dose_tyr) <= 0 or self.noise < 0:
            raise InputError("q1, q3 and dose_tyr must be above 0, and noise not negative.")
        rows = {row["quantity"]: row for row in read_published("ghane_hcm")}
        table = {RATES.get(k, k): float(v["mean"]) for k, v in rows.items() if k.startswith("k")}
        reporter.expect(replications, self.id)
        fits = self._recover_rates(replications, seed, reporter, n_jobs)
        cells = [*self._rates(rows, fits), *self._fluxes(rows, table)]
        return Reproduction(
            experiment=self.id,
            title=self.title,
            source=self.source,
            cells=tuple(cells),
            checks=self._checks(cells, rows, table),
            replications=replications,
            seed=seed,
            seconds=0.0,
            remarks=REMARKS,
        )

    def _recover_rates(self, count: int, seed: int, reporter: Reporter, n_jobs: int | None) -> dict[str, Any]:
        """Return the rates fitted to simulated subjects, who all have the rates of table 4.1."""
        from unseen.kinetics import fit, simulate

        subjects = simulate(
            count,
            noise=self.noise,
            between=0.0,
            rates={"Q1": self.q1, "Q3": self.q3},
            random_state=task_seed(seed, self.id),
        )
        study = fit(
            subjects.ttr,
            subjects.doses,
            cv=self.noise,
            floor=subjects.floor,
            locations=["EC-EC"],
            drop_early={"Tyr-4": 10},
            outliers=None,
            n_jobs=n_jobs,
        )
        reporter.advance(count)
        return {name: np.array([one.rates[name] for one in study]) for name in study.fits[0].rates}

    def _rates(self, rows: dict[str, Any], fits: dict[str, Any]) -> list[Cell]:
        cells = []
        for name, row in rows.items():
            if not name.startswith("k"):
                continue
            logs = np.log(fits[RATES.get(name, name)])
            ours = float(np.exp(logs.mean()))
            error = ours * float(logs.std(ddof=1)) / math.sqrt(logs.size)
            cells.append(
                Cell("4.1 rates per minute, recovered", name, published=float(row["mean"]), ours=ours, mc_error=error)
            )
        return cells

    def _fluxes(self, rows: dict[str, Any], table: dict[str, float]) -> list[Cell]:
        from unseen.kinetics import printed_tracee

        cells = []
        for name, row in rows.items():
            alternative, _, quantity = name.partition(".")
            if alternative not in PLACES:
                continue
            place, key, value = PLACES[alternative], NAMES[quantity], float(row["mean"])
            printed = printed_tracee(table, self.q1, self.q3, place)[key]
            label = f"{alternative} ({place}) {quantity}"
            cells.append(
                Cell(
                    "4.5 fluxes per hour, printed formulas",
                    label,
                    published=value,
                    ours=printed,
                    mc_error=float(row["se"]),
                )
            )
            balanced = self.balance(table, place)[key]
            remark = "the published formula counts conversion twice"
            cells.append(
                Cell(
                    "4.5 fluxes per hour, mass balance",
                    label,
                    published=value,
                    ours=balanced,
                    mc_error=float(row["se"]),
                    remark=remark,
                )
            )
        return cells

    def balance(self, table: dict[str, float], place: str) -> dict[str, float]:
        """Fluxes that balance, at the centres of table 4.1 with the dose of this experiment."""
        from unseen.kinetics import rates_to_curve, tracee

        a, l = rates_to_curve(table["k21"], table["k12"], table["k02"], 3.6 / self.q1)
        b, g = rates_to_curve(table["k43"], table["k34"], table["k04"], self.dose_tyr / self.q3)
        return tracee(a, l, b, g, table["kappa"], (3.6, self.dose_tyr), place)

    def _checks(self, cells: list[Cell], rows: dict[str, Any], table: dict[str, float]) -> tuple[Check, ...]:
        from unseen.kinetics import imbalance, printed_tracee

        z = [c.z for c in cells if c.table.startswith("4.1") and c.z is not None]
        balanced = {p: self.balance(table, p) for p in PLACES.values()}
        worst = max(abs(v) for p, x in balanced.items() for v in imbalance(x, p).values())
        whole = dict(printed_tracee(table, self.q1, self.q3, "whole-body"))
        whole |= {"F01": 60 * table["k02"] * whole["Q1"], "F02": 60 * table["k02"] * whole["Q2"]}
        whole |= {"F03": 60 * table["k04"] * whole["Q3"], "F04": 60 * table["k04"] * whole["Q4"]}
        lost = max(abs(v) for v in imbalance(whole, "whole-body").values())
        misfits = {name: worst_misfit(rows, name) for name in FORMULAS}
        return (
            Check("rates of table 4.1 recovered, rms z", float(np.sqrt(np.mean(np.square(z)))), high=2.0),
            Check("mass balance: largest net flux of a pool", worst, high=1e-9),
            Check("printed alternative 3: largest net flux of a pool, which should be 0", lost, low=1.0),
            Check(
                "printed formulas with + in alternative 3: largest misfit in published SE", misfits["plus"], high=0.5
            ),
            Check("printed formulas with the printed minus: largest misfit in published SE", misfits["minus"], low=3.0),
            Check("conversion left out of U_Phe: largest misfit in published SE", misfits["once"], low=1.0),
            Check(
                "U_Phe by mass balance, per hour; constant infusion gave 88 to 99",
                balanced["IC-IC"]["U_precursor"],
                80,
                105,
            ),
            Check("conversion by mass balance EC-EC, per hour; areas gave 5.7", balanced["EC-EC"]["Fconv"], 4.2, 7.2),
        )
