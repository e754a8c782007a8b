// SPDX-License-Identifier: GPL-3.0-or-later
// What an extension links against.
#pragma once
namespace at {
/// Call an operator by name. Returns false where there is none.
bool call(const char *name, const double *values, long count, double *result);
/// Names of all operators, one after the other, null at the end.
const char *const *operators();
const char *attentionBackends();
double rowwiseScaled(const double *values, long count);
} // namespace at
