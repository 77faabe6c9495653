"""Approximations of floating point functions, by the errors that they may have (PTX ISA 9.0, 9.7.3, 9.7.4)."""

import math

from . import floats
from .arithmetic import ONE, add_form, add_half_forms, roots
from .cases import inputs_for
from .floats import BF16, F16, F32, F64, NAN, from_float, to_float


def around(fmt, exact, relative=0.0, absolute=0.0, flush=False):
    """All numbers of the format within the error of the exact value, which is a Python float."""
    if exact != exact:
        return fmt.encode(NAN) if fmt.canonical else "nan"
    if math.isinf(exact) or (exact == 0 and absolute == 0):
        return fmt.encode(from_float(exact))
    error = abs(exact) * relative + absolute
    error += abs(exact) * 2.0**-50  # of Python's own functions
    least, most = fmt.round(from_float(exact - error), "rm"), fmt.round(from_float(exact + error), "rp")
    if flush:  # what may be subnormal may be zero
        sign = int(math.copysign(1, exact) < 0)
        if fmt.is_subnormal(least) or fmt.is_subnormal(most):
            least, most = (least, ("num", 1, 0, 0)) if sign else (("num", 0, 0, 0), most)
    return f"{fmt.encode(least):x}~{fmt.encode(most):x}"


def last_places(fmt, ulps):
    """A relative error that is at least as many last places, subnormal results aside."""
    return ulps * 2.0**-fmt.fraction_bits


def approximation(fmt, function, relative=0.0, absolute=0.0, flush=False, places=0.0):
    def result(*bits):
        numbers = [fmt.decode(b) for b in bits]
        if flush:
            numbers = [fmt.flush(x) for x in numbers]
        exact = function(*(to_float(x) for x in numbers))
        bound = absolute(*(to_float(x) for x in numbers)) if callable(absolute) else absolute
        if exact != 0 and not math.isinf(exact) and exact == exact and abs(exact) < 2.0 ** (fmt.least + fmt.fraction_bits):
            bound += places * 2.0**fmt.least  # last places of subnormal numbers
        # A result beyond the largest number is infinite.
        if exact == exact and not math.isinf(exact) and fmt.round(from_float(exact))[0] == "inf":
            exact = math.copysign(float("inf"), exact)
        return around(fmt, exact, relative, bound, flush)
    return result


def guarded(function, otherwise=float("nan")):
    def result(*values):
        try:
            return function(*values)
        except OverflowError:
            return float("inf")
        except ValueError:
            return otherwise
    return result


def quotient(a, b):
    """div.approx: divisors beyond 2^126 count as infinite."""
    if abs(b) > 2.0**126:
        b = math.copysign(float("inf"), b)
    return to_float(floats.divide(from_float(a), from_float(b), F64))


def whole_quotient(a, b):
    return to_float(floats.divide(from_float(a), from_float(b), F64))


def reciprocal(a):
    return to_float(floats.divide(ONE, from_float(a), F64))


def reciprocal_root(a):
    if a == 0:
        return math.copysign(float("inf"), a)
    return guarded(lambda v: 1.0 / math.sqrt(v))(a)


def logarithm(a):
    if a == 0:
        return -float("inf")
    return guarded(math.log2)(a)


def trigonometric_error(a):
    """2^-20.5 within two turns of the circle, 2^-14.7 within 100 pi, nothing beyond it."""
    return 2.0**-20.5 if abs(a) <= 2 * math.pi else 2.0**-14.7 if abs(a) <= 100 * math.pi else 2.0


def add_all(cases):
    one = inputs_for("approximate", ["f32"], count=96)
    two = inputs_for("quotients", ["f32"] * 2, count=160)
    circle = one + [(F32.encode(F32.round(from_float(0.37 * i - 9))),) for i in range(50)]
    powers = one + [(F32.encode(F32.round(from_float(4.7 * i - 160))),) for i in range(64)]
    near_one = one + [(0x3F800000 + i * 0x1234 - 0x60000,) for i in range(64)]
    for flush in ("", ".ftz"):
        ftz = flush != ""
        single = {
            "div.approx": (two, quotient, {"relative": last_places(F32, 2), "places": 2}),
            "div.full": (two, whole_quotient, {"relative": last_places(F32, 2), "places": 2}),
            "rcp.approx": (one, reciprocal, {"relative": last_places(F32, 1), "places": 1}),
            "sqrt.approx": (roots(F32), guarded(math.sqrt), {"relative": 2.0**-23}),
            "rsqrt.approx": (one, reciprocal_root, {"relative": 2.0**-22.9}),
            "ex2.approx": (powers, guarded(lambda a: 2.0**a), {"relative": 2.0**-22, "places": 1}),
            "lg2.approx": (near_one, logarithm, {"relative": 2.0**-22, "absolute": lambda a:
                                                 2.0**-22 if 0.5 < a < 2 else 0.0}),
            "sin.approx": (circle, guarded(math.sin), {"absolute": trigonometric_error}),
            "cos.approx": (circle, guarded(math.cos), {"absolute": trigonometric_error}),
        }
        for name, (inputs, function, bounds) in single.items():
            add_form(cases, name + flush, F32, len(inputs[0]), approximation(F32, function, flush=ftz, **bounds), inputs)
    add_form(cases, "tanh.approx", F32, 1, approximation(F32, math.tanh, relative=2.0**-11, places=1), powers)

    for fmt, error in ((F16, 2.0**-10.987), (BF16, 2.0**-8)):
        inputs = inputs_for("tanh", [fmt.name], count=96)
        add_half_forms(cases, "tanh.approx", fmt, 1, approximation(fmt, math.tanh, absolute=error), inputs)
    inputs = inputs_for("ex2", ["f16"], count=96)
    add_half_forms(cases, "ex2.approx", F16, 1,
                   approximation(F16, guarded(lambda a: 2.0**a), relative=2.0**-9.9, places=1), inputs)
    inputs = inputs_for("ex2", ["bf16"], count=96)
    add_half_forms(cases, "ex2.approx.ftz", BF16, 1,
                   approximation(BF16, guarded(lambda a: 2.0**a), relative=2.0**-7, flush=True), inputs)

    # They see the upper halves of inputs and give those of results: 20 bits of fraction.
    doubles = inputs_for("double approximations", ["f64"], count=96)
    for name, function in (("rcp.approx.ftz", reciprocal), ("rsqrt.approx.ftz", reciprocal_root)):
        add_form(cases, name, F64, 1, approximation(F64, function, relative=2.0**-19, flush=True), doubles)
    add_form(cases, "rsqrt.approx", F64, 1, approximation(F64, reciprocal_root, relative=2.0**-22.9), doubles)
