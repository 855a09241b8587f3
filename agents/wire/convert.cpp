// SPDX-License-Identifier: Apache-2.0
#include "agents/wire/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "agents/wire/tessera/wire/checkpoint.pb.h"
#include "agents/wire/tessera/wire/history.pb.h"
#include "agents/wire/tessera/wire/plan.pb.h"
#include "agents/wire/tessera/wire/query.pb.h"
#include "agents/wire/tessera/wire/snapshot.pb.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {
namespace {

constexpr std::int64_t kMaxDegree = 65536;  // as ptc::ParseMeshShape

/// The fields of message M, listed once for both directions:
///   Value           the plain value
///   kName           names the message in errors
///   Copy(v, m)      copies the fields of v into m, or out of a constant m into v with checks
template <typename M>
struct Fields;

/// Whether a Copy with a message of type `M&` encodes.
template <typename M>
constexpr bool kEncodes = !std::is_const_v<std::remove_reference_t<M>>;

template <typename M>
void Put(const typename Fields<M>::Value& value, M* out) {
  out->Clear();
  static_cast<void>(Fields<M>::Copy(value, *out));  // only decoding can fail
}

template <typename M>
Result<typename Fields<M>::Value> Get(const M& in) {
  typename Fields<M>::Value value;
  TESSERA_RETURN_IF_ERROR(Fields<M>::Copy(value, in));
  return value;
}

// The checks of a decoded field.

Status Any(std::string_view /*message*/, std::string_view /*field*/, const auto& /*value*/) {
  return OkStatus();
}

Status NotNegative(std::string_view message, std::string_view field, auto value) {
  if (value >= 0) return OkStatus();
  return InvalidArgument(fmt::format("{}.{} {} is below 0", message, field, std::to_string(value)));
}

Status Finite(std::string_view message, std::string_view field, double value) {
  if (std::isfinite(value)) return OkStatus();
  return InvalidArgument(
      fmt::format("{}.{} {} is not finite", message, field, std::to_string(value)));
}

/// Finite and not negative.
Status Amount(std::string_view message, std::string_view field, double value) {
  TESSERA_RETURN_IF_ERROR(Finite(message, field, value));
  return NotNegative(message, field, value);
}

template <auto kLast>
Status UpTo(std::string_view message, std::string_view field, std::uint32_t value) {
  if (value <= static_cast<std::uint32_t>(kLast)) return OkStatus();
  return InvalidArgument(fmt::format("{} {} {} is above the last known one, {}", message, field,
                                     value, static_cast<std::uint32_t>(kLast)));
}

template <typename T>
auto ToWire(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return Utf8(value);
  } else {
    return value;
  }
}

template <typename T>
void FromWire(const auto& in, T& value) {
  if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(in);
  } else {
    value = in;
  }
}

// One field with the same name in value `v` and message `m`, for use in Fields::Copy.

