"""What a bench's report says in words follows from its lines."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="benches of nets need torch")

from unseen.nets.ranking.bench_record import Bench, BenchLine
from unseen.nets.sections import bench_answer
from unseen.show.sections import Text


def _said(*scored: tuple[str, bool, float, float]) -> list[str]:
    lines = tuple(
        BenchLine(
            measure=name,
            control=control,
            cmi=cmi,
            cmi_low=cmi,
            cmi_high=cmi,
            cmi_honest=cmi,
            p_value=0.01,
            tau=tau,
            granulated_tau=tau,
            robust_error=0.5,
            worst="a 0 to 1",
            seconds=0.1,
            std_error=0.0,
        )
        for name, control, cmi, tau in scored
    )
    bench = Bench(
        zoo="z",
        lines=lines,
        noise_floor=2.0,
        gap=np.arange(4) / 10,
        values={},
        axes={"a": [0, 0, 1, 1]},
        seeds=np.zeros(4, dtype=int),
    )
    return [block.text for block in bench_answer(bench).blocks if isinstance(block, Text)]


def test_measures_that_point_the_wrong_way_are_named_beside_the_count() -> None:
    said = _said(("p", False, 9.0, -0.58), ("q", False, 5.0, 0.4), ("c", True, 4.0, -0.3), ("r", False, 1.0, -0.2))
    assert said[0].startswith("p says most about the gap: it scores 9.0 of 100")
    assert said[1] == "2 of 3 measures are above the noise floor, on 4 networks of the zoo z."
    assert said[2].startswith("Of these, p (-0.58) orders the networks the wrong way")
    assert len(said) == 3


def test_nothing_is_said_of_directions_that_are_right() -> None:
    said = _said(("c", True, 9.5, 0.3), ("p", False, 9.0, 0.5), ("r", False, 1.0, -0.2))
    assert said[1:] == [
        "1 of 2 measures are above the noise floor, on 4 networks of the zoo z.",
        "No measure beats the control c.",
    ]
