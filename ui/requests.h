// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The requests that commands and dialogs send to a cluster, each as a value that names the type of
/// its answer. A new request is a struct here, an entry of Request and Answer, and its translation
/// in app/requests.cpp.

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "engine/cluster/checkpoint_status.h"
#include "engine/cluster/link_speeds.h"
#include "engine/cluster/snapshot.h"
#include "engine/cluster/step_options.h"
#include "engine/search/calibration.h"
#include "ptc/mesh.h"

namespace tessera::ui {

/// The answer of a request that only acts.
struct Carried {
  friend bool operator==(const Carried&, const Carried&) = default;
};

struct DigestAnswer {
  std::string job;
  std::string digest;  // equal on every mesh
  std::int64_t step = 0, epoch = 0, timeline = 0;
  std::map<std::string, std::string> tensors = {};  // name -> digest
};
/// A running job pauses for it after its current step.
struct DigestRequest {
  using Answer = DigestAnswer;
  std::string job;
  friend bool operator==(const DigestRequest&, const DigestRequest&) = default;
};

struct LinksAnswer {
  engine::LinkSpeeds measured;  // empty: nothing was measured yet
  double host_bytes_per_second = 0, network_bytes_per_second = 0;  // that plans assume
  std::string source;                                              // of these two
};
/// The bandwidths of the links. Measuring takes at most 10 s per host; jobs continue.
struct LinksRequest {
  using Answer = LinksAnswer;
  bool measure = false;
  friend bool operator==(const LinksRequest&, const LinksRequest&) = default;
};

/// The speed of computation and collectives. Measuring uses all cores for some seconds.
struct ProbeRequest {
  using Answer = engine::Calibration;
  bool measure = false;  // false: the last result
  friend bool operator==(const ProbeRequest&, const ProbeRequest&) = default;
};

struct LogAnswer {
  std::vector<std::string> lines;  // oldest first
  std::int64_t next = 0;           // of a rank: the number of the coming line
};
/// The newest lines of the log of a node's agent, or of what a rank has printed.
struct LogRequest {
  using Answer = LogAnswer;
  std::int32_t node = 0;
  std::string job = {};     // not empty: of the rank of this job
  std::int32_t device = 0;  // on this device of the node
  std::int64_t from = 0;    // of a rank: number of the first line
  std::int64_t lines = 500;
  friend bool operator==(const LogRequest&, const LogRequest&) = default;
};

/// A configuration that `tune` has run, or tried to.
struct TuneRow {
  ptc::MeshShape mesh;
  engine::StepOptions options = {};
  std::vector<ptc::DeviceId> devices = {};
  double predicted = 0;      // seconds per step; 0: unknown
  double measured = 0;       // 0: the measurement failed
  std::string failure = {};  // why
  friend bool operator==(const TuneRow&, const TuneRow&) = default;
};
/// What `tune` does now: it runs `row`, the configuration `number` of `of`, counted from 1. Number
/// 0: the user stopped it, and the job returns to `row`.
struct TuneStep {
  std::int64_t number = 0, of = 0;
  TuneRow row = {};
  friend bool operator==(const TuneStep&, const TuneStep&) = default;
};
struct TuneAnswer {
  std::vector<TuneRow> rows;
  std::optional<TuneStep> doing = {};  // nullopt in the final answer
  std::optional<TuneRow> kept = {};    // what the job runs now; nullopt before the end
  bool stopped = false;                // by the user
};
/// Runs the configurations with the best estimates for some steps each. Progress is reported.
struct TuneRequest {
  using Answer = TuneAnswer;
  std::string job;
  std::int64_t top = 4;
  std::int64_t steps = 12;
  bool keeps_best = true;
  friend bool operator==(const TuneRequest&, const TuneRequest&) = default;
};

/// The checkpoints that the cluster has saved, newest first.
struct CheckpointsRequest {
  using Answer = std::vector<engine::CheckpointEntry>;
  std::string job = {};  // empty: of all jobs
  friend bool operator==(const CheckpointsRequest&, const CheckpointsRequest&) = default;
};
/// Answers with the removed bytes.
struct DeleteCheckpointRequest {
  using Answer = std::int64_t;
  std::string path;
  friend bool operator==(const DeleteCheckpointRequest&, const DeleteCheckpointRequest&) = default;
};
/// Replaces the state of the job by a checkpoint. Answers with what happens now.
struct LoadCheckpointRequest {
  using Answer = std::string;
  std::string job;
  std::string path;
  bool parameters_only = false;
  friend bool operator==(const LoadCheckpointRequest&, const LoadCheckpointRequest&) = default;
};

/// Limits what each node sends and receives for the transaction in progress; 0: no limit.
struct ThrottleRequest {
  using Answer = Carried;
  std::int64_t bytes_per_second = 0;
  friend bool operator==(const ThrottleRequest&, const ThrottleRequest&) = default;
};

/// Kill and Start: of an emulated cluster. GiveUp: a silent node of any cluster counts as lost.
struct NodeRequest {
  using Answer = Carried;
  enum class Act { Kill, Start, GiveUp };
  std::int32_t node = 0;
  Act act = Act::Kill;
  friend bool operator==(const NodeRequest&, const NodeRequest&) = default;
};
/// Lets a GPU of an emulated cluster fail.
struct FailDeviceRequest {
  using Answer = Carried;
  ptc::DeviceId device;
  friend bool operator==(const FailDeviceRequest&, const FailDeviceRequest&) = default;
};

/// What happens to a simulated cluster; refused by a real one.
struct SimulateRequest {
  using Answer = Carried;
  enum class Act {
    Speed,    // `value` simulated seconds per second
    Slow,     // `device` computes `value` times as long
    Cut,      // nothing reaches the node for `value` seconds
    Port,     // the port of the node has `value` of its speed
    Restart,  // of the agent of the node
    AddNodes  // `value` nodes join
  };
  Act act = Act::Speed;
  double value = 1;
  ptc::DeviceId device = {};  // or the node of this device
  friend bool operator==(const SimulateRequest&, const SimulateRequest&) = default;
};

/// What a job has been through, as the text of a scenario for a simulated cluster.
struct ScenarioRequest {
  using Answer = std::string;
  std::string job;
  friend bool operator==(const ScenarioRequest&, const ScenarioRequest&) = default;
};

struct RegistrarAnswer {
  std::int32_t node = 0;
  std::string endpoint, events;
  std::string store;            // "embedded", "etcd"
  std::int64_t generation = 0;  // 1: the registrar has never moved
  std::string problem = {};     // why nothing can be decided now; empty: it can
  struct Member {
    std::string place, version;
    bool leads = false;
    double seconds = 0;        // until it answered
    std::string problem = {};  // empty: it answers
  };
  std::vector<Member> members = {};
};
/// Where the cluster is coordinated, and where transactions are decided.
struct RegistrarRequest {
  using Answer = RegistrarAnswer;
  friend bool operator==(const RegistrarRequest&, const RegistrarRequest&) = default;
};

/// Whether the program of the job can run on the mesh, which takes as long as the program needs to
/// import its libraries. Answers with the reason why it could not be asked, or with nothing.
/// \error kFailedPrecondition with the program's reason if it cannot
struct CheckMeshRequest {
  using Answer = std::string;
  std::string job;
  ptc::MeshShape mesh = {};
  friend bool operator==(const CheckMeshRequest&, const CheckMeshRequest&) = default;
};

/// The events that tell the states of nodes, oldest first.
struct NodeEventsRequest {
  using Answer = std::vector<engine::Event>;
  std::int64_t after = 0;  // sequence number
  friend bool operator==(const NodeEventsRequest&, const NodeEventsRequest&) = default;
};

using Request =
    std::variant<DigestRequest, LinksRequest, ProbeRequest, LogRequest, TuneRequest,
                 CheckpointsRequest, DeleteCheckpointRequest, LoadCheckpointRequest,
                 ThrottleRequest, NodeRequest, FailDeviceRequest, SimulateRequest, ScenarioRequest,
                 RegistrarRequest, CheckMeshRequest, NodeEventsRequest>;
using Answer = std::variant<Carried, DigestAnswer, LinksAnswer, engine::Calibration, LogAnswer,
                            TuneAnswer, std::vector<engine::CheckpointEntry>, std::int64_t,
                            std::string, RegistrarAnswer, std::vector<engine::Event>>;

}  // namespace tessera::ui
