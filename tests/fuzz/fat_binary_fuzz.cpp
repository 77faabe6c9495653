// libFuzzer target for the images that programs bring along. Whatever the bytes are, they are PTX, or what is wrong is
// said in one line; and no byte behind them is read.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulator/stand_in/modules/fat_binary.hpp"
#include "simulator/stand_in/modules/images.hpp"
#include "simulator/stand_in/modules/machine_code.hpp"
#include "simulator/stand_in/status.hpp"
#include "support/errors.hpp"

namespace convladder::stand_in {
namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void require_one_line(const std::string& text) { require(!text.empty() && text.find('\n') == std::string::npos); }

void read_images(std::span<const std::byte> bytes) {
  try {
    const std::vector<FatImage> images = read_fat_binary(bytes);
    for (const FatImage& image : images) {
      require(image.ptx.find('\0') == std::string::npos);
      require(image.kind == ImageKind::ptx || image.ptx.empty());
    }
    const FatImage* const best = ptx_for(images, 90);
    require(best == nullptr || best->kind == ImageKind::ptx);
    ptx_in_machine_code_of(bytes, 90);
  } catch (const UserError& error) {
    require_one_line(error.what());
  }
}

}  // namespace
}  // namespace convladder::stand_in

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convladder::stand_in;
  // In memory of its own, behind which a sanitizer sees every read.
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data),
                                     reinterpret_cast<const std::byte*>(data) + size);
  read_images(bytes);
  require(ptx_in_machine_code(bytes).find('\0') == std::string::npos);
  try {
    const std::string ptx = ptx_of_bytes(bytes, 90);
    require(joined_ptx({ptx}) == ptx);
    require(joined_ptx({ptx, ptx}).find('\0') == std::string::npos);
  } catch (const Failure& failure) {
    require(failure.status != kSuccess);
    require_one_line(failure.what());
  }
  return 0;
}
