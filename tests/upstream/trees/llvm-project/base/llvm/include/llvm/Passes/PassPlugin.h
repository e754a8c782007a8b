// SPDX-License-Identifier: GPL-3.0-or-later
// Newer trees have this header in llvm/Plugins: one of the ways in which an LLVM that is not the pinned one breaks Triton.
#pragma once
namespace llvm {
int passPluginVersion();
} // namespace llvm
