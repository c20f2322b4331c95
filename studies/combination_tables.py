"""From the runs of `choose_combination` to weights, tables and the evidence that is shipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from studies import combination_bounded as bounded
from studies.combination_cells import (
    DIRECT,
    MAIN_SIZE,
    SINGLES,
    Cells,
    by_rule,
    held_out,
    load,
    members_of,
    rounded,
    weights_of,
)
from studies.combination_evidence import FAMILY_OF_RULE, HEAD, auto_by_row, by_size_of_error, evidence_rows, markdown
from studies.combination_large import large_rows
from unseen.core.columns import pack_columns
from unseen.core.summary import Summary, summarize
from unseen.estimators.combined.evidence import recipe_weights

HERE = Path(__file__).parent
EVIDENCE = HERE.parent / "src" / "unseen" / "estimators" / "combined" / "evidence.xz"
WEIGHTS = EVIDENCE.with_name("weights.csv")
TABLES = HERE.parent / "docs" / "tables"
SOURCE = "studies/choose_combination.py"
LOOKED_AT = 8  # draws of each cell that were there when the form of `combined` was found
EDGES = (0.0, 0.05, 0.1, 0.15, 0.25, 1.01)


def shipped(cells: Cells) -> dict[str, dict[str, float]]:
    """Return the weights of `auto-resub` to be shipped, by family of rules and for any other rule, fitted on everything."""
    names = members_of(cells)
    own = by_rule(cells, names)
    table = {FAMILY_OF_RULE[rule]: own[rule] for rule in FAMILY_OF_RULE} | {"any": weights_of(cells, names)}
    return {family: dict(zip(names, (float(v) for v in rounded(w)))) for family, w in table.items()}


def shipped_combined(given: bounded.Samples) -> tuple[float, dict[str, dict[str, float]]]:
    """Return bound and weights of `combined` to be shipped, fitted on everything; named as the package names them."""
    fit = bounded.fitted(given, *bounded.settled(given))
    own = {FAMILY_OF_RULE.get(rule, rule): weights for rule, weights in fit.weights.items()}
    return fit.bound, {
        family: {name: round(float(w), 2) for name, w in zip(bounded.NAMES, own[family])}
        for family in (*FAMILY_OF_RULE.values(), "any")
    }


def by_cell(cells: Cells, given: bounded.Samples, value: np.ndarray) -> np.ndarray:
    """Return RMS and bias in each cell of estimates of single samples."""
    deviation, label = value - given.truth, given.cell
    found = []
    for name in cells.name:
        own = deviation[label == name]
        found.append((np.sqrt(np.mean(own**2)), own.mean()))
    return np.array(found)


def summaries(rows: list[dict[str, str]], cells: Cells) -> dict[str, Summary]:
    """Return bias, deviation variance and RMS of the single estimators over the rows of some cells."""
    names = set(cells.name)
    kept = [r for r in rows if f"{r['set']} {r['rule']} {r['n']}" in names]
    strata = [f"{r['set']} {r['rule']}" for r in kept]
    truth = [float(r["truth"]) for r in kept]
    return {c: summarize([float(r[c]) for r in kept], truth, c, strata=strata) for c in SINGLES}


def grouped(found: Mapping[str, np.ndarray], label: np.ndarray, order: Sequence[object]) -> list[list[str]]:
    """Return the mean RMS of every estimator within each group of cells."""
    return [[name, *(f"{rms[label == g].mean():.3f}" for g in order)] for name, rms in found.items()]


def pooled(found: Mapping[str, np.ndarray], label: np.ndarray, order: Sequence[object]) -> list[list[str]]:
    """Return the root of the mean squared RMS within each group, which also serves where cells have single draws."""
    return [[name, *(f"{np.sqrt(np.mean(rms[label == g] ** 2)):.3f}" for g in order)] for name, rms in found.items()]


def write_tables() -> None:
    """Write the tables of the documentation and the shipped evidence, and the recipes' weights."""
    rows, cells = load()
    given = bounded.samples(rows)
    value = bounded.held_out(given, given)
    combined = by_cell(cells, given, value)
    at_main = cells.n == MAIN_SIZE
    main, fitted_on = cells.where(at_main), cells.comparable()
    nested = {"combined": combined[at_main], "auto-resub": held_out(fitted_on, main)}
    found = {name: main.rms([name], np.ones(1)) for name in SINGLES} | {r: both[:, 0] for r, both in nested.items()}
    real = {name: rms[main.real] for name, rms in found.items()}
    order = sorted(real, key=lambda name: real[name].mean())
    bias = {recipe: float(both[main.real, 1].mean()) for recipe, both in nested.items()}
    text = _main_tables(rows, main, {name: found[name] for name in order}, bias)
    auto, (bound, moved) = shipped(fitted_on), shipped_combined(given)
    by_size = {name: cells.rms([name], np.ones(1)) for name in SINGLES}
    by_size |= {"combined": combined[:, 0], "auto-resub": held_out(fitted_on, cells, tuple(auto["any"]))[:, 0]}
    sizes = sorted(np.unique(cells.n))
    size_rows = pooled({k: by_size[k][cells.real] for k in order}, cells.n[cells.real], sizes)
    text += [
        "Pooled RMS on real sets by sample size:",
        markdown(["estimator", *(f"n = {n}" for n in sizes)], size_rows),
    ]
    values = {name: np.array([float(r[name]) for r in rows]) for name in SINGLES}
    values |= {"combined": value, "auto-resub": auto_by_row(rows, given, fitted_on, tuple(auto["any"]))}
    levels = _by_level(values, given)
    TABLES.mkdir(exist_ok=True)
    (TABLES / "small_samples_levels.md").write_text("\n\n".join(levels) + "\n")
    (TABLES / "small_samples.md").write_text("\n\n".join(text) + "\n")
    group = main.group[main.real]
    gains = [gain_over(real, "combined", SINGLES, group), gain_over(real, "auto-resub", DIRECT, group)]
    combination = _combination_table(
        [*gains, *_by_draws(rows, given, value)], bound, {"combined": moved, "auto-resub": auto}
    )
    (TABLES / "combination.md").write_text(combination)
    large = large_rows(given, fitted_on, tuple(auto["any"]))
    _ship([*evidence_rows(rows, given, values), *large], bound, {"combined": moved, "auto-resub": auto})
    print("\n\n".join([*text, *levels, combination]))


