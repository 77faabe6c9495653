"""What runs within a Python program on the simulated GPU: docs/use/python.md."""
