"""Writes the tables of methods, designs, measures, data sets and public names that the pages include."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import unseen
from unseen.assessment.listing import reference_of
from unseen.core.registry import classes_in, describe, options_of
from unseen.datasets import bundled


def _table(head: list[str], rows: list[list[str]]) -> str:
    clean = [[str(c).replace("|", "\\|").replace("\n", " ") for c in row] for row in rows]
    return "\n".join(
        ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(r) + " |" for r in clean)]
    )


def _paper(cls: type) -> str:
    """Return what a method is: the first line of its file, or of its class if the file holds several methods."""
    module = importlib.import_module(cls.__module__)
    if hasattr(module, "FAMILY"):
        return f"{describe(cls).removesuffix('.')} {_citation(cls)}.".replace(" .", ".")
    return (module.__doc__ or "").strip().split("\n")[0]


def _citation(cls: type) -> str:
    """Return authors and year of the first reference of a class, such as "(Stone, 1974)"; nothing without one."""
    found = re.match(r"(.+?) \((\d{4})\)", reference_of(cls))
    names = re.findall(r"([\w'-]+), [A-Z]\.", found[1]) if found else []
    if not names:
        return ""
    authors = " & ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return f"({authors}, {found[2]})"


def methods() -> str:
    """Return one table per kind of method."""
    rows = []
    for kind in ("estimators", "resubstitution"):
        for name, cls in classes_in(kind).items():
            designs = ", ".join(sorted(cls.designs)) or ("recipe" if cls.kind == "recipe" else "none")
            target = str(cls.target)
            marks = " (not recommended)" if cls.not_recommended else ""
            rows.append([f"`{name}`{marks}", _paper(cls), target, designs, ", ".join(options_of(cls)) or "–"])
    tests = [[f"`{name}`", _paper(cls)] for name, cls in classes_in("significance").items()]
    text = _table(["method", "what it is", "error of", "designs", "options"], rows)
    return (
        f"{text}\n\n## Tests without an interval form\n\n{_table(['test', 'what it is'], tests)}\n" if tests else text
    )


def designs() -> str:
    """Return the table of designs."""
    rows = [
        [f"`{name}`", f"`{cls.__name__}`", _paper(cls), ", ".join(f"{k}={v!r}" for k, v in options_of(cls).items())]
        for name, cls in classes_in("designs").items()
    ]
    return _table(["design", "class", "what it is", "options and defaults"], rows)


def measures() -> str:
    """Return the table of losses and measures."""
    rows = [
        [
            f"`{name}`",
            describe(cls),
            cls.task,
            f"{cls.range[0]:g} to {cls.range[1]:g}",
            cls.direction,
            _neutral(cls),
            "yes" if cls.kind == "loss" else "no",
        ]
        for name, cls in classes_in("measures").items()
    ]
    return _table(
        ["measure", "what it is", "task", "range", "better", "guessing gives", "loss of single examples"], rows
    )


def net_measures() -> str:
    """Return the table of measures of generalization of trained networks."""
    from unseen.nets import known_measures

    rows = [
        [
            f"`{name}`",
            _paper(cls),
            cls.cost,
            ", ".join(sorted(cls.needs)) or "–",
            f"{cls.range[0]:g} to {cls.range[1]:g}",
            str(cls.default_draws) if cls.default_draws else "none",
            ", ".join(f"{k}={v!r}" for k, v in options_of(cls).items()) or "–",
        ]
        for name, cls in known_measures().items()
    ]
    return _table(["measure", "what it is", "cost", "needs", "range", "draws", "options and defaults"], rows)


def _neutral(cls: type) -> str:
    return "depends" if cls.neutral is None else f"{cls.neutral:.4g}"


def data() -> str:
    """Return the table of bundled data sets."""
    return _table(["name", "what it is"], [[f"`{n}`", t] for n, t in bundled.describe().items()])


def models() -> str:
    """Return the table of named models."""
    rows = importlib.import_module("unseen.models.named").describe()
    return _table(
        ["name", "tasks", "what it is"], [[f"`{r['name']}`", ", ".join(r["tasks"]), r["description"]] for r in rows]
    )


def commands() -> str:
    """Return the table of commands, from the command line itself."""
    from unseen.cli import app as module

    module._attach_commands()
    rows = [[c.name or c.callback.__name__, _first_line(c.callback)] for c in module.app.registered_commands]
    for group in module.app.registered_groups:
        rows += [[f"{group.name} {c.name}", _first_line(c.callback)] for c in group.typer_instance.registered_commands]
    return _table(["command", "what it does"], [[f"`unseen {name}`", text] for name, text in sorted(rows)])


def options() -> str:
    """Return the options of every command, a heading and a table each, from the command line itself."""
    from typer.main import get_command

    from unseen.cli import app as module

    module._attach_commands()
    parts = [_options_of(name, command) for name, command in sorted(_leaves(get_command(module.app), ("unseen",)))]
    return "\n\n".join(parts)


def _leaves(command: object, names: tuple[str, ...]) -> list[tuple[str, object]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        return [(" ".join(names), command)]
    return [leaf for name, one in inner.items() for leaf in _leaves(one, (*names, name))]


def _options_of(name: str, command: object) -> str:
    rows = []
    for one in command.params:
        if getattr(one, "hidden", False) or one.name == "help":
            continue
        flags = (
            ", ".join(f"`{flag}`" for flag in (*one.opts, *one.secondary_opts))
            if one.opts[0][0] == "-"
            else f"`{one.name.upper()}`"
        )
        default = (
            one.default if isinstance(one.default, (str, int, float)) and not isinstance(one.default, bool) else ""
        )
        rows.append([flags, (getattr(one, "help", "") or "").strip(), f"`{default}`" if default != "" else ""])
    about = _first_line(command.callback)
    return f"## {name}\n\n{about}\n\n{_table(['option', 'what it does', 'default'], rows)}"


def _first_line(function: object) -> str:
    return (function.__doc__ or "").strip().split("\n")[0]


# what the columns of frames mean; the page refuses a column without an entry
COLUMNS = {
    "a, b": "the two models of a pair; differences are those of a less b",
    "agreement": "chance that two models trained on different splits say the same of the unit",
    "avr, tavr, med": "mean, mean without 5% at each end, and median of the error over splits",
    "column": "name of a column, or of columns that are permuted together",
    "conf.low, conf.high, conf.level": "limits and level of the interval, in R's names (`frame(tidy=True)`)",
    "difference": "error of a less that of b; negative favours a",
    "error": "mean loss of the unit over the splits that tested it; for classes the share that missed it",
    "estimate": "the value",
    "expected_rms, worst_rms": "how far the method was from the true error on a typical data set like this one, and on the worst (a study)",
    "fits": "models fitted for it",
    "importance": "by how much the loss on rows not trained on grows if the column is permuted",
    "level": "level of the interval",
    "lower, upper": "limits of the interval; empty if no valid one exists",
    "matters": "whether the lower limit is above 0",
    "mc_error": "error of the integration alone, no standard error",
    "method": "id of the method ([methods](methods.md))",
    "mean_rank, mean_error": "mean over data sets of the place among the models, and of the error",
    "measure": "id of the measure",
    "model": "name of the model",
    "n": "independent units, rows or groups; in slices the cases, with `units` beside them",
    "note": "coded remark on statistical weakness ([notes](notes.md))",
    "p, p_adjusted": "p-value of the pair, alone and adjusted for the number of pairs",
    "p_against_best": "p-value of the model against the one with the best mean rank",
    "rope": "decision about the region of practical equivalence",
    "rows": "rows of the unit",
    "scale": "the error itself, or log(1 + error)",
    "seconds": "time it took",
    "share_of_splits": "share of splits on which a has the smaller error: about these splits, not about new data",
    "slice": "value, or range of values, of the column that the cases are sliced by",
    "space, integration": "where kernels live, and how their integrals were made",
    "std, mad, iqr": "spread of the error over splits: standard deviation, median deviation, interquartile range",
    "statistic": "statistic of the test",
    "std_error, std.error": "standard error over samples; empty if unknown",
    "q05, q25, q75, q95": "fractiles of the error over splits",
    "target": "what the number is the error of: this model, or the algorithm at a training size",
    "term": "measure, or id of a loss",
    "test": "id of the test",
    "tested": "splits that tested the unit",
    "unit": "number of the unit",
    "units": "independent units in the slice",
    "verdict": "in words",
}


def columns() -> str:
    """Return what the columns of every frame mean, for frames of small runs."""
    X, y = unseen.datasets.load("iris").xy
    quick = {"random_state": 0, "effort": "quick"}
    assessed, seen = unseen.assess("lda", X, y, **quick), unseen.diagnose("lda", X, y, **quick)
    compared = unseen.compare("lda", "naive-bayes", X, y, test="corrected-t", random_state=0)
    frames = {
        "unseen.assess(...).frame()": assessed.frame().columns,
        "unseen.assess(...).frame(tidy=True)": assessed.frame(tidy=True).columns,
        "unseen.measure(...).frame()": unseen.measure(y, y, random_state=0).frame().columns,
        "unseen.compare(...).frame()": compared.frame().columns,
        "unseen.distribution(...).frame()": unseen.distribution("lda", X, y, n_splits=5, random_state=0)
        .frame()
        .columns,
        "unseen.rank(...).frame()": unseen.rank({"a": [0.1, 0.2, 0.1], "b": [0.2, 0.3, 0.3]}).frame().columns,
        "unseen.assess(..., by=...).slices.frame()": unseen.assess("lda", X, y, by={"length:2": X[:, 0]}, **quick)
        .slices.frame()
        .columns,
        "unseen.diagnose(...).frame()": seen.frame().columns,
        "unseen.diagnose(...).importance.rows()": seen.importance.rows()[0],
    }
    known = {name for key in COLUMNS for name in key.split(", ")}
    missing = {f"{frame}: {name}" for frame, names in frames.items() for name in names if name not in known}
    if missing:
        raise ValueError(f"columns without a meaning in docs/make_tables.py: {', '.join(sorted(missing))}")
    rows = [[", ".join(f"`{name}`" for name in key.split(", ")), text] for key, text in sorted(COLUMNS.items())]
    which = [[f"`{frame}`", ", ".join(f"`{name}`" for name in names)] for frame, names in frames.items()]
    return f"{_table(['column', 'meaning'], rows)}\n\n## Which frame has which\n\n{_table(['frame', 'columns'], which)}"


# what belongs beside a public function: others, and its guide
SEE_ALSO = {
    "assess": ("estimate, compare, diagnose, measure", "quickstart"),
    "estimate": ("assess, run, load", "quickstart"),
    "run": ("estimate, compare, load", "quickstart"),
    "load": ("run, estimate", "quickstart"),
    "compare": ("rank, predictions, power", "comparing"),
    "rank": ("compare", "comparing"),
    "measure": ("predictions, assess", "measuring"),
    "predictions": ("measure, disagree, compare", "prediction-files"),
    "disagree": ("predictions, power", "prediction-files"),
    "diagnose": ("assess, permutation_test, training_variance", "diagnosing"),
    "permutation_test": ("diagnose, assess", "diagnosing"),
    "preprocessing_leak": ("assess, BackwardElimination", "diagnosing"),
    "monitor": ("QuitWhenAhead, training_variance", "diagnosing"),
    "training_variance": ("variance_components, monitor", "diagnosing"),
    "variance_components": ("training_variance, optimism_over_sets", "diagnosing"),
    "optimism_over_sets": ("variance_components, diagnose", "diagnosing"),
    "jackknife": ("diagnose", "diagnosing"),
    "distribution": ("assess, optimal_fraction", "distribution"),
    "optimal_fraction": ("distribution, plan_test_size", "distribution"),
    "power": ("plan_test_size, compare", "planning"),
    "plan_test_size": ("power, optimal_fraction", "planning"),
    "resubstitute": ("open_model, estimate", "resubstitution"),
    "open_model": ("resubstitute, assess", "model-files"),
    "Study": ("assess, compare", "studies"),
    "UtilityThreshold": ("measure, assess", "measuring"),
}


def _see_also(name: str) -> list[str]:
    if name not in SEE_ALSO:
        return []
    others, guide = SEE_ALSO[name]
    links = ", ".join(f":py:obj:`unseen.{other}`" for other in others.split(", "))
    return ["", f"   **See also** {links}; the guide :doc:`/guides/{guide}`.", ""]


def packages() -> list[str]:
    """Return every package with public names, in the order of the alphabet."""
    root = Path(unseen.__file__).parent
    return sorted(".".join(("unseen", *p.parent.relative_to(root).parts)) for p in root.glob("*/**/__init__.pyi"))


def api() -> str:
    """Return autodoc directives for every public name, those of the packages under headings of their own."""
    return "\n".join([_directives("unseen"), *(f"## {name}\n\n{_directives(name)}" for name in packages())])


def _directives(package: str) -> str:
    module = importlib.import_module(package)
    parts = ["```{eval-rst}"]
    for name in sorted(module.__all__):
        if name.startswith("__"):
            continue
        value = getattr(module, name)
        also = _see_also(name) if package == "unseen" else []
        again = ["   :no-index:"] if package != "unseen" and getattr(unseen, name, None) is value else []
        if inspect.isclass(value):
            parts += [f".. autoclass:: {package}.{name}", "   :members:", *again, *also, ""]
        elif callable(value):
            parts += [f".. autofunction:: {package}.{name}", *again, *also, ""]
        elif not inspect.ismodule(value):
            shown = [f"   :value: {value!r}"] if isinstance(value, (str, int, float)) else []
            parts += [f".. data:: {package}.{name}", *shown, ""]
    return "\n".join([*parts, "```", ""])


RESULTS = Path(__file__).parents[1] / "benchmarks" / "RESULTS.md"


def _measured() -> dict[str, dict[str, str]]:
    """Return the recorded benchmarks by name, each with its cells by the names of their columns."""
    head: list[str] = []
    found = {}
    for line in RESULTS.read_text().splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if not line.startswith("|"):
            head = []
        elif not head:
            head = cells
        else:
            found[cells[0]] = dict(zip(head, cells))
    return found


def _found(pattern: str, text: str) -> list[float]:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"benchmarks/RESULTS.md says {text!r}; {pattern!r} was expected.")
    return [float(group) for group in match.groups()]


def _driver() -> tuple[float, float, list[float]]:
    """Return milliseconds of driver and scheduler a chunk and a task, and the workers kept busy with tasks of 5, 50 and 500 ms."""
    remark = _measured()["study, driver and scheduler per chunk"]["remark"]
    chunk, task, *workers = _found(
        r"([\d.]+) ms a chunk, ([\d.]+) ms a task; .* keep (\d+), (\d+), (\d+) workers", remark
    )
    return chunk, task, workers


def scale_costs() -> str:
    """Return what a study costs beyond its fits."""
    found, cpu = _measured(), "ours CPU (s)"
    claim = _found(
        r"([\d.]+) ms of processor, ([\d.]+) ms", found["store, claim and finish, per task in chunks of 50"]["remark"]
    )
    (again,) = _found(r"again ([\d.]+) s", found["store, moments of 1e6 results"]["remark"])
    (plain,) = _found(r"([\d.]+) s without", found["study, summary of 1e6 results"]["remark"])
    tasks, fits = (
        found["driver, 1,600 tasks of 5 ms on two dask workers"],
        found["dask, 1000 fits of 5 ms on 2 workers"],
    )
    chunk, task, _ = _driver()
    rows = [
        ["adding a study to an SQLite store that has it already", f"{again / 1000:.4f} ms a task"],
        [
            "claiming tasks and storing their results, in chunks of 50, each chunk synced to disk",
            f"{claim[0]:g} ms of processor a task, {claim[1]:g} ms on the clock",
        ],
        [
            "the whole driver, tasks that cost nothing, in this process",
            f"{float(found['driver, memory'][cpu]) / 100:.3f} ms of processor a task",
        ],
        ["driver and dask scheduler together", f"{chunk} ms a chunk and {task:g} ms a task"],
        ["1,600 tasks of 5 ms on two workers", f"dask {tasks['ours wall (s)']} s, loky {tasks['peer wall (s)']} s"],
        [
            "1,000 fits of 5 ms of `unseen.run` on two workers",
            f"dask {fits['ours wall (s)']} s, loky {fits['peer wall (s)']} s",
        ],
        [
            "moments of a million results in the database",
            f"{found['store, moments of 1e6 results'][cpu]} s; "
            f"reading all their columns {found['store, columns of 1e6 results'][cpu]} s",
        ],
        [
            "summary of a million results, 900 paired tests included",
            f"{plain:g} s once they are read, or {found['study, summary of 1e6 results'][cpu]} s "
            "if every result brings a target of its own",
        ],
    ]
    return _table(["what", "measured"], rows)


def scale_workers() -> str:
    """Return how many workers one driver feeds."""
    chunk, task, workers = _driver()
    rows = [
        [f"{t} ms", f"{(chunk + task * 1000 / t) / 10:.1f}", f"{count:.0f}"] for t, count in zip((5, 50, 500), workers)
    ]
    head = ["a task takes", "driver and scheduler, of a core, at 100 workers", "workers one driver keeps busy"]
    return (
        "The driver cuts the tasks into chunks of about one second of work and keeps two chunks per worker under way, so no worker waits for the network. "
        "With W workers and tasks of t milliseconds, a second of the cluster holds W chunks of 1000/t tasks, for which the driver and the scheduler need "
        f"W ({chunk} + {task:g} x 1000/t) milliseconds of processor. They keep up as long as that is less than a second:\n\n{_table(head, rows)}"
    )


def scale_example() -> str:
    """Return what the driver of a reproduction would need."""
    chunk, task, _ = _driver()
    seconds = (600 * chunk + 48_000 * task) / 1000
    return (
        "The `ghane-synthetic` reproduction is an example: 6,000 replications of about 0.1 s, 48,000 results. One hundred workers would compute it in 6 seconds; "
        f"the driver needs 600 x {chunk} ms + 48,000 x {task:g} ms = {seconds:.1f} seconds for it, so more workers would not help."
    )


def write_tables(folder: Path) -> None:
    """Write every table to its file, leaving files that are up to date alone."""
    folder.mkdir(exist_ok=True)
    for make in (
        methods,
        designs,
        measures,
        net_measures,
        data,
        models,
        commands,
        options,
        columns,
        api,
        scale_costs,
        scale_workers,
        scale_example,
    ):
        path, text = folder / f"{make.__name__}.md", make() + "\n"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
