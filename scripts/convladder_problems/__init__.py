"""Problem sets of others as ladder folders. docs/use/import_problems.md says what of them is taken how."""
