// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
namespace lld {
const char *version();
} // namespace lld