/// A number, a flag, a text or an enum.
#define TESSERA_FIELD(check, field)                           \
  if constexpr (kEncodes<decltype(m)>) {                      \
    m.set_##field(ToWire(v.field));                           \
  } else {                                                    \
    TESSERA_RETURN_IF_ERROR(check(kName, #field, m.field())); \
    FromWire(m.field(), v.field);                             \
  }                                                           \
  static_assert(true)
/// The same for a std::optional.
#define TESSERA_OPTIONAL(check, field)                        \
  if constexpr (kEncodes<decltype(m)>) {                      \
    if (v.field) m.set_##field(*v.field);                     \
  } else if (m.has_##field()) {                               \
    TESSERA_RETURN_IF_ERROR(check(kName, #field, m.field())); \
    v.field = m.field();                                      \
  }                                                           \
  static_assert(true)
#define TESSERA_MESSAGE(field)            \
  if constexpr (kEncodes<decltype(m)>) {  \
    Put(v.field, m.mutable_##field());    \
  } else {                                \
    TESSERA_TRY(v.field, Get(m.field())); \
  }                                       \
  static_assert(true)
/// A message that may be absent, in a std::optional.
#define TESSERA_OPTIONAL_MESSAGE(field)              \
  if constexpr (kEncodes<decltype(m)>) {             \
    if (v.field) Put(*v.field, m.mutable_##field()); \
  } else if (m.has_##field()) {                      \
    TESSERA_TRY(v.field, Get(m.field()));            \
  }                                                  \
  static_assert(true)
/// A repeated message.
#define TESSERA_LIST(field)                                      \
  if constexpr (kEncodes<decltype(m)>) {                         \
    for (const auto& item : v.field) Put(item, m.add_##field()); \
  } else {                                                       \
    v.field.reserve(static_cast<std::size_t>(m.field().size())); \
    for (const auto& item : m.field()) {                         \
      TESSERA_TRY(auto value, Get(item));                        \
      v.field.push_back(std::move(value));                       \
    }                                                            \
  }                                                              \
  static_assert(true)

template <>
struct Fields<wire::Device> {
  using Value = ptc::DeviceId;
  static constexpr std::string_view kName = "device";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(NotNegative, node);
    TESSERA_FIELD(NotNegative, index);
    return OkStatus();
  }
};

template <>
struct Fields<wire::SurvivalInfo> {
  using Value = engine::Survival;
  static constexpr std::string_view kName = "survival";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(NotNegative, node);
    TESSERA_FIELD(NotNegative, bytes);
    return OkStatus();
  }
};

template <>
struct Fields<wire::Mesh> {
  using Value = ptc::MeshShape;
  static Status Copy(const ptc::MeshShape& v, wire::Mesh& m) {
    for (const std::int64_t size : v.sizes) m.add_sizes(size);
    return OkStatus();
  }
  static Status Copy(ptc::MeshShape& v, const wire::Mesh& m) {
    if (m.sizes_size() != ptc::kNumAxes) {
      return InvalidArgument(
          fmt::format("mesh has {} degrees, not {}", m.sizes_size(), ptc::kNumAxes));
    }
    for (const std::int64_t size : m.sizes()) {
      if (size < 1 || size > kMaxDegree) {
        return InvalidArgument(
            fmt::format("mesh degree {} is not between 1 and {}", size, kMaxDegree));
      }
    }
    std::copy(m.sizes().begin(), m.sizes().end(), v.sizes.begin());
    return OkStatus();
  }
};

template <>
struct Fields<wire::StepOptions> {
  using Value = engine::StepOptions;
  static constexpr std::string_view kName = "options";
  static Status Copy(auto& v, auto& m) {
    // Users read this field's name in messages of the command line.
    [[maybe_unused]] const auto check = [](std::string_view, std::string_view,
                                           std::int64_t value) -> Status {
      if (value >= 0) return OkStatus();
      return InvalidArgument(fmt::format("micro-batch {} is below 0", value));
    };
    TESSERA_FIELD(Any, zero);
    TESSERA_FIELD(check, micro_batch);
    return OkStatus();
  }
};

template <>
struct Fields<wire::FlowInfo> {
  using Value = engine::FlowStatus;
  static constexpr std::string_view kName = "flow";
  static Status Copy(auto& v, auto& m) {
    TESSERA_MESSAGE(source);
    TESSERA_MESSAGE(destination);
    TESSERA_FIELD(NotNegative, bytes_done);
    TESSERA_FIELD(NotNegative, bytes_total);
    TESSERA_FIELD(Finite, bytes_per_second);
    TESSERA_FIELD(UpTo<engine::FlowState::kDone>, state);
    TESSERA_FIELD(Any, reason);
    return OkStatus();
  }
};

template <>
struct Fields<wire::DeviceInfo> {
  using Value = engine::DeviceStatus;
  static constexpr std::string_view kName = "device";
  static Status Copy(auto& v, auto& m) {
    TESSERA_MESSAGE(id);
    TESSERA_FIELD(NotNegative, used_bytes);
    TESSERA_FIELD(NotNegative, total_bytes);
    TESSERA_FIELD(Any, job);
    TESSERA_OPTIONAL(NotNegative, rank);
    TESSERA_FIELD(Any, joining);
    TESSERA_FIELD(Any, failed);
    TESSERA_FIELD(NotNegative, pieces);
    TESSERA_FIELD(NotNegative, parameter_bytes);
    TESSERA_FIELD(NotNegative, optimizer_bytes);
    TESSERA_FIELD(Amount, busy_seconds);
    TESSERA_FIELD(Amount, peers_seconds);
    return OkStatus();
  }
};

template <>
struct Fields<wire::NetworkFaults> {
  using Value = engine::NetworkFaults;
  static constexpr std::string_view kName = "node.network";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(NotNegative, malformed);
    TESSERA_FIELD(NotNegative, not_admitted);
    TESSERA_FIELD(NotNegative, dropped);
    TESSERA_FIELD(NotNegative, corrupt);
    TESSERA_FIELD(NotNegative, switched);
    TESSERA_FIELD(NotNegative, connections_closed);
    return OkStatus();
  }
};

template <>
struct Fields<wire::NodeInfo> {
  using Value = engine::NodeStatus;
  static constexpr std::string_view kName = "node";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(NotNegative, node);
    TESSERA_FIELD(UpTo<engine::NodeState::kLeft>, state);
    TESSERA_FIELD(Finite, last_seen);
    TESSERA_LIST(devices);
    TESSERA_FIELD(Any, host);
    TESSERA_FIELD(Any, address);
    TESSERA_FIELD(Any, version);
    TESSERA_FIELD(NotNegative, view_bytes);
    TESSERA_MESSAGE(network);
    TESSERA_FIELD(Any, rack);
    TESSERA_FIELD(Any, gpu);
    TESSERA_FIELD(Any, gpu_driver);
    TESSERA_FIELD(Any, problem);
    return OkStatus();
  }
};

template <>
struct Fields<wire::DataPart> {
  using Value = engine::DataStatus::Dataset;
  static constexpr std::string_view kName = "job.data.part";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(Any, name);
    TESSERA_FIELD(Any, format);
    TESSERA_FIELD(NotNegative, num_samples);
    TESSERA_FIELD(Amount, weight);
    return OkStatus();
  }
};

template <>
struct Fields<wire::DataInfo> {
  using Value = engine::DataStatus;
  static constexpr std::string_view kName = "job.data";
  static Status Copy(auto& v, auto& m) {
    TESSERA_LIST(parts);
    TESSERA_FIELD(NotNegative, num_samples);
    TESSERA_FIELD(NotNegative, sequence);
    TESSERA_FIELD(Any, seed);
    return OkStatus();
  }
};

template <>
struct Fields<wire::RecoveryInfo> {
  using Value = engine::RecoveryWay;
  static constexpr std::string_view kName = "job.decision.way";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(UpTo<engine::RecoverySource::kCheckpoint>, source);
    TESSERA_MESSAGE(mesh);
    TESSERA_LIST(devices);
    TESSERA_MESSAGE(options);
    TESSERA_FIELD(NotNegative, moved_bytes);
    TESSERA_OPTIONAL(Amount, seconds);
    TESSERA_OPTIONAL(Amount, step_seconds);
    TESSERA_OPTIONAL_MESSAGE(survival);
    TESSERA_FIELD(NotNegative, step);
    TESSERA_FIELD(NotNegative, steps_lost);
    TESSERA_FIELD(Any, checkpoint);
    return OkStatus();
  }
};

template <>
struct Fields<wire::LayerRange> {
  using Value = engine::LayerRange;
  static constexpr std::string_view kName = "job.decision.layers";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(NotNegative, first);
    TESSERA_FIELD(NotNegative, last);
    return OkStatus();
  }
};

