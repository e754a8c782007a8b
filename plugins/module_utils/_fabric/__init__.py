"""The network between Sparks: a host's hardware for it, its addresses, and checks of its rails."""
