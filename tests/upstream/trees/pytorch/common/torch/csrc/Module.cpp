// SPDX-License-Identifier: GPL-3.0-or-later
#include <Python.h>
#include <fixture_weight.h>
#include <torch/csrc/torch.h>

static PyObject *call(PyObject *, PyObject *arguments) {
  const char *name = nullptr;
  PyObject *list = nullptr;
  if (!PyArg_ParseTuple(arguments, "sO!", &name, &PyList_Type, &list))
    return nullptr;
  double values[64] = {};
  const long count = PyList_Size(list) < 64 ? PyList_Size(list) : 64;
  for (long i = 0; i < count; ++i)
    values[i] = PyFloat_AsDouble(PyList_GetItem(list, i));
  double result = 0;
  if (PyErr_Occurred())
    return nullptr;
  if (!at::call(name, values, count, &result))
    return PyErr_Format(PyExc_RuntimeError, "no operator %s", name);
  return PyFloat_FromDouble(result);
}

static PyObject *operators(PyObject *, PyObject *) {
  PyObject *list = PyList_New(0);
  for (auto name = at::operators(); *name; ++name) {
    PyObject *text = PyUnicode_FromString(*name);
    PyList_Append(list, text);
    Py_DECREF(text);
  }
  return list;
}

static PyObject *attention(PyObject *, PyObject *) { return PyUnicode_FromString(at::attentionBackends()); }

double moduleWork(const double *values, long count) { return fixture::work<900>(values, count); }

static PyMethodDef methods[] = {
    {"_call", call, METH_VARARGS, "Call an operator with a list of numbers"},
    {"_operators", operators, METH_NOARGS, "Names of the operators"},
    {"_attention_backends", attention, METH_NOARGS, "What attention was built with"},
    {nullptr, nullptr, 0, nullptr},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "torch._C", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

extern "C" PyObject *initModule() { return PyModule_Create(&definition); }
