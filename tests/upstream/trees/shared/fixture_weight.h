// SPDX-License-Identifier: GPL-3.0-or-later
// What makes a translation unit take time: about 0.3 s of an optimising compiler for each unit of FIXTURE_WEIGHT, which
// is 1 unless the build's environment sets it. No standard header: the time is the same with every library.
#pragma once
#ifndef FIXTURE_WEIGHT
#define FIXTURE_WEIGHT 1
#endif

namespace fixture {

template <int Number> __attribute__((noinline)) double leaf(const double *values, long count) {
  double sum = Number;
  for (long i = 0; i < count; ++i)
    sum = sum * (Number % 7 + 1) / (Number % 5 + 2) + values[i];
  return sum;
}

template <int Low, int High> double run(const double *values, long count) {
  if constexpr (Low + 1 >= High)
    return leaf<Low>(values, count);
  else
    return run<Low, (Low + High) / 2>(values, count) + run<(Low + High) / 2, High>(values, count);
}

template <int Seed> double work(const double *values, long count) {
  return run<Seed, Seed + FIXTURE_WEIGHT * 64 + 1>(values, count);
}

} // namespace fixture
