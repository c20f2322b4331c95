"""A year of ozone, later days from earlier ones: TimeSeriesSplit and cross_val_score."""

from pathlib import Path

import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

path = Path(__file__).parents[3] / "shared" / "data" / "uci" / "ozone_la.csv.gz"
if not path.exists():
    raise SystemExit(f"{path} is not here: put Ozone of the R package mlbench there, with its column target")
ozone = pd.read_csv(path).drop(columns=["V1", "V2", "V3"]).dropna(subset="target")
X, y = ozone.drop(columns="target"), ozone["target"]
model = make_pipeline(SimpleImputer(), StandardScaler(), Ridge())
scores = cross_val_score(model, X, y, scoring="neg_mean_absolute_error", cv=TimeSeriesSplit(5))
print(f"MAE {-scores.mean():.3f} (+/- {scores.std():.3f} over stretches)")
