"""Conversions (PTX ISA 9.0, 9.7.9: cvt, cvt.pack). The combinations are those that ptxas 13.0 takes for sm_90a."""

from fractions import Fraction

from .arithmetic import rectified, saturated
from .cases import halfway, inputs_for, register, seeded, width_of
from .floats import BF16, F16, F32, F64, TF32, from_integer, to_int, to_integral
from .integers import clamp, value, wrap

INTEGERS = ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"]
ROUNDINGS = ["rn", "rz", "rm", "rp"]
INTEGRAL = ["rni", "rzi", "rmi", "rpi"]


def container(type_name):
    """Integers of up to 16 bits lie in registers of 32 bits here: cvt cuts sources, and fills destinations."""
    return max(32, width_of(type_name)) if type_name in INTEGERS else register(type_name)


def beside(fmt, type_name):
    """The same for conversions from and to a float; bfloat16's want registers of the integer's own width."""
    return register(type_name) if fmt is BF16 else container(type_name)


def with_rest(vectors, type_name, name):
    """Other bits above a narrow source, which must not matter."""
    rng = seeded("rest" + name)
    width = width_of(type_name)
    return [(v[0] | (rng.getrandbits(32 - width) << width),) for v in vectors] if width < 32 else vectors


def stored(number, type_name, width):
    """The integer in a register of `width` bits."""
    return wrap(value(wrap(number, width_of(type_name)), type_name), width)


def range_of(type_name):
    w = width_of(type_name)
    return (-(1 << (w - 1)), (1 << (w - 1)) - 1) if type_name[0] == "s" else (0, (1 << w) - 1)


def between_integers(cases):
    for d in INTEGERS:
        for a in INTEGERS:
            inputs = with_rest(inputs_for("cvt", [a], count=24), a, d)
            widths = [container(d)] + ([64] if width_of(d) < 64 else [])
            for w in widths:
                operands = [f"d{w}", f"r{container(a)}"]
                cases.add(f"cvt.{d}.{a}", operands, inputs, lambda x, d=d, a=a, w=w: stored(value(x, a), d, w))
                if not (range_of(d)[0] <= range_of(a)[0] and range_of(a)[1] <= range_of(d)[1]):
                    cases.add(f"cvt.sat.{d}.{a}", operands, inputs,
                              lambda x, d=d, a=a, w=w: stored(clamp(value(x, a), d), d, w))


def integer_to_float(cases):
    for fmt in (F16, BF16, F32, F64):
        for a in INTEGERS:
            if fmt is BF16 and width_of(a) == 8:
                continue
            ties = integer_ties(fmt, a)
            inputs = with_rest(inputs_for("to float", [a], count=24) + ties, a, fmt.name)
            suffixes = {F32: ["", ".ftz", ".sat", ".ftz.sat"], BF16: [""]}.get(fmt, ["", ".sat"])
            for mode in ROUNDINGS:
                for suffix in suffixes:
                    def result(x, fmt=fmt, a=a, mode=mode, sat="sat" in suffix):
                        number = fmt.round(from_integer(value(x, a)), mode)
                        return fmt.encode(saturated(number) if sat else number)
                    cases.add(f"cvt.{mode}{suffix}.{fmt.name}.{a}", [f"d{fmt.width}", f"r{beside(fmt, a)}"], inputs,
                              result, fmt.name)


def integer_ties(fmt, type_name):
    """Integers halfway between two numbers of the format, and one beside."""
    rng = seeded("ties" + fmt.name + type_name)
    bits = width_of(type_name) - (type_name[0] == "s")
    vectors = []
    for length in range(fmt.fraction_bits + 2, bits + 1):
        cut = length - fmt.fraction_bits - 1
        for odd in (0, 1):
            number = (1 << (length - 1)) | odd << cut | 1 << (cut - 1)
            number = number + rng.choice([-1, 0, 0, 1])
            vectors.append((number,))
            if type_name[0] == "s":
                vectors.append((wrap(-number, width_of(type_name)),))
    return rng.sample(vectors, min(24, len(vectors)))


