"""Linear compartment systems of any graph, solved by the matrix exponential (Ghane, 2022, figures 4.1, 4.2 and 4.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from unseen.core.arrays import Array
from unseen.kinetics.exponentials import divided_difference

__all__ = ["Bolus", "CompartmentModel", "Infusion", "Output", "propagate"]

_CONDITION = 1e6  # of the eigenvectors; beyond it, half of the sixteen digits are lost


@dataclass(frozen=True)
class Bolus:
    """An amount put into a pool at time zero; ``dose`` is a number or the name of a column of the dose table.

    Examples
    --------
    >>> Bolus("plasma", 3.6).pool
    'plasma'
    """

    pool: str
    dose: float | str
    tracer: str = ""


@dataclass(frozen=True)
class Infusion:
    """A constant infusion from time zero to ``until``, with an optional priming bolus.

    Examples
    --------
    >>> Infusion("plasma", rate=0.06, prime=1.2).until
    inf
    """

    pool: str
    _: KW_ONLY
    rate: float | str
    prime: float | str = 0.0
    until: float = np.inf
    tracer: str = ""


@dataclass(frozen=True)
class Output:
    """A sampled pool: the amount divided by ``size``, a number or the name of a parameter.

    Examples
    --------
    >>> Output("plasma", size="Q1").size
    'Q1'
    """

    pool: str
    size: float | str = 1.0
    tracer: str = ""


@dataclass(frozen=True)
class CompartmentModel:
    """A graph of pools joined by first-order rates, with inputs and sampled outputs.

    Parameters
    ----------
    pools : tuple of str
        Names of the pools.
    rates : mapping
        ``{name: (from_pool, to_pool)}``; ``to_pool`` None is an irreversible loss. Several edges may share a
        parameter by giving it as ``"name"`` in ``tied``.
    inputs : tuple of Bolus or Infusion
        What enters.
    outputs : mapping
        ``{analyte: Output}``.
    tied : mapping
        ``{rate name: parameter name}`` for edges that share one parameter; by default each edge has its own.
    fixed : mapping
        Parameters that are known.

    Examples
    --------
    >>> two = CompartmentModel(("1", "2"), {"k21": ("1", "2"), "k12": ("2", "1"), "k02": ("2", None)},
    ...                        (Bolus("1", 3.6),), {"Phe-6": Output("1", "Q1")})
    >>> p = {"k21": 0.131, "k12": 0.027, "k02": 0.026, "Q1": 12.0}
    >>> two.predict([0.0, 10.0], p)["Phe-6"].round(6)
    array([0.3     , 0.100429])
    """

    pools: tuple[str, ...]
    rates: Mapping[str, tuple[str, str | None]]
    inputs: tuple[Bolus | Infusion, ...]
    outputs: Mapping[str, Output]
    _: KW_ONLY
    tied: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, float] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters to be given or fitted, rates first, then sizes."""
        names = [self.tied.get(r, r) for r in self.rates]
        names += [o.size for o in self.outputs.values() if isinstance(o.size, str)]
        return tuple(n for n in dict.fromkeys(names) if n not in self.fixed)

    @property
    def tracers(self) -> tuple[str, ...]:
        """The tracers followed, each through the same graph."""
        return tuple(dict.fromkeys(i.tracer for i in self.inputs))

    def matrix(self, values: Mapping[str, float]) -> Array:
        """Rate matrix K of ``dq/dt = K q + input``.

        Parameters
        ----------
        values : mapping
            Value of every parameter.

        Returns
        -------
        ndarray of shape (pools, pools)

        Examples
        --------
        >>> one = CompartmentModel(("1",), {"k": ("1", None)}, (Bolus("1", 1.0),), {"y": Output("1")})
        >>> one.matrix({"k": 0.5})
        array([[-0.5]])
        """
        known = {**self.fixed, **values}
        k = np.zeros((len(self.pools),) * 2)
        for name in self.rates:
            k += known[self.tied.get(name, name)] * self._edge(name)
        return k

    def _edge(self, name: str) -> Array:
        source, to = self.rates[name]
        k = np.zeros((len(self.pools),) * 2)
        j = self.pools.index(source)
        k[j, j] -= 1.0
        if to is not None:
            k[self.pools.index(to), j] += 1.0
        return k

    def steady_state(self, values: Mapping[str, float], production: Mapping[str, float]) -> dict[str, float]:
        """Tracee pools that balance for given rates of production.

        Parameters
        ----------
        values : mapping
            The rates.
        production : mapping
            Amount per time entering each pool.

        Returns
        -------
        dict
            Size of every pool.

        Examples
        --------
        >>> one = CompartmentModel(("1",), {"k": ("1", None)}, (Bolus("1", 1.0),), {"y": Output("1")})
        >>> one.steady_state({"k": 0.5}, {"1": 2.0})
        {'1': 4.0}
        """
        u = np.array([production.get(p, 0.0) for p in self.pools])
        return dict(zip(self.pools, map(float, np.linalg.solve(-self.matrix(values), u))))

    def predict(
        self, times: ArrayLike, values: Mapping[str, float], doses: Mapping[str, float] | None = None
    ) -> dict[str, Array]:
        """SampledCurves of all outputs.

        Parameters
        ----------
        times : array_like
            Times, not negative.
        values : mapping
            Value of every parameter.
        doses : mapping, optional
            Value of every dose given by name.

        Returns
        -------
        dict
            One curve per output.
        """
        return {k: v[0] for k, v in self.sensitivities(times, values, doses, wrt=()).items()}

    def sensitivities(
        self,
        times: ArrayLike,
        values: Mapping[str, float],
        doses: Mapping[str, float] | None = None,
        wrt: tuple[str, ...] | None = None,
    ) -> dict[str, tuple[Array, Array]]:
        """SampledCurves of all outputs with their derivatives by each parameter.

        The derivatives are states of one larger linear system, so they are as exact as the curves.

        Parameters
        ----------
        times, values, doses
            As in :meth:`predict`.
        wrt : tuple of str, optional
            Parameters to differentiate by; all by default.

        Returns
        -------
        dict
            ``{output: (curve, jacobian)}``, the Jacobian of shape (times, wrt).
        """
        t = np.asarray(times, float)
        wrt = self.parameters if wrt is None else wrt
        known = {**self.fixed, **values}
        states = {tracer: self._states(t, known, doses or {}, tracer, wrt) for tracer in self.tracers}
        out = {}
        for name, output in self.outputs.items():
            i = self.pools.index(output.pool)
            size = known[output.size] if isinstance(output.size, str) else output.size
            amount = states[output.tracer][:, :, i] / size
            curve, slopes = amount[:, 0], amount[:, 1:].copy()
            if output.size in wrt:
                slopes[:, wrt.index(output.size)] -= curve / size
            out[name] = (curve, slopes)
        return out

    def _states(
        self, t: Array, known: Mapping[str, float], doses: Mapping[str, float], tracer: str, wrt: tuple[str, ...]
    ) -> Array:
        """Amounts and their derivatives, shape (times, 1 + parameters, pools)."""
        n = len(self.pools)
        slopes = np.zeros((len(wrt), n + 1, n + 1))
        for b, parameter in enumerate(wrt):
            for name in self.rates:
                if self.tied.get(name, name) == parameter:
                    slopes[b, :n, :n] += self._edge(name)
        # a last state of constant one carries the infusions
        state = np.zeros((1 + len(wrt), n + 1))
        state[0, -1] = 1.0
        drips: list[_Drip] = []
        for entry in self.inputs:
            if entry.tracer != tracer:
                continue
            i = self.pools.index(entry.pool)
            if isinstance(entry, Bolus):
                state[0, i] += _amount(entry.dose, doses)
            else:
                state[0, i] += _amount(entry.prime, doses)
                drips.append(_Drip(i, _amount(entry.rate, doses), entry.until))
        return _solve_stretches(t, self.matrix(known), slopes, state, drips)


