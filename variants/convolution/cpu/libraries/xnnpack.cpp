// A competitor beside the CPU ladder: XNNPACK, which was written for the inference of whole networks on phones and runs
// on PCs.
//
// Its convolution takes pixels of channels (NHWC). The convolution alone is its op time; the conversion from NCHW and
// back, our own transposition on the library's threads, is part of its layer time. The weights are packed in `prepare`.
#include <fmt/format.h>
#include <link.h>
#include <omp.h>
#include <xnnpack.h>

#include <limits>
#include <vector>

#include "devices/cpu/other_threads.hpp"
#include "devices/device_error.hpp"
#include "support/dynamic_library.hpp"
#include "support/library_versions.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cpu/libraries/channels_last.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

// XNNPACK's sources have no version number. The package that it was built with has one; a loaded library has an
// identity.
constexpr const char* kPackage = CONVLADDER_XNNPACK_VERSION;

/// The first bytes of the identity that the linker has given a library: "d1e1086d". Empty if it has none.
std::string build_identity(const char* library) {
  struct Search {
    const char* library;
    std::string found;
  } search{library, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t /*bytes*/, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        if (std::string_view(object->dlpi_name).find(wanted.library) == std::string_view::npos) return 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = object->dlpi_phdr[i];
          if (part.p_type != PT_NOTE) continue;
          // NOLINTNEXTLINE(performance-no-int-to-ptr): the dynamic linker gives the address as a number
          const auto* at = reinterpret_cast<const unsigned char*>(object->dlpi_addr + part.p_vaddr);
          const unsigned char* const end = at + part.p_memsz;
          while (at + sizeof(ElfW(Nhdr)) <= end) {
            const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
            const auto padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
            const unsigned char* const content = at + sizeof note + padded(note.n_namesz);
            if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz >= 4 && content + 4 <= end) {
              wanted.found = fmt::format("{:02x}{:02x}{:02x}{:02x}", content[0], content[1], content[2], content[3]);
              return 1;
            }
            at = content + padded(note.n_descsz);
          }
        }
        return 1;
      },
      &search);
  return search.found;
}

std::string version() {
  static const std::string text = [] {
    const std::string identity = build_identity("libXNNPACK");
    return identity.empty() ? std::string(kPackage) : fmt::format("{}, build {}", kPackage, identity);
  }();
  return text;
}

const char* status_text(xnn_status status) {
  switch (status) {
    case xnn_status_invalid_parameter:
      return "invalid parameter";
    case xnn_status_unsupported_parameter:
      return "unsupported parameter";
    case xnn_status_unsupported_hardware:
      return "unsupported hardware";
    case xnn_status_out_of_memory:
      return "out of memory";
    default:
      return "it failed";
  }
}

/// Throws DeviceError, "XNNPACK's xnn_run_operator: out of memory", unless `status` is success.
void require(xnn_status status, const char* call) {
  if (status != xnn_status_success) throw DeviceError(fmt::format("XNNPACK's {}: {}", call, status_text(status)));
}

xnn_status initialized() {
  static const xnn_status status = xnn_initialize(nullptr);
  return status;
}

/// The weights in the library's layout: [map][row][column][channel], each group's maps behind those of the previous
/// one.
std::vector<float> channels_last(const ConvShape& s, const float* weights) {
  std::vector<float> last(static_cast<std::size_t>(s.weight_elements()));
  const std::int64_t taps = std::int64_t{s.kernel} * s.kernel;
  const std::int64_t channels = s.channels_per_group();
  for (std::int64_t map = 0; map < s.out_channels; ++map) {
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        last[static_cast<std::size_t>((map * taps + tap) * channels + channel)] =
            weights[(map * channels + channel) * taps + tap];
      }
    }
  }
  return last;
}

