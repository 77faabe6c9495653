"""Comparisons, selections, logic on predicates (PTX ISA 9.0, 9.7.6, 9.7.8)."""

from .cases import inputs_for, seeded, width_of
from .floats import F16, F32, F64, FORMATS, compare, is_zero
from .integers import value

#: For a comparison's outcome -1, 0, 1: whether the operator holds.
ORDERED = {
    "eq": {0}, "ne": {-1, 1}, "lt": {-1}, "le": {-1, 0}, "gt": {1}, "ge": {0, 1},
}
UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
COMBINE = {"": None, ".and": lambda x, c: x & c, ".or": lambda x, c: x | c, ".xor": lambda x, c: x ^ c}


def operators(type_name):
    """Name and truth for (a, b), of all operators of a type."""
    if type_name in FORMATS:
        fmt = FORMATS[type_name]

        def of(outcomes, unordered, flush=False):
            def holds(a, b):
                x, y = fmt.decode(a), fmt.decode(b)
                side = compare(*((fmt.flush(x), fmt.flush(y)) if flush else (x, y)))
                return int(unordered if side is None else side in outcomes)
            return holds
        everything = {-1, 0, 1}
        table = {name: (outcomes, False) for name, outcomes in ORDERED.items()}
        table.update({name + "u": (outcomes, True) for name, outcomes in ORDERED.items()})
        table.update(num=(everything, False), nan=(set(), True))
        for name, (outcomes, unordered) in table.items():
            yield name, "", of(outcomes, unordered)
            if fmt in (F32, F16):
                yield name, ".ftz", of(outcomes, unordered, True)
        return

    def of_integers(outcomes):
        def holds(a, b):
            x, y = value(a, type_name), value(b, type_name)
            return int((x > y) - (x < y) in outcomes)
        return holds
    names = dict(ORDERED)
    if type_name[0] == "u":
        names.update({name: ORDERED[same] for name, same in UNSIGNED_NAMES.items()})
    if type_name[0] == "b":
        names = {name: ORDERED[name] for name in ("eq", "ne")}
    for name, outcomes in names.items():
        yield name, "", of_integers(outcomes)


TYPES = ["b16", "b32", "b64", "s16", "u16", "s32", "u32", "s64", "u64", "f32", "f64"]


def some(vectors, name, count=40):
    """Fewer of them, others for each opcode: there are thousands of these opcodes."""
    return seeded(name).sample(vectors, min(count, len(vectors)))


def set_predicates(cases):
    for t in TYPES + ["f16", "bf16"]:
        w = width_of(t)
        two = inputs_for("setp", [t, t], count=40)
        three = inputs_for("setp", [t, t, "p"], count=24)
        for name, flush, holds in operators(t):
            for suffix, combine in COMBINE.items():
                opcode = f"setp.{name}{suffix}{flush}.{t}"
                if combine is None:
                    cases.add(opcode, ["dp", f"r{w}", f"r{w}"], two, holds)
                    if t not in ("f16", "bf16"):  # these have no second destination
                        cases.add(opcode, ["dp|dp", f"r{w}", f"r{w}"], some(two, opcode),
                                  lambda a, b, h=holds: (h(a, b), 1 - h(a, b)))
                elif t in ("f16", "bf16"):
                    cases.add(opcode, ["dp", f"r{w}", f"r{w}", "p"], some(three, opcode),
                              lambda a, b, c, h=holds, f=combine: f(h(a, b), c))
                else:
                    cases.add(opcode, ["dp|dp", f"r{w}", f"r{w}", "p"], some(three, opcode),
                              lambda a, b, c, h=holds, f=combine: (f(h(a, b), c), f(1 - h(a, b), c)))
    for t in ("f16", "bf16"):
        two = inputs_for("setp pairs", [t + "x2", t + "x2"], count=40)
        three = inputs_for("setp pairs", [t + "x2", t + "x2", "p"], count=40)
        for name, flush, holds in operators(t):
            def halves(a, b, h=holds):
                return h(a & 0xFFFF, b & 0xFFFF), h(a >> 16, b >> 16)
            for suffix, combine in COMBINE.items():
                opcode = f"setp.{name}{suffix}{flush}.{t}x2"
                if combine is None:
                    cases.add(opcode, ["dp|dp", "r32", "r32"], two, halves)
                else:
                    cases.add(opcode, ["dp|dp", "r32", "r32", "p"], some(three, opcode),
                              lambda a, b, c, h=halves, f=combine: tuple(f(x, c) for x in h(a, b)))


#: What `set` gives for true, by the result's type.
TRUE = {"u16": 0xFFFF, "s16": 0xFFFF, "u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000, "f16": 0x3C00,
        "bf16": 0x3F80}


