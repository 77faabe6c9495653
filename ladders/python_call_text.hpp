// C++ text for the library of a CPU stage in Python: how it starts the interpreter and calls it, by the functions of
// Python's C interface that are the same in every version.
#pragma once

namespace convladder {

/// It stands behind `convladder_library`, `convladder_home` and `convladder_program`, which defines the function
/// `call`.
inline constexpr const char* kPythonCallText = R"text(#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static char convladder_failure[2048];
extern "C" const char* convladder_launch_failure() { return convladder_failure[0] == 0 ? nullptr : convladder_failure; }
static struct {
  void (*Py_InitializeEx)(int);
  int (*Py_IsInitialized)();
  void* (*PyEval_SaveThread)();
  int (*PyGILState_Ensure)();
  void (*PyGILState_Release)(int);
  void* (*PyDict_New)();
  void* (*PyEval_GetBuiltins)();
  int (*PyDict_SetItemString)(void*, const char*, void*);
  void* (*PyDict_GetItemString)(void*, const char*);
  void* (*PyRun_String)(const char*, int, void*, void*);
  void (*PyErr_Print)();
  void (*PyErr_Clear)();
  void* (*PyTuple_New)(long);
  int (*PyTuple_SetItem)(void*, long, void*);
  void* (*PyLong_FromLongLong)(long long);
  void* (*PyLong_FromUnsignedLongLong)(unsigned long long);
  void* (*PyFloat_FromDouble)(double);
  void* (*PyObject_CallObject)(void*, void*);
  const char* (*PyUnicode_AsUTF8)(void*);
  void (*Py_DecRef)(void*);
} convladder_python;
static void* convladder_call;
static bool convladder_fails(const char* what, const char* why) {
  snprintf(convladder_failure, sizeof convladder_failure, "%s: %s", what, why == nullptr ? "no reason is known" : why);
  return false;
}
static bool convladder_start() {
  if (convladder_call != nullptr) return true;
  setenv("PYTHONHOME", convladder_home, 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  // Extension modules take Python's functions from the process.
  void* const library = dlopen(convladder_library, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return convladder_fails("Python cannot be loaded", dlerror());
  auto& p = convladder_python;
#define CONVLADDER_FIND(name) \
  if ((p.name = reinterpret_cast<decltype(p.name)>(dlsym(library, #name))) == nullptr) \
    return convladder_fails("this Python has no " #name, convladder_library)
  CONVLADDER_FIND(Py_InitializeEx);
  CONVLADDER_FIND(Py_IsInitialized);
  CONVLADDER_FIND(PyEval_SaveThread);
  CONVLADDER_FIND(PyGILState_Ensure);
  CONVLADDER_FIND(PyGILState_Release);
  CONVLADDER_FIND(PyDict_New);
  CONVLADDER_FIND(PyEval_GetBuiltins);
  CONVLADDER_FIND(PyDict_SetItemString);
  CONVLADDER_FIND(PyDict_GetItemString);
  CONVLADDER_FIND(PyRun_String);
  CONVLADDER_FIND(PyErr_Print);
  CONVLADDER_FIND(PyErr_Clear);
  CONVLADDER_FIND(PyTuple_New);
  CONVLADDER_FIND(PyTuple_SetItem);
  CONVLADDER_FIND(PyLong_FromLongLong);
  CONVLADDER_FIND(PyLong_FromUnsignedLongLong);
  CONVLADDER_FIND(PyFloat_FromDouble);
  CONVLADDER_FIND(PyObject_CallObject);
  CONVLADDER_FIND(PyUnicode_AsUTF8);
  CONVLADDER_FIND(Py_DecRef);
#undef CONVLADDER_FIND
  if (!p.Py_IsInitialized()) {
    p.Py_InitializeEx(0);
    p.PyEval_SaveThread();
  }
  const int state = p.PyGILState_Ensure();
  void* const names = p.PyDict_New();
  p.PyDict_SetItemString(names, "__builtins__", p.PyEval_GetBuiltins());
  void* const run = p.PyRun_String(convladder_program, 257, names, names);  // 257: Py_file_input
  if (run == nullptr) p.PyErr_Print();
  convladder_call = run == nullptr ? nullptr : p.PyDict_GetItemString(names, "call");
  p.PyGILState_Release(state);
  return convladder_call != nullptr || convladder_fails("Python cannot be started", convladder_library);
}
static void* convladder_number(const void* value) { return convladder_python.PyLong_FromUnsignedLongLong((unsigned long long)value); }
static void* convladder_number(double value) { return convladder_python.PyFloat_FromDouble(value); }
static void* convladder_number(float value) { return convladder_python.PyFloat_FromDouble(value); }
template <typename T>
static void* convladder_number(T value) {
  return T(-1) < T(0) ? convladder_python.PyLong_FromLongLong((long long)value)
                      : convladder_python.PyLong_FromUnsignedLongLong((unsigned long long)value);
}
template <typename... Values>
static void convladder_call_python(Values... values) {
  convladder_failure[0] = 0;
  if (!convladder_start()) return;
  auto& p = convladder_python;
  const int state = p.PyGILState_Ensure();
  void* const arguments = p.PyTuple_New(sizeof...(values));
  long at = 0;
  ((void)p.PyTuple_SetItem(arguments, at++, convladder_number(values)), ...);
  void* const result = p.PyObject_CallObject(convladder_call, arguments);
  p.Py_DecRef(arguments);
  const char* const failure = result == nullptr ? nullptr : p.PyUnicode_AsUTF8(result);
  if (failure != nullptr) snprintf(convladder_failure, sizeof convladder_failure, "%s", failure);
  if (result == nullptr || failure == nullptr) p.PyErr_Clear();
  if (result != nullptr) p.Py_DecRef(result);
  p.PyGILState_Release(state);
}
)text";

}  // namespace convladder
