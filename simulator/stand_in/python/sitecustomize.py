"""Python runs this first, as `convladder simulate` puts this folder on PYTHONPATH: on the simulated GPU, torch's own operators are
computed on the host, and Triton's PTX is handed on as it is. Elsewhere it does nothing."""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_that_of_the_system() -> None:
    """Another sitecustomize, which this one stands in front of."""
    others = [folder for folder in sys.path if os.path.abspath(folder or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if "CONVLADDER_STAND_IN" in os.environ:
    from convladder import imports

    imports.prepare()
_run_that_of_the_system()
