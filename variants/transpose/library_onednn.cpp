// @title oneDNN
// @libraries dnnl
//
// oneDNN's reorder: y is x in a memory layout whose first dimension lies next to each other. It is made once for a size
// and kept, so that what is measured is the work alone.
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>

namespace {

using dnnl::memory;

struct Transpose {
  Transpose(const dnnl::engine& engine, int R, int C)
      : x({{R, C}, memory::data_type::f32, memory::format_tag::ab}, engine, nullptr),
        y({{R, C}, memory::data_type::f32, memory::format_tag::ba}, engine, nullptr),
        reorder(x, y) {}
  memory x;
  memory y;
  dnnl::reorder reorder;
};

}  // namespace

extern "C" void solve(const float* x, float* y, int R, int C) {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  static dnnl::stream stream(engine);
  static std::map<std::pair<int, int>, Transpose> made;
  Transpose& one = made.try_emplace({R, C}, engine, R, C).first->second;
  one.x.set_data_handle(const_cast<float*>(x));  // oneDNN takes all as void*, but a reorder only reads its source
  one.y.set_data_handle(y);
  one.reorder.execute(stream, one.x, one.y);
  stream.wait();
}
