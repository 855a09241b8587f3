// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// An agent reduced to its rank port, for tests of the rank library.

#include <QTest>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agents/job/rank_port.h"

/// Fails with the error's text.
#define SUCCEEDS(expression)                                                                \
  do {                                                                                      \
    const auto result_of = (expression);                                                    \
    QVERIFY2(result_of.has_value(), result_of ? "" : result_of.error().ToString().c_str()); \
  } while (false)

namespace tessera::test {

using namespace tessera::agents;
using std::chrono::milliseconds;

// The reports of one rank; written on the loop, read by the test.
struct Heard {
  int attached = 0;
  std::int64_t pid = 0;
  int gone = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, Status> connected;
  std::optional<std::int64_t> paused;  // step; reset when a command is sent
  std::uint64_t request = 0;
  std::string reason;
  std::vector<RankDecision> decided;
  std::map<std::uint64_t, Status> checked;
  std::optional<std::int64_t> adopted;
};

// An agent reduced to its RankPort, with a loop and a thread of its own; can be restarted.
class Agent {
 public:
  explicit Agent(std::string path) : path_(std::move(path)) {}
  ~Agent() { Stop(); }

  std::string
      held_back;  // a key whose gets are not answered; changed only while the agent is stopped

  bool Start() {
    loop_ = std::make_unique<Loop>();
    RankPort::Handlers handlers;
    handlers.attached = [this](const RankId& id, std::int64_t pid) {
      With(id, [&](Heard& h) {
        ++h.attached;
        h.pid = pid;
      });
    };
    handlers.connected = [this](const RankId& id, std::int64_t epoch, std::int64_t attempt,
                                Status s) {
      With(id, [&](Heard& h) { h.connected.insert_or_assign({epoch, attempt}, s); });
    };
    handlers.paused = [this](const RankId& id, std::int64_t step, std::uint64_t request,
                             const std::string& reason) {
      With(id, [&](Heard& h) {
        h.paused = step;
        h.request = request;
        h.reason = reason;
      });
    };
    handlers.decided = [this](const RankId& id, const RankDecision& decision) {
      With(id, [&](Heard& h) { h.decided.push_back(decision); });
    };
    handlers.checked = [this](const RankId& id, std::uint64_t check, const Status& s) {
      With(id, [&](Heard& h) { h.checked.insert_or_assign(check, s); });
    };
    handlers.adopted = [this](const RankId& id, std::int64_t epoch) {
      With(id, [&](Heard& h) { h.adopted = epoch; });
    };
    handlers.gone = [this](const RankId& id) { With(id, [](Heard& h) { ++h.gone; }); };
    handlers.store_set = [this](const RankId&, std::int64_t epoch, std::int64_t attempt,
                                const std::string& key, const std::string& value) {
      const std::string full = Full(epoch, attempt, key);
      store_[full] = value;
      for (auto& reply : waiting_[full]) reply(value);
      waiting_.erase(full);
    };
    handlers.store_get = [this](const RankId&, std::int64_t epoch, std::int64_t attempt,
                                const std::string& key,
                                std::function<void(std::optional<std::string>)> reply) {
      if (key == held_back) return;
      const std::string full = Full(epoch, attempt, key);
      if (const auto found = store_.find(full); found != store_.end()) return reply(found->second);
      waiting_[full].push_back(std::move(reply));
    };
    handlers.problem = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      problems_.push_back(text);
    };
    auto port = RankPort::Listen(*loop_, path_, std::move(handlers), milliseconds(700));
    if (!port) return false;
    port_ = std::move(*port);
    thread_ = std::thread([this] { loop_->Run(); });
    return true;
  }
  void Stop() {
    if (!thread_.joinable()) return;
    loop_->Stop();
    thread_.join();
    waiting_.clear();
    store_.clear();
    port_.reset();
    loop_.reset();
  }
  bool Restart(milliseconds away = milliseconds(100)) {
    Stop();
    {
      const std::lock_guard lock(mutex_);
      heard_.clear();
    }
    std::this_thread::sleep_for(away);
    return Start();
  }

  // Runs `function` on the loop and waits for it.
  template <typename Function>
  auto Do(Function function) {
    std::promise<decltype(function(*port_))> done;
    loop_->Post([&] { done.set_value(function(*port_)); });
    return done.get_future().get();
  }
  Status Command(const RankId& id, RankCommand command, std::int64_t epoch = 0,
                 const RankView* view = nullptr) {
    With(id, [](Heard& h) { h.paused.reset(); });
    return Do([&](RankPort& port) { return port.SendCommand(id, command, epoch, view); });
  }
  /// Whether a rank waits for this rendezvous key.
  bool IsWanted(std::int64_t epoch, std::int64_t attempt, const std::string& key) {
    return Do([&](RankPort&) {
      const auto found = waiting_.find(Full(epoch, attempt, key));
      return found != waiting_.end() && !found->second.empty();
    });
  }
  Heard Of(const RankId& id) {
    const std::lock_guard lock(mutex_);
    return heard_[id];
  }
  std::vector<std::string> Problems() {
    const std::lock_guard lock(mutex_);
    return problems_;
  }

 private:
  static std::string Full(std::int64_t epoch, std::int64_t attempt, const std::string& key) {
    return std::to_string(epoch) + "/" + std::to_string(attempt) + "/" + key;
  }
  template <typename Function>
  void With(const RankId& id, Function function) {
    const std::lock_guard lock(mutex_);
    function(heard_[id]);
  }

  const std::string path_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<RankPort> port_;
  std::thread thread_;
  std::mutex mutex_;
  std::map<RankId, Heard> heard_;
  std::vector<std::string> problems_;
  std::map<std::string, std::string> store_;  // used on the loop only
  std::map<std::string, std::vector<std::function<void(std::optional<std::string>)>>> waiting_;
};

// The steps of the reports without immediate repeats; empty unless they ascend one by one.
inline std::vector<std::int64_t> Steps(const std::vector<RankDecision>& decided) {
  std::vector<std::int64_t> steps;
  for (const RankDecision& decision : decided) {
    if (!steps.empty() && steps.back() == decision.step) continue;
    if (!steps.empty() && steps.back() + 1 != decision.step) return {};
    steps.push_back(decision.step);
  }
  return steps;
}

}  // namespace tessera::test
