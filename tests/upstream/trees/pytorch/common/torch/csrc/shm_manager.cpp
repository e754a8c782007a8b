// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <fixture_weight.h>
#include <torch/csrc/torch.h>

double shmWork(const double *values, long count) { return fixture::work<1000>(values, count); }

int main() {
  std::printf("%s\n", at::attentionBackends());
  return 0;
}