template <>
struct Fields<wire::DecisionInfo> {
  using Value = engine::DecisionStatus;
  static constexpr std::string_view kName = "job.decision";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(UpTo<engine::LossCase::kCheckpointOnly>, loss);
    TESSERA_LIST(lost);
    TESSERA_FIELD(Any, reason);
    if constexpr (kEncodes<decltype(m)>) {
      if (v.chosen) m.set_chosen(ToWire(*v.chosen));
      for (const std::string& range : v.missing) m.add_missing(Utf8(range));
      for (const std::string& tensor : v.missing_others) m.add_missing_others(Utf8(tensor));
    } else {
      if (m.has_chosen()) {
        TESSERA_TRY(v.chosen, DecodeLossChoice(m.chosen()));
      }
      v.missing.assign(m.missing().begin(), m.missing().end());
      v.missing_others.assign(m.missing_others().begin(), m.missing_others().end());
    }
    TESSERA_OPTIONAL(Amount, seconds_left);
    TESSERA_FIELD(Any, why_not);
    TESSERA_LIST(ways);
    TESSERA_LIST(awaited);
    TESSERA_FIELD(NotNegative, missing_bytes);
    TESSERA_LIST(missing_layers);
    return OkStatus();
  }
};

template <>
struct Fields<wire::SnapshotEvery> {
  using Value = engine::SnapshotEvery;
  static constexpr std::string_view kName = "snapshots";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(NotNegative, steps);
    TESSERA_FIELD(NotNegative, seconds);
    return CheckSnapshotEvery(v);
  }
};

template <>
struct Fields<wire::OverlapInfo> {
  using Value = engine::OverlapPlan;
  static constexpr std::string_view kName = "overlap";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(Any, chosen);
    TESSERA_FIELD(Finite, plain_pause);
    TESSERA_FIELD(Finite, pause);
    TESSERA_FIELD(NotNegative, gradient_bytes);
    TESSERA_FIELD(NotNegative, follow_bytes);
    TESSERA_FIELD(NotNegative, steps);
    TESSERA_FIELD(Any, why);
    return OkStatus();
  }
};

template <>
struct Fields<wire::SnapshotMemory> {
  using Value = engine::SnapshotMemory;
  static constexpr std::string_view kName = "snapshots.memory";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(NotNegative, bytes);
    TESSERA_FIELD(NotNegative, num_nodes);
    TESSERA_FIELD(NotNegative, peak_bytes);
    TESSERA_FIELD(Any, peak_node);
    return OkStatus();
  }
};

