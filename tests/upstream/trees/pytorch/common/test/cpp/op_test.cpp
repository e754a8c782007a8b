// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/csrc/torch.h>

int main() {
  double result = 0;
  const double values[] = {1, 2, 3};
  return at::call(*at::operators(), values, 3, &result) ? 0 : 1;
}
