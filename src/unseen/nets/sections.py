"""Report sections of benches, rankings, scores and estimates of nets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unseen.nets.estimates.records import NetEstimate
from unseen.nets.estimates.temperature import Temperature
from unseen.nets.ranking.bench_record import Bench
from unseen.nets.ranking.measure_scores import MeasureScores
from unseen.nets.ranking.ranking_record import NetRanking
from unseen.show.sections import Block, Notes, Section, Table, TableCell, Text, picture, section
from unseen.show.text import RATES

__all__ = ["answer", "augmentations", "bench_answer", "ranking_answer"]


SHEETS = {
    "strong": "Strong augmentations of one image, from none to the strongest.",
    "weak": "Weak augmentations of the same image.",
    "fixed": "Each image as it is, through the Sobel filter, mirrored, and both.",
    "all": "Random combinations of all of them, from the mildest to the strongest.",
    "changes": "Each image as it is and under the seven changes of Always Generalize; below, what it costs when the predicted class changes.",
}


@section(Bench, 10)
def bench_answer(b: Bench) -> Section:
    """Return which measures can be trusted on this zoo, in words, and the figure of scores."""
    measures = [line for line in b.lines if not line.control]
    above = [line for line in measures if line.cmi > b.noise_floor]
    blocks: list[Block] = []
    if measures:
        best = measures[0]
        blocks.append(
            Text(
                f"{best.measure} says most about the gap: it scores {best.cmi:.1f} of 100, where one in twenty measures without information "
                f"passes {b.noise_floor:.1f}.{_best_of(best.adjusted, len(measures))}",
                lead=True,
            )
        )
    networks = f"on {len(b.gap)} networks of" if len(b.gap) else "on"
    blocks.append(
        Text(f"{len(above)} of {len(measures)} measures are above the noise floor, {networks} the zoo {b.zoo}.")
    )
    wrong = [f"{line.measure} ({line.tau:.2f})" for line in above if line.tau < 0]
    if wrong:
        blocks.append(
            Text(
                f"Of these, {', '.join(wrong)} order{'s' if len(wrong) == 1 else ''} the networks the wrong way (tau below 0): the score "
                "is nearly blind to direction."
            )
        )
    beaten = [line.measure for line in b.lines if line.control and measures and line.cmi >= measures[0].cmi]
    if beaten:
        blocks.append(Text(f"No measure beats the control{'s' if len(beaten) > 1 else ''} {', '.join(beaten)}."))
    made = picture(b, "scores")
    return Section(
        "answer",
        "Which measure can be trusted",
        [*blocks, *([made] if made is not None else []), *([Notes(b.notes)] if b.notes else [])],
    )


def _best_of(adjusted: float, count: int) -> str:
    """Return the p-value of the best measure, adjusted for their number, in words; nothing if it is not known."""
    return (
        f" It is the best of {count}: adjusted for that, p = {adjusted:.3g}."
        if count > 1 and adjusted == adjusted
        else ""
    )


@section(Bench, 20)
def bench_table(b: Bench) -> Section:
    """Return the table of all scores."""
    caption = (
        "CMI: as the PGDL competition's program scores, out of 100; honest: without pairs of a network with itself; p: by permutation, of this measure alone; adjusted: for looking at all measures (controls are looked at by themselves); tau: Kendall's; granulated: mean over "
        "hyper-parameters, the others fixed; worst: largest share of wrongly ordered pairs over changes of one hyper-parameter; seconds: median per network."
    )
    columns = ["measure", "CMI", "honest", "p", "adjusted p", "tau", "granulated", "worst", "where", "seconds"]
    rows = [
        [
            TableCell(line.measure, line.measure, "control" if line.control else ""),
            line.cmi,
            line.cmi_honest,
            line.p_value,
            line.adjusted,
            line.tau,
            line.granulated_tau,
            line.robust_error,
            line.worst,
            line.seconds,
        ]
        for line in b.lines
    ]
    blocks: list[Block] = [Table(columns, rows, caption)]
    if b.left_out:
        blocks.append(Table(["left out", "why"], [[name, why] for name, why in b.left_out.items()]))
    return Section("table", "All measures", blocks)


@section(Bench, 30)
def bench_scatter(b: Bench) -> Section | None:
    """Return the gaps against the best measure."""
    made = picture(b, "scatter")
    return None if made is None else Section("scatter", "Gap against the best measure", [made])


@section(NetRanking, 40)
@section(Bench, 40)
def augmentations(r: Bench | NetRanking) -> Section | None:
    """Return what measures that augment images look at, with penalties; None if no measure does."""
    if not r.sheets:
        return None
    shown = {sheet.category for sheet in r.sheets}
    blocks: list[Block] = [
        Text("Measures that augment images change training images like these and see what the network makes of them.")
    ]
    if shown - {"changes"}:
        blocks.append(
            Text(
                "If no other penalty is named, the number below an image is the penalty of Weighted-Augment for misclassifying it: 9 if nothing was done to it, 0 if it was changed most."
            )
        )
    for sheet in r.sheets:
        made = picture(sheet, "augmentations")
        if made is not None:
            words = SHEETS.get(sheet.category, sheet.category)
            blocks.append(replace(made, caption=words, alt=f"{words} {made.alt}"))
    for category in ("all", "changes"):
        rows = [
            [row["row"], row["augmentation"], row["penalty"]]
            for sheet in r.sheets
            for row in sheet.rows()
            if sheet.category == category
        ]
        if rows:
            blocks.append(
                Table(["image", "augmentation", "penalty"], rows, f"What was done to the images: {SHEETS[category]}")
            )
    return Section("augmentations", "Augmented images and their penalties", blocks)


@section(NetRanking, 10)
def ranking_answer(r: NetRanking) -> Section:
    """Return which network to take, the expected test errors as a picture, and what augmentation does to the images."""
    blocks: list[Block] = [Text(_ranking_lead(r), lead=True), Text(_ranking_basis(r))]
    forest = picture(r, "expected-errors") or picture(r, "ranks")
    blocks += [forest] if forest is not None else []
    blocks += _thumbnails(r)
    return Section("answer", "The answer", [*blocks, *([Notes(r.notes)] if r.notes else [])])


def _ranking_lead(r: NetRanking) -> str:
    if r.expected is None:
        chance = float(r.probability[0, 0])
        return f"{r.best} is expected to generalize best of {len(r.names)} networks (probability {chance:.2f} over the measures' own draws)."
    e = r.expected
    return f"{r.advice} Its expected test error is {100 * e.error[0]:.1f}% ({100 * e.lowest[0]:.1f}% to {100 * e.highest[0]:.1f}%)."


def _ranking_basis(r: NetRanking) -> str:
    """Return what the ranking rests on, and what it does with networks that do not fit their training data."""
    about = f"By {', '.join(r.values)}, from the training data alone."
    if r.expected is None:
        return f"{about} What the measures miss is not part of that probability."
    about = f"{len(r.names)} networks ranked by expected test error, which follows the measures. {about} "
    count = sum(r.expected.apart)
    if count == len(r.names):
        about += "None has learned more than to name the largest class; they are ranked by their training error. "
    elif count:
        are = "One does not fit its" if count == 1 else f"{count} do not fit their"
        about += f"{are} training data as the others do: measures say little there, so {'it stands' if count == 1 else 'they stand'} below, by training error, and the others' numbers do not depend on {'it' if count == 1 else 'them'}. "
    elif any(one.code == "N006" for one in r.notes):
        about += "Some do not fit their training data, but too few do better to set them apart: they stand where the measures put them. "
    return about + f"Gaps around {100 * r.expected.level:.1f} points are expected here ({r.expected.source})."


def _thumbnails(r: NetRanking) -> list[Block]:
    """Return what augmentation does to one training image, for the first screen; the whole sheets follow further down."""
    order = {name: k for k, name in enumerate(("changes", "all", "fixed", "weak", "strong"))}
    sheet = min(r.sheets, key=lambda sheet: order.get(sheet.category, len(order)), default=None)
    if sheet is None or r.expected is None:
        return []
    strip = replace(
        sheet,
        images=sheet.images[:1],
        row_labels=sheet.row_labels[:1],
        labels=sheet.labels[:1],
        penalties=sheet.penalties[:1],
    )
    made = picture(strip, "augmentations")
    words = SHEETS.get(sheet.category, sheet.category)
    return [] if made is None else [replace(made, caption=words, alt=f"{words} {made.alt}")]


def _ranking_cell(row: dict[str, Any], name: str) -> Any:
    """Return a cell of the table: errors and shares in per cent, the interval as a second line."""
    value = row[name]
    if value is None:
        return None
    if name == "expected_error":
        ends = f"{100 * row['low']:.1f}% to {100 * row['high']:.1f}%"
        return TableCell(f"{100 * value:.1f}%", value, ends)
    if name == "apart":
        return "apart" if value else ""
    if name in ("gap", "train_accuracy"):
        return TableCell(f"{100 * value:.1f}%", value)
    return value


@section(NetRanking, 20)
def ranking_table(r: NetRanking) -> Section:
    """Return every network's measures, how far the measures agree, and the layers they used."""
    rows = r.rows()
    apart = any(row.get("apart") for row in rows)
    names = [name for name in rows[0] if name not in ("low", "high") and (apart or name != "apart")]
    words = ["fit" if name == "apart" else name.replace("_", " ") for name in names]
    caption = (
        "Expected error: along the score, below it the 95% interval of what differs between the networks. Score: mean place over the measures, "
        "0 for always first. Gap: expected error less training error. Smaller values of a measure stand for a smaller expected error."
    )
    blocks: list[Block] = [Table(words, [[_ranking_cell(row, name) for name in names] for row in rows], caption)]
    ranks = picture(r, "ranks")
    blocks += [ranks] if ranks is not None and r.expected is not None else []
    if r.agreement:
        pairs = [[a, b, tau] for (a, b), tau in r.agreement.items()]
        blocks.append(
            Table(["measure", "other measure", "Kendall's tau"], pairs, "1: the same order; -1: the reverse.")
        )
    layers: list[list[Any]] = []
    for measure in r.values:
        own = [
            (row["network"], " ".join(row["used"]) or "logits", _skipped_layers(row))
            for row in r.layers()
            if row["measure"] == measure
        ]
        same = len({row[1:] for row in own}) == 1
        layers += [["all", measure, *own[0][1:]]] if same else [[name, measure, used, out] for name, used, out in own]
    if layers:
        blocks.append(Table(["network", "measure", "layers used", "layers skipped"], layers))
    return Section("table", "All measures", blocks)


