// Stage 10: outputs leave past the caches, while the next ones are computed.
//
// A layer with one channel writes far more than it reads, and every line that an ordinary store touches is read from
// memory first. Against stage 9 the outputs go to memory by streaming stores, which fill whole lines in a buffer of the
// processor and read nothing. Where a map's outputs are a multiple of a line, registers are stored that way at once.
// Elsewhere the maps begin anywhere in a line: then an image is computed into a buffer in the second-level cache, and
// while the next one is computed it goes on its way, after each register tile as many lines as the tile has, so that
// memory is never waited for. What it relieves is the memory's bandwidth, by a third to a half. It loses, and is
// therefore left out, where the last-level cache holds the outputs of a call: then nothing has to leave.

#include "variants/cpu/streamed_rows.hpp"
#include "variants/cpu_variant.hpp"

namespace convladder {
namespace {

class StreamedOutput : public StreamedRows {
 public:
  StreamedOutput(const ConvShape& shape, const float* weights) : StreamedRows(shape, weights, Copies::before) {}
};

const VariantRegistration registration{
    {.family = "cpu",
     .rung = 10,
     .name = "streamed-output",
     .title = "Streamed output",
     .builds_on = "shifted-rows",
     .hypothesis = "Lines that are written whole are not read first: up to half of the memory's traffic goes away."},
    std::make_unique<PreparingCpuVariant<StreamedOutput>>()};

}  // namespace
}  // namespace convladder
