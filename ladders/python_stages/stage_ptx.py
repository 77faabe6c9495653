"""What front ends do with PTX: a file for each launch, the kernel's name in it, the architecture as numbers."""
import os


def kept(ptx, number, request):
    """The file that holds the PTX of a launch. Some packages end the text with a zero."""
    file = os.path.join(request["scratch"], f"kernel{number}.ptx")
    with open(file, "w", encoding="utf-8") as out:
        out.write(ptx.rstrip("\0"))
    return file


def entry_of(ptx):
    """The name of the first kernel."""
    return next(line.split(".entry")[1].split("(")[0].strip() for line in ptx.splitlines() if ".entry" in line)


def capability(request):
    """90 for sm_90a."""
    return int("".join(one for one in request["target"] if one.isdigit()))
