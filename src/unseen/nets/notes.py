"""Codes of the notes on deep nets: what each means and what to do about it."""

from __future__ import annotations

from unseen.core.notes import NoteKind, declare_notes

__all__: list[str] = []

declare_notes(
    NoteKind(
        "N001",
        "sets without order",
        "With these hyper-parameters fixed all gaps tie, so no measure can be scored there. These sets are left out.",
    ),
    NoteKind(
        "N002",
        "few networks",
        "On small grids a random measure scores well above 0. Compare the score with its noise floor.",
    ),
    NoteKind(
        "N003",
        "gaps alike",
        "The gaps hardly differ by more than their sampling error. Use more test data or a wider grid.",
    ),
    NoteKind(
        "N004",
        "values left out",
        "Networks failed there. The whole value of the hyper-parameter is left out, so that the grid stays complete.",
    ),
    NoteKind("N005", "zoo unfinished", "Call `Zoo.train` again with the same folder to go on where it stopped."),
    NoteKind(
        "N006",
        "poorly trained network",
        "It does not fit its own training data, so measures of its gap mean little. Where the others fit theirs, a ranking puts it below them. Train it further or leave it out.",
    ),
    NoteKind("N007", "measure left out", "The measure does not apply to some networks. The note gives the reason."),
    NoteKind(
        "N008",
        "weights chosen",
        "The file holds more than one net's weights. Name others with state= (--state) if these are not the ones you want.",
    ),
    NoteKind(
        "N009",
        "options inferred",
        "How the net is made was read from file names or from the shapes of its weights. Name the options in manifest.json if they are wrong.",
    ),
    NoteKind("N010", "files left out", "They hold no weights that can be read. The note gives the reason."),
    NoteKind(
        "N011",
        "normalised by the net's own numbers",
        "The net's configuration names them. If it was trained on other values, say so: mean= and std= (--mean 0 --std 1 for none).",
    ),
    NoteKind(
        "N012",
        "kept within the time",
        "Fewer examples, draws or measures were taken. examples= (--examples) and draws= repeat it without the clock; more seconds take more.",
    ),
    NoteKind(
        "N020",
        "chains disagree",
        "The samples of the posterior have not settled. Use more burn-in, more steps or a smaller step.",
    ),
    NoteKind("N021", "memory was short", "Batches were halved until they fitted. The numbers are the same."),
    NoteKind(
        "N022",
        "copies trained by default",
        "Copies of the net were trained with the defaults of fit_many. Give training= as the net itself was trained.",
    ),
    NoteKind(
        "N023",
        "outputs and labels at odds",
        "Always naming the largest class would get more training rows right. Give classes= (--classes) in the order of the outputs.",
    ),
    NoteKind(
        "N024",
        "no temperature",
        "The rows that were left out do not determine it: all right, or none better than chance. Give more rows with validation= (--validation).",
    ),
    NoteKind(
        "N025",
        "copies fit otherwise",
        "The copies' training error is not the net's: they were trained in another way, and neither kappa nor the interval can be trusted. Give training= (--train) as the net itself was trained.",
    ),
    NoteKind(
        "N026",
        "estimate outside its interval",
        "No kappa that was tried makes the bolstered error of the copies what they showed on the rows they left out. Trust the interval.",
    ),
)
