// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <llvm/Plugins/PassPlugin.h>

int llvm::passPluginVersion() { return 3; }

double passWork(const double *values, long count) { return fixture::work<1300>(values, count); }
