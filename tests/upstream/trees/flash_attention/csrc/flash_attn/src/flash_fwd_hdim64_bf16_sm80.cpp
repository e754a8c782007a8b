// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>

double flash_fwd_hdim64(const double *values, long count) { return fixture::work<8100>(values, count); }
