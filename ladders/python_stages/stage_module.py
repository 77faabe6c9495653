"""A stage's module: loaded with its parameters, and what was read for it."""
import importlib.util
import os
import sys
import sysconfig

from stage_errors import NotInstalled


def load(request):
    """Runs the file as a module whose globals hold the stage's parameters from the beginning."""
    source = request["source"]
    folder = os.path.dirname(source)
    sys.path[1:1] = [folder, *request["include_folders"]]
    name = "ladder_" + os.path.splitext(os.path.basename(source))[0]
    spec = importlib.util.spec_from_file_location(name, source)
    module = importlib.util.module_from_spec(spec)
    for parameter, value in request["parameters"].items():
        setattr(module, parameter, value)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise NotInstalled(f"{request['python']} has no module '{error.name}'") from error
    return module


def modules_beside(request):
    """The modules that lie beside the stage or in its include folders, by name: a confined process may read them, but list no folder."""
    folders = [os.path.dirname(request["source"]), *request["include_folders"]]
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and file != request["source"] and any(os.path.abspath(file).startswith(folder + os.sep) for folder in folders):
            found[name] = os.path.abspath(file)
    return found


def files_read(request):
    """The files that the result depends on, besides the stage: modules beside it, and the first file of each package that it has used."""
    own = os.path.dirname(os.path.abspath(__file__))
    standard = sysconfig.get_paths()["stdlib"]
    files = set(modules_beside(request).values())
    for name, module in list(sys.modules.items()):
        file = os.path.abspath(getattr(module, "__file__", None) or own)
        is_of_python = file.startswith(standard + os.sep) and "-packages" not in file
        if "." not in name and file != request["source"] and not file.startswith(own) and not is_of_python:
            files.add(file)
    return sorted(files)


def interpreter(request):
    """What a process needs in which this Python is a library: that library, its home, and where modules are found."""
    names = [sysconfig.get_config_var(name) for name in ("INSTSONAME", "LDLIBRARY")]
    folders = [sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LIBPL"), os.path.join(sys.base_prefix, "lib")]
    multiarch = sysconfig.get_config_var("MULTIARCH")
    if multiarch:
        folders += [os.path.join(folder, multiarch) for folder in ("/usr/lib", "/lib")]
    for name in names:
        if not name or ".so" not in name:
            continue
        for folder in folders:
            file = os.path.join(folder or "", name)
            if os.path.isfile(file):
                own = os.path.dirname(os.path.abspath(__file__))
                return {"library": file, "home": sys.base_prefix, "prefix": sys.prefix,
                        "path": [one for one in sys.path if one and one != own], "modules": modules_beside(request)}
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    raise NotInstalled(f"this Python has no shared library (libpython{version}.so; Debian: libpython{version})")