def _by_level(values: Mapping[str, np.ndarray], given: bounded.Samples) -> list[str]:
    """Return what the estimators are worth where errors are rare or frequent, by what can be seen and by what cannot."""
    shown = {
        name: values[name] for name in ("combined", "632plus", "bootstrap-zero", "632", "kfold", "auto-resub", "resub")
    }
    names = ["below 5%", "5 to 10%", "10 to 15%", "15 to 25%", "25% or more"]
    sorted_by = [("`combined`", values["combined"], n) for n in (MAIN_SIZE, 20, 100)]
    sorted_by += [(".632+", values["632plus"], MAIN_SIZE), ("the true error", given.truth, MAIN_SIZE)]
    out = []
    for title, by, n in sorted_by:
        lines = by_size_of_error(given, shown, np.where(given.n == n, by, np.nan), EDGES)
        out += [f"Pooled RMS on real sets, n = {n}, by {title}:", markdown(["estimator", *names], lines)]
    return out


def write_evidence() -> None:
    """Write the shipped evidence alone; the weights of the recipes stay as they are."""
    rows, cells = load()
    given, fitted_on = bounded.samples(rows), cells.comparable()
    members = tuple(recipe_weights("auto-resub")["any"])
    values = {name: np.array([float(r[name]) for r in rows]) for name in SINGLES}
    values |= {"combined": bounded.held_out(given, given), "auto-resub": auto_by_row(rows, given, fitted_on, members)}
    _ship_evidence([*evidence_rows(rows, given, values), *large_rows(given, fitted_on, members)])


def _ship_evidence(evidence: Sequence[str]) -> None:
    head = [f"# Deviation of estimators from the true error, recipes on held-out data sets; {SOURCE}", ",".join(HEAD)]
    EVIDENCE.write_bytes(pack_columns("\n".join([*head, *evidence]) + "\n"))


