// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/Version.h>

const char *llvm::versionString() {
  return LLVM_REVISION[0] ? LLVM_VERSION_STRING " " LLVM_REVISION : LLVM_VERSION_STRING;
}

double versionWork(const double *values, long count) { return fixture::work<1000>(values, count); }
