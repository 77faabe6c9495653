"""Runs within the library of a CPU stage in Python: calls the stage's `solve` with arrays that lie where the harness has put its tensors.

The library defines CONVLADDER, a dictionary: `source` and `file` of the stage, `path` and `prefix` of its interpreter, `parameters`, and
`modules` beside it by name, and `tensors`, each with name, dtype, number of dimensions and whether it may be written.
"""
import sys

sys.path[:] = CONVLADDER["path"]
sys.prefix = CONVLADDER["prefix"]
import tempfile

tempfile.tempdir = "/tmp"  # packages ask for its name when they are imported, and nothing can be written here to find one
sys.dont_write_bytecode = True
sys.argv = [CONVLADDER["file"]]


def _find_library(name):
    """Stands for ctypes.util.find_library, which starts programs and writes a file: neither is allowed here."""
    import glob
    for folder in ("/usr/lib/*-linux-gnu", "/lib/*-linux-gnu", "/usr/lib64", "/usr/lib"):
        for file in sorted(glob.glob(f"{folder}/lib{name}.so*")):
            return file.rpartition("/")[2]
    return None


import ctypes.util

ctypes.util.find_library = _find_library


class _Beside:
    """Finds the modules beside the stage without listing a folder."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        import importlib.util
        file = CONVLADDER["modules"].get(name)
        return importlib.util.spec_from_file_location(name, file) if file else None


sys.meta_path.insert(0, _Beside)


def _load():
    import linecache
    import types
    file, source = CONVLADDER["file"], CONVLADDER["source"]
    module = types.ModuleType("stage")
    module.__file__ = file
    module.__dict__.update(CONVLADDER["parameters"])
    sys.modules["stage"] = module
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), module.__dict__)
    return module.solve


def _array(address, dtype, shape, is_written):
    import ctypes
    import numpy
    kind = numpy.dtype(dtype)
    count = 1
    for extent in shape:
        count *= extent
    memory = (ctypes.c_char * (count * kind.itemsize)).from_address(address)
    array = numpy.frombuffer(memory, dtype=kind).reshape(shape)
    array.flags.writeable = is_written
    return array


def _place(error):
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == CONVLADDER["file"]:
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename == CONVLADDER["file"]:
        line = error.lineno
    name = CONVLADDER["file"].rpartition("/")[2]
    return f"{name}:{line}" if line else name


_solve = None
_arguments = {}


def call(*values):
    """Calls `solve`; `values`: for each tensor its address and its extents, then the numbers. Returns None, or why it failed."""
    global _solve
    try:
        if _solve is None:
            _solve = _load()
        arguments = _arguments.get(values)
        if arguments is None:
            _arguments.clear()
            arguments, at = [], 0
            for _, dtype, dimensions, is_written in CONVLADDER["tensors"]:
                arguments.append(_array(values[at], dtype, values[at + 1:at + 1 + dimensions], is_written))
                at += 1 + dimensions
            arguments += values[at:]
            _arguments[values] = arguments
        _solve(*arguments)
    except BaseException as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return f"{_place(error)}: {type(error).__name__}: {lines[0] if lines else ''}"
    return None
