"""Python environments: create one beside the current one, test it, switch to it, and roll back."""
