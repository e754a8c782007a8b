// SPDX-License-Identifier: GPL-3.0-or-later
__global__ void fill(float *values, float value, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    values[i] = value;
}

extern "C" void torchFill(float *values, float value, int count) {
  fill<<<(count + 255) / 256, 256>>>(values, value, count);
}
