"""A stage for the CPU: a function `solve` that gets NumPy arrays and numbers."""
import inspect
import os

from stage_errors import StageError


def check_solve(module, request):
    file = os.path.basename(request["source"])
    names = [one["text"] for one in request["solve"]]
    expected = f"def solve({', '.join(names)})"
    solve = getattr(module, "solve", None)
    if solve is None:
        raise StageError(f"{file}: it does not define solve, and has no @launch; expected {expected}")
    try:
        signature = inspect.signature(solve)
    except (TypeError, ValueError):
        return  # compiled elsewhere; the first call will tell
    try:
        signature.bind(*names)
    except TypeError as error:
        code = getattr(getattr(solve, "py_func", solve), "__code__", None)
        raise StageError(f"{file}:{code.co_firstlineno if code else 1}: solve: {error}; expected {expected}") from None
