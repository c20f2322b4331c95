"""Which analyte is the dosed precursor, the dosed product and the formed product."""

from __future__ import annotations

from dataclasses import dataclass

from unseen.core.errors import InputError, UnknownName

__all__ = ["PHE_TYR", "SCHEMES", "Scheme", "scheme_of"]


@dataclass(frozen=True)
class Scheme:
    """A two-substrate tracer study: three labelled analytes on two tracees.

    Parameters
    ----------
    precursor : str
        Analyte given as a pulse and converted, such as ring-labelled phenylalanine.
    product : str
        Analyte of the second substrate given as a pulse.
    formed : str
        Analyte of the second substrate that arises from the precursor only.
    substrates : tuple of str
        Short names of the two tracees, used in the names of fluxes (``U_Phe``).

    Examples
    --------
    >>> PHE_TYR.analytes
    ('Phe-6', 'Tyr-4', 'Tyr-6')
    >>> PHE_TYR.public("U_product")
    'U_Tyr'
    """

    precursor: str
    product: str
    formed: str
    substrates: tuple[str, str] = ("1", "2")

    def __post_init__(self) -> None:
        if len(set(self.analytes)) != 3:
            raise InputError(f"a scheme needs three different analytes; got {', '.join(self.analytes)}.")

    @property
    def analytes(self) -> tuple[str, str, str]:
        """Dosed precursor, dosed product, formed product."""
        return self.precursor, self.product, self.formed

    def public(self, name: str) -> str:
        """Name shown to the user of an internal quantity."""
        return {"U_precursor": f"U_{self.substrates[0]}", "U_product": f"U_{self.substrates[1]}"}.get(name, name)


PHE_TYR = Scheme("Phe-6", "Tyr-4", "Tyr-6", ("Phe", "Tyr"))
SCHEMES = {"phe-tyr": PHE_TYR}


def scheme_of(scheme: Scheme | str) -> Scheme:
    """A scheme from itself, its name, or three analytes joined by commas.

    Parameters
    ----------
    scheme : Scheme or str
        ``"phe-tyr"``, or ``"precursor,product,formed"``.

    Returns
    -------
    Scheme

    Examples
    --------
    >>> scheme_of("Leu-1,KIC-2,KIC-1").formed
    'KIC-1'
    """
    if isinstance(scheme, Scheme):
        return scheme
    if scheme in SCHEMES:
        return SCHEMES[scheme]
    parts = [p.strip() for p in str(scheme).split(",")]
    if len(parts) == 3 and all(parts):
        return Scheme(parts[0], parts[1], parts[2])
    raise UnknownName("scheme", scheme, SCHEMES, "Or give three analytes: 'precursor,product,formed'.")
