// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>

double flash_fwd_hdim128(const double *values, long count) { return fixture::work<8200>(values, count); }
