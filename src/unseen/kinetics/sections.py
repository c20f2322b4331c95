"""Report sections of a kinetic fit, of a tracer study, of its non-compartmental analysis and of groups compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unseen.core.notes import merge_notes
from unseen.kinetics.group_comparison import GroupComparison
from unseen.kinetics.group_means import FEWEST
from unseen.kinetics.kinetic_fit import KineticFit
from unseen.kinetics.kinetic_study import KineticStudy
from unseen.kinetics.noncompartmental import NcaStudy
from unseen.show import figures_for
from unseen.show.sections import Block, Notes, Section, Table, TableCell, Text, picture, section

__all__ = ["fit_blocks", "groups_headline"]


_CONVENTIONS = {
    "mass_balance": "Every pool balances: inflow equals outflow, and conversion is part of the precursor's loss.",
    "printed": "Fluxes follow the formulas of the dissertation, which count conversion twice; they are for comparison only.",
}
_FEW = 6  # subjects shown with two figures each; more would make the page too heavy to mail
_ACROSS = 4  # numbers with their errors that stand side by side on a page of 1,200 px, beside two columns of names
_UNITS = {"1/min": "per minute", "dose": "unit of the doses", "dose/h": "unit of the doses per hour"}


def _with_error(value: float, error: float) -> TableCell:
    return TableCell(f"{value:.4g} ± {error:.2g}", value)


def quantities(fit: KineticFit) -> Table:
    """Rates, pools and fluxes with intervals."""
    rows = [
        [
            r["quantity"],
            _with_error(r["estimate"], r["std_error"]),
            TableCell(f"{r['lower']:.4g} to {r['upper']:.4g}", r["lower"]),
            _UNITS[r["unit"]],
        ]
        for r in fit.rows()
    ]
    caption = f"Conversion {fit.location}. k02 is the total loss of the precursor, conversion included. {_CONVENTIONS[fit.convention]}"
    return Table(["quantity", "estimate ± SE", "95% interval", "unit"], rows, caption)


def alternatives(fit: KineticFit) -> list[Block]:
    """Criteria of the locations, and the fluxes each of them implies."""
    rows = [
        [
            r["location"],
            r["class"],
            r["chi2"],
            r["df"],
            r["aicc"],
            TableCell(f"{r['weight']:.2g}", r["weight"]),
            TableCell(f"{r['runs_p']:.2g}", r["runs_p"]),
            r["rank"],
            r["violations"] or "none",
            r["distance"],
        ]
        for r in fit.locations
    ]
    names = ["location", "class", "chi2", "df", "AICc", "weight", "runs p", "rank", "limits broken", "distance"]
    caption = (
        "Rank: fewest physical limits broken, then AICc, then the summed squared distance from published fluxes. Nothing is decided "
        "by it; the location used is the one with the smallest AICc unless one was asked for."
    )
    return [Table(names, rows, caption), _fluxes(fit)]


def _fluxes(fit: KineticFit) -> Table:
    places = [a.location for a in fit.alternatives]
    if fit.convention == "printed":
        places = [p for p in places if p in ("EC-EC", "IC-IC", "whole-body")]
    values = {p: fit.values(p) for p in places}
    errors = {p: fit.std_errors(p) for p in places}
    names = list(dict.fromkeys(n for p in places for n in values[p] if n.startswith(("F", "U", "Q"))))
    rows = [[n, *(_with_error(values[p][n], errors[p][n]) if n in values[p] else None for p in places)] for n in names]
    return Table(
        ["quantity", *places], rows, "Pools and fluxes per hour under every alternative, each fitted by itself."
    )


def identification(fit: KineticFit) -> list[Block]:
    """Diagnostics and the ranges that stay open."""
    found = fit.identifiability()
    text = (
        f"Condition number {found.condition:.3g}, collinearity index {found.collinearity:.3g} (above 15 is poor). "
        f"Largest relative error of a parameter: {100 * max(found.relative_errors):.0f}%."
    )
    blocks: list[Block] = [Text(text)]
    ranges = fit.ranges()
    if ranges:
        rows = [
            [
                name,
                *(
                    TableCell(f"{getattr(r, k)[0]:.4g} to {getattr(r, k)[1]:.4g}")
                    for k in ("k21", "k12", "k01", "k02", "Q2", "U")
                ),
            ]
            for name, r in ranges.items()
        ]
        columns = ["substrate", "to IC", "to EC", "loss EC", "loss IC", "IC pool", "appearance per hour"]
        blocks.append(Table(columns, rows, "Ranges left open when both pools of a substrate may lose."))
    ranges_picture = picture(fit, "ranges")
    return [*blocks, *([ranges_picture] if ranges_picture is not None else [])]


def removals(fit: KineticFit) -> list[Block]:
    """Samples that did not enter the fit."""
    if not fit.removed:
        return [Text("No sample was removed.")]
    rows = [[r.analyte, r.time, r.ttr, r.reason, r.row, r.statistic, r.limit] for r in fit.removed]
    return [Table(["analyte", "minutes", "TTR", "why", "row", "statistic", "limit"], rows)]


def fit_blocks(fit: KineticFit, figures: Sequence[str] = ("curves", "residuals")) -> list[Block]:
    """The short account of one subject: figures, quantities and what was removed."""
    one = fit.at()
    error = f"error model {fit.error.kind}"
    if one.cv is not None and one.floor is not None:
        error += f" (cv {100 * one.cv:.2g}%, floor {one.floor:.2g})"
    text = f"Conversion {fit.location}: chi2 {one.chi2:.4g} on {one.spare} degrees of freedom{fit.error.remark}, run test p = {one.runs_p:.2g}; {error}."
    areas = "" if fit.nca is None else f" {fit.nca}."
    pictures = [picture(fit, name) for name in figures]
    return [Text(text + areas), *(p for p in pictures if p is not None), quantities(fit), *removals(fit)]


@section(KineticFit, 10)
def fit_summary(fit: KineticFit) -> Section:
    """The diagram with its numbers, curves, residuals and quantities."""
    diagram = picture(fit, "pools")
    return Section("fit", f"Subject {fit.subject}", [*([diagram] if diagram is not None else []), *fit_blocks(fit)])


@section(KineticFit, 20)
def fit_alternatives(fit: KineticFit) -> Section:
    """Where conversion takes place."""
    found = picture(fit, "locations")
    return Section("locations", "Where conversion takes place", [*([found] if found else []), *alternatives(fit)])


@section(KineticFit, 30)
def fit_pools(fit: KineticFit) -> Section | None:
    """Pool diagrams of all alternatives."""
    made = [picture(fit, f.name) for f in figures_for(fit) if f.name.startswith("pools-")]
    shown = [m for m in made if m is not None]
    return Section("pools", "Pools and fluxes", shown) if shown else None


@section(KineticFit, 40)
def fit_certainty(fit: KineticFit) -> Section:
    """Intervals, profiles and identifiability."""
    pictures = [picture(fit, name) for name in ("intervals", "profiles")]
    return Section("certainty", "How sure", [*(p for p in pictures if p is not None), *identification(fit)])


@section(KineticFit, 50)
def fit_notes(fit: KineticFit) -> Section | None:
    """Coded remarks."""
    return Section("notes", "Notes", [Notes(fit.notes)]) if fit.notes else None


@section(KineticStudy, 10)
def headline(study: KineticStudy) -> Section:
    """The answer in words, the diagram with its numbers, the means and the failures."""
    diagram = picture(study, "pools")
    blocks: list[Block] = [Text(_lead(study), lead=True), *([diagram] if diagram is not None else [])]
    blocks.append(Text(_CONVENTIONS[study.fits[0].convention]))
    if study.failures:
        blocks.append(
            Table(["subject", "why it failed"], list(study.failures.items()), "Subjects that could not be fitted.")
        )
    if len(study) > 1:
        blocks.append(_means_table(study) if len(study) >= FEWEST else _values_table(study))
    return Section("means", "The answer", blocks)


def _lead(study: KineticStudy) -> str:
    """The appearances and the conversion, each with what its number of subjects allows to say of its error."""
    means, only = study.means(), study.fits[0] if len(study) == 1 else None
    wanted = [n for n in (*(f"U_{s}" for s in study.scheme.substrates), "Fconv") if n in means]
    if only is not None:
        said = [f"{n} {means[n].mean:.3g} ± {only.std_errors()[n]:.2g}" for n in wanted]
    elif len(study) < FEWEST:
        said = [f"{n} {means[n].spread[0]:.3g} to {means[n].spread[1]:.3g}" for n in wanted]
    else:
        said = [f"{n} {means[n].mean:.3g} ± {means[n].std_error:.2g}" for n in wanted]
    count = f"{len(study)} subject{'s' if len(study) != 1 else ''} fitted"
    return f"{count}; conversion {study.location}: {', '.join(said)} per hour."


def _values_table(study: KineticStudy) -> Table:
    """Every quantity of every subject, for so few subjects that their mean has no interval."""
    values, errors = [f.values() for f in study], [f.std_errors() for f in study]
    rows = [
        [n, *(_with_error(v[n], e[n]) for v, e in zip(values, errors)), TableCell(f"{m.mean:.4g}", m.mean)]
        for n, m in study.means().items()
    ]
    caption = f"Each subject ± SE of its own fit. An interval of a mean needs {FEWEST} subjects or more."
    return Table(["quantity", *(f.subject for f in study), "mean"], rows, caption)


def _means_table(study: KineticStudy) -> Table:
    rows = [
        [
            m.name,
            m.n,
            _with_error(m.mean, m.std_error),
            "" if m.interval is None else TableCell(f"{m.interval.low:.4g} to {m.interval.high:.4g}", m.interval.low),
            _with_error(m.weighted_mean, m.weighted_error),
            _with_error(m.random_mean, m.random_error),
            TableCell(f"{m.between_sd:.2g}", m.between_sd),
        ]
        for m in study.means().values()
    ]
    columns = ["quantity", "n", "mean ± SE", "95% interval", "inverse variance", "random effects", "sd between"]
    caption = (
        "Every quantity is computed in each subject first, then averaged: the mean of a product is not the product of means. No "
        "quantity can be negative, so intervals are symmetric on the log scale. The inverse-variance mean is that of these subjects: its SE "
        "leaves out differences between subjects; sd between is their standard deviation beyond the error of the fits."
    )
    return Table(columns, rows, caption)


@section(KineticStudy, 20)
def subjects(study: KineticStudy) -> Section | None:
    """All subjects at a glance."""
    made = [picture(study, name) for name in ("subjects", "locations")]
    shown: list[Any] = [m for m in made if m is not None]
    names = list(study.fits[0].rates)
    if all(list(f.rates) == names for f in study):
        shown += [_rates_table(study, names[i : i + _ACROSS]) for i in range(0, len(names), _ACROSS)]
    return Section("subjects", "All subjects", shown) if shown else None


def _rates_table(study: KineticStudy, names: Sequence[str]) -> Table:
    rows = []
    for f in study:
        rates, errors = f.rates, f.std_errors()
        best = min(f.alternatives, key=lambda a: a.aicc).location
        rows.append([f.subject, best, *(_with_error(rates[n], errors[n]) for n in names)])
    return Table(["subject", "best location", *names], rows, "Rates per minute ± SE of each subject.")


@section(KineticStudy, 30)
def each_subject(study: KineticStudy) -> Section:
    """Every subject's curves and quantities."""
    blocks: list[Block] = []
    figures = ("curves", "residuals") if len(study) <= _FEW else ("curves",)
    for fit in study:
        blocks += [Text(f"Subject {fit.subject}", lead=True), *fit_blocks(fit, figures)]
    return Section("each", "Each subject", blocks)


