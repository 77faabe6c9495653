// @title oneDNN, step by step
// @libraries dnnl
//
// Three primitives, with the scores of all heads in memory between them: a batched matmul that scales its output, a
// softmax in place, and another matmul. They are made once for each size.
#include <dnnl.hpp>

#include <cstddef>
#include <memory>

namespace {

using Sizes = dnnl::memory::dims;

/// The primitives and the memory for one size.
class Attention {
 public:
  Attention(float scale, int H, int S, int D)
      : scale_(scale), sizes_{H, S, D}, rows_(description({H, S, D}, {row(S, D), D, 1})), turned_(turned(H, S, D)) {
    const dnnl::memory::desc scores = description({H, S, S}, {row(S, S), S, 1});
    constexpr auto kKind = dnnl::prop_kind::forward_inference;
    dnnl::primitive_attr scaled;
#if DNNL_VERSION_MAJOR < 3
    scaled.set_output_scales(0, {scale});
    products_ = dnnl::matmul({{rows_, turned_, scores}, scaled, engine_});
    softmax_ = dnnl::softmax_forward({{kKind, scores, 2}, engine_});
    sums_ = dnnl::matmul({{scores, rows_, rows_}, engine_});
#else
    dnnl::post_ops scaling;
    scaling.append_eltwise(dnnl::algorithm::eltwise_linear, scale, 0);
    scaled.set_post_ops(scaling);
    products_ = dnnl::matmul({engine_, rows_, turned_, scores, scaled});
    softmax_ = dnnl::softmax_forward({engine_, kKind, dnnl::algorithm::softmax_accurate, scores, scores, 2});
    sums_ = dnnl::matmul({engine_, scores, rows_, rows_});
#endif
    scores_ = dnnl::memory(scores, engine_);
  }

  bool is_for(float scale, const Sizes& sizes) const { return scale == scale_ && sizes == sizes_; }

  void run(const float* q, const float* k, const float* v, float* out) {
    dnnl::memory result(rows_, engine_, out);
    products_.execute(
        stream_, {{DNNL_ARG_SRC, input(rows_, q)}, {DNNL_ARG_WEIGHTS, input(turned_, k)}, {DNNL_ARG_DST, scores_}});
    softmax_.execute(stream_, {{DNNL_ARG_SRC, scores_}, {DNNL_ARG_DST, scores_}});
    sums_.execute(stream_, {{DNNL_ARG_SRC, scores_}, {DNNL_ARG_WEIGHTS, input(rows_, v)}, {DNNL_ARG_DST, result}});
    stream_.wait();
  }

 private:
  static dnnl::memory::dim row(int S, int D) { return static_cast<dnnl::memory::dim>(S) * D; }
  static dnnl::memory::desc description(const Sizes& sizes, const Sizes& strides) {
    return {sizes, dnnl::memory::data_type::f32, strides};
  }
  static dnnl::memory::desc turned(int H, int S, int D) { return description({H, D, S}, {row(S, D), 1, D}); }
  /// Memory for an input, which oneDNN only reads.
  dnnl::memory input(const dnnl::memory::desc& what, const float* from) const {
    return {what, engine_, const_cast<float*>(from)};
  }

  float scale_;
  Sizes sizes_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory::desc rows_;
  dnnl::memory::desc turned_;
  dnnl::matmul products_;
  dnnl::softmax_forward softmax_;
  dnnl::matmul sums_;
  dnnl::memory scores_;
};

}  // namespace

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int H, int S, int D) {
  static std::unique_ptr<Attention> made;
  if (!made || !made->is_for(scale, {H, S, D})) made = std::make_unique<Attention>(scale, H, S, D);
  made->run(q, k, v, out);
}
