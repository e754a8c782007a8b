"""The filter platforms returns the platform of each observed host."""

from ansible_collections.sparkforge.dgx_spark.plugins.filter.fleet import FilterModule


def test_only_observed_hosts_have_a_platform() -> None:
    spark = {"ansible_facts": {"spark_info": {"platform": "ubuntu24.04-aarch64"}}}
    gpu = {"ansible_facts": {"spark_info": {"platform": "ubuntu24.04-x86_64"}}}
    hosts = {"spark01": spark, "gpu01": gpu, "spark02": {"ansible_facts": {}}, "spark03": {}}
    expected = {"spark01": "ubuntu24.04-aarch64", "gpu01": "ubuntu24.04-x86_64"}
    assert FilterModule().filters()["platforms"](list(hosts), hosts) == expected
