"""Download a model from the hub with ``hf download`` as a separate account, and record it after ``hf cache verify``.

Files::

    <directory>/models--ORGANISATION--NAME/    the Hugging Face cache, owned by the account
    <root>/receipts/model-ORGANISATION--NAME.json    the receipt, owned by root, written last
"""

# systemd-run gets the token through a pipe.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import time
import typing as t

from .._core import accounts, build_account, contents, detached, disk, receipts, unprivileged
from .._core.errors import SparkforgeError
from . import weights

#: The name of the receipt for the account, if it was created here.
_ACCOUNT = "models-account"
#: The system's CAs on Debian and Ubuntu, including a company's own.
_CAS = "/etc/ssl/certs/ca-certificates.crt"
_REVISION = re.compile(r"(?!.*\.\.)[A-Za-z0-9][\w./-]{0,199}", re.ASCII)
#: The variables from the task's environment that the client needs.
_NETWORK = re.compile(r"(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)", re.IGNORECASE)
#: Files that no engine loads: weights for other frameworks, and second copies of them.
OTHERS = ("original/*", "*.h5", "*.msgpack", "*.onnx", "*.onnx_data", "*.tflite", "*.ot", "openvino/*", "coreml/*")
#: The time limit for a download in seconds.
_LONGEST = 48 * 3600
#: The client's limits under systemd; it can also write to the models' directory.
_LIMITS = ("ProtectSystem=strict", "ProtectHome=read-only", "NoNewPrivileges=yes", "MemoryMax=4G") + (
    "TimeoutStartSec=60",
    f"RuntimeMaxSec={_LONGEST + 60}",
)
#: A size in the output of ``hf download --dry-run`` (25.0M); "-" for a file that already exists.
_SIZE = re.compile(r"([0-9]+[.][0-9])([KMGT]?)")
_FACTORS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_LIST = 'list=$({download} --dry-run --format json) && printf %s "$list" | head -c 4000000'
#: After a disconnect the script retries, and the client resumes partial files. The script removes files with a wrong
#: hash, because the client would keep them.
_GET = r"""for pause in 1 2 4 8 16 32 64 0; do
    path=$({download} --quiet) && break
    path=
    [ "$(stat -fc %a {directory})" != 0 ] || break
    sleep $pause
done
[ -n "$path" ] || exit 1
report=$({verify} --revision "${{path##*/}}" 2>&1) && echo "$path" && exit
echo "$report" >&2
echo "$report" | sed -n 's/^  - \(.*\): expected .*/\1/p' | while read -r file; do
    rm -f "$(readlink -f "$path/$file")" "$path/$file"
done
exit 1
"""
#: Errors in the output of huggingface_hub 1.17 (cli/_errors.py), with cause and remedy that omit its URLs.
_FAILURES = (
    (r"^Error: .*requires approval", "{name} requires an account that accepted its licence on the hub, and {given}.",
     "Accept it at {hub}/{name}, then {token} (serving_model_token_file)."),
    ("^Error: Revision not found", "{name} has no such revision.", "Use a branch, a tag or a commit from its page."),
    (r"RepositoryNotFoundError: |^Error: .*not found", "The hub has no model {name}, or shows it only to its members.",
     "Check the name at {hub}/{name}; for a private model, {token}."),
    ("(HfHubHTTP|^)Error: .*401 Unauthorized", "The hub does not accept the token.",
     "It may be mistyped or expired: {token}."),
    ("No space left|quota exceeded", "The disk is full.", "Free some space and run again, which resumes."),
    ("Verification failed", "Files of {name} do not have the hashes that the hub lists, and were removed.",
     "Run again; if that does not help, use another revision."),
    ("^Error: (Client|Server) error|^http|DryRunError|Consistency", "The connection to {hub} failed or was lost.",
     "Check the network, sparkforge_proxies and sparkforge_ca_certificate, and run again, which resumes."),
    ("", "The hub's client failed: {last}.", "Correct that and run again; downloaded files are kept."),
)  # fmt: skip


