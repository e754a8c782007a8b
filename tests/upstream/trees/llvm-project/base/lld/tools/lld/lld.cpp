// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <fixture_weight.h>
#include <lld/Common/Driver.h>

double lldWork(const double *values, long count) { return fixture::work<2100>(values, count); }

int main() {
  std::printf("LLD %s\n", lld::version());
  return 0;
}
