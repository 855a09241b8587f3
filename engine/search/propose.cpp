// SPDX-License-Identifier: Apache-2.0
#include "engine/search/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "engine/model/job_layout.h"
#include "engine/search/enumerate.h"
#include "engine/search/why.h"
#include "engine/store/memory_needs.h"

namespace tessera::engine {
namespace {

using ptc::Axis;

/// A configuration before it is placed and planned.
struct Draft {
  ptc::MeshShape mesh;
  StepOptions options;
  double step_seconds = 0;
  bool uses_most = false;  // of the devices
};

class Search {
 public:
  Search(const SearchInput& input, std::optional<StepOptions> pinned)
      : input_(input), pinned_(std::move(pinned)), devices_(input.devices) {
    std::sort(devices_.begin(), devices_.end());
    if (input_.layout && !input_.settings.program) {
      const double now = EstimateStep(input_.settings, input_.layout->mesh(), input_.options,
                                      input_.machines, input_.calibration)
                             .total();
      if (input_.step_seconds && now > 0) anchor_ = *input_.step_seconds / now;
      now_ = anchor_ * now;
    } else if (input_.layout) {
      now_ = 0;
    }
  }

  Result<Proposal> Run(std::int64_t limit) {
    if (devices_.empty()) return InvalidArgument("no device given: a mesh needs at least 1");
    std::vector<Draft> drafts = Drafts();
    if (drafts.empty()) return *refused_;
    std::stable_sort(drafts.begin(), drafts.end(), [](const Draft& a, const Draft& b) {
      // Own programs have no step times: data parallelism first.
      return std::make_tuple(!a.uses_most, a.step_seconds, -a.mesh[Axis::kDp]) <
             std::make_tuple(!b.uses_most, b.step_seconds, -b.mesh[Axis::kDp]);
    });
    // The recommendation does not depend on how many are listed.
    std::vector<Candidate> candidates = Plan(drafts, std::max(limit, kMaxProposed));
    Recommend(candidates);
    const auto chosen = std::find_if(candidates.begin(), candidates.end(),
                                     [](const Candidate& c) { return c.recommended; });
    if (chosen == candidates.end()) return NothingFits(drafts.front());
    Proposal proposal{.job = input_.job, .why = WhyText(candidates, now_)};
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return Key(a) < Key(b); });
    Shorten(candidates, limit);
    proposal.candidates = std::move(candidates);
    if (input_.calibration.measured_at > 0) proposal.calibrated = input_.calibration.measured_at;
    return proposal;
  }

  double Seconds(const ptc::DeviceMesh& mesh, const StepOptions& options) const {
    if (input_.settings.program) return 0;
    return anchor_ *
           EstimateStep(input_.settings, mesh, options, input_.machines, input_.calibration)
               .total();
  }

 private:
  /// The order of the candidates in a proposal.
  static std::tuple<bool, bool, bool, double, std::int64_t> Key(const Candidate& c) {
    return {!c.fits(), !c.recommended, !c.idle.empty(), c.step_seconds, c.moved_bytes};
  }

  /// Drops the last candidates, but keeps the current one unless `limit` is 1.
  static void Shorten(std::vector<Candidate>& candidates, std::int64_t limit) {
    while (std::ssize(candidates) > limit) {
      auto last = std::prev(candidates.end());
      if (last->current && limit > 1) --last;
      candidates.erase(last);
    }
  }

  Result<ptc::RuledTensors> Tensors(bool zero) {
    auto& tensors = tensors_[zero ? 1 : 0];
    if (!tensors) {
      TESSERA_TRY(tensors, TensorsOf(input_.settings, zero));
    }
    return *tensors;
  }

  bool IsCurrent(const ptc::MeshShape& mesh, const StepOptions& options) const {
    return input_.layout && mesh == input_.layout->mesh().shape() && options == input_.options;
  }

  /// Whether the job can stay on the devices that it has.
  bool HoldsCurrent() const {
    const auto& held = input_.layout->mesh().devices();
    return std::all_of(held.begin(), held.end(), [&](ptc::DeviceId device) {
      return std::binary_search(devices_.begin(), devices_.end(), device);
    });
  }

