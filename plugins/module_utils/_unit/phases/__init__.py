"""The phases of a build: one module each with one function ``run``, in the order given by ``_unit.worker``."""
