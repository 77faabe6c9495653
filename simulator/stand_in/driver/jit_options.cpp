#include "simulator/stand_in/driver/jit_options.hpp"

#include <algorithm>
#include <cstring>

namespace convladder::stand_in {
namespace {

/// Numbers take the place of the pointers.
void* as_value(std::size_t number) { return reinterpret_cast<void*>(number); }  // NOLINT(performance-no-int-to-ptr)

}  // namespace

JitLogs::JitLogs(unsigned count, const CUjit_option* options, void** values) {
  require(count == 0 || (options != nullptr && values != nullptr));
  for (unsigned i = 0; i < count; ++i) {
    void*& value = values[i];
    const auto number = static_cast<unsigned>(reinterpret_cast<std::size_t>(value));
    require(options[i] >= 0 && options[i] < CU_JIT_NUM_OPTIONS);
    switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER:
        info_.text = static_cast<char*>(value);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.bytes = number;
        info_.size = &value;
        break;
      case CU_JIT_ERROR_LOG_BUFFER:
        error_.text = static_cast<char*>(value);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_.bytes = number;
        error_.size = &value;
        break;
      case CU_JIT_WALL_TIME: {
        const float none = 0;  // milliseconds of a compilation that does not take place
        std::memcpy(&value, &none, sizeof none);
        break;
      }
      default:
        break;
    }
  }
}

void JitLogs::Buffer::write(const std::string& content) const {
  if (text == nullptr || bytes == 0) return;
  const std::size_t length = std::min(content.size(), bytes - 1);
  std::memcpy(text, content.data(), length);
  text[length] = '\0';
  *size = as_value(length);
}

void JitLogs::write_error(const std::string& text) const {
  info_.write("");
  error_.write(text);
}

}  // namespace convladder::stand_in