template <>
struct Fields<wire::SnapshotsInfo> {
  using Value = engine::SnapshotStatus;
  static constexpr std::string_view kName = "job.snapshots";
  static Status Copy(auto& v, auto& m) {
    TESSERA_MESSAGE(every);
    TESSERA_OPTIONAL(NotNegative, step);
    TESSERA_FIELD(NotNegative, bytes);
    TESSERA_FIELD(NotNegative, num_nodes);
    TESSERA_FIELD(NotNegative, taken);
    TESSERA_FIELD(NotNegative, given_up);
    TESSERA_FIELD(Amount, seconds);
    TESSERA_FIELD(Any, problem);
    TESSERA_MESSAGE(forecast);
    return OkStatus();
  }
};

template <>
struct Fields<wire::CheckpointsInfo> {
  using Value = engine::CheckpointStatus;
  static constexpr std::string_view kName = "job.checkpoints";
  static Status Copy(auto& v, auto& m) {
    if constexpr (kEncodes<decltype(m)>) {
      Put(v.schedule.every, m.mutable_every());
      m.set_folder(Utf8(v.schedule.folder));
      m.set_keep(static_cast<std::int32_t>(v.schedule.keep));
    } else {
      TESSERA_TRY(v.schedule.every, Get(m.every()));
      v.schedule.folder = m.folder();
      v.schedule.keep = m.keep();
    }
    TESSERA_OPTIONAL(NotNegative, step);
    TESSERA_FIELD(Any, path);
    TESSERA_FIELD(NotNegative, count);
    TESSERA_FIELD(Any, is_saving);
    TESSERA_FIELD(NotNegative, done);
    TESSERA_FIELD(NotNegative, total);
    TESSERA_FIELD(NotNegative, failed);
    TESSERA_FIELD(Any, problem);
    return OkStatus();
  }
};

template <>
struct Fields<wire::CheckpointInfo> {
  using Value = engine::CheckpointEntry;
  static constexpr std::string_view kName = "checkpoint";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(Any, path);
    TESSERA_FIELD(Any, job);
    TESSERA_FIELD(NotNegative, step);
    TESSERA_FIELD(NotNegative, timeline);
    TESSERA_FIELD(NotNegative, bytes);
    TESSERA_FIELD(Any, model);
    TESSERA_FIELD(Any, mesh);
    TESSERA_FIELD(Any, digest);
    TESSERA_FIELD(Finite, created);
    TESSERA_FIELD(Any, problem);
    TESSERA_FIELD(Any, scheduled);
    return OkStatus();
  }
};

/// The field `metrics`, whose values may be NaN or infinite.
Status CopyMetrics(const engine::Metrics& metrics, auto& message) {
  for (const auto& [name, value] : metrics) (*message.mutable_metrics())[name] = value;
  return OkStatus();
}
Status CopyMetrics(engine::Metrics& metrics, const auto& message) {
  metrics.insert(message.metrics().begin(), message.metrics().end());
  return engine::CheckMetrics(metrics);
}

template <>
struct Fields<wire::JobInfo> {
  using Value = engine::JobStatus;
  static constexpr std::string_view kName = "job";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(Any, name);
    TESSERA_FIELD(Any, model);
    TESSERA_FIELD(UpTo<engine::JobState::kUnknown>, state);
    TESSERA_FIELD(Any, reason);
    TESSERA_FIELD(NotNegative, step);
    TESSERA_OPTIONAL(Any, loss);  // a diverged loss is NaN and is shown as such
    TESSERA_OPTIONAL(Any, tokens_per_second);
    TESSERA_MESSAGE(mesh);
    TESSERA_LIST(devices);
    TESSERA_FIELD(NotNegative, epoch);
    TESSERA_FIELD(NotNegative, timeline);
    TESSERA_FIELD(Any, layout_hash);
    TESSERA_FIELD(NotNegative, global_batch);
    TESSERA_FIELD(NotNegative, num_tensors);
    TESSERA_FIELD(NotNegative, state_bytes);
    TESSERA_FIELD(NotNegative, max_steps);
    TESSERA_MESSAGE(options);
    TESSERA_OPTIONAL(Amount, step_seconds);
    TESSERA_FIELD(Any, command);
    if (kEncodes<decltype(m)> ? !v.data.empty() : m.has_data()) {
      TESSERA_MESSAGE(data);
    }
    TESSERA_FIELD(Any, at_change);
    TESSERA_FIELD(UpTo<engine::OnFailure::kWait>, on_failure);
    TESSERA_MESSAGE(snapshots);
    TESSERA_MESSAGE(checkpoints);
    TESSERA_RETURN_IF_ERROR(CopyMetrics(v.metrics, m));
    TESSERA_OPTIONAL_MESSAGE(decision);
    TESSERA_OPTIONAL_MESSAGE(survival);
    TESSERA_FIELD(Any, starts_again);
    TESSERA_FIELD(Any, finished);
    TESSERA_FIELD(Amount, started);
    TESSERA_FIELD(Any, owner);
    TESSERA_FIELD(NotNegative, origin);
    return OkStatus();
  }
};