def _ship(evidence: Sequence[str], bound: float, weights: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Write what the package reads."""
    _ship_evidence(evidence)
    lines = [f"{r},{f},{m},{w:g}" for r, table in weights.items() for f, own in table.items() for m, w in own.items()]
    head = [f"# Weights of recipes by family of rules; {SOURCE}", "recipe,family,method,weight"]
    WEIGHTS.write_text("\n".join([*head, f"combined,any,bound,{bound:g}", *lines]) + "\n")


def gain_over(
    rms: Mapping[str, np.ndarray], name: str, rivals: Sequence[str], group: np.ndarray, label: str = ""
) -> list[str]:
    """Return how far an estimator is below the best of others, with its standard error over families."""
    best = min(rivals, key=lambda one: rms[one].mean())
    gain = (rms[best] - rms[name]) / rms[best].mean()
    shown = f"{100 * gain.mean():.1f}% ({100 * bounded.error_over_families(gain, group):.1f}%)"
    return [label or name, f"{rms[name].mean():.4f}", best, f"{rms[best].mean():.4f}", shown]


def _by_draws(rows: list[dict[str, str]], given: bounded.Samples, value: np.ndarray) -> list[list[str]]:
    """Return the gain of `combined` over the draws that had been looked at when its form was found, and over the others."""
    lines = []
    for label, inside in (("looked at", given.draw < LOOKED_AT), ("not looked at", given.draw >= LOOKED_AT)):
        own = np.flatnonzero(given.judged & inside)
        cell, truth = given.cell[own], given.truth[own]
        columns = {c: np.array([float(rows[k][c]) for k in own]) for c in SINGLES} | {"combined": value[own]}
        rms = {name: bounded.cell_rms(cell, column - truth)[1] for name, column in columns.items()}
        _, first = np.unique(cell, return_index=True)
        lines.append(gain_over(rms, "combined", SINGLES, given.group[own][first], f"combined, draws {label}"))
    return lines


def _main_tables(
    rows: list[dict[str, str]], main: Cells, found: Mapping[str, np.ndarray], bias: Mapping[str, float]
) -> list[str]:
    real = main.where(main.real)
    about = summaries(rows, real)
    lines = []
    for name, rms in found.items():
        own = rms[main.real]
        if name in about:
            s = about[name]
            lines.append(
                [name, f"{s.bias:+.3f}", f"{s.variance:.4f}", f"{s.rms:.4f} ({s.rms_error:.4f})", f"{own.mean():.4f}"]
            )
        else:
            pooled = float(np.mean(own**2))
            shown = [f"{bias[name]:+.3f}", f"{pooled - bias[name] ** 2:.4f}", f"{np.sqrt(pooled):.4f}"]
            lines.append([name, *shown, f"{own.mean():.4f}"])
    kinds = {"uci": "tables", "fd121": "tables", "genomics": "expression", "population": "simulated"}
    kind = np.array([kinds[s.split("/")[0]] for s in main.set])
    least, most = real.count.min(), real.count.max()
    draws = f"{least}" if least == most else f"{least} to {most}"
    size = (
        f"n = {MAIN_SIZE} rows drawn, true error on the rest: {len(np.unique(real.set))} real data sets of {len(np.unique(real.group))} "
        f"families, {len(np.unique(real.rule))} rules, {draws} draws of each, {real.count.sum()} samples in all."
    )
    rules = grouped({k: v[main.real] for k, v in found.items()}, real.rule, list(FAMILY_OF_RULE))
    return [
        size,
        markdown(
            ["estimator", "bias", "variance of the deviation", "pooled RMS (Monte-Carlo error)", "mean RMS"], lines
        ),
        "Mean RMS on real sets by rule:",
        markdown(["estimator", *FAMILY_OF_RULE], rules),
        "Mean RMS by kind of data:",
        markdown(
            ["estimator", *dict.fromkeys(kinds.values())], grouped(found, kind, list(dict.fromkeys(kinds.values())))
        ),
    ]


def _combination_table(
    gains: Sequence[Sequence[str]], bound: float, weights: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> str:
    head = ["recipe", "held-out mean RMS", "best single", "its mean RMS", "below it by (standard error over families)"]
    parts = [markdown(head, gains)]
    for recipe, table in weights.items():
        names = list(table["any"])
        lines = [[name, *(f"{own[name]:g}" for own in table.values())] for name in names]
        more = f", bound {bound:g} spreads" if recipe == "combined" else ""
        parts.append(f"Weights of `{recipe}`, by family of rules{more}:\n\n" + markdown(["part", *table], lines))
    return "\n\n".join(parts) + "\n"
