"""The plan of the `serving` role: check a model server's variables and derive its network access."""

from __future__ import annotations

import ipaddress
import re
import typing as t

from ...module_utils._diagnosis import scan
from ...module_utils._serving.weights import NAME
from . import Plan

#: A path that may occur within quotes in a unit file: a bind mount's path has no escapes (systemd.exec(5)).
_PATH = re.compile(r'/[^\x00-\x1f\x7f"\\]*')
_DEVICE = re.compile(r"(char-|block-|/dev/)[\w*?./-]+", re.ASCII)
_MEMORY = re.compile(r"[0-9]+[KMGT%]?|infinity")
#: Engine options that this role sets itself, and those that put a secret into a command line or a log. argparse
#: accepts abbreviations of them too, and vllm accepts ``_`` for ``-``.
_RESERVED = {
    "--host": "Set serving_host.",
    "--port": "Set serving_port.",
    "--api-key": "Set serving_api_key_file.",
    "--admin-api-key": "Set serving_api_key_file.",
    "--hf-token": "Get the model first: sparkforge model get, with --token-file.",
    "--config": "Give its options in serving_arguments.",
}
#: Options and variables for the engines' other servers, which do not require the key: vllm/entrypoints/cli/serve.py,
#: sglang/launch_server.py, and the servers for several tokenizers in sglang's http_server.py.
_WITHOUT_KEY = re.compile(r"--(smg-)?grpc|--tokenizer-w|VLLM_USE_RUST_FRONTEND|SGLANG_RUST_SERVER")
_WITHOUT_KEY_OPTIONS = ("--grpc", "--smg-grpc", "--tokenizer-worker-num")
#: Words within or at the end of a variable's name that suggest a secret; names of files are excluded, because the unit
#: then contains only the path.
_SECRET = re.compile(
    r"(?<![A-Z0-9])(KEYS?|TOKEN|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD|PAT|CREDENTIALS?|AUTH)(?![A-Z0-9])"
    r"(?!.*_(FILE|PATH|DIR)$)"
    r"|(API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)$",
    re.IGNORECASE,
)


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any] | None) -> Plan:
    """Return ``loopback``, whether the server listens only on this host, and ``networks``, its allowed peers.

    ``failure`` is the diagnosis of a failed start from the server's journal, if there is one.
    A refusal names the variable, but never the value of a variable that may hold a secret.
    """
    del observation
    host = str(settings["serving_host"])
    loopback = host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)
    networks = list(settings["serving_networks"]) or ["localhost" if loopback else "any"]
    refusals = [
        *_of_the_engine(settings),
        *_of_the_addresses(settings, host, loopback, networks),
        *(_of_argument(str(argument)) for argument in settings["serving_arguments"]),
        *(_of_variable(str(name), str(value)) for name, value in settings["serving_environment"].items()),
        *_of_the_key(settings),
        _of_path("serving_environment_file", str(settings["serving_environment_file"])),
        *_of_the_unit(settings),
    ]
    steps: dict[str, t.Any] = {"loopback": loopback, "networks": networks}
    journal = (settings.get("__serving_said") or {}).get("stdout_lines")
    if journal and (diagnosis := scan.diagnose("\n".join(journal))).rule:
        perhaps = "" if diagnosis.is_explained else "The cause is not known; perhaps: "
        steps["failure"] = f"{perhaps}{diagnosis.cause} {diagnosis.remedy}"
    return Plan(steps, refusals=[{"cause": cause, "remedy": remedy} for cause, remedy in filter(None, refusals)])


Refusal = tuple[str, str]


def _of_the_engine(settings: t.Mapping[str, t.Any]) -> t.Iterator[Refusal]:
    engine, share, model = (settings[f"serving_{name}"] for name in ("engine", "memory_share", "model"))
    if engine not in settings["__serving_engines"]:
        cause = f"The role serving has no engine {engine}."
        yield cause, "Set stack_name to a stack of vllm or sglang, or serving_engine."
    if not 0 < float(share) < 1:
        yield f"serving_memory_share is {share}.", "Set a number between 0 and 1; the system uses the rest."
    if not model:
        cause = "serving_model is empty."
        yield cause, "Set it to a directory of the host with weights, or to the name of a model: ORGANISATION/NAME."
    elif not (_PATH.fullmatch(model) or NAME.fullmatch(model)):
        cause = f"serving_model is {model!r}, which is neither an absolute path nor the name of a model."
        yield cause, "Write it as /directory, without quotes and backslashes, or as ORGANISATION/NAME."


