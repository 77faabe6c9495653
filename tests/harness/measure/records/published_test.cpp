#include "harness/measure/records/published.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "expect_error.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

nlohmann::ordered_json file_of(const std::string& source) {
  return nlohmann::ordered_json::parse(published_json_text(source));
}

const PublishedFigure* find(const std::vector<PublishedFigure>& figures, std::string_view stage, std::string_view what,
                            std::string_view layer = "") {
  const auto found = std::ranges::find_if(figures, [&](const PublishedFigure& figure) {
    return figure.stage == stage && figure.what == what && figure.layer == layer;
  });
  return found == figures.end() ? nullptr : &*found;
}

TEST(Published, AllSourcesAreReadAndNamedAfterTheirFiles) {
  std::vector<std::string> names;
  for (const PublishedSource& source : published_sources()) {
    names.push_back(source.name);
    EXPECT_EQ(file_of(source.name).at("name"), source.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"alexnet-batch-sweep", "fa17-checkpoints", "fa17-ladder", "fa18-batches",
                                             "sp18-milestone"}));
}

TEST(Published, UnknownNamesListTheKnownOnes) {
  expect_error<UserError>([] { published_source("fa18-batch"); }, {"fa18-batch", "known: fa18-batches"});
  expect_error<UserError>([] { published_json_text(""); }, {"fa17-ladder"});
}

TEST(Published, FiguresOfANetworkAtABatch) {
  const std::vector<PublishedFigure> figures = published_figures("lenet72", 1000);
  const PublishedFigure* const op = find(figures, "gpu baseline (global memory)", "op time", "conv2");
  ASSERT_NE(op, nullptr);
  EXPECT_DOUBLE_EQ(op->value, 0.016349);
  EXPECT_EQ(op->unit, "s");
  EXPECT_EQ(op->batch, 1000);
  EXPECT_NE(op->device.find("Volta"), std::string::npos);
  const PublishedFigure* const accuracy = find(figures, "gpu baseline (global memory)", "accuracy");
  ASSERT_NE(accuracy, nullptr);
  EXPECT_DOUBLE_EQ(accuracy->value, 0.827);
  EXPECT_NE(find(figures, "own GPU convolution, batch 1000", "program time"), nullptr);
  EXPECT_EQ(find(figures, "own GPU convolution, batch 100", "program time"), nullptr);
  EXPECT_EQ(find(figures, "cpu baseline", "op time", "conv1"), nullptr) << "that is at batch 10000";
  const PublishedFigure* const library = find(figures, "library network on CPU", "program time");
  ASSERT_NE(library, nullptr) << "no batch is said";
  EXPECT_FALSE(library->batch.has_value());
}

TEST(Published, FiguresOfALayer) {
  for (const PublishedFigure& figure : published_figures("lenet72", 10000, "conv1")) {
    EXPECT_NE(figure.layer, "conv2");
  }
  EXPECT_NE(find(published_figures("lenet72", 10000, "conv1"), "cpu baseline", "op time", "conv1"), nullptr);
}

TEST(Published, WhatIsApproximateAndOfWhichModel) {
  const std::vector<PublishedFigure> figures = published_figures("lenet28", 10000);
  const PublishedFigure* const first =
      find(figures, "shared memory and 1024x1x1 block remap, first round", "op time", "conv1");
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->approximate);
  EXPECT_EQ(first->model, "high");
  const PublishedFigure* const kernel = find(figures, "gpu baseline (global memory)", "kernel time", "conv1");
  ASSERT_NE(kernel, nullptr);
  EXPECT_FALSE(kernel->approximate);
  EXPECT_DOUBLE_EQ(kernel->value, 2847.94);
  EXPECT_EQ(kernel->unit, "ms");
  EXPECT_NE(find(figures, "final kernel, high model", "profile"), nullptr);
}

TEST(Published, PathsLeadToTheValues) {
  int checked = 0;
  for (const PublishedSource& source : published_sources()) {
    const nlohmann::ordered_json json = file_of(source.name);
    for (const int batch : {1, 100, 1000, 1024, 10000}) {
      for (const PublishedFigure& figure : published_figures(source.network, batch)) {
        if (figure.source != source.name) continue;
        const nlohmann::ordered_json& value = json.at(nlohmann::ordered_json::json_pointer(figure.path));
        if (figure.what == "profile") {
          EXPECT_TRUE(value.contains("groups")) << figure.path;
        } else {
          EXPECT_EQ(value.get<double>(), figure.value) << figure.path;
        }
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 100);
}

TEST(Published, TheSweepIsFoundByItsBatch) {
  const std::vector<PublishedFigure> figures = published_figures("alexnet", 64);
  ASSERT_EQ(figures.size(), 9U);
  EXPECT_EQ(figures[1].what, "time of conv_kernel");
  EXPECT_DOUBLE_EQ(figures[1].value, 361.16);
  EXPECT_TRUE(published_figures("alexnet", 3).empty());
  EXPECT_TRUE(published_figures("lenet29", 64).empty());
}

/// A small file with one change made to it.
std::string file_with(const std::string& pointer, const nlohmann::ordered_json& value) {
  auto json = nlohmann::ordered_json::parse(R"({
    "schema_version": "1.0", "name": "n", "title": "t", "network": "lenet28", "device": null, "batch": null, "notes": [],
    "tables": [{"name": "a", "kind": "op times", "columns": [{"name": "stage"}, {"name": "conv1", "what": "op time"}],
                "rows": [["one", 1.5], ["two", null]]},
               {"name": "p", "kind": "profile", "profile": {"unit": "ns", "groups": []}}]})");
  json[nlohmann::ordered_json::json_pointer(pointer)] = value;
  return json.dump();
}

TEST(Published, MalformedFilesAreNamedWithThePlace) {
  const auto reading = [](const std::string& text) { return [text] { parse_published(text, "x.json"); }; };
  EXPECT_NO_THROW(reading(file_with("/device", "a GPU"))());
  expect_error<UserError>(reading("{"), {"x.json", "byte"});
  expect_error<UserError>(reading("7"), {"x.json", "object"});
  expect_error<UserError>(reading(file_with("/title", 5)), {"x.json", "title", "string"});
  expect_error<UserError>(reading(file_with("/batch", -5)), {"x.json", "batch", "whole number"});
  expect_error<UserError>(reading(file_with("/tables/0/kind", "op time")), {"x.json: tables[0]", "op times"});
  expect_error<UserError>(reading(file_with("/tables/0/rows/1", {"two"})), {"x.json: tables[0]", "rows[1]", "2 cells"});
  expect_error<UserError>(reading(file_with("/tables/0/rows/1/1", "fast")),
                          {"rows[1][1]: expected a number, found \"fast\""});
  expect_error<UserError>(reading(file_with("/tables/0/columns/1/name", 1)), {"tables[0]: columns[1]", "name"});
  expect_error<UserError>(reading(file_with("/tables/1/profile/groups", 1)),
                          {"x.json: tables[1]", "profile: groups: expected a list"});
}

}  // namespace
}  // namespace convladder
