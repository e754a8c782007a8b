"""A unit that is built from source, from its description to its receipt."""
