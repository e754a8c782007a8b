"""Commands that print a figure, each with its comparison: `python -m benchmarks.<name>`."""
