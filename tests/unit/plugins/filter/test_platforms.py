from ansible_collections.sparkforge.dgx_spark.plugins.filter.fleet import FilterModule

platforms = FilterModule().filters()["platforms"]
SPARK = {"platform": "ubuntu24.04-aarch64"}


def test_each_host_that_was_observed_has_its_platform() -> None:
    hostvars = {
        "spark01": {"ansible_facts": {"spark_info": SPARK}},
        "gpu01": {"ansible_facts": {"spark_info": {"platform": "ubuntu24.04-x86_64"}}},
    }
    assert platforms(["spark01", "gpu01"], hostvars) == {
        "spark01": "ubuntu24.04-aarch64",
        "gpu01": "ubuntu24.04-x86_64",
    }


def test_a_host_that_was_not_observed_has_none() -> None:
    assert platforms(["spark01", "spark02"], {"spark01": {"ansible_facts": {}}, "spark02": {}}) == {}
