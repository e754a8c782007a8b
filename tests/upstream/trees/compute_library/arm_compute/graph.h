// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "half/half.hpp"
int arm_compute_version();
int arm_compute_graph_version();
