from sparkforge_proof.checks.programs import compilation


def test_every_gradient_has_a_name():
    assert len(compilation.NAMES) == 10
    assert compilation.WIDTH == compilation.HEADS * compilation.HEAD
