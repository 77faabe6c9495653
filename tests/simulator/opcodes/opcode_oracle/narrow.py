"""Conversions to and from floating point types of 8 bits and less (PTX ISA 9.0, 9.7.9: cvt), by the list of all numbers.

A NaN is 0x7f in both types of 8 bits, 0x7fff in f16 and bf16.
"""

from bisect import bisect_left
from fractions import Fraction

from .cases import inputs_for, seeded
from .floats import BF16, F16, F32, from_float


class Narrow:
    """`numbers[bits]` is the magnitude that the bits below the sign are; NaN and infinities are above all of them."""

    def __init__(self, name, exponent_bits, fraction_bits, above):
        self.name = name
        self.sign = 1 << (exponent_bits + fraction_bits)
        bias = (1 << (exponent_bits - 1)) - 1
        self.numbers = []
        for bits in range(self.sign - above):
            exponent, fraction = bits >> fraction_bits, bits & (1 << fraction_bits) - 1
            leading = fraction + (1 << fraction_bits if exponent else 0)
            self.numbers.append(Fraction(leading) * Fraction(2) ** (max(exponent, 1) - bias - fraction_bits))
        self.infinity = len(self.numbers) if above > 1 else None
        self.shift = 4 if self.sign == 8 else 8

    def of(self, number, relu):
        if number[0] == "nan":
            return self.sign - 1
        if relu and number[1]:
            return 0
        sign = self.sign if number[1] else 0
        most = len(self.numbers) - 1
        if number[0] == "inf":
            return sign | most
        magnitude = Fraction(number[2]) * Fraction(2) ** number[3]
        above = bisect_left(self.numbers, magnitude)
        if above > most:
            return sign | most
        if above == 0 or self.numbers[above] == magnitude:
            return sign | above
        to_above, to_below = self.numbers[above] - magnitude, magnitude - self.numbers[above - 1]
        return sign | (above if to_above < to_below or (to_above == to_below and above % 2 == 0) else above - 1)

    def half(self, bits, relu):
        """As f16, which holds all of them."""
        magnitude, negative = bits & (self.sign - 1), bits & self.sign
        if magnitude < len(self.numbers):
            number = from_float(float(self.numbers[magnitude]))
        elif magnitude == self.infinity:
            number = ("inf", 0)
        else:
            return 0x7FFF
        return 0 if relu and negative else F16.encode(number) | (0x8000 if negative else 0)


FORMATS = [Narrow("e4m3", 4, 3, 1), Narrow("e5m2", 5, 2, 4), Narrow("e2m3", 2, 3, 0), Narrow("e3m2", 3, 2, 0),
           Narrow("e2m1", 2, 1, 0)]


def ties(fmt, narrow):
    """Numbers of `fmt` halfway between two of the narrow format, and beside."""
    rng = seeded("ties" + narrow.name)
    vectors = []
    for low, high in zip(narrow.numbers, narrow.numbers[1:]):
        middle = fmt.encode(from_float(float((low + high) / 2)))
        vectors.append(max(0, middle + rng.choice([-1, 0, 0, 1])) | rng.choice([0, fmt.sign_bit]))
    end = fmt.encode(from_float(float(narrow.numbers[-1])))
    return vectors + [end - 1, end, end + 1, end | fmt.sign_bit]


def to_narrow(cases):
    for narrow in FORMATS:
        new = narrow.shift == 4 or narrow.sign == 32
        target = ["@sm_100a"] if new else []
        destination = "d8" if narrow.shift == 4 else "d16"
        singles = [v for (v,) in inputs_for("narrow", ["f32"], count=48)] + ties(F32, narrow)
        others = singles[1:] + singles[:1]
        halves = [v for (v,) in inputs_for("narrow", ["f16"], count=48)] + ties(F16, narrow)
        pairs = [(low | high << 16,) for low, high in zip(halves, halves[1:] + halves[:1])]
        for modifiers in (".satfinite", ".satfinite.relu", ".relu.satfinite"):
            relu = "relu" in modifiers

            def from_singles(high, low, n=narrow, relu=relu):
                return n.of(F32.decode(low), relu) | n.of(F32.decode(high), relu) << n.shift

            def from_halves(pair, n=narrow, relu=relu):
                return n.of(F16.decode(pair & 0xFFFF), relu) | n.of(F16.decode(pair >> 16), relu) << n.shift
            cases.add(f"cvt.rn{modifiers}.{narrow.name}x2.f32", [*target, destination, "r32", "r32"],
                      list(zip(singles, others)), from_singles)
            if not new:
                cases.add(f"cvt.rn{modifiers}.{narrow.name}x2.f16x2", ["d16", "r32"], pairs, from_halves)
        source = "r8" if narrow.shift == 4 else "r16"
        every = [(bits | (7 * bits + 3) % (2 * narrow.sign) << narrow.shift,) for bits in range(2 * narrow.sign)]
        for modifiers in ("", ".relu"):
            relu = modifiers != ""

            def to_halves(bits, n=narrow, relu=relu):
                return n.half(bits, relu) | n.half(bits >> n.shift, relu) << 16
            cases.add(f"cvt.rn{modifiers}.f16x2.{narrow.name}x2", [*target, "d32", source], every, to_halves)


def scales(cases):
    """.ue8m0: powers of two without a sign, 255 is NaN."""
    def scale(number, up, finite):
        if number[0] == "nan":
            return 255
        if number[0] == "inf":
            return 254 if finite else 255
        magnitude = Fraction(number[2]) * Fraction(2) ** number[3]
        powers = [Fraction(2) ** (bits - 127) for bits in range(255)]
        at = bisect_left(powers, magnitude)
        if not up and (at == 255 or powers[at] != magnitude):
            at = max(at - 1, 0)
        return at if at < 255 else 254 if finite else 255

    singles = [v for (v,) in inputs_for("scales", ["f32"], count=64)] + \
        [0x00400000, 0x00400001, 0x003FFFFF, 0x7F000001, 0x7F7FFFFF]
    bfloats = [v for (v,) in inputs_for("scales", ["bf16"], count=64)] + [0x40, 0x41, 0x3F, 0x7F01, 0x7F7F]
    for mode in ("rz", "rp"):
        for finite in ("", ".satfinite"):
            def one(fmt, bits, up=mode == "rp", finite=finite != ""):
                return scale(fmt.decode(bits), up, finite)
            cases.add(f"cvt.{mode}{finite}.ue8m0x2.f32", ["@sm_100a", "d16", "r32", "r32"],
                      list(zip(singles, singles[1:] + singles[:1])),
                      lambda high, low, f=one: f(F32, low) | f(F32, high) << 8)
            cases.add(f"cvt.{mode}{finite}.ue8m0x2.bf16x2", ["@sm_100a", "d16", "r32"],
                      [(low | high << 16,) for low, high in zip(bfloats, bfloats[1:] + bfloats[:1])],
                      lambda pair, f=one: f(BF16, pair & 0xFFFF) | f(BF16, pair >> 16) << 8)

    def bfloat(bits):
        return 0x7FFF if bits == 255 else BF16.encode(("num", 0, 1, bits - 127))
    cases.add("cvt.rn.bf16x2.ue8m0x2", ["@sm_100a", "d32", "r16"], [(b | (255 - b) << 8,) for b in range(256)],
              lambda bits: bfloat(bits & 255) | bfloat(bits >> 8) << 16)


def add_all(cases):
    to_narrow(cases)
    scales(cases)
