#!/usr/bin/python3
"""Random CUDA kernels, on the simulated device and on a CPU emulation of a GPU that shares nothing with it.

Each source has some kernels and is ordinary CUDA. g++ compiles it too, with random_kernels/emulated_device.hpp in front,
which defines CUDA's names for the CPU: warps lane by lane, rounding by exact arithmetic. nvcc compiles it at -O0, at -O3
and with -use_fast_math for sm_75 to sm_120; a kernel compiled once is a compilation. Integers and rounded operations have
to agree to the bit, approximations to stay within the bounds of the PTX ISA, and no checker may find anything.

    tests/fuzz/random_kernels.py --count 1000
    tests/fuzz/random_kernels.py --seed 7 --count 100 --keep /tmp/differences

Exit status: 0 all agree, 1 there are differences, 3 it could not run, 77 nvcc is missing, 130 interrupted.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Iterator, NamedTuple, Optional

HERE = Path(__file__).resolve().parent
EMULATION = HERE / "random_kernels"
REPOSITORY = HERE.parents[1]

KERNELS = 20
"""Of a source."""
OPTIONS = 5
"""With which a source is compiled."""
SLOTS = 40
"""Words that each thread writes, besides the four of its vector."""
SHARED_WORDS = 16
"""At the end of the output: all threads change them."""
INPUT_WORDS = 5120
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)

C_NAMES = {"u8": "unsigned char", "i8": "signed char", "u16": "unsigned short", "i16": "short", "u32": "unsigned",
           "i32": "int", "u64": "unsigned long long", "i64": "long long", "f32": "float", "f64": "double",
           "f16": "__half", "bf16": "__nv_bfloat16", "bool": "bool"}
INTEGERS = ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64")
NUMBERS = ("f32", "f64", "f16", "bf16")
TYPES = INTEGERS + NUMBERS
BITS = {name: int(re.sub(r"\D", "", name)) for name in TYPES}
ROUNDINGS = ("rn", "rz", "ru", "rd")


class Operation(NamedTuple):
    """`text` with {0}, {1}, … for arguments of these types."""

    result: str
    arguments: tuple[str, ...]
    text: str


class Ptx(NamedTuple):
    """A function of one instruction or a few: its asm, and the first architecture that has it."""

    result: str
    arguments: tuple[str, ...]
    text: str
    architecture: int = 0


def _ptx() -> dict[str, Ptx]:
    u32, i32, u64, i64, f32, u16, i16 = "u32", "i32", "u64", "i64", "f32", "u16", "i16"
    # GPUs take more than the 8 bits of the ISA for fields of 64 bits.
    bounds = "{.reg .b32 b, c; and.b32 b, %2, 255; and.b32 c, %3, 255; "
    table = {
        "bfe_u32": Ptx(u32, (u32,) * 3, "bfe.u32 %0, %1, %2, %3;"),
        "bfe_s32": Ptx(i32, (i32, u32, u32), "bfe.s32 %0, %1, %2, %3;"),
        "bfe_u64": Ptx(u64, (u64, u32, u32), bounds + "bfe.u64 %0, %1, b, c;}"),
        "bfe_s64": Ptx(i64, (i64, u32, u32), bounds + "bfe.s64 %0, %1, b, c;}"),
        "bfi_b32": Ptx(u32, (u32,) * 4, "bfi.b32 %0, %1, %2, %3, %4;"),
        "bfi_b64": Ptx(u64, (u64, u64, u32, u32), bounds.replace("%3", "%4").replace("%2", "%3") + "bfi.b64 %0, %1, %2, b, c;}"),
        "bfind_u32": Ptx(u32, (u32,), "bfind.u32 %0, %1;"),
        "bfind_s32": Ptx(u32, (i32,), "bfind.s32 %0, %1;"),
        "bfind_s64": Ptx(u32, (i64,), "bfind.s64 %0, %1;"),
        "bfind_shift_u32": Ptx(u32, (u32,), "bfind.shiftamt.u32 %0, %1;"),
        "bfind_shift_u64": Ptx(u32, (u64,), "bfind.shiftamt.u64 %0, %1;"),
        "bmsk_clamp": Ptx(u32, (u32, u32), "bmsk.clamp.b32 %0, %1, %2;"),
        "bmsk_wrap": Ptx(u32, (u32, u32), "bmsk.wrap.b32 %0, %1, %2;"),
        "shl_b32": Ptx(u32, (u32, u32), "shl.b32 %0, %1, %2;"),
        "shl_b64": Ptx(u64, (u64, u32), "shl.b64 %0, %1, %2;"),
        "shr_u32": Ptx(u32, (u32, u32), "shr.u32 %0, %1, %2;"),
        "shr_s32": Ptx(i32, (i32, u32), "shr.s32 %0, %1, %2;"),
        "shr_s64": Ptx(i64, (i64, u32), "shr.s64 %0, %1, %2;"),
        "shl_b16": Ptx(u16, (u16, u32), "shl.b16 %0, %1, %2;"),
        "shr_s16": Ptx(i16, (i16, u32), "shr.s16 %0, %1, %2;"),
        "prmt": Ptx(u32, (u32,) * 3, "prmt.b32 %0, %1, %2, %3;"),
        "lop3_1d": Ptx(u32, (u32,) * 3, "lop3.b32 %0, %1, %2, %3, 0x1d;"),
        "lop3_ca": Ptx(u32, (u32,) * 3, "lop3.b32 %0, %1, %2, %3, 0xca;"),
        "lop3_6b": Ptx(u32, (u32,) * 3, "lop3.b32 %0, %1, %2, %3, 0x6b;"),
        "cnot": Ptx(u32, (u32,), "cnot.b32 %0, %1;"),
        "fns": Ptx(u32, (u32, u32, i32), "{.reg .b32 b; and.b32 b, %2, 31; fns.b32 %0, %1, b, %3;}"),
        "mad_hi_u32": Ptx(u32, (u32,) * 3, "mad.hi.u32 %0, %1, %2, %3;"),
        "mad_hi_sat_s32": Ptx(i32, (i32,) * 3, "mad.hi.sat.s32 %0, %1, %2, %3;"),
        "add_sat_s32": Ptx(i32, (i32, i32), "add.sat.s32 %0, %1, %2;"),
        "sub_sat_s32": Ptx(i32, (i32, i32), "sub.sat.s32 %0, %1, %2;"),
        "mul24_hi_s32": Ptx(i32, (i32, i32), "mul24.hi.s32 %0, %1, %2;"),
        "mul24_hi_u32": Ptx(u32, (u32, u32), "mul24.hi.u32 %0, %1, %2;"),
        "mad24_hi_sat_s32": Ptx(i32, (i32,) * 3, "mad24.hi.sat.s32 %0, %1, %2, %3;"),
        "mul_wide_u16": Ptx(u32, (u16, u16), "mul.wide.u16 %0, %1, %2;"),
        "mul_wide_s16": Ptx(i32, (i16, i16), "mul.wide.s16 %0, %1, %2;"),
        "mul_hi_s16": Ptx(i16, (i16, i16), "mul.hi.s16 %0, %1, %2;"),
        "mul_hi_u16": Ptx(u16, (u16, u16), "mul.hi.u16 %0, %1, %2;"),
        "mad_wide_s32": Ptx(i64, (i32, i32, i64), "mad.wide.s32 %0, %1, %2, %3;"),
        "sad_u16": Ptx(u16, (u16, u16, u16), "sad.u16 %0, %1, %2, %3;"),
        "add_with_carry": Ptx(u32, (u32,) * 4, "{.reg .b32 t; add.cc.u32 t, %1, %3; addc.u32 %0, %2, %4;}"),
        "sub_with_borrow": Ptx(u32, (u32,) * 4, "{.reg .b32 t; sub.cc.u32 t, %1, %3; subc.u32 %0, %2, %4;}"),
        "mad_with_carry": Ptx(u32, (u32,) * 4, "{.reg .b32 t; mad.lo.cc.u32 t, %1, %2, %3; madc.hi.u32 %0, %1, %2, %4;}"),
        "slct_s32": Ptx(u32, (u32, u32, i32), "slct.u32.s32 %0, %1, %2, %3;"),
        "slct_f32": Ptx(u32, (u32, u32, f32), "slct.u32.f32 %0, %1, %2, %3;"),
        "set_lt_s32": Ptx(u32, (i32, i32), "set.lt.u32.s32 %0, %1, %2;"),
        "set_ltu_f32": Ptx(u32, (f32, f32), "set.ltu.u32.f32 %0, %1, %2;"),
        "cvt_sat_s8_s32": Ptx(i32, (i32,), "cvt.sat.s8.s32 %0, %1;"),
        "cvt_sat_u8_s32": Ptx(u32, (i32,), "cvt.sat.u8.s32 %0, %1;"),
        "cvt_sat_s16_u32": Ptx(i32, (u32,), "cvt.sat.s16.u32 %0, %1;"),
        "cvt_sat_u32_s64": Ptx(u32, (i64,), "cvt.sat.u32.s64 %0, %1;"),
        "cvt_sat_s32_u64": Ptx(i32, (u64,), "cvt.sat.s32.u64 %0, %1;"),
        "cvt_rni_s8_f32": Ptx(i32, (f32,), "cvt.rni.s8.f32 %0, %1;"),
        "cvt_rpi_u8_f32": Ptx(u32, (f32,), "cvt.rpi.u8.f32 %0, %1;"),
        "cvt_rmi_s16_f32": Ptx(i32, (f32,), "cvt.rmi.s16.f32 %0, %1;"),
        "add_sat_f32": Ptx(f32, (f32, f32), "{.reg .f32 t; add.sat.f32 t, %1, %2; abs.f32 %0, t;}"),
        "fma_sat_f32": Ptx(f32, (f32,) * 3, "{.reg .f32 t; fma.rn.sat.f32 t, %1, %2, %3; abs.f32 %0, t;}"),
        "mul_ftz_f32": Ptx(f32, (f32, f32), "mul.rn.ftz.f32 %0, %1, %2;"),
        "min_nan_f32": Ptx(f32, (f32, f32), "min.NaN.f32 %0, %1, %2;", 80),
        "max_xorsign_f32": Ptx(f32, (f32, f32), "max.xorsign.abs.f32 %0, %1, %2;", 86),
        "cvt_rna_tf32": Ptx(u32, (f32,), "cvt.rna.tf32.f32 %0, %1;", 80),
        "fma_relu_f16": Ptx(u16, (u16,) * 3, "fma.rn.relu.f16 %0, %1, %2, %3;", 80),
        "cvt_f16x2": Ptx(u32, (f32, f32), "cvt.rn.f16x2.f32 %0, %1, %2;", 80),
        "cvt_e4m3x2": Ptx(u32, (f32, f32), "{.reg .b16 t; cvt.rn.satfinite.e4m3x2.f32 t, %1, %2; cvt.u32.u16 %0, t;}", 89),
        "cvt_e5m2x2": Ptx(u32, (f32, f32), "{.reg .b16 t; cvt.rn.satfinite.e5m2x2.f32 t, %1, %2; cvt.u32.u16 %0, t;}", 89),
    }
    pair, mixed = "{.reg .pred p, q; ", "{.reg .pred p, q, r; setp.ne.u32 r, %3, 0; "
    table.update({
        "add_f16x2": Ptx(u32, (u32, u32), "add.f16x2 %0, %1, %2;"),
        "fma_f16x2": Ptx(u32, (u32,) * 3, "fma.rn.f16x2 %0, %1, %2, %3;"),
        "mul_sat_f16x2": Ptx(u32, (u32, u32), "mul.rn.sat.f16x2 %0, %1, %2;"),
        "set_gt_f16x2": Ptx(u32, (u32, u32), "set.gt.f16x2.f16x2 %0, %1, %2;"),
        "min_f16x2": Ptx(u32, (u32, u32), "min.f16x2 %0, %1, %2;", 80),
        "max_nan_bf16x2": Ptx(u32, (u32, u32), "max.NaN.bf16x2 %0, %1, %2;", 80),
        "fma_relu_bf16x2": Ptx(u32, (u32,) * 3, "fma.rn.relu.bf16x2 %0, %1, %2, %3;", 80),
        "sub_bf16x2": Ptx(u32, (u32, u32), "sub.rn.bf16x2 %0, %1, %2;", 90),
        "vadd_sat": Ptx(u32, (u32, u32), "vadd.u32.s32.u32.sat %0, %1.b1, %2.h1;"),
        "vsub_parts": Ptx(u32, (u32, u32), "vsub.s32.u32.u32 %0, %1.h0, %2.b3;"),
        "vabsdiff_sat": Ptx(u32, (i32, i32), "vabsdiff.u32.s32.s32.sat %0, %1, %2;"),
        "vmax_add": Ptx(u32, (i32, i32, i32), "vmax.s32.s32.s32.add %0, %1, %2, %3;"),
        "vmad_shr15": Ptx(u32, (u32, u32, u32), "vmad.u32.u32.u32.shr15 %0, %1.h1, %2.h0, %3;"),
        "vset_lt": Ptx(u32, (i32, u32), "vset.s32.u32.lt %0, %1, %2;"),
        "vshr_clamp": Ptx(i32, (i32, u32), "vshr.s32.s32.u32.clamp %0, %1, %2.b0;"),
        "fma_f32x2": Ptx(u64, (u64,) * 3, "fma.rn.f32x2 %0, %1, %2, %3;", 100),
        "add_rz_f32x2": Ptx(u64, (u64, u64), "add.rz.f32x2 %0, %1, %2;", 100),
        "min3_f32": Ptx(f32, (f32,) * 3, "min.f32 %0, %1, %2, %3;", 100),
        "fma_mixed_f16": Ptx(f32, (u16, u16, f32), "fma.rn.f32.f16 %0, %1, %2, %3;", 100),
        "add_mixed_bf16": Ptx(f32, (u16, f32), "add.rz.f32.bf16 %0, %1, %2;", 100),
        "cvt_relu_bf16x2": Ptx(u32, (f32, f32), "cvt.rn.relu.bf16x2.f32 %0, %1, %2;", 80),
        "cvt_rz_f16x2": Ptx(u32, (f32, f32), "cvt.rz.f16x2.f32 %0, %1, %2;", 80),
        "cvt_f16x2_e4m3x2": Ptx(u32, (u16,), "cvt.rn.f16x2.e4m3x2 %0, %1;", 89),
        "cvt_f16x2_e5m2x2": Ptx(u32, (u16,), "cvt.rn.f16x2.e5m2x2 %0, %1;", 89),
        "dp4a_mixed": Ptx(i32, (u32, i32, i32), "dp4a.u32.s32 %0, %1, %2, %3;"),
        "dp2a_mixed": Ptx(i32, (i32, u32, i32), "dp2a.hi.s32.u32 %0, %1, %2, %3;"),
        "mad_with_carry_64": Ptx(u64, (u64,) * 4,
                                 "{.reg .b64 t; mad.lo.cc.u64 t, %1, %2, %3; madc.hi.u64 %0, %1, %2, %4;}"),
        "max_relu_s32": Ptx(i32, (i32, i32), "max.relu.s32 %0, %1, %2;", 90),
        "sad_u64": Ptx(u64, (u64,) * 3, "sad.u64 %0, %1, %2, %3;"),
        "set_ge_f32": Ptx(f32, (f32, f32), "set.ge.f32.f32 %0, %1, %2;"),
        "lop3_or": Ptx(u32, (u32,) * 4, pair + "setp.ne.u32 q, %4, 0; .reg .b32 d; "
                       "lop3.or.b32 d|p, %1, %2, %3, 0x5a, q; selp.u32 %0, 1, 0, p;}"),
        "setp_xor": Ptx(u32, (i32, i32, u32), mixed + "setp.lt.xor.s32 p|q, %1, %2, r; .reg .b32 d; "
                        "selp.u32 d, 1, 0, p; selp.u32 %0, 2, 0, q; or.b32 %0, %0, d;}"),
        "setp_and_f32": Ptx(u32, (f32, f32, u32), mixed + "setp.geu.and.f32 p|q, %1, %2, r; .reg .b32 d; "
                            "selp.u32 d, 1, 0, p; selp.u32 %0, 2, 0, q; or.b32 %0, %0, d;}"),
    })
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        table[f"prmt_{mode}"] = Ptx(u32, (u32,) * 3, f"prmt.b32.{mode} %0, %1, %2, %3;")
    for way, kind in itertools.product(("clamp", "wrap"), ("s32", "u32")):
        table[f"szext_{way}_{kind}"] = Ptx(u32, (u32, u32), f"szext.{way}.{kind} %0, %1, %2;")
    for what in ("subnormal", "normal", "number"):
        text = f"{{.reg .pred p; testp.{what}.f32 p, %1; selp.u32 %0, 1, 0, p;}}"
        table[f"testp_{what}"] = Ptx(u32, (f32,), text)
    return table


PTX = _ptx()

APPROXIMATIONS = {
    "sin": ("__sinf(x)", ""), "cos": ("__cosf(x)", ""), "exp2": ("", "ex2.approx{ftz}.f32 %0, %1;"),
    "log2": ("", "lg2.approx{ftz}.f32 %0, %1;"), "reciprocal": ("", "rcp.approx{ftz}.f32 %0, %1;"),
    "root": ("", "sqrt.approx{ftz}.f32 %0, %1;"), "inverse_root": ("", "rsqrt.approx{ftz}.f32 %0, %1;"),
    "tanh": ("", "tanh.approx.f32 %0, %1;"), "quotient": ("__fdividef(x, y)", ""),
    "full_quotient": ("", "div.full{ftz}.f32 %0, %1, %2;"), "fast_exp": ("__expf(x)", ""),
    "fast_exp10": ("__exp10f(x)", ""), "fast_log": ("__logf(x)", ""), "fast_log2": ("__log2f(x)", ""),
    "fast_log10": ("__log10f(x)", ""),
    **{name: (f"{name}(x)", "") for name in (
        "sinf", "cosf", "tanf", "expf", "exp2f", "expm1f", "logf", "log2f", "log10f", "log1pf", "sinhf", "coshf", "tanhf",
        "asinf", "acosf", "atanf", "cbrtf", "rsqrtf", "erff", "erfcf")},
    **{name: (f"{name}(x, y)", "") for name in ("powf", "atan2f", "hypotf")},
}
"""By the name of the bound (near_… in recorded.hpp): an expression of x and y, or an instruction."""
WIDE_APPROXIMATIONS = {"wide_sin": "sin(x)", "wide_cos": "cos(x)", "wide_exp": "exp(x)", "wide_log": "log(x)",
                       "wide_cbrt": "cbrt(x)", "wide_pow": "pow(x, y)", "wide_atan": "atan(x)",
                       "wide_tanh": "tanh(x)", "wide_rsqrt": "rsqrt(x)"}


def _operations() -> list[Operation]:
    """All that an expression may be made of. Signed sums are made of unsigned ones, whose overflow C++ defines."""
    found: list[Operation] = []

    def add(result: str, arguments: str, *texts: str) -> None:
        found.extend(Operation(result, tuple(arguments.split()), text) for text in texts)

    for name in INTEGERS:
        wide = "u64" if BITS[name] == 64 else "u32"
        mask, c_name, unsigned = BITS[name] - 1, C_NAMES[name], C_NAMES[wide]
        for sign in "+-*&|^":
            add(name, f"{name} {name}", f"(({c_name})(({unsigned})({{0}}) {sign} ({unsigned})({{1}})))")
        add(name, f"{name} u32", f"(({c_name})(({unsigned})({{0}}) << (({{1}}) & {mask}u)))",
            f"(({c_name})(({{0}}) >> (({{1}}) & {mask}u)))")
        add(name, name, f"(({c_name})~({{0}}))", f"(({c_name})(0u - ({unsigned})({{0}})))")
        add(name, f"{name} {name}", "quotient({0}, {1})", "rest({0}, {1})")
        of_int = "int" if BITS[name] < 32 else c_name
        add(name, f"{name} {name}", *(f"(({c_name}){way}(({of_int})({{0}}), ({of_int})({{1}})))" for way in ("min", "max")))
        add(name, f"bool {name} {name}", "(({0}) ? ({1}) : ({2}))")
        for sign in ("<", "<=", ">", ">=", "==", "!="):
            add("bool", f"{name} {name}", f"(({{0}}) {sign} ({{1}}))")
        for other in INTEGERS:
            if other != name:
                add(name, other, f"(({c_name})({{0}}))")
    for name in NUMBERS:
        add(name, f"bool {name} {name}", "(({0}) ? ({1}) : ({2}))")
    add("bool", "bool bool", "(({0}) && ({1}))", "(({0}) || ({1}))", "(({0}) != ({1}))")
    add("bool", "bool", "(!({0}))")
    for name in ("f32", "f64"):
        add("bool", f"{name} {name}", "less({0}, {1})", "not_less({0}, {1})", "same({0}, {1})")
        add(name, f"{name} {name}", "gpu_min({0}, {1})", "gpu_max({0}, {1})")
        add(name, name, *(f"gpu_{what}({{0}})" for what in ("abs", "floor", "ceil", "trunc", "rint")))

    add("i32", "u32", "__popc({0})")
    add("i32", "u64", "__popcll({0})")
    add("i32", "i32", "__clz({0})", "__ffs({0})")
    add("i32", "i64", "__clzll({0})", "__ffsll({0})")
    add("u32", "u32", "__brev({0})", "__vnegss2({0})", "__vneg4({0})", "__vabsss4({0})")
    add("u64", "u64", "__brevll({0})")
    add("u32", "u32 u32 u32", *(f"{name}({{0}}, {{1}}, {{2}})" for name in (
        "__byte_perm", "__funnelshift_l", "__funnelshift_lc", "__funnelshift_r", "__funnelshift_rc", "__usad", "__dp4a",
        "__dp2a_lo", "__dp2a_hi")))
    add("i32", "i32 i32 i32", *(f"{name}({{0}}, {{1}}, {{2}})" for name in ("__dp4a", "__dp2a_lo", "__dp2a_hi")))
    add("u32", "i32 i32 u32", "__sad({0}, {1}, {2})")
    add("i32", "i32 i32", *(f"{name}({{0}}, {{1}})" for name in ("__mulhi", "__mul24", "__hadd", "__rhadd")))
    add("u32", "u32 u32", *(f"{name}({{0}}, {{1}})" for name in ("__umulhi", "__umul24", "__uhadd", "__urhadd")))
    add("i64", "i64 i64", "__mul64hi({0}, {1})")
    add("u64", "u64 u64", "__umul64hi({0}, {1})")
    parts = re.findall(r"^BY_PART\((\w+)", (EMULATION / "emulated_device.hpp").read_text(encoding="utf-8"), re.MULTILINE)
    add("u32", "u32 u32", *(f"{name}({{0}}, {{1}})" for name in (
        *parts, "__vsads2", "__vsads4", "__vsadu2", "__vsadu4")))

    for way in ROUNDINGS:
        for name, letter, fused in (("f32", "f", "fmaf"), ("f64", "d", "fma")):
            add(name, f"{name} {name}", *(f"__{letter}{what}_{way}({{0}}, {{1}})" for what in ("add", "sub", "mul", "div")))
            add(name, name, *(f"__{letter}{what}_{way}({{0}})" for what in ("rcp", "sqrt")))
            add(name, f"{name} {name} {name}", f"__{fused}_{way}({{0}}, {{1}}, {{2}})")
        for c_name, name in (("int", "i32"), ("uint", "u32"), ("ll", "i64"), ("ull", "u64")):
            for source, number in (("float", "f32"), ("double", "f64"), ("half", "f16"), ("bfloat16", "bf16")):
                add(name, number, f"__{source}2{c_name}_{way}({{0}})")
                if number != "f64" or BITS[name] == 64:
                    add(number, name, f"__{c_name}2{source}_{way}({{0}})")
        for c_name, name in (("short", "i16"), ("ushort", "u16")):
            for source, number in (("half", "f16"), ("bfloat16", "bf16")):
                add(name, number, f"__{source}2{c_name}_{way}({{0}})")
                add(number, name, f"__{c_name}2{source}_{way}({{0}})")
        add("f32", "f64", f"__double2float_{way}({{0}})")
        add("f16", "f32", f"__float2half_{way}(settled({{0}}))")
        add("bf16", "f32", f"__float2bfloat16_{way}(settled({{0}}))")
    add("f64", "i32", "__int2double_rn({0})")
    add("f64", "u32", "__uint2double_rn({0})")
    add("f64", "f32", "widened({0})")
    add("f64", "f64 f64", "gpu_fmod({0}, {1})")
    add("f64", "i32 i32", "plain(__hiloint2double({0}, {1}))")
    add("i32", "f64", "(int)(bits({0}) >> 32)", "(int)bits({0})")
    add("f32", "f16", "__half2float({0})")
    add("f32", "bf16", "__bfloat162float({0})")
    add("f16", "f64", "__double2half({0})")
    add("bf16", "f64", "__double2bfloat16({0})")
    add("f32", "u32", "plain(__uint_as_float({0}))")
    add("u32", "f32", "bits({0})")
    add("u16", "f16", "bits({0})")
    add("u16", "bf16", "bits({0})")
    for name in ("f16", "bf16"):
        add(name, f"{name} {name}", *(f"{what}({{0}}, {{1}})" for what in (
            "__hadd", "__hsub", "__hmul", "__hmin", "__hmax", "__hmin_nan", "__hmax_nan", "__hadd_sat", "__hsub_sat",
            "__hmul_sat")))
        add(name, f"{name} {name} {name}", "gpu_hfma({0}, {1}, {2})", "gpu_hfma_sat({0}, {1}, {2})")
        add(name, name, *(f"{what}({{0}})" for what in ("__hneg", "__habs", "hfloor", "hceil", "htrunc", "hrint")))
        add("bool", f"{name} {name}", *(f"{what}({{0}}, {{1}})" for what in (
            "__heq", "__hne", "__hlt", "__hge", "__hltu", "__hneu")))
    add("f16", "f16 f16", "__hdiv({0}, {1})")
    add("f16", "f16", "hsqrt({0})")
    for name, ptx in PTX.items():
        # A NaN's sign is not told, so none gives its sign to a result.
        settled = "plain(settled({{{}}}))" if name == "max_xorsign_f32" else "settled({{{}}})"
        marks = ", ".join((settled if kind == "f32" else "{{{}}}").format(i) for i, kind in enumerate(ptx.arguments))
        found.append(Operation(ptx.result, ptx.arguments, f"ptx_{name}({marks})"))
    return found


OPERATIONS: dict[str, list[Operation]] = {}
for _operation in _operations():
    OPERATIONS.setdefault(_operation.result, []).append(_operation)

COMMON = """
// -- the same for both compilers ---------------------------------------------------------------------------------------
template <class T>
static __device__ T quotient(T a, T b) {
  if (b == 0) return a;
  if ((T)-1 < (T)0 && b == (T)-1) return (T)(0ull - (unsigned long long)a);
  return (T)(a / b);
}
template <class T>
static __device__ T rest(T a, T b) {
  if (b == 0) return a;
  if ((T)-1 < (T)0 && b == (T)-1) return 0;
  return (T)(a % b);
}
template <class T>
static __device__ unsigned fold(T value) { return (unsigned)value; }
static __device__ unsigned fold(unsigned long long value) { return (unsigned)value + (unsigned)(value >> 32) * 0x9e3779b1u; }
static __device__ unsigned fold(long long value) { return fold((unsigned long long)value); }
static __device__ unsigned fold(float value) { return bits(value); }
static __device__ unsigned fold(double value) { return fold(bits(value)); }
static __device__ unsigned fold(__half value) { return bits(value); }
static __device__ unsigned fold(__nv_bfloat16 value) { return bits(value); }
// A fast program need not flush where the compiler drops an operation (fmaxf(x, x)): instructions without .ftz would show it.
static __device__ float settled(float value) { return value != value ? value : __uint_as_float(bits(value)); }
static __device__ float plain(float value) { return value != value ? 1.0f : value; }
static __device__ double plain(double value) { return value != value ? 1.0 : value; }
static __device__ unsigned lanes_of_warp() {
  const unsigned left = blockDim.x - (threadIdx.x & ~31u);
  return left >= 32 ? ~0u : (1u << left) - 1;
}
static __device__ int nth_lane(unsigned mask, unsigned n) {
  for (n %= (unsigned)__popc(mask); n != 0; --n) mask &= mask - 1;
  return __ffs((int)mask) - 1;
}
struct Mixed {
  unsigned char a;
  short b;
  float c;
  unsigned long long d;
  unsigned e : 5;
  int f : 11;
};
struct __attribute__((packed)) Odd {
  unsigned char a;
  unsigned b;
  unsigned long long c;
  unsigned short d;
};
#define OUT(slot) out[4 * all + (slot) * all + thread]
"""

DEVICE = """
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#ifdef FAST
#define FTZ ".ftz"
#else
#define FTZ ""
#endif
static __device__ unsigned bits(float value) {
  unsigned word = __float_as_uint(value);
  if ((word & 0x7fffffffu) > 0x7f800000u) word = 0x7fffffffu;
#ifdef FAST
  if ((word & 0x7f800000u) == 0) word &= 0x80000000u;
#endif
  return word;
}
static __device__ unsigned long long bits(double value) {
  const unsigned long long word = (unsigned long long)__double_as_longlong(value);
  return (word & ~(1ull << 63)) > 0x7ff0000000000000ull ? 0xfff8000000000000ull : word;
}
static __device__ unsigned short bits(__half value) {
  const unsigned short word = __half_as_ushort(value);
  return (word & 0x7fff) > 0x7c00 ? 0x7fff : word;
}
static __device__ unsigned short bits(__nv_bfloat16 value) {
  const unsigned short word = __bfloat16_as_ushort(value);
  return (word & 0x7fff) > 0x7f80 ? 0x7fff : word;
}
static __device__ float gpu_min(float a, float b) { return fminf(a, b); }
static __device__ float gpu_max(float a, float b) { return fmaxf(a, b); }
static __device__ float gpu_abs(float a) { return fabsf(a); }
static __device__ float gpu_floor(float a) { return floorf(a); }
static __device__ float gpu_ceil(float a) { return ceilf(a); }
static __device__ float gpu_trunc(float a) { return truncf(a); }
static __device__ float gpu_rint(float a) { return rintf(a); }
static __device__ double gpu_min(double a, double b) { return fmin(a, b); }
static __device__ double gpu_max(double a, double b) { return fmax(a, b); }
static __device__ double gpu_abs(double a) { return fabs(a); }
static __device__ double gpu_floor(double a) { return floor(a); }
static __device__ double gpu_ceil(double a) { return ceil(a); }
static __device__ double gpu_trunc(double a) { return trunc(a); }
static __device__ double gpu_rint(double a) { return rint(a); }
static __device__ double gpu_fmod(double a, double b) { return fmod(a, b); }
static __device__ double widened(float a) { return a; }
static __device__ __half gpu_hfma(__half a, __half b, __half c) { return __hfma(a, b, c); }
static __device__ __half gpu_hfma_sat(__half a, __half b, __half c) { return __hfma_sat(a, b, c); }
#if __CUDA_ARCH__ >= 800
#define FROM_SM_80(expression) expression
#else
#define FROM_SM_80(expression) __ushort_as_bfloat16(0)
#endif
typedef __nv_bfloat16 Bfloat16;
static __device__ Bfloat16 gpu_hfma(Bfloat16 a, Bfloat16 b, Bfloat16 c) { return FROM_SM_80(__hfma(a, b, c)); }
static __device__ Bfloat16 gpu_hfma_sat(Bfloat16 a, Bfloat16 b, Bfloat16 c) { return FROM_SM_80(__hfma_sat(a, b, c)); }
template <class T>
static __device__ bool less(T a, T b) { return a < b; }
template <class T>
static __device__ bool not_less(T a, T b) { return !(a < b); }
template <class T>
static __device__ bool same(T a, T b) { return a == b; }
#define MAKE_REDUCED(name, T, intrinsic, expression)             \\
  static __device__ T name(unsigned mask, T value) {             \\
    T a = __shfl_sync(mask, value, nth_lane(mask, 0));           \\
    for (int i = 1; i < __popc(mask); ++i) {                     \\
      const T b = __shfl_sync(mask, value, nth_lane(mask, i));   \\
      a = expression;                                            \\
    }                                                            \\
    return a;                                                    \\
  }
