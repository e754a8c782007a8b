// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>

double loggingWork(const double *values, long count) { return fixture::work<400>(values, count); }
