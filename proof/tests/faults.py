"""The planted faults, and the checks that must report each of them.

planters/ has one file per fault. Planters and checks know nothing of each other. A planter has either a function
``plant`` or a text ``PATCH``, which is appended to ``FILE`` or, by default, to torch/__init__.py. In a patch, KEY
stands for the device, and ``_library`` and ``_aten`` for torch's registry of operators.
"""

import importlib
import re
import typing as t
from dataclasses import dataclass, field

from sparkforge_proof.catalogue import CHECKS

from proof.tests import record
from proof.tests.environment import Environment

Report = t.Mapping[str, t.Any]
Options = t.Mapping[str, t.Any]

#: A hanging check is killed after 15 s instead of 60 s. If the limit were shorter, a GPU could not start in time, and a
#: check on a busy machine would be reported as slow before it hangs.
PATIENT: Options = {"limits": {"factor": 0.25}}
#: The floor of a site with H200s.
FLOOR: Options = {"profile": {"name": "site", "floors": {"matmul_bfloat16_tflops": {"nominal": 989.0, "ratio": 0.6}}}}
#: If a check uses only a small share of a large memory, it notices a leak.
LITTLE_MEMORY: Options = {"limits": {"memory_share": 0.05}}
OPERATORS = '\nimport torch.library as _library\n\n_aten = _library.Library("aten", "IMPL")\n'
#: torch has a package ``_library``, which its list of operators imports.
RESTORED = '\nimport sys as _sys\n\n_library = _sys.modules["torch._library"]\n'
#: All operators, each with more inputs, on any day.
SURVEY: Options = {"limits": {"survey": 3600.0, "samples": 8.0}}

#: A seed with whose rows softmax gets large numbers.
DRAWN: Options = {"limits": {"survey": 3600.0, "seed": 3.0}}

#: A seed whose panels compute a variance.
NORMALISATIONS: Options = {"limits": {"seed": 16.0}}


def _gpu(capability: str) -> Options:
    """Return the profile of a host whose GPU has this compute capability."""
    return {"profile": {"name": capability, "compute_capability": capability}}


SPARK = _gpu("12.1")


@dataclass(frozen=True)
class Fault:
    """A broken stack.

    :ivar planter: the file in planters/ that plants the fault.
    :ivar device: the device that computes wrong results, ``cpu`` or ``cuda``, or '' for a fault without computation.
    :ivar checks: patterns for the checks to run; if empty, the checks that must fail.
    :ivar options: options of the run.
    :ivar fits: options with which the checks pass in the broken environment, since it is right for another host.
    :ivar needs: programs that the planter runs.
    :ivar is_exact: whether the wrong result can be computed exactly, so that it blocks without a recorded run.
    """

    planter: str
    caught: t.Mapping[str, str]
    device: str = ""
    checks: tuple[str, ...] = ()
    options: Options = field(default_factory=dict)
    sound: Options | None = field(default_factory=dict)
    fits: Options | None = None
    needs: tuple[str, ...] = ()
    is_exact: bool = False

    @property
    def hangs(self) -> bool:
        return self.planter.endswith("_hangs")

    @property
    def patterns(self) -> tuple[str, ...]:
        return self.checks or tuple(self.caught)

    def plant(self, environment: Environment) -> None:
        """Break the environment, which is a copy."""
        module = importlib.import_module(f"proof.tests.planters.{self.planter}")
        if not hasattr(module, "PATCH"):
            module.plant(environment)
            return
        patch = module.PATCH.replace("KEY", self.device.upper())
        file = getattr(module, "FILE", "torch/__init__.py")
        environment.append(file, OPERATORS + patch + RESTORED if "_library" in patch or "_aten" in patch else patch)
        record.rewrite(environment, file)

    def prove(self, environment: Environment, **options: t.Any) -> Report:
        return environment.prove(*self.patterns, **{**self.options, **options})

    def missed(self, report: Report) -> list[str]:
        """Return messages about expected failures that the report lacks, or an empty list if the fault is caught.

        A check that never passed in a recorded run only warns, unless the fault is exact; one that hangs always warns.
        """
        rows = {row["name"]: row for row in report["checks"]}
        unseen = {name for name in self.caught if name in CHECKS and not (CHECKS[name].measured or self.is_exact)}
        blocks = report["verdict"] == "fail" or unseen == self.caught.keys()
        if self.hangs:
            unseen, blocks = set(self.caught), report["verdict"] == "unproven"
        problems = [] if blocks else [f"the verdict is {report['verdict']}"]
        for name, pattern in self.caught.items():
            row = rows.get(name)
            if row is None or row["status"] != ("warn" if name in unseen else "fail"):
                problems.append(
                    f"{name} is {row['status'] if row else 'absent'}, {row and (row['cause'] or row['measured'])}"
                )
            elif not re.search(pattern, f"{row['cause']} {row['remedy']}", re.IGNORECASE):
                problems.append(f"{name} says nothing of {pattern!r}: {row['cause']} {row['remedy']}")
            elif not row["remedy"]:
                problems.append(f"{name} has no remedy: {row['cause']}")
        return problems