#define TAKE_REDUCED(name, T, intrinsic, expression) \\
  static __device__ T name(unsigned mask, T value) { return intrinsic(mask, value); }
#if __CUDA_ARCH__ >= 800
#define REDUCED TAKE_REDUCED
#else
#define REDUCED MAKE_REDUCED
#endif
#endif
"""

REDUCTIONS = """
#ifdef __CUDACC__
REDUCED(reduced_add, unsigned, __reduce_add_sync, a + b)
REDUCED(reduced_add, int, __reduce_add_sync, (int)((unsigned)a + (unsigned)b))
REDUCED(reduced_min, unsigned, __reduce_min_sync, min(a, b))
REDUCED(reduced_min, int, __reduce_min_sync, min(a, b))
REDUCED(reduced_max, unsigned, __reduce_max_sync, max(a, b))
REDUCED(reduced_max, int, __reduce_max_sync, max(a, b))
REDUCED(reduced_and, unsigned, __reduce_and_sync, a & b)
REDUCED(reduced_or, unsigned, __reduce_or_sync, a | b)
REDUCED(reduced_xor, unsigned, __reduce_xor_sync, a ^ b)
#endif
"""

CONSTRAINTS = {"u16": "h", "i16": "h", "u32": "r", "i32": "r", "u64": "l", "i64": "l", "f32": "f", "f64": "d"}


def ptx_function(name: str, ptx: Ptx) -> str:
    """The device's function for it; where the architecture lacks it, 0, as the emulation has it."""
    parameters = ", ".join(f"{C_NAMES[kind]} p{i}" for i, kind in enumerate(ptx.arguments))
    operands = ", ".join(f'"{CONSTRAINTS[kind]}"(p{i})' for i, kind in enumerate(ptx.arguments))
    result = C_NAMES[ptx.result]
    lines = [f"static __device__ {result} ptx_{name}({parameters}) {{", f"  {result} result = 0;"]
    if ptx.architecture:
        lines.append(f"#if __CUDA_ARCH__ >= {10 * ptx.architecture}")
    # Other than in a statement of one instruction, its braces are a block of PTX.
    text = ptx.text
    lines.append(f'  asm("{text}" : "={CONSTRAINTS[ptx.result]}"(result) : {operands});')
    if ptx.architecture:
        lines.append("#endif")
    return "\n".join([*lines, "  return result;", "}"])