def _skipped_layers(row: dict[str, Any]) -> str:
    """Return layers that were skipped, those of one reason together."""
    reasons: dict[str, list[str]] = {}
    for name, why in row["skipped"].items():
        reasons.setdefault(why, []).append(name)
    return "; ".join(f"{' '.join(names)}: {why}" for why, names in reasons.items())


@section(MeasureScores, 10)
def answer(found: MeasureScores) -> Section:
    """Return which measure says most about the gap, in words, and the figure of scores."""
    best = found.best_first()[0]
    score, floor = found.scores[best], found.floors[best]
    above = sum(s.value > found.floors[name].quantile for name, s in found.scores.items())
    lead = f"{best} scores {100 * score.value:.1f} of 100, where one in twenty measures without information passes {100 * floor.quantile:.1f} (p = {floor.p_value:.3g})."
    if len(found.scores) > 1 and best in found.adjusted:
        lead += f" It is the best of {len(found.scores)}: adjusted for that, p = {found.adjusted[best]:.3g}."
    about = f"{above} of {len(found.scores)} measures are above their noise floor, on {score.n_networks} networks."
    made = picture(found, "scores")
    blocks: list[Block] = [Text(lead, lead=True), Text(about), *([made] if made is not None else [])]
    return Section("answer", "Which measure can be trusted", [*blocks, *([Notes(found.notes)] if found.notes else [])])


