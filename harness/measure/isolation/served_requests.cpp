#include "harness/measure/isolation/served_requests.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <utility>

#include "harness/measure/isolation/message_text.hpp"
#include "support/errors.hpp"

namespace convladder {

ServedRequests::ServedRequests(int socket) : socket_(socket) {
  // A case must not outlive a run that was killed, not even one that was killed before it could ask for this.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd other_end{socket, POLLRDHUP, 0};
  if (poll(&other_end, 1, 0) > 0 && (other_end.revents & (POLLRDHUP | POLLHUP)) != 0) _exit(kExitError);
}

std::optional<std::string> ServedRequests::next() {
  std::string message;
  if (socket_.receive(message, std::nullopt) != MessageSocket::Received::message) return std::nullopt;
  try {
    nonce_ = read_envelope(message).nonce;
  } catch (const InvalidMessage&) {
    return std::nullopt;
  }
  return message;
}

bool ServedRequests::answer(std::string text) {
  return socket_.send(nonce_ ? with_nonce(std::move(text), *nonce_) : text);
}

int serve_texts(int socket, const std::function<AnswerText(const std::string& hello)>& make) {
  ServedRequests requests(socket);
  const std::optional<std::string> hello = requests.next();
  if (!hello) return kExitError;
  try {
    const AnswerText answer_to = make(*hello);
    if (!answer_to) return kExitError;
    while (const std::optional<std::string> request = requests.next()) {
      if (!requests.answer(answer_to(*request))) break;
    }
  } catch (const MachineFault& fault) {
    requests.answer(machine_fault_text(fault.what()));
  } catch (const std::bad_alloc&) {
    requests.answer(machine_fault_text(out_of_memory_text()));
  }
  return kExitOk;
}

}  // namespace convladder
