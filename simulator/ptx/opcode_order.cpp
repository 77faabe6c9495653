#include "simulator/ptx/opcode_order.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "support/text.hpp"

namespace convladder::ptx {
namespace {

/// The words that name an instruction, and the kinds of its modifiers in order, separated by spaces. A kind is a word,
/// several after one another with "|" between them, words with a common beginning ("L2::*"), or one of kKinds.
struct Order {
  std::string_view name;
  std::string_view kinds;
};

constexpr std::string_view kMemory =
    "mmio weak|volatile|relaxed|acquire|release|acq_rel cta|cluster|gpu|sys SPACE nc ca|cg|cs|lu|cv|wb|wt L1::* L2::* "
    "v2|v4|v8 TYPE";
constexpr std::string_view kAtomic =
    "relaxed|acquire|release|acq_rel cta|cluster|gpu|sys SPACE add|inc|dec|min|max|and|or|xor|cas|exch noftz "
    "L2::cache_hint v2|v4|v8 TYPE";
constexpr std::string_view kAnySpaces = "SPACE mbarrier::* bulk_group multicast::* L2::cache_hint";
constexpr std::string_view kTensor =
    "DIMENSION SPACE tile|im2col|tile::*|im2col::* mbarrier::* bulk_group multicast::* cta_group::* L2::cache_hint";
constexpr std::string_view kMbarrier =
    "expect_tx noComplete release|acquire|relaxed cta|cluster sync_restrict::* SPACE TYPE";
constexpr std::string_view kSurface = "DIMENSION v2|v4 TYPE trap|clamp|zero";
constexpr std::string_view kReduction = "add|min|max|and|or DIMENSION TYPE trap|clamp|zero";
constexpr std::string_view kQuery =
    "width|height|depth|channel_data_type|channel_order|normalized_coords|force_unnormalized_coords|filter_mode|"
    "addr_mode_0|addr_mode_1|addr_mode_2|array_size|num_mipmap_levels|num_samples|memory_layout TYPE";
constexpr std::string_view kVideo = "TYPE sat clamp|wrap add|min|max";
constexpr std::string_view kVideoComparison = "TYPE eq|ne|lt|le|gt|ge add|min|max";

constexpr Order kOrders[] = {
    {"ld", kMemory},
    {"ldu", "SPACE v2|v4 TYPE"},
    {"st", kMemory},
    {"st.bulk", "weak SPACE"},
    {"atom", kAtomic},
    {"red", kAtomic},
    {"mov", "v2|v4 TYPE"},
    {"cvta", "SPACE TYPE"},
    {"cvta.to", "SPACE TYPE"},
    {"mapa", "SPACE TYPE"},
    {"getctarank", "SPACE TYPE"},
    {"prefetch", "tensormap SPACE L1|L2 L2::*"},
    {"applypriority", "SPACE L2::*"},
    {"discard", "SPACE L2"},
    {"createpolicy.fractional", "L2::* TYPE"},
    {"createpolicy.range", "SPACE L2::* TYPE"},
    {"createpolicy.cvt", "L2 TYPE"},
    {"cp.async", "ca|cg SPACE L2::cache_hint L2::*"},
    {"cp.async.mbarrier.arrive", "noinc SPACE TYPE"},
    {"cp.async.bulk", kAnySpaces},
    {"cp.async.bulk.prefetch", "L2 SPACE L2::cache_hint"},
    {"cp.async.bulk.tensor", kTensor},
    {"cp.async.bulk.prefetch.tensor", "DIMENSION L2 SPACE tile|im2col|tile::*|im2col::* L2::cache_hint"},
    {"cp.reduce.async.bulk", "SPACE bulk_group|mbarrier::* L2::cache_hint add|inc|dec|min|max|and|or|xor noftz TYPE"},
    {"cp.reduce.async.bulk.tensor",
     "DIMENSION SPACE add|inc|dec|min|max|and|or|xor tile|im2col|im2col_no_offs bulk_group L2::cache_hint"},
    {"st.async", "weak|relaxed|release cluster|gpu|sys SPACE mbarrier::* v2|v4 TYPE"},
    {"red.async", "relaxed|release cluster|gpu|sys SPACE mbarrier::* add|inc|dec|min|max|and|or|xor TYPE"},
    {"tensormap.replace",
     "tile global_address|rank|box_dim|global_dim|global_stride|element_stride|elemtype|interleave_layout|swizzle_mode|"
     "swizzle_atomicity|fill_mode SPACE b1024 TYPE"},
    {"tensormap.cp_fenceproxy", "SPACE tensormap::* release cta|cluster|gpu|sys sync aligned"},
    {"bar.red", "popc|and|or TYPE"},
    {"barrier.red", "popc|and|or aligned TYPE"},
    {"barrier.cta.red", "popc|and|or aligned TYPE"},
    {"barrier.cta", "sync|arrive aligned"},
    {"barrier.cluster.arrive", "release|relaxed aligned"},
    {"barrier.cluster.wait", "acquire aligned"},
    {"fence", "mbarrier_init sc|acq_rel|acquire|release sync_restrict::* cta|cluster|gpu|sys"},
    {"fence.proxy", "async|alias|async::* tensormap::* acquire|release sync_restrict::* SPACE cta|cluster|gpu|sys"},
    {"mbarrier.init", "SPACE TYPE"},
    {"mbarrier.inval", "SPACE TYPE"},
    {"mbarrier.arrive", kMbarrier},
    {"mbarrier.arrive.expect_tx", kMbarrier},
    {"mbarrier.arrive_drop", kMbarrier},
    {"mbarrier.arrive_drop.expect_tx", kMbarrier},
    {"mbarrier.expect_tx", kMbarrier},
    {"mbarrier.complete_tx", kMbarrier},
    {"mbarrier.test_wait", kMbarrier},
    {"mbarrier.test_wait.parity", kMbarrier},
    {"mbarrier.try_wait", kMbarrier},
    {"mbarrier.try_wait.parity", kMbarrier},
    {"shfl", "sync up|down|bfly|idx TYPE"},
    {"vote", "sync all|any|uni|ballot TYPE"},
    {"match", "any|all sync TYPE"},
    {"redux", "sync add|min|max|and|or|xor abs NaN TYPE"},
    {"ldmatrix", "sync aligned SHAPE x1|x2|x4 trans SPACE TYPE"},
    {"stmatrix", "sync aligned SHAPE x1|x2|x4 trans SPACE TYPE"},
    {"movmatrix", "sync aligned SHAPE trans TYPE"},
    {"mma", "sp|sp::* sync aligned SHAPE row|col kind::* block_scale scale_vec::* satfinite TYPE xor|and popc"},
    {"wmma.load.a", "sync aligned row|col SHAPE SPACE TYPE"},
    {"wmma.load.b", "sync aligned row|col SHAPE SPACE TYPE"},
    {"wmma.load.c", "sync aligned row|col SHAPE SPACE TYPE"},
    {"wmma.store.d", "sync aligned row|col SHAPE SPACE TYPE"},
    {"wmma.mma", "xor|and popc sync aligned row|col SHAPE rn|rz|rm|rp TYPE satfinite"},
    {"wgmma.fence", "sync aligned"},
    {"wgmma.commit_group", "sync aligned"},
    {"wgmma.wait_group", "sync aligned"},
    {"wgmma.mma_async", "sp sync aligned SHAPE TYPE and popc satfinite"},
    {"tex", "DIMENSION v2|v4 TYPE"},
    {"tex.base", "DIMENSION v2|v4 TYPE"},
    {"tex.level", "DIMENSION v2|v4 TYPE"},
    {"tex.grad", "DIMENSION v2|v4 TYPE"},
    {"tld4", "r|g|b|a DIMENSION v4 TYPE"},
    {"suld.b", kSurface},
    {"sust.b", kSurface},
    {"sust.p", kSurface},
    {"sured.b", kReduction},
    {"sured.p", kReduction},
    {"txq", kQuery},
    {"txq.level", kQuery},
    {"suq", kQuery},
    {"min", "ftz NaN xorsign abs relu TYPE"},
    {"max", "ftz NaN xorsign abs relu TYPE"},
    {"vadd", kVideo},
    {"vsub", kVideo},
    {"vabsdiff", kVideo},
    {"vmin", kVideo},
    {"vmax", kVideo},
    {"vshl", kVideo},
    {"vshr", kVideo},
    {"vmad", "TYPE po sat shr7|shr15"},
    {"vset", kVideoComparison},
    {"vadd2", kVideo},
    {"vsub2", kVideo},
    {"vavrg2", kVideo},
    {"vabsdiff2", kVideo},
    {"vmin2", kVideo},
    {"vmax2", kVideo},
    {"vset2", kVideoComparison},
    {"vadd4", kVideo},
    {"vsub4", kVideo},
    {"vavrg4", kVideo},
    {"vabsdiff4", kVideo},
    {"vmin4", kVideo},
    {"vmax4", kVideo},
    {"vset4", kVideoComparison},
    {"setmaxnreg.inc", "sync aligned TYPE"},
    {"setmaxnreg.dec", "sync aligned TYPE"},
    {"clusterlaunchcontrol.query_cancel", "is_canceled|get_first_ctaid|get_first_ctaid::* v4 TYPE"},
    {"clusterlaunchcontrol.try_cancel", "async SPACE mbarrier::* multicast::* TYPE"},
};

bool is_figure(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// "f32", "b16x2", "bf16", "tf32", "e4m3x2", "ue8m0x2", "pred", "b4x16_p64".
bool is_type(std::string_view word) {
  if (word == "pred") return true;
  for (const std::string_view beginning : {"bf", "tf", "ue", "e", "f", "b", "u", "s"}) {
    if (word.size() > beginning.size() && word.starts_with(beginning)) return is_figure(word[beginning.size()]);
  }
  return false;
}

bool is_space(std::string_view word) {
  constexpr std::string_view kSpaces[] = {"global", "const",   "local",       "param",           "param::entry",
                                          "shared", "generic", "shared::cta", "shared::cluster", "param::func"};
  return std::ranges::find(kSpaces, word) != std::end(kSpaces);
}

/// "m8n8", "m16n8k16".
bool is_shape(std::string_view word) {
  return word.size() > 3 && word[0] == 'm' && is_figure(word[1]) && word.find('n') != std::string_view::npos;
}

/// "2d", "a1d", "cube", "2dms".
bool is_dimension(std::string_view word) {
  const bool is_layers = word.size() > 1 && word[0] == 'a' && word != "add" && word != "and";
  const std::string_view one = is_layers ? word.substr(1) : word;
  return one == "cube" || (one.size() >= 2 && is_figure(one[0]) && one[1] == 'd');
}

constexpr std::pair<std::string_view, bool (*)(std::string_view)> kKinds[] = {
    {"TYPE", is_type}, {"SPACE", is_space}, {"SHAPE", is_shape}, {"DIMENSION", is_dimension}};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_of_kind(std::string_view word, std::string_view kind) {
  for (const auto& [name, test] : kKinds) {
    if (kind == name) return test(word);
  }
  for (const std::string_view one : split(kind, '|')) {
    if (one.ends_with('*') ? word.starts_with(one.substr(0, one.size() - 1)) : word == one) return true;
  }
  return false;
}

/// The order of the longest name that begins the opcode; nullptr if there is none.
const Order* order_of(std::string_view opcode) {
  const Order* found = nullptr;
  for (const Order& order : kOrders) {
    const bool begins =
        opcode.starts_with(order.name) && (opcode.size() == order.name.size() || opcode[order.name.size()] == '.');
    if (begins && (found == nullptr || order.name.size() > found->name.size())) found = &order;
  }
  return found;
}

}  // namespace

std::string in_order(std::string_view opcode) {
  const Order* const order = order_of(opcode);
  if (order == nullptr || opcode.size() == order->name.size()) return std::string(opcode);
  const std::vector<std::string_view> kinds = split(order->kinds, ' ');
  std::vector<std::pair<std::ptrdiff_t, std::string_view>> modifiers;  // with the numbers of their kinds
  for (const std::string_view word : split(opcode.substr(order->name.size() + 1), '.')) {
    const auto kind = std::ranges::find_if(kinds, [word](std::string_view one) { return is_of_kind(word, one); });
    if (kind == kinds.end()) return std::string(opcode);
    modifiers.emplace_back(kind - kinds.begin(), word);
  }
  std::ranges::stable_sort(modifiers, {}, &std::pair<std::ptrdiff_t, std::string_view>::first);
  std::string result(order->name);
  for (const auto& [kind, word] : modifiers) (result += '.') += word;
  return result;
}

}  // namespace convladder::ptx
