// SPDX-License-Identifier: Apache-2.0
#include "agents/train/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "agents/data/job_data.h"
#include "agents/train/comm/groups.h"
#include "agents/train/model/initialise.h"
#include "agents/train/private_state.h"
#include "agents/train/trainer.h"
#include "agents/wire/wall_clock.h"
#include "engine/search/least_squares.h"
#include "engine/search/workload.h"

namespace tessera::agents::train {
namespace {

/// Returns the processor seconds of this thread. Other programs on the machine do not count, but
/// the slowdown of a core by its neighbours does.
double ThreadSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// A group whose other ranks do not exist. Its collectives cost nothing and change nothing. A rank
/// computes as much as in a real group, with meaningless values.
class AbsentGroup final : public Collective {
 public:
  explicit AbsentGroup(int size) : Collective(0, size) {}
  Status AllReduceSum(std::span<float>) override { return OkStatus(); }
  Status AllReduceMax(std::span<float>) override { return OkStatus(); }
  Status AllGather(std::span<const std::byte>, std::span<std::byte> all) override {
    std::fill(all.begin(), all.end(), std::byte{0});
    return OkStatus();
  }
  Status Send(int, std::span<const float>) override { return OkStatus(); }
  Status Receive(int, std::span<float> values) override {
    std::fill(values.begin(), values.end(), 0.0F);
    return OkStatus();
  }
  void Abort() override {}
};

/// Bytes to train on, in memory.
class ProbeText {
 public:
  explicit ProbeText(std::size_t size) : fd_(::memfd_create("tessera-probe", MFD_CLOEXEC)) {
    std::string text(size, ' ');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * i % 26);
    written_ = fd_ >= 0 && ::write(fd_, text.data(), size) == static_cast<ssize_t>(size);
  }
  ~ProbeText() {
    if (fd_ >= 0) ::close(fd_);
  }
  ProbeText(const ProbeText&) = delete;
  ProbeText& operator=(const ProbeText&) = delete;
  Result<std::string> Path() const {
    if (!written_) return ResourceExhausted("no memory for the probe's text");
    return fmt::format("/proc/self/fd/{}", fd_);
  }

 private:
  const int fd_;
  bool written_ = false;
};

/// The work of a rank that is measured.
struct Setting {
  const char* model;
  std::int64_t tp, micro_batch, passes;
};

/// One rank that trains alone, with the pieces of rank 0 of tp ranks.
class ProbeRank {
 public:
  static Result<std::unique_ptr<ProbeRank>> Make(const Setting& setting, const ProbeText& text) {
    engine::JobSettings settings;
    TESSERA_TRY(settings.model, engine::FindModel(setting.model));
    settings.global_batch = setting.micro_batch * setting.passes;
    TESSERA_TRY(std::string path, text.Path());
    settings.data = {std::move(path)};
    TESSERA_TRY(auto data, OpenJobData(settings));
    TESSERA_TRY(const auto tensors, engine::MakeCollection(settings, false));
    ptc::MeshShape shape;
    shape[ptc::Axis::kTp] = setting.tp;
    std::vector<ptc::DeviceId> devices;
    for (std::int32_t i = 0; i < setting.tp; ++i) devices.push_back({0, i});
    TESSERA_TRY(auto mesh, ptc::DeviceMesh::Make(shape, std::move(devices)));
    TESSERA_TRY(const auto layout, ptc::Layout::Make(std::move(mesh), tensors));
    auto rank = std::unique_ptr<ProbeRank>(new ProbeRank(settings, std::move(data), layout));
    TESSERA_TRY(const RankState state, BindState(rank->memory_.pieces()));
    Initialise(settings, state);
    Groups groups = SelfGroups();
    if (setting.tp > 1) groups.tp = std::make_shared<AbsentGroup>(static_cast<int>(setting.tp));
    auto bound =
        rank->trainer_.Bind(rank->memory_.pieces(), std::move(groups), setting.micro_batch);
    if (!bound) return bound.error();
    return rank;
  }

  struct Times {
    double gradients = 0, update = 0;
  };
  Result<Times> Step() {
    const double begin = ThreadSeconds();
    TESSERA_TRY(const tessera_record record, trainer_.ComputeGradients());
    const double computed = ThreadSeconds();
    static_cast<void>(record);
    TESSERA_RETURN_IF_ERROR(trainer_.PrepareUpdate(1.0, false));
    trainer_.CommitUpdate();
    return Times{computed - begin, ThreadSeconds() - computed};
  }

