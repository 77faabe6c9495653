// The kernels that nvcc puts into a program beside its host code, once for each architecture that was asked for.
//
// NVIDIA does not document the layout; public tools have read it for years, and it is the same from CUDA 9 to 13.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convladder::stand_in {

enum class ImageKind { ptx, machine_code };

/// One image of a fat binary. Images of other kinds are skipped.
struct FatImage {
  ImageKind kind = ImageKind::ptx;
  int architecture = 0;                  ///< 75 for sm_75 and compute_75
  std::string name;                      ///< as noted by the compiler; often empty
  std::string ptx;                       ///< the text; empty for machine code
  std::string machine_code;              ///< an ELF file, if it was asked for
  bool is_for_one_architecture = false;  ///< of PTX: compute_90a
};

/// The images of a fat binary that are unpacked.
enum class Unpacked { ptx, everything };

/// Reads a fat binary from its header on. Throws UserError "what is wrong at byte N" for bytes that are no fat binary,
/// that end too early, or whose compression is not known.
std::vector<FatImage> read_fat_binary(std::span<const std::byte> bytes, Unpacked unpacked = Unpacked::ptx);

/// The size of a fat binary from its header on, as the header says, or 0 if there is no header.
std::uint64_t fat_binary_bytes(const void* header);

/// The PTX that a GPU of that architecture would run: the newest that is not newer than the GPU, and of two for the
/// same architecture, which `nvcc -arch=sm_90a` makes, the one with what only that GPU has; failing that, the oldest
/// that is newer. nullptr if there is none.
const FatImage* ptx_for(const std::vector<FatImage>& images, int architecture);

/// The PTX that the machine code of a fat binary holds (machine_code.hpp), of the same choice as `ptx_for`; empty if it
/// holds none. Throws UserError as `read_fat_binary` does.
std::string ptx_in_machine_code_of(std::span<const std::byte> fat_binary, int architecture);

/// The architectures of the machine code: "machine code for sm_80, sm_90"; "" if there is none.
std::string machine_code_text(const std::vector<FatImage>& images);

}  // namespace convladder::stand_in
