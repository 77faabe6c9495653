"""The operations of random kernels: expressions of CUDA C++, functions of single instructions of PTX, and approximations."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import NamedTuple

EMULATION = Path(__file__).resolve().parent
"""The headers of the CPU emulation are here."""

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
