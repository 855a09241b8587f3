// SPDX-License-Identifier: Apache-2.0
#include "engine/search/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "engine/model/job_layout.h"
#include "engine/search/enumerate.h"
#include "engine/search/exposure.h"
#include "engine/search/overlap.h"
#include "engine/search/place_job.h"
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
  std::int64_t least_bytes = 0;  // that its fullest rank needs at least
  bool may_fit = false;          // by least_bytes
  bool uses_most = false;        // of the devices, among those that may fit
};

/// A configuration with all that it is compared by.
struct Found {
  Candidate candidate;
  int survives = 0;    // Exposure::level
  bool keeps = false;  // all degrees but dp, and the options
};

/// The bytes of state and gradients, and those among them that ZeRO does not divide.
struct StateBytes {
  std::int64_t all = 0, not_sharded = 0;
};

class Search {
 public:
  Search(const SearchInput& input, std::optional<StepOptions> pinned)
      : input_(input), pinned_(std::move(pinned)), devices_(input.devices) {
    std::sort(devices_.begin(), devices_.end());
    for (const ptc::DeviceId device : devices_) capacities_.push_back(CapacityOf(device));
    std::sort(capacities_.begin(), capacities_.end());
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

  /// \param is_shown whether users see more than the recommended one: then further ones are sought,
  ///     and all pauses are estimated as a whole
  Result<Proposal> Run(std::int64_t limit, bool is_shown) {
    is_shown_ = is_shown;
    if (devices_.empty()) return InvalidArgument("no device given: a mesh needs at least 1");
    std::vector<Draft> drafts = Drafts();
    if (drafts.empty()) return *refused_;
    std::stable_sort(drafts.begin(), drafts.end(), [this](const Draft& a, const Draft& b) {
      // Own programs have no step times: data parallelism first.
      const auto key = [this](const Draft& d) {
        return std::make_tuple(!IsKept(d), !d.may_fit, !WantsReplicas(d), !d.uses_most,
                               d.step_seconds, -d.mesh[Axis::kDp]);
      };
      return key(a) < key(b);
    });
    // The recommendation does not depend on how many are listed.
    std::vector<Found> found = Plan(drafts, std::max(limit, kMaxProposed));
    Recommend(found);
    if (is_shown) {
      AddFastest(drafts, found);
      AddLeastMovement(drafts, found);
      Recommend(found);
    }
    std::vector<Candidate> candidates;
    bool keeps = false;
    for (Found& one : found) {
      keeps = keeps || (one.keeps && one.candidate.recommended);
      candidates.push_back(std::move(one.candidate));
    }
    const auto chosen = std::find_if(candidates.begin(), candidates.end(),
                                     [](const Candidate& c) { return c.recommended; });
    if (chosen == candidates.end()) return NothingFits(drafts);
    Proposal proposal{.job = input_.job, .why = WhyText(candidates, now_, keeps)};
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return Key(a) < Key(b); });
    Label(candidates);
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

  /// Whether it may be named as the one that moves least. Those that leave more devices idle than
  /// the recommended one may not: dropping replicas moves nothing.
  static bool CanMoveLeast(const Candidate& candidate, const Candidate& recommended) {
    return candidate.fits() && !candidate.current &&
           candidate.idle.size() <= recommended.idle.size();
  }

  /// Names the fastest one and the one that moves least, of equal ones the first.
  /// \pre the first one is recommended
  void Label(std::vector<Candidate>& candidates) const {
    Candidate* fastest = nullptr;
    Candidate* least = nullptr;
    for (Candidate& c : candidates) {
      if (!c.fits()) continue;
      const bool is_known = c.step_seconds > 0;
      if (is_known && (!fastest || c.step_seconds < fastest->step_seconds)) fastest = &c;
      if (!input_.layout || !CanMoveLeast(c, candidates.front())) continue;
      if (!least || c.moved_bytes < least->moved_bytes) least = &c;
    }
    if (fastest) fastest->fastest = true;
    if (least) least->moves_least = true;
  }

