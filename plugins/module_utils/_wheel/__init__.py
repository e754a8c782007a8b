"""Wheels, and checks of their contents."""
