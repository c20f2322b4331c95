"""Numbers of other packages for calibration and decision curves, on the public example of dcurves (750 simulated patients).

Run with the peers' interpreter (`make oracles`); writes evaluation.json beside this file, with the versions used.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
PACKAGES = ("numpy", "statsmodels", "dcurves")
THRESHOLDS = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5]


def main() -> None:
    """Write slope and intercept by statsmodels, clustered too, and net benefits by dcurves."""
    import dcurves
    import pandas as pd
    import statsmodels.api as sm

    frame = pd.read_csv(Path(dcurves.__file__).parent / "data" / "df_binary.csv")
    y, p = frame["cancer"].to_numpy(float), frame["cancerpredmarker"].to_numpy(float)
    # the example's probabilities were fitted to these very patients, so that its slope is 1: these ones are off on purpose
    logit = 0.6 * np.log(p / (1 - p)) + 0.4
    design = sm.add_constant(logit)
    line = sm.Logit(y, design).fit(disp=0)
    shift = sm.GLM(y, np.ones((len(y), 1)), family=sm.families.Binomial(), offset=logit).fit()
    group = np.arange(len(y)) // 5
    grouped = sm.Logit(y, design).fit(disp=0, cov_type="cluster", cov_kwds={"groups": group, "use_correction": False})
    curve = dcurves.dca(data=frame, outcome="cancer", modelnames=["cancerpredmarker"], thresholds=THRESHOLDS)
    benefit = {
        name: [float(v) for v in curve[curve.model == name].sort_values("threshold").net_benefit]
        for name in ("cancerpredmarker", "all", "none")
    }
    made = {
        "versions": {name: version(name) for name in PACKAGES},
        "source": "df_binary.csv in dcurves: cancer, cancerpredmarker",
        "y": [int(v) for v in y],
        "p": [float(v) for v in p],
        "logit": "0.6 logit(p) + 0.4",
        "slope": [float(line.params[1]), float(line.bse[1])],
        "log_likelihood": float(line.llf),
        "intercept": [float(shift.params[0]), float(shift.bse[0])],
        "slope_in_groups_of_5": [float(grouped.params[1]), float(grouped.bse[1])],
        "thresholds": THRESHOLDS,
        "net_benefit": benefit,
    }
    (HERE / "evaluation.json").write_text(json.dumps(made) + "\n")


if __name__ == "__main__":
    main()
