"""A model server's settings: other hosts need a key, and the unit contains no secret."""

import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import Plan, serving

from tests.unit.plugins.plugin_utils.plans.test_plans import settings

ALL_ADDRESSES = {"serving_host": "0.0.0.0", "serving_api_key_file": "/home/ada/key"}


def plan(**changed: t.Any) -> Plan:
    variables = {"serving_engine": "vllm", "serving_model": "Org/Name", "serving_memory_max": "30%"}
    engines = {"__serving_engines": {"vllm": {}, "sglang": {}}}
    return serving.plan(settings("serving", **{**variables, **engines, **changed}), None)


@pytest.mark.parametrize(
    ("changed", "loopback", "networks"),
    [
        ({}, True, ["localhost"]),
        ({"serving_host": "::1"}, True, ["localhost"]),
        ({"serving_host": "127.0.0.7", "serving_networks": ["10.0.0.0/8"]}, True, ["10.0.0.0/8"]),
        (ALL_ADDRESSES, False, ["any"]),
        ({**ALL_ADDRESSES, "serving_networks": ["192.168.1.0/24"]}, False, ["192.168.1.0/24"]),
    ],
)
def test_a_server_on_loopback_may_reach_only_this_host(changed: dict[str, t.Any], loopback: bool, networks: list[str]):
    assert plan(**changed).refusals == []
    assert plan(**changed).steps == {"loopback": loopback, "networks": networks}


def test_a_known_error_in_the_journal_is_explained() -> None:
    line = (
        "(EngineCore pid=7) ERROR 11-20 10:00:00 [core.py:8] torch.AcceleratorError: CUDA error: an illegal instruction"
    )
    failure = plan(__serving_said={"stdout_lines": ["Started.", f"{line} was encountered"]}).steps["failure"]
    assert "perhaps: A kernel stopped" in failure and "Choose another backend" in failure
    sure = plan(__serving_said={"stdout_lines": ["ImportError: libcudart.so.12: cannot open shared object file"]})
    assert "perhaps: " not in sure.steps["failure"]
    assert "failure" not in plan(__serving_said={"stdout_lines": ["Started."]}).steps


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"serving_engine": "other"}, "no engine other"),
        ({"serving_memory_share": 1.5}, "serving_memory_share is 1.5"),
        ({"serving_model": ""}, "serving_model is empty"),
        ({"serving_model": "models/org/name"}, "neither an absolute"),
        ({"serving_model": 'a/b"c'}, "neither an absolute"),
        ({"serving_model": '/srv/a"b'}, "neither an absolute"),
        ({"serving_model": "../../etc"}, "neither an absolute"),
        ({"serving_model": "{{ lookup('pipe', 'id') }}/x"}, "neither an absolute"),
        ({"serving_host": "192.168.1.7"}, "is no key"),
        ({"serving_host": "::"}, "is no key"),
        ({"serving_host": "127.0.0.1.example.com", "serving_api_key_file": "/k"}, "an address"),
        ({**ALL_ADDRESSES, "serving_engine": "sglang"}, "Set serving_networks"),
        ({"serving_networks": ["10.0.0.0/8\nExecStartPre=/bin/sh"]}, "a network"),
        ({"serving_environment_file": "/etc/a\nExecStartPre=/bin/sh"}, "serving_environment_file is"),
        ({"serving_environment_file": "-/etc/a"}, "serving_environment_file is"),
        ({"serving_devices": ["char-x\nExecStartPre=/bin/sh"]}, "serving_devices has"),
        ({"serving_memory_max": "1G\nExecStartPre=/bin/sh"}, "serving_memory_max is"),
        ({"serving_memory_max": "30%x"}, "serving_memory_max is"),
        ({"serving_model": "Org/Name\nExecStartPre=/bin/sh"}, "neither an absolute"),
        ({"serving_model": "/srv/a\nExecStartPre=/bin/sh"}, "neither an absolute"),
        ({"serving_name": "a b"}, "serving_name is"),
        ({"serving_environment": {"A B": "1"}}, "a variable name"),
        ({"serving_environment": {"HF_TOKEN": "s3cret"}}, "serving_environment has HF_TOKEN"),
        ({"serving_environment": {"VLLM_API_KEY": "s3cret"}}, "Set serving_api_key_file"),
        *(
            ({"serving_environment": {name: "s3cret"}}, f"serving_environment has {name}, and")
            for name in (
                "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "DB_PASSWD", "GITHUB_PAT", "NGC_CLI_KEY",
                "NGC_CLI_API_KEY", "HF_TOKEN_2", "hf_token", "APIKEY", "HFTOKEN", "SSH_PASSPHRASE", "S3_CREDENTIALS",
                "CLIENT_SECRET_V2", "MYSQL_PWD", "REDIS_PASS", "PAT", "REDIS_AUTH",
            )
        ),
        ({"serving_arguments": ["a\0b"]}, "NUL"),
        *(
            ({"serving_arguments": [argument, "s3cret"]}, "serving_arguments has")
            for argument in (
                "--api-key", "--api_key", "--api-key=s3cret", "--api-k", "--admin-api-key", "--hf-token=s3cret",
                "--host", "--hos=0.0.0.0", "--port", "--config", "--conf=/etc/x",
                "--h=0.0.0.0", "--po", "--ap", "--hf-t", "--admin",
            )
        ),
        *(
            ({**ALL_ADDRESSES, "serving_arguments": [argument]}, "needs no key")
            for argument in ("--grpc", "--grpc-port=50051", "--smg-grpc-mode", "--tokenizer_worker_num",
                "--grp", "--gr", "--g=1", "--smg", "--sm=1", "--smg_gr", "--tokenizer-", "--tokenizer_work=2",
                "--tokenize",
            )
        ),
        ({**ALL_ADDRESSES, "serving_environment": {"VLLM_USE_RUST_FRONTEND": "1"}}, "needs no key"),
    ],
)  # fmt: skip
def test_settings_that_open_the_server_or_show_a_secret_are_refused(changed: dict[str, t.Any], message: str) -> None:
    refused = plan(**changed).as_result()["refused"]
    assert message in refused
    assert "s3cret" not in refused


def test_similar_options_of_an_engine_are_accepted() -> None:
    arguments = "--hf-overrides {} --config-format hf --tokenizer x -tp 2 --api-server-count 2".split()
    names = (
        "TOKENIZERS_PARALLELISM", "VLLM_MAX_TOKENS_PER_EXPERT_FP4_MOE", "PATH", "VLLM_KEYED_CACHE", "KEYBOARD",
        "HF_TOKEN_PATH", "AWS_SHARED_CREDENTIALS_FILE", "PASSTHROUGH", "COMPAT", "NCCL_AUTHOR",
    )  # fmt: skip
    assert plan(serving_arguments=arguments, serving_environment=dict.fromkeys(names, "1")).refusals == []
    assert plan(**ALL_ADDRESSES, serving_arguments=[*arguments, "--gpu-memory-swap", "1"]).refusals == []
