// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <triton/Work.h>

double analysisWork(const double *values, long count) { return fixture::work<3200>(values, count); }
