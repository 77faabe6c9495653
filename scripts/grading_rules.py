"""What tools that compare two sets of samples decide by, in this project's own words: for scripts/grade_comparators.py."""

from __future__ import annotations

import math
import statistics
from typing import Callable, NamedTuple, Sequence

Samples = Sequence[float]
ALPHA = 0.05


class Answer(NamedTuple):
    """What a rule says of a pair of sample sets."""

    verdict: str  # "slower", "faster", "same", or "unknown"
    change: float  # estimated, as a fraction of the base


def welch(base: Samples, new: Samples) -> Answer:
    """Welch's t test at 5 %, as it is found in many scripts."""
    change = statistics.fmean(new) / statistics.fmean(base) - 1
    return Answer(_direction(change) if welch_p(base, new) < ALPHA else "same", change)


def rank_sum(base: Samples, new: Samples) -> Answer:
    """The test of Google Benchmark's compare.py: Mann and Whitney's at 5 %, over the repetitions. The change is that of
    its row of medians."""
    change = _change_of_medians(base, new)
    return Answer(_direction(change) if rank_sum_p(base, new) < ALPHA else "same", change)


def printed_ratio(base: Samples, new: Samples) -> Answer:
    """The change that compare.py prints for the means: red above +5 %, cyan below -7 %."""
    change = statistics.fmean(new) / statistics.fmean(base) - 1
    return Answer("slower" if change > 0.05 else "faster" if change < -0.07 else "same", change)


def smaller_noise(base: Samples, new: Samples) -> Answer:
    """nvbench_compare.py (nvbench-compare-legacy): whether the means differ by more than the smaller of the two relative
    standard deviations. Below 5 samples nvbench knows no noise."""
    change = statistics.fmean(new) / statistics.fmean(base) - 1
    if min(len(base), len(new)) < 5:
        return Answer("unknown", change)
    noise = min(statistics.stdev(side) / statistics.fmean(side) for side in (base, new))
    if noise == 0:
        return Answer("unknown", change)
    return Answer(_direction(change) if abs(change) > noise else "same", change)


def clear_gap(base: Samples, new: Samples) -> Answer:
    """nvbench-compare-robust: whether the intervals from the fastest sample to the third quartile lie apart, by 0.5 % or
    more. It asks for the same in cycles; a processor tells no clock, so that is left out here."""
    gap = 0.005
    sides = [sorted(base), sorted(new)]
    low = [side[0] for side in sides]
    high = [side[(75 * (len(side) - 1) + 50) // 100] for side in sides]
    middle = [side[(50 * (len(side) - 1) + 50) // 100] for side in sides]
    change = middle[1] / middle[0] - 1
    if low[1] > high[0] and low[1] / high[0] - 1 >= gap:
        return Answer("slower", change)
    if high[1] < low[0] and low[0] / high[1] - 1 >= gap:
        return Answer("faster", change)
    return Answer("same", change)


RULES: dict[str, Callable[[Samples, Samples], Answer]] = {
    "Welch, p < 5 %": welch,
    "compare.py: U test, p < 5 %": rank_sum,
    "compare.py: mean, +5 or -7 %": printed_ratio,
    "nvbench-compare-legacy": smaller_noise,
    "nvbench-compare-robust": clear_gap,
}


def _direction(change: float) -> str:
    return "slower" if change > 0 else "faster"


def _change_of_medians(base: Samples, new: Samples) -> float:
    return statistics.median(new) / statistics.median(base) - 1


def welch_p(base: Samples, new: Samples) -> float:
    """Two-sided p (Welch 1947). At least two samples each."""
    parts = [statistics.variance(side) / len(side) for side in (base, new)]
    distance = abs(statistics.fmean(base) - statistics.fmean(new))
    if sum(parts) == 0:
        return 1.0 if distance == 0 else 0.0
    degrees = sum(parts) ** 2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, (base, new)))
    t_squared = distance**2 / sum(parts)
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t_squared))


def rank_sum_p(base: Samples, new: Samples) -> float:
    """Two-sided p, as scipy's mannwhitneyu, which compare.py calls: exact where a side has at most 8 samples and no two
    are equal, else by the normal distribution with the corrections for ties and continuity."""
    n, m = len(base), len(new)
    below = sum((one < other) + (one == other) / 2 for one in new for other in base)
    everything = [*base, *new]
    if min(n, m) <= 8 and len(set(everything)) == n + m:
        ways = _ways(n, m)
        extreme = int(max(below, n * m - below))
        return min(1.0, 2 * sum(ways[extreme:]) / sum(ways))
    total = n + m
    ties = sum(everything.count(value) ** 3 - everything.count(value) for value in set(everything))
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    distance = max(below, n * m - below) - n * m / 2 - 0.5
    return min(1.0, math.erfc(distance / math.sqrt(2 * variance)))


def _ways(n: int, m: int) -> list[int]:
    """In how many orders of n and m samples U is 0, 1, 2, …: the coefficients of a Gaussian binomial."""
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, n * m + 1):
            ways[u] += ways[u - i]
    return ways


def exact_bounds(count: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's bounds of a proportion, each of that confidence."""
    error = 1 - confidence
    low = 0.0 if count == 0 else _solve(lambda p: 1 - binomial_cdf(count - 1, trials, p) < error)
    high = 1.0 if count == trials else _solve(lambda p: binomial_cdf(count, trials, p) > error)
    return low, high


def binomial_cdf(count: int, trials: int, probability: float) -> float:
    """P(at most `count` of the trials)."""
    return math.fsum(math.comb(trials, k) * probability**k * (1 - probability) ** (trials - k) for k in range(count + 1))


def _solve(is_below: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    tiny = 1e-300
    fraction, c, d = 1.0, 1.0, 0.0
    for i in range(300):
        m = i // 2
        if i == 0:
            step = 1.0
        elif i % 2 == 0:
            step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + step * d or tiny)
        c = 1 + step / c or tiny
        fraction *= c * d
        if abs(1 - c * d) < 1e-14:
            break
    return front * (fraction - 1)
