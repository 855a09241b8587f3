// SPDX-License-Identifier: Apache-2.0
#include "agents/node/node_queries.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agents/keeper/child.h"
#include "agents/node/checkpoint_query.h"
#include "agents/node/doctor.h"
#include "agents/node/log_tail.h"
#include "agents/node/trainer.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/utf8.h"
#include "engine/search/calibration.h"

namespace tessera::agents {
namespace {

constexpr auto kProbeLimit = std::chrono::seconds(60);
constexpr int kPollMilliseconds = 100;
constexpr std::size_t kMaxOutput = 1 << 20;

/// The last non-empty line.
std::string LastLine(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const auto begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// Runs the probe as a child process. Its last line is the calibration.
Result<std::string> RunProbe(const std::stop_token& stop) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Unavailable(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  ChildSpec spec;
  spec.argv = {TrainerPath(), "--probe"};
  spec.environment = TrainerEnvironment();
  spec.output = ends[1];
  const Result<pid_t> child = StartChild(spec);
  ::close(ends[1]);
  if (!child) {
    ::close(ends[0]);
    return child.error();
  }
  const auto deadline = std::chrono::steady_clock::now() + kProbeLimit;
  std::string output;
  std::optional<Error> why;
  for (bool open = true; open && !why;) {
    pollfd fd{ends[0], POLLIN, 0};
    const int ready = ::poll(&fd, 1, kPollMilliseconds);
    if (ready > 0) {
      std::array<char, 4096> bytes;
      const ssize_t count = ::read(ends[0], bytes.data(), bytes.size());
      open = count > 0;
      if (open) output.append(bytes.data(), static_cast<std::size_t>(count));
    }
    if (stop.stop_requested()) why = Cancelled("the agent ends");
    if (output.size() > kMaxOutput) why = DataLoss("the probe printed more than a megabyte");
    if (std::chrono::steady_clock::now() > deadline) {
      why = Timeout(fmt::format("the probe did not end within {} s", kProbeLimit.count()));
    }
  }
  ::close(ends[0]);
  if (why) ::kill(-*child, SIGKILL);
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
  }
  if (why) return *why;
  const std::string last = LastLine(output);
  if (status != 0) {
    return Internal(
        fmt::format("the probe {}{}", DescribeExit(status), last.empty() ? "" : ": " + last));
  }
  TESSERA_RETURN_IF_ERROR(engine::ParseCalibration(last).Context("the probe's result"));
  return last;
}

wire::NodeAnswer AnswerTo(const wire::NodeQuery& query, const AgentConfig& config,
                          const LinkPort& port, const std::vector<std::string>& unreadable,
                          const std::stop_token& stop) {
  wire::NodeAnswer answer;
  answer.set_ticket(query.ticket());
  switch (query.body_case()) {
    case wire::NodeQuery::kDoctor:
      Encode(RunDoctor(config, port.net->refused_keys().All(), unreadable),
             answer.mutable_doctor());
      break;
    case wire::NodeQuery::kLog: {
      const auto lines = LogTail(config, query.log().lines());
      if (!lines) {
        answer.set_error(Utf8(lines.error().ToString()));
        break;
      }
      answer.mutable_log();
      for (const std::string& line : *lines) answer.mutable_log()->add_lines(Utf8(line));
      break;
    }
    case wire::NodeQuery::kProbe: {
      const auto calibration = RunProbe(stop);
      if (calibration) {
        answer.mutable_probe()->set_calibration(*calibration);
      } else {
        answer.set_error(Utf8(calibration.error().ToString()));
      }
      break;
    }
    case wire::NodeQuery::kLinks: {
      auto links = MeasureLinks(port, query.links(), stop);
      if (links) {
        *answer.mutable_links() = std::move(*links);
      } else {
        answer.set_error(Utf8(links.error().ToString()));
      }
      break;
    }
    case wire::NodeQuery::kCheckpoint: {
      auto done = AnswerCheckpointQuery(config, query.checkpoint());
      if (done) {
        *answer.mutable_checkpoint() = std::move(*done);
      } else {
        answer.set_error(Utf8(done.error().message));
      }
      break;
    }
    case wire::NodeQuery::kHeld:       // the agent answers it, from its table of jobs
    case wire::NodeQuery::kCheckMesh:  // a rank answers it
    case wire::NodeQuery::BODY_NOT_SET:
      answer.set_error("the query has no body that this program knows");
      break;
  }
  return answer;
}

/// Whether it only fills a list. Manifests are read for a job that loads the checkpoint.
bool OnlyExamines(const wire::CheckpointQuery& query) {
  return !query.with_manifests() && !query.has_publish() && query.remove().empty();
}

}  // namespace

NodeQueries::NodeQueries(Loop& loop, const AgentConfig& config, LinkPort port)
    : loop_(loop), config_(config), port_(std::move(port)), machine_(loop), checkpoints_(loop) {}
NodeQueries::~NodeQueries() = default;

void NodeQueries::Refuse(const wire::NodeQuery& query, std::size_t waiting,
                         const Reply& reply) const {
  wire::NodeAnswer answer;
  answer.set_ticket(query.ticket());
  answer.set_error(
      fmt::format("n{} has {} such requests to answer: try again later", config_.node, waiting));
  reply(std::move(answer));
}

void NodeQueries::Look(Looker& looker, const wire::NodeQuery& query, Reply reply) {
  if (looker.waiting == kMostLooks) return Refuse(query, kMostLooks, reply);
  ++looker.waiting;
  auto answer = std::make_shared<wire::NodeAnswer>();
  looker.worker.Run(
      [this, query, answer] { *answer = AnswerTo(query, config_, port_, unreadable_, {}); },
      [&looker, answer, reply = std::move(reply)] {
        --looker.waiting;
        reply(std::move(*answer));
      });
}

void NodeQueries::Run(const wire::NodeQuery& query, Reply reply) {
  if (query.has_log() || query.has_doctor()) return Look(machine_, query, std::move(reply));
  if (query.has_checkpoint() && OnlyExamines(query.checkpoint())) {
    return Look(checkpoints_, query, std::move(reply));
  }
  if (running_.size() == kMostThreads) return Refuse(query, kMostThreads, reply);
  const bool probes = query.has_probe();
  if (probes && probing_) {
    wire::NodeAnswer answer;
    answer.set_ticket(query.ticket());
    answer.set_error("a probe is running already");
    return reply(std::move(answer));
  }
  probing_ = probing_ || probes;
  const std::uint64_t run = ++last_run_;
  running_.emplace(run, std::jthread([this, run, query, probes, reply = std::move(reply)](
                                         const std::stop_token& stop) mutable {
                     auto answer = std::make_shared<wire::NodeAnswer>(
                         AnswerTo(query, config_, port_, unreadable_, stop));
                     if (stop.stop_requested()) return;
                     loop_.Post([this, run, probes, answer, reply = std::move(reply)] {
                       running_.erase(run);
                       if (probes) probing_ = false;
                       reply(std::move(*answer));
                     });
                   }));
}

}  // namespace tessera::agents