template <>
struct Fields<wire::TxnInfo> {
  using Value = engine::TxnStatus;
  static constexpr std::string_view kName = "transaction";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(NotNegative, id);
    TESSERA_FIELD(Any, job);
    TESSERA_FIELD(UpTo<engine::TxnPhase::kInDoubt>, phase);
    TESSERA_MESSAGE(from_mesh);
    TESSERA_MESSAGE(to_mesh);
    TESSERA_LIST(from_devices);
    TESSERA_LIST(to_devices);
    TESSERA_FIELD(NotNegative, bytes_done);
    TESSERA_FIELD(NotNegative, bytes_total);
    TESSERA_OPTIONAL(Finite, eta);
    TESSERA_OPTIONAL(Finite, eta_least);
    TESSERA_OPTIONAL(Finite, eta_most);
    TESSERA_FIELD(Finite, paused);
    TESSERA_FIELD(NotNegative, checksums_equal);
    TESSERA_FIELD(Any, reason);
    TESSERA_LIST(flows);
    TESSERA_FIELD(Any, can_cancel);
    TESSERA_MESSAGE(from_options);
    TESSERA_MESSAGE(to_options);
    TESSERA_FIELD(NotNegative, throttle);
    TESSERA_FIELD(NotNegative, gradients_done);
    TESSERA_FIELD(NotNegative, round);
    TESSERA_FIELD(NotNegative, rounds);
    TESSERA_FIELD(NotNegative, leg);
    TESSERA_FIELD(NotNegative, legs);
    TESSERA_FIELD(UpTo<engine::ChangeKind::kBegin>, kind);
    TESSERA_FIELD(Any, rests);
    TESSERA_FIELD(NotNegative, step);
    return OkStatus();
  }
};

template <>
struct Fields<wire::OperatorLease> {
  using Value = engine::OperatorLease;
  static constexpr std::string_view kName = "lease";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(Any, panel);
    TESSERA_FIELD(Any, who);
    TESSERA_FIELD(Finite, since);
    return OkStatus();
  }
};

template <>
struct Fields<wire::SimulationInfo> {
  using Value = engine::SimulationStatus;
  static constexpr std::string_view kName = "simulation";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(Any, hardware);
    TESSERA_FIELD(Finite, speed);
    TESSERA_FIELD(Finite, reached);
    TESSERA_FIELD(Any, seed);
    return OkStatus();
  }
};

template <>
struct Fields<wire::Snapshot> {
  using Value = engine::ClusterSnapshot;
  static constexpr std::string_view kName = "snapshot";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(Any, cluster);
    TESSERA_FIELD(NotNegative, sequence);
    TESSERA_FIELD(Finite, link_bytes_per_second);
    TESSERA_FIELD(Any, one_host);
    TESSERA_LIST(nodes);
    TESSERA_LIST(jobs);
    if constexpr (kEncodes<decltype(m)>) {
      if (v.transaction) Put(*v.transaction, m.mutable_transaction());
    } else if (m.has_transaction()) {
      TESSERA_TRY(v.transaction, Get(m.transaction()));
    }
    TESSERA_FIELD(Any, history_problem);
    TESSERA_FIELD(Any, plain_lanes);
    if constexpr (kEncodes<decltype(m)>) {
      if (v.lease) Put(*v.lease, m.mutable_lease());
    } else if (m.has_lease()) {
      TESSERA_TRY(v.lease, Get(m.lease()));
    }
    if constexpr (kEncodes<decltype(m)>) {
      if (v.simulation) Put(*v.simulation, m.mutable_simulation());
    } else if (m.has_simulation()) {
      TESSERA_TRY(v.simulation, Get(m.simulation()));
    }
    TESSERA_FIELD(Finite, time);
    return OkStatus();
  }
};

template <>
struct Fields<wire::SnapshotChange> {
  using Value = engine::SnapshotChange;
  static constexpr std::string_view kName = "change";
  static Status Copy(auto& v, auto& m) {
    TESSERA_MESSAGE(rows);
    if constexpr (kEncodes<decltype(m)>) {
      for (const std::string& name : v.jobs) m.add_jobs(Utf8(name));
      for (const std::string& name : v.same_devices) m.add_same_devices(Utf8(name));
    } else {
      v.jobs.assign(m.jobs().begin(), m.jobs().end());
      v.same_devices.insert(m.same_devices().begin(), m.same_devices().end());
    }
    TESSERA_FIELD(Any, same_transaction);
    TESSERA_FIELD(Any, transaction_goes_on);
    return OkStatus();
  }
};

/// The field `note`.
Status CopyNote(const std::optional<engine::NodeNote>& note, auto& message) {
  if (note) message.set_note(ToString(*note));
  return OkStatus();
}
Status CopyNote(std::optional<engine::NodeNote>& note, const auto& message) {
  if (message.note().empty()) return OkStatus();
  TESSERA_TRY(note, engine::ParseNodeNote(message.note()));
  return OkStatus();
}

