"""Loss scaling takes a step whose gradient is infinite."""

FILE = "torch/amp/grad_scaler.py"
PATCH = """
def _maybe_opt_step(self, optimizer, optimizer_state, *arguments, **options):
    return optimizer.step(*arguments, **options)


GradScaler._maybe_opt_step = _maybe_opt_step
"""
