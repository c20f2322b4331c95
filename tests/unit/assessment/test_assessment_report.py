"""The report of an assessment: what it says, and that nothing a user's file holds becomes markup."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import unseen
from unseen.core.errors import InputError
from unseen.core.notes import note
from unseen.show import build, fragment, render
from unseen.show.sections import Code, Notes, Picture, Table, TableCell, Text

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Tags with their attributes, and the text outside style and script."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.text = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text += data


@pytest.fixture(scope="module")
def pages(plain, regression, hostile, flaky):
    made = {"plain": plain, "regression": regression, "hostile": hostile, "flaky": flaky}
    return {name: render(a.title, build(a)) for name, a in made.items()}


def blocks(a, id):
    return next(s.blocks for s in build(a) if s.id == id)


@pytest.mark.slow
@pytest.mark.sample
def test_pages_are_small_and_well_nested(pages):
    for name, html in pages.items():
        assert len(html.encode()) < 1_000_000, name
        assert Page(html).open == [], name


def test_pages_ask_for_nothing(pages):
    for name, html in pages.items():
        page = Page(html)
        for tag, attributes in page.tags:
            for key in ("src", "href", "xlink:href", "data", "action", "srcset"):
                value = attributes.get(key)
                assert value is None or value.startswith("#") or value == "data:,", (name, tag, value)
        assert "@import" not in html
        assert not re.search(r"url\((?!#)", html)


def test_the_one_script_is_allowed_by_its_hash(pages):
    html = pages["plain"]
    scripts = re.findall(r"<script>(.*?)</script>", html, flags=re.S)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    policy = dict(next(a for t, a in Page(html).tags if a.get("http-equiv") == "Content-Security-Policy"))["content"]
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_what_the_user_wrote_is_text(pages, hostile):
    page = Page(pages["hostile"])
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert not [a for _, a in page.tags if any(key.startswith("on") for key in a)]
    for what in ("label 0", "target", "file", "model"):
        assert f"<script>alert('{what}')</script>" in page.text, what
    assert re.search(r"<script>alert\('id \d+'\)</script>", page.text)


def test_a_model_has_a_short_name_and_its_own_text_is_kept_below(pages, hostile):
    page = Page(pages["hostile"])
    heading = re.search(r"<h1>(.*?)</h1>", pages["hostile"], flags=re.S).group(1)
    assert heading == "Expected error of hostile"
    assert page.text.count(hostile.settings["estimator"]) == 1


def test_headings_links_and_ids(pages):
    for html in pages.values():
        page = Page(html)
        ids = [a["id"] for _, a in page.tags if "id" in a]
        assert len(ids) == len(set(ids))
        assert {a["href"][1:] for t, a in page.tags if t == "a"} <= set(ids)
        assert [t for t, _ in page.tags if t in ("h1", "h2", "h3")][:2] == ["h1", "h2"]
        assert sum(t == "h1" for t, _ in page.tags) == 1


def test_every_picture_has_a_label(pages):
    for html in pages.values():
        labels = [a.get("aria-label") for _, a in Page(html).tags if a.get("role") == "img"]
        assert len(labels) >= 5
        assert all(labels)


def test_the_answer_comes_first_in_plain_words(plain, undrawn):
    first = build(plain)[0]
    assert first.id == "headline"
    lead = next(b for b in first.blocks if isinstance(b, Text) and b.lead)
    assert lead.text == plain.sentence()
    assert any(isinstance(b, Picture) for b in first.blocks)
    text = " ".join(b.text for b in first.blocks if isinstance(b, Text))
    assert plain.verdict() in text
    assert plain.narrow() in text
    assert "blue (30), green (30), red (30)" in text


@pytest.mark.parametrize(
    ("low", "high", "word", "sentence"),
    [
        (0.1, 0.2, "better", "Better than guessing"),
        (0.1, 0.9, "not distinguishable", "and the interval reaches that"),
        (0.7, 0.9, "not distinguishable", "and may have 60.0% to 75.0%, which the interval reaches"),
        (0.8, 0.9, "worse", "Worse than guessing"),
    ],
)
def test_the_verdict_goes_by_the_interval_and_by_what_guessing_may_have(plain, low, high, word, sentence, undrawn):
    """Worse needs more: the class to guess is chosen on the same rows, and with balanced labels guessing looks .04 too good."""
    from unseen.core.estimate import Interval

    assert 0.6 < plain.baseline.value < 0.7
    known = replace(plain.baseline, interval=Interval(0.6, 0.75, 0.95))
    moved = replace(plain, headline=replace(plain.headline, interval=Interval(low, high, 0.95)), baseline=known)
    assert moved.against_guessing == word
    assert sentence in moved.verdict()
    assert moved.verdict() in [b.text for b in build(moved)[0].blocks if isinstance(b, Text)]


def test_the_interval_of_guessing_counts_rows_and_not_folds(plain):
    """Two of three balanced classes are missed in every fold, so that the folds show no spread; 90 rows do."""
    p, n, z = plain.baseline.value, 90, 1.959963984540054
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    assert list(plain.baseline.interval) == pytest.approx([centre - half, centre + half], abs=1e-12)


def test_guessing_has_no_interval_where_rows_are_no_independent_draws(cases):
    from sklearn.naive_bayes import GaussianNB

    X, code = cases
    a = unseen.assess(GaussianNB(), X, code, groups=np.arange(90) // 3, random_state=0, effort="quick")
    assert a.baseline.interval is None
    assert a.against_guessing == "better"


def test_the_table_of_estimates_has_every_method_once(plain, undrawn):
    table = next(b for b in blocks(plain, "estimates") if isinstance(b, Table))
    methods = [row[0].sort for row in table.rows]
    assert len(methods) == len(set(methods))
    assert set(methods) == {e.method for e in plain.estimates.values()} | {"guessing"}
    assert methods[0] == plain.headline.method
    by_method = {row[0].sort: dict(zip(table.columns, row)) for row in table.rows}
    row = by_method["leave-out"]
    assert row["error"].sort == plain.estimates["leave-out"].value
    assert row["trained on"].sort == plain.estimates["leave-out"].target.n_train
    assert row["trained on"].text == f"{row['trained on'].sort:.0f} rows"
    assert row["error of"] == "the algorithm"
    assert "agrees" not in table.columns
    kinds = [row[3] for row in table.rows]
    assert kinds == sorted(kinds, key=lambda kind: kind != "this model"), "one group after the other"
    assert "guessing" in methods
    assert by_method["resub"]["error of"] == "this model"
    assert by_method[plain.headline.method]["95% interval"].sort == plain.interval.low


def test_the_distribution_is_a_picture_without_the_table_of_the_distribution_command(regression, undrawn):
    made = blocks(regression, "distribution")
    assert not [b for b in made if isinstance(b, Table)]
    assert "log(1" not in str(build(regression))
    assert "tavr" not in str(build(regression))


def test_failed_fits_are_listed_with_their_reasons(flaky, pages, undrawn):
    table = next(b for b in blocks(flaky, "failures") if isinstance(b, Table))
    failed = {name: len(t.source[0].failures) for name, t in flaky.tables.items() if t.source[0].failures}
    assert {row[0]: row[1] for row in table.rows} == failed
    assert "<b>singular</b> matrix & more" in Page(pages["flaky"]).text


def test_nothing_failed_leaves_no_section_of_failures(plain, undrawn):
    assert "failures" not in [s.id for s in build(plain)]


def test_an_interrupted_run_says_so_at_the_top(plain, undrawn):
    cut = replace(plain, notes=(note("U018", "stopped by the user"),), tables={})
    made = build(cut)
    assert "interrupted" in " ".join(b.text for b in made[0].blocks if isinstance(b, Text))
    assert [s.id for s in made] == ["headline", "notes", "estimates", "methods", "repeat"]


def test_notes_carry_their_advice(plain, undrawn):
    noted = replace(plain, notes=(note("U036", "3 rows recur"),))
    html = render(noted.title, build(noted))
    assert "3 rows recur" in html
    assert note("U036", "").advice.split(";")[0] in Page(html).text
    assert any(isinstance(b, Notes) for b in blocks(noted, "notes"))


def test_an_alarm_is_told_once_in_the_frame_with_its_advice_and_code(plain, undrawn):
    alarmed = replace(plain, notes=(note("U002", "3 rows occur twice"), note("U036", "3 rows recur")))
    html = render(alarmed.title, build(alarmed))
    assert html.count("3 rows occur twice") == 1
    assert f"{note('U002', '').advice} (U002)" in Page(html).text
    (shown,) = (b for b in blocks(alarmed, "notes") if isinstance(b, Notes))
    assert [n.code for n in shown.notes] == ["U036"]


def test_the_last_section_repeats_the_run(plain, undrawn):
    last = build(plain)[-1]
    assert last.id == "repeat"
    assert next(b for b in last.blocks if isinstance(b, Code)).text == plain.settings["repeat"]
    text = str([b.rows for b in last.blocks if isinstance(b, Table)])
    for table in plain.tables.values():
        assert table.plan.fingerprint in text
    for version in plain.settings["versions"].values():
        assert version in text
    assert plain.settings["data_fingerprint"] in text


def test_large_matrices_list_their_largest_confusions(undrawn):
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(0)
    code = np.repeat(np.arange(26), 12)
    X = rng.normal(size=(312, 4)) + 1.5 * rng.normal(size=(26, 4))[code]
    letters = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))[code]
    a = unseen.assess(GaussianNB(), X, letters, random_state=0, effort="quick")
    table = next(b for b in blocks(a, "confusion") if isinstance(b, Table))
    cases = [row[2] for row in table.rows]
    assert cases == sorted(cases, reverse=True)
    assert all(row[0] != row[1] for row in table.rows)


@pytest.mark.parametrize("kind", ["groups", "weights", "time"])
def test_special_samples_are_described(kind, cases, undrawn):
    from sklearn.naive_bayes import GaussianNB

    X, code = cases
    columns = {
        "groups": {"groups": np.arange(90) // 3},
        "weights": {"sample_weight": np.linspace(1, 2, 90)},
        "time": {"time": np.arange(90)},
    }[kind]
    a = unseen.assess(GaussianNB(), X, code, random_state=0, effort="quick", **columns)
    text = Page(render(a.title, build(a))).text
    assert {"groups": "30 groups, never split", "weights": "weighted rows", "time": "ordered in time"}[kind] in text


def test_the_notebook_view_has_the_same_parts_and_its_style_stays_at_home(plain):
    html = plain._repr_html_()
    assert html == fragment(plain)
    page = Page(html)
    assert plain.sentence() in page.text
    assert "<svg" in html
    for tag in ("html", "head", "body", "script", "title", "link", "meta"):
        assert not any(t == tag for t, _ in page.tags), tag
    style = re.search(r"<style>(.*?)</style>", html, flags=re.S).group(1)
    selectors = [s.strip() for rule in re.findall(r"([^{}]+)\{", style) for s in rule.split(",")]
    selectors = [s for s in selectors if not s.startswith("@container ")]  # it asks for the width of a figure, no more
    assert selectors
    assert all(s.startswith(".unseen") for s in selectors), selectors


def test_an_unwritable_report_is_refused(plain, tmp_path):
    with pytest.raises(InputError, match="cannot write the report"):
        plain.report(tmp_path / "absent" / "report.html")


def test_written_pages_are_utf8(plain, tmp_path):
    path = plain.report(tmp_path / "r.html")
    with open(path, encoding="utf-8") as file:
        assert file.read().startswith("<!DOCTYPE html>")


def test_cells_that_are_not_their_value_sort_by_it():
    from unseen.show.page import sort_key

    assert sort_key(TableCell("12.3% to 14%", 0.123)) == "0.123"
    assert sort_key(None) == sort_key(float("nan")) == ""
    assert sort_key(True) == "yes"


def test_optimism_and_learning_curve_hand_back_their_numbers(plain, undrawn):
    table = plain.tables[plain.headline_design]
    rows = {row[0]: row[1:] for b in blocks(plain, "optimism") if isinstance(b, Table) for row in b.rows}
    assert rows["test"][0].sort == pytest.approx(plain.estimates["range-t"].value)
    gap = plain.estimates["range-t"].value - table.train_errors().mean()
    assert rows["optimism (test less training)"][0].sort == pytest.approx(gap)
    assert rows["training"][2].sort == pytest.approx(table.train_errors().max())
    curve = next(b for b in blocks(plain, "learning-curve-numbers") if isinstance(b, Table))
    last = dict(zip(curve.columns, curve.rows[-1]))
    source = plain.tables["learning-curve"]
    full = [j for j, s in enumerate(source.plan) if len(s.train) == last["trained on"]]
    assert last["test error"].sort == pytest.approx(source.split_means()[full].mean())
    assert last["repetitions"] == len(full)


FOLDED = {"estimates", "learning-curve-numbers", "distribution", "optimism", "hardest", "methods", "repeat"}


def test_details_are_folded_and_what_matters_is_not(plain, flaky, pages, undrawn):
    made = {s.id: s.folded for s in build(plain)}
    assert {id for id, folded in made.items() if folded} == FOLDED
    assert not {s.id: s.folded for s in build(flaky)}["failures"]
    page = Page(pages["plain"])
    assert sum(tag == "details" for tag, _ in page.tags) == len(FOLDED)
    assert not [a for tag, a in page.tags if tag == "details" and "open" in a]


def _why(a, id):
    return [b.text for b in blocks(a, id) if isinstance(b, Text) and "The headline is" in b.text]


def test_an_error_that_is_not_the_headline_says_why(plain, undrawn):
    assert plain.headline.method == "combined"
    folds = plain.tables["repeated-kfold"].split_means().mean()
    shown = f"{100 * plain.error:.1f}%"
    for id, mean, share in (
        ("confusion", folds, 90),
        ("optimism", folds, 90),
        ("distribution", plain.tables["leave-out"].split_means().mean(), 74),
    ):
        (text,) = _why(plain, id)
        assert f"their error, {100 * mean:.1f}%," in text, id
        assert f"trained on {share}% of the data" in text, id
        assert f"The headline is {shown}: combined weighs" in text, id
    curve = plain.tables["learning-curve"]
    last = [j for j, s in enumerate(curve.plan.splits) if s.part == 4]
    (text,) = _why(plain, "learning-curve")
    assert text.startswith(f"Its last points come from {len(last)} splits: their error, ")
    assert f"{100 * curve.split_means()[last].mean():.1f}%, is that of models trained on 80% of the data" in text


def test_an_error_written_like_the_headline_needs_no_reason(plain, undrawn):
    same = replace(plain, headline=plain.estimates["range-t"])
    assert _why(same, "confusion") == []
    assert _why(same, "optimism") == []
    assert len(_why(same, "distribution")) == 1


def test_numbers_are_told_in_their_own_units_throughout(regression, undrawn):
    from unseen.show import info

    root = np.sqrt(regression.error)
    assert 50 < root < 62
    assert info(regression, "answer").value == pytest.approx(root)
    assert info(regression, "answer").ends == pytest.approx(np.sqrt(list(regression.interval)))
    shown = info(regression, "estimates")
    assert shown.values[shown.role.index("headline")] == pytest.approx(root)
    assert 50 < info(regression, "distribution").mean < 62
    assert info(regression, "optimism").mean_test == pytest.approx(root)
    assert np.all((info(regression, "learning-curve").test > 40) & (info(regression, "learning-curve").test < 90))
    table = next(b for b in blocks(regression, "estimates") if isinstance(b, Table))
    assert all(40 < row[1].sort < 90 for row in table.rows)
    # the root of the mean, as in the headline, and not the mean of the splits' roots
    by_split = next(b for b in blocks(regression, "optimism") if isinstance(b, Table))
    mean = {row[0]: row[1].sort for row in by_split.rows}
    assert mean["test"] == pytest.approx(root)
    assert mean["optimism (test less training)"] == pytest.approx(mean["test"] - mean["training"])
    page = Page(render(regression.title, build(regression))).text
    assert "squared loss" not in page


def test_fits_shared_with_another_estimate_have_no_seconds_of_their_own(plain, undrawn):
    shared = {name: replace(e, seconds=0.0) for name, e in plain.estimates.items()}
    one = next(iter(shared))
    some = replace(plain, estimates={**shared, one: replace(shared[one], seconds=2.0)})
    table = next(b for b in blocks(some, "estimates") if isinstance(b, Table))
    seconds = [row[table.columns.index("seconds")] for row in table.rows]
    assert {cell.text for cell in seconds if cell is not None} <= {"2", f"{plain.baseline.seconds:.2g}"}
    assert None in seconds
    none = replace(plain, estimates=shared, baseline=replace(plain.baseline, seconds=0.0))
    none = replace(none, headline=replace(plain.headline, seconds=0.0))
    table = next(b for b in blocks(none, "estimates") if isinstance(b, Table))
    assert "seconds" not in table.columns
    assert "Seconds" not in table.caption


def test_no_note_is_no_praise(plain, undrawn):
    text = next(b.text for b in reversed(blocks(replace(plain, notes=()), "headline")) if isinstance(b, Text))
    assert text.endswith("No check of the data or the run gave a warning.")


def test_one_group_was_right(cases, undrawn):
    from sklearn.naive_bayes import GaussianNB

    X, code = cases
    a = unseen.assess(GaussianNB(), X, code, groups=np.arange(90) // 30, random_state=0, effort="quick")
    text = next(b.text for b in blocks(a, "hardest") if isinstance(b, Text))
    right = text.split(" right ")[0]
    assert right.split()[1:] == ["of", "3", "groups", "was" if right.split()[0] == "1" else "were"]
    made = next(s for s in build(a) if s.id == "hardest")
    assert made.title == "Hardest groups"
    assert "expected RMS" not in str(a)
    assert a.expected_rms == {}
