// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
namespace llvm {
/// Write one C++ function for each line "def name" of a .td file. Returns how many, or -1.
int emitDefinitions(const char *input, const char *output);
} // namespace llvm
