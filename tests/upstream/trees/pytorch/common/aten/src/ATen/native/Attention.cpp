// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <torch/csrc/torch.h>

const char *at::attentionBackends() {
#if defined(USE_FLASH_ATTENTION) && defined(USE_MEM_EFF_ATTENTION)
  return "flash,efficient,math";
#elif defined(USE_FLASH_ATTENTION)
  return "flash,math";
#elif defined(USE_MEM_EFF_ATTENTION)
  return "efficient,math";
#else
  return "math";
#endif
}

double attentionWork(const double *values, long count) { return fixture::work<700>(values, count); }