  /// Returns the devices of the first estimate of a mesh of `ranks`: those of the job, then the
  /// lowest.
  std::vector<ptc::DeviceId> FirstDevices(std::int64_t ranks) const {
    std::vector<ptc::DeviceId> order = devices_;
    if (input_.layout) {
      std::stable_partition(order.begin(), order.end(), [&](ptc::DeviceId device) {
        return input_.layout->mesh().RankOf(device).has_value();
      });
    }
    order.resize(static_cast<std::size_t>(ranks));
    std::sort(order.begin(), order.end());
    return order;
  }

  std::vector<bool> ZeroOf(const ptc::MeshShape& mesh) const {
    if (pinned_) return {pinned_->zero};
    // With one replica ZeRO has nothing to cut. For an own program the user decides.
    if (mesh[Axis::kDp] == 1 || input_.settings.program) return {input_.options.zero};
    return {false, true};
  }

  /// Returns the trainer's own micro-batch, or the fastest one if it is clearly faster.
  std::pair<std::int64_t, double> FastestMicroBatch(const ptc::DeviceMesh& mesh, bool zero) const {
    std::pair<std::int64_t, double> best = {0, Seconds(mesh, {.zero = zero})};
    for (const std::int64_t size : MicroBatchesOf(input_.settings, mesh.shape())) {
      const double seconds = Seconds(mesh, {.zero = zero, .micro_batch = size});
      if (seconds < best.second * (1 - kEqualSpeed)) best = {size, seconds};
    }
    return best;
  }

  /// Adds a configuration if job and layout permit it.
  bool AddDraft(const ptc::DeviceMesh& mesh, const StepOptions& options, double seconds,
                std::vector<Draft>* drafts) {
    Status can = CheckMesh(input_.settings, mesh.shape(), options);
    if (can) {
      const auto tensors = Tensors(options.zero);
      if (!tensors) {
        can = tensors.error();
      } else if (const auto layout = MakeLayout(*tensors, mesh); !layout) {
        can = layout.error();
      }
    }
    if (!can) {
      refused_ = can.error();
      return false;
    }
    drafts->push_back({mesh.shape(), options, seconds, false});
    return true;
  }

  /// How many numbers of ranks below the largest possible one are looked at. Few of them are
  /// listed, and each costs as much as it has meshes and ranks.
  static std::int64_t NumFewer(std::int64_t devices) {
    constexpr std::int64_t kLeast = 8, kWork = 16'384;
    return std::max(kLeast, kWork / devices);
  }

  std::vector<Draft> Drafts() {
    std::vector<Draft> drafts;
    ptc::MeshShape like;
    if (input_.layout && input_.settings.program) like = input_.layout->mesh().shape();
    refused_ = InvalidArgument(fmt::format("no mesh of up to {} devices can run", devices_.size()));
    std::int64_t most = 0;
    bool has_current = false;
    const std::int64_t fewer = NumFewer(std::ssize(devices_));
    for (std::int64_t ranks = std::ssize(devices_); ranks >= 1; --ranks) {
      if (most > 0 && ranks < most - fewer) break;
      const std::vector<ptc::DeviceId> devices = FirstDevices(ranks);
      for (const ptc::MeshShape& shape : MeshesOf(input_.settings, ranks, like)) {
        const auto mesh = ptc::DeviceMesh::Make(shape, devices);
        if (!mesh) continue;
        for (const bool zero : ZeroOf(shape)) {
          StepOptions options = pinned_.value_or(StepOptions{.zero = zero});
          double seconds = 0;
          if (pinned_) {
            if (CheckMesh(input_.settings, shape, options)) seconds = Seconds(*mesh, options);
          } else {
            std::tie(options.micro_batch, seconds) = FastestMicroBatch(*mesh, zero);
          }
          if (!AddDraft(*mesh, options, seconds, &drafts)) continue;
          has_current = has_current || IsCurrent(shape, options);
          most = std::max(most, ranks);
        }
      }
    }
    if (input_.layout && !has_current && !pinned_ && HoldsCurrent()) {
      AddDraft(input_.layout->mesh(), input_.options, now_.value_or(0), &drafts);
    }
    for (Draft& draft : drafts) draft.uses_most = draft.mesh.num_ranks() == most;
    return drafts;
  }

