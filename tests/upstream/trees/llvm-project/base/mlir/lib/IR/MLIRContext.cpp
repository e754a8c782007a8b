// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <llvm/Support/Version.h>
#include <mlir/IR/MLIRContext.h>

const char *mlir::MLIRContext::llvmVersion() const { return llvm::versionString(); }

double contextWork(const double *values, long count) { return fixture::work<1800>(values, count); }