class Model:
    """One model, or all models if no name is given.

    :param options: the options of the module hub_model.
    """

    def __init__(self, options: t.Mapping[str, t.Any], check_mode: bool = False) -> None:
        self.options, self.check_mode = options, check_mode
        self.root, self.directory = str(options["root"]), str(options["directory"])
        self.name: str = options.get("name") or ""
        if self.name and not weights.NAME.fullmatch(self.name):
            raise SparkforgeError(f"{self.name!r} is not the name of a model.", "Write it as ORGANISATION/NAME.")
        self.revision: str = options.get("revision") or ""
        if self.revision and not _REVISION.fullmatch(self.revision):
            raise SparkforgeError(f"{self.revision!r} is not a revision.", "Use a branch, a tag or a commit.")
        self.token, self.hub = str(options.get("token") or "").strip(), str(options["hub"]).rstrip("/")
        self.account = build_account.BuildAccount(options.get("user") or None)
        self.cache = f"{self.directory}/models--{self.name.replace('/', '--')}"
        self.client = os.path.join(os.path.realpath(f"{self.root}/envs/hub/current"), "bin", "hf")

    def get(self) -> dict[str, t.Any]:
        """Return the model, after downloading it if necessary.

        :raises SparkforgeError: if it is unavailable, with a remedy.
        """
        receipt = receipts.read(self.root, weights.receipt_of(self.name)) or {}
        complete = bool(receipt.get("bytes")) and _size(str(receipt.get("directory"))) == receipt["bytes"]
        if complete and self.revision in ("", receipt.get("revision")):
            return {"changed": False, **receipt}
        diff = {"before": f"{receipt.get('revision', '')}\n", "after": f"{self.revision or 'main'}\n"}
        if self.check_mode:
            return {"changed": True, "diff": diff}
        self._check()
        if self.account.create(self.directory):
            receipts.write(self.root, _ACCOUNT, {"name": self.account.name})
        self.account.own_directory(self.directory)
        while detached.systemd("systemctl", "is-active", "--quiet", _unit(self.cache)).returncode == 0:
            time.sleep(1)  # An earlier run lost its connection, but its download continues.
        new = self._download()
        receipts.write(self.root, weights.receipt_of(self.name), new)
        changed = not complete or new["revision"] != receipt["revision"]
        return {"changed": changed, "diff": diff if changed else {}, **new}

    def _check(self) -> None:
        """Refuse a token that others could read, and a directory that belongs to another account."""
        if not re.fullmatch(r"[!-~]*", self.token):
            raise SparkforgeError("The token contains more than one word.", "Set only the token: hf_ and letters.")
        is_safe = not self.token or re.match(r"http://(127\.|localhost[:/]|\[::1\])", self.hub)
        if not re.match("https?://[^/]" if is_safe else "https://[^/]", self.hub):
            remedy = "Use https://, so that the token cannot be read on the way."
            raise SparkforgeError(f"{self.hub} is not a hub that a token may be sent to.", remedy)
        if not os.path.exists(self.client):
            cause = f"There is no environment with the hub's client: {self.client}."
            raise SparkforgeError(cause, "Run playbooks/model.yml, which creates it.")
        owner = accounts.owner_of(self.directory)
        if disk.names(self.directory) and owner != self.account.name:
            cause = f"{self.directory} belongs to {owner} and is not empty."
            raise SparkforgeError(cause, f"Set serving_models to a directory that only {self.account.name} uses.")

    def _download(self) -> dict[str, t.Any]:
        ignored = [*OTHERS, *(() if self.options["allow_pickle"] else (f"*{suffix}" for suffix in weights.PICKLES))]
        command = [self.client, "download", self.name, "--revision", self.revision or "main"]
        command += ["--cache-dir", self.directory, *(word for pattern in ignored for word in ("--exclude", pattern))]
        verify = [self.client, "cache", "verify", self.name, "--cache-dir", self.directory]
        texts = {
            "download": shlex.join(command),
            "verify": shlex.join(verify),
            "directory": shlex.quote(self.directory),
        }
        try:
            files = {str(row["file"]): str(row["size"]) for row in json.loads(self._run(_LIST.format(**texts)))}
        except (ValueError, KeyError, TypeError) as error:
            raise SparkforgeError(f"The hub's list of {self.name} cannot be read.", "Run again later.") from error
        self._check_files(files)
        path = os.path.realpath(self._run(_GET.format(**texts)).strip())
        if not re.fullmatch(re.escape(f"{os.path.realpath(self.cache)}/snapshots/") + "[0-9a-f]{40}", path):
            raise SparkforgeError(f"{self.name} was downloaded to a path outside {self.directory}.", "Run again.")
        if not all(os.path.exists(f"{path}/{name}") for name in files):
            # Without a network, the client accepts a partially downloaded model.
            raise SparkforgeError(f"Files of {self.name} are missing.", "Run again, which continues the download.")
        receipt = {"name": self.name, "revision": os.path.basename(path), "directory": path, "hub": self.hub}
        return {**receipt, "bytes": _size(path), **self._license(path)}

    def _check_files(self, files: t.Mapping[str, str]) -> None:
        if not self.options["allow_pickle"] and not any(name.endswith(weights.SAFE) for name in files):
            raise SparkforgeError(
                f"{self.name} has no safetensors or GGUF weights, at most files that run code when they are loaded.",
                "Use a model with safetensors, or set serving_allow_pickle if you trust its author.",
            )
        sizes = filter(None, map(_SIZE.fullmatch, files.values()))
        begun = sum(os.path.getsize(path) for path in glob.glob(f"{glob.escape(self.cache)}/blobs/*.incomplete"))
        missing = sum(float(size[1]) * _FACTORS[size[2]] for size in sizes) - begun
        free_bytes = shutil.disk_usage(self.directory).free
        if missing > free_bytes:
            raise SparkforgeError(
                f"{self.name} needs {missing / 1e9:.1f} GB more; {self.directory} has {free_bytes / 1e9:.1f} GB free.",
                "Free some space, or set serving_models to a directory on a larger disk.",
            )

    def _run(self, script: str) -> str:
        """Run a script as the account, and return its output.

        The shell reads it from a pipe, so that the token and proxies appear in no command line, file or unit property.

        :raises SparkforgeError: if it fails, with the cause derived from its last output.
        """
        network = {name: value for name, value in os.environ.items() if _NETWORK.fullmatch(name)}
        own = {f"HF_HUB_DISABLE_{name}": "1" for name in ("XET", "TELEMETRY", "PROGRESS_BARS", "UPDATE_CHECK")}
        own |= {"HF_ENDPOINT": self.hub, "HF_HOME": f"{self.directory}/.home", "HF_TOKEN": self.token}
        own |= {"SSL_CERT_FILE": _CAS} if os.path.exists(_CAS) else {}
        exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in {**own, **network}.items())
        command, entry = ["timeout", str(_LONGEST), "sh", "-s"], self.account.entry
        if self.account.is_root and detached.systemd_runs():
            limits = [*_LIMITS, f'ReadWritePaths="{self.directory}"']
            unit = [f"--unit={_unit(self.cache)}", f"--uid={self.account.name}", *(f"-p{limit}" for limit in limits)]
            command = ["systemd-run", "--quiet", "--wait", "--pipe", "--collect", *unit, "--", *command]
        elif self.account.is_root and entry:
            command = unprivileged.without_privileges(command, entry.pw_uid, {entry.pw_gid})
        result = subprocess.run(
            command, input=f"umask 022\n{exports}{{\n{script}\n}} < /dev/null\n", cwd="/", text=True, errors="replace",
            env={"PATH": os.environ["PATH"]}, capture_output=True, check=False,
        )  # fmt: skip
        if result.returncode == 0 and result.stdout:
            return result.stdout
        cause, remedy = next(texts for pattern, *texts in _FAILURES if re.search(pattern, result.stderr, re.MULTILINE))
        values = {
            "name": self.name, "hub": self.hub,
            "last": re.sub(r"\w+://\S+", "…", result.stderr.strip().rpartition("\n")[2][:200]) or "it printed nothing",
            "given": "the token belongs to an account that did not" if self.token else "no token was set",
            "token": f"create a token that can read it ({self.hub}/settings/tokens) and pass it with --token-file",
        }  # fmt: skip
        raise SparkforgeError(cause.format(**values), remedy.format(**values))

    def _license(self, directory: str) -> dict[str, str]:
        head, readme = "", f"{directory}/README.md"
        with contextlib.suppress(OSError), self.account.acting(), disk.open_regular(readme, links=True) as stream:
            head = stream.read(1 << 16).decode("utf-8", "replace").partition("\n---")[0]
        fields = dict(re.findall(r"^(license\w*): *[\"']?([^\"'\n]{1,200})", head, re.MULTILINE))
        name = fields.get("license_name") or fields.get("license") or ""
        return {"license": name, "license_link": fields.get("license_link") or ""}

    def remove(self) -> dict[str, t.Any]:
        """Remove one model, or all of them and the account.

        :raises SparkforgeError: if a server uses it.
        """
        own = ("models--", ".locks", "CACHEDIR.TAG", ".home")
        paths = [f"{self.directory}/{name}" for name in disk.names(self.directory) if name.startswith(own)]
        records = [*receipts.names(self.root, "model-"), *receipts.names(self.root, _ACCOUNT)]
        if self.name:
            paths = [path for path in paths if path == self.cache]
            records = [name for name in records if name == weights.receipt_of(self.name)]
        for unit in glob.glob("/etc/systemd/system/sparkforge-*.service"):
            if any(f"{path}/" in (contents.text(unit) or "") for path in paths):
                cause = f"{self.name or 'A model'} is served by {os.path.basename(unit)}."
                raise SparkforgeError(cause, "Serve another model first, or remove the server (serving_state: absent).")
        removed = [*paths, *records]
        if removed and not self.check_mode:
            for path in paths:
                detached.systemd("systemctl", "stop", _unit(path))
                disk.remove(path)
            for name in records:
                receipts.remove(self.root, name)
            disk.remove_empty(self.directory)
            if _ACCOUNT in records:
                self.account.remove(self.account.name)
        return {"changed": bool(removed), "diff": {"before": "".join(f"{line}\n" for line in removed), "after": ""}}


def _unit(cache: str) -> str:
    name = os.path.basename(cache).removeprefix("models--")
    return f"sparkforge-model-{re.sub('[^A-Za-z0-9]', '-', name)}.service"


def _size(directory: str) -> int:
    """Return the total size of the files in a directory and of its links' targets, or 0 if one of them is missing."""
    try:
        paths = [os.path.join(path, name) for path, _names, files in os.walk(directory) for name in files]
        return sum(os.stat(path).st_size for path in paths)
    except OSError:
        return 0
