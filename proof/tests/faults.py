"""The faults that are planted, and which check must say what of each.

What makes them lies in planters/, a file for each, which knows nothing of the checks; the checks know nothing of them.
A planter has a function ``plant``, or the text ``PATCH`` that is written to the end of ``FILE``, of torch/__init__.py
where it names none. KEY stands there for the device; ``_library`` and ``_aten`` are torch's registry of operators.
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

#: A check that hangs is ended after fifteen seconds instead of sixty: a GPU has to be started first, and on a busy
#: machine a check that has not come to the hang by then is only slow.
PATIENT: Options = {"limits": {"factor": 0.25}}
#: Of a large memory little has to be taken to see that it leaks.
LITTLE_MEMORY: Options = {"limits": {"memory_share": 0.05}}
OPERATORS = '\nimport torch.library as _library\n\n_aten = _library.Library("aten", "IMPL")\n'
#: torch has a package of that name, which its list of operators imports.
RESTORED = '\nimport sys as _sys\n\n_library = _sys.modules["torch._library"]\n'
#: Every operator, and more inputs of each, whatever the day.
SURVEY: Options = {"limits": {"survey": 3600.0, "samples": 8.0}}
#: A day on which products of batches have a large one.
BATCHES: Options = {"limits": {"survey": 3600.0, "seed": 10.0}}


def _gpu(capability: str) -> Options:
    """A profile of a host whose GPU has that compute capability."""
    return {"profile": {"name": capability, "compute_capability": capability}}


SPARK = _gpu("12.1")


@dataclass(frozen=True)
class Fault:
    """A broken stack.

    :ivar planter: the file below planters/ that makes it.
    :ivar caught: the checks that must fail, and for each a pattern that its cause or remedy must match.
    :ivar device: where what is planted computes, ``cpu`` or ``cuda``; empty for what computes nothing.
    :ivar checks: the patterns of the checks that are run; those that must fail where it is empty.
    :ivar options: of the run.
    :ivar sound: options with which the same checks pass in a sound environment; None where they are skipped there.
    :ivar fits: options with which they pass in the broken one, for a stack that is right for another host.
    :ivar needs: programs that the planter runs.
    """

    planter: str
    caught: t.Mapping[str, str]
    device: str = ""
    checks: tuple[str, ...] = ()
    options: Options = field(default_factory=dict)
    sound: Options | None = field(default_factory=dict)
    fits: Options | None = None
    needs: tuple[str, ...] = ()

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
        """Return in words what the proof did not see; nothing where it is caught.

        A check that was never seen to pass only warns, whatever it finds.
        """
        rows = {row["name"]: row for row in report["checks"]}
        unseen = {name for name in self.caught if name in CHECKS and not CHECKS[name].measured}
        blocks = report["verdict"] == "fail" or unseen == self.caught.keys()
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


def _on_cpu(planter: str, caught: t.Mapping[str, str], **words: t.Any) -> Fault:
    return Fault(planter, {f"cpu.{name}": said for name, said in caught.items()}, "cpu", **words)


def _on_gpu(planter: str, caught: t.Mapping[str, str], **words: t.Any) -> Fault:
    return Fault(planter, caught, "cuda", **words)


#: What needs no GPU.
FAULTS: tuple[Fault, ...] = (
    # attention
    _on_cpu("attention_three_per_cent", {"attention.flash": r"Flash attention.*1\.03 instead of 1, .*times the bound"}),
    _on_cpu("attention_sees_ahead", {"attention.flash": r"causal"}),
    _on_cpu("attention_no_key_gradient", {"attention.flash": r"dK.*zero everywhere"}),
    _on_cpu("kernel_prints_fatal", {"attention.flash": r"A kernel printed: FATAL: kernel `fmha_cutlassF"}),
    # products
    _on_cpu("product_nan_in_one_lane", {"matmul.float32": r"nan", "matmul.bfloat16": r"nan"}),
    _on_cpu("float32_in_bfloat16", {"matmul.float32": r"float32.*times the bound"}),
    _on_cpu("half_accumulates_in_half", {"matmul.bfloat16": r"bfloat16.*times the bound"}),
    _on_cpu("product_sometimes_wrong", {"matmul.float32": r"1 of \d+ values off"}),
    _on_cpu("product_hangs", {"matmul.shapes": r"did not respond within 15 seconds"}, options=PATIENT, sound={}),
    # tensors
    _on_cpu("copy_drops_the_last", {"movement.copies": r"copy \(.*(transposed|expanded|every second)"}),
    _on_cpu("scatter_add_loses_duplicates", {"tensors.elementwise": r"scatter_add"}),
    _on_cpu("softmax_overflows", {"tensors.elementwise": r"softmax"}),
    _on_cpu("layer_norm_without_epsilon", {"tensors.elementwise": r"layer_norm"}),
    _on_cpu("memory_leaks", {"tensors.memory": r"memory that torch frees is not returned"}),
    _on_cpu("generator_ignores_its_seed", {"chance.independence": r"a state set again"}),
    _on_cpu("generator_is_biased", {"chance.distributions": r"uniform"}),
    # linear algebra
    _on_cpu("solve_off_by_a_thousandth", {"algebra.dense": r"times the bound"}),
    _on_cpu("lapack_stops", {"algebra.dense": r"exited with status 0 before returning a result"}),
    _on_cpu("fft_of_odd_lengths", {"algebra.fft": r"times the bound"}),
    # convolution and recurrence
    _on_cpu("convolution_channels_last", {"convolution.conv2d": r"channels.last"}),
    _on_cpu("convolution_crashes", {"convolution.conv2d": r"was killed by SIGSEGV"}),
    _on_cpu("lstm_gates_swapped", {"convolution.recurrent": r"LSTM"}),
    # what only torch's own list of operators shows
    _on_cpu("layer_norm_gradient_off", {"survey.float32": r"layer_norm, backward by"}, options=SURVEY, sound=SURVEY),
    _on_cpu("loss_ignores_its_delta", {"survey.float32": r"huber_loss by"}, options=SURVEY, sound=SURVEY),
    _on_cpu(
        "resampling_between_corners", {"survey.float32": r"interpolate\.bilinear by"}, options=SURVEY, sound=SURVEY
    ),
    # sizes, training and inference
    _on_cpu("batch_ends_with_the_grid", {"survey.pairs": r"bmm, .*batch"}, options=BATCHES, sound=BATCHES),
    _on_cpu("large_vocabulary_cut", {"sizes.vocabulary": r"a row of 262,147 \(cross entropy"}),
    _on_cpu("long_sum_in_its_format", {"sizes.sums": r"sum that comes back, float16"}),
    _on_cpu("adam_without_correction", {"training.optimizers": r"Adam.*fused=True"}),
    _on_cpu("weight_decay_twice", {"training.optimizers": r"SGD .*weight_decay", "training.convolutional": r"SGD"}),
    _on_cpu("infinite_step_is_taken", {"training.loss_scaling": r"weights behind step"}),
    _on_cpu("group_norm_gradient_off", {"training.convolutional": r"times the bound"}),
    _on_cpu("one_query_misses_its_key", {"inference.decode": r"word by word"}),
    _on_cpu("sampling_prefers_the_first", {"inference.sampling": r"multinomial"}),
    # what is compiled
    # Compiled right, the block takes half a minute; test_healthy.py does it.
    _on_cpu("compiler_variance", {"compilation.transformer_block": r"compile"}, sound=None),
    # identity
    Fault(
        "receipt_names_another_commit",
        {"identity.commit": r"the environment's receipt says", "identity.wheels": r"modules"},
    ),
    Fault(
        "unit_receipt_edited", {"identity.wheels": r"the receipt of the unit pytorch was changed after it was written"}
    ),
    Fault("wheel_replaced_in_the_store", {"identity.wheels": r"has the sha256 \w+, but the receipt says"}),
    Fault(
        "cpu_wheel",
        {"identity.build": r"CPU build.*CUDA wheel"},
        options={"gpu_required": True},
        fits={"gpu_required": False},
    ),
    Fault(
        "onednn_lost",
        {"identity.onednn": r"built without oneDNN, although the unit pytorch requested.*compute_library"},
    ),
    Fault("file_changed_by_hand", {"identity.files": r"torch/nn/functional\.py.*deploy\.yml"}),
    Fault("stray_library_in_torch", {"identity.files": r"belong to no wheel: torch/lib/libcudss\.so\.0"}),
    Fault(
        "companion_of_another_torch",
        {
            "identity.import": r"torchvision::nms does not exist.*matches this torch",
            "identity.versions": r"torchvision 0\.27\.0 requires torch ==2\.12\.0",
        },
    ),
    # libraries
    Fault(
        "stale_cudss",
        {"closure.origins": r"libcudss\.so\.0 was loaded from .*/old/lib/.*LD_LIBRARY_PATH"},
        needs=("gcc",),
    ),
    Fault(
        "library_missing",
        {"closure libshm.so": r"libshm\.so, which .*libtorch_python\.so needs", "python": r"libshm\.so.*closure"},
        checks=("identity.build",),
        sound=None,
    ),
    Fault(
        "libraries_of_two_builds",
        {"python": r"torch cannot be imported.*undefined symbol.*(deploy|build)\.yml"},
        checks=("identity.build",),
        sound=None,
        needs=("gcc",),
    ),
    # tools
    Fault(
        "headers_missing",
        {"toolchain.python_headers": r"Python\.h of Python \S+ is missing.*python\S+-dev"},
        needs=("gcc",),
    ),
    Fault(
        "ptxas_too_old",
        {"toolchain.ptxas": r"ptxas of CUDA 12\.8, does not know sm_121a.*TRITON_PTXAS_PATH"},
        options=SPARK,
        fits=_gpu("12.0"),
        sound=None,
    ),
    # no environment to speak of
    Fault(
        "no_torch",
        {"python": r"The environment of .* has no torch.*deploy\.yml"},
        checks=("identity.build",),
        sound=None,
    ),
    Fault(
        "python_of_another_machine",
        {"python": r"does not start: Exec format error.*deploy\.yml"},
        checks=("identity.build",),
        sound=None,
    ),
    Fault(
        "python_removed",
        {"python": r"The interpreter .* does not exist.*deploy\.yml"},
        checks=("identity.build",),
        sound=None,
    ),
    Fault(
        "import_hangs",
        {"python": r"torch cannot be imported.*did not respond in time"},
        checks=("identity.build",),
        options={"limits": {"factor": 0.03}},
        sound=None,
    ),
    # architectures
    Fault(
        "code_for_another_gpu",
        {"architectures.embedded": r"libtorch_cuda\.so has code for 9\.0.*TORCH_CUDA_ARCH_LIST=12\.0"},
        options=SPARK,
        fits=_gpu("9.0"),
        sound=None,
        needs=("nvcc",),
    ),
    Fault(
        "attention_without_guard",
        {"architectures.attention_guard": r"12\.1.*memory-efficient attention are empty.*TORCH_CUDA_ARCH_LIST=12\.0"},
        options=SPARK,
        fits=_gpu("12.0"),
        sound=None,
        needs=("nvcc",),
    ),
    Fault(
        "code_for_fermi",
        {"architectures.compute_20": r"has code for 2\.0: TORCH_CUDA_ARCH_LIST was not set"},
        options=SPARK,
        sound=None,
        needs=("nvcc",),
    ),
)

#: What a GPU computes, which on_gpu.py plants.
GPU_FAULTS: tuple[Fault, ...] = (
    # First, for it takes longest.
    _on_gpu("compiler_variance", {"compilation.transformer_block": r"compile"}, sound=None),
    _on_gpu("attention_three_per_cent", {"attention.efficient": r"1\.03 instead of 1, .*times the bound"}),
    _on_gpu("attention_sees_ahead", {"attention.flash": r"causal"}),
    _on_gpu("attention_no_key_gradient", {"attention.efficient": r"dK.*zero everywhere"}),
    _on_gpu("kernel_prints_fatal", {"attention.efficient": r"A kernel printed: FATAL: kernel `fmha_cutlassF"}),
    _on_gpu("product_nan_in_one_lane", {"matmul.float32": r"NaN", "matmul.bfloat16": r"NaN"}),
    _on_gpu("float32_in_bfloat16", {"matmul.float32": r"float32.*times the bound"}),
    Fault("float32_precision_medium", {"matmul.float32": r"default settings.*times the bound.*TF32"}),
    _on_gpu("half_accumulates_in_half", {"matmul.bfloat16": r"bfloat16.*times the bound"}),
    Fault("half_accumulation_allowed", {"matmul.float16": r"float16.*times the bound"}),
    _on_gpu("int8_saturates", {"matmul.int8": r"times the bound"}),
    _on_gpu("product_sometimes_wrong", {"matmul.float32": r"1 of \d+ values off"}),
    _on_gpu("convolution_channels_last", {"convolution.conv2d": r"channels.last"}),
    _on_gpu("convolution_crashes", {"convolution.conv2d": r"was killed by SIGSEGV"}),
    _on_gpu("lstm_gates_swapped", {"convolution.recurrent": r"LSTM"}),
    _on_gpu("copy_drops_the_last", {"movement.copies": r"copy \("}),
    _on_gpu("scatter_add_loses_duplicates", {"tensors.elementwise": r"scatter_add"}),
    _on_gpu("softmax_overflows", {"tensors.elementwise": r"softmax"}),
    _on_gpu("layer_norm_without_epsilon", {"tensors.elementwise": r"layer_norm"}),
    _on_gpu("generator_ignores_its_seed", {"chance.independence": r"a state set again"}),
    _on_gpu("generator_is_biased", {"chance.distributions": r"uniform"}),
    _on_gpu("solve_off_by_a_thousandth", {"algebra.dense": r"times the bound"}),
    _on_gpu("fft_of_odd_lengths", {"algebra.fft": r"times the bound"}),
    _on_gpu("data_parallel_sums", {"training.data_parallel": r"by NCCL.*gradient of .*times the bound"}),
    Fault("illegal_access", {"matmul.shapes": r"device-side assert|Assertion .* failed"}),
)

#: Of these one at a time: they are about how fast the device is, or hold it or its memory.
GPU_FAULTS_ALONE: tuple[Fault, ...] = (
    _on_gpu("memory_leaks", {"tensors.memory": r"allocated after all tensors were freed"}, options=LITTLE_MEMORY),
    _on_gpu("product_hangs", {"matmul.shapes": r"did not respond within 15 seconds"}, options=PATIENT),
    # On a device whose rates were measured, such as an H200; elsewhere it is a warning.
    Fault("product_slow", {"speed.matmul_bfloat16": r"below its floor"}),
    Fault("clock_capped", {"speed.clocks": r"limited to 507 MHz"}),
    Fault("power_of_thirty_watts", {"speed.clocks": r"draws 30 W under full load"}),
)
