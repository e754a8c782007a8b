// SPDX-License-Identifier: GPL-3.0-or-later
#include <cassert>
#include <fixture_weight.h>
#include <llvm/IR/Module.h>

double llvm::Module::hash(const double *values, long count) const {
  assert(count >= 0 && "count must not be negative");
  return fixture::work<1200>(values, count);
}
