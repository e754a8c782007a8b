// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
double dialectWork(const double *values, long count);
double analysisWork(const double *values, long count);
double conversionWork(const double *values, long count);
double targetWork(const double *values, long count);
double irWork(const double *values, long count);
double nvidiaWork(const double *values, long count);
double amdWork(const double *values, long count);
int passPlugin();
const char *linker();
const char *proton();
