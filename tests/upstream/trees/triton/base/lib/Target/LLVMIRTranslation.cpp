// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <triton/Work.h>

double targetWork(const double *values, long count) { return fixture::work<3400>(values, count); }
