"""A case: one full opcode, how a kernel passes its operands, and vectors of inputs with what is expected of them.

Operands are in the order of the text:
  d16 d32 d64 dp      a destination register of that width, a predicate
  dp|dp               a pair of predicates
  r16 r32 r64 p       a source register
  =N                  an immediate
  d8 r8               a register of 8 bits
  d32.b0 -r32.h32     a part of a register, a negated one, of a video instruction
  d32|dp              a register and a predicate
  @sm_100a            not an operand: the target that the opcode needs, where it is not sm_90
and, beside the text, "carry:in", "carry:out" or "carry:in:out": the condition code register. An input says what goes in,
if the case reads it, and a result what comes out. It is the carry of an adder: 1 after a subtraction without a borrow.

A result is the bits; "nan" for any NaN of the case's result type; "LOW~HIGH" (bits) for any number of that type in
between; "any" for anything. If the case's result type is f16x2 or bf16x2, each result is given as its lower and its
upper half.

What PTX leaves undefined or to the implementation, and what is expected here:
  - the quotient of an integer division by zero has all bits set, the remainder is the dividend, as on GPUs;
  - a NaN result in single or half precision is the canonical NaN, in double precision and after cvt, neg and abs
    any NaN;
  - .ftz flushes a result that is subnormal after rounding;
  - .sat and .relu give +0 for -0;
  - mul24 and mad24 see inputs whose upper 8 bits extend the lower 24, as PTX asks for;
  - fns sees bases below 32;
  - an approximation may differ from the exact value by what PTX documents for it, and lies beside it where PTX
    documents nothing (subnormal inputs of sin and cos, for example).

Where GPUs differ from the text of PTX, what they do is expected:
  - .ftz flushes a result that is subnormal before rounding in mul.rn, and in rcp and div with .rm and .rp;
  - cvt.RND.ftz.f16.f32 keeps subnormal inputs;
  - bfe and bfi on 64 bits use all bits of position and length.
"""

import random
import zlib

from .floats import FORMATS

