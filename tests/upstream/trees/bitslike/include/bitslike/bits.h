// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
namespace bitslike {
int ones(unsigned long value);
} // namespace bitslike
