"""Ratios for people: no digit that is not known, and no words that the interval does not bear out.

The rules are those of the terminal (harness/measure/statistics/ratio_text.hpp).
"""

from __future__ import annotations

import math
from typing import Iterable, Optional, Sequence, Union

from convladder_charts.known import Ratio
from convladder_charts.units import NONE

WIDEST_HEADLINE = 2.0
"""From a ratio whose interval's high is more than so many times its low no headline is made (kWidestHeadline)."""
WIDEST_BOUND = 1.25
"""From a wider one than this the headline is an estimate, and says "roughly"."""
_MOST_DIGITS = 3
_DIGITS_UNKNOWN = 2
_NEAR_ONE = 0.8
_HUGE, _TINY = 1e6, 1e-6
UNTOLD = "~1×: cannot be told from 1"
UNKNOWN = "?, < and >: known no better than to a factor of two"


def interval(ratio: Optional[Ratio]) -> Optional[tuple[float, float]]:
    """Its ends; None where nothing is known of the noise, and where the ratio is exact."""
    if ratio is None or ratio.low is None or ratio.high is None or ratio.low == ratio.high:
        return None
    return ratio.low, ratio.high


def is_exact(ratio: Ratio) -> bool:
    """Of a figure and itself, or counted."""
    return ratio.low is not None and ratio.low == ratio.high


def untold(ratio: Optional[Ratio], whole: float = 1.0) -> bool:
    """Whether it cannot be told from 1, or from 100 %: it is drawn grey, and said so."""
    return ratio is not None and not is_exact(ratio) and ratio.holds(whole)


def number(ratio: Ratio) -> str:
    """The value with as many digits as its interval supports, from one to three; without an interval "~3.8"."""
    value = float(ratio)
    if not _is_plain(value):
        return f"{value:.3g}"
    if ratio.low is None or ratio.high is None:
        return "~" + _rounded(value, min(_lowest(value, _DIGITS_UNKNOWN), 0))
    width = max(value - ratio.low, ratio.high - value)
    lowest = min(_lowest(value, _MOST_DIGITS), 0)
    known = _place(width) if _is_plain(width) else lowest
    return _rounded(value, min(max(known, lowest), max(lowest, _place(value))))


def ends(ratio: Ratio) -> str:
    """1.9 to 2.4: both with the digits that tell them apart, and at least two. Empty without an interval."""
    between = interval(ratio)
    if between is None:
        return ""
    low, high = between
    if not (_is_plain(low) and _is_plain(high)):
        return f"{low:.3g} to {high:.3g}"
    if high > WIDEST_HEADLINE * low:
        return " to ".join(_rounded(end, _lowest(end, 2)) for end in between)
    is_near_one = low > _NEAR_ONE and high < 1 / _NEAR_ONE
    place = min(_lowest(low, 2), -2 if is_near_one else 0, _place((high - low) / 2))
    shown = max(place, min(_lowest(low, _MOST_DIGITS), 0))
    return f"{_rounded(low, shown)} to {_rounded(high, shown)}"


def short_factor(ratio: Optional[Ratio]) -> str:
    """2.1×; ~1× where it cannot be told from 1; its nearer end or ? where hardly anything is known."""
    return NONE if ratio is None else _short(ratio, 1.0, "×")


def short_share(percent: Optional[Ratio]) -> str:
    """72%, in the same way."""
    return NONE if percent is None else _short(percent, 100.0, "%")


def factor(ratio: Optional[Ratio]) -> str:
    """2.1× (1.9 to 2.4)."""
    return _with_ends(short_factor(ratio), ratio)


def share(percent: Optional[Ratio]) -> str:
    """72% (70 to 75)."""
    return _with_ends(short_share(percent), percent)


def plus_minus(ratio: Optional[Ratio]) -> str:
    """2.1 ±0.3×, where space is short: how far the further end is."""
    return _with_distance(short_factor(ratio), ratio)


