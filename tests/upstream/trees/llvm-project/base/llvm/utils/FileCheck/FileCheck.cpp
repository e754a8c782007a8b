// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <fixture_weight.h>
#include <llvm/Support/Version.h>

double checkWork(const double *values, long count) { return fixture::work<1700>(values, count); }

int main() {
  std::printf("FileCheck of LLVM %s\n", llvm::versionString());
  return 0;
}