def _on_cpu(planter: str, caught: t.Mapping[str, str], **options: t.Any) -> Fault:
    return Fault(planter, {f"cpu.{name}": pattern for name, pattern in caught.items()}, "cpu", **options)


def _on_gpu(planter: str, caught: t.Mapping[str, str], **options: t.Any) -> Fault:
    return Fault(planter, caught, "cuda", **options)


def _surveyed(planter: str, check: str, pattern: str, options: Options = SURVEY, is_exact: bool = False) -> Fault:
    return _on_cpu(planter, {check: pattern}, options=options, sound=options, is_exact=is_exact)


def _unusable(planter: str, caught: t.Mapping[str, str], **options: t.Any) -> Fault:
    """Return a fault that prevents all of the environment's checks from running."""
    return Fault(planter, caught, checks=("identity.build",), sound=None, **options)


def _for_spark(planter: str, name: str, pattern: str, needs: str, **options: t.Any) -> Fault:
    """Return a fault in a file that does not suit a GB10."""
    return Fault(planter, {name: pattern}, options=SPARK, sound=None, needs=(needs,) if needs else (), **options)


#: Faults that need no GPU.
FAULTS: tuple[Fault, ...] = (
    # attention
    _on_cpu("attention_three_per_cent", {"attention.flash": r"(1\.03 instead of 1|explains: ).*times the bound"}),
    _on_cpu("attention_sees_ahead", {"attention.flash": r"causal"}),
    _on_cpu("one_query_misses_its_key", {"attention.flash": r"1 queries of \d+ keys"}),
    _on_cpu("attention_no_key_gradient", {"attention.flash": r"dK.*zero everywhere"}),
    _on_cpu("kernel_prints_fatal", {"attention.flash": r"A kernel printed: FATAL: kernel `fmha_cutlassF"}),
    # products
    _on_cpu(
        "libraries_in_rare_cases",
        {
            "matmul.float32": r"times its transpose",
            "layouts.weights": r"packed weights by columns",
            "fastpaths.keys": r"hidden by numbers",
            "fastpaths.modules": r"a picture of bytes",
            "convolution.conv2d": r", relu",
            "convolution.conv1d_3d": r"as large as the input",
            "matmul.float16": r"mm, 1 of \d x [\d,]{7,} x \d",
            "algebra.dense": r"cholesky.*, 1 of ",
            "sizes.vocabulary": r"counts|least of",
            "formats.conversions": r"tan of the least",
            "formats.division": r"fmod, float16",
            "sizes.sums": r"sum that .*, float16",
            "algebra.fft": r"rfft, 176 of",
        },
    ),
    _on_cpu("float32_in_bfloat16", {"matmul.float32": r"float32.* is wrong in "}),
    _on_cpu("half_accumulates_in_half", {"matmul.bfloat16": r"bfloat16.*times the bound"}),
    _on_cpu("product_sometimes_wrong", {"matmul.float32": r"wrong in 1 of [\d,]+ numbers"}),
    _on_cpu("product_hangs", {"matmul.float32": r"within 15 seconds"}, options=PATIENT, sound={}),
    # tensors
    _on_cpu("copy_drops_the_last", {"movement.copies": r"copy \(.*(transposed|expanded|every second)"}),
    _on_cpu("memory_leaks", {"tensors.memory": r"is not returned"}),
    _on_cpu("generator_ignores_its_seed", {"chance.independence": r"state set again"}),
    _on_cpu("generator_is_biased", {"chance.distributions": r"uniform"}),
    _on_cpu("sparse_negation_keeps_signs", {"layouts.sparse": r"CSR.*negative"}),
    _on_cpu("rank_is_killed", {"collectives.parts": r"Rank 1 of 2 was killed by SIGKILL"}),
    _on_cpu("rank_refuses_a_product", {"collectives.parts": r"Rank 1 of 2: .*times the bound"}),
    # linear algebra
    _on_cpu("solve_off_by_a_thousandth", {"algebra.dense": r"solve.*, 65,\d+ of .*times the bound"}),
    _on_cpu("lapack_stops", {"algebra.dense": r"exited with status 0"}),
    _on_cpu("fft_of_odd_lengths", {"algebra.fft": r"times the bound"}),
    # convolution and recurrence
    _on_cpu("convolution_channels_last", {"convolution.conv2d": r"channels.last"}),
    _on_cpu("convolution_crashes", {"convolution.conv2d": r"was killed by SIGSEGV"}),
    _on_cpu("lstm_gates_swapped", {"survey.modules": r"nn\.LSTM"}),
    # torch's own list of operators
    _surveyed("layer_norm_gradient_off", "survey.float32", r"layer_norm, backward by"),
    _surveyed("layer_norm_without_epsilon", "survey.float32", r"layer_norm"),
    _surveyed("scatter_add_loses_duplicates", "survey.float32", r"index_reduce|scatter"),
    _surveyed("softmax_overflows", "survey.pairs_bfloat16", r"softmax", DRAWN),
    # sizes and training
    _surveyed("batch_ends_with_the_grid", "survey.float32", r"bmm, batch", is_exact=True),
    _on_cpu("large_vocabulary_cut", {"sizes.vocabulary": r"a row of 262,147 \(cross entropy"}),
    _on_cpu("adam_without_correction", {"survey.optimizers": r"Adam.*fused=True"}),
    _on_cpu("weight_decay_twice", {"survey.optimizers": r"SGD .*weight_decay"}),
    _on_cpu("infinite_step_is_taken", {"training.loss_scaling": r"weights behind step"}),
    _on_cpu("sampling_prefers_the_first", {"chance.rates": r"multinomial"}),
    # compilation: the sound panels take minutes to compile, so only test_healthy.py compiles them
    _on_cpu("compiler_variance", {"compilation.panels": r"compiled"}, sound=None, options=NORMALISATIONS),
    # identity
    Fault("receipt_names_another_commit", {"identity.wheels": r"modules.*receipt says \w+"}),
    Fault("unit_receipt_edited", {"identity.wheels": r"the unit pytorch was changed"}),
    Fault("wheel_replaced_in_the_store", {"identity.wheels": r"has the sha256 \w+, but"}),
    Fault(
        "cpu_wheel",
        {"identity.build": r"CPU build.*CUDA wheel"},
        options={"gpu_required": True},
        fits={"gpu_required": False},
    ),
    Fault("onednn_lost", {"identity.onednn": r"without oneDNN, although the.*compute_library"}),
    Fault("file_changed_by_hand", {"identity.files": r"torch/nn/functional\.py.*deploy\.yml"}),
    Fault("stray_library_in_torch", {"identity.files": r"no wheel: torch/lib/libcudss\.so\.0"}),
    Fault(
        "companion_of_another_torch",
        {
            "identity.import": r"torchvision::nms does not exist.*torch_extensions",
            "identity.versions": r"torchvision 0\.27\.0 requires torch ==2\.12\.0",
        },
    ),
    # libraries
    Fault(
        "stale_cudss",
        {"closure.origins": r"libcudss\.so\.0 was loaded from .*/old/lib/.*LD_LIBRARY_PATH"},
        needs=("gcc",),
    ),
    _unusable(
        "library_missing",
        {"closure libshm.so": r"libshm\.so, which .*libtorch_python\.so needs", "python": r"libshm\.so.*closure"},
    ),
    _unusable(
        "libraries_of_two_builds",
        {"python": r"torch cannot be imported.*undefined symbol.*(deploy|build)\.yml"},
        needs=("gcc",),
    ),
    # unusable environments
    _unusable("python_of_another_machine", {"python": r"does not start: Exec format error.*deploy\.yml"}),
    _unusable("import_hangs", {"python": r"cannot be imported.*in time"}, options={"limits": {"factor": 0.03}}),
    # architectures
    _for_spark(
        "code_for_another_gpu",
        "architectures.embedded",
        r"libtorch_cuda\.so has code for 9\.0.*TORCH_CUDA_ARCH_LIST=12\.0",
        "nvcc",
        fits=_gpu("9.0"),
    ),
    _for_spark(
        "attention_without_guard",
        "architectures.attention_guard",
        r"12\.1.*memory-efficient attention are empty.*TORCH_CUDA_ARCH_LIST=12\.0",
        "nvcc",
        fits=_gpu("12.0"),
    ),
    _for_spark(
        "code_for_fermi", "architectures.compute_20", r"has code for 2\.0: TORCH_CUDA_ARCH_LIST was not set", "nvcc"
    ),
)

