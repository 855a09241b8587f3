// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/sim_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace tessera::agents::sim {
namespace {
constexpr std::size_t kLongestNote = 900;  // of a message
constexpr std::int64_t kRemembered = 100;  // outcomes of the last transactions
}  // namespace

void SimLinks::ConnectLater(std::int32_t n, Time delay) {
  world_.sim->clock.After(delay, [this, n] { Connect(n); });
}

void SimLinks::Connect(std::int32_t n) {
  Link& link = LinkOf(n);
  if (link.is_connected || IsCut(link) || !world_.node(n).is_up() || !world_.has_registrar())
    return;
  link.is_connected = true;
  ++link.connection;
  for (const wire::FromNode& message : std::exchange(link.waiting, {})) ToRegistrar(n, message);
  world_.node(n).process().EnterLater(0, [this, n] { world_.node(n).agent().OnConnected(); });
}

void SimLinks::Disconnect(std::int32_t n) {
  Link& link = LinkOf(n);
  if (!link.is_connected) return;
  link.is_connected = false;
  ++link.connection;
  if (!world_.node(n).is_up()) return;
  world_.node(n).process().EnterLater(0, [this, n] { world_.node(n).agent().OnDisconnected(); });
}

void SimLinks::OnAgentEnded(std::int32_t n) {
  Disconnect(n);
  LinkOf(n).waiting.clear();
}

void SimLinks::Cut(std::int32_t n, Time length) {
  world_.sim->Note(fmt::format("n{} is cut off for {} ms", n, length));
  Link& link = LinkOf(n);
  link.cut_until = std::max(link.cut_until, world_.sim->clock.now() + length);
  Disconnect(n);
  world_.sim->clock.After(length, [this, n] {
    if (!IsCut(LinkOf(n))) ConnectLater(n, world_.sim->Pick(1, 1000));
  });
}

void SimLinks::Stall(std::int32_t n, Time length, Time where) {
  world_.sim->Note(fmt::format("the link of n{} stalls for {} ms ({})", n, length, where));
  const Time until = world_.sim->clock.now() + length;
  if (where & 1) LinkOf(n).node_stalls_until = until;
  if (where & 2) LinkOf(n).registrar_stalls_until = until;
}

template <typename Message>
void SimLinks::NoteMessage(const std::string& where, const Message& message) {
  const std::string text = message.ShortDebugString();
  const bool is_usual = text.find("heartbeat") != std::string::npos ||
                        text.find("step {") != std::string::npos ||
                        text.find("progress {") != std::string::npos;
  if (!is_usual) world_.sim->Note(fmt::format("  {}: {}", where, text.substr(0, kLongestNote)));
}

void SimLinks::FromNode(SimNode& node, const wire::FromNode& message) {
  Link& link = LinkOf(node.number());
  if (link.is_connected) return ToRegistrar(node.number(), message);
  link.waiting.push_back(message);  // its socket keeps it
}

void SimLinks::ToRegistrar(std::int32_t n, const wire::FromNode& message) {
  Link& link = LinkOf(n);
  Arrive(n, world_.node(n), link.arrives_at_registrar, link.registrar_stalls_until,
         [this, identity = IdentityOf(n), sent = std::make_shared<const wire::FromNode>(message)] {
           if (!world_.has_registrar()) return;
           if (world_.sim->is_traced()) NoteMessage("from " + identity, *sent);
           world_.to_registrar(identity, *sent);
         });
}

Status SimLinks::ToNode(const std::string& identity, const wire::ToNode& message) {
  const auto number = NodeOf(identity);
  if (!number || !LinkOf(*number).is_connected || IdentityOf(*number) != identity) {
    return Unavailable(identity + " is not connected");
  }
  const std::int32_t n = *number;
  Link& link = LinkOf(n);
  CheckOrder(n, message);
  Arrive(n, world_.node(0), link.arrives_at_node, link.node_stalls_until,
         [this, n, sent = std::make_shared<const wire::ToNode>(message)] {
           if (world_.sim->is_traced()) NoteMessage(fmt::format("to n{}", n), *sent);
           world_.node(n).Deliver(sent);
         });
  return OkStatus();
}

void SimLinks::CheckOrder(std::int32_t n, const wire::ToNode& m) {
  if (m.has_outcome()) {
    const std::int64_t number = m.outcome().transaction();
    outcomes_.insert({number, n});
    outcomes_.erase(outcomes_.begin(), outcomes_.lower_bound({number - kRemembered, 0}));
  }
  const std::int64_t asked = m.has_prepare()     ? m.prepare().transaction()
                             : m.has_pause_txn() ? m.pause_txn().transaction()
                             : m.has_transfer()  ? m.transfer().transaction()
                             : m.has_verify()    ? m.verify().transaction()
                                                 : 0;
  if (outcomes_.contains({asked, n})) {
    world_.sim->Violate(fmt::format("n{} is asked for transaction {} after its outcome", n, asked));
  }
}

void SimLinks::Arrive(std::int32_t n, SimNode& sender, Time& last, const Time& stalls_until,
                      const std::function<void()>& then) {
  const Time now = world_.sim->clock.now();
  if (world_.is_lossy && now < world_.faults_end && world_.sim->Chance(0.01))
    return;  // a queue was full
  const bool is_repeated = world_.is_lossy && now < world_.faults_end && world_.sim->Chance(0.01);
  // It has left its socket when the connection ends, and arrives after messages of the next one.
  const bool is_kept = world_.is_lossy && now < world_.faults_end && world_.sim->Chance(0.3);
  const Time sent = now + (sender.is_up() ? sender.process().blocked_for() : 0);
  last = std::max({last, sent + world_.sim->Pick(0, 20), stalls_until});
  world_.sim->clock.After(last - now, [this, n, connection = LinkOf(n).connection, is_repeated,
                                       is_kept, incarnation = world_.node(n).incarnation(), then] {
    const Link& link = LinkOf(n);
    const bool is_late =
        is_kept && link.is_connected && world_.node(n).incarnation() == incarnation;
    if (link.connection != connection && !is_late) return;
    then();
    if (is_repeated && link.connection == connection) then();
  });
}

std::optional<std::int32_t> SimLinks::NodeOf(const std::string& identity) const {
  std::int32_t n = -1;
  if (std::sscanf(identity.c_str(), "n%d-", &n) != 1 || n < 0 || n >= std::ssize(links_)) {
    return std::nullopt;
  }
  return n;
}

std::string SimLinks::IdentityOf(std::int32_t n) {
  return fmt::format("n{}-{}", n, world_.node(n).incarnation());
}

}  // namespace tessera::agents::sim
