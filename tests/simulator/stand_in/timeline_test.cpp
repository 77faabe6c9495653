#include "simulator/stand_in/timeline.hpp"

#include <gtest/gtest.h>

namespace convladder::stand_in {
namespace {

/// Round figures, each another.
constexpr FixedCosts kCosts{.call = 1,
                            .launch = 20,
                            .enqueue = 30,
                            .start = 100,
                            .wake = 50,
                            .allocate = 0,
                            .copy = 10,
                            .copy_gb_per_s = 4,
                            .pageable_gb_per_s = 2};

void expect_span(const Timeline::Span& span, Nanoseconds begin, Nanoseconds end) {
  EXPECT_EQ(span.begin, begin);
  EXPECT_EQ(span.end, end);
}

TEST(Timeline, TakesSoLongForACopy) {
  const Timeline timeline(kCosts);
  EXPECT_EQ(timeline.copy_ns(4000, true), 1010U);
  EXPECT_EQ(timeline.copy_ns(4000, false), 2010U);
  EXPECT_EQ(timeline.copy_ns(0, true), 10U);
}

TEST(Timeline, RunsWhatIsInAStreamInOrder) {
  Timeline timeline(kCosts);
  expect_span(timeline.enqueue(0, Engine::kernels, 1000), 100, 1100);
  expect_span(timeline.enqueue(0, Engine::to_device, 10), 1100, 1110);
  EXPECT_EQ(timeline.now(), 0U) << "the host does not wait";
  timeline.host_waits_until(timeline.end_of(0));
  EXPECT_EQ(timeline.now(), 1110U + kCosts.wake);
  timeline.host_waits_until(timeline.end_of(0));
  EXPECT_EQ(timeline.now(), 1160U) << "what has ended is not waited for";
  timeline.host_works(40);
  expect_span(timeline.enqueue(0, Engine::kernels, 5), 1300, 1305);
  EXPECT_EQ(timeline.busy(Engine::kernels), 1005U);
  EXPECT_EQ(timeline.busy(Engine::to_device), 10U);
  EXPECT_EQ(timeline.busy(Engine::from_device), 0U);
}

TEST(Timeline, OverlapsCopiesBothWaysAndKernels) {
  Timeline timeline(kCosts);
  const int a = timeline.add_stream(false);
  const int b = timeline.add_stream(false);
  const int c = timeline.add_stream(false);
  expect_span(timeline.enqueue(a, Engine::to_device, 500), 100, 600);
  expect_span(timeline.enqueue(b, Engine::from_device, 300), 100, 400);
  expect_span(timeline.enqueue(c, Engine::kernels, 200), 100, 300);
  // There is one engine for each way.
  expect_span(timeline.enqueue(b, Engine::to_device, 50), 600, 650);
  EXPECT_EQ(timeline.end_of_all().time, 650U);
}

TEST(Timeline, RunsKernelsBesideEachOtherWhereTheyFit) {
  Timeline timeline(kCosts);
  const int a = timeline.add_stream(false);
  const int b = timeline.add_stream(false);
  const int c = timeline.add_stream(false);
  expect_span(timeline.enqueue(a, Engine::kernels, 1000, 0.5), 100, 1100);
  expect_span(timeline.enqueue(b, Engine::kernels, 400, 0.5), 100, 500);
  expect_span(timeline.enqueue(c, Engine::kernels, 10, 0.25), 500, 510);
  expect_span(timeline.enqueue(b, Engine::kernels, 10, 1), 1100, 1110);
}

TEST(Timeline, LetsTheDefaultStreamAndBlockingStreamsWaitForEachOther) {
  Timeline timeline(kCosts);
  const int blocking = timeline.add_stream(true);
  const int other = timeline.add_stream(true);
  const int non_blocking = timeline.add_stream(false);
  timeline.enqueue(blocking, Engine::kernels, 1000, 0.1);
  expect_span(timeline.enqueue(0, Engine::kernels, 100, 0.1), 1100, 1200);
  expect_span(timeline.enqueue(other, Engine::kernels, 10, 0.1), 1200, 1210);
  expect_span(timeline.enqueue(non_blocking, Engine::kernels, 10, 0.1), 100, 110);
}

TEST(Timeline, RecordsEventsWhenTheDeviceHearsOfThem) {
  Timeline timeline(kCosts);
  const int a = timeline.add_stream(false);
  const int b = timeline.add_stream(false);
  EXPECT_EQ(timeline.mark(a).time, 100U) << "of an idle stream";
  timeline.enqueue(a, Engine::kernels, 1000, 0.1);
  const Moment done = timeline.mark(a);
  EXPECT_EQ(done.time, 1100U);
  timeline.wait_for(b, done);
  expect_span(timeline.enqueue(b, Engine::kernels, 10, 0.1), 1100, 1110);
  timeline.wait_for(b, {5, {}});
  EXPECT_EQ(timeline.end_of(b).time, 1110U) << "what is over is not waited for";
}

TEST(Timeline, GoesOnWithWhatIsInAStreamThatIsRemoved) {
  Timeline timeline(kCosts);
  const int stream = timeline.add_stream(false);
  timeline.enqueue(stream, Engine::kernels, 1000);
  timeline.remove_stream(stream);
  EXPECT_EQ(timeline.end_of_all().time, 1100U);
  EXPECT_NE(timeline.add_stream(false), stream);
}

/// The work that a stream's next work is behind, in these streams.
simulated::EndedWork behind(Timeline& timeline, int stream) { return timeline.begin_work(stream).behind; }

TEST(Timeline, KnowsWhatWorkIsOrderedBehind) {
  Timeline timeline(kCosts);
  const int a = timeline.add_stream(false);
  const int b = timeline.add_stream(false);
  const int blocking = timeline.add_stream(true);
  timeline.begin_work(a);
  EXPECT_EQ(behind(timeline, b), (simulated::EndedWork{})) << "the streams do not wait for each other";
  timeline.wait_for(b, timeline.mark(a));
  timeline.begin_work(a);
  EXPECT_EQ(behind(timeline, b), (simulated::EndedWork{{a, 1}, {b, 1}})) << "an event is of its time";
  EXPECT_EQ(behind(timeline, blocking), (simulated::EndedWork{}));
  EXPECT_EQ(behind(timeline, 0), (simulated::EndedWork{{blocking, 1}}));
  EXPECT_EQ(behind(timeline, blocking), (simulated::EndedWork{{0, 1}, {blocking, 1}}));
  timeline.host_waits_until(timeline.end_of(a));
  const int later = timeline.add_stream(false);
  EXPECT_EQ(behind(timeline, later), (simulated::EndedWork{{a, 2}})) << "the host has waited for it";
}

TEST(Timeline, AGraphCountsAsOneWork) {
  Timeline timeline(kCosts);
  const int stream = timeline.add_stream(false);
  const int first = timeline.next_stream();
  const Moment begin = timeline.mark(stream);
  const int node = timeline.add_stream(false);
  timeline.wait_for(node, begin);
  timeline.begin_work(node);
  const Moment end = timeline.end_of(node);
  timeline.remove_node_stream(node);
  EXPECT_EQ(timeline.graph_ends(stream, first, end), 1U);
  EXPECT_EQ(behind(timeline, stream), (simulated::EndedWork{{stream, 1}}));
}

TEST(Timeline, PutsTimeBetweenKernelsAndIntoEvents) {
  FixedCosts costs = kCosts;
  costs.between = 7;
  costs.between_nodes = 3;
  costs.event = 5;
  Timeline timeline(costs);
  expect_span(timeline.enqueue(0, Engine::kernels, 1000), 100, 1100);
  expect_span(timeline.enqueue(0, Engine::kernels, 10), 1107, 1117);
  EXPECT_EQ(timeline.mark(0).time, 1122U);
  timeline.hold(true);
  expect_span(timeline.enqueue(0, Engine::kernels, 10), 1125, 1135);
  timeline.hold(false);
  expect_span(timeline.enqueue(0, Engine::to_device, 10), 1135, 1145);
}

TEST(Timeline, AsksHowLongSomethingTakesWhereItBegins) {
  Timeline timeline(kCosts);
  timeline.enqueue(0, Engine::kernels, 1000);
  expect_span(timeline.enqueue(0, Engine::kernels, [](Nanoseconds begin) { return begin / 10; }), 1100, 1210);
}

TEST(Timeline, ByTheRealClockTheHostsTimeIsThatOfTheHost) {
  Timeline timeline(kCosts, true);
  timeline.call_begins();
  const Nanoseconds begin = timeline.now();
  timeline.host_works(1000);
  EXPECT_EQ(timeline.now(), begin + 1000) << "whoever called has to wait";
  const Timeline::Span span = timeline.enqueue(0, Engine::kernels, 3'000'000);
  EXPECT_EQ(span.begin, begin + 1000 + kCosts.start);
  timeline.host_waits_until({span.end, {}});
  wait_until(timeline.now());
  EXPECT_GE(real_now(), span.end);
  timeline.call_begins();
  EXPECT_GE(timeline.now(), span.end + kCosts.wake);
}

}  // namespace
}  // namespace convladder::stand_in
