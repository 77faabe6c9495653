// Submissions in the order they came, judged by one thread: a processor, or a GPU, that is measured serves one at a
// time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "harness/judge/serving/serve_request.hpp"
#include "harness/judge/serving/submission_judge.hpp"
#include "harness/judge/serving/verdict.hpp"

namespace convladder {

struct ServedJob {
  std::uint64_t client = 0;
  ServedSubmission submission;
  std::function<std::string(const ServedVerdict&)> answer;
  std::chrono::steady_clock::time_point came = std::chrono::steady_clock::now();
};

/// The answer to a job.
struct AnsweredJob {
  std::uint64_t client = 0;
  VerdictStatus status = VerdictStatus::ok;
  std::string line;
};

class JobQueue {
 public:
  /// The judge must outlive the queue.
  explicit JobQueue(SubmissionJudge& judge);
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;
  /// Waits for the job that is being judged.
  ~JobQueue();

  void add(ServedJob job);
  /// The answers since the last call, in order.
  std::vector<AnsweredJob> take_answers();
  /// Forgets the jobs of a client that is gone, but for one that is being judged.
  void forget(std::uint64_t client);
  /// Answers what has not been judged as cancelled, the job that is being judged included, and begins no other.
  std::vector<AnsweredJob> cancel();

  std::size_t waiting() const;
  std::size_t running() const;
  /// Bytes of the jobs that wait.
  std::size_t bytes() const;
  /// A descriptor that can be read when there are answers.
  int descriptor() const { return wake_; }

 private:
  void work();

  SubmissionJudge& judge_;
  int wake_;
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::deque<ServedJob> jobs_;
  std::vector<AnsweredJob> answers_;
  std::function<std::string(const ServedVerdict&)> answer_of_running_;  ///< null: none is being judged
  std::uint64_t running_client_ = 0;
  std::size_t bytes_ = 0;
  bool ends_ = false;
  std::thread thread_;  ///< begins last
};

}  // namespace convladder
