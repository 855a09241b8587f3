// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A node for tests of the rank library: devices in memory, an agent, and ranks as children of the
/// test.

#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/job/rank_environment.h"
#include "agents/keeper/child.h"
#include "agents/keeper/packet.h"
#include "engine/copy/checksum.h"
#include "engine/files/whole_file.h"
#include "engine/store/allocate.h"
#include "engine/store/arena.h"
#include "engine/store/piece_table.h"
#include "ptc/layout.h"
#include "ptc/rules/rules.h"
#include "tests/agents/job_agent.h"
#include "tests/folders.h"
#include "tests/support/send_signal.h"

namespace tessera::test {

inline constexpr int kLimit = 20000;  // ms
inline constexpr std::int64_t kCapacity = 4 << 20;
inline const std::string kJob = "count";

// A tensor that is cut over tp, one that is not, and a scalar: all f32, so that the counting job
// can count in them.
inline ptc::Layout LayoutOf(int ranks) {
  std::vector<ptc::TensorSpec> tensors(3);
  tensors[0].name = "a.cut";
  tensors[0].shape = {12, 5};
  tensors[0].rule.dims = {{{ptc::Axis::kTp}}, {}};
  tensors[1].name = "b.whole";
  tensors[1].shape = {7};
  tensors[1].rule.dims = {{}};
  tensors[1].role = ptc::TensorRole::kExpAvg;
  tensors[2].name = "c.scalar";
  tensors[2].role = ptc::TensorRole::kScalar;
  ptc::MeshShape shape;
  shape[ptc::Axis::kTp] = ranks;
  std::vector<ptc::DeviceId> devices;
  for (int r = 0; r < ranks; ++r) devices.push_back({0, r});
  auto collection = ptc::Collection::Make(std::move(tensors), 1);
  auto mesh = ptc::DeviceMesh::Make(shape, devices);
  return *ptc::Layout::Make(*mesh, *collection);
}

inline std::string Text(const std::string& path) {
  return engine::ReadWholeFile(path).value_or("");
}

// The example's tensors with the rules of its file.
inline ptc::Layout ExampleLayout(int dp, int tp) {
  const std::string path = TESSERA_SOURCE_DIR "/agents/job/example.";
  auto collection = ptc::ApplyRules({"tensors", Text(path + "tensors.json")},
                                    {"rules", Text(path + "rules.json")}, false);
  if (!collection) qFatal("%s", collection.error().ToString().c_str());
  ptc::MeshShape shape;
  shape[ptc::Axis::kDp] = dp;
  shape[ptc::Axis::kTp] = tp;
  std::vector<ptc::DeviceId> devices;
  for (int r = 0; r < dp * tp; ++r) devices.push_back({0, r});
  auto mesh = ptc::DeviceMesh::Make(shape, devices);
  return *ptc::Layout::Make(*mesh, collection->tensors, collection->stages);
}

inline RankView ViewOf(int rank, int world, std::int64_t epoch, std::int64_t attempt = 0) {
  RankView view;
  view.epoch = epoch;
  view.attempt = attempt;
  view.rank = rank;
  view.world = world;
  view.axis_size[4] = world;
  view.axis_coord[4] = std::max(rank, 0);
  view.node_of_rank.assign(static_cast<std::size_t>(world), 0);
  view.host_of_rank.assign(static_cast<std::size_t>(world), 0);
  view.address_of_rank.assign(static_cast<std::size_t>(world), "127.0.0.1");
  return view;
}

inline RankView ExampleView(int rank, int dp, int tp, int hosts, std::int64_t epoch) {
  RankView view = ViewOf(rank, dp * tp, epoch);
  view.axis_size[1] = dp;
  view.axis_size[4] = tp;
  view.axis_coord[1] = rank / tp;
  view.axis_coord[4] = rank % tp;
  for (int r = 0; r < view.world; ++r) {
    view.host_of_rank[static_cast<std::size_t>(r)] = r * hosts / view.world;
  }
  return view;
}

struct Device {
  UniqueFd fd;
  std::optional<engine::Arena> arena;
  engine::ArenaHeader& header() const { return arena->header(); }
};

// Devices, an agent, and ranks as children of the test.
struct Node {
  QTemporaryDir directory;
  std::string socket = (directory.path() + "/ranks").toStdString();
  std::string layout_file = (directory.path() + "/layout.json").toStdString();
  Agent agent{socket};
  std::vector<Device> devices;
  std::map<int, pid_t> processes;  // by device

