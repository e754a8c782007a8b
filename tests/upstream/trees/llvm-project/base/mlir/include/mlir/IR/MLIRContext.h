// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
namespace mlir {
class MLIRContext {
public:
  /// The LLVM that this MLIR was built with.
  const char *llvmVersion() const;
};
} // namespace mlir
