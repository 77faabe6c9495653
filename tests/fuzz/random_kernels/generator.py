"""Makes random kernels, as text for nvcc and for g++, and their input."""

from __future__ import annotations

import random
import re
import struct
from dataclasses import dataclass, field
from typing import Callable, Iterator, Optional

from random_kernels.operations import (APPROXIMATIONS, BITS, C_NAMES, COMMON, DEVICE, OPERATIONS, PTX, REDUCTIONS, TYPES, WIDE_APPROXIMATIONS,
                                       approximation, ptx_function)

SLOTS = 40
"""Words that each thread writes, besides the four of its vector."""
SHARED_WORDS = 16
"""At the end of the output: all threads change them."""
INPUT_WORDS = 5120


@dataclass
class Node:
    """A statement; with children, `head` is what opens them."""

    head: str
    children: Optional[list["Node"]] = None
    tail: str = "}"

    def lines(self, left_out: set[int], indent: int = 1) -> Iterator[str]:
        if id(self) in left_out:
            return
        yield "  " * indent + self.head
        if self.children is not None:
            for child in self.children:
                yield from child.lines(left_out, indent + 1)
            yield "  " * indent + self.tail

    def every(self) -> Iterator["Node"]:
        yield self
        for child in self.children or ():
            yield from child.every()


@dataclass
class Kernel:
    name: str
    globals: list[Node] = field(default_factory=list)
    body: list[Node] = field(default_factory=list)

    def text(self, left_out: set[int]) -> str:
        lines = [line for node in self.globals for line in node.lines(left_out, 0)]
        lines.append(f'extern "C" __global__ void {self.name}(const unsigned* in, unsigned* out) {{')
        lines += [line for node in self.body for line in node.lines(left_out)]
        return "\n".join([*lines, "}", ""])


