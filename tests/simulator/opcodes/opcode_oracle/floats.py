"""Binary floating point numbers as exact integers times powers of two, and rounding by exact comparison.

A number is ("nan",), ("inf", sign) or ("num", sign, m, e): (-1)^sign * m * 2^e, where m is a Python integer; m = 0 is a
zero with its sign.
"""

from math import isqrt

NAN = ("nan",)


class Format:
    """A format of the IEEE 754 family. `canonical` is the NaN that operations give, None where PTX leaves it open."""

    def __init__(self, name, exponent_bits, fraction_bits, canonical=None, width=None):
        self.name = name
        self.fraction_bits = fraction_bits
        self.exponent_bits = exponent_bits
        self.canonical = canonical
        self.width = width or 1 + exponent_bits + fraction_bits
        self.unused = self.width - 1 - exponent_bits - fraction_bits
        self.bias = (1 << (exponent_bits - 1)) - 1
        self.least = 1 - self.bias - fraction_bits  # exponent of the smallest subnormal number
        self.largest = ((1 << (fraction_bits + 1)) - 1, self.bias - fraction_bits)
        self.infinity = ((1 << exponent_bits) - 1) << (fraction_bits + self.unused)
        self.sign_bit = 1 << (self.width - 1)

    def decode(self, bits):
        sign = bits >> (self.width - 1) & 1
        bits = (bits & (self.sign_bit - 1)) >> self.unused
        fraction = bits & ((1 << self.fraction_bits) - 1)
        exponent = bits >> self.fraction_bits
        if exponent == (1 << self.exponent_bits) - 1:
            return NAN if fraction else ("inf", sign)
        if exponent == 0:
            return ("num", sign, fraction, self.least)
        return ("num", sign, fraction | 1 << self.fraction_bits, exponent - self.bias - self.fraction_bits)

    def encode(self, number):
        """The bits of a number that the format holds exactly; "nan" for a NaN whose bits are open."""
        if number[0] == "nan":
            return "nan" if self.canonical is None else self.canonical
        sign = self.sign_bit if number[1] else 0
        if number[0] == "inf":
            return sign | self.infinity
        _, _, m, e = number
        if m == 0:
            return sign
        while m >> (self.fraction_bits + 1) or e < self.least:
            assert m & 1 == 0, "not a number of this format"
            m, e = m >> 1, e + 1
        while m >> self.fraction_bits == 0 and e > self.least:
            m, e = m << 1, e - 1
        normal = m >> self.fraction_bits
        exponent = e - self.least + 1 if normal else 0
        fraction = m & ((1 << self.fraction_bits) - 1)
        return sign | (exponent << self.fraction_bits | fraction) << self.unused

    def round(self, number, mode="rn", sticky=False):
        """The nearest number of the format in that direction. `sticky`: the magnitude is a little greater than m."""
        if number[0] != "num":
            return number
        _, sign, m, e = number
        if m == 0:
            return number
        unit = max(m.bit_length() + e - self.fraction_bits - 1, self.least)  # exponent of the last place kept
        if e >= unit:
            kept, cut, half = m << (e - unit), 0, 1
            # Something below the last place, but less than half of it.
            above_zero, compared = sticky, -1
        else:
            by = unit - e
            kept, cut = m >> by, m & ((1 << by) - 1)
            half = 1 << (by - 1)
            above_zero = cut != 0 or sticky
            compared = (cut > half) - (cut < half)
            if compared == 0 and sticky:
                compared = 1
        up = {
            "rn": compared > 0 or (compared == 0 and kept & 1 == 1),
            "rna": compared >= 0,
            "rz": False,
            "rm": above_zero and sign == 1,
            "rp": above_zero and sign == 0,
        }[mode]
        kept += up
        most, top = self.largest
        if kept << max(unit - top, 0) > most << max(top - unit, 0):
            away = mode in ("rn", "rna") or (mode == "rp" and sign == 0) or (mode == "rm" and sign == 1)
            return ("inf", sign) if away else ("num", sign, most, top)
        return ("num", sign, kept, unit)

    def is_subnormal(self, number):
        return number[0] == "num" and number[2] != 0 and number[2].bit_length() + number[3] <= self.least + self.fraction_bits

    def flush(self, number):
        return ("num", number[1], 0, 0) if self.is_subnormal(number) else number


F16 = Format("f16", 5, 10, 0x7FFF)
BF16 = Format("bf16", 8, 7, 0x7FFF)
F32 = Format("f32", 8, 23, 0x7FFFFFFF)
F64 = Format("f64", 11, 52)
TF32 = Format("tf32", 8, 10, None, 32)
FORMATS = {f.name: f for f in (F16, BF16, F32, F64, TF32)}


def is_zero(x):
    return x[0] == "num" and x[2] == 0


