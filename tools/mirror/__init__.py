"""A directory with everything that a stack needs, collected on a machine with a network for hosts without one."""
