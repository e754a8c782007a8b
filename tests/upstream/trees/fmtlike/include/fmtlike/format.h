// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <string>
namespace fmtlike {
std::string decimal(long value);
} // namespace fmtlike
