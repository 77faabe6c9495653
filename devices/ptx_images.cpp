#include "devices/ptx_images.hpp"

namespace convladder {
namespace {

using Images = const std::vector<PtxImages>& (*)();

Images& registered_images() {
  static Images images = nullptr;
  return images;
}

}  // namespace

const std::vector<PtxImages>& ptx_images() {
  static const std::vector<PtxImages> none;
  return registered_images() == nullptr ? none : registered_images()();
}

PtxImagesRegistration::PtxImagesRegistration(Images images) { registered_images() = images; }

}  // namespace convladder