def share_plus_minus(percent: Optional[Ratio]) -> str:
    """72 ±3%: from 10 on in whole percent."""
    whole = percent is not None and percent >= 10 and _is_plain(percent)
    text = short_share(percent)
    if percent is None or not whole or not text[:1].isdigit():
        return _with_distance(text, percent)
    between = interval(percent)
    apart = "" if between is None else f" ±{_up(max(percent - between[0], between[1] - percent), 0)}"
    return f"{percent:.0f}{apart}%"


def bound(at_least: float) -> str:
    """A factor that is surely reached, rounded down: 1.07, 1.4, 12. Empty where nothing above 1 is left."""
    if not math.isfinite(at_least) or at_least >= _HUGE:
        return f"{at_least:.0e}" if math.isfinite(at_least) else ""
    digits = 2 if at_least < 1.1 else 1 if at_least < 10 else 0
    down = math.floor(at_least * 10**digits + 1e-9) / 10**digits
    return f"{down:.{digits}f}" if down > 1 else ""


def share_bound(percent: float) -> str:
    """A share that is surely reached, rounded down: 72%, 6.4%, 0.031%."""
    if not _is_plain(percent):
        return f"{percent:.1e}%"
    place = 0 if percent >= 10 else _lowest(percent, 2)
    unit = 10.0**place
    return f"{_rounded(math.floor(percent / unit + 1e-9) * unit, place)}%"


def why_no_headline(ratio: Ratio) -> str:
    """Empty where enough is known for one."""
    if ratio.low is None or ratio.high is None or ratio.low <= 0:
        return "nothing is known of its noise"
    width = ratio.high / ratio.low
    return f"known only to a factor of {width:.2g}" if width > WIDEST_HEADLINE else ""


def is_rough(ratio: Ratio) -> bool:
    """Whether a headline of it says "roughly"."""
    return ratio.low is None or ratio.high is None or ratio.low <= 0 or ratio.high > WIDEST_BOUND * ratio.low


def inverse(ratio: Ratio) -> Ratio:
    """The other way round."""
    return Ratio(1 / ratio, None if ratio.high is None else 1 / ratio.high, None if ratio.low is None else 1 / ratio.low,
                 ratio.level, ratio.by)


def over_100(percent: Ratio) -> Ratio:
    """A share in percent as a factor."""
    return Ratio(percent / 100, None if percent.low is None else percent.low / 100,
                 None if percent.high is None else percent.high / 100, percent.level, percent.by)


def speed(ratio: Optional[Ratio], than: str, rough: bool = False) -> str:
    """is at least 1.4 times as fast as oneDNN. Empty where there is no ratio, and where too little is known."""
    if ratio is None or not _is_plain(ratio):
        return ""
    if untold(ratio):
        return f"cannot be told from {than}"
    if is_exact(ratio):
        return f"is as fast as {than}" if ratio == 1 else _times(ratio, number(ratio), number(inverse(ratio)), than)
    if why_no_headline(ratio):
        return ""
    if rough or is_rough(ratio):
        shown = ratio if ratio > 1 else inverse(ratio)
        return f"{_times(ratio, f'roughly {number(shown)}', f'roughly {number(shown)}', than)} ({ends(shown)})"
    assert ratio.low is not None and ratio.high is not None
    least = bound(ratio.low if ratio.low > 1 else 1 / ratio.high)
    if not least:
        return f"is slightly {'faster' if ratio.low > 1 else 'slower'} than {than}"
    return _times(ratio, f"at least {least}", f"at least {least}", than)


def reaches(percent: Optional[Ratio], of: str, rough: bool = False) -> str:
    """reaches at least 72% of `of`. Empty where there is no share, and where too little is known."""
    if percent is None or not _is_plain(percent) or why_no_headline(percent):
        return ""
    if rough or is_rough(percent):
        return f"reaches roughly {number(percent)}% ({ends(percent)}) of {of}"
    assert percent.low is not None
    return f"reaches at least {share_bound(percent.low)} of {of}"


