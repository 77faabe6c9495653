"""Video instructions (PTX ISA 9.0, 9.7.18 and 9.7.19), a sample of their modifiers and selectors.

What is compared with the third operand (.min, .max) is cut to 32 bits before.
"""

from .cases import inputs_for, seeded
from .integers import value, wrap

SCALAR = ["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"]
OPERATIONS = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
    "vavrg": lambda a, b: (a + b + (1 if a + b >= 0 else 0)) >> 1,
}
COMPARISONS = {
    "eq": lambda a, b: int(a == b), "ne": lambda a, b: int(a != b), "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b), "gt": lambda a, b: int(a > b), "ge": lambda a, b: int(a >= b),
}


def bounds(selector):
    """The lowest bit and the width of what a selector names."""
    if not selector:
        return 0, 32
    width = 8 if selector[1] == "b" else 16
    return int(selector[2]) * width, width


def part(word, selector, type_name):
    low, width = bounds(selector)
    return value(word >> low, f"{type_name[0]}{width}")


def saturated(number, width, type_name):
    least, most = (-(1 << width - 1), (1 << width - 1) - 1) if type_name[0] == "s" else (0, (1 << width) - 1)
    return min(max(number, least), most)


def secondary(name, number, c, type_name):
    """The 32 bits that are left, together with c."""
    number = value(number, type_name)
    c = value(c, type_name)
    return wrap({"": number, ".add": number + c, ".min": min(number, c), ".max": max(number, c)}[name], 32)


def merge(number, selector, c):
    low, width = bounds(selector)
    mask = ((1 << width) - 1) << low
    return c & ~mask | number << low & mask


def scalar_inputs(name, count):
    return inputs_for(name, ["b32"] * count, count=24)[::3]


def shift(left, mode):
    def function(a, b):
        by = min(b, 32) if mode == "clamp" else b & 31
        return a << by if left else a >> by
    return function


def scalars(cases):
    """One at a time: without a third operand, merged into it, or together with it."""
    rng = seeded("video")
    forms = []
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        forms += [(name, "", OPERATIONS[name], None)] * 24
    for comparison, function in COMPARISONS.items():
        forms += [("vset", "." + comparison, function, "u32")] * 5
    for name in ("vshl", "vshr"):
        for mode in ("clamp", "wrap"):
            forms += [(name, "." + mode, shift(name == "vshl", mode), None)] * 10
    for name, modifier, function, d_type in forms:
        a_type, b_type = rng.choice(["s32", "u32"]), "u32" if name in ("vshl", "vshr") else rng.choice(["s32", "u32"])
        result_type = d_type or rng.choice(["s32", "u32"])
        a, b = rng.choice(SCALAR), rng.choice(SCALAR)
        ending = rng.choice(["", "merge", ".add", ".min", ".max"])
        d = rng.choice(SCALAR[1:]) if ending == "merge" else ""
        sat = rng.choice(["", ".sat"]) if name != "vset" else ""
        types = f"{a_type}.{b_type}" if name == "vset" else f"{result_type}.{a_type}.{b_type}"
        opcode = f"{name}.{types}" + (modifier if name == "vset" else sat + modifier)
        operands = [f"d32{d}", f"r32{a}", f"r32{b}"]
        if ending:
            operands.append("r32")
            opcode += "" if ending == "merge" else ending

        def result(x, y, c=0, f=function, s=(a, b, d, ending), t=(a_type, b_type, result_type), sat=sat):
            number = f(part(x, s[0], t[0]), part(y, s[1], t[1]))
            if sat:
                number = saturated(number, bounds(s[2])[1], t[2])
            return merge(number, s[2], c) if s[2] else secondary(s[3], number, c, t[2])
        cases.add(opcode, operands, scalar_inputs(opcode + str(operands), len(operands) - 1), result)