def approximation(name: str) -> str:
    """NEAR_name(index, x, y): the device computes it, the emulation notes the bounds."""
    if name in WIDE_APPROXIMATIONS:
        device = (f"#define NEAR_{name}(index, first, second) {{ const double x = first, y = second; (void)y; "
                  f"const unsigned long long word = bits({WIDE_APPROXIMATIONS[name]}); "
                  "out[index] = (unsigned)word; out[(index) + all] = (unsigned)(word >> 32); }")
        host = f"#define NEAR_{name}(index, first, second) emulated::near_double(index, all, emulated::near_{name}(first, second))"
    else:
        expression, instruction = APPROXIMATIONS[name]
        if instruction:
            text = '"' + instruction.replace("{ftz}", '" FTZ "') + '"'
            second = ', "f"(y)' if "%2" in instruction else ""
            compute = f'float result; asm({text} : "=f"(result) : "f"(x){second});'
        else:
            compute = f"const float result = {expression};"
        device = (f"#define NEAR_{name}(index, first, second) {{ const float x = first, y = second; (void)y; {compute} "
                  "out[index] = __float_as_uint(result); }")
        host = f"#define NEAR_{name}(index, first, second) emulated::near(index, emulated::near_{name}(first, second))"
    return f"#ifdef __CUDACC__\n{device}\n#else\n{host}\n#endif"


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


