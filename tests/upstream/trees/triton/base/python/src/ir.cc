// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <triton/Work.h>

double irWork(const double *values, long count) { return fixture::work<3500>(values, count); }
