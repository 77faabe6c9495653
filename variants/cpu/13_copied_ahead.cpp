// Stage 13: an image's input is copied while the image before it is computed.
//
// Stage 10 copies an image's input and then computes it. To copy is nothing but loads and stores, and to compute is
// hardly any, so that each waits for a part of the core that the other leaves idle; worst where outputs are streamed,
// since a core's stores finish in their order, and the copies' have to wait for those that are on their way to memory.
// Here there are two sets of copies: while the outputs of one image are computed from the one, the next image's rows
// go into the other, after each register tile as many as are needed to be done in time. It relieves the time between
// two images, a tenth of lenet28's first layer. It loses where both sets do not fit beside the outputs in the
// second-level cache.

#include "variants/cpu/streamed_rows.hpp"
#include "variants/cpu_variant.hpp"

namespace convladder {
namespace {

class CopiedAhead : public StreamedRows {
 public:
  CopiedAhead(const ConvShape& shape, const float* weights) : StreamedRows(shape, weights, Copies::ahead) {}
};

const VariantRegistration registration{
    {.family = "cpu",
     .rung = 13,
     .name = "copied-ahead",
     .title = "Copied ahead",
     .builds_on = "streamed-output",
     .hypothesis = "Copies are made between the register tiles of the image before: stores and multiply-adds overlap."},
    std::make_unique<PreparingCpuVariant<CopiedAhead>>()};

}  // namespace
}  // namespace convladder
