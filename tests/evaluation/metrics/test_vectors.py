"""Drift, silhouettes and the plane: worked examples, scikit-learn beside them, invariances, what is undefined."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_samples, silhouette_score

from evaluation.metrics.drift import similarity_drift
from evaluation.metrics.projection import principal_plane
from evaluation.metrics.silhouette import Distance, TooMuch, silhouettes

SEEDS = st.integers(0, 2**32 - 1)


def test_drift_is_the_difference_for_the_same_picture() -> None:
    drift = similarity_drift([[0.31, 0.20], [0.5, 0.1]], [[0.25, 0.25], [0.5, float("nan")]])
    assert drift[0] == pytest.approx([0.06, -0.05])
    assert drift[1, 0] == 0 and math.isnan(drift[1, 1])
    with pytest.raises(ValueError, match="same candidates"):
        similarity_drift([[0.1]], [[0.1, 0.2]])


def test_silhouettes_by_hand() -> None:
    """On a line: 0 and 1 against 4 and 6. For 0: a = 1, b = (4 + 6) / 2 = 5, s = 4/5; for 4: a = 2, b = 3.5."""
    made = silhouettes([[0.0], [1.0], [4.0], [6.0]], ["x", "x", "y", "y"], distance="euclidean")
    assert made == pytest.approx([4 / 5, (4 - 1) / 4, (3.5 - 2) / 3.5, (5.5 - 2) / 5.5])


@given(SEEDS, st.sampled_from(["cosine", "euclidean"]))
@settings(max_examples=40, deadline=None)
def test_scikit_learn_gives_the_same(seed: int, distance: Distance) -> None:
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], [2, 5, 9])
    vectors = rng.normal(size=(16, 4)) + labels[:, None]
    made = silhouettes(vectors, labels, distance=distance)
    assert made == pytest.approx(silhouette_samples(vectors, labels, metric=distance), abs=1e-7)
    assert made.mean() == pytest.approx(silhouette_score(vectors, labels, metric=distance), abs=1e-7)
    order = rng.permutation(16)
    assert silhouettes(vectors[order], np.array(["c", "a", "b"])[labels[order]], distance=distance) == pytest.approx(
        made[order], abs=1e-7
    )
    assert silhouettes(3 * vectors, labels, distance=distance) == pytest.approx(made, abs=1e-7)


def test_silhouettes_that_say_nothing() -> None:
    points = [[1.0, 0], [0, 1.0], [1.0, 1.0]]
    assert np.isnan(silhouettes(points, ["a", "a", "a"])).all()
    assert np.isnan(silhouettes(points, ["a", "b", "c"])).all()
    assert np.isnan(silhouettes(np.zeros((0, 2)), [])).all()
    mixed = silhouettes(points, ["a", "a", "b"])
    assert np.isnan(mixed[2]) and not np.isnan(mixed[:2]).any()  # alone in its cluster: scikit-learn says 0
    for distance in ("cosine", "euclidean"):  # no distance between any two
        assert np.isnan(silhouettes(np.full((4, 3), 0.1), ["a", "a", "b", "b"], distance=distance)).all()
    empty = silhouettes([[0, 0], [1, 0], [1, 0.1], [0, 1], [0.1, 1]], ["a", "a", "a", "b", "b"])
    without = silhouettes([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], ["a", "a", "b", "b"])
    assert np.isnan(empty[0]) and empty[1:] == pytest.approx(without)
    with pytest.raises(ValueError, match="a label each"):
        silhouettes(points, ["a"])
    with pytest.raises(ValueError, match="distance"):
        silhouettes(points, ["a", "a", "b"], distance="manhattan")  # type: ignore[arg-type]


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_plane_is_that_of_scikit_learn_up_to_its_signs(seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(12, 5)) * [5, 3, 1, 0.5, 0.1]
    made = principal_plane(vectors)
    theirs = PCA(2).fit(vectors)
    assert np.abs(made.points) == pytest.approx(np.abs(theirs.transform(vectors)))
    assert made.explained == pytest.approx(theirs.explained_variance_ratio_)
    assert principal_plane(vectors + 7).points == pytest.approx(made.points)
    order = np.random.default_rng(seed).permutation(12)
    assert principal_plane(vectors[order]).points == pytest.approx(made.points[order])


@pytest.mark.parametrize("shape", [(120, 300), (300, 120)])
def test_the_plane_of_many_vectors_is_that_of_all_components(shape: tuple[int, int]) -> None:
    vectors = np.random.default_rng(3).normal(size=shape) * np.linspace(3, 0.1, shape[1])
    theirs = PCA(2, svd_solver="full").fit(vectors)
    made = principal_plane(vectors)
    assert np.abs(made.points) == pytest.approx(np.abs(theirs.transform(vectors)), abs=1e-9)
    assert made.explained == pytest.approx(theirs.explained_variance_ratio_)
    line = principal_plane(np.outer(np.arange(200.0), np.ones(100)))
    assert line.explained == pytest.approx([1, 0]) and not line.points[:, 1].any()


def test_the_plane_of_nothing() -> None:
    for vectors in (np.zeros((0, 3)), np.ones((1, 3)), np.full((4, 3), 0.1), np.zeros((3, 0))):
        plane = principal_plane(vectors)
        assert plane.points.shape == (len(vectors), 2) and not plane.points.any() and not plane.explained.any()
    line = principal_plane([[0.0], [1.0], [2.0]])
    assert line.points == pytest.approx(np.array([[-1, 0], [0, 0], [1, 0]])) and line.explained.tolist() == [1, 0]
    with pytest.raises(ValueError, match="shape"):
        principal_plane([1.0, 2.0])


def test_silhouettes_take_little_memory_with_many_clusters_and_refuse_what_nobody_should_wait_for() -> None:
    rng = np.random.default_rng(4)
    vectors, labels = rng.normal(size=(4000, 8)), rng.integers(0, 2000, 4000)
    tracemalloc.start()
    silhouettes(vectors, labels)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # a table of vectors by clusters is 64 MB, and there were several at once; now a block of rows is 32
    assert most < 4000 * 2000 * 8 * 2.5
    with pytest.raises(TooMuch, match="40000 vectors of 2 numbers in 30000 clusters"):
        silhouettes(np.ones((40_000, 2)), np.arange(40_000) % 30_000)
    assert silhouettes(np.ones((40_000, 2)), np.arange(40_000) % 3).shape == (40_000,)
    with pytest.raises(TooMuch):
        silhouettes(np.ones((40_000, 2)), np.arange(40_000) % 3, distance="euclidean")
