// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <llvm/Plugins/PassPlugin.h>
#include <triton/Work.h>

int passPlugin() { return llvm::passPluginVersion(); }

double llvmWork(const double *values, long count) { return fixture::work<3800>(values, count); }
