// SPDX-License-Identifier: GPL-3.0-or-later
#include <bitslike/bits.h>

int bitslike::ones(unsigned long value) { return __builtin_popcountl(value); }
