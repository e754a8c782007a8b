"""Predict from files, without running any code, whether packages will run on a device."""
