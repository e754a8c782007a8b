# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The other ways to call an operator of the catalogue: with strided inputs, in place, into tensors that are given."""

from __future__ import annotations

import typing as t

if t.TYPE_CHECKING:
    import torch

#: How an operator is called, beside plainly.
STRIDED, IN_PLACE, OUT = "strided", "in place", "out="


def has_steps(sample: t.Any) -> bool:
    """Say whether any input has more than one element, so that elements can lie apart."""
    import torch

    many: list[bool] = []

    def look(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor):
            many.append(value.layout is torch.strided and value.numel() > 1)
        return value

    sample.transform(look)
    return any(many)


def in_place(operator: t.Any, sample: t.Any, plain: t.Sequence[torch.Tensor]) -> list[torch.Tensor] | None:
    """Return what the operator leaves in a copy of its first input; None where it cannot be called so.

    :param plain: what it returns when it is called plainly, whose shape and format must be those of the input.
    """
    import torch

    function, given = operator.inplace_variant, sample.input
    many = list(given) if isinstance(given, (list, tuple)) else [given]
    if function is None or sample.broadcasts_input or len(plain) != len(many):
        return None
    for one, result in zip(many, plain):
        if not isinstance(one, torch.Tensor) or (result.shape, result.dtype, result.layout) != (
            one.shape,
            one.dtype,
            one.layout,
        ):
            return None
    with torch.no_grad():
        held = [one.detach().clone() for one in many]
        function(held if isinstance(given, (list, tuple)) else held[0], *sample.args, **sample.kwargs)
    return held


def into_given(operator: t.Any, sample: t.Any, plain: t.Sequence[torch.Tensor]) -> list[torch.Tensor] | None:
    """Return what the operator writes to tensors whose elements lie apart; None where it takes none."""
    import torch

    if operator.name.startswith("_foreach"):
        return None
    if not operator.supports_out or not plain or any(one.layout is not torch.strided for one in plain):
        return None
    places = [_apart(one) for one in plain]
    with torch.no_grad():
        operator(sample.input, *sample.args, **sample.kwargs, out=places[0] if len(places) == 1 else tuple(places))
    return places


def _apart(like: torch.Tensor) -> torch.Tensor:
    """Return a tensor of the same shape and format of which only every second element of memory is used."""
    import torch

    value = float("nan") if like.is_floating_point() or like.is_complex() else 1
    return torch.full((*like.shape, 2), value, dtype=like.dtype, device=like.device)[..., 0]


#: By variant what calls an operator so.
CALLS: dict[str, t.Callable[[t.Any, t.Any, t.Sequence[torch.Tensor]], list[torch.Tensor] | None]] = {
    IN_PLACE: in_place,
    OUT: into_given,
}
