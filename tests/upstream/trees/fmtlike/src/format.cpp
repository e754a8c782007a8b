// SPDX-License-Identifier: GPL-3.0-or-later
#include <bitslike/bits.h>
#include <fmtlike/format.h>

std::string fmtlike::decimal(long value) {
  return std::to_string(value) + " (" + std::to_string(bitslike::ones(static_cast<unsigned long>(value))) + " bits)";
}
