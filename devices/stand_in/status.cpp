#include "devices/stand_in/status.hpp"

namespace convladder::stand_in {

bool is_sticky(Status status) {
  switch (status) {
    case kIllegalAddress:
    case kLaunchTimeout:
    case kAssert:
    case kMisalignedAddress:
    case kLaunchFailure:
      return true;
    default:
      return false;
  }
}

}  // namespace convladder::stand_in
