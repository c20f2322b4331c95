from __future__ import annotations

import hashlib
import json

import pytest

from unseen.study.cells import canonical, identity, task_id
from unseen.study.spec import StudySpec

SPEC = {
    "name": "s", "seed": 7, "sizes": [20, 40], "replications": 3, "populations": ["gaussian-blocks", "sparse-logistic"],
    "models": ["knn:3", "cart"], "methods": ["resub", "bolster"],
    "comparisons": [{"model_a": "knn:3", "model_b": "cart", "test": "mcnemar"}],
}  # fmt: skip


@pytest.fixture(scope="module")
def spec():
    return StudySpec.of(SPEC)


def test_cells_are_the_product(spec):
    cells = spec.cells()
    assert len(cells) == 2 * 2 * (2 * 2 + 1)
    assert len({(c["population"], c["n"], c["model"], c["method"]) for c in cells}) == len(cells)


def test_an_id_is_the_hash_of_canonical_json(spec):
    cells = spec.cells()
    row = next(iter(spec.tasks()))
    content = {"cell": identity(cells[row.cell]), "seed": 7, "replication": 0}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert row.id == hashlib.sha256(text.encode()).hexdigest()[:32] == task_id(cells[row.cell], 7, 0)


def test_every_task_has_an_id_of_its_own(spec):
    rows = list(spec.tasks())
    assert len({row.id for row in rows}) == len(rows) == len(spec.cells()) * 3


def test_replications_come_in_turn_and_shared_fits_together(spec):
    rows, cells = list(spec.tasks()), spec.cells()
    assert [row.replication for row in rows] == sorted(row.replication for row in rows)
    shared: dict[int, set] = {}
    for row in rows:
        cell = cells[row.cell]
        shared.setdefault(row.group, set()).add((cell["population"], cell["n"], tuple(cell["models"]), row.replication))
    assert all(len(places) == 1 for places in shared.values())
    assert len(shared) == 3 * 4 * 3


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 8},
        {"n_test": 100},
        {"level": 0.9},
        {"populations": [{"id": "gaussian-blocks", "options": {"delta": 0.4}}, "sparse-logistic"]},
    ],
)
def test_what_changes_numbers_changes_ids(spec, change):
    other = StudySpec.of({**SPEC, **change})
    assert next(iter(other.tasks())).id != next(iter(spec.tasks())).id


def test_names_do_not_change_ids(spec):
    named = StudySpec.of({**SPEC, "name": "t", "methods": [{"id": "resub", "name": "R"}, "bolster"]})
    assert [r.id for r in named.tasks()] == [r.id for r in spec.tasks()]


def test_a_raised_version_changes_ids(spec, monkeypatch):
    from unseen.datasets.populations import GaussianBlocks
    from unseen.resubstitution.methods.bolster import Bolster

    before = {spec.cells()[r.cell]["method"]: r.id for r in list(spec.tasks())[:2]}
    monkeypatch.setattr(Bolster, "version", 99)
    after = {spec.cells()[r.cell]["method"]: r.id for r in list(spec.tasks())[:2]}
    assert after["resub"] == before["resub"]
    assert after["bolster"] != before["bolster"]
    monkeypatch.setattr(GaussianBlocks, "version", 99)
    assert next(iter(spec.tasks())).id != before["resub"]


def test_more_replications_keep_the_ids_there_are(spec):
    more = StudySpec.of({**SPEC, "replications": 5})
    assert {r.id for r in spec.tasks()} < {r.id for r in more.tasks()}


def test_canonical_text_does_not_depend_on_order():
    assert canonical({"a": 1, "b": [1, 2]}) == canonical({"b": [1, 2], "a": 1})
    with pytest.raises(ValueError, match="float"):
        canonical({"a": float("nan")})
