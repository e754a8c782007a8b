// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <cstdlib>
#include <fixture_weight.h>
#include <llvm/Support/Version.h>

void llvm::reportFatalError(const char *message) {
  std::fprintf(stderr, "LLVM ERROR: %s\n", message);
  std::exit(1);
}

double errorWork(const double *values, long count) { return fixture::work<1100>(values, count); }
