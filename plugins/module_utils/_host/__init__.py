"""The state of a host, read relative to a root directory, so that a recorded host reads like a live one."""
