"""Kernels of Warp: compiled to PTX for a named architecture, without a driver. A launch says threads(…), as wp.launch does with dim."""
import ctypes
import os

from stage_errors import StageError
from stage_parameters import BYTES, field_of, matched, strides, whole
from stage_ptx import capability, kept

BLOCK = 256  # threads; the kernels walk over all coordinates in steps of the grid
ELEMENTS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16", "int32": "i32",
            "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"}
SIZES = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}


def structures():
    """The structures by which this Warp passes arrays and the extent of a launch."""
    import warp
    try:
        from warp._src import types
    except ImportError:  # before 1.10
        types = warp.types
    return types


def laid_out(structure, values, place):
    """The fields of a ctypes structure of this Warp, with the expressions of `values` by name; an array takes as many as it has."""
    fields = []
    for name, kind in structure._fields_:
        if name not in values:
            raise StageError(f"{place}: this Warp passes '{name}', which is not known here")
        value = values[name]
        if isinstance(value, dict):
            fields.append(value)
        elif hasattr(kind, "_length_"):
            size = SIZES[ctypes.sizeof(kind._type_)]
            fields += [whole(value[i] if i < len(value) else 0, size) for i in range(kind._length_)]
        else:
            fields.append(whole(value, SIZES[ctypes.sizeof(kind)]))
    return fields


def fields_of(argument, declared, place, name):
    import warp
    if not isinstance(declared, warp.array):
        return [field_of(argument)]
    if argument["kind"] != "tensor":
        raise StageError(f"{place}: '{name}' is an array, and {argument['text']} is a number")
    shape = argument["shape"] or ["1"]
    element = ELEMENTS.get(getattr(declared.dtype, "__name__", ""), "")
    if declared.ndim != len(shape) or (element and element != argument["type"]):
        raise StageError(f"{place}: '{name}' is an array of {declared.ndim} dimensions of {getattr(declared.dtype, '__name__', declared.dtype)}, "
                         f"and {argument['text']} has {len(shape)} of {argument['type']}")
    return laid_out(structures().array_t, {"data": {"type": "ptr", "tensor": argument["text"]}, "grad": {"type": "ptr", "null": True},
                                         "shape": shape, "strides": strides(shape, BYTES[argument["type"]]), "ndim": len(shape),
                                         "flags": 0}, place)


def compile_launch(module, kernel, launch, request, number, place):
    import warp
    if not launch["threads"]:
        raise StageError(f"{place}: there is no threads(…), which Warp calls dim")
    warp.config.quiet = True
    warp.config.kernel_cache_dir = os.path.join(request["scratch"], "warp")
    own = warp.get_module(kernel.module.name)
    own.options.update({"lineinfo": True, "enable_backward": False, "block_dim": BLOCK})
    folder = os.path.join(request["scratch"], f"kernel{number}")
    files = warp.compile_aot_module(own, arch=capability(request), module_dir=folder, use_ptx=True)
    with open(str(files[0]), encoding="utf-8") as compiled:
        ptx = compiled.read()
    entry = f"{kernel.get_mangled_name()}_cuda_kernel_forward"
    declared = {one.label: one.type for one in kernel.adj.args}
    arguments = matched(list(declared), launch, request, place)
    threads = launch["threads"]
    size = " * ".join(f"({one})" for one in threads)
    bounds = laid_out(type(structures().launch_bounds_t(tuple([1] * len(threads)))),
                      {"shape": threads, "size": size, "coord_mult": "1", "ndim": len(threads)}, place)
    return {"ptx": kept(ptx, number, request), "entry": entry, "grid": [f"div({size} + {BLOCK - 1}, {BLOCK})"], "block": [str(BLOCK)], "shared": "0",
            "parameters": [bounds] + [fields_of(arguments[name], declared[name], place, name) for name in declared]}