template <>
struct Fields<wire::EventInfo> {
  using Value = engine::Event;
  static constexpr std::string_view kName = "event";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(NotNegative, sequence);
    TESSERA_FIELD(Finite, time);
    TESSERA_FIELD(UpTo<engine::Severity::kError>, severity);
    TESSERA_FIELD(Any, source);
    TESSERA_FIELD(Any, text);
    return CopyNote(v.note, m);
  }
};

template <>
struct Fields<wire::SampleInfo> {
  using Value = engine::Sample;
  static constexpr std::string_view kName = "sample";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(Any, job);
    TESSERA_FIELD(NotNegative, step);
    TESSERA_FIELD(Any, loss);
    TESSERA_FIELD(Any, grad_norm);
    TESSERA_FIELD(Any, tokens_per_second);
    TESSERA_FIELD(Finite, time);
    TESSERA_FIELD(Any, sequence);
    TESSERA_FIELD(NotNegative, origin);
    return CopyMetrics(v.metrics, m);
  }
};

template <>
struct Fields<wire::PlanCertificate> {
  using Value = engine::PlanCertificate;
  static constexpr std::string_view kName = "plan.certificate";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(Any, port);
    TESSERA_FIELD(NotNegative, port_bytes);
    TESSERA_FIELD(Amount, port_seconds);
    TESSERA_FIELD(NotNegative, direct_bound);
    TESSERA_FIELD(Amount, direct_seconds);
    TESSERA_FIELD(NotNegative, relayed_bound);
    TESSERA_FIELD(Amount, relayed_seconds);
    TESSERA_FIELD(NotNegative, network_bound);
    TESSERA_FIELD(NotNegative, single_source_bytes);
    TESSERA_FIELD(Amount, host_bytes_per_second);
    TESSERA_FIELD(Amount, network_bytes_per_second);
    TESSERA_FIELD(Any, bandwidths_from);
    return OkStatus();
  }
};

template <>
struct Fields<wire::ExtraMemory> {
  using Value = engine::ExtraMemory;
  static constexpr std::string_view kName = "in_rounds.extra";
  static Status Copy(auto& v, auto& m) {
    TESSERA_MESSAGE(device);
    TESSERA_FIELD(NotNegative, planned);
    TESSERA_FIELD(NotNegative, measured);
    return OkStatus();
  }
};

template <>
struct Fields<wire::RoundsInfo> {
  using Value = engine::MoveInRounds;
  static constexpr std::string_view kName = "in_rounds";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(NotNegative, move_memory);
    TESSERA_FIELD(NotNegative, rounds);
    TESSERA_LIST(extra);
    return OkStatus();
  }
};

template <>
struct Fields<wire::PlanInfo::Peak> {
  using Value = engine::PlanSummary::Peak;
  static constexpr std::string_view kName = "plan.peak_memory";
  static Status Copy(auto& v, auto& m) {
    TESSERA_MESSAGE(device);
    TESSERA_FIELD(NotNegative, bytes);
    TESSERA_FIELD(NotNegative, capacity);
    return OkStatus();
  }
};

template <>
struct Fields<wire::PlanInfo> {
  using Value = engine::PlanSummary;
  static constexpr std::string_view kName = "plan";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(Any, job);
    TESSERA_FIELD(NotNegative, epoch);
    TESSERA_FIELD(Any, from_layout_hash);
    TESSERA_MESSAGE(from_mesh);
    TESSERA_MESSAGE(to_mesh);
    TESSERA_LIST(from_devices);
    TESSERA_LIST(to_devices);
    TESSERA_FIELD(Any, hash);
    TESSERA_FIELD(NotNegative, kept);
    TESSERA_FIELD(NotNegative, device);
    TESSERA_FIELD(NotNegative, host);
    TESSERA_FIELD(NotNegative, network);
    TESSERA_FIELD(NotNegative, snapshot);
    TESSERA_FIELD(NotNegative, storage);
    TESSERA_FIELD(Any, relayed);
    TESSERA_FIELD(NotNegative, network_direct);
    TESSERA_FIELD(NotNegative, volume_bound);
    TESSERA_MESSAGE(certificate);
    TESSERA_LIST(idle);
    TESSERA_LIST(peak_memory);
    TESSERA_FIELD(NotNegative, single_source);
    TESSERA_FIELD(Finite, pause_estimate);
    TESSERA_FIELD(Any, rollback);
    TESSERA_LIST(flows);
    TESSERA_FIELD(NotNegative, global_batch);
    TESSERA_FIELD(Any, why);
    TESSERA_MESSAGE(from_options);
    TESSERA_MESSAGE(to_options);
    TESSERA_OPTIONAL(Amount, from_step_seconds);
    TESSERA_OPTIONAL(Amount, to_step_seconds);
    TESSERA_MESSAGE(snapshots);
    TESSERA_OPTIONAL_MESSAGE(survival);
    TESSERA_MESSAGE(overlap);
    TESSERA_MESSAGE(in_rounds);
    return OkStatus();
  }
};