@dataclass(frozen=True)
class _Drip:
    """An infusion into a pool, by its index, at a rate until a time."""

    pool: int
    rate: float
    until: float


def _amount(dose: float | str, doses: Mapping[str, float]) -> float:
    return float(doses[dose] if isinstance(dose, str) else dose)


def _solve_stretches(t: Array, k: Array, slopes: Array, state: Array, drips: list[_Drip]) -> Array:
    """Solve stretch by stretch; an infusion that stops begins a new stretch."""
    n = k.shape[0]
    stops = sorted({drip.until for drip in drips if drip.until < t.max()})
    edges = [0.0, *stops, np.inf]
    out = np.empty((t.size, state.shape[0], n))
    for begin, end in pairwise(edges):
        a = np.zeros((n + 1, n + 1))
        a[:n, :n] = k
        for drip in drips:
            if begin < drip.until:
                a[drip.pool, -1] += drip.rate
        rows = (t >= begin) & (t < end) if np.isfinite(end) else t >= begin
        at = np.append(t[rows] - begin, 0.0 if np.isinf(end) else end - begin)
        solved = propagate(at, a, slopes, state)
        out[rows] = solved[:-1, :, :n]
        state = solved[-1]
    return out


def propagate(t: Array, a: Array, slopes: Array, state: Array) -> Array:
    """States at times t of ``dx/dt = a x`` with the derivatives of x by parameters of a.

    With eigenvalues far enough apart the derivative of the matrix exponential is a table of divided differences in the
    eigenvector basis; otherwise the system is enlarged by its derivatives and its exponential taken directly.

    Parameters
    ----------
    t : ndarray
        Times from the start of the stretch.
    a : ndarray of shape (n, n)
        The matrix.
    slopes : ndarray of shape (p, n, n)
        Derivative of the matrix by each parameter.
    state : ndarray of shape (1 + p, n)
        State and its derivatives at time zero.

    Returns
    -------
    ndarray of shape (t, 1 + p, n)

    Examples
    --------
    >>> x = propagate(np.array([2.0]), np.array([[-0.5]]), np.array([[[-1.0]]]), np.array([[1.0], [0.0]]))
    >>> x.round(6).tolist()                                       # exp(-1) and -t exp(-1)
    [[[0.367879], [-0.735759]]]
    """
    values, vectors = np.linalg.eig(a)
    if np.linalg.cond(vectors) > _CONDITION:
        return _solve_enlarged(t, a, slopes, state)
    back = np.linalg.inv(vectors)
    decay = np.exp(np.multiply.outer(t, values))
    start = state @ back.T
    out = np.empty((t.size, *state.shape), complex)
    out[:] = np.einsum("tn,pn,mn->tpm", decay, start, vectors)
    if slopes.size:
        phi = divided_difference(t[:, None, None], -values[:, None], -values[None, :])
        inner = back @ slopes @ vectors
        out[:, 1:] += np.einsum("pij,tij,j,mi->tpm", inner, phi, start[0], vectors, optimize=True)
    return out.real


def _solve_enlarged(t: Array, a: Array, slopes: Array, state: Array) -> Array:
    """Solve the system together with its derivatives, whatever its eigenvalues."""
    n, blocks = a.shape[0], state.shape[0]
    big = np.kron(np.eye(blocks), a)
    for b in range(1, blocks):
        big[b * n : (b + 1) * n, :n] = slopes[b - 1]
    return np.stack([(expm(big * x) @ state.ravel()).reshape(blocks, n) for x in t])
