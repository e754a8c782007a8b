"""The controller's side of the wheelhouse: the required manifest, the search for it, and the cache."""
