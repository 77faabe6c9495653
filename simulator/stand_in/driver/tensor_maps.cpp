// Tensor maps in the simulated device's format, as a GPU's layout is not documented.
#include <cstring>

#include "simulator/memory/tensor_map.hpp"
#include "simulator/stand_in/driver/answer.hpp"

using namespace convladder::stand_in;

namespace simulated = convladder::simulated;

namespace {

static_assert(sizeof(CUtensorMap) == simulated::TensorMap::kBytes);

/// Gives the program the map made by `encode()`.
template <typename Encode>
CUresult encode(const char* name, CUtensorMap* map, const Encode& encode) {
  return answer_driver(name, Needs::nothing, [&](Machine&) {
    require(map != nullptr && reinterpret_cast<std::uintptr_t>(map) % 64 == 0);
    try {
      const simulated::TensorMap made = encode();
      std::memcpy(map, &made, sizeof made);
    } catch (const simulated::TensorMapError& error) {
      throw Failure(kInvalidValue, error.what());
    }
  });
}

simulated::TensorDescription description(CUtensorMapDataType type, unsigned rank, void* address,
                                         const cuuint64_t* sizes, const cuuint64_t* strides,
                                         const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                         CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                         CUtensorMapFloatOOBfill fill) {
  require(rank >= 1 && rank <= simulated::TensorMap::kMostDimensions);
  require(sizes != nullptr && element_strides != nullptr && (strides != nullptr || rank == 1));
  simulated::TensorDescription made{.type = type,
                                    .address = number_of(address),
                                    .sizes = {sizes, sizes + rank},
                                    .strides = {},
                                    .element_strides = {element_strides, element_strides + rank},
                                    .interleave = interleave,
                                    .swizzle = swizzle,
                                    .l2_promotion = promotion,
                                    .fill = fill};
  if (rank > 1) made.strides.assign(strides, strides + rank - 1);
  return made;
}

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
  return encode("cuTensorMapEncodeTiled", map, [&] {
    const auto tensor =
        description(type, rank, address, sizes, strides, element_strides, interleave, swizzle, promotion, fill);
    require(box != nullptr);
    return simulated::encode_tiled(tensor, {box, rank});
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* sizes, const cuuint64_t* strides, const int* lower, const int* upper,
                                 cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return encode("cuTensorMapEncodeIm2col", map, [&] {
    const auto tensor =
        description(type, rank, address, sizes, strides, element_strides, interleave, swizzle, promotion, fill);
    require(rank >= 3 && lower != nullptr && upper != nullptr);
    return simulated::encode_im2col(tensor, {lower, rank - 2}, {upper, rank - 2}, channels, pixels);
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return encode("cuTensorMapReplaceAddress", map, [&] {
    simulated::TensorMap changed;
    std::memcpy(static_cast<void*>(&changed), map, sizeof changed);
    require(changed.magic == simulated::TensorMap::kMagic);
    changed.address = number_of(address);
    require(changed.problem().empty());
    return changed;
  });
}

}  // extern "C"
