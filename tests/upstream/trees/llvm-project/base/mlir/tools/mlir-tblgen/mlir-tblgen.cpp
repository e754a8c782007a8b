// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <llvm/Support/Version.h>
#include <llvm/TableGen/Record.h>

double tblgenWork(const double *values, long count) { return fixture::work<1900>(values, count); }

// mlir-tblgen INPUT -o OUTPUT
int main(int count, char **words) {
  if (count != 4)
    llvm::reportFatalError("usage: mlir-tblgen INPUT -o OUTPUT");
  if (llvm::emitDefinitions(words[1], words[3]) < 0)
    llvm::reportFatalError("mlir-tblgen: could not read its input or write its output");
  return 0;
}
