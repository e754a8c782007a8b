// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>

double flash_bwd_hdim128(const double *values, long count) { return fixture::work<8400>(values, count); }
