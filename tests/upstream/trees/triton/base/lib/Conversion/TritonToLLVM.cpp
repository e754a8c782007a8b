// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <llvm/IR/Module.h>
#include <triton/Work.h>

double conversionWork(const double *values, long count) { return fixture::work<3300>(values, count) + llvm::Module().hash(values, count); }
