"""Commands that print a figure, each beside what it is compared with: `python -m benchmarks.<name>`."""
