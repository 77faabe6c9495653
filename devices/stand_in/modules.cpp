#include "devices/stand_in/modules.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "devices/simulated/ptx/parser.hpp"
#include "devices/stand_in/status.hpp"
#include "support/errors.hpp"

namespace convladder::stand_in {
namespace {

/// 90 of "sm_90a".
int architecture_of(const std::string& target) {
  const std::size_t digits = target.find('_');
  return digits == std::string::npos ? 0 : std::atoi(target.c_str() + digits + 1);
}

}  // namespace

const ptx::Module& Module::read(int architecture) {
  if (failure_) throw Failure(static_cast<Status>(failure_->first), failure_->second);
  if (module_) return *module_;
  const auto fail = [this](Status status, const std::string& text) {
    failure_ = {status, text};
    throw Failure(status, text);
  };
  std::string file = "the module's PTX";
  if (fat_binary_ != nullptr) {
    try {
      const std::uint64_t bytes = fat_binary_bytes(fat_binary_);
      const auto images = read_fat_binary({static_cast<const std::byte*>(fat_binary_), bytes});
      const FatImage* const image = ptx_for(images, architecture);
      if (image == nullptr) {
        const std::string machine_code = machine_code_text(images);
        fail(kNoKernelImage,
             fmt::format("the program holds {} and no PTX: compile it with -gencode arch=compute_80,code=compute_80",
                         machine_code.empty() ? "no kernels" : machine_code));
      }
      ptx_ = image->ptx;
      too_new_ = image->architecture > architecture;
      if (!image->name.empty()) file = image->name;
    } catch (const UserError& error) {
      fail(kInvalidImage, fmt::format("the program's kernels cannot be read: {}", error.what()));
    }
  }
  try {
    module_ = std::make_unique<ptx::Module>(ptx::parse_module(ptx_, file));
  } catch (const ptx::PtxError& error) {
    fail(kInvalidPtx, error.what());
  }
  if (fat_binary_ == nullptr) too_new_ = architecture_of(module_->target) > architecture;
  ptx_.clear();
  ptx_.shrink_to_fit();
  return *module_;
}

}  // namespace convladder::stand_in
