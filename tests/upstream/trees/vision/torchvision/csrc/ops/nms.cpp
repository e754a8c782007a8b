// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>

double nmsWork(const double *values, long count) { return fixture::work<7100>(values, count); }
