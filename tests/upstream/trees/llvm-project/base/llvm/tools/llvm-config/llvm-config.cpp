// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstring>
#include <cstdio>
#include <fixture_weight.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/Version.h>

double configWork(const double *values, long count) { return fixture::work<1600>(values, count); }

int main(int count, char **words) {
  for (int i = 1; i < count; ++i) {
    const char *word = words[i];
    if (!std::strcmp(word, "--version"))
      std::puts(LLVM_VERSION_STRING);
    else if (!std::strcmp(word, "--targets-built"))
      std::puts(LLVM_TARGETS);
    else if (!std::strcmp(word, "--prefix"))
      std::puts(LLVM_PREFIX);
    else if (!std::strcmp(word, "--assertion-mode"))
      std::puts(LLVM_ENABLE_ASSERTIONS ? "ON" : "OFF");
    else
      llvm::reportFatalError("llvm-config: unknown option");
  }
  return 0;
}