  /// Drops the last candidates, but as far as possible not those that a user may want: the
  /// recommended one, the current one, the fastest, the first that uses all devices, the one that
  /// moves least.
  static void Shorten(std::vector<Candidate>& candidates, std::int64_t limit) {
    const auto first_of_all = std::find_if(candidates.begin(), candidates.end(),
                                           [](const Candidate& c) { return c.idle.empty(); });
    const auto importance = [&](const Candidate& c, std::ptrdiff_t position) -> std::ptrdiff_t {
      if (c.recommended) return -5;
      if (c.current) return -4;
      if (c.fastest) return -3;
      if (position == first_of_all - candidates.begin()) return -2;
      return c.moves_least ? -1 : position;
    };
    std::vector<std::pair<std::ptrdiff_t, std::size_t>> order;  // importance, position
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      order.emplace_back(importance(candidates[i], static_cast<std::ptrdiff_t>(i)), i);
    }
    std::sort(order.begin(), order.end());
    order.resize(std::min(order.size(), static_cast<std::size_t>(limit)));
    std::vector<Candidate> kept;
    std::sort(order.begin(), order.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [rank, i] : order) kept.push_back(std::move(candidates[i]));
    candidates = std::move(kept);
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

  /// The running job's shape with another degree of dp.
  ptc::MeshShape WithReplicas(std::int64_t replicas) const {
    ptc::MeshShape shape = input_.layout->mesh().shape();
    shape[Axis::kDp] = replicas;
    return shape;
  }

  /// Whether it is the configuration that changes least.
  bool IsKept(const Draft& draft) const {
    return kept_ && draft.mesh == kept_->first && draft.options == kept_->second;
  }

  /// Whether it has replicas where the job that lost some of its own still wants them.
  bool WantsReplicas(const Draft& draft) const {
    return input_.aim == Aim::kKeepReplicas && draft.mesh[Axis::kDp] > 1;
  }

  /// The least that the fullest rank can need: the bytes of all ranks together, divided evenly.
  Result<std::int64_t> LeastBytes(const ptc::MeshShape& mesh, bool zero) {
    auto& state = state_[zero ? 1 : 0];
    if (!state) {
      TESSERA_TRY(const auto tensors, Tensors(zero));
      state.emplace();
      for (const ptc::TensorSpec& spec : tensors.tensors->tensors()) {
        std::int64_t elements = 1;
        for (const std::int64_t size : spec.shape) elements *= size;
        const std::int64_t bytes = elements * ptc::SizeBytes(spec.dtype);
        const bool is_param = spec.role == ptc::TensorRole::kParam;
        state->all += bytes + (is_param ? 4 * elements : 0);
        state->not_sharded += is_param ? bytes + 4 * elements : 0;
      }
    }
    const std::int64_t of_replica = mesh.num_ranks() / mesh[Axis::kDp];
    // ZeRO divides the optimizer state over the replicas, too; rules of a user may divide all.
    const bool divides = zero || input_.settings.program;
    const std::int64_t not_sharded = input_.settings.program ? 0 : state->not_sharded;
    return std::max(not_sharded / of_replica,
                    state->all / (divides ? mesh.num_ranks() : of_replica));
  }

  /// What a rank needs while the job runs; rounds need some room for what is on its way.
  std::int64_t Needed(std::int64_t bytes) const {
    return input_.in_rounds ? bytes + bytes / 32 : bytes;
  }

  /// The number of devices with room for `needed` bytes.
  std::int64_t NumRoomy(std::int64_t needed) const {
    return capacities_.end() - std::lower_bound(capacities_.begin(), capacities_.end(), needed);
  }

  /// Whether the job can stay on the devices that it has.
  bool HoldsCurrent() const {
    const auto& held = input_.layout->mesh().devices();
    return std::all_of(held.begin(), held.end(), [&](ptc::DeviceId device) {
      return std::binary_search(devices_.begin(), devices_.end(), device);
    });
  }

