"""What keeps a stage from being compiled, in one line."""
import os


class StageError(Exception):
    """The stage is wrong; the text says so in one line."""


class NotInstalled(Exception):
    """Something that the stage needs is not installed; the text names it."""


def place_of_error(error, request):
    """ 'FILE:LINE: NameError: text', with the innermost line of the stage or of a file beside it. A compiler's error has many lines: the
    last is the reason, and the line of the stage is that of its own message where it has one."""
    folder = os.path.dirname(request["source"]) + os.sep
    place = os.path.basename(request["source"])
    seen = error
    while seen is not None:
        trace = seen.__traceback__
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if file.startswith(folder):
                place = f"{os.path.relpath(file, folder)}:{trace.tb_lineno}"
            trace = trace.tb_next
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(folder):
        return f"{os.path.relpath(error.filename, folder)}:{error.lineno}: {type(error).__name__}: {error.msg}"
    # Triton's errors know the node of the source, counted from the kernel's first line.
    node = getattr(error, "node", None)
    source = getattr(error, "src", None)
    text = getattr(error, "error_message", None) or str(error)
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    where = ""
    if node is not None and source is not None and hasattr(node, "lineno"):
        code = str(source).splitlines()
        if 0 < node.lineno <= len(code):
            where = f" at '{code[node.lineno - 1].strip()}'"
    return f"{place}: {type(error).__name__}: {lines[-1] if lines else 'it says nothing'}{where}"
