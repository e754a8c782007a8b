// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <triton/Ops.h.inc>
#include <triton/Work.h>

double dialectWork(const double *values, long count) { return fixture::work<3100>(values, count) + operationCount(); }
