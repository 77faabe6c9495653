"""What `convladder simulate` adds to a Python program: see docs/use/python.md."""