 private:
  ProbeRank(const engine::JobSettings& settings, engine::DataMix data, const ptc::Layout& layout)
      : memory_(layout, 0), trainer_(settings, std::move(data)) {}
  const PrivateState memory_;
  Trainer trainer_;
};

/// Returns the time of the fastest of a few steps: disturbances only ever add time.
Result<ProbeRank::Times> Fastest(ProbeRank& rank, int steps) {
  ProbeRank::Times best;
  for (int i = 0; i <= steps; ++i) {
    TESSERA_TRY(const ProbeRank::Times times, rank.Step());
    if (i == 0) continue;  // first touch of memory
    best.gradients = i == 1 ? times.gradients : std::min(best.gradients, times.gradients);
    best.update = i == 1 ? times.update : std::min(best.update, times.update);
  }
  return best;
}

/// Measures passes of models of two widths, with whole and with cut ranks, with small and with
/// large micro-batches, and fits the costs of a pass, a layer, a FLOP, an element and the gradient
/// of a parameter.
Status ProbeCompute(const ProbeText& text, engine::Calibration* calibration) {
  constexpr Setting kSettings[] = {
      {"gpt-nano", 1, 1, 4}, {"gpt-nano", 1, 8, 2}, {"gpt-nano", 2, 4, 2}, {"gpt-mini", 1, 1, 1},
      {"gpt-mini", 1, 4, 1}, {"gpt-mini", 2, 1, 2}, {"gpt-mini", 2, 4, 1}, {"gpt-mini", 4, 4, 1},
      {"gpt-mini", 8, 2, 2}, {"gpt-10m", 1, 1, 1},  {"gpt-10m", 4, 2, 1}};
  constexpr int kSteps = 2;
  std::vector<engine::Equation> equations;
  double update = 0, parameters = 0;
  for (const Setting& setting : kSettings) {
    TESSERA_TRY(const auto rank, ProbeRank::Make(setting, text));
    TESSERA_TRY(const ProbeRank::Times times, Fastest(*rank, kSteps));
    TESSERA_TRY(const auto model, engine::FindModel(setting.model));
    const engine::PassWork work = engine::WorkOf(model, setting.tp, 0, 1, setting.micro_batch);
    const auto passes = static_cast<double>(setting.passes);
    const auto held = static_cast<double>(engine::ParametersOf(model, setting.tp, 0, 1));
    equations.push_back(
        {{passes, passes * work.layers, passes * work.flops, passes * work.elements, held},
         times.gradients});
    update += times.update;
    parameters += held;
  }
  const std::vector<double> costs = engine::FitCosts(equations, 5);
  calibration->pass_seconds = costs[0];
  calibration->layer_seconds = costs[1];
  // If small kernels hide the products entirely, the fit has no bound for the FLOPs.
  constexpr double kMostFlops = 1e15;
  calibration->flops_per_second = costs[2] > 0 ? 1 / costs[2] : kMostFlops;
  calibration->element_seconds = costs[3];
  calibration->gradient_seconds = costs[4];
  calibration->update_seconds = update / parameters;
  return OkStatus();
}

/// Compares one rank per core at the same time with one rank alone.
Status ProbeCores(const ProbeText& text, engine::Calibration* calibration) {
  constexpr std::int64_t kMostRanks = 16;
  constexpr Setting kSetting = {"gpt-mini", 1, 4, 1};
  constexpr int kSteps = 2;
  const auto count = static_cast<std::size_t>(std::min(calibration->cores, kMostRanks));
  std::vector<std::unique_ptr<ProbeRank>> ranks;
  for (std::size_t i = 0; i < count; ++i) {
    TESSERA_TRY(auto rank, ProbeRank::Make(kSetting, text));
    ranks.push_back(std::move(rank));
  }
  TESSERA_TRY(const ProbeRank::Times alone, Fastest(*ranks.front(), kSteps));
  std::vector<Result<ProbeRank::Times>> together(count);
  std::barrier start(static_cast<std::ptrdiff_t>(count));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        together[i] = Fastest(*ranks[i], kSteps);
      });
    }
  }
  double slowest = 0;
  for (const auto& times : together) {
    if (!times) return times.error();
    slowest = std::max(slowest, times->gradients);
  }
  const auto cores = static_cast<double>(calibration->cores);
  calibration->all_cores_speed = std::clamp(cores * alone.gradients / slowest, 1.0, cores);
  return OkStatus();
}

std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      constexpr std::size_t kLongest = 128;
      return line.substr(colon + 2, kLongest);
    }
  }
  return "unknown";
}

/// Returns the number of cores that this process may use.
std::int64_t NumCores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return std::max<std::int64_t>(1, std::thread::hardware_concurrency());
}

}  // namespace

Result<engine::Calibration> Probe() {
  engine::Calibration calibration;
  calibration.cpu = CpuName();
  calibration.cores = NumCores();
  constexpr std::size_t kTextBytes = 1 << 20;
  const ProbeText text(kTextBytes);
  TESSERA_RETURN_IF_ERROR(ProbeCompute(text, &calibration).Context("passes of one rank"));
  TESSERA_RETURN_IF_ERROR(ProbeCores(text, &calibration).Context("ranks on all cores"));
  TESSERA_RETURN_IF_ERROR(ProbeLinks(&calibration).Context("collectives"));
  calibration.measured_at = WallClock();
  return calibration;
}

}  // namespace tessera::agents::train
