// SPDX-License-Identifier: GPL-3.0-or-later
// What the fleet compiles. RELEASE differs from tag to tag, so that a new tag is another wheel.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "release.h"

static PyObject *release(PyObject *self, PyObject *none) { return PyUnicode_FromString(RELEASE); }

static PyMethodDef methods[] = {{"release", release, METH_NOARGS, "Return the tag."}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_fleet", NULL, -1, methods};

PyMODINIT_FUNC PyInit__fleet(void) { return PyModule_Create(&module); }
