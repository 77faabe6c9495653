"""A folder of pages from many records: an index, a page for each, their history, and any two of them compared."""
