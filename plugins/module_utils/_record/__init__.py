"""The record that a user can send: everything that a run needs to know about a host, and nothing that identifies it."""
