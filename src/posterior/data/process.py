"""Whether this process is our own, as that of a command is, and no one else's code runs in it."""

is_ours = False
