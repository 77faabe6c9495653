// The options that programs give when PTX is loaded or linked: a list of names and a list of values.
#pragma once

#include <string>

#include "simulator/stand_in/driver/answer.hpp"

namespace convladder::stand_in {

/// The buffers in which a program wants the compiler's messages. Other options have no meaning here, as nothing is
/// compiled. Throws Failure for an unknown option.
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
    void** size = nullptr;  ///< the value that receives the number of written bytes
    void write(const std::string& content) const;
  };
  Buffer info_;
  Buffer error_;
};

/// Loads with `load()`, and writes the reason for a failure to the logs.
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
