"""Report sections of the Nadeau-Bengio experiment."""

from __future__ import annotations

from unseen.reproduction.nadeau_bengio.experiment import NadeauBengioResult
from unseen.show.sections import Section, Text, picture, section, table_of

__all__: list[str] = []


@section(NadeauBengioResult, 12)
def power(result: NadeauBengioResult) -> Section | None:
    """Return the power curves."""
    names = [f"power-{p}-{t}" for p in ("letter", "synthetic") for t in ("error", "difference")]
    made = [p for p in (picture(result, name) for name in names) if p is not None]
    return Section("power", "Power", made) if made else None


@section(NadeauBengioResult, 13)
def sizes(result: NadeauBengioResult) -> Section:
    """Return the sizes, one row per statistic."""
    keys = list(dict.fromkeys((r["problem"], r["target"]) for r in result.sizes))
    names = list(dict.fromkeys(r["statistic"] for r in result.sizes))
    found = {(r["problem"], r["target"], r["statistic"]): r["size"] for r in result.sizes}
    rows = [{"statistic": name, **{" ".join(key): found[(*key, name)] for key in keys}} for name in names]
    text = "Share of data sets in which a true hypothesis is rejected at the nominal 10%."
    return Section("sizes", "Sizes", [Text(text), table_of(rows)])


@section(NadeauBengioResult, 14)
def variance(result: NadeauBengioResult) -> Section:
    """Return lemma 1's ratios and the measured ones."""
    text = (
        "Variance of the estimate over the mean of its variance estimate: above 1 the test is liberal. Predicted by lemma 1 "
        "from components estimated on half of the data sets, measured on the other half."
    )
    names = ("setting", "target", "statistic", "predicted", "measured", "s0", "s1", "s2", "s3")
    return Section(
        "variance", "Variance ratios", [Text(text), table_of([{n: r[n] for n in names} for r in result.variance])]
    )


@section(NadeauBengioResult, 15)
def settings(result: NadeauBengioResult) -> Section:
    """Return size and power for several numbers of splits and halvings."""
    text = "Synthetic difference: size, and power against a hypothesis 2.5 spreads from the truth."
    return Section("settings", "How many splits and halvings", [Text(text), table_of(result.settings)])