def multiply_add(cases):
    rng = seeded("vmad")
    for i in range(60):
        a_type, b_type = rng.choice(["s32", "u32"]), rng.choice(["s32", "u32"])
        a, b = rng.choice(SCALAR), rng.choice(SCALAR)
        plus_one, scale, sat = i % 5 == 0, rng.choice(["", ".shr7", ".shr15"]), rng.choice(["", ".sat"])
        a_sign, b_sign, c_sign = ("", "", "") if plus_one else rng.choice(
            [("", "", ""), ("-", "", ""), ("", "-", ""), ("", "", "-"), ("-", "-", ""), ("", "", "")])
        signed = "s32" in (a_type, b_type) or (a_sign != b_sign) or c_sign != ""

        def result(x, y, c, s=(a, b), t=(a_type, b_type), negate=a_sign != b_sign, c_negated=c_sign != "",
                   plus_one=plus_one, scale=scale, sat=sat, signed=signed):
            number = part(x, s[0], t[0]) * part(y, s[1], t[1])
            if plus_one:
                number += 1
            elif negate:
                number = ~number + 1
            elif c_negated:
                c, number = wrap(~c, 32), number + 1
            number += value(c, "s32") if signed else c
            number >>= {"": 0, ".shr7": 7, ".shr15": 15}[scale]
            number = value(number, "s64" if signed else "u64")
            return wrap(saturated(number, 32, "s32" if signed else "u32") if sat else number, 32)
        kind = "s32" if signed else "u32"
        opcode = f"vmad.{kind}.{a_type}.{b_type}{'.po' if plus_one else ''}{sat}{scale}"
        operands = ["d32", f"{a_sign}r32{a}", f"{b_sign}r32{b}", f"{c_sign}r32"]
        cases.add(opcode, operands, scalar_inputs(opcode + str(operands), 3), result)


def in_parts(cases):
    """Two or four beside each other; a selector's digits are places among the parts of both registers."""
    rng = seeded("parts")
    forms = [(name, function) for name, function in OPERATIONS.items() for _ in range(8)]
    forms += [("vset", comparison) for comparison in COMPARISONS for _ in range(2)]
    for parts in (2, 4):
        width, letter = 32 // parts, "h" if parts == 2 else "b"
        for name, function in forms:
            types = [rng.choice(["s32", "u32"]) for _ in range(3)]
            accumulate = rng.choice(["", ".add"])
            sat = rng.choice(["", ".sat"]) if name != "vset" and not accumulate else ""
            chosen = [rng.choice([None, [rng.randrange(2 * parts) for _ in range(parts)]]) for _ in range(2)]
            written = rng.choice([None, sorted(rng.sample(range(parts), rng.randint(1, parts)))])
            if name == "vset":
                opcode = f"vset{parts}.{types[1]}.{types[2]}.{function}{accumulate}"
                types[0] = "u32"
            else:
                opcode = f"{name}{parts}.{'.'.join(types)}{sat}{accumulate}"
            selectors = ["" if places is None else f".{letter}" + "".join(str(p) for p in reversed(places))
                         for places in (written, *chosen)]

            def result(x, y, c, f=COMPARISONS.get(function, function), types=types, sat=sat, n=parts, w=width,
                       a=chosen[0] or range(parts), b=chosen[1] or range(parts, 2 * parts),
                       written=range(parts) if written is None else written, accumulate=accumulate):
                both = y << 32 | x
                for i in written:
                    number = f(value(both >> w * a[i], f"{types[1][0]}{w}"), value(both >> w * b[i], f"{types[2][0]}{w}"))
                    if sat:
                        number = saturated(number, w, types[0])
                    c = wrap(c + number, 32) if accumulate else merge(number, f".{'h' if n == 2 else 'b'}{i}", c)
                return c
            operands = [f"d32{selectors[0]}", f"r32{selectors[1]}", f"r32{selectors[2]}", "r32"]
            cases.add(opcode, operands, scalar_inputs(opcode + str(operands), 3), result)


def add_all(cases):
    scalars(cases)
    multiply_add(cases)
    in_parts(cases)
