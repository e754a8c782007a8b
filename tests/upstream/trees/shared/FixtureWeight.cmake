# SPDX-License-Identifier: GPL-3.0-or-later
# FIXTURE_WEIGHT of the environment: 0 makes each translation unit trivial, 1 is the default, 10 ten times as heavy.
if(DEFINED ENV{FIXTURE_WEIGHT})
  add_compile_definitions(FIXTURE_WEIGHT=$ENV{FIXTURE_WEIGHT})
endif()