/// The library's threads, of which the caller is one. Between calls they spin for many milliseconds.
class Threads {
 public:
  explicit Threads(int count)
      : pool_(count > 1 ? pthreadpool_create(static_cast<std::size_t>(count)) : nullptr),
        others_([pool = pool_, count] {
          pthreadpool_parallelize_1d(
              pool, [](void* /*nothing*/, std::size_t /*i*/) {}, nullptr, static_cast<std::size_t>(count),
              PTHREADPOOL_FLAG_YIELD_WORKERS);
        }) {
    if (count > 1 && pool_ == nullptr) throw DeviceError(fmt::format("XNNPACK's {} threads cannot be started", count));
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { pthreadpool_destroy(pool_); }

  pthreadpool_t pool() const { return pool_; }

  /// Calls work(i) for every i below `count`.
  template <typename Work>
  void each(std::int64_t count, Work&& work) const {
    pthreadpool_parallelize_1d(
        pool_, [](void* what, std::size_t i) { (*static_cast<Work*>(what))(static_cast<std::int64_t>(i)); }, &work,
        static_cast<std::size_t>(count), 0);
  }

 private:
  pthreadpool_t pool_;  ///< null: the caller works alone
  OtherThreads others_;
};

class PreparedXnnpack final : public PreparedVariant {
 public:
  PreparedXnnpack(const ConvShape& s, const ProblemTensors& tensors)
      : shape_(s),
        input_(tensors.input()),
        output_(tensors.output()),
        threads_(omp_get_max_threads()),
        // The library may read some bytes beyond the end of an input.
        own_input_(s.input_elements() + XNN_EXTRA_BYTES / sizeof(float)),
        own_output_(s.output_elements()) {
    require(initialized(), "xnn_initialize");
    const auto number = [](int value) { return static_cast<std::uint32_t>(value); };
    const auto size = [](int value) { return static_cast<std::size_t>(value); };
    const std::uint32_t padding = number(s.padding);
    const std::vector<float> last = channels_last(s, tensors.constant());
    constexpr float infinity = std::numeric_limits<float>::infinity();
    require(xnn_create_convolution2d_nhwc_f32(
                padding, padding, padding, padding, number(s.kernel), number(s.kernel), number(s.stride),
                number(s.stride), 1, 1, number(s.groups), size(s.channels_per_group()), size(s.maps_per_group()),
                size(s.in_channels), size(s.out_channels), last.data(), nullptr, -infinity, infinity, 0, &convolution_),
            "xnn_create_convolution2d_nhwc_f32");
    require(xnn_setup_convolution2d_nhwc_f32(convolution_, size(s.batch), size(s.height), size(s.width),
                                             own_input_.data(), own_output_.data(), threads_.pool()),
            "xnn_setup_convolution2d_nhwc_f32");
  }
  ~PreparedXnnpack() override { xnn_delete_operator(convolution_); }

  bool has_own_layout() const override { return true; }
  void load_input() override {
    transpose_images(input_, own_input_.data(), shape_.in_channels, std::int64_t{shape_.height} * shape_.width, false);
  }
  void run() override { require(xnn_run_operator(convolution_, threads_.pool()), "xnn_run_operator"); }
  void store_output() override {
    transpose_images(own_output_.data(), output_, std::int64_t{shape_.out_height()} * shape_.out_width(),
                     shape_.out_channels, true);
  }
  std::string choice() const override { return fmt::format("XNNPACK {}", version()); }

 private:
  /// Transposes each image's matrix in parts that stay in the first-level cache: parts of its pixels, which are the
  /// rows if `by_rows`.
  void transpose_images(const float* from, float* to, std::int64_t rows, std::int64_t columns, bool by_rows) const {
    constexpr std::int64_t kPartFloats = 4096;
    constexpr std::int64_t kLeast = 64;
    const std::int64_t pixels = by_rows ? rows : columns;
    const std::int64_t channels = by_rows ? columns : rows;
    const std::int64_t part = std::max(kLeast, kPartFloats / channels / kLeast * kLeast);
    const std::int64_t parts = (pixels + part - 1) / part;
    const InstructionSet::Kind set = set_.kind;
    threads_.each(shape_.batch * parts, [&](std::int64_t i) {
      const std::int64_t image = i / parts * rows * columns;
      const std::int64_t first = i % parts * part;
      run_with<MatrixPart>(
          set, MatrixPart{from + image, to + image, rows, columns, first, std::min(pixels, first + part), by_rows});
    });
  }

  ConvShape shape_;
  const float* input_;
  float* output_;
  InstructionSet set_ = chosen_instruction_set();
  Threads threads_;
  AlignedFloats own_input_;
  AlignedFloats own_output_;
  xnn_operator_t convolution_ = nullptr;
};

class Xnnpack final : public Variant {
 public:
  std::string unsupported_reason(const ProblemSize& /*size*/) const override {
    if (initialized() == xnn_status_success) return {};
    return fmt::format("XNNPACK's xnn_initialize: {}", status_text(initialized()));
  }
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedXnnpack>(conv_shape(size), tensors);
  }
};

const LibraryVersionRegistration version_registration([] {
  return LibraryVersion{"XNNPACK", version(), library_with("xnn_initialize")};
});

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = std::nullopt,
     .name = "xnnpack",
     .title = "XNNPACK",
     .builds_on = "",
     .hypothesis = "A library for inference, with the channels of a pixel side by side: no lane is idle where there "
                   "are many channels."},
    keep_variant(std::make_unique<Xnnpack>())};

}  // namespace
}  // namespace convladder