#: Faults on a GPU, which on_gpu.py plants.
GPU_FAULTS: tuple[Fault, ...] = (
    # The first one takes longest.
    _on_gpu("compiler_variance", {"compilation.panels": r"compiled"}, sound=None, options=NORMALISATIONS),
    _on_gpu("attention_three_per_cent", {"attention.efficient": r"(1\.03 instead of 1|explains: ).*times the bound"}),
    _on_gpu("attention_sees_ahead", {"attention.flash": r"causal"}),
    _on_gpu("attention_no_key_gradient", {"attention.efficient": r"dK.*zero everywhere"}),
    _on_gpu("kernel_prints_fatal", {"attention.efficient": r"A kernel printed: FATAL: kernel `fmha_cutlassF"}),
    _on_gpu("float32_in_bfloat16", {"matmul.float32": r"float32.*times the bound"}),
    Fault("float32_precision_medium", {"matmul.float32": r"default settings.*times the bound.*TF32"}),
    _on_gpu("half_accumulates_in_half", {"matmul.bfloat16": r"bfloat16.*times the bound"}),
    Fault("half_accumulation_allowed", {"matmul.float16": r"float16.*times the bound"}),
    _on_gpu("int8_saturates", {"matmul.int8": r"times the bound"}),
    _on_gpu("product_sometimes_wrong", {"matmul.float32": r"wrong in 1 of [\d,]+ numbers"}),
    _on_gpu("convolution_channels_last", {"convolution.conv2d": r"channels.last"}),
    _on_gpu("convolution_crashes", {"convolution.conv2d": r"was killed by SIGSEGV"}),
    _on_gpu("lstm_gates_swapped", {"survey.modules": r"nn\.LSTM"}),
    _on_gpu("copy_drops_the_last", {"movement.copies": r"copy \("}),
    _on_gpu("scatter_add_loses_duplicates", {"survey.float32": r"index_reduce|scatter"}),
    _on_gpu("softmax_overflows", {"survey.pairs_bfloat16": r"softmax"}, options=DRAWN),
    _on_gpu("layer_norm_without_epsilon", {"survey.float32": r"layer_norm"}),
    _on_gpu("generator_ignores_its_seed", {"chance.independence": r"state set again"}),
    _on_gpu("generator_is_biased", {"chance.distributions": r"uniform"}),
    _on_gpu("solve_off_by_a_thousandth", {"algebra.dense": r"times the bound"}),
    _on_gpu("fft_of_odd_lengths", {"algebra.fft": r"times the bound"}),
    _on_gpu("data_parallel_sums", {"collectives.parts": r"by NCCL.*gradient of .*times the bound"}),
    Fault("illegal_access", {"matmul.float32": r"device-side assert|Assertion .* failed"}),
)

#: Faults that are planted one at a time, because they measure the device's speed or occupy the device or its memory.
GPU_FAULTS_ALONE: tuple[Fault, ...] = (
    _on_gpu("memory_leaks", {"tensors.memory": r"tensors were freed"}, options=LITTLE_MEMORY),
    _on_gpu("product_hangs", {"matmul.float32": r"within 15 seconds"}, options=PATIENT),
    Fault("product_slow", {"speed.matmul_bfloat16": r"below its floor"}, options=FLOOR),
    Fault("clock_capped", {"speed.clocks": r"limited to 507 MHz"}),
    Fault("power_of_thirty_watts", {"speed.clocks": r"draws 30 W under"}),
)