  std::string program = "tessera-counting-job";
  std::vector<std::string> more_environment = {};
  std::array<std::string, 2> data_file = {"/", "/"};  // of even and odd devices

  explicit Node(int count) {
    for (int d = 0; d < count; ++d) {
      Device device;
      device.fd.Reset(*engine::Arena::CreateMemfd("test-n0g" + std::to_string(d), kCapacity));
      device.arena.emplace(std::move(*engine::Arena::Map(device.fd.get(), true)));
      devices.push_back(std::move(device));
    }
    std::ofstream(layout_file) << ptc::ToJson(LayoutOf(1));
  }
  ~Node() {
    for (const auto& [device, pid] : processes) {
      tessera::test::SendSignal(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  static RankId Id(int device) { return {kJob, {0, device}}; }

  static void Flip(engine::Arena& arena, std::int64_t epoch) {
    arena.header().job_hash.store(engine::Checksum(std::as_bytes(std::span(kJob))));
    engine::FlipTo(arena, epoch);
  }
  // Writes the table of `epoch` beside the current one.
  engine::PieceTable Place(int device, int ranks, std::int64_t epoch) {
    // Tables of odd epochs lie below those of even ones, so that neither overwrites the other.
    const std::int64_t capacity = kCapacity - (epoch % 2) * (std::int64_t{1} << 16);
    auto table = engine::AllocateInitial(kJob, epoch, LayoutOf(ranks), device, capacity);
    auto& arena = *devices[static_cast<std::size_t>(device)].arena;
    if (!table || !table->Write(arena, engine::PieceTable::SlotOf(epoch))) qFatal("no table");
    return *table;
  }
  // The state after a transfer: the pieces of the coming epoch hold `value`, the table is flipped.
  void MoveTo(int device, int ranks, std::int64_t epoch, float value) {
    const engine::PieceTable table = Place(device, ranks, epoch);
    auto& arena = *devices[static_cast<std::size_t>(device)].arena;
    for (const auto& entry : table.entries()) {
      auto* data = reinterpret_cast<float*>(arena.AddressOf(entry.offset_bytes));
      for (std::int64_t i = 0; i < entry.box.num_elements(); ++i) data[i] = value;
    }
    Flip(arena, epoch);
  }
  // The one value of all state elements of a device, or NaN.
  float Value(int device) {
    auto& arena = *devices[static_cast<std::size_t>(device)].arena;
    const auto table = engine::PieceTable::ReadCurrent(arena);
    std::optional<float> value;
    for (const auto& entry : table->entries()) {
      if (entry.kind != engine::PieceEntry::kState) continue;
      const auto* data = reinterpret_cast<const float*>(arena.AddressOf(entry.offset_bytes));
      for (std::int64_t i = 0; i < entry.box.num_elements(); ++i) {
        if (value.value_or(data[i]) != data[i]) return std::nanf("");
        value = data[i];
      }
    }
    return value.value_or(std::nanf(""));
  }

  RankEnvironmentSpec Environment(int device, const RankView& view, bool initialise) const {
    return {.base = {"PATH=/usr/bin:/bin", "TESSERA_LEFT_OUT=1"},
            .socket = socket,
            .id = Id(device),
            .settings = R"({"answer": 42})",
            .settings_file = {},
            .initialise = initialise,
            .view = view,
            .view_file = {},
            .layout_file = layout_file};
  }
  void StartRank(int device, const RankView& view, bool initialise, int steps, int step_ms) {
    auto environment = RankEnvironment(Environment(device, view, initialise));
    environment.push_back("TESSERA_ARENA_FD=" + std::to_string(kChildDescriptor));
    std::ranges::copy(more_environment, std::back_inserter(environment));
    const auto pid = StartChild(
        {.argv = {TESSERA_BIN_DIR "/" + program, std::to_string(steps), std::to_string(step_ms),
                  data_file[static_cast<std::size_t>(device % 2)]},
         .environment = environment,
         .output = -1,
         .descriptors = {devices[static_cast<std::size_t>(device)].fd.get()}});
    if (!pid) qFatal("%s", pid.error().ToString().c_str());
    processes[device] = *pid;
  }
  // The example on devices 0…dp*tp-1 in epoch 1; its pieces are not zero.
  void StartExample(int dp, int tp, int hosts, int steps) {
    program = "tessera-job-example";
    std::ofstream(layout_file) << ptc::ToJson(ExampleLayout(1, 1));
    PlaceExample(dp, tp, 1, std::vector<float>(256, 7), 7);
    for (int r = 0; r < dp * tp; ++r) {
      StartRank(r, ExampleView(r, dp, tp, hosts, 1), true, steps, 0);
    }
  }
  // As if a rank had ended between the decision of `step` and its update.
  void LeaveUpdate(int device, std::uint64_t step) {
    engine::ArenaHeader& header = devices[static_cast<std::size_t>(device)].header();
    header.begin.store(step - 1);
    header.end.store(step - 1);
    header.grads_step.store(step);
    header.decision_step.store(step);
  }
  // The state after a transfer.
  void PlaceExample(int dp, int tp, std::int64_t epoch, const std::vector<float>& weights,
                    std::int64_t step) {
    for (int r = 0; r < dp * tp; ++r) {
      auto table = engine::AllocateInitial(kJob, epoch, ExampleLayout(dp, tp), r, kCapacity);
      auto& arena = *devices[static_cast<std::size_t>(r)].arena;
      if (!table || !table->Write(arena, engine::PieceTable::SlotOf(epoch))) qFatal("no table");
      for (const auto& entry : table->entries()) {
        if (entry.kind != engine::PieceEntry::kState) continue;
        void* data = arena.AddressOf(entry.offset_bytes);
        if (entry.box.rank() == 0) {
          std::memcpy(data, &step, sizeof step);
        } else {
          std::memcpy(data, weights.data() + entry.box[0].begin,
                      static_cast<std::size_t>(entry.size_bytes));
        }
      }
      Flip(arena, epoch);
    }
  }
  std::vector<float> ExampleWeights(int ranks) {
    std::vector<float> weights(256);
    for (int r = 0; r < ranks; ++r) {
      auto& arena = *devices[static_cast<std::size_t>(r)].arena;
      const auto table = engine::PieceTable::ReadCurrent(arena);
      for (const auto& entry : table->entries()) {
        if (entry.kind != engine::PieceEntry::kState || entry.box.rank() == 0) continue;
        std::memcpy(weights.data() + entry.box[0].begin, arena.AddressOf(entry.offset_bytes),
                    static_cast<std::size_t>(entry.size_bytes));
      }
    }
    return weights;
  }
  // The counting job on devices 0…ranks-1 in epoch 1.
  void StartJob(int ranks, int steps, int step_ms) {
    for (int r = 0; r < ranks; ++r) {
      MoveTo(r, ranks, 1, -5);  // initialisation must overwrite these values
      StartRank(r, ViewOf(r, ranks, 1), true, steps, step_ms);
    }
  }
  bool Pausing(int ranks) {
    for (int r = 0; r < ranks; ++r) {
      if (!agent.Of(Id(r)).paused) return false;
    }
    return true;
  }
  std::ptrdiff_t NumThreads(int device) const {
    std::error_code gone;
    const std::filesystem::directory_iterator threads(
        "/proc/" + std::to_string(processes.at(device)) + "/task", gone);
    return gone ? 0 : std::distance(begin(threads), end(threads));
  }
  // The exit status of a rank that ends by itself; -1 after kLimit.
  int ExitStatus(int device) {
    int status = 0;
    for (int waited = 0; waited < kLimit; waited += 10) {
      if (::waitpid(processes[device], &status, WNOHANG) > 0) {
        processes.erase(device);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      }
      QTest::qSleep(10);
    }
    return -1;
  }
};

}  // namespace tessera::test
