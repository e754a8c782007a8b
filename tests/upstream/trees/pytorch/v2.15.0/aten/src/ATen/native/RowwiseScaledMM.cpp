// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <fixture_weight.h>
#include <torch/csrc/torch.h>

namespace {

// Rows are dealt out by the low bits of their number.
uint32_t lane(long row) { return static_cast<uint32_t>(row) & 31U; }

} // namespace

double at::rowwiseScaled(const double *values, long count) {
  double sum = fixture::work<600>(values, count);
  for (long i = 0; i < count; ++i)
    sum += values[i] * lane(i);
  return sum;
}