def headline(ratio: Optional[Ratio], rough: bool = False) -> str:
    """≥ 1.4×, ~1.6× or ~1×: the same to be seen from afar; of what is slower 0.7×. Empty as `speed`."""
    if ratio is None or not _is_plain(ratio):
        return ""
    if why_no_headline(ratio):
        return ""
    if untold(ratio):
        return "~1×"
    if rough or is_rough(ratio) or ratio.low is None or ratio.low < 1:
        return f"~{number(ratio)}×"
    return f"≥ {bound(ratio.low)}×" if bound(ratio.low) else "> 1×"


def share_headline(percent: Optional[Ratio], rough: bool = False, is_of_other: bool = True) -> str:
    """≥ 72% or ~72%; ~100% of what it is compared with, where that cannot be told from it."""
    if percent is None or not _is_plain(percent) or why_no_headline(percent) or percent.low is None:
        return ""
    if untold(percent, 100) and is_of_other:
        return "~100%"
    return f"~{number(percent)}%" if rough or is_rough(percent) else f"≥ {share_bound(percent.low)}"


def legend(cells: Iterable[str]) -> str:
    """The meaning of the signs in these cells; empty where there are none."""
    cells = list(cells)
    parts = [UNTOLD] if any(cell.startswith(("~1×", "~100%")) for cell in cells) else []
    parts += [UNKNOWN] if any(cell.startswith(("?", "<", ">")) for cell in cells) else []
    return "; ".join(parts)


def either(names: Sequence[str], most: int = 3) -> str:
    """A, B or C; of more the first ones, and how many others."""
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} others"]
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else "".join(names)


def _times(ratio: Ratio, faster: str, slower: str, than: str) -> str:
    return f"is {faster} times as fast as {than}" if ratio > 1 else f"takes {slower} times as long as {than}"


def _short(ratio: Ratio, whole: float, unit: str) -> str:
    known = not why_no_headline(ratio)
    if untold(ratio, whole) and ratio.low is not None:
        return f"~{whole:.0f}{unit}" if known else "?"
    if known or ratio.low is None or ratio.high is None:
        return f"{number(ratio)}{unit}"
    return f">{_end(ratio.low, False)}{unit}" if ratio.low > whole else f"<{_end(ratio.high, True)}{unit}"


def _with_ends(text: str, ratio: Optional[Ratio]) -> str:
    between = "" if ratio is None else ends(ratio)
    return f"{text} ({between})" if between else text


def distance(ratio: Optional[Ratio], text: str = "") -> str:
    """±0.3: how far the further end of the interval is. Empty where that is not known, or not of use beside `text`."""
    between, text = interval(ratio), text or short_factor(ratio)
    if ratio is None or between is None or not text[:1].isdigit():
        return ""
    apart = max(ratio - between[0], between[1] - ratio)
    if not _is_plain(apart):
        return ""
    return f"±{_up(apart, min(max(_place(apart), min(_lowest(ratio, _MOST_DIGITS), 0)), 0))}"


def _with_distance(text: str, ratio: Optional[Ratio]) -> str:
    apart = distance(ratio, text)
    return f"{text[:-1]} {apart}{text[-1]}" if apart else text


def _end(value: float, up: bool) -> str:
    """Two digits of what is surely exceeded, or surely not reached."""
    if not _is_plain(value):
        return f"{value:.2g}"
    place = _lowest(value, 2)
    return _up(value, place) if up else _rounded(math.floor(value / 10.0**place + 1e-9) * 10.0**place, place)


def _up(value: float, place: int) -> str:
    return _rounded(math.ceil(value / 10.0**place - 1e-9) * 10.0**place, place)


def _place(value: float) -> int:
    return math.floor(math.log10(value))


def _lowest(value: float, digits: int) -> int:
    """The lowest place of so many significant digits."""
    return _place(value) - digits + 1


def _rounded(value: float, place: int) -> str:
    unit = 10.0**place
    return f"{round(value / unit) * unit:.0f}" if place > 0 else f"{value:.{-place}f}"


def _is_plain(value: Union[float, Ratio]) -> bool:
    """Whether it can be written without an exponent."""
    return math.isfinite(value) and _TINY <= value < _HUGE
