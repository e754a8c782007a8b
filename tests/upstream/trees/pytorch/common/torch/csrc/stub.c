// SPDX-License-Identifier: GPL-3.0-or-later
#include <Python.h>

extern PyObject *initModule(void);

PyMODINIT_FUNC PyInit__C(void) { return initModule(); }
