"""The wheelhouse: storing, publishing and pruning wheels."""
