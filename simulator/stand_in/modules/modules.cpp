#include "simulator/stand_in/modules/modules.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "simulator/ptx/parser.hpp"
#include "simulator/stand_in/modules/images.hpp"
#include "simulator/stand_in/status.hpp"
#include "support/errors.hpp"

namespace convladder::stand_in {
namespace {

/// The architecture of a target: 90 for "sm_90a".
int architecture_of(const std::string& target) {
  const std::size_t digits = target.find('_');
  return digits == std::string::npos ? 0 : std::atoi(target.c_str() + digits + 1);
}

}  // namespace

/// The PTX of the program's fat binaries. Throws Failure.
std::string Module::ptx_of_program(int architecture, std::string& file) {
  std::vector<std::string> texts;
  std::string machine_code;
  for (const void* const fat_binary : fat_binaries_) {
    const std::span bytes(static_cast<const std::byte*>(fat_binary), fat_binary_bytes(fat_binary));
    const auto images = read_fat_binary(bytes);
    const FatImage* const image = ptx_for(images, architecture);
    if (image == nullptr) {
      std::string ptx = ptx_in_machine_code_of(bytes, architecture);
      if (ptx.empty()) machine_code = machine_code_text(images);
      if (!ptx.empty()) texts.push_back(std::move(ptx));
      continue;
    }
    // nvcc links its library for kernels that launch kernels into every program of several objects. Code that calls it
    // is refused by that function's name.
    if (fat_binaries_.size() > 1 && image->ptx.find("_cuda_device_runtime_cu_") != std::string::npos) continue;
    texts.push_back(image->ptx);
    too_new_ |= image->architecture > architecture;
    if (!image->name.empty()) file = image->name;
  }
  // One of the linked objects may hold only machine code: that of the linker itself.
  if (texts.empty()) {
    throw Failure(
        kNoKernelImage,
        fmt::format(
            "the program holds {} and no PTX: compile it with -gencode arch=compute_80,code=compute_80, or with "
            "-lineinfo",
            machine_code.empty() ? "no kernels" : machine_code));
  }
  return joined_ptx(texts);
}

const ptx::Module& Module::read(int architecture) {
  if (failure_) throw Failure(static_cast<Status>(failure_->first), failure_->second);
  if (module_) return *module_;
  const auto fail = [this](Status status, const std::string& text) {
    failure_ = {status, text};
    throw Failure(status, text);
  };
  std::string file = "the module's PTX";
  if (!fat_binaries_.empty()) {
    try {
      ptx_ = ptx_of_program(architecture, file);
    } catch (const UserError& error) {
      fail(kInvalidImage, fmt::format("the program's kernels cannot be read: {}", error.what()));
    } catch (const Failure& failure) {
      fail(failure.status, failure.what());
    }
  }
  try {
    module_ = std::make_unique<ptx::Module>(ptx::parse_module(ptx_, file));
  } catch (const ptx::PtxError& error) {
    fail(kInvalidPtx, error.what());
  }
  if (fat_binaries_.empty()) too_new_ = architecture_of(module_->target) > architecture;
  ptx_.clear();
  ptx_.shrink_to_fit();
  return *module_;
}

}  // namespace convladder::stand_in
