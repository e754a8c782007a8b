// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>

double allocatorWork(const double *values, long count) { return fixture::work<300>(values, count); }
