// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/sim_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::agents::sim {

void SimFaults::Plan() {
  SimWorld& sim = *world_.sim;
  const auto n = static_cast<std::int32_t>(sim.Pick(0, world_.num_nodes() - 1));
  const Time begin = sim.Pick(2000, world_.end - 1);
  const Time length =
      std::min(sim.Chance(0.5) ? sim.Pick(20, 3000) : sim.Pick(3000, 25'000), world_.end - begin);
  const auto at_begin = [&](auto fault) { sim.clock.After(begin, std::move(fault)); };
  const int kind = static_cast<int>(sim.Pick(0, 11));
  if (kind != 3) may_suspend_ = true;
  switch (kind) {
    case 0:  // the agent dies, at once or at one of its next acts
      return at_begin([this, n, length] { KillAgent(n, length); });
    case 1:  // the connection is lost, and comes back later
      if (n != 0) at_begin([this, n, length] { world_.links->Cut(n, length); });
      return;
    case 2:  // no packet arrives, in one direction or both
      if (n == 0) return;
      return at_begin(
          [this, n, length, where = sim.Pick(1, 3)] { world_.links->Stall(n, length, where); });
    case 3:
      return at_begin([this, n, length] { FillDisk(n, length); });
    case 4:  // a rank dies
      return at_begin([this, n] {
        if (SimRank* const rank = AnyRank(n)) KillRank(*rank);
      });
    case 5:  // a rank is stopped
      return at_begin([this, n, length] {
        SimRank* const rank = AnyRank(n);
        if (!rank) return;
        world_.sim->Note(fmt::format("the rank on {} is stopped for {} ms",
                                     ToString(rank->spec().id.device), length));
        rank->StopUntil(world_.sim->clock.now() + length);
      });
    case 6:  // all ranks die before anyone has heard of the step that they have just decided
      return at_begin([this] {
        if (world_.sim->Chance(0.5)) EndAllAgents();
        kills_at_decision_ = true;
      });
    case 7:  // the registrar dies while it tells a decision
      return at_begin([this, length] { registrar_down_ = length; });
    case 8:
      return at_begin([this, n, length] { SlowDisk(n, length); });
    case 9:  // the agent is stopped
      return at_begin([this, n, length] {
        if (!At(n).is_up()) return;
        world_.sim->Note(fmt::format("the agent of n{} is stopped for {} ms", n, length));
        At(n).process().Block(length);
      });
    case 10:  // a node is lost while state moves in rounds
      return at_begin([this, length] { loses_in_round_ = length; });
    default:  // a node is lost, and may come back
      if (n == 0 || sim.Chance(0.5)) return;
      return at_begin([this, n, length] { LoseNode(n, length); });
  }
}

void SimFaults::KillAgent(std::int32_t n, Time down) {
  if (!At(n).is_up()) return;
  SimWorld& sim = *world_.sim;
  sim.Note(fmt::format("the agent of n{} will die", n));
  deaths_[n] = {down, sim.Chance(0.3) ? sim.Pick(1, 3) : 0};
  if (sim.Chance(0.3)) return At(n).EndAgent();
  At(n).process().CrashAfter(sim.Pick(1, 60));
}

// Only memory then knows what is decided meanwhile.
void SimFaults::EndAllAgents() {
  world_.sim->Note("all agents die");
  for (std::int32_t n = 0; n < world_.num_nodes(); ++n) {
    if (!At(n).is_up()) continue;
    deaths_[n] = {world_.sim->Pick(1000, 5000), 0};
    At(n).EndAgent();
  }
}

void SimFaults::OnAgentStarted(SimNode& node) {
  Deaths& deaths = deaths_[node.number()];
  if (deaths.again == 0) return;
  --deaths.again;
  node.process().CrashAfter(world_.sim->Pick(1, 150));
}

void SimFaults::EndDeaths() {
  for (std::int32_t n = 0; n < world_.num_nodes(); ++n) {
    deaths_[n].again = 0;
    if (At(n).is_up()) At(n).process().CrashAfter(0);
  }
}

Time SimFaults::DownTime(std::int32_t n) {
  const Time usual = world_.sim->Pick(100, 400);
  const Time down = std::exchange(deaths_[n].down, 0);
  return down > 0 ? down : usual;
}

void SimFaults::NoteDisk(const MemoryStore& disk, std::int32_t n, const char* fault, Time length) {
  world_.sim->Note(fmt::format(
      "the disk of {} {} for {} ms",
      &disk == world_.registrar_disk ? "the registrar" : fmt::format("n{}", n), fault, length));
}

// A full disk refuses writes. A broken one reports an error though the row is written.
void SimFaults::FillDisk(std::int32_t n, Time length) {
  SimWorld& sim = *world_.sim;
  MemoryStore* const disk = sim.Chance(0.5) ? world_.registrar_disk : &At(n).disk;
  const bool is_full = sim.Chance(0.7);
  NoteDisk(*disk, n, is_full ? "is full" : "reports errors", length);
  if (is_full) {
    disk->refused = "";
  } else {
    disk->fails_after = [&sim] { return sim.Chance(0.3); };
  }
  sim.clock.After(length, [disk] {
    disk->refused.reset();
    disk->fails_after = nullptr;
  });
}

void SimFaults::SlowDisk(std::int32_t n, Time length) {
  SimWorld& sim = *world_.sim;
  MemoryStore* const disk = n == 0 && sim.Chance(0.5) ? world_.registrar_disk : &At(n).disk;
  NoteDisk(*disk, n, "is slow", length);
  disk->delays = [this, n] { At(n).process().Block(world_.sim->Pick(10, 1500)); };
  sim.clock.After(length, [disk] { disk->delays = nullptr; });
}

SimRank* SimFaults::AnyRank(std::int32_t n) const {
  const auto ranks = At(n).ranks();
  if (ranks.empty()) return nullptr;
  return ranks[static_cast<std::size_t>(world_.sim->Pick(0, std::ssize(ranks) - 1))];
}

void SimFaults::KillRank(SimRank& rank) {
  world_.sim->Note(fmt::format("the rank on {} is killed{}", ToString(rank.spec().id.device),
                               rank.is_updating() ? " in its update" : ""));
  // Nobody else can make the update of an own program.
  may_lose_state_ |= rank.is_updating() || !world_.is_trainer;
  rank.Kill();
}

void SimFaults::OnDecision() {
  if (!std::exchange(kills_at_decision_, false)) return;
  world_.sim->clock.After(world_.sim->Pick(0, 2), [this] {
    for (std::int32_t n = 0; n < world_.num_nodes(); ++n) {
      for (SimRank* const rank : At(n).ranks()) KillRank(*rank);
    }
  });
}

void SimFaults::OnRegisterWrite() {
  const Time down = std::exchange(registrar_down_, 0);
  if (down == 0 || !At(0).is_up()) return;
  deaths_[0] = {down, 0};
  At(0).process().CrashAfter(world_.sim->Pick(1, 12));
}

void SimFaults::OnRound() {
  if (loses_in_round_ == 0 || world_.num_nodes() < 2 || !world_.sim->Chance(0.3)) return;
  const auto n = static_cast<std::int32_t>(world_.sim->Pick(1, world_.num_nodes() - 1));
  world_.sim->clock.After(
      world_.sim->Pick(0, 300),
      [this, n, length = std::exchange(loses_in_round_, 0)] { LoseNode(n, length); });
}

void SimFaults::LoseNode(std::int32_t n, Time length) {
  if (!At(n).has_keeper()) return;
  NoteStateLoss();
  At(n).Lose();
  // With the power, a disk may lose what it has confirmed.
  if (world_.sim->Chance(0.5)) At(n).disk.LoseLast(world_.sim->Pick(1, MemoryStore::kMostLost));
  if (!world_.sim->Chance(0.6)) return;
  world_.sim->clock.After(length, [this, n] {
    world_.sim->Note(fmt::format("n{} comes back", n));
    At(n).Start();
  });
}

}  // namespace tessera::agents::sim