@section(KineticStudy, 40)
def typical(study: KineticStudy) -> Section:
    """Alternatives, diagrams and certainty of the first subject, or of the only one."""
    fit = study.fits[0]
    made = [picture(fit, f.name) for f in figures_for(fit) if f.name.startswith("pools-")]
    blocks: list[Block] = [
        Text(f"Shown for subject {fit.subject}; `fit[subject].report(...)` gives the same for any other.")
    ]
    blocks += [*alternatives(fit), *(m for m in made if m is not None)]
    rest = [picture(fit, name) for name in ("intervals", "profiles")]
    return Section(
        "alternatives",
        "Alternatives and certainty",
        [*blocks, *(m for m in rest if m is not None), *identification(fit)],
    )


@section(KineticStudy, 50)
def study_notes(study: KineticStudy) -> Section | None:
    """Coded remarks of all subjects."""
    notes = merge_notes(study.notes)
    return Section("notes", "Notes", [Notes(notes)]) if notes else None


@section(NcaStudy, 10)
def areas(study: NcaStudy) -> Section:
    """Areas and rates of appearance."""
    lead = f"{len(study.subjects)} subjects analysed without a compartmental model. Rates of appearance are lower bounds; conversion is that between the sampled pools, and more if it takes place elsewhere."
    rows: list[list[Any]] = []
    for one in study.subjects:
        parts = [TableCell(f"{100 * a.extrapolated:.0f}%", a.extrapolated) for a in one.areas.values()]
        rows.append([one.subject, one.ra_precursor, one.ra_product, one.conversion, *parts])
    scheme = study.subjects[0].scheme
    names = [f"Ra {s}" for s in scheme.substrates]
    columns = ["subject", *names, "conversion", *(f"{a} extrapolated" for a in scheme.analytes)]
    blocks: list[Block] = [
        Text(lead, lead=True),
        Table(columns, rows, "Rates per hour; share of each area beyond the samples."),
    ]
    if study.failures:
        blocks.append(Table(["subject", "why it failed"], list(study.failures.items())))
    return Section("areas", "Non-compartmental analysis", [*blocks, *([Notes(study.notes)] if study.notes else [])])


