"""Checks of the device's speed, clocks and power, which do not look at computed results."""
