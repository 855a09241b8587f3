// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What one part of a registrar needs around it, for tests of that part alone: no sockets, threads
/// or files.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/decision/embedded.h"
#include "agents/registrar/registrar_part.h"
#include "agents/sim/memory_store.h"
#include "agents/sim/process.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/history/history.h"

namespace tessera::test {

/// One process of a registrar. Its history is new; the journal outlives it.
class PartOffice {
 public:
  using Reply = std::function<void(const std::string& identity, const wire::Reply& reply)>;
  /// Receives what is sent to nodes. Only nodes that are registered in `members()` are reached.
  using Send = std::function<Status(const std::string& identity, const wire::ToNode& message)>;
  explicit PartOffice(agents::sim::MemoryStore& journal, Reply reply = {}, Send send = {})
      : history_(*engine::History::InMemory()),
        decisions_(journal),
        world_{std::move(send),
               std::move(reply),
               {},
               [this] { return sim_.wall_clock(); },
               {},
               [](const std::string&) {},
               {},
               [](const auto& work, const auto& then) {
                 work();
                 then();
               },
               decisions_,
               journal,
               *history_,
               *history_},
        publisher_(
            {
                .send = [this](const wire::Published& message) { published_.push_back(message); },
                .state = [](bool) { return engine::ClusterSnapshot(); },
                .wall_clock = [] { return 1e9; },
                .print = [](const std::string&) {},
            },
            *history_) {}

  /// It refers to this object.
  agents::RegistrarPart::Common common() {
    return {process_, config_, world_, members_, publisher_};
  }
  /// Runs what is due within `time`.
  void Pass(std::chrono::milliseconds time) {
    const agents::sim::Time end = sim_.clock.now() + time.count();
    while (sim_.clock.RunNext(end)) {
    }
  }
  agents::Membership& members() { return members_; }
  /// What subscribers have got, oldest first.
  const std::vector<wire::Published>& published() const { return published_; }
  std::vector<engine::Event> events() const { return *history_->Events(engine::EventQuery()); }
  std::vector<engine::Sample> samples(const std::string& job) const {
    return *history_->Samples(job, -1, 0);
  }
  std::size_t num_events() const { return history_->Events(engine::EventQuery())->size(); }

 private:
  std::unique_ptr<engine::History> history_;
  agents::EmbeddedRegister decisions_;
  agents::sim::SimWorld sim_{1};
  agents::sim::Process process_{sim_, [] {}};
  const agents::AgentConfig config_;
  std::vector<wire::Published> published_;
  const agents::RegistrarWorld world_;
  agents::Membership members_{std::chrono::seconds(10)};
  agents::Publisher publisher_;
};

}  // namespace tessera::test
