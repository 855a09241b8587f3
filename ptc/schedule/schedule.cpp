// SPDX-License-Identifier: Apache-2.0
#include "ptc/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "ptc/cells.h"
#include "ptc/schedule/hops.h"
#include "ptc/schedule/messages.h"
#include "ptc/schedule/rounds.h"
#include "ptc/schedule/word_hash.h"

namespace tessera::ptc {
namespace {

/// With relays, the network and the ports inside hosts work on different rounds at the same time.
/// With this number of rounds, one waits for the other an eighth of the time.
constexpr std::int64_t kRelayRounds = 8;

/// The port of `loads` that takes longest.
PortLoad Busiest(const Loads& loads, const Sites& sites) {
  PortLoad busiest;
  const auto look = [&](const std::vector<std::int64_t>& bytes, std::string_view direction) {
    for (std::size_t port = 0; port < bytes.size(); ++port) {
      const double seconds = sites.Seconds(port, bytes[port]);
      if (seconds <= busiest.seconds) continue;
      busiest = {seconds, bytes[port], fmt::format("{} {}", sites.PortName(port), direction)};
    }
  };
  look(loads.out, "out");
  look(loads.in, "in");
  return busiest;
}

void Add(const std::vector<Drop>& drops, WordHash& hash) {
  hash.Word(std::int64_t{std::ssize(drops)});
  for (const Drop& drop : drops) {
    hash.Add(drop.device);
    hash.Word(std::int64_t{drop.tensor});
    hash.Add(drop.piece);
  }
}

void Add(const Round& round, WordHash& hash) {
  hash.Word(std::int64_t{std::ssize(round.copies)});
  for (const LocalCopy& copy : round.copies) {
    hash.Add(copy.device);
    hash.Word(std::int64_t{copy.tensor});
    hash.Add(copy.cell);
  }
  hash.Word(std::int64_t{std::ssize(round.messages)});
  for (const Message& message : round.messages) {
    hash.Add(message.source);
    hash.Add(message.destination);
    hash.Word(std::int64_t{message.step});
    hash.Word(std::int64_t{std::ssize(message.transfers)});
    for (const Transfer& transfer : message.transfers) {
      hash.Word(std::int64_t{transfer.tensor});
      hash.Add(transfer.cell);
      hash.Add(transfer.from);
      hash.Add(transfer.piece);
      hash.Word(std::int64_t{transfer.forwarded});
    }
  }
  Add(round.frees, hash);
}

std::uint64_t HashOf(const Schedule& schedule) {
  WordHash hash;
  hash.Word(schedule.plan_hash);
  Add(schedule.first_frees, hash);
  hash.Word(std::int64_t{std::ssize(schedule.rounds)});
  for (const Round& round : schedule.rounds) Add(round, hash);
  return hash.Value();
}

std::vector<Drop> DropsAt(const Plan& plan, const std::vector<std::size_t>& moves) {
  std::vector<Drop> drops;
  for (std::size_t m : moves) drops.push_back(std::get<Drop>(plan.moves[m]));
  return drops;
}

/// The schedule of these hops without the hash.
Result<Schedule> InRounds(const Plan& plan, const Layout& from, const Layout& to,
                          const Sites& sites, const std::vector<Hop>& hops,
                          const ScheduleOptions& options) {
  const bool passes_on =
      std::any_of(hops.begin(), hops.end(), [](const Hop& hop) { return hop.after.has_value(); });
  TESSERA_TRY(const Rounds rounds, MakeRounds(plan, hops, from.collection(), to.collection(), sites,
                                              {.memory_budget = options.memory_budget,
                                               .min_rounds = passes_on ? kRelayRounds : 1}));
  Schedule schedule;
  schedule.plan_hash = plan.hash;
  schedule.first_frees = DropsAt(plan, rounds.first_frees);
  Loads all(sites.num_ports());
  for (std::size_t r = 0; r < rounds.hops.size(); ++r) {
    Round& round = schedule.rounds.emplace_back();
    for (std::size_t m : rounds.copies[r]) {
      round.copies.push_back(std::get<LocalCopy>(plan.moves[m]));
    }
    round.messages = MakeMessages(hops, rounds.hops[r], sites, options.message_bytes);
    round.frees = DropsAt(plan, rounds.frees[r]);
    Loads own(sites.num_ports());
    for (std::size_t h : rounds.hops[r]) {
      const Hop& hop = hops[h];
      own.Add(sites, hop.source, hop.device, hop.bytes());
      all.Add(sites, hop.source, hop.device, hop.bytes());
      const bool is_near = sites.HostOf(hop.source) == sites.HostOf(hop.device);
      (is_near ? schedule.host_bytes : schedule.network_bytes) += hop.bytes();
    }
    round.seconds = Busiest(own, sites).seconds;
    schedule.seconds += round.seconds;
  }
  schedule.busiest = Busiest(all, sites);
  for (std::size_t d = 0; d < sites.num_devices(); ++d) {
    schedule.peak_memory[sites.Device(d)] = rounds.peak_memory[d];
  }
  return schedule;
}

}  // namespace

Result<Schedule> MakeSchedule(const Plan& plan, const Layout& from, const Layout& to,
                              const Topology& topology, const ScheduleOptions& options) {
  if (options.memory_budget < 0) {
    return InvalidArgument(fmt::format("memory budget {} is below 0", options.memory_budget));
  }
  if (options.message_bytes < 1) {
    return InvalidArgument(fmt::format("{} bytes per message are below 1", options.message_bytes));
  }
  if (plan.bytes.storage > 0) {
    return InvalidArgument(fmt::format(
        "the plan reads {} bytes from storage: a schedule covers only bytes that devices send",
        plan.bytes.storage));
  }
  const Sites sites(DevicesOf(from, to), topology);
  const std::vector<Hop> direct = DirectHops(plan, from.collection(), sites);
  auto schedule = InRounds(plan, from, to, sites, direct, options);
  if (options.relay) {
    const std::vector<Hop> hops = RelayedHops(direct, to.collection(), sites);
    auto relayed = InRounds(plan, from, to, sites, hops, options);
    // Rounds wait for each other, which may cost more time than the relays save.
    if (relayed && (!schedule || relayed->seconds <= schedule->seconds)) schedule = relayed;
  }
  if (schedule) schedule->hash = HashOf(*schedule);
  return schedule;
}

}  // namespace tessera::ptc