def float_to_integer(cases):
    for fmt in (F16, BF16, F32, F64):
        for d in INTEGERS:
            if fmt is BF16 and width_of(d) == 8:
                continue
            inputs = inputs_for("to integer", [fmt.name], count=48) + around_integers(fmt, d)
            suffixes = {F32: ["", ".sat", ".ftz", ".ftz.sat"], BF16: [""]}.get(fmt, ["", ".sat"])
            for mode in INTEGRAL:
                for suffix in suffixes:
                    wide = [64] if width_of(d) < 64 and not suffix and fmt is not BF16 else []
                    for w in [beside(fmt, d)] + wide:
                        def result(x, fmt=fmt, d=d, mode=mode, flush="ftz" in suffix, w=w):
                            number = fmt.decode(x)
                            number = to_integral(fmt.flush(number) if flush else number, mode)
                            least, most = range_of(d)
                            if number[0] == "nan":
                                top = 1 << (width_of(d) - 1)
                                return stored(top if fmt is F64 or width_of(d) == 64 else 0, d, w)
                            if number[0] == "inf":
                                return stored(least if number[1] else most, d, w)
                            return stored(min(max(to_int(number), least), most), d, w)
                        cases.add(f"cvt.{mode}{suffix}.{d}.{fmt.name}", [f"d{w}", f"r{fmt.width}"], inputs, result)


def around_integers(fmt, type_name):
    """The ends of the range and small numbers, with halves and a last place beside them."""
    vectors = []
    for number in [*range_of(type_name), 0, 1, 2, 3, -1, -2]:
        for halves in (-1, 0, 1):
            sign, m = int(2 * number + halves < 0), abs(2 * number + halves)
            bits = fmt.encode(fmt.round(("num", sign, m, -1)))
            vectors += [(bits,), (max(0, bits - 1),), (bits + 1,)] if halves else [(bits,)]
    return vectors


def between_floats(cases):
    for d, a, modes, suffixes in float_pairs():
        for mode in modes:
            for suffix in suffixes:
                inputs = inputs_for("between", [a.name], count=48)
                if d.fraction_bits < a.fraction_bits or d.bias < a.bias:
                    rng = seeded("halfway" + d.name + a.name)
                    inputs = inputs + [(halfway(rng, a, d),) for _ in range(64)]
                function = float_result(d, a, mode, suffix)
                dotted = "." + mode if mode else ""
                new = d is TF32 and "satfinite" in suffix and mode != "rna"
                operands = ["@sm_100a"] * new + [f"d{d.width}", f"r{a.width}"]
                cases.add(f"cvt{dotted}{suffix}.{d.name}.{a.name}", operands, inputs, function, d.name)
    for fmt in (F16, BF16):
        rng = seeded("pairs" + fmt.name)
        one = [v[0] for v in inputs_for("between", ["f32"], count=48)] + [halfway(rng, F32, fmt) for _ in range(64)]
        other = one[:]
        rng.shuffle(other)
        for mode in ("rn", "rz"):
            for suffix in ("", ".relu", ".satfinite", ".relu.satfinite", ".satfinite.relu"):
                function = float_result(fmt, F32, mode, suffix)
                cases.add(f"cvt.{mode}{suffix}.{fmt.name}x2.f32", ["d32", "r32", "r32"], list(zip(one, other)),
                          lambda high, low, f=function: f(low) | f(high) << 16, fmt.name)
        randoms = [rng.getrandbits(32) for _ in one]
        for suffix in ("", ".relu", ".satfinite", ".relu.satfinite"):
            cases.add(f"cvt.rs{suffix}.{fmt.name}x2.f32", ["@sm_100a", "d32", "r32", "r32", "r32"],
                      list(zip(one, other, randoms)),
                      lambda high, low, bits, fmt=fmt, s=suffix: (at_random(fmt, low, bits & 0xffff, s) |
                                                                  at_random(fmt, high, bits >> 16, s) << 16), fmt.name)


