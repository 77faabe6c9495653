"""Floating point arithmetic in single, double and half precision (PTX ISA 9.0, 9.7.3, 9.7.4)."""

from . import floats
from .cases import inputs_for, random_float, seeded
from .floats import BF16, F16, F32, F64, NAN, compare, negate

ONE = ("num", 0, 1, 0)
ZERO = ("num", 0, 0, 0)


def saturated(x):
    """.sat, of an exact value: rounding cannot leave 0..1."""
    if x[0] == "nan" or compare(x, ZERO) <= 0:
        return ZERO
    return ONE if compare(x, ONE) > 0 else x


def rectified(x):
    """.relu"""
    return ZERO if x[0] != "nan" and compare(x, ZERO) <= 0 else x


def operation(fmt, exact, mode="rn", flush=False, sat=False, relu=False, early=None):
    """From bits to bits: `exact` takes numbers and gives one that is exact, or rounded already.

    `early` gives the result before rounding, or near enough, where .ftz looks at that.
    """
    def function(*bits):
        numbers = [fmt.decode(b) for b in bits]
        if flush:
            numbers = [fmt.flush(x) for x in numbers]
        result = fmt.round(exact(*numbers), mode)
        if flush:
            before = early(*numbers) if early else result
            result = fmt.flush(before) if fmt.is_subnormal(before) else fmt.flush(result)
        if sat:
            result = saturated(result)
        if relu:
            result = rectified(result)
        return fmt.encode(result)
    return function


def each_half(function):
    """The same on both halves of 32 bits: the lower result, the upper one."""
    return lambda *packed: (function(*(p & 0xFFFF for p in packed)), function(*(p >> 16 for p in packed)))


def add_form(cases, name, fmt, count, function, inputs=None, result=""):
    operands = [f"d{fmt.width}"] + [f"r{fmt.width}"] * count
    cases.add(f"{name}.{fmt.name}", operands, inputs or inputs_for(name, [fmt.name] * count), function,
              result or fmt.name)


