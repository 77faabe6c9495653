#include "harness/measure/isolation/helper_messages.hpp"

#include "harness/measure/isolation/message_codec.hpp"

namespace convladder {

template struct MessageTexts<StageMessages>;
template struct MessageTexts<ReferenceMessages>;
template struct MessageTexts<CeilingsMessages>;

}  // namespace convladder
