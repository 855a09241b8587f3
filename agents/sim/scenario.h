// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A scenario: a simulated cluster, and what happens to it at which time. FORMAT.md has the file.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/cluster/decision_status.h"
#include "engine/cluster/snapshot.h"
#include "ptc/base/json_reader.h"
#include "ptc/mesh.h"

namespace tessera::agents::sim {

/// What can happen.
namespace act {

struct Start {
  std::string model, job;
  std::vector<ptc::DeviceId> devices;  // empty: the cluster chooses
  std::optional<ptc::MeshShape> mesh;
  std::map<std::string, std::string> settings;
  std::int64_t global_batch = 0, steps = 0;  // 0: the model's; no end
  engine::OnFailure on_failure = engine::OnFailure::kAsk;
  std::int64_t snapshot_every = 0;  // steps; 0: no snapshots
};

struct Apply {
  std::string job;
  std::vector<ptc::DeviceId> devices;
  std::optional<ptc::MeshShape> mesh;
};

struct Job {
  enum class Act : std::uint8_t { kPause, kResume, kStop } act = Act::kPause;
  std::string job;
};

struct Decide {
  std::string job;
  engine::LossChoice choice = engine::LossChoice::kContinue;
};

struct KillNode {
  std::int32_t node = 0;
};

struct StartNode {
  std::int32_t node = 0;
};

struct RestartAgent {
  std::int32_t node = 0;
};

struct AddNodes {
  std::int64_t count = 0;
};

struct FailDevice {
  ptc::DeviceId device;
};

struct Slow {
  ptc::DeviceId device;
  double factor = 1;
};

struct Cut {
  std::int32_t node = 0;
  double seconds = 0;
};

struct Port {
  std::int32_t node = 0;
  double share = 1;
};

/// What must hold then.
struct Expect {
  std::string job;
  std::optional<engine::JobState> state;
  std::optional<std::int64_t> devices, least_step;
  std::optional<ptc::MeshShape> mesh;
};

}  // namespace act

struct Scenario {
  using What = std::variant<act::Start, act::Apply, act::Job, act::Decide, act::KillNode,
                            act::StartNode, act::RestartAgent, act::AddNodes, act::FailDevice,
                            act::Slow, act::Cut, act::Port, act::Expect>;
  struct Act {
    double at = 0;  // seconds
    What what;
    int line = 0;  // of the file
  };

  std::string title;
  std::int64_t nodes = 2, devices = 4;  // devices per node
  std::string hardware = "h100";
  std::int64_t device_bytes = 0;           // 0: as the hardware has them
  std::int64_t link_bytes_per_second = 0;  // likewise
  std::int64_t seed = 1;
  /// How long the memory of new pieces takes to be present. Not in files.
  std::int64_t warm_milliseconds = 0;
  double end = 0;         // seconds
  std::vector<Act> acts;  // by time
};

/// \error kInvalidArgument `FILE:LINE: …` naming key, value and limit
Result<Scenario> ParseScenario(const NamedText& file);
std::string ToJson(const Scenario& scenario);

/// The kind of an act as its key in the file: "kill_node".
std::string KindOf(const Scenario::What& what);

}  // namespace tessera::agents::sim