@section(GroupComparison, 10)
def groups_headline(result: GroupComparison) -> Section:
    """The answer in words and the error estimates."""
    sizes = ", ".join(f"{k} ({v})" for k, v in result.sizes.items())
    rows = []
    for name, e in result.estimates.items():
        span = "none valid" if e.interval is None else f"{100 * e.interval.low:.0f}% to {100 * e.interval.high:.0f}%"
        rows.append([name, TableCell(f"{100 * e.value:.1f}%", e.value), span, str(e.target)])
    text = (
        f"Groups of {result.group}: {sizes}. The classifier sees the logarithms of rates and pools. The p-value is the share of "
        f"{result.permutations} permutations of the labels (and the study itself) whose error by {result.decided_by} is as small or smaller."
    )
    blocks: list[Block] = [Text(result.sentence(), lead=True), Text(text)]
    blocks.append(
        Table(
            ["method", "error", "95% interval", "error of"],
            rows,
            f"Naming the largest group errs in {100 * result.chance:.0f}%.",
        )
    )
    return Section("answer", "The answer", blocks)


@section(GroupComparison, 20)
def features(result: GroupComparison) -> Section:
    """Every rate and pool by itself."""
    groups = list(result.sizes)
    rows = [[f.name, *(f.means[g] for g in groups), f.statistic, f.p_value, f.adjusted] for f in result.features]
    columns = ["feature", *(f"mean {g}" for g in groups), "statistic", "p", "adjusted p"]
    caption = "Geometric means; Welch's t of the logarithms (F for more than two groups); p by permutation, adjusted by the largest statistic. A small p says that the groups differ, in their means or, if a small group is much more spread than a large one, in that."
    found = picture(result, "groups")
    return Section(
        "features", "Which rates and pools differ", [*([found] if found else []), Table(columns, rows, caption)]
    )


@section(GroupComparison, 30)
def fits_behind(result: GroupComparison) -> Section | None:
    """The fits behind the comparison."""
    return subjects(result.study)


@section(GroupComparison, 40)
def each(result: GroupComparison) -> Section | None:
    """Every subject."""
    return each_subject(result.study)


@section(GroupComparison, 50)
def notes(result: GroupComparison) -> Section:
    """Coded remarks."""
    return Section("notes", "Notes", [Notes(merge_notes(result.notes, result.study.notes))])
