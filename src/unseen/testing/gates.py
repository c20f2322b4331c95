"""An assertion about a model's error on new cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unseen.assessment.assessment import Assessment

__all__ = ["assert_model"]


def assert_model(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    error_below: float | None = None,
    score_above: float | None = None,
    measure: Any = None,
    level: float = 0.95,
    cv: Any = None,
    prefit: bool = False,
    groups: Any = None,
    effort: Any = "quick",
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Assessment:
    """Raise AssertionError unless the whole interval is below a limit of the error, or above one of a score.

    A value that only happens to lie on the right side does not pass, nor does a number that cannot be trusted.

    Parameters
    ----------
    model, X, y, measure, level, cv, prefit, groups, effort, random_state, n_jobs
        As in `unseen.assess`.
    error_below : float, optional
        Limit of the error (of numbers: of the RMSE), in the units people think in.
    score_above : float, optional
        Limit of a score, such as AUC; needs a measure of which more is better.

    Returns
    -------
    Assessment

    Examples
    --------
    >>> import unseen
    >>> from unseen.testing import assert_model
    >>> iris = unseen.datasets.load("iris")
    >>> a = assert_model("lda", iris, error_below=0.2, cv=10)
    >>> try:
    ...     assert_model("lda", iris, error_below=0.05, cv=10)
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    The interval reaches 0.1337, and the error must be below 0.05.
    """
    import unseen
    from unseen.assessment.wording import in_units

    if (error_below is None) == (score_above is None):
        raise TypeError("give error_below or score_above, and not both.")
    a = unseen.assess(
        model,
        X,
        y,
        measure=measure,
        level=level,
        cv=cv,
        prefit=prefit,
        groups=groups,
        effort=effort,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    shown = in_units(a.headline)
    higher = a.scale != "error"
    if higher and error_below is not None:
        raise TypeError(f"{a.scale} is better if larger; give score_above instead of error_below.")
    if not higher and score_above is not None:
        raise TypeError(f"{shown.loss} is better if smaller; give error_below instead of score_above.")
    if not a.trust.ok:
        raise AssertionError(a.sentence())
    if shown.interval is None:
        raise AssertionError(f"There is no interval to go by.\n{a.sentence()}")
    low, high = shown.interval
    if error_below is not None and not high < error_below:
        raise AssertionError(
            f"The interval reaches {high:.4g}, and the error must be below {error_below:g}.\n{a.sentence()}"
        )
    if score_above is not None and not low > score_above:
        raise AssertionError(
            f"The interval reaches {low:.4g}, and the {a.scale} must be above {score_above:g}.\n{a.sentence()}"
        )
    return a
