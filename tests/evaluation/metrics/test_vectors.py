"""Drift, silhouettes and the plane: worked examples, scikit-learn beside them, invariances, what is undefined."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_samples, silhouette_score

from evaluation.metrics import silhouette
from evaluation.metrics.drift import similarity_drift
from evaluation.metrics.intervals import Scale
from evaluation.metrics.projection import principal_plane
from evaluation.metrics.silhouette import Distance, TooLarge, mean_silhouettes, silhouettes

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
    widths = silhouettes(vectors, labels, distance=distance)
    assert widths == pytest.approx(silhouette_samples(vectors, labels, metric=distance), abs=1e-7)
    assert widths.mean() == pytest.approx(silhouette_score(vectors, labels, metric=distance), abs=1e-7)
    order = rng.permutation(16)
    assert silhouettes(vectors[order], np.array(["c", "a", "b"])[labels[order]], distance=distance) == pytest.approx(
        widths[order], abs=1e-7
    )
    assert silhouettes(3 * vectors, labels, distance=distance) == pytest.approx(widths, abs=1e-7)


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


def concepts_and_languages(seed: int, concepts: int = 9, languages: int = 3) -> tuple[np.ndarray, list[str], list[str]]:
    """Vectors, language and concept: one vector for each concept and language, moved by both."""
    rng = np.random.default_rng(seed)
    of_concept, of_language = rng.normal(size=(concepts, 4)), rng.normal(size=(languages, 4)) * 1.5
    vectors = of_concept[:, None] + of_language[None] + rng.normal(size=(concepts, languages, 4)) * 0.5
    names = [(f"l{j}", f"c{i}") for i in range(concepts) for j in range(languages)]
    return vectors.reshape(-1, 4), [name for name, _ in names], [name for _, name in names]


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_the_interval_of_a_mean_silhouette_deletes_concepts_and_computes_again(distance: Distance) -> None:
    """Against a loop over scikit-learn: nine concepts, t with 8 degrees of freedom on Fisher's z."""
    vectors, languages, concepts = concepts_and_languages(1)
    found = mean_silhouettes(vectors, languages, concepts, distance=distance)
    means = {**found.by_cluster, "": found.overall}

    def mean_of(keep: np.ndarray, language: str) -> float:
        names = np.array(languages)[keep]
        wanted = (names == language) | (language == "")
        return float(silhouette_samples(vectors[keep], names, metric=distance)[wanted].mean())

    for language in ("l0", "l1", "l2", ""):
        replicates = np.array([mean_of(np.array(concepts) != f"c{i}", language) for i in range(9)])
        variance = 8 / 9 * ((replicates - replicates.mean()) ** 2).sum()
        value = mean_of(np.ones(27, bool), language)
        assert means[language].value == pytest.approx(value, abs=1e-7)
        low, high = Scale("Fisher z").interval(value, variance**0.5, 2.306004) or (0, 0)
        assert (means[language].low, means[language].high) == pytest.approx((low, high), abs=1e-6)
        assert means[language].n_units == (9 if language else 27) and means[language].resampled == "concepts"
        assert means[language].extras["n_concepts"] == means[language].extras["n_groups"] == 9


def test_many_concepts_are_deleted_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, languages, concepts = concepts_and_languages(2, concepts=80)
    every = mean_silhouettes(vectors, languages, concepts).by_cluster["l1"]
    monkeypatch.setattr(silhouette, "MAX_GROUPS", 40)
    grouped = mean_silhouettes(vectors, languages, concepts).by_cluster["l1"]
    assert (every.extras["n_groups"], grouped.extras["n_groups"], grouped.extras["n_concepts"]) == (80, 40, 80)
    assert grouped.value == every.value
    widths = [(one.high or 0) - (one.low or 0) for one in (every, grouped)]
    assert 0.6 < widths[1] / widths[0] < 1.7
    monkeypatch.setattr(silhouette, "MOST", 3_000_000)
    few = mean_silhouettes(vectors, languages, concepts).by_cluster["l1"]
    assert few.extras["n_groups"] == 39 and few.high  # 240 vectors x 3 x 104 products, 40 times
    monkeypatch.setattr(silhouette, "MOST", 100_000)
    none = mean_silhouettes(vectors, languages, concepts).by_cluster["l1"]
    assert none.value == every.value and none.interval_reason == "too_large_for_interval"


def test_a_mean_silhouette_says_why_it_has_no_interval() -> None:
    vectors, languages, concepts = concepts_and_languages(3, concepts=2)
    few = mean_silhouettes(vectors, languages, concepts).by_cluster["l0"]
    assert few.value is not None and few.interval_reason == "too_few_clusters_for_interval"
    vectors, languages, concepts = concepts_and_languages(3, concepts=5)
    lone = mean_silhouettes(np.vstack([vectors, vectors[:1]]), [*languages, "alone"], [*concepts, "c0"]).by_cluster
    assert lone["alone"].value is None and lone["alone"].reason == "one_cluster"
    apart = np.repeat(np.eye(2), 4, axis=0)
    assert mean_silhouettes(apart, list("aaaabbbb"), list("12341234")).overall.interval_reason == "no_spread"
    empty = mean_silhouettes(np.zeros((0, 2)), [], [])
    assert empty.by_cluster == {} and empty.overall.reason == "one_cluster"
    with pytest.raises(ValueError, match="each vector needs a concept"):
        mean_silhouettes(apart, list("aaaabbbb"), list("123"))


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_plane_is_that_of_scikit_learn_up_to_its_signs(seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(12, 5)) * [5, 3, 1, 0.5, 0.1]
    projection = principal_plane(vectors)
    theirs = PCA(2).fit(vectors)
    assert np.abs(projection.points) == pytest.approx(np.abs(theirs.transform(vectors)))
    assert projection.explained == pytest.approx(theirs.explained_variance_ratio_)
    assert principal_plane(vectors + 7).points == pytest.approx(projection.points)
    order = np.random.default_rng(seed).permutation(12)
    assert principal_plane(vectors[order]).points == pytest.approx(projection.points[order])


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
    with pytest.raises(TooLarge, match="40000 vectors of 2 numbers in 30000 clusters"):
        silhouettes(np.ones((40_000, 2)), np.arange(40_000) % 30_000)
    assert silhouettes(np.ones((40_000, 2)), np.arange(40_000) % 3).shape == (40_000,)
    with pytest.raises(TooLarge):
        silhouettes(np.ones((40_000, 2)), np.arange(40_000) % 3, distance="euclidean")