  /// Places and plans the first drafts: most of them those that use the most devices, a few others,
  /// and the current configuration.
  std::vector<Candidate> Plan(const std::vector<Draft>& drafts, std::int64_t limit) {
    constexpr std::int64_t kIdleShare = 4;  // one in four may leave devices idle
    std::vector<Candidate> fitting, unfit;
    std::vector<const Draft*> order, later;
    std::int64_t idle_left = std::max<std::int64_t>(1, limit / kIdleShare);
    std::int64_t most_left = std::max<std::int64_t>(1, limit - idle_left);
    for (const Draft& draft : drafts) {
      std::int64_t& left = draft.uses_most ? most_left : idle_left;
      if (IsCurrent(draft.mesh, draft.options)) {
        order.insert(order.begin(), &draft);
      } else if (left > 0) {
        order.push_back(&draft);
        --left;
      } else {
        later.push_back(&draft);
      }
    }
    order.insert(order.end(), later.begin(), later.end());
    std::int64_t tries = 2 * limit;
    for (const Draft* draft : order) {
      if (std::ssize(fitting) == limit || tries-- == 0) break;
      const auto candidate = Complete(*draft);
      if (!candidate) continue;
      (candidate->fits() ? fitting : unfit).push_back(*candidate);
    }
    const auto room = static_cast<std::size_t>(limit - std::ssize(fitting));
    unfit.resize(std::min(unfit.size(), room));
    fitting.insert(fitting.end(), unfit.begin(), unfit.end());
    return fitting;
  }

  std::int64_t CapacityOf(ptc::DeviceId device) const {
    const auto it = input_.capacities.find(device);
    return it == input_.capacities.end() ? 0 : it->second;
  }

  /// Keeps the device with the least free memory.
  void Note(ptc::DeviceId device, std::int64_t bytes, Candidate* candidate) const {
    const std::int64_t capacity = CapacityOf(device);
    if (candidate->peak_bytes != 0 &&
        capacity - bytes >= candidate->capacity - candidate->peak_bytes) {
      return;
    }
    candidate->peak_bytes = bytes;
    candidate->capacity = capacity;
  }

  /// Notes what the devices need with old and new state side by side.
  void NoteBothSides(const ptc::Outline& plan, const ptc::DeviceMesh& mesh, Candidate* candidate) {
    MemoryNeeds move(plan.kinds);
    for (const ptc::DeviceId device : plan.devices) {
      const bool is_lost =
          std::find(input_.lost.begin(), input_.lost.end(), device) != input_.lost.end();
      const auto rank = mesh.RankOf(device);
      if (is_lost && !rank) continue;
      const auto old_rank = is_lost ? std::nullopt : input_.layout->mesh().RankOf(device);
      Note(device, move.DuringMove(old_rank, rank), candidate);
    }
  }

