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


def _load_package() -> None:
    """In a wheel the program is a part of the package and this folder has no other; the Python that runs may be one without it."""
    package = os.path.abspath(os.path.join(_HERE, "../../../../.."))
    spec = importlib.util.spec_from_file_location("convladder", os.path.join(package, "__init__.py"),
                                                  submodule_search_locations=[package])
    assert spec is not None and spec.loader is not None
    sys.modules["convladder"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["convladder"])


if "CONVLADDER_STAND_IN" in os.environ:
    if not os.path.isdir(os.path.join(_HERE, "convladder")):
        _load_package()
    from convladder.simulated import imports

    imports.prepare(_HERE)
_run_that_of_the_system()