  /// Returns the devices of the first estimate of a mesh of `ranks`: those of the job, then the
  /// lowest; before all others those with room for `needed` bytes.
  std::vector<ptc::DeviceId> FirstDevices(std::int64_t ranks, std::int64_t needed = 0) const {
    std::vector<ptc::DeviceId> order = devices_;
    if (input_.layout) {
      std::stable_partition(order.begin(), order.end(), [&](ptc::DeviceId device) {
        return input_.layout->mesh().RankOf(device).has_value();
      });
    }
    if (NumRoomy(needed) < std::ssize(order)) {
      std::stable_partition(order.begin(), order.end(),
                            [&](ptc::DeviceId device) { return CapacityOf(device) >= needed; });
    }
    order.resize(static_cast<std::size_t>(ranks));
    std::sort(order.begin(), order.end());
    return order;
  }

  /// The devices on which a mesh may be placed: those with room for its fullest rank, if they
  /// suffice.
  std::vector<ptc::DeviceId> Placeable(std::int64_t ranks, std::int64_t needed) const {
    if (NumRoomy(needed) < ranks) return devices_;
    std::vector<ptc::DeviceId> roomy;
    std::copy_if(devices_.begin(), devices_.end(), std::back_inserter(roomy),
                 [&](ptc::DeviceId device) { return CapacityOf(device) >= needed; });
    return roomy;
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
    const auto least = LeastBytes(mesh.shape(), options.zero);
    const std::int64_t bytes = least ? *least : 0;
    const bool may_fit = NumRoomy(Needed(bytes)) >= mesh.num_ranks();
    drafts->push_back({mesh.shape(), options, seconds, bytes, may_fit, false});
    return true;
  }