class Options(NamedTuple):
    """How nvcc is called."""

    mode: str
    architecture: int

    @property
    def flags(self) -> list[str]:
        how = {"O0": ["-Xcicc", "-O0"], "G": ["-G"], "O3": ["-O3"], "fast": ["-use_fast_math", "-DFAST"]}[self.mode]
        return [f"-arch=compute_{self.architecture}", *how]

    def __str__(self) -> str:
        return f"{self.mode}, sm_{self.architecture}"


class Failed(Exception):
    """Something that has to work does not, with what it printed."""


class NotCompiled(Failed):
    """A source that a compiler refuses: the generator is wrong, or a reduction went too far."""


@dataclass
class Difference:
    kernel: str
    options: Options
    text: str


@dataclass
class Bench:
    """One source in a folder, and what is done with it."""

    folder: Path
    program: Path
    nvcc: str
    threads: int
    blocks: int = 2

    @property
    def words(self) -> int:
        return (4 + SLOTS) * self.threads * self.blocks + SHARED_WORDS

    def call(self, kind: type[Failed], *words: object) -> None:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", check=False,
                              timeout=900)
        if done.returncode != 0:
            raise kind(f"{' '.join(map(str, words))}\n{done.stdout[-1000:]}{done.stderr[-3000:]}")

    def write(self, text: str, data: bytes) -> None:
        (self.folder / "kernels.cu").write_text(text, encoding="utf-8")
        (self.folder / "input.bin").write_bytes(data)

    def compile_emulation(self) -> None:
        self.call(NotCompiled, "g++", "-std=c++20", "-O0", "-w", "-frounding-math", "-ffp-contract=off", "-fno-strict-aliasing",
                  "-include", EMULATION / "emulated_device.hpp", "-x", "c++", self.folder / "kernels.cu", "-o",
                  self.folder / "emulation")

    def emulate(self, options: Options) -> Path:
        expected = self.folder / f"expected_{options.mode}_{options.architecture}"
        expected.mkdir(exist_ok=True)
        self.call(Failed, self.folder / "emulation", options.architecture, int(options.mode == "fast"), self.blocks,
                  self.threads, self.words, self.folder / "input.bin", expected)
        return expected

    def simulate(self, options: Options, names: list[str]) -> list[dict]:
        ptx = self.folder / f"{options.mode}_{options.architecture}.ptx"
        self.call(NotCompiled, self.nvcc, "-w", "-ptx", *options.flags, self.folder / "kernels.cu", "-o", ptx)
        report = ptx.with_suffix(".json")
        report.unlink(missing_ok=True)
        done = subprocess.run(
            [str(self.program), "simulate", str(ptx), "--output", str(report), "--no-counters", "--threads", "1",
             *(word for name in names for word in ("--entry", name)), "--grid", str(self.blocks), "--block", str(self.threads),
             "--arg", f"in=in:u32:@{self.folder / 'input.bin'}", "--arg", f"out=inout:u32:fill:{self.words}:0",
             "--limit", "60s"], capture_output=True, text=True, errors="replace", check=False, timeout=900)
        if not report.exists():
            raise Failed(f"the simulated device refused it ({options}):\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
        document = json.loads(report.read_text(encoding="utf-8"))
        return document.get("simulations", [document])

    def differences(self, options: Options, names: list[str]) -> list[Difference]:
        expected = self.emulate(options)
        found = []
        for result in self.simulate(options, names):
            name = result["kernel"]
            text = None
            if result["fault"] or result["stopped"]:
                text = f"did not end: {result['fault'] or result['stopped']}"
            elif result["findings"]:
                text = f"a finding: {json.dumps(result['findings'][0])[:600]}"
            else:
                wrong = self.compared(result["outputs"][0]["values"], (expected / f"{name}.expected").read_bytes())
                text = f"{len(wrong)} words; {wrong[0]}" if wrong else None
            if text:
                found.append(Difference(name, options, text))
        shutil.rmtree(expected)
        return found

    def compared(self, values: list[int], expected: bytes) -> list[str]:
        everyone = self.threads * self.blocks
        wrong = []
        for index, (word, low, high) in enumerate(struct.iter_unpack("<QQQ", expected)):
            if word == 0:
                right = values[index] == low
                told = f"{low:#x}"
            elif word == 2:
                continue
            else:
                if word == 1:
                    value = struct.unpack("<f", struct.pack("<I", values[index]))[0]
                else:
                    value = struct.unpack("<d", struct.pack("<II", values[index], values[index + everyone]))[0]
                least, most = struct.unpack("<dd", struct.pack("<QQ", low, high))
                # Bounds the wrong way round: there is none.
                right = value != value if least != least else least > most or least <= value <= most
                told = f"{least!r} to {most!r}, found {value!r}"
            if not right:
                slot, thread = divmod(index, everyone)
                place = f"OUT({slot - 4})" if 4 <= slot < 4 + SLOTS else "a vector" if slot < 4 else \
                    f"accumulator {index - (4 + SLOTS) * everyone}"
                wrong.append(f"{place}, thread {thread}: {values[index]:#x} instead of {told}")
        return wrong


class Run:
    """All sources of a run."""

    def __init__(self, arguments: argparse.Namespace, nvcc: str) -> None:
        self.arguments = arguments
        self.nvcc = nvcc
        self.lock = threading.Lock()
        self.kernels = 0
        self.compilations = 0
        self.differences = 0
        self.begin = time.monotonic()

    def say(self, text: str) -> None:
        with self.lock:
            print(text, flush=True)

    def source(self, index: int, count: int, options: list[Options]) -> None:
        if self.arguments.seconds and time.monotonic() - self.begin > self.arguments.seconds:
            return
        draw = random.Random(f"{self.arguments.seed}/{index}")
        threads = draw.choice((32, 64, 96, 64, 40, 33))
        generator = Generator(draw, threads)
        kernels = [generator.make(f"k{i}") for i in range(count)]
        data = input_words(draw)
        with tempfile.TemporaryDirectory(prefix="random_kernels.") as folder:
            bench = Bench(Path(folder), self.arguments.program, self.nvcc, threads)
            bench.write(source_text(kernels, set()), data)
            differences = []
            names = [kernel.name for kernel in kernels]
            try:
                bench.compile_emulation()
                with self.lock:
                    self.kernels += len(kernels)
                for one in options:
                    differences += bench.differences(one, names)
                    with self.lock:
                        self.compilations += len(names)
            except (Failed, subprocess.TimeoutExpired) as failure:
                with self.lock:
                    self.differences += 1
                self.say(f"source {index}: {failure}")
                self.keep(bench, f"source_{index}", str(failure))
                return
            for difference in differences:
                with self.lock:
                    self.differences += 1
                self.say(f"source {index}, {difference.kernel}, {difference.options}: {difference.text}")
            if differences and self.arguments.keep:
                self.keep(bench, f"source_{index}", "\n".join(f"{one.kernel}, {one.options}: {one.text}" for one in differences))
                if self.arguments.reduce:
                    self.reduce(index, kernels, differences[0], data, bench)
        self.say(f"{self.compilations} of {self.arguments.count} compilations, {self.differences} differences, "
                 f"{time.monotonic() - self.begin:.0f} s")

    def keep(self, bench: Bench, name: str, text: str) -> None:
        if not self.arguments.keep:
            return
        folder = self.arguments.keep / name
        folder.mkdir(parents=True, exist_ok=True)
        for file in ("kernels.cu", "input.bin"):
            shutil.copy(bench.folder / file, folder)
        (folder / "differences.txt").write_text(text + "\n", encoding="utf-8")

    def reduce(self, index: int, kernels: list[Kernel], difference: Difference, data: bytes, bench: Bench) -> None:
        """Leaves out statements, many at first, for as long as the kernel still differs."""
        kernel = next(one for one in kernels if one.name == difference.kernel)
        left_out: set[int] = set()
        end = time.monotonic() + self.arguments.reduce
        last = difference

        def differs(tried: set[int]) -> Optional[Difference]:
            bench.write(source_text([kernel], tried), data)
            try:
                bench.compile_emulation()
                found = bench.differences(difference.options, [kernel.name])
            except (Failed, subprocess.TimeoutExpired):
                return None
            return found[0] if found else None

        nodes = [node for top in (*kernel.body, *kernel.globals) for node in top.every()]
        size = len(nodes)
        while size > 1 and time.monotonic() < end:
            size = (size + 1) // 2
            candidates = [node for node in reversed(nodes) if id(node) not in left_out]
            for start in range(0, len(candidates), size):
                if time.monotonic() > end:
                    break
                tried = left_out | {id(node) for node in candidates[start:start + size]}
                now = differs(tried)
                if now:
                    left_out, last = tried, now
        bench.write(source_text([kernel], left_out), data)
        self.keep(bench, f"source_{index}_{kernel.name}_reduced", f"{last.kernel}, {last.options}: {last.text}")

    def all(self) -> int:
        draw = random.Random(self.arguments.seed)
        whole = [Options(mode, architecture) for mode in ("O0", "G", "O3", "O3", "fast", "fast")
                 for architecture in ARCHITECTURES]

        def endless() -> Iterator[Options]:
            while True:
                draw.shuffle(whole)
                yield from whole
        ways = endless()
        left = self.arguments.count
        sources = []
        while left > 0:
            kernels = min(KERNELS, left)
            chosen = list(dict.fromkeys(itertools.islice(ways, min(OPTIONS, left // kernels))))
            sources.append((len(sources), kernels, chosen))
            left -= kernels * len(chosen)
        if self.arguments.source is not None:
            sources = [sources[self.arguments.source]]
        with ThreadPoolExecutor(self.arguments.jobs) as pool:
            try:
                list(pool.map(lambda one: self.source(*one), sources))
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                return 130
        print(f"{self.compilations} compilations of {self.kernels} kernels in "
              f"{time.monotonic() - self.begin:.0f} s, seed {self.arguments.seed}: {self.differences} differences")
        return 1 if self.differences else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="compilations (1000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same kernels")
    parser.add_argument("--source", type=int, help="only this one of them, as messages number it")
    parser.add_argument("--seconds", type=int, default=0, help="begin no further source after so long")
    parser.add_argument("--program", type=Path, help="default: build/release/convladder, or build/dev/convladder")
    parser.add_argument("--keep", type=Path, help="a folder for what differs: its source, its input, and that reduced")
    parser.add_argument("--reduce", type=int, default=120, help="seconds for reducing the first kernel of a source that differs (120)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not Path(nvcc).exists():
        print("random_kernels: skipped: nvcc is missing")
        return 77
    built = [REPOSITORY / "build" / preset / "convladder" for preset in ("release", "dev")]
    arguments.program = arguments.program or next((one for one in built if one.exists()), None)
    if arguments.program is None or not arguments.program.exists():
        print("random_kernels: convladder is not built: ninja -C build/release convladder, or --program", file=sys.stderr)
        return 3
    if arguments.count < 1:
        parser.error("--count: at least 1")
    return Run(arguments, nvcc).all()


if __name__ == "__main__":
    sys.exit(main())