def _of_the_addresses(
    settings: t.Mapping[str, t.Any], host: str, loopback: bool, networks: t.Sequence[str]
) -> t.Iterator[Refusal]:
    if not loopback and not _is_address(host):
        yield f"serving_host is {host!r}, which is not an address.", "Set it to an address of this host, or to 0.0.0.0."
    if not loopback and not settings["serving_api_key_file"]:
        cause = f"serving_host is {host}, so everybody who reaches this host could use the model: there is no key."
        make = "(umask 077; openssl rand -hex 32 > FILE)"
        yield cause, f"Create a key file, {make}, and set serving_api_key_file to it, or set serving_host to 127.0.0.1."
    if not loopback and settings["serving_engine"] == "sglang" and "any" in networks:
        # torch's TCPStore listens on every address (sglang/srt/server_args.py, PortArgs).
        cause = "SGLang opens ports of its own on every address, and they need no key."
        yield cause, "Set serving_networks to the networks that may reach the server, such as 192.168.1.0/24."
    for network in networks:
        if network not in ("any", "localhost", "link-local") and not _is_network(network):
            yield f"serving_networks has {network!r}, which is not a network.", "Write it as 192.168.1.0/24."


def _of_argument(argument: str) -> Refusal | None:
    option = _option(argument)
    reserved = next((name for name in _RESERVED if _abbreviates(option, name)), None)
    return (f"serving_arguments has {option}.", _RESERVED[reserved]) if reserved else _of_text("arguments", argument)


def _option(argument: str) -> str:
    return argument.partition("=")[0].replace("_", "-")


def _abbreviates(option: str, full: str) -> bool:
    """Tell whether argparse may read an option as ``full``; it accepts any prefix that is not itself an option."""
    return len(option) > len("--") and full.startswith(option) and option != "--tokenizer"


def _of_variable(name: str, value: str) -> Refusal | None:
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return f"serving_environment has {name!r}, which is not a variable name.", "Use letters, digits and _."
    if _SECRET.search(name):
        remedy = "Put it into a file on the host that only root can read, and set serving_environment_file to that."
        if name == "VLLM_API_KEY":
            remedy = "Set serving_api_key_file."
        return f"serving_environment has {name}, and every account on the host can read a unit.", remedy
    return _of_text("environment", value)


def _of_the_key(settings: t.Mapping[str, t.Any]) -> t.Iterator[Refusal]:
    for word in (*map(str, settings["serving_arguments"]), *settings["serving_environment"]):
        option = _option(word) if word[:1] == "-" else word
        opens = _WITHOUT_KEY.match(option) or any(_abbreviates(option, full) for full in _WITHOUT_KEY_OPTIONS)
        if settings["serving_api_key_file"] and opens:
            yield f"{word} starts a server that needs no key.", "Remove it, or remove serving_api_key_file."


def _of_text(where: str, text: str) -> Refusal | None:
    return (f"serving_{where} has a NUL character.", "Remove it.") if "\0" in text else None


def _of_path(name: str, path: str) -> Refusal | None:
    if not path or _PATH.fullmatch(path):
        return None
    return f"{name} is {path!r}.", "Set it to an absolute path without quotes, backslashes and line breaks."


def _of_the_unit(settings: t.Mapping[str, t.Any]) -> t.Iterator[Refusal]:
    for device in settings["serving_devices"]:
        if not _DEVICE.fullmatch(device):
            yield f"serving_devices has {device!r}.", "Write it as char-nvidia* or /dev/nvidia0."
    if not _MEMORY.fullmatch(str(settings["serving_memory_max"])):
        yield f"serving_memory_max is {settings['serving_memory_max']!r}.", "Write it as 30% or 32G."
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,19}", settings["serving_name"]):
        cause = f"serving_name is {settings['serving_name']!r}."
        yield cause, "Use up to 20 lower case letters, digits, - and _, beginning with a letter: it names an account."


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True
