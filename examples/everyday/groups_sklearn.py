"""Vowels of fifteen speakers, nobody on both sides: GroupKFold and cross_val_score."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

path = Path(__file__).parents[3] / "shared" / "data" / "uci" / "vowel.csv.gz"
if not path.exists():
    raise SystemExit(f"{path} is not here: put the vowel data of archive.ics.uci.edu there, with a column of speakers")
vowels = pd.read_csv(path).drop(columns="sex")
X, y, speaker = vowels.drop(columns=["speaker", "target"]), vowels["target"], vowels["speaker"]
scores = cross_val_score(KNeighborsClassifier(3), X, y, groups=speaker, cv=GroupKFold(5))
print(f"error {1 - scores.mean():.3f} (+/- {scores.std():.3f} over folds)")
