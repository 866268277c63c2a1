"""What people use: the command line, the report and the page."""
