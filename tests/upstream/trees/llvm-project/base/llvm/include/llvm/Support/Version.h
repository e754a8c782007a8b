// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
namespace llvm {
/// "22.0.0git", followed by the commit where it was built from a checkout.
const char *versionString();
[[noreturn]] void reportFatalError(const char *message);
} // namespace llvm