class Generator:
    """Random kernels for blocks of `threads` threads."""

    def __init__(self, draw: random.Random, threads: int) -> None:
        self.draw = draw
        self.threads = threads
        self.names = 0
        self.variables: dict[str, list[str]] = {}
        self.fixed: set[str] = set()
        self.functions: list[Callable[[], str]] = []
        self.kernel = Kernel("")
        self.slot = 0

    def new_name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    # -- expressions --------------------------------------------------------------------------------------------------
    def literal(self, kind: str) -> str:
        draw = self.draw
        if kind == "bool":
            return draw.choice(("true", "false"))
        if kind == "f32":
            return f"{draw.choice((0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-3, 1e10, 16777216.0))!r}f"
        if kind == "f64":
            return repr(draw.choice((0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-3, 1e100, 9007199254740992.0)))
        if kind == "f16":
            return f"__ushort_as_half((unsigned short){draw.choice((0, 0x3c00, 0xbc00, 0x0001, 0x7bff, 0x5640))})"
        if kind == "bf16":
            return f"__ushort_as_bfloat16((unsigned short){draw.choice((0, 0x3f80, 0xbf80, 0x0080, 0x7f7f, 0x4228))})"
        size = BITS[kind]
        value = draw.choice((0, 1, 2, 3, 5, 7, 31, 32, 63, (1 << (size - 1)) - 1, 1 << (size - 1), (1 << size) - 1,
                             draw.getrandbits(size), draw.getrandbits(size)))
        return f"(({C_NAMES[kind]}){value}ull)"

    def leaf(self, kind: str) -> str:
        known = self.variables.get(kind)
        if known and self.draw.random() < 0.85:
            return self.draw.choice(known)
        return self.literal(kind)

    def expression(self, kind: str, depth: int = 3) -> str:
        if depth == 0 or self.draw.random() < 0.12:
            return self.leaf(kind)
        if self.functions and kind == "u32" and self.draw.random() < 0.06:
            return self.draw.choice(self.functions)()
        operation = self.draw.choice(OPERATIONS[kind])
        return operation.text.format(*(self.expression(argument, depth - 1) for argument in operation.arguments))

    def some(self, depth: int = 3) -> str:
        """A word of any type."""
        return f"fold({self.expression(self.draw.choice(TYPES), depth)})"

    # -- statements ---------------------------------------------------------------------------------------------------
    def assignment(self) -> Node:
        kinds = [kind for kind, names in self.variables.items() if set(names) - self.fixed and kind != "bool"]
        kind = self.draw.choice(kinds)
        name = self.draw.choice([name for name in self.variables[kind] if name not in self.fixed])
        return Node(f"{name} = {self.expression(kind)};")

    def declaration(self) -> Node:
        kind = self.draw.choice(TYPES)
        name = self.new_name("v")
        node = Node(f"{C_NAMES[kind]} {name} = {self.expression(kind)};")
        self.variables.setdefault(kind, []).append(name)
        return node

    def mixing(self) -> Node:
        return Node(f"sum = sum * 0x01000193u ^ {self.some()};")

    def scoped(self, make: Callable[[], list[Node]]) -> list[Node]:
        before = {kind: list(names) for kind, names in self.variables.items()}
        nodes = make()
        self.variables = before
        return nodes

    def statements(self, count: int, depth: int) -> list[Node]:
        return self.scoped(lambda: [self.statement(depth) for _ in range(count)])

    def statement(self, depth: int) -> Node:
        kinds: list[Callable[[], Node]] = [self.assignment, self.assignment, self.mixing, self.declaration]
        if depth > 0:
            kinds += [lambda: self.branch(depth), lambda: self.loop(depth), lambda: self.cases(depth)]
        kinds += [self.local_array, self.memory_read, self.global_atomic]
        return self.draw.choice(kinds)()

    def branch(self, depth: int) -> Node:
        first = self.statements(self.draw.randint(1, 3), depth - 1)
        if self.draw.random() < 0.5:
            return Node(f"if ({self.expression('bool')}) {{", first)
        return Node(f"if ({self.expression('bool')}) {{",
                    [*first, Node("} else {"), *self.statements(self.draw.randint(1, 3), depth - 1)])

    def loop(self, depth: int) -> Node:
        counter = self.new_name("i")
        bound = self.new_name("n")
        limit = f"({self.expression('u32', 2)} & {self.draw.choice((1, 3, 7))}u) + {self.draw.randint(0, 2)}u"
        self.variables.setdefault("u32", []).append(counter)
        self.fixed.add(counter)
        body = self.statements(self.draw.randint(1, 3), depth - 1)
        if self.draw.random() < 0.4:
            leave = self.draw.choice(("break", "continue"))
            body.insert(self.draw.randrange(len(body) + 1), Node(f"if ({self.expression('bool', 2)}) {leave};"))
        self.variables["u32"].remove(counter)
        unroll = self.draw.choice(("", "#pragma unroll 1\n", "#pragma unroll 2\n"))
        if self.draw.random() < 0.25:
            head = f"for (unsigned {counter} = {limit}; {counter}-- != 0;) {{"
            return Node("{", [Node(head, body)])
        return Node("{", [Node(f"const unsigned {bound} = {limit};"),
                          Node(f"{unroll}for (unsigned {counter} = 0; {counter} < {bound}; ++{counter}) {{", body)])

    def cases(self, depth: int) -> Node:
        count = self.draw.randint(2, 7)
        children: list[Node] = []
        for index in range(count):
            label = f"case {index}: {{" if index + 1 < count else "default: {"
            children.append(Node(label, self.statements(self.draw.randint(1, 2), depth - 1)))
            if self.draw.random() < 0.8:
                children.append(Node("break;"))
        return Node(f"switch ({self.expression('u32')} % {count + self.draw.randint(0, 1)}u) {{", children)

    def local_array(self) -> Node:
        name = self.new_name("local")
        what = self.draw.random()
        first, second, last = (f"({self.expression('u32', 2)} & 7u)" for _ in range(3))
        if what < 0.2:
            members = {"a": "u8", "b": "u32", "c": "u64", "d": "u16"}
            member = self.draw.choice(list(members))
            fill = " ".join(f"{name}[i].{key} = ({C_NAMES[kind]})({self.expression(kind, 1)} + i);"
                            for key, kind in members.items())
            return Node("{", [Node(f"Odd {name}[8];"), Node(f"for (unsigned i = 0; i < 8; ++i) {{ {fill} }}"),
                              Node(f"{name}[{first}].{member} = {self.expression(members[member])};"),
                              Node(f"{name}[{second}] = {name}[{last}];"),
                              Node(f"for (unsigned i = 0; i < 8; ++i) sum = sum * 31u ^ fold({name}[i].{member}) ^ "
                                   f"{name}[i].a;")])
        kind = self.draw.choice(("u8", "i16", "u32", "u64", "f32", "f64"))
        return Node("{", [Node(f"{C_NAMES[kind]} {name}[8];"),
                          Node(f"for (unsigned i = 0; i < 8; ++i) {name}[i] = {self.expression(kind, 1)};"),
                          Node(f"{name}[{first}] = {self.expression(kind)};"),
                          Node(f"{name}[{second}] = {self.expression(kind)};"),
                          Node(f"sum = sum * 31u ^ fold({name}[{last}]);"),
                          Node(f"for (unsigned i = 0; i < 8; ++i) sum = sum * 31u + fold({name}[i]);")])

    def memory_read(self) -> Node:
        index = f"({self.expression('u32', 2)} & 511u)"
        what = self.draw.randrange(8)
        if what == 0:
            return Node(f"{{ const uint4 v = ((const uint4*)in)[{index}]; sum = sum * 31u ^ (v.x + v.z * 3u ^ v.y - v.w); }}")
        if what == 1:
            return Node(f"{{ const ulonglong2 v = ((const ulonglong2*)in)[{index}]; sum = sum * 31u ^ fold(v.x - v.y * 3ull); }}")
        if what == 2:
            return Node(f"{{ const uchar4 v = ((const uchar4*)in)[{index}]; sum = sum * 31u ^ (unsigned)(v.x + v.y * v.z - v.w); }}")
        if what == 3:
            return Node(f"{{ const short2 v = ((const short2*)in)[{index}]; sum = sum * 31u ^ (unsigned)(v.x - v.y); }}")
        if what == 4:
            kind = self.draw.choice(("u8", "i8", "u16", "i16", "u32", "i64"))
            load = self.draw.choice(("__ldg", "__ldcg", "__ldcs"))
            return Node(f"sum = sum * 31u ^ fold({load}((const {C_NAMES[kind]}*)in + {index}));")
        if what == 5:
            name = self.draw.choice((f"constant_{self.kernel.name}", f"table_{self.kernel.name}"))
            return Node(f"sum = sum * 31u ^ fold({name}[{self.expression('u32', 2)} & 15u]);")
        if what == 6:
            return Node(f"{{ Odd v; memcpy(&v, (const char*)in + {index} * 4 + 1, sizeof v); sum = sum * 31u ^ (v.b + v.d) ^ fold(v.c); }}")
        return Node(f"{{ const ushort4 v = ((const ushort4*)in)[{index}]; sum = sum * 31u ^ (unsigned)(v.x * 5 + v.y - v.z * v.w); }}")

    def global_atomic(self) -> Node:
        """Changes of words of all threads that give the same in any order; what they return is not looked at."""
        place = "out + accumulators + {}"
        word = f"(unsigned*)({place})"
        wide = f"(unsigned long long*)({place})"
        value = self.expression("u32", 2)
        choices = [
            f"atomicAdd({word.format(0)}, {value});", f"atomicMin({word.format(1)}, {value});",
            f"atomicMax({word.format(2)}, {value});", f"atomicAnd({word.format(3)}, {value});",
            f"atomicOr({word.format(4)}, {value});", f"atomicXor({word.format(5)}, {value});",
            f"atomicAdd({wide.format(6)}, {self.expression('u64', 2)});",
            f"atomicMax((long long*)({place.format(8)}), {self.expression('i64', 2)});",
            f"atomicInc({word.format(10)}, 12u);", f"atomicDec({word.format(11)}, 1000u);",
            f"atomicAdd((float*)({place.format(12)}), __uint2float_rn({value} & 15u));",
            f"atomicMin((int*)({place.format(13)}), (int)({value}));",
            f"atomicAdd((double*)({place.format(14)}), __uint2double_rn({value} & 255u));",
        ]
        chosen = self.draw.choice(choices)
        return Node(chosen)

    # -- what only stands where all threads of the block are ----------------------------------------------------------
    def target(self, kind: str) -> str:
        return self.draw.choice([name for name in self.variables[kind] if name not in self.fixed])

    def warp_value(self, mask: str, whole: bool) -> Node:
        draw = self.draw
        kind = draw.choice(("u32", "i32", "u64", "i64", "f32", "f64"))
        value = self.expression(kind, 2)
        what = draw.randrange(8)
        if what <= 2:
            lane = f"nth_lane({mask}, {self.expression('u32', 2)})"
            text = f"__shfl_sync({mask}, {value}, {lane})"
            if whole and self.threads % 32 == 0:
                width = draw.choice((32, 32, 16, 8, 4, 2))
                text = draw.choice((
                    f"__shfl_sync({mask}, {value}, {self.expression('i32', 1)}, {width})",
                    f"__shfl_up_sync({mask}, {value}, {self.expression('u32', 1)} & 31u, {width})",
                    f"__shfl_down_sync({mask}, {value}, {self.expression('u32', 1)} & 31u, {width})",
                    f"__shfl_xor_sync({mask}, {value}, {self.expression('i32', 1)} & 31, {width})"))
            return Node(f"{self.target(kind)} = {text};")
        target = self.target("u32")
        if what == 3:
            way = draw.choice(("ballot", "all", "any"))
            return Node(f"{target} = (unsigned)__{way}_sync({mask}, {self.expression('bool', 2)});")
        if what == 4:
            kind = draw.choice(("u32", "i32", "u64", "i64"))
            return Node(f"{target} = __match_any_sync({mask}, ({C_NAMES[kind]})({self.expression(kind, 2)} & 3));")
        if what == 5:
            flag = self.new_name("flag")
            return Node(f"{{ int {flag}; {target} = __match_all_sync({mask}, {self.expression('u32', 2)} & 1u, &{flag}) * 2u + "
                        f"(unsigned){flag}; }}")
        if what == 6:
            return Node(f"{target} = reduced_{draw.choice(('and', 'or', 'xor', 'add', 'min', 'max'))}({mask}, "
                        f"{self.expression('u32', 2)});")
        return Node(f"{self.target('i32')} = reduced_{draw.choice(('add', 'min', 'max'))}({mask}, {self.expression('i32', 2)});")

    def warp_step(self) -> Node:
        what = self.draw.random()
        if what < 0.5:
            return self.warp_value("mask", True)
        goes, members = self.new_name("goes"), self.new_name("members")
        if what < 0.75:
            inside = [self.warp_value(members, False) for _ in range(self.draw.randint(1, 2))]
            inside.insert(1, self.assignment())
            return Node("{", [Node(f"const bool {goes} = {self.expression('bool')};"),
                              Node(f"const unsigned {members} = __ballot_sync(mask, {goes});"),
                              Node(f"if ({goes}) {{", inside)])
        counter = self.new_name("i")
        limit = self.new_name("n")
        return Node("{", [
            Node(f"unsigned {members} = mask;"), Node(f"const unsigned {limit} = {self.expression('u32', 2)} & 7u;"),
            Node(f"for (unsigned {counter} = 0; {counter} < 8; ++{counter}) {{", [
                Node(f"const bool {goes} = {counter} < {limit};"),
                Node(f"{members} = __ballot_sync({members}, {goes});"), Node(f"if (!{goes}) break;"),
                self.warp_value(members, False), self.assignment()])])

    def block_step(self) -> Node:
        what = self.draw.random()
        name = self.new_name("shared")
        if what < 0.55:
            kind = self.draw.choice(("u8", "u16", "i32", "u32", "u64", "f32", "f64"))
            index = f"(threadIdx.x * {self.draw.choice((1, 3, 5, 7))}u + {self.draw.randint(0, 40)}u) % {self.threads}u"
            other = f"({self.expression('u32', 1)}) % {self.threads}u"
            return Node("{", [Node(f"__shared__ {C_NAMES[kind]} {name}[{self.threads}];"), Node("__syncthreads();"),
                              Node(f"{name}[threadIdx.x] = {self.expression(kind)};"), Node("__syncthreads();"),
                              Node(f"sum = sum * 31u ^ fold({name}[{self.draw.choice((index, other))}]);")])
        if what < 0.7:
            way = self.draw.choice(("count", "and", "or"))
            return Node(f"{self.target('i32')} = __syncthreads_{way}({self.expression('bool')});")
        wide = self.new_name("wide")
        word = self.expression("u32", 2)
        changes = [f"atomicAdd({name}, {word});", f"atomicMax({name} + 1, {word});", f"atomicMin({name} + 2, {word});",
                   f"atomicXor({name} + 3, {word});", f"atomicOr({name} + 4, {word});", f"atomicAnd({name} + 5, {word});",
                   f"atomicInc({name} + 6, 20u);", f"atomicAdd({wide}, {self.expression('u64', 2)});",
                   f"atomicAdd((float*){name} + 7, __uint2float_rn({word} & 7u));",
                   f"{{ const unsigned ticket = atomicAdd({name} + 8, 1u); atomicXor({name} + 9, ticket * ticket + 1u); }}",
                   f"{{ unsigned old = {name}[10], seen; do {{ seen = old; old = atomicCAS({name} + 10, seen, seen + ({word} | 1u)); }} "
                   "while (old != seen); }"]
        chosen = self.draw.sample(changes, 4)
        if any("atomicCAS" in change for change in chosen):
            chosen = [change.replace(f"old = {name}[10]", f"old = atomicAdd({name} + 10, 0u)") for change in chosen]
        return Node("{", [
            Node(f"__shared__ unsigned {name}[16];"), Node(f"__shared__ unsigned long long {wide}[1];"),
            Node("__syncthreads();"), Node(f"if (threadIdx.x < 16) {name}[threadIdx.x] = 0;"),
            Node(f"if (threadIdx.x == 0) {wide}[0] = 0;"), Node("__syncthreads();"),
            *(Node(f"if ({self.expression('bool', 2)}) {{ {change} }}") for change in chosen), Node("__syncthreads();"),
            Node(f"sum = sum * 31u ^ {name}[{self.expression('u32', 1)} % 11u] ^ fold({wide}[0]);")])

    # -- a thread's own words -----------------------------------------------------------------------------------------
    def next_slot(self, count: int = 1) -> int:
        self.slot += count
        return self.slot - count

    def stored(self) -> Node:
        return Node(f"OUT({self.next_slot()}) = {self.some()};")

    def own_atomic(self) -> Node:
        """An atomic operation on a word of the thread's own: what it returns is known."""
        if self.draw.random() < 0.4:
            place, kind = "(unsigned long long*)(out + 4 * thread)", "u64"
            way = self.draw.choice(("Add", "Exch", "Min", "Max", "And", "Or", "Xor", "CAS"))
            first, given = self.expression(kind, 1), self.expression(kind, 2)
            given = f"{self.expression(kind, 1)}, {given}" if way == "CAS" else given
            return Node("{", [Node(f"*{place} = {first};"), Node(f"sum = sum * 31u ^ fold(atomic{way}({place}, {given}));")])
        slot = self.next_slot()
        place = f"&OUT({slot})"
        value = self.expression("u32", 2)
        way = self.draw.choice(("Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "And", "Or", "Xor", "CAS"))
        given = f"{self.expression('u32', 1)}, {value}" if way == "CAS" else value
        return Node("{", [Node(f"OUT({slot}) = {self.expression('u32', 1)};"),
                          Node(f"sum = sum * 31u ^ atomic{way}({place}, {given});")])

    def approximated(self) -> Node:
        if self.draw.random() < 0.2:
            name = self.draw.choice(list(WIDE_APPROXIMATIONS))
            x, y = self.expression("f64", 1), self.expression("f64", 1)
            slot = self.next_slot(2)
        else:
            name = self.draw.choice(list(APPROXIMATIONS))
            x, y = self.expression("f32", 1), self.expression("f32", 1)
            slot = self.next_slot()
            x, y = f"settled({x})", f"settled({y})"
        return Node(f"NEAR_{name}(4 * all + {slot} * all + thread, {x}, {y});")

    # -- a kernel -----------------------------------------------------------------------------------------------------
    def function(self, name: str) -> Node:
        """A function that is called, with an early return and a loop."""
        outer, self.variables = self.variables, {"u32": ["a", "b"], "f32": ["f"], "u64": ["w"]}
        functions, self.functions = self.functions, []
        body = [Node(f"if ({self.expression('bool', 2)}) return {self.some(2)};"), Node("unsigned sum = a;")]
        if self.draw.random() < 0.5:
            body.append(Node(f"for (unsigned i = 0; i < (b & 3u); ++i) a = {self.expression('u32')};"))
        body.append(self.mixing())
        if self.draw.random() < 0.5:
            body.append(Node(f"if (a > b) f = {self.expression('f32')}; else w = {self.expression('u64')};"))
        body.append(Node(f"return sum ^ {self.some()} ^ {self.some()};"))
        self.variables, self.functions = outer, functions
        inlined = self.draw.choice(("__noinline__ ", "__noinline__ ", ""))
        return Node(f"static {inlined}__device__ unsigned {name}(unsigned a, unsigned b, float f, unsigned long long w) {{", body)

    def structure_function(self, name: str) -> Node:
        outer, self.variables = self.variables, {"u32": ["a", "m.e"], "f32": ["m.c"], "u64": ["m.d"], "i16": ["m.b"], "u8": ["m.a"]}
        functions, self.functions = self.functions, []
        kinds = {"a": "u8", "b": "i16", "c": "f32", "d": "u64", "e": "u32"}
        body = [Node(f"if (a & 1u) m.{key} = {self.expression(kind, 2)};") for key, kind in kinds.items()]
        body.append(Node(f"m.f = (int)({self.expression('u32', 2)} & 511u) - 256;"))
        body.append(Node("return m;"))
        self.variables, self.functions = outer, functions
        return Node(f"static __noinline__ __device__ Mixed {name}(Mixed m, unsigned a) {{", body)

    def prelude(self) -> None:
        name = self.kernel.name
        words = ", ".join(f"{self.draw.getrandbits(32)}u" for _ in range(16))
        shorts = ", ".join(str(self.draw.randint(-32768, 32767)) for _ in range(16))
        top = self.kernel.globals
        top.append(Node(f"static __constant__ unsigned constant_{name}[16] = {{{words}}};"))
        top.append(Node(f"__device__ short table_{name}[16] = {{{shorts}}};"))
        for index in range(2):
            top.append(self.function(f"called_{name}_{index}"))
        top.append(self.structure_function(f"structure_{name}"))
        recursion = f"recursion_{name}"
        self.variables = {"u32": ["n", "a"], "f32": ["f"]}
        top.append(Node(f"static __noinline__ __device__ unsigned {recursion}(unsigned n, unsigned a, float f) {{", [
            Node(f"if (n == 0) return {self.some(2)};"),
            Node(f"const unsigned inner = {recursion}(n - 1, {self.expression('u32', 2)}, {self.expression('f32', 2)});"),
            Node(f"return inner * 31u ^ {self.some(2)};")]))
        top.append(Node(f"typedef unsigned (*Function_{name})(unsigned, unsigned, float, unsigned long long);"))
        top.append(Node(f"__device__ Function_{name} functions_{name}[2] = {{called_{name}_0, called_{name}_1}};"))

        def arguments() -> str:
            kinds = ("u32", "u32", "f32", "u64")
            return ", ".join(self.expression(kind, 1) for kind in kinds)
        self.functions = [
            lambda: f"called_{name}_0({arguments()})", lambda: f"called_{name}_1({arguments()})",
            lambda: f"functions_{name}[{self.expression('u32', 1)} & 1u]({arguments()})",
            lambda: f"{recursion}({self.expression('u32', 1)} & 3u, {self.expression('u32', 1)}, {self.expression('f32', 1)})"]

    def make(self, name: str) -> Kernel:
        self.kernel = Kernel(name)
        self.slot, self.names = 0, 0
        self.fixed, self.functions = set(), []
        self.prelude()
        self.variables = {"u32": ["thread"]}
        self.fixed = {"thread"}
        body = self.kernel.body
        body += [Node("const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;"),
                 Node("const unsigned all = gridDim.x * blockDim.x;"),
                 Node(f"const unsigned accumulators = {4 + SLOTS}u * all;"),
                 Node("const unsigned mask = lanes_of_warp();"), Node("unsigned sum = 0;")]
        for kind in TYPES:
            for _ in range(2):
                variable = self.new_name("v")
                body.append(Node(f"{C_NAMES[kind]} {variable} = {self.read(kind)};"))
                self.variables.setdefault(kind, []).append(variable)
        makers = [*[lambda: self.statement(2)] * 6, *[self.stored] * 6, *[self.warp_step] * 3, *[self.block_step] * 2,
                  self.own_atomic, *[self.approximated] * 3]
        for _ in range(self.draw.randint(14, 26)):
            body.append(self.draw.choice(makers)())
        if self.draw.random() < 0.5:
            mixed = self.new_name("mixed")
            body.append(Node("{", [
                Node(f"Mixed {mixed} = {{}};"), Node(f"{mixed}.c = {self.expression('f32', 1)};"),
                Node(f"{mixed} = structure_{name}({mixed}, {self.expression('u32', 2)});"),
                Node(f"sum = sum * 31u ^ {mixed}.a ^ (unsigned){mixed}.b ^ bits({mixed}.c) ^ fold({mixed}.d) ^ {mixed}.e ^ "
                     f"(unsigned){mixed}.f;")]))
        body.append(Node(f"OUT({self.next_slot()}) = sum;"))
        if self.draw.random() < 0.6:
            body.append(Node(f"if ({self.expression('bool')}) return;"))
            body += self.statements(self.draw.randint(1, 3), 1)
        if self.draw.random() < 0.6:
            body.append(Node("{", [Node("uint4 v;"), *(Node(f"v.{part} = {self.some(2)};") for part in "xyzw"),
                                   Node("((uint4*)out)[thread] = v;")]))
        body.append(Node(f"OUT({self.next_slot()}) = sum ^ {self.some(2)};"))
        assert self.slot <= SLOTS
        return self.kernel

    def read(self, kind: str) -> str:
        """A value of the input for each thread: INPUT_WORDS are made by input_words()."""
        place = f"thread * {self.draw.choice((1, 3, 7, 13))}u + {self.draw.getrandbits(10)}u"
        if kind == "f32":
            return f"__uint_as_float(in[{self.draw.choice((1024, 2048))}u + (({place}) & 1023u)])"
        if kind == "f64":
            return f"((const double*)in)[1536u + (({place}) & 511u)]"
        if kind == "f16":
            return f"__ushort_as_half(((const unsigned short*)in)[8192u + (({place}) & 1023u)])"
        if kind == "bf16":
            return f"__ushort_as_bfloat16(((const unsigned short*)in)[9216u + (({place}) & 1023u)])"
        if BITS[kind] == 64:
            return f"({C_NAMES[kind]})((const unsigned long long*)in)[({place}) & 511u]"
        return f"({C_NAMES[kind]})in[({place}) & 1023u]"


def input_words(draw: random.Random) -> bytes:
    """Integers; f32 of all kinds; f32 of moderate size; f64; f16 and bfloat16."""
    edges = [0, 1, 2, 7, 31, 32, 63, 127, 128, 255, 256, 32767, 32768, 65535, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe]
    integers = [draw.choice(edges) if draw.random() < 0.3 else draw.getrandbits(draw.choice((8, 16, 32))) for _ in range(1024)]
    special = [0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x800001, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
               0xffc12345, 0x7f812345, 0x3f800000, 0x3f7fffff, 0xbf800000, 0x4b800000, 0x4f000000, 0xcf000000, 0x5f000000,
               0x3f000000, 0x3fc00000, 0x40200000, 0x33800000]
    any_floats = [draw.choice(special) if draw.random() < 0.4 else draw.getrandbits(32) for _ in range(1024)]
    moderate = [struct.unpack("<I", struct.pack("<f", draw.choice((-1, 1)) * draw.random() * 10 ** draw.uniform(-4, 5)))[0]
                for _ in range(1024)]
    wide_special = [0, 1 << 63, 1, 0xfffffffffffff, 1 << 52, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
                    0x7ff8000000000000, 0x3ff0000000000000, 0x43e0000000000000, 0x41dfffffffc00000, 0x3e70000000000000]
    wide = []
    for _ in range(512):
        way = draw.random()
        if way < 0.3:
            wide.append(draw.choice(wide_special))
        elif way < 0.5:
            wide.append(draw.getrandbits(64))
        else:
            wide.append(struct.unpack("<Q", struct.pack("<d", draw.uniform(-1, 1) * 10 ** draw.uniform(-6, 8)))[0])
    small = [draw.choice((0, 0x8000, 1, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7e00))
             if draw.random() < 0.2 else draw.getrandbits(16) for _ in range(1024)]
    brain = [draw.choice((0, 0x8000, 1, 0x7f, 0x80, 0x3f80, 0xbf80, 0x7f7f, 0x7f80, 0xff80, 0x7fc0))
             if draw.random() < 0.2 else draw.getrandbits(16) for _ in range(1024)]
    return struct.pack("<3072I512Q2048H", *integers, *any_floats, *moderate, *wide, *small, *brain)


def source_text(kernels: list[Kernel], left_out: set[int]) -> str:
    """A whole program: nvcc's, and g++'s behind emulated_device.hpp."""
    bodies = "\n".join(kernel.text(left_out) for kernel in kernels)
    used = [name for name in PTX if re.search(rf"\bptx_{name}\(", bodies)]
    near = [name for name in (*APPROXIMATIONS, *WIDE_APPROXIMATIONS) if f"NEAR_{name}(" in bodies]
    functions = "\n".join(ptx_function(name, PTX[name]) for name in used)
    table = ", ".join(f'{{"{kernel.name}", {kernel.name}}}' for kernel in kernels)
    main = ("#ifndef __CUDACC__\nint main(int count, char** arguments) { return emulated::run(count, arguments, {" + table +
            "}); }\n#endif\n")
    return "\n".join([DEVICE, COMMON, REDUCTIONS, f"#ifdef __CUDACC__\n{functions}\n#endif",
                      *(approximation(name) for name in near), bodies, main])
