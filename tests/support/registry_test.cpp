#include "support/registry.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace convladder {
namespace {

struct Named {
  std::string_view name;
  int place = 0;
  const int* number = nullptr;
};

using Rules = Registry<Named>::Rules;

Rules by_place() {
  return {.before = [](const Named& a, const Named& b) { return a.place < b.place; },
          .identity = [](const Named& one) { return fmt::format("name '{}'", one.name); }};
}

TEST(Registry, SortsWhateverTheOrderOfRegistration) {
  Registry<Named> registry(by_place());
  registry.add({"late", 3});
  registry.add({"early", 1});
  registry.add({"middle", 2});
  std::string names;
  for (const Named& one : registry.all()) names += fmt::format("{} ", one.name);
  EXPECT_EQ(names, "early middle late ");
  EXPECT_EQ(registry.find([](const Named& one) { return one.place > 1; })->name, "middle");
  EXPECT_EQ(registry.find([](const Named& one) { return one.place > 3; }), nullptr);
}

TEST(Registry, RefusesTwoThatAreTheSame) {
  Registry<Named> registry(by_place());
  registry.add({"one", 1});
  registry.add({"one", 2});
  try {
    static_cast<void>(registry.all());
    FAIL() << "two of a name";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "there are two: name 'one'");
  }
}

TEST(Registry, KeepsWhatItOwns) {
  Registry<Named> registry(by_place());
  auto number = std::make_unique<int>(42);
  const int* const address = number.get();
  registry.add({"one", 1, address}, std::move(number));
  EXPECT_EQ(*registry.all().front().number, 42);
}

TEST(Registry, CompletesBeforeItSortsAndChecksAfterwards) {
  Rules rules = by_place();
  rules.complete = [](Named& one) { one.place = -one.place; };
  rules.check = [](const std::vector<Named>& sorted) {
    if (sorted.front().name != "second") throw std::logic_error("not completed");
  };
  Registry<Named> registry(rules);
  registry.add({"first", 1});
  registry.add({"second", 2});
  EXPECT_NO_THROW(static_cast<void>(registry.all()));
}

}  // namespace
}  // namespace convladder
