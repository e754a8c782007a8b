"""The guard on a machine that runs out of memory: 30 scenarios, with it, without it, and with earlyoom."""
