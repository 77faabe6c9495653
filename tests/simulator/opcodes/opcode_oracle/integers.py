"""Integer arithmetic, logic, shifts, bit fields, carries and moves (PTX ISA 9.0, 9.7.1, 9.7.2, 9.7.8, 9.7.9)."""

from .cases import inputs_for, integer_edges, register, width_of

SHIFTS = [0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 255, 256, 0x80000000, 0xFFFFFFFF]
FIELDS = [0, 1, 2, 5, 8, 16, 24, 31, 32, 33, 40, 63, 64, 65, 128, 255, 256, 0xFFFFFFFF]
INTEGERS = ["s16", "u16", "s32", "u32", "s64", "u64"]


def value(bits, type_name):
    """The number that the bits are."""
    width = width_of(type_name)
    bits &= (1 << width) - 1
    return bits - (1 << width) if type_name[0] == "s" and bits >> (width - 1) else bits


def wrap(number, width):
    return number & ((1 << width) - 1)


def clamp(number, type_name):
    width = width_of(type_name)
    least, most = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if type_name[0] == "s" else (0, (1 << width) - 1)
    return wrap(min(max(number, least), most), width)


def quotient(a, b):
    """Toward zero, as PTX divides."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def on_values(cases, name, types, result, function, **options):
    """A form whose operands and result are integers of these types; `function` works on numbers."""
    width = width_of(result)
    cases.add(name, [f"d{register(result)}"] + [f"r{register(t)}" for t in types],
              inputs_for(name, types, **options),
              lambda *bits: wrap(function(*(value(b, t) for b, t in zip(bits, types))), width))


def arithmetic(cases):
    wider = {16: 32, 32: 64}
    for t in INTEGERS:
        w = width_of(t)
        on_values(cases, f"add.{t}", [t, t], t, lambda a, b: a + b)
        on_values(cases, f"sub.{t}", [t, t], t, lambda a, b: a - b)
        on_values(cases, f"mul.lo.{t}", [t, t], t, lambda a, b: a * b)
        on_values(cases, f"mul.hi.{t}", [t, t], t, lambda a, b, w=w: a * b >> w)
        on_values(cases, f"mad.lo.{t}", [t, t, t], t, lambda a, b, c: a * b + c)
        on_values(cases, f"mad.hi.{t}", [t, t, t], t, lambda a, b, c, w=w: (a * b >> w) + c)
        if w < 64:
            wide = f"{t[0]}{wider[w]}"
            on_values(cases, f"mul.wide.{t}", [t, t], wide, lambda a, b: a * b)
            on_values(cases, f"mad.wide.{t}", [t, t, wide], wide, lambda a, b, c: a * b + c)
        on_values(cases, f"div.{t}", [t, t], t, lambda a, b: quotient(a, b) if b else -1)
        on_values(cases, f"rem.{t}", [t, t], t, lambda a, b: a - quotient(a, b) * b if b else a)
        on_values(cases, f"min.{t}", [t, t], t, min)
        on_values(cases, f"max.{t}", [t, t], t, max)
        on_values(cases, f"sad.{t}", [t, t, t], t, lambda a, b, c: c + abs(a - b))
        if t[0] == "s":
            on_values(cases, f"neg.{t}", [t], t, lambda a: -a)
            on_values(cases, f"abs.{t}", [t], t, abs)
    for t in ("s32", "u32"):
        small = [v if t == "u32" else wrap((v ^ 0x800000) - 0x800000, 32)
                 for v in (0, 1, 2, 3, 0x7FFFFF, 0x800000, 0xFFFFFF, 0xABCDEF, 0x123456, 0x555555)]
        for which, shift in (("lo", 0), ("hi", 16)):
            for name, types, function in (
                (f"mul24.{which}.{t}", [small, small], lambda a, b, s=shift: a * b >> s),
                (f"mad24.{which}.{t}", [small, small, t], lambda a, b, c, s=shift: (a * b >> s) + c),
            ):
                cases.add(name, ["d32"] + ["r32"] * len(types), inputs_for(name, types),
                          lambda *bits, f=function, t=t: wrap(f(*(value(b, t) for b in bits)), 32))
        if t == "s32":
            cases.add("mad24.hi.sat.s32", ["d32", "r32", "r32", "r32"], inputs_for("mad24.sat", [small, small, t]),
                      lambda a, b, c: clamp((value(a, "s32") * value(b, "s32") >> 16) + value(c, "s32"), "s32"))
    for name, count, function in (("add.sat.s32", 2, lambda a, b: a + b), ("sub.sat.s32", 2, lambda a, b: a - b),
                                  ("mad.hi.sat.s32", 3, lambda a, b, c: (a * b >> 32) + c)):
        cases.add(name, ["d32"] + ["r32"] * count, inputs_for(name, ["s32"] * count),
                  lambda *bits, f=function: clamp(f(*(value(b, "s32") for b in bits)), "s32"))
    for name, pick in (("min", min), ("max", max)):
        on_values(cases, f"{name}.relu.s32", ["s32", "s32"], "s32", lambda a, b, p=pick: max(p(a, b), 0))
    pairs(cases)
    dot_products(cases)


def pairs(cases):
    """Operations on each half of 32 bits."""
    for t in ("u16", "s16"):
        operations = [("add", lambda a, b: a + b), ("min", min), ("max", max)]
        if t == "s16":
            operations += [("min.relu", lambda a, b: max(min(a, b), 0)), ("max.relu", lambda a, b: max(a, b, 0))]
        half = integer_edges(16)
        both = [low | half[(5 * i + 2) % len(half)] << 16 for i, low in enumerate(half)]
        for name, function in operations:
            def each(a, b, t=t, f=function):
                low = wrap(f(value(a, t), value(b, t)), 16)
                return low | wrap(f(value(a >> 16, t), value(b >> 16, t)), 16) << 16
            name = f"{name}.{t}x2"
            cases.add(name, ["d32", "r32", "r32"], inputs_for(name, ["b32", "b32"]) +
                      [(a, b) for a in both for b in both[:3]], each)


def dot_products(cases):
    def fields(bits, kind, width, count, first=0):
        return [value(bits >> width * (first + i), f"{kind}{width}") for i in range(count)]

    for a_type in ("s32", "u32"):
        for b_type in ("s32", "u32"):
            ends = f"{a_type}.{b_type}"
            operands = ["d32", "r32", "r32", "r32"]
            cases.add(f"dp4a.{ends}", operands, inputs_for("dp4a", ["b32"] * 3),
                      lambda a, b, c, x=a_type[0], y=b_type[0]:
                      wrap(c + sum(i * j for i, j in zip(fields(a, x, 8, 4), fields(b, y, 8, 4))), 32))
            for half, first in (("lo", 0), ("hi", 2)):
                cases.add(f"dp2a.{half}.{ends}", operands, inputs_for("dp2a", ["b32"] * 3),
                          lambda a, b, c, x=a_type[0], y=b_type[0], first=first:
                          wrap(c + sum(i * j for i, j in zip(fields(a, x, 16, 2), fields(b, y, 8, 2, first))), 32))


def logic(cases):
    for w in (16, 32, 64):
        t = f"b{w}"
        on_values(cases, f"and.{t}", [t, t], t, lambda a, b: a & b)
        on_values(cases, f"or.{t}", [t, t], t, lambda a, b: a | b)
        on_values(cases, f"xor.{t}", [t, t], t, lambda a, b: a ^ b)
        on_values(cases, f"not.{t}", [t], t, lambda a: ~a)
        on_values(cases, f"cnot.{t}", [t], t, lambda a: int(a == 0))
        for name, kind, function in ((f"shl.{t}", t, lambda a, n: a << n), (f"shr.{t}", t, lambda a, n: a >> n),
                                     (f"shr.u{w}", t, lambda a, n: a >> n), (f"shr.s{w}", f"s{w}", lambda a, n: a >> n)):
            cases.add(name, [f"d{w}", f"r{w}", "r32"], inputs_for(name, [t, SHIFTS], count=96),
                      lambda a, n, k=kind, f=function, w=w: wrap(f(value(a, k), min(n, 100)), w))
    for w in (32, 64):
        t = f"b{w}"
        for name, function in ((f"popc.{t}", lambda a: bin(a).count("1")),
                               (f"clz.{t}", lambda a, w=w: w - a.bit_length())):
            cases.add(name, ["d32", f"r{w}"], single_bits(name, w), function)
        cases.add(f"brev.{t}", [f"d{w}", f"r{w}"], single_bits("brev", w), lambda a, w=w: int(f"{a:0{w}b}"[::-1], 2))
    cases.add("lop3.b32", ["d32", "r32", "r32", "r32", "=0x0"], inputs_for("lop3", ["b32"] * 3, count=8),
              lambda a, b, c: 0)
    for table in (0x80, 0xFE, 0x96, 0xCA, 0xE8, 0x01, 0x42, 0x1B, 0x7F, 0xD5, 0xFF):
        def chosen(a, b, c, table=table):
            return sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32))
        cases.add("lop3.b32", ["d32", "r32", "r32", "r32", f"={table:#x}"], inputs_for("lop3", ["b32"] * 3, count=8),
                  chosen)
        for name, combine in (("and", lambda p, q: p & q), ("or", lambda p, q: p | q)):
            cases.add(f"lop3.{name}.b32", ["d32|dp", "r32", "r32", "r32", f"={table:#x}", "p"],
                      inputs_for(f"lop3.{name}", ["b32", "b32", "b32", "p"], count=8),
                      lambda a, b, c, q, f=chosen, g=combine: (f(a, b, c), g(int(f(a, b, c) != 0), q)))


def single_bits(name, width):
    return inputs_for(name, [f"b{width}"]) + [(1 << i,) for i in range(width)] + [((1 << i) - 1,) for i in range(width)]


def bit_fields(cases):
    for t in ("s32", "u32", "s64", "u64"):
        w = width_of(t)

        def extract(a, b, c, w=w, signed=t[0] == "s"):
            position, length = (b & 255, c & 255) if w == 32 else (b, c)
            sign = a >> min(position + length - 1, w - 1) & 1 if signed and length else 0
            return sum((a >> (position + i) & 1 if i < length and position + i < w else sign) << i for i in range(w))
        fields = inputs_for(f"bfe.{t}", [f"b{w}", FIELDS, FIELDS], count=160)
        cases.add(f"bfe.{t}", [f"d{w}", f"r{w}", "r32", "r32"], fields, extract)

        def leading(a, w=w, t=t, amount=False):
            bits = wrap(~a if value(a, t) < 0 else a, w)
            return (w - bits.bit_length() if amount else bits.bit_length() - 1) if bits else 0xFFFFFFFF
        cases.add(f"bfind.{t}", ["d32", f"r{w}"], single_bits("bfind", w), leading)
        cases.add(f"bfind.shiftamt.{t}", ["d32", f"r{w}"], single_bits("bfind", w),
                  lambda a, f=leading: f(a, amount=True))
    for w in (32, 64):
        def insert(a, b, c, d, w=w):
            position, length = (c & 255, d & 255) if w == 32 else (c, d)
            for i in range(min(length, w)):
                if position + i < w:
                    b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
            return b
        cases.add(f"bfi.b{w}", [f"d{w}", f"r{w}", f"r{w}", "r32", "r32"],
                  inputs_for(f"bfi.b{w}", [f"b{w}", f"b{w}", FIELDS, FIELDS], count=160), insert)
    masks_and_funnels(cases)

    def nth_set(mask, base, offset):
        offset = value(offset, "s32")
        if offset == 0:
            return base if mask >> base & 1 else 0xFFFFFFFF
        places = range(base, 32) if offset > 0 else range(base, -1, -1)
        found = [i for i in places if mask >> i & 1]
        return found[abs(offset) - 1] if len(found) >= abs(offset) else 0xFFFFFFFF
    offsets = [0, 1, 2, 3, 5, 16, 32, 33, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFF0, 0x80000000, 0x7FFFFFFF]
    cases.add("fns.b32", ["d32", "r32", "r32", "r32"], inputs_for("fns", ["b32", list(range(32)), offsets], count=120),
              nth_set)
    permutations(cases)


def masks_and_funnels(cases):
    for mode in ("clamp", "wrap"):
        def amount(n, mode=mode):
            return min(n, 32) if mode == "clamp" else n & 31

        def mask(a, b, f=amount):
            return wrap(((1 << f(b)) - 1) << f(a), 32)

        def extended(a, b, signed, f=amount):
            low = a & (1 << f(b)) - 1
            return wrap(low - (1 << f(b)), 32) if signed and f(b) and low >> (f(b) - 1) & 1 else low
        cases.add(f"bmsk.{mode}.b32", ["d32", "r32", "r32"], inputs_for("bmsk", [SHIFTS, SHIFTS], count=120), mask)
        inputs = inputs_for("szext", ["b32", SHIFTS], count=96)
        cases.add(f"szext.{mode}.u32", ["d32", "r32", "r32"], inputs, lambda a, b, f=extended: f(a, b, False))
        cases.add(f"szext.{mode}.s32", ["d32", "r32", "r32"], inputs, lambda a, b, f=extended: f(a, b, True))
        inputs = inputs_for("shf", ["b32", "b32", SHIFTS], count=96)
        cases.add(f"shf.l.{mode}.b32", ["d32", "r32", "r32", "r32"], inputs,
                  lambda a, b, n, f=amount: wrap((b << 32 | a) << f(n) >> 32, 32))
        cases.add(f"shf.r.{mode}.b32", ["d32", "r32", "r32", "r32"], inputs,
                  lambda a, b, n, f=amount: wrap((b << 32 | a) >> f(n), 32))


def permutations(cases):
    def permuted(a, b, selectors):
        """`selectors` from the highest byte of the result to the lowest."""
        both = (b << 32 | a).to_bytes(8, "little")
        result = 0
        for s in selectors:
            byte = both[s & 7]
            result = result << 8 | ((255 if byte & 128 else 0) if s & 8 else byte)
        return result
    cases.add("prmt.b32", ["d32", "r32", "r32", "r32"], inputs_for("prmt", ["b32"] * 3, count=96),
              lambda a, b, c: permuted(a, b, [c >> 4 * i & 15 for i in (3, 2, 1, 0)]))
    modes = {
        "f4e": lambda n: [n + 3, n + 2, n + 1, n],
        "b4e": lambda n: [(n - 3) % 8, (n - 2) % 8, (n - 1) % 8, n],
        "rc8": lambda n: [n] * 4,
        "ecl": lambda n: [max(i, n) for i in (3, 2, 1, 0)],
        "ecr": lambda n: [min(i, n) for i in (3, 2, 1, 0)],
        "rc16": lambda n: [2 * (n & 1) + 1, 2 * (n & 1)] * 2,
    }
    for mode, selectors in modes.items():
        cases.add(f"prmt.b32.{mode}", ["d32", "r32", "r32", "r32"], inputs_for(f"prmt.{mode}", ["b32"] * 3, count=48),
                  lambda a, b, c, f=selectors: permuted(a, b, f(c & 3)))


def carries(cases):
    """`carry` is one input where the instruction reads it, and one more result where it writes it."""
    for t in ("s32", "u32", "s64", "u64"):
        w = width_of(t)
        chains = {
            ("add", "addc"): (2, lambda a, b, carry=0, w=w: divmod_pair(a + b + carry, w)),
            ("sub", "subc"): (2, lambda a, b, carry=1, w=w: (wrap(a - b - 1 + carry, w), int(a >= b + 1 - carry))),
            ("mad.lo", "madc.lo"): (3, lambda a, b, c, carry=0, w=w: divmod_pair(wrap(a * b, w) + c + carry, w)),
            ("mad.hi", "madc.hi"): (3, lambda a, b, c, carry=0, w=w, t=t:
                                    divmod_pair(wrap(value(a, t) * value(b, t) >> w, w) + c + carry, w)),
        }
        for (first, following), (count, function) in chains.items():
            operands = [f"d{w}"] + [f"r{w}"] * count
            inputs = inputs_for(f"{first}.cc.{t}", [f"b{w}"] * count, count=48)
            with_carry = inputs_for(f"{following}.{t}", [f"b{w}"] * count + ["p"], count=72)
            cases.add(f"{first}.cc.{t}", operands + ["carry:out"], inputs, function)
            cases.add(f"{following}.{t}", operands + ["carry:in"], with_carry, lambda *v, f=function: f(*v)[0])
            cases.add(f"{following}.cc.{t}", operands + ["carry:in:out"], with_carry, function)


def divmod_pair(number, width):
    return number & (1 << width) - 1, number >> width


def moves(cases):
    for t in ("b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"):
        w = width_of(t)
        cases.add(f"mov.{t}", [f"d{w}", f"r{w}"], inputs_for("mov", [f"b{w}"], count=32), lambda a: a)
    # Windows of the generic address space: the device's own choice (simulator/memory/device_memory.hpp).
    shared, local, param, end = 1 << 40, 2 << 40, 3 << 40, 4 << 40
    own = shared + (1 << 24)  # above it lies the memory of other blocks of the cluster
    addresses = [(a,) for a in (0, 256, shared - 1, shared, shared + 4, own - 1, own, local - 1, local, local + 8, param - 1, param,
                                end - 1, end)]
    windows = {"global": (0, 0), "const": (0, 0), "shared": (shared, own), "shared::cta": (shared, own),
               "shared::cluster": (shared, local), "local": (local, param), "param": (param, end),
               "param::entry": (param, end)}
    for space, (base, last) in windows.items():
        cases.add(f"cvta.{space}.u64", ["d64", "r64"], [(0,), (4,), (0x10000,)], lambda a, b=base: a + b)
        cases.add(f"cvta.to.{space}.u64", ["d64", "r64"], [(base,), (base + 4,), (base + 0x10000,)],
                  lambda a, b=base: a - b)
        if last > 0:
            cases.add(f"isspacep.{space}", ["dp", "r64"], addresses, lambda a, b=base, e=last: int(b <= a < e))
    cases.add("isspacep.global", ["dp", "r64"], addresses, lambda a: int(a < shared or a >= end))


def add_all(cases):
    arithmetic(cases)
    logic(cases)
    bit_fields(cases)
    carries(cases)
    moves(cases)
