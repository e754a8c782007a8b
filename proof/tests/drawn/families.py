"""The families of faults, and how a seed draws a fault for an operator or an entry, regardless of the checks.

A fault has a defect, which changes a result, and a condition under which the defect applies. The same seed, device,
targets and number always give the same fault.
"""

import dataclasses
import random
import re
import typing as t

#: Ways to change a result.
DEFECTS = ("scale", "offset", "lane", "last", "last of batch", "rounding", "flushed", "NaN swallowed")
#: Ways to change random numbers. A copied lane or another last number is as likely a draw as any other, so no user can
#: call it wrong, and neither is drawn.
OF_CHANCE = ("repeated", "biased", "correlated", "tail")
#: Operators whose random numbers have ends, so that a last number beyond them is wrong.
BETWEEN_ENDS = ("bernoulli", "nn.functional.dropout", "rand_like")
LAYOUTS = ("strided", "transposed", "channels last", "expanded")
FORMS = ("float32", "bfloat16", "float16", "float64", "complex", "integers")
#: The range from which the exponent of a tensor's size is drawn.
EXPONENTS = {"cuda": (10, 31), "cpu": (10, 20)}


@dataclasses.dataclass(frozen=True)
class Drawn:
    """One fault.

    :ivar target: an operator of the dispatcher such as ``aten::cat``, or an entry such as ``Event.wait``.
    :ivar operator: the operator in torch's catalogue that calls the target, or '' for an entry.
    :ivar defect: see ``DEFECTS``, or '' for a sound wrapper, which changes nothing.
    :ivar amount: the relative change of a scaled or shifted result, or the number of bits to which a result is rounded.
    :ivar place: the number of the lane, modulo the number of lanes.
    :ivar condition: '' if the fault always applies.
    :ivar value: the condition's exponent, layout, format or count.
    """

    number: int
    target: str
    operator: str
    defect: str
    amount: float = 0.0
    place: int = 0
    condition: str = ""
    value: t.Any = None

    @property
    def description(self) -> str:
        """A description of the fault."""
        condition = f", {self.condition}{'' if self.value is None else f' {self.value}'}" if self.condition else ""
        of = f" (of {self.operator})" if self.operator else ""
        return f"{self.number}: {self.target}{of}, {self.defect or 'sound'} {self.amount:g}{condition}"


def conditions(device: str) -> tuple[str, ...]:
    """Return the conditions possible on a device. The empty condition is as likely as any four others together."""
    plain = ("", "", "", "", "above 2^", "layout", "odd", "only", "complex", "backward", "every n-th call")
    return (*plain, "beyond 2 GiB", "graph", "stream") if device == "cuda" else plain


def draw(
    targets: t.Mapping[str, t.Sequence[str]],
    entries: t.Mapping[str, t.Sequence[str]],
    chances: t.Collection[str],
    device: str,
    seed: int,
    number: int,
    sound: bool = False,
) -> Drawn | None:
    """Return the fault with this number, or None for an entry that is left out.

    :param targets: for each operator in the catalogue, the dispatcher's operators that it calls.
    :param entries: for each public entry, its defects; an entry without defects is left out.
    :param chances: operators that draw random numbers.
    """
    chance = random.Random(f"{seed} {number} {device}")
    amount, lane = chance.choice((0.005, -0.01, 0.02, -0.05, 0.1)), chance.randrange(1 << 16)
    condition = chance.choice(conditions(device))
    low, high = EXPONENTS[device]
    value: t.Any = {
        "above 2^": chance.randint(low, high),
        "layout": chance.choice(LAYOUTS),
        "only": chance.choice(FORMS[:3]),
        "every n-th call": chance.choice((2, 3, 5, 10)),
    }.get(condition)
    if chance.random() < 0.35 and entries:
        entry = chance.choice(sorted(entries))
        if not entries[entry]:
            return None
        defect = chance.choice(sorted(entries[entry]))
        fault = Drawn(number, entry, "", defect, amount, lane, *_of_entries(chance))
    else:
        operator = chance.choice(sorted(targets))
        target = chance.choice(sorted(targets[operator]))
        drawn = operator in chances
        of_chance = (*OF_CHANCE, "last") if operator in BETWEEN_ENDS else OF_CHANCE
        defect = chance.choice(of_chance if drawn else DEFECTS)
        if defect == "rounding":
            amount = float(chance.choice((3, 6, 9, 12)))
        if defect in ("flushed", "NaN swallowed"):
            # The result's own values act as the condition.
            condition, value = "", None
        fault = Drawn(number, target, operator, defect, amount, lane, condition, value)
    return dataclasses.replace(fault, defect="") if sound else fault


def _of_entries(chance: random.Random) -> tuple[str, t.Any]:
    condition = chance.choice(("", "", "", "every n-th call"))
    return condition, chance.choice((2, 3, 5)) if condition else None


#: The classes in the campaign's table, each with texts that occur in its operators' names. The first match counts.
CLASSES: tuple[tuple[str, str], ...] = (
    ("Fourier transforms", "fft stft"),
    ("sparse and nested", "sparse nested sampled"),
    ("optimisers (for each, fused)", "_foreach _fused _amp"),
    ("attention", "attention"),
    ("linear algebra", "linalg cholesky lu qr geqrf triangular inv svd eig det lstsq ormqr pinv"),
    ("convolutions and pooling", "conv pool interpolate upsample grid_sample unfold fold"),
    (
        "random numbers",
        "rand normal_ bernoulli dropout exponential multinomial uniform cauchy geometric poisson normal binomial gamma",
    ),
    ("norms and losses", "norm loss cross_entropy kl_div embedding cdist pdist dist"),
    ("searches and orders", "sort topk kthvalue median mode search bucket unique bincount hist isin quantile msort"),
    (
        "products",
        "mm addmm bmm baddbmm addbmm matmul dot vdot mv addmv addr outer einsum inner linear bilinear kron ger"
        " tensordot",
    ),
    (
        "reductions",
        "sum nan mean prod max min amax amin arg any all var std cum logcum logsumexp count softmax trapez aminmax",
    ),
    (
        "data movement",
        "cat stack split chunk index gather scatter take flip roll pad repeat tile select slice unbind permute"
        " transpose reshape view expand clone contiguous to diag tril triu where masked put copy fill nonzero rot90"
        " narrow as_strided meshgrid movedim shuffle ones zeros full arange linspace broadcast squeeze flatten",
    ),
)


def family(drawn: Drawn, entries: t.Mapping[str, str]) -> str:
    """Return the fault's class in the table.

    :param entries: for each entry, its class.
    """
    if drawn.target in entries:
        return entries[drawn.target]
    return next(
        (name for name, texts in CLASSES if re.search(rf"(?:^|[._])(?:{texts.replace(' ', '|')})", drawn.operator)),
        "functions of elements",
    )
