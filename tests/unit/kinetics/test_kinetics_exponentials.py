import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import expm

from unseen.kinetics.exponentials import divided_difference, divided_difference_slopes, exponential_sum, product_curve

T = np.array([0.0, 0.5, 3.0, 10.0, 60.0, 300.0])


def by_matrix(t, a, b):
    """The convolution as an entry of a matrix exponential, rotated: scipy's own shortcut for triangles loses digits."""
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    chain = turn @ np.array([[-a, 0.0], [1.0, -b]]) @ turn.T
    return np.array([(turn.T @ expm(chain * x) @ turn)[1, 0] for x in t])


@pytest.mark.parametrize(("a", "b"), [(0.16, 0.02), (0.02, 0.16), (0.1, 0.1), (0.1, 0.1 * (1 + 1e-12)), (0.3, 1e-6)])
def test_agrees_with_the_matrix_exponential_also_at_equal_rates(a, b):
    np.testing.assert_allclose(divided_difference(T, a, b), by_matrix(T, a, b), rtol=1e-12, atol=1e-14)


def test_is_the_convolution_integral():
    for t in (1.0, 20.0):
        area = quad(lambda s, t=t: np.exp(-0.16 * s) * np.exp(-0.05 * (t - s)), 0, t, epsabs=1e-13)[0]
        assert divided_difference(t, 0.16, 0.05) == pytest.approx(area, rel=1e-11)


@pytest.mark.parametrize(("a", "b"), [(0.16, 0.02), (0.05, 0.2), (0.1, 0.13)])
def test_slopes_agree_with_complex_steps(a, b):
    h = 1e-30
    by_a, by_b = divided_difference_slopes(T, a, b)
    np.testing.assert_allclose(by_a, divided_difference(T, a + 1j * h, b).imag / h, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(by_b, divided_difference(T, a, b + 1j * h).imag / h, rtol=1e-11, atol=1e-13)


def test_slopes_at_exactly_equal_rates_have_their_closed_form():
    by_a, by_b = divided_difference_slopes(T, 0.1, 0.1)
    np.testing.assert_allclose(by_a, -(T**2) / 2 * np.exp(-0.1 * T), rtol=1e-14)
    np.testing.assert_allclose(by_b, by_a, rtol=1e-14)


def test_slopes_do_not_jump_where_the_series_takes_over():
    gap = 0.5 / 60
    for small, large in ((gap * (1 - 1e-9), gap * (1 + 1e-9)), (1e-12, 2e-12)):
        for one, other in zip(
            divided_difference_slopes(60.0, 0.1, 0.1 + small), divided_difference_slopes(60.0, 0.1, 0.1 + large)
        ):
            assert one == pytest.approx(other, rel=1e-8)


def test_near_equal_rates_keep_all_digits_where_the_quotient_loses_them():
    a, b = 0.1631, 0.1631 * (1 + 1e-12)
    exact = T * np.exp(-a * T)
    quotient = (np.exp(-a * T[1:]) - np.exp(-b * T[1:])) / (b - a)
    assert np.max(np.abs(quotient / exact[1:] - 1)) > 1e-6
    np.testing.assert_allclose(divided_difference(T, a, b), exact, rtol=1e-9)


def test_product_of_three_and_two_exponentials_is_the_response_of_a_chain():
    a, l = np.array([0.3, 0.2, 0.1]), np.array([0.5, 0.1, 0.02])
    b, g = np.array([0.4, 0.1]), np.array([0.3, 0.02])
    total = sum(x * y * by_matrix(T, p, q) for x, p in zip(a, l) for y, q in zip(b, g))
    np.testing.assert_allclose(product_curve(T, a, l, b, g, 0.7), 0.7 * total, rtol=1e-12, atol=1e-13)


def test_product_has_the_product_of_the_areas():
    t = np.linspace(0, 4000, 400_001)
    curve = product_curve(t, [0.2, 0.1], [0.16, 0.02], [0.1, 0.05], [0.15, 0.017], 0.033)
    areas = 0.033 * (0.2 / 0.16 + 0.1 / 0.02) * (0.1 / 0.15 + 0.05 / 0.017)
    assert np.trapezoid(curve, t) == pytest.approx(areas, rel=1e-6)


def test_sum_at_zero_is_the_sum_of_amplitudes():
    assert exponential_sum(0.0, [0.2, 0.1], [3.0, 0.1]) == pytest.approx(0.3)
