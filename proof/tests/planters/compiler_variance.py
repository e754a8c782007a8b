"""torch.compile makes wrong code for a variance: it divides by one element less than it has to, so that each layer
norm is off by about a per cent once it is compiled, and right in eager mode.
"""

FILE = "torch/_inductor/lowering.py"
PATCH = """
_variance_and_mean = var_mean_helper_


def var_mean_helper_(x, **options):
    options["correction"] = (1 if options["correction"] is None else options["correction"]) + 1
    return _variance_and_mean(x, **options)
"""
