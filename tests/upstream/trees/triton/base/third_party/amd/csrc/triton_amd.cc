// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <lld/Common/Driver.h>
#include <triton/Work.h>

double amdWork(const double *values, long count) { return fixture::work<3700>(values, count); }

const char *linker() { return lld::version(); }
