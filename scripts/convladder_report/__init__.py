"""One page of one or several records: what it holds, and how it is written as HTML and as Markdown."""
