"""torch.compile generates wrong code for a variance, with a divisor that is one too small. Each compiled layer norm is
off by about one per cent; eager mode is correct.
"""

FILE = "torch/_inductor/lowering.py"
PATCH = """
_variance_and_mean = var_mean_helper_


def var_mean_helper_(x, **options):
    options["correction"] = (1 if options["correction"] is None else options["correction"]) + 1
    return _variance_and_mean(x, **options)
"""