def at_random(fmt, bits, random, suffix):
    """Single precision to a half by .rs: the random bits are added below the last place of what stays, and then it is cut.

    Numbers that are normal in both types do that on their bits; others are put in units of the smallest number."""
    count = 13 if fmt is F16 else 16
    random &= (1 << count) - 1
    toward_zero = float_result(fmt, F32, "rz", suffix)
    value = F32.decode(bits)
    if value[0] != "num" or value[2] == 0:
        return toward_zero(bits)
    _, sign, m, e = value
    top = m.bit_length() - 1 + e
    last = max(top, 1 - fmt.bias) - fmt.fraction_bits
    scaled = Fraction(m) * Fraction(2) ** (e - last + count)
    kept = (int(scaled) + random) >> count
    rounded = ("num", sign, kept, last)
    if kept * Fraction(2) ** last >= Fraction(2) ** (fmt.bias + 1):
        infinity = float_result(fmt, F32, "rn", suffix)
        return infinity(0xff800000 if sign else 0x7f800000)
    if ".relu" in suffix and sign:
        return 0
    return fmt.encode(rounded)


def float_pairs():
    """Destination, source, roundings, further modifiers."""
    clamping = [".relu", ".satfinite", ".relu.satfinite", ".satfinite.relu"]
    both = ["", ".ftz", ".sat", ".ftz.sat"]
    any_rounding = [""] + INTEGRAL
    return [
        (F16, F16, any_rounding, ["", ".sat"]),
        (BF16, BF16, any_rounding, [""]),
        (F32, F32, any_rounding, both),
        (F64, F64, any_rounding, ["", ".sat"]),
        (F32, F16, [""], both),
        (F32, BF16, [""] + ROUNDINGS, ["", ".ftz"]),
        (F64, F16, [""], ["", ".sat"]),
        (F64, BF16, [""] + ROUNDINGS, [""]),
        (F64, F32, [""], both),
        (F16, BF16, [""] + ROUNDINGS, [""]),
        (BF16, F16, [""] + ROUNDINGS, [""]),
        (F16, F32, ["rn", "rz"], both + clamping),
        (F16, F32, ["rm", "rp"], both),
        (BF16, F32, ["rn", "rz"], ["", ".ftz"] + clamping),
        (BF16, F32, ["rm", "rp"], ["", ".ftz"]),
        (F16, F64, ROUNDINGS, ["", ".sat"]),
        (BF16, F64, ROUNDINGS, [""]),
        (F32, F64, ROUNDINGS, both),
        (TF32, F32, ["rn", "rz"], ["", ".relu", ".satfinite", ".relu.satfinite", ".satfinite.relu"]),
        (TF32, F32, ["rna"], ["", ".satfinite"]),
    ]


def float_result(d, a, mode, suffix):
    def result(bits):
        number = a.decode(bits)
        if "ftz" in suffix and a is F32 and d is not F16:
            number = a.flush(number)
        if number[0] == "nan" and "sat" not in suffix.split("."):
            # Only the 16-bit destinations have a NaN that PTX names.
            return d.canonical if d in (F16, BF16) and a is not d else "nan"
        if mode in INTEGRAL:
            number = to_integral(number, mode)
        number = d.round(number, mode if mode in ROUNDINGS + ["rna"] else "rn")
        if "satfinite" in suffix and number[0] == "inf":
            number = ("num", number[1], *d.largest)
        if "sat" in suffix.split("."):
            number = saturated(number)
        if "relu" in suffix:
            number = rectified(number)
        if "ftz" in suffix and d is F32:
            number = d.flush(number)
        return d.encode(number)
    return result


def packing(cases):
    for kind in "us":
        for bits in (2, 4, 8, 16):
            to = f"{kind}{bits}"

            def narrow(x, to=to, bits=bits):
                least, most = range_of_bits(to[0], bits)
                return min(max(value(x, "s32"), least), most) & ((1 << bits) - 1)
            if bits == 16:
                cases.add(f"cvt.pack.sat.{to}.s32", ["d32", "r32", "r32"], inputs_for("pack", ["s32", "s32"]),
                          lambda a, b, f=narrow: f(a) << 16 | f(b))
            else:
                cases.add(f"cvt.pack.sat.{to}.s32.b32", ["d32", "r32", "r32", "r32"],
                          inputs_for("pack", ["s32", "s32", "b32"]),
                          lambda a, b, c, f=narrow, w=bits: wrap(c << 2 * w | f(a) << w | f(b), 32))


def range_of_bits(kind, bits):
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind == "s" else (0, (1 << bits) - 1)


def add_all(cases):
    between_integers(cases)
    integer_to_float(cases)
    float_to_integer(cases)
    between_floats(cases)
    packing(cases)
