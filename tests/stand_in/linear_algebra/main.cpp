// All walks, or those named on the command line.
#include <cstring>

#include "walk.hpp"

int main(int count, char** words) {
  const struct {
    const char* name;
    void (*walk)();
  } walks[] = {{"vectors", walk_vectors},
               {"matrices_and_vectors", walk_matrices_and_vectors},
               {"matrices", walk_matrices},
               {"products", walk_products},
               {"lt", walk_lt},
               {"solver", walk_solver}};
  for (const auto& [name, walk] : walks) {
    bool is_wanted = count == 1;
    for (int i = 1; i < count; ++i) is_wanted = is_wanted || std::strcmp(words[i], name) == 0;
    if (is_wanted) walk();
  }
  return outcome();
}
