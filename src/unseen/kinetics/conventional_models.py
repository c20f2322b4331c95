"""Conventional compartmental models of the dissertation's figures, fitted by the same code as the hybrid."""

from __future__ import annotations

from typing import Any

from unseen.core.errors import UnknownName
from unseen.kinetics.kinetic_fit import KineticFit
from unseen.kinetics.scheme import PHE_TYR, Scheme
from unseen.kinetics.system_fit import SystemFit, fit_system
from unseen.kinetics.systems import Bolus, CompartmentModel, Output

__all__ = ["CONVENTIONAL", "conventional", "fit_conventional"]

CONVENTIONAL = {
    "4.1": "one substrate, two pools, loss from the unsampled pool",
    "4.2a": "two substrates, conversion between the unsampled pools",
    "4.2b": "two substrates, conversion between the sampled pools: the same curves as the hybrid EC-EC",
    "4.6-a": "loss from the sampled pools only: the lower end of the interval of appearance",
    "4.6-b": "loss from the unsampled pools only: the upper end, and the hybrid's own assumption",
}
_EXCHANGE = {"k21": ("1", "2"), "k12": ("2", "1"), "k43": ("3", "4"), "k34": ("4", "3")}
_IC_LOSS = {"k02": ("2", None), "k04": ("4", None)}
_EC_LOSS = {"k01": ("1", None), "k03": ("3", None)}
_EXTRA: dict[str, dict[str, tuple[str, str | None]]] = {
    "4.2a": {**_IC_LOSS, "k42": ("2", "4")},
    "4.2b": {**_IC_LOSS, "k31": ("1", "3")},
    "4.6-a": {**_EC_LOSS, "k31": ("1", "3")},
    "4.6-b": {**_IC_LOSS, "k31": ("1", "3")},
}


def conventional(name: str, scheme: Scheme = PHE_TYR) -> CompartmentModel:
    """A conventional model by the number of its figure.

    Parameters
    ----------
    name : {"4.1", "4.2a", "4.2b", "4.6-a", "4.6-b"}
    scheme : Scheme

    Returns
    -------
    CompartmentModel
        With doses named dose_precursor and dose_product.

    Examples
    --------
    >>> conventional("4.2a").parameters
    ('k21', 'k12', 'k43', 'k34', 'k02', 'k04', 'k42', 'Q1', 'Q3')
    """
    if name not in CONVENTIONAL:
        raise UnknownName("conventional model", name, CONVENTIONAL)
    if name == "4.1":
        rates = {"k21": ("1", "2"), "k12": ("2", "1"), "k02": ("2", None)}
        return CompartmentModel(
            ("1", "2"), rates, (Bolus("1", "dose_precursor"),), {scheme.precursor: Output("1", "Q1")}
        )
    inputs = (Bolus("1", "dose_precursor", "precursor"), Bolus("3", "dose_product", "product"))
    outputs = {
        scheme.precursor: Output("1", "Q1", "precursor"),
        scheme.product: Output("3", "Q3", "product"),
        scheme.formed: Output("3", "Q3", "precursor"),
    }
    return CompartmentModel(("1", "2", "3", "4"), {**_EXCHANGE, **_EXTRA[name]}, inputs, outputs)


def fit_conventional(fit: KineticFit, name: str) -> SystemFit:
    """Fit a conventional model to the samples of a hybrid fit, with the same standard deviations.

    Parameters
    ----------
    fit : KineticFit
    name : str
        As in :func:`conventional`.

    Returns
    -------
    SystemFit
        Its chi2 compares with that of ``fit.at(...)``.

    Examples
    --------
    >>> import unseen
    >>> made = unseen.kinetics.simulate(subjects=1, noise=0.02, between=0.0, random_state=1)
    >>> one = unseen.kinetics.fit(made.ttr, made.doses, locations=["EC-EC"])["s1"]
    >>> bool(abs(fit_conventional(one, "4.2b").chi2 - one.at("EC-EC").chi2) < 1e-4)      # the hybrid is figure 4.2b
    True
    """
    model = conventional(name, fit.scheme)
    data: dict[str, Any] = {}
    sigma: dict[str, Any] = {}
    for analyte in model.outputs:
        rows = fit.curves.which == fit.scheme.analytes.index(analyte)
        data[analyte] = fit.curves.time[rows], fit.curves.value[rows]
        sigma[analyte] = fit.at().sigma[rows]
    place = "IC-IC" if name == "4.2a" else "EC-EC"
    where = place if any(a.location == place for a in fit.alternatives) else fit.location
    at, derived = fit.derivation(where, "mass_balance")
    known = derived(at.theta)
    known |= {"k42": known["kconv"], "k31": known["kconv"]}
    start = {k: known[k] for k in model.parameters if known.get(k, 0.0) > 0}
    doses = {"dose_precursor": fit.doses[0], "dose_product": fit.doses[1]}
    return fit_system(model, data, doses, error="sd", sigma=sigma, start=start, starts=4)
