// SPDX-License-Identifier: GPL-3.0-or-later
#include <Python.h>
#include <fixture_weight.h>
#include <initializer_list>
#include <mlir/IR/MLIRContext.h>
#include <triton/Work.h>

static PyObject *llvmVersion(PyObject *, PyObject *) { return PyUnicode_FromString(mlir::MLIRContext().llvmVersion()); }

static PyObject *compileKernel(PyObject *, PyObject *argument) {
  const double value = PyFloat_AsDouble(argument);
  if (PyErr_Occurred())
    return nullptr;
  const double values[] = {value, 1};
  double sum = fixture::work<3900>(values, 2) + passPlugin();
  for (auto *work : {dialectWork, analysisWork, conversionWork, targetWork, irWork, nvidiaWork, amdWork})
    sum += work(values, 2);
  return PyFloat_FromDouble(sum);
}

static PyMethodDef methods[] = {
    {"llvm_version", llvmVersion, METH_NOARGS, "The LLVM that is linked in"},
    {"compile", compileKernel, METH_O, "Call every part"},
    {nullptr, nullptr, 0, nullptr},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "libtriton", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_libtriton() {
  PyObject *module = PyModule_Create(&definition);
  if (!module)
    return nullptr;
  PyModule_AddStringConstant(module, "version", TRITON_VERSION);
  PyModule_AddStringConstant(module, "llvm_commit", TRITON_LLVM_COMMIT);
  PyModule_AddStringConstant(module, "linker", linker());
#ifdef TRITON_PROTON
  PyModule_AddStringConstant(module, "proton", proton());
#endif
  return module;
}