def set_results(source, flush):
    """The types that `set` can give from a source: what ptxas 13.0 takes for sm_90a."""
    if source == "f16":
        return ["u16", "s16", "u32", "s32", "f16"] + ([] if flush else ["bf16"])
    if source == "bf16":
        return ["u16", "s16", "u32", "s32", "bf16"]
    return ["u32", "s32", "f32", "f16"] + ([] if flush else ["bf16"])


def set_numbers(cases):
    for t in TYPES + ["f16", "bf16"]:
        w = width_of(t)
        two = inputs_for("set", [t, t], count=24)
        three = inputs_for("set", [t, t, "p"], count=24)
        for name, flush, holds in operators(t):
            for result in set_results(t, flush):
                truth, operands = TRUE[result], [f"d{width_of(result)}", f"r{w}", f"r{w}"]
                for suffix, combine in COMBINE.items():
                    opcode = f"set.{name}{suffix}{flush}.{result}.{t}"
                    if combine is None:
                        cases.add(opcode, operands, some(two, opcode), lambda a, b, h=holds, v=truth: v * h(a, b))
                    else:
                        cases.add(opcode, operands + ["p"], some(three, opcode),
                                  lambda a, b, c, h=holds, f=combine, v=truth: v * f(h(a, b), c))
    for t in ("f16", "bf16"):
        pairs = inputs_for("set pairs", [t + "x2", t + "x2", "p"], count=24)
        for name, flush, holds in operators(t):
            for result, truth in ((t + "x2", TRUE[t]), ("u32", 0xFFFF), ("s32", 0xFFFF)):
                for suffix, combine in COMBINE.items():
                    def halves(a, b, c=0, h=holds, f=combine or (lambda x, _: x), v=truth):
                        return v * f(h(a & 0xFFFF, b & 0xFFFF), c) | v * f(h(a >> 16, b >> 16), c) << 16
                    operands = ["d32", "r32", "r32"] + (["p"] if combine else [])
                    opcode = f"set.{name}{suffix}{flush}.{result}.{t}x2"
                    chosen = some(pairs, opcode)
                    cases.add(opcode, operands, chosen if combine else [p[:2] for p in chosen], halves)


def selections(cases):
    for t in ("b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"):
        w = width_of(t)
        bits = f"b{w}"
        cases.add(f"selp.{t}", [f"d{w}", f"r{w}", f"r{w}", "p"], inputs_for("selp", [bits, bits, "p"], count=32),
                  lambda a, b, c: a if c else b)
        cases.add(f"slct.{t}.s32", [f"d{w}", f"r{w}", f"r{w}", "r32"], inputs_for("slct", [bits, bits, "s32"]),
                  lambda a, b, c: b if c >> 31 else a)
        for flush in ("", ".ftz"):
            def by_sign(a, b, c, flush=flush):
                x = F32.decode(c)
                x = F32.flush(x) if flush else x
                return b if x[0] == "nan" or (x[1] == 1 and not is_zero(x)) else a
            cases.add(f"slct{flush}.{t}.f32", [f"d{w}", f"r{w}", f"r{w}", "r32"],
                      inputs_for("slct", [bits, bits, "f32"]), by_sign)


def tests(cases):
    for fmt in (F32, F64):
        checks = {
            "finite": lambda x, f=fmt: x[0] == "num",
            "infinite": lambda x, f=fmt: x[0] == "inf",
            "number": lambda x, f=fmt: x[0] != "nan",
            "notanumber": lambda x, f=fmt: x[0] == "nan",
            "normal": lambda x, f=fmt: x[0] == "num" and not f.is_subnormal(x),  # zeros count as normal
            "subnormal": lambda x, f=fmt: f.is_subnormal(x),
        }
        for name, check in checks.items():
            cases.add(f"testp.{name}.{fmt.name}", ["dp", f"r{fmt.width}"], inputs_for("testp", [fmt.name]),
                      lambda a, c=check, f=fmt: int(c(f.decode(a))))


def predicates(cases):
    two = [(a, b) for a in (0, 1) for b in (0, 1)] * 9
    cases.add("and.pred", ["dp", "p", "p"], two, lambda a, b: a & b)
    cases.add("or.pred", ["dp", "p", "p"], two, lambda a, b: a | b)
    cases.add("xor.pred", ["dp", "p", "p"], two, lambda a, b: a ^ b)
    cases.add("not.pred", ["dp", "p"], [(a,) for a, _ in two], lambda a: 1 - a)
    cases.add("mov.pred", ["dp", "p"], [(a,) for a, _ in two], lambda a: a)


def add_all(cases):
    set_predicates(cases)
    set_numbers(cases)
    selections(cases)
    tests(cases)
    predicates(cases)
