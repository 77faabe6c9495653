"""Kernels of Numba's CUDA target: compiled to PTX for a named compute capability, without a driver."""
from stage_errors import NotInstalled, StageError
from stage_parameters import BYTES, count, field_of, matched, strides, whole
from stage_ptx import capability, entry_of, kept


def type_of(argument):
    from numba import types
    if argument["type"] == "bf16":
        element = types.uint16  # its bits, as in C++
    else:
        element = getattr(types, argument["type"].replace("f", "float").replace("u", "uint") if argument["type"][0] != "i" else
                          argument["type"].replace("i", "int"))
    if argument["kind"] != "tensor":
        return element
    return types.Array(element, max(len(argument["shape"]), 1), "C")


def fields_of(argument):
    """An array is passed as seven kinds of numbers, each a parameter of its own: Numba's data model."""
    if argument["kind"] != "tensor":
        return [field_of(argument)]
    shape = argument["shape"] or ["1"]
    size = BYTES[argument["type"]]
    return [{"type": "ptr", "null": True}, {"type": "ptr", "null": True}, whole(count(shape)), whole(size),
            {"type": "ptr", "tensor": argument["text"]}, *[whole(extent) for extent in shape],
            *[whole(step) for step in strides(shape, size)]]


def compile_launch(module, kernel, launch, request, number, place):
    from numba import cuda
    if not launch["block"]:
        raise StageError(f"{place}: there is no block(…), which Numba does not choose")
    function = kernel.py_func
    names = list(function.__code__.co_varnames[:function.__code__.co_argcount])
    arguments = matched(names, launch, request, place)
    types = tuple(type_of(arguments[name]) for name in names)
    try:
        ptx, _ = cuda.compile_ptx(function, types, cc=divmod(capability(request), 10), lineinfo=True, device=False)
    except Exception as error:  # Debian's Numba looks for NVVM where older toolkits had it
        if type(error).__name__ != "NvvmSupportError":
            raise
        import numba
        raise NotInstalled(f"numba {numba.__version__} finds no NVVM that it can use: pip install numba-cuda") from error
    return {"ptx": kept(ptx, number, request), "entry": entry_of(ptx), "grid": None, "block": None, "shared": "0",
            "parameters": [[field] for name in names for field in fields_of(arguments[name])]}
