// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>

double flash_bwd_hdim64(const double *values, long count) { return fixture::work<8300>(values, count); }
