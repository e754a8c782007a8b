// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <nlohmann/json.hpp>
#include <string>
#include <triton/Work.h>

const char *proton() {
  static const std::string text = nlohmann::json{{"profiler", "proton"}}.dump();
  return text.c_str();
}