WIDTH = {"b8": 8, "u8": 8, "s8": 8, "f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "bf16": 16, "tf32": 32}


def width_of(type_name):
    return WIDTH.get(type_name) or int(type_name[1:])


def register(type_name):
    """The width of the register that holds a value of the type."""
    return max(16, width_of(type_name))


class Cases:
    def __init__(self):
        self.cases = []

    def add(self, opcode, operands, inputs, function, result=""):
        """`function` gives the result, or a tuple of them, for one tuple of inputs."""
        vectors = []
        for values in inputs:
            expected = function(*values)
            vectors.append((values, expected if isinstance(expected, tuple) else (expected,)))
        self.cases.append((opcode, result, operands, vectors))

    def write(self, file):
        for opcode, result, operands, vectors in self.cases:
            file.write(f"case {opcode} {result or '-'} {' '.join(operands)}\n")
            for values, expected in vectors:
                left = " ".join(f"{v:x}" for v in values)
                right = " ".join(e if isinstance(e, str) else f"{e:x}" for e in expected)
                file.write(f"{left} > {right}\n")


# --- inputs ------------------------------------------------------------------------------------------------------------


def seeded(name):
    return random.Random(zlib.crc32(name.encode()))


def integer_edges(width):
    top = 1 << (width - 1)
    mask = 2 * top - 1
    alternating = 0x5555555555555555 & mask
    return [0, 1, 2, 3, mask, mask - 1, top, top - 1, top + 1, alternating, alternating ^ mask, mask >> width // 2, 7]


def float_edges(fmt):
    """NaN with payloads, infinities, zeros, subnormals, the smallest and largest normal numbers, and plain ones."""
    one = fmt.bias << fmt.fraction_bits
    smallest = 1 << fmt.fraction_bits
    largest = ((fmt.infinity >> fmt.unused) - 1)
    infinity = fmt.infinity >> fmt.unused
    magnitudes = [0, 1, 2, smallest - 1, smallest, smallest + 1, one - 1, one, one + 1, one + smallest // 2, largest,
                  largest - 1, infinity, infinity + 1, infinity + smallest // 2, infinity + smallest - 1,
                  one + smallest, one - smallest, one + 3 * smallest + smallest // 4, largest - smallest]
    if fmt.exponent_bits == 8 and fmt.fraction_bits == 23:  # the ends of what approximations are documented for
        magnitudes += [0x7E800000, 0x7E800001, 0x7F000000, 0x40490FDB, 0x3FC90FDB, 0x43100000]
    return [m << fmt.unused for m in magnitudes] + [m << fmt.unused | fmt.sign_bit for m in magnitudes]


def random_float(rng, fmt):
    """Any bits, or an exponent near that of one, so that operands meet."""
    if rng.random() < 0.4:
        return rng.getrandbits(fmt.width)
    exponent = fmt.bias + rng.randint(-4, 4)
    return rng.getrandbits(1) << (fmt.width - 1) | exponent << fmt.fraction_bits | rng.getrandbits(fmt.fraction_bits)


def halfway(rng, fine, coarse):
    """A number of the format `fine` halfway between two neighbours of `coarse`, or a last place beside it."""
    bits = rng.randrange(coarse.infinity >> coarse.unused)
    if rng.random() < 0.3:
        bits = rng.choice([0, 1, (1 << coarse.fraction_bits) - 1, 1 << coarse.fraction_bits,
                           (coarse.infinity >> coarse.unused) - 1])
    _, _, m, e = coarse.decode(bits << coarse.unused)
    middle = fine.round(("num", rng.getrandbits(1), 2 * m + 1, e - 1), "rz")
    return max(0, fine.encode(middle) + rng.choice([-1, 0, 0, 1]))


def edges_of(type_name):
    if type_name in FORMATS:
        return float_edges(FORMATS[type_name])
    if type_name in ("f16x2", "bf16x2"):
        one = float_edges(FORMATS[type_name[:-2]])
        return [low | one[(7 * i + 3) % len(one)] << 16 for i, low in enumerate(one)]
    return integer_edges(width_of(type_name))


def random_of(rng, type_name):
    if type_name in FORMATS:
        return random_float(rng, FORMATS[type_name])
    if type_name in ("f16x2", "bf16x2"):
        fmt = FORMATS[type_name[:-2]]
        return random_float(rng, fmt) | random_float(rng, fmt) << 16
    value = rng.getrandbits(width_of(type_name))
    return value >> rng.choice([0, 0, width_of(type_name) // 2, width_of(type_name) - 3])


def special(type_name):
    """Few values of which every pair is tried: zeros, infinities, NaN, the ends of the type, one."""
    if type_name in FORMATS:
        fmt = FORMATS[type_name]
        one = fmt.bias << fmt.fraction_bits
        infinity = fmt.infinity >> fmt.unused
        return [bits << fmt.unused for m in (0, 1, one, infinity) for bits in (m, m | fmt.sign_bit >> fmt.unused)] + \
            [infinity + 1 << fmt.unused, infinity - 1 << fmt.unused]
    if type_name in ("f16x2", "bf16x2"):
        return [low | (high << 16) for low, high in zip(special(type_name[:-2]), special(type_name[:-2])[3:])]
    width = width_of(type_name)
    return [0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1]


def inputs_for(name, types, count=72):
    """Seeded vectors: all edges of one operand, or combinations of those of several, and random ones behind them.

    A type may be a list: the values to choose from. "p" is a predicate.
    """
    rng = seeded(name)
    pools = [t if isinstance(t, list) else [0, 1] if t == "p" else edges_of(t) for t in types]
    vectors = []
    if len(types) == 1:
        vectors = [(value,) for value in pools[0]]
    else:
        # Every edge of every operand at least once, together with random edges of the others.
        longest = max(len(pool) for pool in pools)
        for i in range(longest):
            vectors.append(tuple(pool[i] if i < len(pool) else rng.choice(pool) for pool in pools))
        for _ in range(count // 2):
            vectors.append(tuple(rng.choice(pool) for pool in pools))
        if types[0] == types[1] and isinstance(types[0], str):
            few = special(types[0])
            vectors += [(a, b, *(rng.choice(pool) for pool in pools[2:])) for a in few for b in few]
    for _ in range(max(count - len(vectors), count // 4)):
        vectors.append(tuple(rng.choice(pool) if isinstance(t, list) or t == "p" else random_of(rng, t)
                             for t, pool in zip(types, pools)))
    for _ in range(4 if len(types) > 1 and types[0] == types[1] else 0):  # equal operands, too
        a = rng.choice(pools[0]) if isinstance(types[0], list) else random_of(rng, types[0])
        vectors.append(tuple(a if t == types[0] else rng.choice(pool) for t, pool in zip(types, pools)))
    return vectors
