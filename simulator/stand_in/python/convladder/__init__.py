"""What `convladder simulate` adds to a Python program: docs/use/python.md."""

pytest_plugins = ("convladder.pytest_plugin",)  # for `pytest -p convladder`