def add_half_forms(cases, name, fmt, count, function, inputs):
    """A form for one number and the one for a pair, whose upper halves are the same inputs in another order."""
    add_form(cases, name, fmt, count, function, inputs)
    pairs = [tuple(low | high << 16 for low, high in zip(one, other))
             for one, other in zip(inputs, inputs[len(inputs) // 3:] + inputs[:len(inputs) // 3])]
    cases.add(f"{name}.{fmt.name}x2", ["d32"] + ["r32"] * count, pairs, each_half(function), fmt.name + "x2")


# --- inputs that make roundings hard ------------------------------------------------------------------------------------


def sums(fmt, count=64):
    """The second operand is about half a last place of the first one, or cancels it."""
    rng = seeded("sums" + fmt.name)
    vectors = []
    for _ in range(count):
        a = random_float(rng, fmt)
        number = fmt.decode(a)
        if number[0] != "num" or number[2] == 0:
            continue
        _, sign, m, e = number
        half = fmt.round(("num", rng.getrandbits(1), 1, e - 1))
        vectors.append((a, max(0, fmt.encode(half) + rng.choice([-1, 0, 0, 1]))))
        vectors.append((a, fmt.encode(negate(fmt.round(("num", sign, m + rng.randint(-1, 1), e))))))
    return vectors


def fused(fmt, count=64):
    """The sum cancels most of the product, or lies halfway between two results, or tips such a tie."""
    rng = seeded("fused" + fmt.name)
    vectors = []
    for _ in range(count):
        a, b = (random_float(rng, fmt) for _ in range(2))
        product = floats.multiply(fmt.decode(a), fmt.decode(b))
        if product[0] != "num" or product[2] == 0:
            continue
        rounded = fmt.round(product)
        vectors.append((a, b, fmt.encode(negate(rounded))))
        tiny = fmt.round(("num", rng.getrandbits(1), 1, product[3] - rng.randint(1, 2 * fmt.fraction_bits)))
        vectors.append((a, b, fmt.encode(tiny)))
    # A product of 1 + ties, tipped by the smallest number: 80 bits lie between them in half precision.
    p = fmt.fraction_bits
    one = fmt.bias << p
    for x in range(1, 9):
        for c in (1, 1 | fmt.sign_bit, 1 << p, (1 << p) | fmt.sign_bit):
            # (1 + 2^-p)(1 + 2^-1) = 1.5 + 2^-p + 2^-(p+1): halfway
            vectors.append((one + x, one + (1 << (p - 1)), c))
    return vectors


def of_two(fmt):
    return inputs_for("two" + fmt.name, [fmt.name] * 2, count=96) + sums(fmt) + borders(fmt)


def of_three(fmt):
    return inputs_for("three" + fmt.name, [fmt.name] * 3, count=64) + fused(fmt)


def borders(fmt, count=48):
    """Products and quotients beside the smallest normal number."""
    rng = seeded("borders" + fmt.name)
    smallest = ("num", 0, 1, fmt.least + fmt.fraction_bits)
    vectors = []
    for _ in range(count):
        one = ("num", rng.getrandbits(1), 1 << fmt.fraction_bits | rng.getrandbits(fmt.fraction_bits) >> rng.choice([0, 9]),
               smallest[3] // 2 - fmt.fraction_bits)
        a = fmt.encode(one)
        vectors.append((a, fmt.encode(floats.divide(smallest, one, fmt)) + rng.choice([-1, 0, 1])))
        vectors.append((a, fmt.encode(("num", 0, one[2], one[3] - smallest[3])) + rng.choice([-1, 0, 1, 2])))
    return vectors


def roots(fmt):
    """Squares, and a last place beside them."""
    rng = seeded("roots" + fmt.name)
    vectors = inputs_for("one" + fmt.name, [fmt.name], count=64)
    for _ in range(32):
        m = rng.getrandbits(fmt.fraction_bits // 2)
        square = fmt.encode(fmt.round(("num", 0, m * m, 2 * rng.randint(-8, 8))))
        vectors.append((max(0, square + rng.choice([-1, 0, 1])),))
    return vectors


# --- forms --------------------------------------------------------------------------------------------------------------


def modifiers(fmt, saturation):
    """("", flush, saturate) for the modifiers an arithmetic instruction has."""
    if fmt is F64 or fmt is BF16:
        return [("", False, False)]
    plain = [("", False, False), (".ftz", True, False)]
    return plain + [(".sat", False, True), (".ftz.sat", True, True)] if saturation else plain


def single_and_double(cases):
    for fmt in (F32, F64):
        two, three, one = of_two(fmt), of_three(fmt), roots(fmt)
        for mode in ("", "rn", "rz", "rm", "rp"):
            rounding = mode or "rn"
            dotted = "." + mode if mode else ""
            exact = {
                "add": (two, lambda a, b, r=rounding: floats.add(a, b, r), True),
                "sub": (two, lambda a, b, r=rounding: floats.add(a, negate(b), r), True),
                "mul": (two, floats.multiply, True),
            }
            if mode:
                exact["fma"] = exact["mad"] = (three, lambda a, b, c, r=rounding: floats.fma(a, b, c, r), True)
                exact["div"] = (two, lambda a, b, r=rounding, f=fmt: floats.divide(a, b, f, r), False)
                exact["rcp"] = (one, lambda a, r=rounding, f=fmt: floats.divide(ONE, a, f, r), False)
                exact["sqrt"] = (one, lambda a, r=rounding, f=fmt: floats.square_root(a, f, r), False)
            early = {"mul": floats.multiply} if rounding == "rn" else {
                "div": lambda a, b: floats.divide(a, b, F64, "rz"),
                "rcp": lambda a: floats.divide(ONE, a, F64, "rz"),
            }
            for name, (inputs, function, saturation) in exact.items():
                for suffix, flush, sat in modifiers(fmt, saturation):
                    if name == "rcp" and fmt is F64:
                        add_form(cases, f"rcp{dotted}.ftz", F64, 1, operation(F64, function, rounding), inputs)
                    add_form(cases, name + dotted + suffix, fmt, len(inputs[0]),
                             operation(fmt, function, rounding, flush, sat, early=early.get(name)), inputs)


def pairs_and_mixed(cases):
    """Two floats in 64 bits, and floats beside factors and terms of 16 bits: sm_100."""
    two, three = of_two(F32), of_three(F32)
    for mode in ("", "rn", "rz", "rm", "rp"):
        rounding = mode or "rn"
        dotted = "." + mode if mode else ""
        exact = {
            "add": lambda a, b, r=rounding: floats.add(a, b, r),
            "sub": lambda a, b, r=rounding: floats.add(a, negate(b), r),
            "mul": floats.multiply,
            "fma": lambda a, b, c, r=rounding: floats.fma(a, b, c, r),
        }
        for name, function in exact.items():
            if name == "fma" and not mode:
                continue
            inputs = (three if name == "fma" else two)[::4]
            for suffix, flush in (("", False), (".ftz", True)):
                early = floats.multiply if name == "mul" and rounding == "rn" else None
                one = operation(F32, function, rounding, flush, early=early)
                pairs = [tuple(low | high << 32 for low, high in zip(a, b))
                         for a, b in zip(inputs, inputs[len(inputs) // 3:] + inputs[:len(inputs) // 3])]
                cases.add(f"{name}{dotted}{suffix}.f32x2", ["@sm_100a", "d64"] + ["r64"] * len(inputs[0]), pairs,
                          lambda *v, f=one: f(*(x & 0xFFFFFFFF for x in v)) | f(*(x >> 32 for x in v)) << 32)
            if name == "mul":
                continue
            for fmt in (F16, BF16):
                types = [fmt.name] * (len(inputs[0]) - 1) + ["f32"]
                for suffix, sat in (("", False), (".sat", True)):
                    def mixed(*bits, f=function, fmt=fmt, rounding=rounding, sat=sat):
                        numbers = [fmt.decode(b) for b in bits[:-1]] + [F32.decode(bits[-1])]
                        result = F32.round(f(*numbers), rounding)
                        return F32.encode(saturated(result) if sat else result)
                    cases.add(f"{name}{dotted}{suffix}.f32.{fmt.name}",
                              ["@sm_100a", "d32"] + ["r16"] * (len(types) - 1) + ["r32"],
                              inputs_for(f"mixed {name}", types, count=96)[::2], mixed, "f32")


def extrema_of_three(cases):
    inputs = inputs_for("extrema of three", ["f32"] * 3, count=160)[::2]
    for pick in ("min", "max"):
        for nan in ("", ".NaN"):
            for magnitudes in ("", ".abs"):
                for flush in ("", ".ftz"):
                    def function(a, b, c, f=extremum(pick, nan != "", False), magnitudes=magnitudes):
                        if magnitudes:
                            a, b, c = floats.absolute(a), floats.absolute(b), floats.absolute(c)
                        return f(f(a, b), c)
                    cases.add(f"{pick}{flush}{nan}{magnitudes}.f32", ["@sm_100a", "d32", "r32", "r32", "r32"], inputs,
                              operation(F32, function, flush=flush != ""), "f32")


def extremum(pick, propagate, combine):
    """min and max: `pick` is one of them; -0 is less than +0."""
    def order(x):
        return (x[1] == 0)

    def function(a, b):
        if combine:
            negative = a[0] != "nan" and b[0] != "nan" and a[1] != b[1]
            a, b = floats.absolute(a), floats.absolute(b)
        if a[0] == "nan" and b[0] == "nan" or propagate and "nan" in (a[0], b[0]):
            return NAN
        if a[0] == "nan" or b[0] == "nan":
            chosen = b if a[0] == "nan" else a
        else:
            side = compare(a, b) or order(a) - order(b)
            chosen = (a if side <= 0 else b) if pick == "min" else (a if side >= 0 else b)
        return negate(chosen) if combine and negative else chosen
    return function


def extrema(cases):
    for fmt in (F32, F64, F16, BF16):
        inputs = inputs_for("extrema", [fmt.name] * 2, count=120)
        for pick in ("min", "max"):
            for nan in ("", ".NaN"):
                for signs in ("", ".xorsign.abs"):
                    if fmt is F64 and (nan or signs):
                        continue
                    for flush in ("", ".ftz"):
                        if flush and fmt in (F64, BF16):
                            continue
                        used = inputs
                        if signs and not nan:  # the sign that a NaN brings is open
                            used = [v for v in inputs if all(fmt.decode(b)[0] != "nan" for b in v) or
                                    all(fmt.decode(b)[0] == "nan" for b in v)]
                        function = operation(fmt, extremum(pick, nan != "", signs != ""), flush=flush != "")
                        name = f"{pick}{flush}{nan}{signs}"
                        if fmt in (F16, BF16):
                            add_half_forms(cases, name, fmt, 2, function, used)
                        else:
                            add_form(cases, name, fmt, 2, function, used)


def signs(cases):
    """neg and abs change one bit of a number; which NaN a NaN becomes is open. copysign changes one bit of anything."""
    for fmt in (F32, F64, F16, BF16):
        for name, function in (("neg", negate), ("abs", floats.absolute)):
            for flush in ("", ".ftz"):
                if flush and fmt in (F64, BF16):
                    continue

                def result(bits, f=function, fmt=fmt, flush=flush):
                    x = fmt.decode(bits)
                    return "nan" if x[0] == "nan" else fmt.encode(f(fmt.flush(x) if flush else x))
                inputs = inputs_for(name, [fmt.name], count=64)
                if fmt in (F16, BF16):
                    add_half_forms(cases, name + flush, fmt, 1, result, inputs)
                else:
                    add_form(cases, name + flush, fmt, 1, result, inputs)
    for fmt in (F32, F64):
        add_form(cases, "copysign", fmt, 2,
                 lambda a, b, fmt=fmt: a & fmt.sign_bit | b & (fmt.sign_bit - 1))


def half_precision(cases):
    for fmt in (F16, BF16):
        two, three = of_two(fmt), of_three(fmt)
        for mode in ("", ".rn"):
            for suffix, flush, sat in modifiers(fmt, True):
                for name, function in (("add", floats.add), ("sub", lambda a, b: floats.add(a, negate(b))),
                                       ("mul", floats.multiply)):
                    add_half_forms(cases, name + mode + suffix, fmt, 2, operation(fmt, function, "rn", flush, sat), two)
        fma = [(suffix, flush, sat, False) for suffix, flush, sat in modifiers(fmt, True)] + [(".relu", 0, 0, True)]
        if fmt is F16:
            fma.append((".ftz.relu", True, False, True))
        for suffix, flush, sat, relu in fma:
            add_half_forms(cases, "fma.rn" + suffix, fmt, 3, operation(fmt, floats.fma, "rn", flush, sat, relu), three)
        outside = [(a, b, c) for a, b, c in three[::6]]
        for oob in (0x7ff7, 0xfff7):  # what a copy by tensor map writes outside of the tensor
            outside += [(oob, b, c) for _, b, c in three[::40]] + [(a, oob, c) for a, _, c in three[::40]]
            outside += [(a, b, oob) for a, b, _ in three[::40]]
        for suffix, relu in ((".oob", False), (".oob.relu", True)):
            plain = operation(fmt, floats.fma, "rn", 0, 0, relu)
            add_half_forms(cases, "fma.rn" + suffix, fmt, 3,
                           lambda a, b, c, f=plain: 0 if 0x7ff7 in (a & 0x7fff, b & 0x7fff, c & 0x7fff) else f(a, b, c),
                           outside)


def add_all(cases):
    single_and_double(cases)
    pairs_and_mixed(cases)
    extrema(cases)
    extrema_of_three(cases)
    signs(cases)
    half_precision(cases)
