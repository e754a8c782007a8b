// SPDX-License-Identifier: GPL-3.0-or-later
#include <Python.h>
#include <torch/torch.h>

double flash_fwd_hdim64(const double *values, long count);
double flash_fwd_hdim128(const double *values, long count);
double flash_bwd_hdim64(const double *values, long count);
double flash_bwd_hdim128(const double *values, long count);

static PyObject *work(PyObject *, PyObject *argument) {
  const double values[] = {PyFloat_AsDouble(argument), 1};
  if (PyErr_Occurred())
    return nullptr;
  double result = 0;
  at::call(*at::operators(), values, 2, &result);
  return PyFloat_FromDouble(result + flash_fwd_hdim64(values, 2) + flash_fwd_hdim128(values, 2) + flash_bwd_hdim64(values, 2) + flash_bwd_hdim128(values, 2));
}

static PyMethodDef methods[] = {{"work", work, METH_O, "Call torch"}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "flash_attn_2_cuda", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_flash_attn_2_cuda() { return PyModule_Create(&definition); }
