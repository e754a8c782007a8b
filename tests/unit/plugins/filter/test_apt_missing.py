# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What apt would have to install, decided on the controller."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.apt_missing import FilterModule

apt_missing = FilterModule().filters()["apt_missing"]


def test_what_is_installed_in_a_version_that_was_asked_for_is_not_missing():
    installed = {"libnccl2": "2.27.7-1+cuda13.0", "git": "1:2.43"}
    assert apt_missing(["git", "libnccl2=*+cuda13.*", "cmake", "aa|git"], installed) == ["cmake"]


def test_what_names_no_package_is_an_error_of_the_filter():
    with pytest.raises(AnsibleFilterError, match="does not name a package"):
        apt_missing(["--force"], {})
