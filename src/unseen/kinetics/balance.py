"""Tracee models in steady state: pools and fluxes for each location of the conversion.

Breakdown enters the unsampled pools (2 and 4). Conversion is part of the precursor's total loss, so that
``U_precursor = F02 + Fconv`` with ``F02`` the loss other than conversion: nothing is counted twice, and every pool
balances. The dissertation's formulas, which count conversion twice, are in :func:`printed_tracee`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from unseen.kinetics.mammillary import Outflows, outflows

__all__ = ["ALTERNATIVES", "RATES", "imbalance", "printed_tracee", "tracee", "tracer_rates"]

RATES = ("k21", "k12", "k02", "k43", "k34", "k04", "kappa")
ALTERNATIVES = {"IC-IC": 1, "EC-EC": 2, "whole-body": 3}


def _one_loss(o: Outflows, from_sampled: float = 0.0) -> tuple[float, float, float]:
    """Exchange and loss of the slowest unsampled pool when only it, and a known part of the sampled pool, lose."""
    if o.peripheral.size == 0:
        return 0.0, 0.0, o.central - from_sampled
    out = o.central - from_sampled - o.fast_return
    back = float(o.exchange[-1]) / out
    return out, back, float(o.peripheral[-1]) - back


def tracer_rates(a: ArrayLike, l: ArrayLike, b: ArrayLike, g: ArrayLike, kappa: float) -> dict[str, float]:
    """Fractional rates of the tracer model with loss from the unsampled pools only (table 4.1).

    Parameters
    ----------
    a, l : array_like
        Precursor amplitudes and rates.
    b, g : array_like
        Dosed product amplitudes and rates.
    kappa : float
        Conversion multiplier.

    Returns
    -------
    dict
        k21, k12, k02 (total loss of the precursor, conversion included), k43, k34, k04 and kappa. With a single
        pool the exchange rates are left out and the loss is that of the pool.

    Examples
    --------
    >>> r = tracer_rates([0.2, 0.1], [0.16, 0.02], [0.1, 0.05], [0.15, 0.017], 0.033)
    >>> round(r["k21"], 6), round(r["k02"], 6)             # K11, and l1 l2 / K11
    (0.113333, 0.028235)
    """
    rates: dict[str, float] = {}
    for (amplitudes, lambdas), names in (((a, l), ("k21", "k12", "k02")), ((b, g), ("k43", "k34", "k04"))):
        values = _one_loss(outflows(amplitudes, lambdas))
        if np.size(lambdas) == 1:
            rates[names[2].replace("2", "1").replace("4", "3")] = values[2]
        else:
            rates.update(zip(names, values))
    return rates | {"kappa": float(kappa)}


def tracee(
    a: ArrayLike,
    l: ArrayLike,
    b: ArrayLike,
    g: ArrayLike,
    kappa: float,
    doses: tuple[float, float],
    location: str,
    per: float = 60.0,
) -> dict[str, float]:
    """Pools and fluxes that balance, for one location of the conversion.

    Parameters
    ----------
    a, l, b, g : array_like
        Amplitudes and rates of the two dosed curves.
    kappa : float
        Area multiplier of the formed product's curve.
    doses : tuple of float
        Dose of the precursor's and of the product's tracer.
    location : str
        ``"EC-EC"``, ``"IC-IC"``, ``"IC-EC"``, ``"EC-IC"`` (from, to) or ``"whole-body"``.
    per : float
        Rate units in one flux unit: 60 turns rates per minute into fluxes per hour.

    Returns
    -------
    dict
        ``Q1 .. Q4``, the fluxes ``Fij`` (to i from j, 0 is outside), ``Fconv``, ``U_precursor``, ``U_product`` and the
        fractional conversion rate ``kconv`` out of its source pool.

    Examples
    --------
    >>> x = tracee([.2, .1], [.16, .02], [.1, .05], [.15, .017], 0.033, (3.6, 2.85), "EC-EC")
    >>> round(x["Fconv"], 3)                               # 60 kappa dose
    5.643
    >>> max(abs(v) for v in imbalance(x, "EC-EC").values()) < 1e-9
    True
    """
    pre, pro = outflows(a, l), outflows(b, g)
    q1, q3 = doses[0] / float(np.sum(a)), doses[1] / float(np.sum(b))
    if location == "whole-body":
        slow = float(np.asarray(l)[-1]), float(np.asarray(g)[-1])
        return _whole_body(pre, pro, slow, (q1, q3), float(kappa) * doses[1], per)
    source, target = location.split("-")
    k43, k34, k04 = _one_loss(pro)
    conversion = float(kappa) * doses[1]
    if target == "IC":
        conversion *= float(pro.peripheral[-1]) / k34
    if source == "IC":
        k21, k12, loss = _one_loss(pre)
        conversion *= float(pre.peripheral[-1]) / k12
    else:
        k21, k12, loss = _one_loss(pre, conversion / q1)
    out = {"Q1": q1}
    if pre.peripheral.size:
        out["Q2"] = (pre.central - pre.fast_return) * q1 / k12
    home = out.get("Q2", q1)
    out["Q3"] = q3
    if pro.peripheral.size:
        returned = k43 * q3 - (conversion if target == "EC" else 0.0)
        out["Q4"] = returned / k34
    product_home = out.get("Q4", q3)
    out |= _exchange_fluxes(pre, pro, (k21, k12, k43, k34), out, per)
    loss_flux = loss * home - (conversion if source == "IC" else 0.0)
    out["F02" if "Q2" in out else "F01"] = per * loss_flux
    out["F04" if "Q4" in out else "F03"] = per * k04 * product_home
    out["Fconv"] = per * conversion
    out["kconv"] = conversion / (home if source == "IC" else q1)
    out["U_precursor"] = per * (loss_flux + conversion)
    out["U_product"] = per * (k04 * product_home - conversion)
    return out


def _exchange_fluxes(
    pre: Outflows, pro: Outflows, k: tuple[float, ...], q: Mapping[str, float], per: float
) -> dict[str, float]:
    """Fluxes between sampled and unsampled pools; fast extra pools return what they receive."""
    k21, k12, k43, k34 = k
    out: dict[str, float] = {}
    if "Q2" in q:
        out |= {"F21": per * k21 * q["Q1"], "F12": per * k12 * q["Q2"]}
    if "Q4" in q:
        out |= {"F43": per * k43 * q["Q3"], "F34": per * k34 * q["Q4"]}
    for o, centre, away in ((pre, "1", "2"), (pro, "3", "4")):
        for i, (z, p) in enumerate(zip(o.peripheral[:-1], o.exchange[:-1])):
            name = f"{away}{'abcdefgh'[i]}"
            out[f"Q{name}"] = p / z**2 * q[f"Q{centre}"]
            out[f"F{name}{centre}"] = out[f"F{centre}{name}"] = per * p / z * q[f"Q{centre}"]
    return out


def _whole_body(
    pre: Outflows,
    pro: Outflows,
    slow: tuple[float, float],
    q: tuple[float, float],
    area_flux: float,
    per: float,
) -> dict[str, float]:
    """One loss rate for both pools of a substrate, and one conversion rate for both pools."""
    (l2, g2), (q1, q3) = slow, q
    k11, k22, k33, k44 = pre.central, float(pre.peripheral[-1]), pro.central, float(pro.peripheral[-1])
    k21, k12, k43, k34 = k11 - l2, k22 - l2, k33 - g2, k44 - g2
    kc = area_flux / q1 / (1 + k21 * k34 / (k22 * k44))
    q2 = k11 * q1 / k12
    q4 = (k33 * q3 - kc * q1) / k34
    conversion = kc * (q1 + q2)
    return {
        "Q1": q1,
        "Q2": q2,
        "Q3": q3,
        "Q4": q4,
        "F21": per * k21 * q1,
        "F12": per * k12 * q2,
        "F43": per * k43 * q3,
        "F34": per * k34 * q4,
        "F01": per * (l2 - kc) * q1,
        "F02": per * (l2 - kc) * q2,
        "F03": per * g2 * q3,
        "F04": per * g2 * q4,
        "Fconv": per * conversion,
        "kconv": kc,
        "U_precursor": per * l2 * (q1 + q2),
        "U_product": per * (g2 * (q3 + q4) - conversion),
    }


def imbalance(
    fluxes: Mapping[str, float], location: str, conversion: tuple[float, float] | None = None
) -> dict[str, float]:
    """Inflow minus outflow of each pool; zero everywhere in a steady state.

    Parameters
    ----------
    fluxes : mapping
        What :func:`tracee` or :func:`printed_tracee` returns, for two pools per substrate.
    location : str
        Where the conversion leaves and enters.
    conversion : tuple of float, optional
        Conversion out of pools 1 and 2, for the whole-body variant; in proportion to the pools by default.

    Returns
    -------
    dict
        Net flux into pools 1 to 4.

    Examples
    --------
    >>> printed = printed_tracee({"k21": .131, "k12": .027, "k02": .026, "k43": .127, "k34": .023, "k04": .02,
    ...                           "kappa": .033}, 12.0, 19.0, "IC-IC")
    >>> {k: round(v, 3) for k, v in imbalance(printed, "IC-IC").items()}
    {'1': 0.0, '2': 0.0, '3': 0.0, '4': 0.0}
    """
    f = fluxes.get
    share = f("Q1", 0.0) / (f("Q1", 0.0) + f("Q2", 0.0))
    ec_out, ic_out, ec_in, ic_in = 0.0, 0.0, 0.0, 0.0
    total = fluxes["Fconv"]
    if location == "whole-body":
        ec_out, ic_out = conversion or (share * total, (1 - share) * total)
        ec_in, ic_in = ec_out, ic_out
    else:
        source, target = location.split("-")
        ec_out, ic_out = (total, 0.0) if source == "EC" else (0.0, total)
        ec_in, ic_in = (total, 0.0) if target == "EC" else (0.0, total)
    return {
        "1": f("F12", 0) - f("F21", 0) - f("F01", 0) - ec_out,
        "2": f("U_precursor", 0) + f("F21", 0) - f("F12", 0) - f("F02", 0) - ic_out,
        "3": f("F34", 0) + ec_in - f("F43", 0) - f("F03", 0),
        "4": f("U_product", 0) + f("F43", 0) + ic_in - f("F34", 0) - f("F04", 0),
    }


def printed_tracee(
    rates: Mapping[str, float], q1: float, q3: float, location: str, per: float = 60.0
) -> dict[str, float]:
    """Fluxes by the formulas of the dissertation, section 4.4.2, its sign in alternative 3 mended.

    These count conversion twice, since ``k02`` is already the total loss; they are here to compare with, not to use.

    Parameters
    ----------
    rates : mapping
        k21, k12, k02, k43, k34, k04 and kappa, per minute.
    q1, q3 : float
        Sampled pools.
    location : {"IC-IC", "EC-EC", "whole-body"}
        Alternatives 1, 2 and 3.
    per : float
        60 for rates per minute and fluxes per hour.

    Returns
    -------
    dict
        Pools and fluxes, named as by :func:`tracee`.

    References
    ----------
    Ghane, P. (2022), dissertation, Texas A&M University, section 4.4.2.

    Examples
    --------
    >>> table = {"k21": .131, "k12": .027, "k02": .026, "k43": .127, "k34": .023, "k04": .02, "kappa": .033}
    >>> round(printed_tracee(table, 12, 19, "EC-EC")["U_precursor"], 6)
    137.466667
    """
    k = rates
    f21, f43 = per * k["k21"] * q1, per * k["k43"] * q3
    through = per * k["kappa"] * q1 if location == "EC-EC" else 0.0
    f12, f34 = f21 + through, f43 - through
    q2, q4 = f12 / (per * k["k12"]), f34 / (per * k["k34"])
    source = {"EC-EC": q1, "IC-IC": q2, "whole-body": q1 + q2}[location]
    conversion = per * k["kappa"] * source
    whole = location == "whole-body"
    f02 = per * k["k02"] * (q1 + q2 if whole else q2)
    f04 = per * k["k04"] * (q3 + q4 if whole else q4)
    appearance = f12 + f02 - f21 if location == "EC-EC" else f02 + conversion
    product = f34 + f04 - f43 if location == "EC-EC" else f04 - conversion
    return {
        "Q1": q1,
        "Q2": q2,
        "Q3": q3,
        "Q4": q4,
        "F21": f21,
        "F12": f12,
        "F43": f43,
        "F34": f34,
        "F02": f02,
        "F04": f04,
        "Fconv": conversion,
        "U_precursor": appearance,
        "U_product": product,
    }
