#include "devices/ptx_images.hpp"

namespace convladder {
namespace {

using Images = const std::vector<EmbeddedFile>& (*)();

Images& registered_images() {
  static Images images = nullptr;
  return images;
}

}  // namespace

const std::vector<EmbeddedFile>& ptx_images() {
  static const std::vector<EmbeddedFile> none;
  return registered_images() == nullptr ? none : registered_images()();
}

PtxImagesRegistration::PtxImagesRegistration(Images images) { registered_images() = images; }

}  // namespace convladder
