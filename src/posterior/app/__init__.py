"""Applications: the command line, the report and the page."""
