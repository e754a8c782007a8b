"""The families of faults, and how one is drawn by a seed for an operator or an entry, with no look at the checks.

A fault is a defect, what becomes of a result, and a condition, when it does. What a number stands for is the same for
the same seed, device and targets.
"""

import dataclasses
import random
import re
import typing as t

#: What becomes of a result.
DEFECTS = ("scale", "offset", "lane", "last", "last of batch", "rounding", "flushed", "NaN swallowed")
#: The same of random numbers.
OF_CHANCE = ("repeated", "biased", "correlated", "tail", "lane", "last")
LAYOUTS = ("strided", "transposed", "channels last", "expanded")
FORMS = ("float32", "bfloat16", "float16", "float64", "complex", "integers")
#: How many of the elements of a tensor a size is drawn from, as exponents.
EXPONENTS = {"cuda": (10, 31), "cpu": (10, 20)}


@dataclasses.dataclass(frozen=True)
class Drawn:
    """One fault.

    :ivar target: an operator of the dispatcher, ``aten::cat``, or an entry, ``Event.wait``.
    :ivar operator: of torch's catalogue, of which the target computes a part; empty for an entry.
    :ivar defect: see ``DEFECTS``; empty for a wrapper that does nothing, which is sound.
    :ivar amount: how much, for what is scaled or moved; how many bits, for a rounding.
    :ivar place: which lane, modulo their number.
    :ivar condition: empty for always.
    :ivar value: of the condition: an exponent, a layout, a format, a count.
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
    def words(self) -> str:
        """The fault in words."""
        condition = f", {self.condition}{'' if self.value is None else f' {self.value}'}" if self.condition else ""
        of = f" (of {self.operator})" if self.operator else ""
        return f"{self.number}: {self.target}{of}, {self.defect or 'sound'} {self.amount:g}{condition}"


def conditions(device: str) -> tuple[str, ...]:
    """Return the conditions that there are on a device; always is as likely as any four."""
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
    """Return the fault of a number; None for an entry that is left out.

    :param targets: by operator of the catalogue, those of the dispatcher that it calls.
    :param entries: by public entry, its defects; one without any is left out.
    :param chances: operators that draw random numbers.
    """
    chance = random.Random(f"{seed} {number} {device}")
    amount, place = chance.choice((0.005, -0.01, 0.02, -0.05, 0.1)), chance.randrange(1 << 16)
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
        found = Drawn(number, entry, "", defect, amount, place, *_of_entries(chance))
    else:
        operator = chance.choice(sorted(targets))
        target = chance.choice(sorted(targets[operator]))
        drawn = operator in chances
        defect = chance.choice(OF_CHANCE if drawn else DEFECTS)
        if defect == "rounding":
            amount = float(chance.choice((3, 6, 9, 12)))
        if defect in ("flushed", "NaN swallowed"):
            # What has such a value at all is condition enough.
            condition, value = "", None
        found = Drawn(number, target, operator, defect, amount, place, condition, value)
    return dataclasses.replace(found, defect="") if sound else found


def _of_entries(chance: random.Random) -> tuple[str, t.Any]:
    condition = chance.choice(("", "", "", "every n-th call"))
    return condition, chance.choice((2, 3, 5)) if condition else None


#: The classes of the campaign's table, by what an operator's name contains; the first that fits.
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
    """Return the class of a fault, for the table.

    :param entries: the class of each entry.
    """
    if drawn.target in entries:
        return entries[drawn.target]
    return next(
        (name for name, words in CLASSES if re.search(rf"(?:^|[._])(?:{words.replace(' ', '|')})", drawn.operator)),
        "functions of elements",
    )
