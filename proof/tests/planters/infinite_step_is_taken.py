"""Loss scaling takes a step with an infinite gradient."""

FILE = "torch/amp/grad_scaler.py"
PATCH = """
def _maybe_opt_step(self, optimizer, optimizer_state, *arguments, **options):
    return optimizer.step(*arguments, **options)


GradScaler._maybe_opt_step = _maybe_opt_step
"""