  Result<Candidate> Complete(const Draft& draft) {
    TESSERA_TRY(const auto tensors, Tensors(draft.options.zero));
    Candidate candidate{.mesh = draft.mesh, .options = draft.options};
    candidate.current =
        input_.lost.empty() && IsCurrent(draft.mesh, draft.options) && HoldsCurrent();
    std::optional<ptc::DeviceMesh> mesh;
    if (candidate.current) {
      mesh = input_.layout->mesh();
    } else if (input_.layout) {
      TESSERA_TRY(auto stages, StagesOn(tensors.stages, draft.mesh));
      TESSERA_TRY(mesh, ptc::Place(*input_.layout, draft.mesh, tensors.tensors, devices_,
                                   input_.machines.topology, stages, input_.lost));
    } else {
      TESSERA_TRY(mesh, ptc::DeviceMesh::Make(draft.mesh, FirstDevices(draft.mesh.num_ranks())));
    }
    candidate.devices = mesh->devices();
    std::sort(candidate.devices.begin(), candidate.devices.end());
    std::set_difference(devices_.begin(), devices_.end(), candidate.devices.begin(),
                        candidate.devices.end(), std::back_inserter(candidate.idle));
    candidate.step_seconds = Seconds(*mesh, draft.options);
    TESSERA_TRY(const auto to, MakeLayout(tensors, *mesh));
    MemoryNeeds start(to, to);
    for (int rank = 0; rank < mesh->num_ranks(); ++rank) {
      // Rounds need some room for the shards that are on their way.
      const std::int64_t needed = start.OfLayout(rank);
      Note(mesh->devices()[static_cast<std::size_t>(rank)],
           input_.in_rounds ? needed + needed / 32 : needed, &candidate);
    }
    if (!input_.layout || candidate.current || !candidate.fits()) return candidate;
    TESSERA_TRY(const auto plan,
                ptc::MakeOutline(*input_.layout, to, input_.machines.topology,
                                 {.lost = input_.lost, .relaying = ptc::Relaying::kIfFaster}));
    if (!input_.in_rounds) NoteBothSides(plan, *mesh, &candidate);
    candidate.moved_bytes = plan.bytes.moved();
    candidate.pause_seconds = EstimatePause(plan);
    return candidate;
  }

  /// Returns the fastest candidate among those that fit and leave the fewest devices idle; of
  /// equally fast ones, the one that moves the fewest bytes.
  void Recommend(std::vector<Candidate>& candidates) const {
    std::size_t idle = devices_.size();
    double fastest = std::numeric_limits<double>::infinity();
    for (const Candidate& c : candidates) {
      if (c.fits()) idle = std::min(idle, c.idle.size());
    }
    for (const Candidate& c : candidates) {
      if (c.fits() && c.idle.size() == idle) fastest = std::min(fastest, c.step_seconds);
    }
    Candidate* best = nullptr;
    for (Candidate& c : candidates) {
      if (!c.fits() || c.idle.size() != idle || c.step_seconds > fastest * (1 + kEqualSpeed)) {
        continue;
      }
      const auto key = [](const Candidate& x) {
        return std::make_tuple(x.moved_bytes, !x.current, x.step_seconds, -x.mesh[Axis::kDp]);
      };
      if (!best || key(c) < key(*best)) best = &c;
    }
    if (best) best->recommended = true;
  }

  Error NothingFits(const Draft& draft) const {
    auto mesh = ptc::DeviceMesh::Make(draft.mesh, FirstDevices(draft.mesh.num_ranks()));
    if (!mesh) return mesh.error();
    const Status fits = CheckFits(input_.settings, *mesh, draft.options, input_.capacities);
    if (!fits) return fits.error();
    return ResourceExhausted(
        fmt::format("job '{}' fits these devices, but no move to them fits while the old state is "
                    "still held",
                    input_.job));
  }

  const SearchInput& input_;
  const std::optional<StepOptions> pinned_;
  std::vector<ptc::DeviceId> devices_;  // ascending
  double anchor_ = 1;
  std::optional<double> now_;  // estimated step time of the current mesh; 0: unknown
  std::optional<Error> refused_;
  std::array<std::optional<ptc::RuledTensors>, 2> tensors_;
};

}  // namespace

Result<Proposal> Propose(const SearchInput& input, std::int64_t limit) {
  return Search(input, std::nullopt).Run(std::max<std::int64_t>(limit, 1));
}

Result<Choice> ChooseMesh(const SearchInput& input, const std::optional<StepOptions>& options) {
  TESSERA_TRY(const Proposal proposal, Search(input, options).Run(kMaxProposed));
  const Candidate& best = proposal.candidates.front();
  return Choice{best.mesh, best.options, best.devices, best.idle, proposal.why};
}

std::optional<double> EstimateStepSeconds(const SearchInput& input, const ptc::DeviceMesh& mesh,
                                          const StepOptions& options) {
  if (input.settings.program) return std::nullopt;
  return Search(input, options).Seconds(mesh, options);
}

}  // namespace tessera::engine