def negate(x):
    return x if x[0] == "nan" else (x[0], 1 - x[1]) + x[2:]


def absolute(x):
    return x if x[0] == "nan" else (x[0], 0) + x[2:]


def from_integer(value):
    return ("num", int(value < 0), abs(value), 0)


def from_float(value):
    """A Python float, exactly."""
    if value != value:
        return NAN
    if value in (float("inf"), float("-inf")):
        return ("inf", int(value < 0))
    numerator, denominator = abs(value).as_integer_ratio()
    sign = int(str(value)[0] == "-")
    return ("num", sign, numerator, 1 - denominator.bit_length())


def to_float(x):
    """As a Python float; every format but extreme sums fits."""
    if x[0] == "nan":
        return float("nan")
    if x[0] == "inf":
        return float("-inf") if x[1] else float("inf")
    _, sign, m, e = F64.round(x)
    value = float(m) * 2.0**e if e > -1000 else float(m) * 2.0**-600 * 2.0 ** (e + 600)
    return -value if sign else value


def compare(x, y):
    """-1, 0, 1, or None if one is NaN."""
    if x[0] == "nan" or y[0] == "nan":
        return None

    def signed(v, shift):
        return (-1 if v[1] else 1) * (v[2] << (v[3] - shift))

    if x[0] == "inf" or y[0] == "inf":
        a = 0 if x[0] != "inf" else (-1 if x[1] else 1)
        b = 0 if y[0] != "inf" else (-1 if y[1] else 1)
    else:
        shift = min(x[3], y[3])
        a, b = signed(x, shift), signed(y, shift)
    return (a > b) - (a < b)


def add(x, y, mode="rn"):
    """The exact sum; the mode decides the sign of an exact zero."""
    if x[0] == "nan" or y[0] == "nan":
        return NAN
    if x[0] == "inf":
        return NAN if y[0] == "inf" and y[1] != x[1] else x
    if y[0] == "inf":
        return y
    shift = min(x[3], y[3])
    total = (-1) ** x[1] * (x[2] << (x[3] - shift)) + (-1) ** y[1] * (y[2] << (y[3] - shift))
    if total == 0:
        sign = x[1] if x[1] == y[1] else int(mode == "rm")
        return ("num", sign, 0, 0)
    return ("num", int(total < 0), abs(total), shift)


def multiply(x, y):
    if x[0] == "nan" or y[0] == "nan":
        return NAN
    sign = x[1] ^ y[1]
    if x[0] == "inf" or y[0] == "inf":
        return NAN if is_zero(x) or is_zero(y) else ("inf", sign)
    return ("num", sign, x[2] * y[2], x[3] + y[3])


def fma(x, y, z, mode="rn"):
    return add(multiply(x, y), z, mode)


def divide(x, y, fmt, mode="rn"):
    """The quotient, rounded."""
    if x[0] == "nan" or y[0] == "nan":
        return NAN
    sign = x[1] ^ y[1]
    if x[0] == "inf":
        return NAN if y[0] == "inf" else ("inf", sign)
    if y[0] == "inf":
        return ("num", sign, 0, 0)
    if is_zero(y):
        return NAN if is_zero(x) else ("inf", sign)
    if is_zero(x):
        return ("num", sign, 0, 0)
    shift = max(0, 2 * fmt.fraction_bits + 8 + y[2].bit_length() - x[2].bit_length())
    quotient, remainder = divmod(x[2] << shift, y[2])
    return fmt.round(("num", sign, quotient, x[3] - y[3] - shift), mode, remainder != 0)


def square_root(x, fmt, mode="rn"):
    if x[0] == "nan" or is_zero(x):
        return x
    if x[1] == 1:
        return NAN
    if x[0] == "inf":
        return x
    _, _, m, e = x
    shift = max(0, 2 * (fmt.fraction_bits + 8) - m.bit_length())
    shift += (e - shift) % 2
    m, e = m << shift, e - shift
    root = isqrt(m)
    return fmt.round(("num", 0, root, e // 2), mode, root * root != m)


def to_integral(x, mode):
    """Rounded to an integer: rni, rzi, rmi, rpi."""
    if x[0] != "num" or x[3] >= 0:
        return x
    _, sign, m, e = x
    whole, cut, half = m >> -e, m & ((1 << -e) - 1), 1 << (-e - 1)
    up = {
        "rni": cut > half or (cut == half and whole & 1 == 1),
        "rzi": False,
        "rmi": cut != 0 and sign == 1,
        "rpi": cut != 0 and sign == 0,
    }[mode]
    return ("num", sign, whole + up, 0)


def to_int(x):
    """The integer that an integral number is."""
    value = x[2] << x[3] if x[3] >= 0 else x[2] >> -x[3]
    return -value if x[1] else value
