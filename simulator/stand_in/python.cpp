#include "simulator/stand_in/python.hpp"

#include <dlfcn.h>

#include <string_view>
#include <utility>
#include <vector>

#include "simulator/stand_in/of_thread.hpp"

namespace convladder::stand_in {
namespace {

struct PyObject;

/// The functions of CPython's stable interface (3.9 and later) that are needed: "Frame Objects", "Thread State and the
/// Global Interpreter Lock" of its C API reference.
struct Python {
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;  ///< 3.13 and later under its public name
  int (*ensure)() = nullptr;
  void (*release)(int) = nullptr;
  int (*is_locked_by_this_thread)() = nullptr;
  void* (*unlock)() = nullptr;
  void (*lock)(void*) = nullptr;
  PyObject* (*frame)() = nullptr;  ///< borrowed
  void* (*interpreter)() = nullptr;
  void* (*first_thread)(void*) = nullptr;
  void* (*next_thread)(void*) = nullptr;
  PyObject* (*frame_of_thread)(void*) = nullptr;
  PyObject* (*back)(PyObject*) = nullptr;
  PyObject* (*code)(PyObject*) = nullptr;
  int (*line)(PyObject*) = nullptr;
  PyObject* (*attribute)(PyObject*, const char*) = nullptr;
  const char* (*text)(PyObject*) = nullptr;
  void (*increase)(PyObject*) = nullptr;
  void (*decrease)(PyObject*) = nullptr;

  bool is_there() const {
    return is_initialized != nullptr && is_finalizing != nullptr && ensure != nullptr && release != nullptr &&
           is_locked_by_this_thread != nullptr && unlock != nullptr && lock != nullptr && frame != nullptr &&
           interpreter != nullptr && first_thread != nullptr && next_thread != nullptr && frame_of_thread != nullptr &&
           back != nullptr && code != nullptr && line != nullptr && attribute != nullptr && text != nullptr &&
           increase != nullptr && decrease != nullptr;
  }
};

template <typename Function>
void find(Function*& function, const char* name, const char* other = nullptr) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  if (function == nullptr && other != nullptr) find(function, other);
}

Python found_python() {
  Python python;
  find(python.is_initialized, "Py_IsInitialized");
  if (python.is_initialized == nullptr) return python;
  find(python.is_finalizing, "Py_IsFinalizing", "_Py_IsFinalizing");
  find(python.ensure, "PyGILState_Ensure");
  find(python.release, "PyGILState_Release");
  find(python.is_locked_by_this_thread, "PyGILState_Check");
  find(python.unlock, "PyEval_SaveThread");
  find(python.lock, "PyEval_RestoreThread");
  find(python.frame, "PyEval_GetFrame");
  find(python.interpreter, "PyInterpreterState_Get");
  find(python.first_thread, "PyInterpreterState_ThreadHead");
  find(python.next_thread, "PyThreadState_Next");
  find(python.frame_of_thread, "PyThreadState_GetFrame");
  find(python.back, "PyFrame_GetBack");
  find(python.code, "PyFrame_GetCode");
  find(python.line, "PyFrame_GetLineNumber");
  find(python.attribute, "PyObject_GetAttrString");
  find(python.text, "PyUnicode_AsUTF8");
  find(python.increase, "Py_IncRef");
  find(python.decrease, "Py_DecRef");
  return python;
}

constexpr int kMostPythonFrames = 100;

std::string text_of(const Python& python, PyObject* object, const char* attribute) {
  PyObject* const value = python.attribute(object, attribute);
  if (value == nullptr) return "";
  const char* const text = python.text(value);
  std::string copy = text == nullptr ? "" : text;
  python.decrease(value);
  return copy;
}

/// Whose a file is: the less, the more it says about the call.
enum class Owner { program, package, machinery };

/// `machinery` are Python, what it runs without a file, the packages that launch for others, and we.
Owner owner_of(std::string_view file) {
  const auto has_part = [file](std::string_view part) { return file.find(part) != std::string_view::npos; };
  const bool is_installed = has_part("/site-packages/") || has_part("/dist-packages/");
  const bool launches_for_others = is_installed && (has_part("/triton/") || has_part("/torch/"));
  if (file == "<string>" || file == "<stdin>") return Owner::package;  // `python -c`, and what packages generate
  if (file.empty() || file.front() == '<' || has_part("/convladder/simulated/") || has_part("/stand_in/python/") ||
      has_part("/torchinductor_") || launches_for_others || (!is_installed && has_part("/lib/python3"))) {
    return Owner::machinery;
  }
  return is_installed ? Owner::package : Owner::program;
}

/// The innermost line that says most, and whose it is; takes over the frame.
std::pair<CallPlace, Owner> place_on_stack(const Python& python, PyObject* frame) {
  CallPlace best;
  Owner owner_of_best = Owner::machinery;
  for (int count = 0; frame != nullptr && count < kMostPythonFrames; ++count) {
    PyObject* const code = python.code(frame);
    CallPlace place{text_of(python, code, "co_filename"), 0, python.line(frame), text_of(python, code, "co_name")};
    python.decrease(code);
    PyObject* const back = python.back(frame);
    python.decrease(frame);
    frame = back;
    const Owner owner = owner_of(place.file);
    if (owner < owner_of_best) {
      best = std::move(place);
      owner_of_best = owner;
    }
    if (owner == Owner::program) break;
  }
  if (frame != nullptr) python.decrease(frame);
  return {std::move(best), owner_of_best};
}

/// The line of the program for which this thread works. PyTorch computes gradients in threads of its own, while the one
/// that has asked for them waits: where this thread has no line and one other thread has, that is the line.
CallPlace innermost_of_program(const Python& python) {
  PyObject* const own = python.frame();
  if (own != nullptr) python.increase(own);
  auto [place, owner] = place_on_stack(python, own);
  if (place.line > 0) return place;
  std::vector<CallPlace> others;
  for (void* thread = python.first_thread(python.interpreter()); thread != nullptr;
       thread = python.next_thread(thread)) {
    auto [of_thread, owner_of_line] = place_on_stack(python, python.frame_of_thread(thread));
    if (owner_of_line == Owner::program) others.push_back(std::move(of_thread));
  }
  return others.size() == 1 ? std::move(others.front()) : CallPlace{};
}

thread_local OfThread<CallPlace> caller;

const Python& functions() {
  static const Python python = found_python();
  return python;
}

/// Nullptr where no interpreter runs in this process.
const Python* running_python() {
  const Python& python = functions();
  const bool runs = python.is_there() && python.is_initialized() != 0 && python.is_finalizing() == 0;
  return runs ? &python : nullptr;
}

}  // namespace

WithoutPythonLock::WithoutPythonLock() {
  const Python* const python = running_python();
  if (python != nullptr && python->is_locked_by_this_thread() != 0) thread_ = python->unlock();
}

WithoutPythonLock::~WithoutPythonLock() {
  if (thread_ != nullptr) functions().lock(thread_);
}

void note_python_caller() noexcept {
  try {
    const Python* const running = running_python();
    if (running == nullptr) {
      *caller = CallPlace{};
      return;
    }
    const Python& python = *running;
    const int state = python.ensure();
    *caller = innermost_of_program(python);
    python.release(state);
  } catch (const std::exception&) {
    *caller = CallPlace{};  // without memory there is no place
  }
}

const CallPlace& python_caller() { return *caller; }

}  // namespace convladder::stand_in