template <>
struct Fields<wire::HistoryInfo> {
  using Value = engine::HistoryEntry;
  static constexpr std::string_view kName = "history";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(NotNegative, id);
    TESSERA_FIELD(Any, job);
    TESSERA_FIELD(Any, from);
    TESSERA_FIELD(Any, to);
    TESSERA_FIELD(Finite, started);
    TESSERA_FIELD(Any, result);
    TESSERA_FIELD(Any, reason);
    if constexpr (kEncodes<decltype(m)>) {
      for (const auto& [phase, seconds] : v.phases) (*m.mutable_phases())[Utf8(phase)] = seconds;
    } else {
      for (const auto& [phase, seconds] : m.phases()) {
        TESSERA_RETURN_IF_ERROR(Finite(kName, "phases", seconds));
        v.phases[phase] = seconds;
      }
    }
    TESSERA_FIELD(Finite, pause);
    TESSERA_FIELD(NotNegative, bytes_moved);
    TESSERA_FIELD(NotNegative, volume_bound);
    TESSERA_FIELD(Any, digest_before);
    TESSERA_FIELD(Any, digest_after);
    TESSERA_FIELD(NotNegative, step);
    TESSERA_FIELD(NotNegative, epoch);
    TESSERA_MESSAGE(from_options);
    TESSERA_MESSAGE(to_options);
    TESSERA_FIELD(Any, requester);
    TESSERA_FIELD(NotNegative, kept);
    TESSERA_FIELD(NotNegative, device);
    TESSERA_FIELD(NotNegative, host);
    TESSERA_FIELD(NotNegative, network);
    TESSERA_FIELD(Finite, pause_estimate);
    TESSERA_LIST(flows);
    TESSERA_MESSAGE(in_rounds);
    TESSERA_FIELD(NotNegative, gradients_planned);
    TESSERA_FIELD(NotNegative, gradients_moved);
    TESSERA_FIELD(NotNegative, origin);
    TESSERA_FIELD(UpTo<engine::ChangeKind::kBegin>, kind);
    TESSERA_OPTIONAL(Finite, gap);
    return OkStatus();
  }
};

template <>
struct Fields<wire::CandidateInfo> {
  using Value = engine::Candidate;
  static constexpr std::string_view kName = "candidate";
  static Status Copy(auto& v, auto& m) {
    TESSERA_MESSAGE(mesh);
    TESSERA_MESSAGE(options);
    TESSERA_LIST(devices);
    TESSERA_LIST(idle);
    TESSERA_FIELD(Amount, step_seconds);
    TESSERA_FIELD(Amount, pause_seconds);
    TESSERA_FIELD(NotNegative, moved_bytes);
    TESSERA_FIELD(NotNegative, peak_bytes);
    TESSERA_FIELD(NotNegative, capacity);
    TESSERA_FIELD(Any, current);
    TESSERA_FIELD(Any, recommended);
    TESSERA_FIELD(Any, fastest);
    TESSERA_FIELD(Any, moves_least);
    TESSERA_OPTIONAL_MESSAGE(survival);
    return OkStatus();
  }
};

template <>
struct Fields<wire::ProposeReply> {
  using Value = engine::Proposal;
  static constexpr std::string_view kName = "proposal";
  static Status Copy(auto& v, auto& m) {
    TESSERA_FIELD(Any, job);
    TESSERA_LIST(candidates);
    TESSERA_FIELD(Any, why);
    TESSERA_OPTIONAL(Amount, calibrated);
    return OkStatus();
  }
};

template <>
struct Fields<wire::CheckInfo> {
  using Value = engine::Check;
  static constexpr std::string_view kName = "check";
  static Status Copy(auto& v, auto& m) {
    TESSERA_OPTIONAL(NotNegative, node);
    TESSERA_FIELD(Any, name);
    TESSERA_FIELD(UpTo<engine::Check::Verdict::kSkipped>, verdict);
    TESSERA_FIELD(Any, value);
    TESSERA_FIELD(Any, remedy);
    return OkStatus();
  }
};

#undef TESSERA_FIELD
#undef TESSERA_OPTIONAL
#undef TESSERA_MESSAGE
#undef TESSERA_OPTIONAL_MESSAGE
#undef TESSERA_LIST

}  // namespace

