#include "simulator/stand_in/driver/refusal.hpp"

#include "simulator/stand_in/driver/answer.hpp"

namespace convladder::stand_in {

// NOLINTNEXTLINE(bugprone-exception-escape): `answer` catches all of them
int refuse_driver_call(const char* name) noexcept {
  return answer_driver(name, Needs::nothing, [name](Machine& machine) {
    machine.report.not_supported(name);
    throw Failure(kNotSupported);
  });
}

}  // namespace convladder::stand_in
