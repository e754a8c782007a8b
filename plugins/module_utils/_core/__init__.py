"""The base of all other packages: errors, receipts, module exit, detached processes, bundled code."""