void Encode(ptc::DeviceId device, wire::Device* out) { Put(device, out); }
Result<ptc::DeviceId> Decode(const wire::Device& in) { return Get(in); }
void Encode(const ptc::MeshShape& mesh, wire::Mesh* out) { Put(mesh, out); }
Result<ptc::MeshShape> Decode(const wire::Mesh& in) { return Get(in); }
void Encode(const engine::StepOptions& options, wire::StepOptions* out) { Put(options, out); }
Result<engine::StepOptions> Decode(const wire::StepOptions& in) { return Get(in); }
void Encode(const engine::ClusterSnapshot& snapshot, wire::Snapshot* out) { Put(snapshot, out); }
Result<engine::ClusterSnapshot> Decode(const wire::Snapshot& in) { return Get(in); }
void Encode(const engine::SnapshotChange& change, wire::SnapshotChange* out) { Put(change, out); }
Result<engine::SnapshotChange> Decode(const wire::SnapshotChange& in) { return Get(in); }
void Encode(const engine::OperatorLease& lease, wire::OperatorLease* out) { Put(lease, out); }
Result<engine::OperatorLease> Decode(const wire::OperatorLease& in) { return Get(in); }
void Encode(const engine::NetworkFaults& lanes, wire::NetworkFaults* out) { Put(lanes, out); }
Result<engine::NetworkFaults> Decode(const wire::NetworkFaults& in) { return Get(in); }
void Encode(const engine::TxnStatus& txn, wire::TxnInfo* out) { Put(txn, out); }
Result<engine::TxnStatus> Decode(const wire::TxnInfo& in) { return Get(in); }
void Encode(const engine::Event& event, wire::EventInfo* out) { Put(event, out); }
Result<engine::Event> Decode(const wire::EventInfo& in) { return Get(in); }
void Encode(const engine::Sample& sample, wire::SampleInfo* out) { Put(sample, out); }
Result<engine::Sample> Decode(const wire::SampleInfo& in) { return Get(in); }
void Encode(const engine::PlanSummary& plan, wire::PlanInfo* out) { Put(plan, out); }
Result<engine::PlanSummary> Decode(const wire::PlanInfo& in) { return Get(in); }
void Encode(const engine::HistoryEntry& entry, wire::HistoryInfo* out) { Put(entry, out); }
Result<engine::HistoryEntry> Decode(const wire::HistoryInfo& in) { return Get(in); }
void Encode(const engine::Candidate& candidate, wire::CandidateInfo* out) { Put(candidate, out); }
Result<engine::Candidate> Decode(const wire::CandidateInfo& in) { return Get(in); }
void Encode(const engine::CheckpointEntry& checkpoint, wire::CheckpointInfo* out) {
  Put(checkpoint, out);
}
Result<engine::CheckpointEntry> Decode(const wire::CheckpointInfo& in) { return Get(in); }
void Encode(const engine::Proposal& proposal, wire::ProposeReply* out) { Put(proposal, out); }
Result<engine::Proposal> Decode(const wire::ProposeReply& in) { return Get(in); }
void Encode(const engine::Check& check, wire::CheckInfo* out) { Put(check, out); }
Result<engine::Check> Decode(const wire::CheckInfo& in) { return Get(in); }

void Encode(const std::vector<engine::Check>& checks, wire::DoctorReply* out) {
  out->Clear();
  for (const engine::Check& check : checks) Encode(check, out->add_checks());
}
Result<std::vector<engine::Check>> Decode(const wire::DoctorReply& in) {
  return DecodeAll<engine::Check>(in.checks());
}

void Encode(const Error& error, wire::ErrorReply* out) {
  out->set_code(static_cast<std::uint32_t>(error.code));
  out->set_message(Utf8(error.ToString()));
}
void Encode(engine::SnapshotEvery every, wire::SnapshotEvery* out) { Put(every, out); }
Result<engine::SnapshotEvery> Decode(const wire::SnapshotEvery& in) { return Get(in); }
Result<engine::OnFailure> DecodeOnFailure(std::uint32_t value) {
  TESSERA_RETURN_IF_ERROR(UpTo<engine::OnFailure::kWait>("policy", "on_failure", value));
  return static_cast<engine::OnFailure>(value);
}
Result<engine::LossChoice> DecodeLossChoice(std::uint32_t value) {
  TESSERA_RETURN_IF_ERROR(UpTo<engine::LossChoice::kWait>("decision", "choice", value));
  return static_cast<engine::LossChoice>(value);
}

Result<engine::RecoverySource> DecodeRecoverySource(std::uint32_t value) {
  TESSERA_RETURN_IF_ERROR(UpTo<engine::RecoverySource::kCheckpoint>("decision", "source", value));
  return static_cast<engine::RecoverySource>(value);
}

Error Decode(const wire::ErrorReply& in) {
  const bool known = in.code() <= static_cast<std::uint32_t>(kLastErrorCode);
  return Error{known ? static_cast<ErrorCode>(in.code()) : ErrorCode::kInternal, in.message(), {}};
}

}  // namespace tessera::agents