  /// Adds the configuration that changes least: as many replicas as fit on the devices, and as now
  /// in everything else. A micro-batch that is larger than the new share is left to the trainer.
  void AddKept(std::vector<Draft>* drafts) {
    if (!input_.layout) return;
    const std::int64_t of_replica = WithReplicas(1).num_ranks();
    const StepOptions options = pinned_.value_or(input_.options);
    for (std::int64_t dp = std::ssize(devices_) / of_replica; dp >= 1; --dp) {
      const ptc::MeshShape shape = WithReplicas(dp);
      const auto mesh = ptc::DeviceMesh::Make(shape, FirstDevices(shape.num_ranks()));
      if (!mesh) continue;
      for (StepOptions like : {options, StepOptions{.zero = options.zero}}) {
        if (pinned_ && like != options) continue;
        if (!CheckMesh(input_.settings, shape, like)) continue;
        kept_.emplace(shape, like);
        const bool known = std::any_of(drafts->begin(), drafts->end(),
                                       [&](const Draft& draft) { return IsKept(draft); });
        if (known || AddDraft(*mesh, like, Seconds(*mesh, like), drafts)) return;
        kept_.reset();
      }
    }
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
    std::int64_t most = 0;  // ranks of a mesh that may fit
    std::int64_t top = 0;   // the same, or of one that can run, if fewer ranks cannot fit either
    const bool are_alike = capacities_.front() == capacities_.back();
    bool has_current = false;
    const std::int64_t fewer = NumFewer(std::ssize(devices_));
    for (std::int64_t ranks = std::ssize(devices_); ranks >= 1; --ranks) {
      if (top > 0 && ranks < top - fewer) break;
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
          if (drafts.back().may_fit) most = std::max(most, ranks);
          if (drafts.back().may_fit || are_alike) top = std::max(top, ranks);
        }
      }
    }
    if (input_.layout && !has_current && !pinned_ && HoldsCurrent()) {
      AddDraft(input_.layout->mesh(), input_.options, now_.value_or(0), &drafts);
    }
    AddKept(&drafts);
    for (Draft& draft : drafts) draft.uses_most = draft.mesh.num_ranks() == most;
    return drafts;
  }

  /// Places and plans the first drafts: the current configuration, the one that changes least, most
  /// of the others those that use the most devices, a few others. If none of them fits, then those
  /// that need the least memory.
  std::vector<Found> Plan(const std::vector<Draft>& drafts, std::int64_t limit) {
    constexpr std::int64_t kIdleShare = 4;  // one in four may leave devices idle
    std::vector<const Draft*> order, later;
    std::int64_t idle_left = std::max<std::int64_t>(1, limit / kIdleShare);
    std::int64_t most_left = std::max<std::int64_t>(1, limit - idle_left);
    for (const Draft& draft : drafts) {
      std::int64_t& left = draft.uses_most ? most_left : idle_left;
      if (IsCurrent(draft.mesh, draft.options)) {
        order.insert(order.begin(), &draft);
      } else if (IsKept(draft)) {
        order.push_back(&draft);
      } else if (left > 0 && draft.may_fit) {
        order.push_back(&draft);
        --left;
      } else {
        later.push_back(&draft);
      }
    }
    order.insert(order.end(), later.begin(), later.end());
    std::vector<Found> fitting, unfit;
    const std::size_t looked_at = PlanSome(order, limit, fitting, unfit);
    if (fitting.empty()) {
      std::vector<const Draft*> rest(order.begin() + static_cast<std::ptrdiff_t>(looked_at),
                                     order.end());
      std::stable_sort(rest.begin(), rest.end(), [](const Draft* a, const Draft* b) {
        return a->least_bytes < b->least_bytes;
      });
      PlanSome(rest, limit, fitting, unfit);
    }
    const auto room = static_cast<std::size_t>(limit - std::ssize(fitting));
    unfit.resize(std::min(unfit.size(), room));
    std::move(unfit.begin(), unfit.end(), std::back_inserter(fitting));
    return fitting;
  }

  /// Whether it is among those that are planned.
  static bool IsKnown(const Draft& draft, const std::vector<Found>& found) {
    return std::any_of(found.begin(), found.end(), [&](const Found& f) {
      return f.candidate.mesh == draft.mesh && f.candidate.options == draft.options;
    });
  }

  /// Adds the first of `order` that fits and is `better`, out of a few.
  template <typename Better>
  void AddFirst(const std::vector<const Draft*>& order, Better better, std::vector<Found>& found) {
    constexpr std::size_t kPlans = 3;
    for (std::size_t i = 0; i < std::min(kPlans, order.size()); ++i) {
      auto one = Complete(*order[i]);
      if (!one || !one->candidate.fits() || !better(one->candidate)) continue;
      return found.push_back(std::move(*one));
    }
  }

  /// Adds the fastest of all configurations if it is not there. It may leave devices idle.
  void AddFastest(const std::vector<Draft>& drafts, std::vector<Found>& found) {
    if (input_.settings.program) return;
    double fastest = std::numeric_limits<double>::infinity();
    for (const Found& f : found) {
      if (f.candidate.fits()) fastest = std::min(fastest, f.candidate.step_seconds);
    }
    std::vector<const Draft*> order;
    for (const Draft& draft : drafts) {
      if (!draft.may_fit || draft.step_seconds >= fastest || IsKnown(draft, found)) continue;
      order.push_back(&draft);
    }
    std::stable_sort(order.begin(), order.end(), [](const Draft* a, const Draft* b) {
      return a->step_seconds < b->step_seconds;
    });
    AddFirst(
        order, [fastest](const Candidate& c) { return c.step_seconds < fastest; }, found);
  }

  /// The bytes that move to a configuration on its first devices.
  std::optional<std::int64_t> RoughlyMoved(const Draft& draft) {
    const auto tensors = Tensors(draft.options.zero);
    const auto mesh =
        ptc::DeviceMesh::Make(draft.mesh, FirstDevices(draft.mesh.num_ranks(), draft.least_bytes));
    if (!tensors || !mesh) return std::nullopt;
    const auto to = MakeLayout(*tensors, *mesh);
    if (!to) return std::nullopt;
    const auto plan =
        ptc::MakeOutline(*input_.layout, *to, input_.machines.topology, {.lost = input_.lost});
    if (!plan) return std::nullopt;
    return plan->bytes.moved();
  }

  /// In how many of tp, pp and ZeRO it differs from what the job runs.
  int NumChanges(const Draft& draft) const {
    const ptc::MeshShape& now = input_.layout->mesh().shape();
    return (draft.mesh[Axis::kTp] != now[Axis::kTp] ? 1 : 0) +
           (draft.mesh[Axis::kPp] != now[Axis::kPp] ? 1 : 0) +
           (draft.options.zero != input_.options.zero ? 1 : 0);
  }

  /// Adds the configuration that moves least if it is not there. Outlines of all would take too
  /// long with many devices, so those are looked at that are most like the current one.
  void AddLeastMovement(const std::vector<Draft>& drafts, std::vector<Found>& found) {
    constexpr std::int64_t kRanks = 256;  // of all outlines together
    const auto chosen = std::find_if(found.begin(), found.end(),
                                     [](const Found& f) { return f.candidate.recommended; });
    if (!input_.layout || chosen == found.end()) return;
    const Candidate recommended = chosen->candidate;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Found& f : found) {
      if (CanMoveLeast(f.candidate, recommended)) {
        least = std::min(least, f.candidate.moved_bytes);
      }
    }
    std::vector<const Draft*> like;
    for (const Draft& draft : drafts) {
      const bool uses_enough = draft.mesh.num_ranks() >= recommended.mesh.num_ranks();
      if (draft.may_fit && uses_enough && !IsKnown(draft, found)) like.push_back(&draft);
    }
    std::stable_sort(like.begin(), like.end(), [this](const Draft* a, const Draft* b) {
      return NumChanges(*a) < NumChanges(*b);
    });
    std::vector<std::pair<std::int64_t, const Draft*>> moved;
    std::int64_t ranks = 0;
    for (const Draft* const draft : like) {
      if (ranks >= kRanks) break;
      ranks += draft->mesh.num_ranks();
      const auto bytes = RoughlyMoved(*draft);
      if (bytes && *bytes < least) moved.emplace_back(*bytes, draft);
    }
    std::stable_sort(moved.begin(), moved.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const Draft*> order;
    for (const auto& [bytes, draft] : moved) order.push_back(draft);
    AddFirst(
        order, [least](const Candidate& c) { return c.moved_bytes < least; }, found);
  }

  /// Completes drafts until `limit` fit or too many are planned. One that has no room for its state
  /// is cheap to look at, so many of these are.
  /// \return how many it has looked at
  std::size_t PlanSome(const std::vector<const Draft*>& order, std::int64_t limit,
                       std::vector<Found>& fitting, std::vector<Found>& unfit) {
    constexpr std::int64_t kPlans = 2, kLooks = 16;  // times `limit`
    std::int64_t plans = kPlans * limit;
    std::int64_t looks = kLooks * limit;
    std::size_t next = 0;
    for (; next < order.size(); ++next) {
      if (std::ssize(fitting) == limit || plans == 0 || looks-- == 0) break;
      if (!order[next]->may_fit && std::ssize(unfit) >= limit) continue;
      auto found = Complete(*order[next]);
      if (!found) continue;
      if (found->candidate.fits() || found->candidate.moved_bytes > 0) --plans;
      const bool is_chosen = found->candidate.fits() && found->keeps && KeptIsEnough();
      (found->candidate.fits() ? fitting : unfit).push_back(std::move(*found));
      if (is_chosen) break;
    }
    return next;
  }

  /// Whether others change neither the choice nor its reason if the smallest change fits: the speeds
  /// of a user's program are not known, so it is compared with none.
  bool KeptIsEnough() const {
    return !is_shown_ && input_.aim == Aim::kSmallestChange && input_.settings.program;
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

  Result<Found> Complete(const Draft& draft) {
    TESSERA_TRY(const auto tensors, Tensors(draft.options.zero));
    Found found{.candidate = {.mesh = draft.mesh, .options = draft.options},
                .keeps = IsKept(draft)};
    Candidate& candidate = found.candidate;
    candidate.current =
        input_.lost.empty() && IsCurrent(draft.mesh, draft.options) && HoldsCurrent();
    const std::int64_t ranks = draft.mesh.num_ranks();
    std::optional<ptc::DeviceMesh> mesh;
    if (candidate.current) {
      mesh = input_.layout->mesh();
    } else {
      TESSERA_TRY(mesh, ptc::DeviceMesh::Make(draft.mesh, FirstDevices(ranks, draft.least_bytes)));
    }
    TESSERA_TRY(std::optional<ptc::Layout> to, MakeLayout(tensors, *mesh));
    // What ranks need does not depend on where they are.
    const auto kinds = std::make_shared<const ptc::Kinds>(ptc::MakeKinds(*to, *to));
    const MemoryNeeds start(kinds);
    const std::int64_t fullest = Needed(start.MostOfLayout());
    if (!candidate.current && NumRoomy(fullest) > 0) {
      TESSERA_TRY(mesh,
                  PlaceJob(input_, draft.mesh, draft.options, tensors, Placeable(ranks, fullest)));
      TESSERA_TRY(to, MakeLayout(tensors, *mesh));
    }
    candidate.devices = mesh->devices();
    std::vector<ptc::DeviceId> used = candidate.devices;
    std::sort(used.begin(), used.end());
    std::set_difference(devices_.begin(), devices_.end(), used.begin(), used.end(),
                        std::back_inserter(candidate.idle));
    // A start puts ranks on the devices in the order given.
    if (input_.layout) candidate.devices = std::move(used);
    candidate.step_seconds = Seconds(*mesh, draft.options);
    for (int rank = 0; rank < mesh->num_ranks(); ++rank) {
      Note(mesh->devices()[static_cast<std::size_t>(rank)], Needed(start.OfLayout(rank)),
           &candidate);
    }
    if (!candidate.fits()) return found;
    const Exposure exposure = ExposureOf(*kinds, *mesh, input_.machines.topology);
    found.survives = exposure.level();
    candidate.survival = exposure.node;
    if (!input_.layout || candidate.current) return found;
    TESSERA_TRY(const auto plan,
                ptc::MakeOutline(*input_.layout, *to, input_.machines.topology,
                                 {.lost = input_.lost, .relaying = ptc::Relaying::kIfFaster}));
    if (!input_.in_rounds) NoteBothSides(plan, *mesh, &candidate);
    candidate.moved_bytes = plan.bytes.moved();
    candidate.pause_seconds = EstimatePause(plan);
    if (is_shown_) {
      TESSERA_TRY(candidate.pause_seconds, WholePause(draft.options, *to, plan));
    }
    return found;
  }

  /// The pause that a plan of the change shows: the state is copied while the job trains if that
  /// makes the pause shorter.
  Result<double> WholePause(const StepOptions& options, const ptc::Layout& to,
                            const ptc::Outline& plan) const {
    MemoryNeeds needs(plan.kinds);
    const bool is_recovery = !input_.lost.empty();
    TESSERA_TRY(const OverlapChoice choice, PlanOverlap({.job = &input_,
                                                         .to = &to,
                                                         .plan = &plan,
                                                         .needs = &needs,
                                                         .to_options = options,
                                                         .is_recovery = is_recovery}));
    return choice.plan.chosen ? choice.plan.pause : choice.plan.plain_pause;
  }

  /// Recommends one of those that fit, by the aim.
  void Recommend(std::vector<Found>& all) const {
    std::vector<Found*> fit;
    for (Found& found : all) {
      found.candidate.recommended = false;
      if (found.candidate.fits()) fit.push_back(&found);
    }
    const auto keep_only = [&fit](const auto& is_kept) {
      if (std::any_of(fit.begin(), fit.end(), is_kept)) std::erase_if(fit, std::not_fn(is_kept));
    };
    const bool had_replicas = input_.layout && input_.layout->mesh().shape()[Axis::kDp] > 1;
    if (had_replicas && input_.aim == Aim::kKeepReplicas) {
      int most = 0;
      for (const Found* found : fit) most = std::max(most, found->survives);
      keep_only([most](const Found* found) { return found->survives == most; });
    }
    if (input_.aim != Aim::kUseAll) keep_only([](const Found* found) { return found->keeps; });
    if (Candidate* const best = BestOf(fit)) best->recommended = true;
  }

  /// Whether the candidate counts as one of the fastest. A user who wants to use all
  /// devices accepts any move, so a small gain counts, but not against staying.
  bool IsAsFast(const Candidate& candidate, double fastest) const {
    const bool counts_small = input_.aim == Aim::kUseAll && !candidate.current;
    return candidate.step_seconds <= fastest * (1 + (counts_small ? kSameSpeed : kEqualSpeed));
  }

  /// Returns the fastest candidate among those that leave the fewest devices idle; of equally fast
  /// ones, the one that moves the fewest bytes.
  Candidate* BestOf(const std::vector<Found*>& fit) const {
    std::size_t idle = std::numeric_limits<std::size_t>::max();
    double fastest = std::numeric_limits<double>::infinity();
    for (const Found* f : fit) idle = std::min(idle, f->candidate.idle.size());
    for (const Found* f : fit) {
      if (f->candidate.idle.size() == idle) fastest = std::min(fastest, f->candidate.step_seconds);
    }
    Candidate* best = nullptr;
    for (Found* found : fit) {
      Candidate& c = found->candidate;
      if (c.idle.size() != idle || !IsAsFast(c, fastest)) continue;
      const auto key = [](const Candidate& x) {
        return std::make_tuple(x.moved_bytes, !x.current, x.step_seconds, -x.mesh[Axis::kDp]);
      };
      if (!best || key(c) < key(*best)) best = &c;
    }
    return best;
  }

  /// The error of the configuration that needs the least memory.
  Error NothingFits(const std::vector<Draft>& drafts) const {
    const auto leanest = std::min_element(
        drafts.begin(), drafts.end(),
        [](const Draft& a, const Draft& b) { return a.least_bytes < b.least_bytes; });
    auto mesh = ptc::DeviceMesh::Make(
        leanest->mesh, FirstDevices(leanest->mesh.num_ranks(), leanest->least_bytes));
    if (!mesh) return mesh.error();
    const Status fits = CheckFits(input_.settings, *mesh, leanest->options, input_.capacities);
    if (!fits) return fits.error();
    return ResourceExhausted(fmt::format(
        "job '{}' fits these devices, but no move to them fits{}", input_.job,
        input_.in_rounds ? "" : " while the old state is still held: add --move-memory auto"));
  }

  const SearchInput& input_;
  const std::optional<StepOptions> pinned_;
  std::vector<ptc::DeviceId> devices_;    // ascending
  std::vector<std::int64_t> capacities_;  // of the devices, ascending
  bool is_shown_ = false;
  double anchor_ = 1;
  std::optional<double> now_;  // estimated step time of the current mesh; 0: unknown
  std::optional<Error> refused_;
  std::optional<std::pair<ptc::MeshShape, StepOptions>> kept_;  // the smallest change
  std::array<std::optional<ptc::RuledTensors>, 2> tensors_;     // without and with ZeRO
  std::array<std::optional<StateBytes>, 2> state_;
};

}  // namespace

Result<Proposal> Propose(const SearchInput& input, std::int64_t limit) {
  return Search(input, std::nullopt).Run(std::max<std::int64_t>(limit, 1), true);
}

Result<Choice> ChooseMesh(const SearchInput& input, const std::optional<StepOptions>& options) {
  TESSERA_TRY(const Proposal proposal, Search(input, options).Run(kMaxProposed, false));
  const Candidate& best = proposal.candidates.front();
  return Choice{best.mesh, best.options, best.devices, best.idle, proposal.why};
}

std::optional<double> EstimateStepSeconds(const SearchInput& input, const ptc::DeviceMesh& mesh,
                                          const StepOptions& options) {
  if (input.settings.program) return std::nullopt;
  return Search(input, options).Seconds(mesh, options);
}

}  // namespace tessera::engine
