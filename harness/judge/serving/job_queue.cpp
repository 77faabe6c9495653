#include "harness/judge/serving/job_queue.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <utility>

#include "support/errors.hpp"

namespace convladder {
namespace {

constexpr std::size_t kBytesOfAJob = 1024;  // besides its source

std::size_t bytes_of(const ServedJob& job) { return job.submission.source.size() + kBytesOfAJob; }

int new_event() {
  const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) throw MachineFault("cannot make an event: " + system_error_text(errno));
  return event;
}

AnsweredJob answered(std::uint64_t client, const std::function<std::string(const ServedVerdict&)>& answer,
                     const ServedVerdict& verdict) {
  return {client, verdict.status, answer(verdict)};
}

}  // namespace

JobQueue::JobQueue(SubmissionJudge& judge) : judge_(judge), wake_(new_event()), thread_([this] { work(); }) {}

JobQueue::~JobQueue() {
  {
    const std::scoped_lock locked(lock_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
  close(wake_);
}

void JobQueue::work() {
  std::unique_lock locked(lock_);
  for (;;) {
    changed_.wait(locked, [this] { return ends_ || !jobs_.empty(); });
    if (ends_) return;
    const ServedJob job = std::move(jobs_.front());
    jobs_.pop_front();
    bytes_ -= bytes_of(job);
    running_client_ = job.client;
    answer_of_running_ = job.answer;
    locked.unlock();
    const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - job.came).count();
    ServedVerdict verdict = judge_.judge(job.submission);
    verdict.waiting_seconds = waited;
    AnsweredJob answer = answered(job.client, job.answer, verdict);
    locked.lock();
    if (std::exchange(answer_of_running_, nullptr) == nullptr) continue;  // it was cancelled
    answers_.push_back(std::move(answer));
    static_cast<void>(eventfd_write(wake_, 1));
  }
}

void JobQueue::add(ServedJob job) {
  {
    const std::scoped_lock locked(lock_);
    bytes_ += bytes_of(job);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

std::vector<AnsweredJob> JobQueue::take_answers() {
  const std::scoped_lock locked(lock_);
  eventfd_t count = 0;
  static_cast<void>(eventfd_read(wake_, &count));
  return std::exchange(answers_, {});
}

void JobQueue::forget(std::uint64_t client) {
  const std::scoped_lock locked(lock_);
  std::erase_if(jobs_, [&](const ServedJob& job) {
    if (job.client != client) return false;
    bytes_ -= bytes_of(job);
    return true;
  });
}

std::vector<AnsweredJob> JobQueue::cancel() {
  const std::scoped_lock locked(lock_);
  ServedVerdict cancelled;
  cancelled.status = VerdictStatus::cancelled;
  cancelled.reason = "the server was ended";
  std::vector<AnsweredJob> answers = std::exchange(answers_, {});
  if (const auto running = std::exchange(answer_of_running_, nullptr)) {
    answers.push_back(answered(running_client_, running, cancelled));
  }
  for (const ServedJob& job : jobs_) answers.push_back(answered(job.client, job.answer, cancelled));
  jobs_.clear();
  bytes_ = 0;
  ends_ = true;
  return answers;
}

std::size_t JobQueue::waiting() const {
  const std::scoped_lock locked(lock_);
  return jobs_.size();
}

std::size_t JobQueue::running() const {
  const std::scoped_lock locked(lock_);
  return answer_of_running_ == nullptr ? 0 : 1;
}

std::size_t JobQueue::bytes() const {
  const std::scoped_lock locked(lock_);
  return bytes_;
}

}  // namespace convladder
