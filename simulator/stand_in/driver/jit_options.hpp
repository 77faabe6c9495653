// The options that programs give where PTX is loaded or linked: a list of names and a list of values.
#pragma once

#include <string>

#include "simulator/stand_in/driver/answer.hpp"

namespace convladder::stand_in {

/// Where a program wants to read what the compiler says. Nothing else of the options has a meaning here: nothing is
/// compiled. Throws Failure for what is no option.
class JitLogs {
 public:
  JitLogs() = default;
  JitLogs(unsigned count, const CUjit_option* options, void** values);

  /// Empties the buffers; their sizes become 0.
  void clear() const { write_error(""); }
  void write_error(const std::string& text) const;

 private:
  struct Buffer {
    char* text = nullptr;
    std::size_t bytes = 0;
    void** size = nullptr;  ///< the value that becomes how much was written
    void write(const std::string& content) const;
  };
  Buffer info_;
  Buffer error_;
};

/// Loads with `load()`, and tells the logs why it could not.
template <typename Load>
auto with_logs(const JitLogs& logs, const Load& load) {
  logs.clear();
  try {
    return load();
  } catch (const Failure& failure) {
    logs.write_error(failure.what());
    throw;
  }
}

}  // namespace convladder::stand_in
