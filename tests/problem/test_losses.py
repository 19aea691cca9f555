import numpy as np
import pytest

from pldc.problem.losses import Loss, absolute, huber, make_loss, quantile, squared

LOSSES = [
    squared(),
    absolute(),
    huber(0.7),
    quantile(0.8),
    quantile(0.1),
    Loss("soft quantile", 0.3, 0.5, 2.0),
]
R = np.linspace(-3, 3, 121)
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name}-{loss.up:g}")


@pytest.mark.parametrize(
    "loss, formula",
    [
        (squared(), lambda r: r**2),
        (absolute(), np.abs),
        (huber(0.7), lambda r: np.where(np.abs(r) <= 0.7, r**2, 1.4 * np.abs(r) - 0.49)),
        (quantile(0.8), lambda r: 2 * np.where(r < 0, 0.8 * -r, 0.2 * r)),
    ],
)
def test_value_is_the_textbook_formula(loss, formula):
    np.testing.assert_allclose(loss.value(R), formula(R), atol=1e-14)


@every_loss
def test_derivative_is_the_slope_of_the_value(loss):
    h = 1e-6
    kinks = np.array([0.0, -loss.down * loss.softness, loss.up * loss.softness])
    smooth = R[(np.abs(R[:, None] - kinks[np.isfinite(kinks)]) > 1e-3).all(axis=1)]
    slope = (loss.value(smooth + h) - loss.value(smooth - h)) / (2 * h)
    np.testing.assert_allclose(loss.derivative(smooth), slope, atol=1e-7)


@every_loss
def test_fenchel_young(loss):
    omega = np.linspace(-3, 3, 61)
    slack = loss.value(R)[:, None] + loss.conjugate(omega)[None, :] - R[:, None] * omega[None, :]
    assert slack.min() >= -1e-12
    tight = loss.value(R) + loss.conjugate(loss.derivative(R)) - R * loss.derivative(R)
    np.testing.assert_allclose(tight, 0, atol=1e-12)


@every_loss
def test_conjugate_is_the_supremum_over_a_grid(loss):
    grid = np.linspace(-50, 50, 100_001)
    inside = np.linspace(max(-loss.down, -3), min(loss.up, 3), 21)
    brute = (inside[:, None] * grid - loss.value(grid)).max(axis=1)
    np.testing.assert_allclose(loss.conjugate(inside), brute, atol=1e-5)
    if np.isfinite(loss.up):
        assert loss.conjugate(loss.up + 1e-6) == np.inf
        assert loss.conjugate(-loss.down - 1e-6) == np.inf


@every_loss
@pytest.mark.parametrize("step", [0.1, 1.0, 3.0])
def test_prox_minimises(loss, step):
    r = loss.prox(R, step)
    best = step * loss.value(r) + 0.5 * (r - R) ** 2
    for move in (-1e-3, 1e-3, -0.1, 0.1):
        assert (step * loss.value(r + move) + 0.5 * (r + move - R) ** 2 >= best - 1e-13).all()


@every_loss
def test_moreau_decomposition(loss):
    # v = prox_{s ℓ}(v) + s prox_{ℓ*/s}(v/s), the second prox by brute force over the dual box.
    step, v = 0.5, np.linspace(-3, 3, 13)
    grid = np.linspace(max(-loss.down, -20), min(loss.up, 20), 400_001)
    dual = np.array([grid[np.argmin(loss.conjugate(grid) / step + 0.5 * (grid - x / step) ** 2)] for x in v])
    np.testing.assert_allclose(loss.prox(v, step) + step * dual, v, atol=1e-4)


def test_members_of_the_family_meet():
    np.testing.assert_allclose(quantile(0.5).value(R), absolute().value(R))
    np.testing.assert_allclose(huber(100.0).value(R), squared().value(R))


def test_unknown_names_and_bad_parameters():
    with pytest.raises(ValueError, match="loss must be one of .*squared"):
        make_loss("square")
    for bad in (0.0, 1.0, -1, 2, np.nan):
        with pytest.raises(ValueError, match="quantile must lie"):
            make_loss("quantile", quantile_level=bad)
    for bad in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="huber_delta"):
            make_loss("huber", huber_delta=bad)
