// SPDX-License-Identifier: GPL-3.0-or-later
#include <Python.h>
#include <torch/torch.h>

double nmsWork(const double *values, long count);
double roiAlignWork(const double *values, long count);
double decodeWork(const double *values, long count);

static PyObject *work(PyObject *, PyObject *argument) {
  const double values[] = {PyFloat_AsDouble(argument), 1};
  if (PyErr_Occurred())
    return nullptr;
  double result = 0;
  at::call(*at::operators(), values, 2, &result);
  return PyFloat_FromDouble(result + nmsWork(values, 2) + roiAlignWork(values, 2) + decodeWork(values, 2));
}

static PyMethodDef methods[] = {{"work", work, METH_O, "Call torch"}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "torchvision._C", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__C() { return PyModule_Create(&definition); }
