// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
namespace llvm {
int passPluginVersion();
} // namespace llvm