@section(MeasureScores, 20)
def table(found: MeasureScores) -> Section:
    """Return the table of all scores."""
    caption = (
        "CMI: as the PGDL competition's program scores, out of 100, with its interval over seeds if there are several; floor: what one in twenty measures without "
        "information exceeds; p: by permutation, of this measure alone; adjusted: for looking at all of them; tau: Kendall's correlation with the gap, below 0 if the measure points the wrong way; least with: the hyper-parameters held fixed when it scores least."
    )
    columns = ["measure", "CMI", "lower", "upper", "floor", "p", "adjusted p", "tau", "least with", "networks"]
    rows = [list(row.values()) for row in sorted(found.rows(), key=lambda row: -row["cmi"])]
    return Section("table", "All measures", [Table(columns, rows, caption)])


@section(MeasureScores, 30)
def scatter(found: MeasureScores) -> Section | None:
    """Return the gaps against the best measure."""
    made = picture(found, "scatter")
    return None if made is None else Section("scatter", "Gap against the best measure", [made])


@section(MeasureScores, 40)
def sets(found: MeasureScores) -> Section | None:
    """Return what the best measure scores for every set of hyper-parameters held fixed."""
    best = found.best_first()[0]
    made = picture(found.scores[best], "sets")
    return None if made is None else Section("sets", f"What {best} scores by what is held fixed", [made])


