// Ratios for people: no digit more than is known, and a sign where a ratio cannot be told from 1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/statistics/ratio.hpp"

namespace convladder {

/// The value with as many digits as its interval supports, from one to three: 3.841 between 3.80 and 3.88 is "3.84",
/// between 3.5 and 4.1 it is "3.8". Without an interval it is "~3.8": roughly.
std::string known_number(const Ratio& ratio);

/// A factor: known_number; "~1" where it cannot be told from 1; where the interval is wider than kWidestHeadline its
/// nearer end, ">3.2", or "?" where that cannot be told from 1 either; "-" for none.
std::string ratio_text(const std::optional<Ratio>& ratio);
/// A share in percent, in the same way: "72%", "~100%", ">120%".
std::string share_text(const std::optional<Ratio>& percent);
/// Its interval: "3.80-3.88", or known_number without one; "-" for none. `unit` is behind it.
std::string ratio_interval_text(const std::optional<Ratio>& ratio, const std::string& unit = {});

/// The meaning of the signs in these cells of a table, in one line; empty where there are none.
std::string ratio_legend(const std::vector<std::vector<std::string>>& rows);

/// A factor that is surely reached, rounded down: "1.07", "1.4", "12". Empty where nothing above 1 is left.
std::string bound_text(double bound);

}  // namespace convladder
