// @title oneDNN
// @hypothesis what Intel's library makes of it
// @libraries dnnl
//
// dnnl::reduction sums the last dimension of a tensor. Its work is divided among threads by the remaining dimensions,
// so one row would be one thread's: here the input is seen as rows of about 16384 numbers, whose sums a second
// reduction adds up. Numbers that do not fill a row are added here. The code that oneDNN has compiled for a size is
// kept for the next call.
#include <dnnl.hpp>
#include <memory>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kRow = 16384;

struct Reduction {
  dnnl::reduction primitive;
  dnnl::memory from;
  dnnl::memory to;
};

Reduction reduction_of(const dnnl::engine& engine, dnnl::memory::dim rows, dnnl::memory::dim columns) {
  const auto plain = dnnl::memory::format_tag::ab;
  const dnnl::memory::desc from({rows, columns}, dnnl::memory::data_type::f32, plain);
  const dnnl::memory::desc to({rows, 1}, dnnl::memory::data_type::f32, plain);
  const auto sum = dnnl::algorithm::reduction_sum;
#if DNNL_VERSION_MAJOR < 3
  const dnnl::reduction::primitive_desc what(dnnl::reduction::desc(sum, from, to, 0, 0), engine);
#else
  const dnnl::reduction::primitive_desc what(engine, sum, from, to, 0, 0);
#endif
  return {dnnl::reduction(what), dnnl::memory(from, engine, nullptr), dnnl::memory(to, engine, nullptr)};
}

struct Plan {
  Reduction rows;  ///< sums of the input's rows
  Reduction sums;  ///< sum of the rows' sums
  std::vector<float> row_sums;
};

}  // namespace

extern "C" void solve(const float* x, float* y, int N) {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  static dnnl::stream stream(engine);
  static std::unordered_map<int, std::unique_ptr<Plan>> plans;  // by the number of rows

  // oneDNN refuses to reduce a dimension of one: there must be at least two rows.
  const int rows = N / kRow < 2 ? 0 : N / kRow;
  double sum = 0;
  for (int i = rows * kRow; i < N; ++i) sum += x[i];
  if (rows > 0) {
    std::unique_ptr<Plan>& plan = plans[rows];
    if (!plan) {
      plan = std::make_unique<Plan>(Plan{reduction_of(engine, rows, kRow), reduction_of(engine, 1, rows),
                                         std::vector<float>(static_cast<std::size_t>(rows))});
    }
    float of_rows = 0;
    plan->rows.from.set_data_handle(const_cast<float*>(x));  // only read
    plan->rows.to.set_data_handle(plan->row_sums.data());
    plan->sums.from.set_data_handle(plan->row_sums.data());
    plan->sums.to.set_data_handle(&of_rows);
    for (Reduction* one : {&plan->rows, &plan->sums}) {
      one->primitive.execute(stream, {{DNNL_ARG_SRC, one->from}, {DNNL_ARG_DST, one->to}});
    }
    stream.wait();
    sum += of_rows;
  }
  *y = static_cast<float>(sum);
}
