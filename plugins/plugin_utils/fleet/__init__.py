"""The fleet: the choice of a builder, the steps of a rollout, the state of the hosts, and their reports."""
