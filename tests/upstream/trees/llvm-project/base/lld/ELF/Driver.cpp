// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/Version.h>

const char *lld::version() { return llvm::versionString(); }

double driverWork(const double *values, long count) { return fixture::work<2000>(values, count); }
