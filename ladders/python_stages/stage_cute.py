"""Kernels of CuTe DSL (nvidia-cutlass-dsl): compiled to PTX for a named architecture, without a driver.

A kernel takes pointers, numbers and cutlass.Constexpr; tensors are made in it, from a pointer and a layout.
"""
import glob
import inspect
import os

from stage_errors import StageError
from stage_parameters import field_of, matched
from stage_ptx import entry_of, kept

TYPES = {"f16": "Float16", "bf16": "BFloat16", "f32": "Float32", "f64": "Float64", "i8": "Int8", "i16": "Int16", "i32": "Int32",
         "i64": "Int64", "u8": "Uint8", "u16": "Uint16", "u32": "Uint32", "u64": "Uint64"}
ALIGNMENT = 16  # bytes, of every tensor


def left_behind(request):
    """The files of PTX in the folder where the package leaves what it makes."""
    return glob.glob(os.path.join(request["scratch"], "*.ptx"))


def is_constexpr(parameter):
    return "Constexpr" in str(parameter.annotation)


def compile_launch(module, kernel, launch, request, number, place):
    import cutlass
    import cutlass.cute as cute
    from cutlass.cute.runtime import make_ptr
    if not launch["block"]:
        raise StageError(f"{place}: there is no block(…), which CuTe DSL does not choose")
    try:
        block = [int(one) for one in launch["block"]]
    except ValueError:
        raise StageError(f"{place}: block(…) has to be numbers, which are compiled in, not {', '.join(launch['block'])}") from None
    parameters = inspect.signature(kernel).parameters
    values = {name: request["parameters"][name] for name, one in parameters.items() if is_constexpr(one) and name in request["parameters"]}
    for name, one in parameters.items():
        if "Tensor" in str(one.annotation):
            raise StageError(f"{place}: '{name}' is a cute.Tensor: take a cute.Pointer, and make the tensor in the kernel")
    arguments = matched(list(parameters), launch, request, place, given=values)
    arguments = {name: one for name, one in arguments.items() if name not in values}
    names = list(arguments)
    given = []
    for name in names:
        argument = arguments[name]
        kind = getattr(cutlass, TYPES[argument["type"]])
        given.append(make_ptr(kind, ALIGNMENT, cute.AddressSpace.gmem, assumed_align=ALIGNMENT) if argument["kind"] == "tensor" else kind(1))
    # The host function that the package wants, with as many parameters as the kernel takes.
    listed = ", ".join(names)
    passed = ", ".join(f"{name}={name}" if name not in values else f"{name}={values[name]}" for name in parameters)
    host = os.path.join(request["scratch"], f"host{number}.py")
    with open(host, "w", encoding="utf-8") as out:
        out.write(f"import cutlass.cute as cute\n\n\n@cute.jit\ndef launched({listed}):\n"
                  f"    kernel({passed}).launch(grid=[1, 1, 1], block={block})\n")
    space = {"kernel": kernel, "__name__": f"host{number}", "__file__": host}
    with open(host, encoding="utf-8") as text:
        exec(compile(text.read(), host, "exec"), space)  # a file, since the package reads the source of what it compiles
    before = set(left_behind(request))
    cute.compile(space["launched"], *given)
    new = [one for one in left_behind(request) if one not in before]
    if len(new) != 1:
        raise StageError(f"{place}: the package left {len(new)} files of PTX instead of one")
    with open(new[0], encoding="utf-8") as compiled:
        ptx = compiled.read()
    return {"ptx": kept(ptx, number, request), "entry": entry_of(ptx), "grid": None, "block": None, "shared": None,
            "parameters": [[field_of(arguments[name])] for name in names]}