SHOWN = 10  # points in the table of those with the largest error


@section(NetEstimate, 20)
def measure(e: NetEstimate) -> Section:
    """Return the empirical measure in words, with the size of its kernels."""
    where = "in the space of the inputs" if e.space == "input" else f"behind the layer {e.space!r}"
    text = f"The error was integrated under {e.measure or 'the sample'} {where} ({e.integration})."
    if not e.n_fits:
        text += " Nothing was trained again."
    blocks: list[Block] = [Text(text)]
    if e.bandwidth is not None:
        rows: list[list[Any]] = [[k, float(size)] for k, size in enumerate(np.asarray(e.bandwidth))]
        caption = "Root mean variance of the kernels of each class over its coordinates, after scaling."
        blocks.append(Table(["number of the class", "standard deviation"], rows, caption))
    return Section("measure", "How it was measured", blocks)


@section(NetEstimate, 15)
def error_interval(e: NetEstimate) -> Section | None:
    """Return where the interval comes from, and how often such intervals held the error on zoos left out."""
    if e.interval is None:
        return None
    outside = "" if e.value in e.interval else f" {_outside(e)}"
    if e.n_fits:
        text = (
            f"The interval comes from {e.n_fits} copies trained on 80%: their errors on the rows they left out, the sampling of those rows, and how far a "
            "net's own error was from its copy's on the zoos. On eight zoos left out in turn, 95% intervals held the error of 93 to 100% of the nets."
        )
    else:
        text = (
            "The interval is as wide as this estimate was off on nets of other data: on nine zoos left out it held the error of every net, and was .30 to .91 wide. "
            "Copies trained on 80% make it much narrower: say how the net was trained."
        )
    return Section("interval", "Where the interval comes from", [Text(text + outside)])


def _outside(e: NetEstimate) -> str:
    """Return that an estimate lies outside its interval, with digits that show it."""
    low, high = tuple(e.interval or (e.value, e.value))
    end, side, name = (low, "below", "lower") if e.value < low else (high, "above", "upper")
    value, limit = (f"{100 * v:.3g}%" if e.loss in RATES else f"{v:.6g}" for v in (e.value, end))
    return f"The estimate itself, {value}, lies {side} the {name} end, {limit}: trust the interval."


@section(Temperature, 10)
def temperature_answer(found: Temperature) -> Section:
    """Return the temperature in words, the picture, and the numbers behind it."""
    return _temperature_section(found, found)


@section(NetEstimate, 30)
def temperature_of_estimate(e: NetEstimate) -> Section | None:
    """Return the temperature that came with the copies, or with rows of the user's own."""
    return None if e.temperature is None else _temperature_section(e.temperature, e)


def _temperature_section(found: Temperature, record: Temperature | NetEstimate) -> Section:
    blocks: list[Block] = [Text(str(found))]
    made = picture(record, "reliability")
    if made is not None:
        changes: list[list[Any]] = [
            ["expected calibration error", found.before.error, found.after.error],
            ["mean of -log p(true class)", found.loss_before, found.loss_after],
        ]
        blocks += [made, Table(["on rows not trained on", "as given", "at the temperature"], changes)]
    if record is found and found.notes:
        blocks.append(Notes(found.notes))
    return Section("temperature", "How far its probabilities can be trusted", blocks)


@section(NetEstimate, 60)
def hardest(e: NetEstimate) -> Section | None:
    """Return the training points that carry most of the error."""
    if e.contributions is None or not np.any(np.asarray(e.contributions) > 0):
        return None
    values = np.asarray(e.contributions, dtype=float)
    order = np.argsort(-values, kind="stable")[:SHOWN]
    share = float(values[order].sum() / values.sum())
    text = f"The error attributed to each training point; the {len(order)} listed carry {100 * share:.0f}% of the sum over all {len(values)}."
    rows: list[list[Any]] = [[int(k) + 1, float(values[k])] for k in order if values[k] > 0]
    return Section("hardest", "Hardest points", [Text(text), Table(["row, from 1", "error at this point"], rows)])
