// SPDX-License-Identifier: Apache-2.0
// The state of a job is copied over several steps, each of which changes it. In the end the copies
// are the state after the last of them, to the bit.
#include "agents/move/follow.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <QTest>
#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

#include "engine/model/job_layout.h"
#include "engine/search/overlap.h"
#include "engine/update/bfloat16.h"
#include "tests/agents/mover_nodes.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;
using namespace tessera::test;

namespace {

constexpr std::int64_t kBytes = std::int64_t{24} << 20;  // of an arena

/// The state of a whole job, with the update of a step.
class Reference {
 public:
  Reference(const engine::JobSettings& settings, ptc::CollectionPtr tensors, std::mt19937_64& rng)
      : settings_(settings), tensors_(std::move(tensors)), rng_(rng) {
    for (const ptc::TensorSpec& spec : tensors_->tensors()) {
      const std::int64_t elements = *ptc::NumElements(spec.shape);
      state_.emplace_back(static_cast<std::size_t>(elements * ptc::SizeBytes(spec.dtype)));
      if (spec.dtype == ptc::DType::kF32) Randomise(state_.back());
      // Second moments are not negative.
      if (spec.role != ptc::TensorRole::kExpAvgSq) continue;
      for (float& value : Floats(state_.back())) value = std::abs(value);
    }
    gradients_.resize(state_.size());
    ForEachParameter([&](std::size_t t) {
      gradients_[t].resize(
          static_cast<std::size_t>(*ptc::NumElements(tensors_->tensors()[t].shape)) *
          sizeof(float));
      if (IsBf16(t)) engine::RoundToBf16(Floats(Of(t, ".master")), Halves(state_[t]));
    });
    NewGradients();
  }

  void NewGradients() {
    ForEachParameter([&](std::size_t t) { Randomise(gradients_[t]); });
  }
  void Update(std::int64_t step, double clip) {
    const auto coefficients = engine::CoefficientsOf(settings_, step, clip);
    ForEachParameter([&](std::size_t t) {
      const auto values = Floats(IsBf16(t) ? Of(t, ".master") : state_[t]);
      engine::AdamW(coefficients.Of(tensors_->tensors()[t].shape.size()), values,
                    Floats(Of(t, ".exp_avg")), Floats(Of(t, ".exp_avg_sq")), Floats(gradients_[t]));
      if (IsBf16(t)) engine::RoundToBf16(values, Halves(state_[t]));
    });
    std::memcpy(state_[static_cast<std::size_t>(*tensors_->Find("job.step"))].data(), &step,
                sizeof step);
  }

  /// Calls `visit(device cell, bytes of the reference)` for each piece of the table.
  template <typename Visit>
  void ForEachPiece(const engine::Arena& arena, const PieceTable& table, PieceEntry::Kind kind,
                    Visit visit) const {
    for (const PieceEntry& entry : table.entries()) {
      if (entry.kind != kind) continue;
      const auto t = static_cast<std::size_t>(entry.tensor);
      const ptc::TensorSpec& spec = tensors_->tensors()[t];
      const bool is_state = kind == PieceEntry::kState;
      const std::int64_t size = is_state ? ptc::SizeBytes(spec.dtype) : 4;
      const std::vector<std::byte>& whole = is_state ? state_[t] : gradients_[t];
      std::vector<std::byte> bytes(static_cast<std::size_t>(entry.size_bytes));
      const engine::CellView part(*Box::Whole(spec.shape), entry.box, size,
                                  const_cast<std::byte*>(whole.data()));
      if (!engine::DeviceCell(part).Pack(0, bytes)) qFatal("a part cannot be read");
      visit(arena.CellAt(entry.offset_bytes, entry.box, entry.box, size), bytes);
    }
  }

 private:
  static std::span<float> Floats(std::vector<std::byte>& bytes) {
    return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
  }
  static std::span<std::uint16_t> Halves(std::vector<std::byte>& bytes) {
    return {reinterpret_cast<std::uint16_t*>(bytes.data()), bytes.size() / 2};
  }
  void Randomise(std::vector<std::byte>& bytes) {
    for (float& value : Floats(bytes)) {
      value = static_cast<float>(static_cast<std::int64_t>(rng_() >> 40) - (1 << 23)) / (1 << 23);
    }
  }
  bool IsBf16(std::size_t t) const { return tensors_->tensors()[t].dtype == ptc::DType::kBF16; }
  std::vector<std::byte>& Of(std::size_t t, const char* suffix) {
    return state_[static_cast<std::size_t>(*tensors_->Find(tensors_->tensors()[t].name + suffix))];
  }
  template <typename Visit>
  void ForEachParameter(Visit visit) {
    for (std::size_t t = 0; t < state_.size(); ++t) {
      if (tensors_->tensors()[t].role == ptc::TensorRole::kParam) visit(t);
    }
  }

  const engine::JobSettings settings_;
  const ptc::CollectionPtr tensors_;
  std::mt19937_64& rng_;
  std::vector<std::vector<std::byte>> state_, gradients_;  // by tensor
};

/// Requests the stop before any thread touches the pages inside of `memory`.
class StopsAtTouch {
 public:
  StopsAtTouch(std::span<float> memory, std::stop_source stop) : stop_(std::move(stop)) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::uintptr_t first = (begin + page - 1) / page * page;
    pages_ = reinterpret_cast<void*>(first);
    size_ = (begin + memory.size_bytes()) / page * page - first;
    only_ = this;
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t*, void*) {
      only_->stop_.request_stop();
      if (::mprotect(only_->pages_, only_->size_, PROT_READ | PROT_WRITE) != 0) std::abort();
    };
    if (::sigaction(SIGSEGV, &action, &before_) != 0) qFatal("no handler");
    if (::mprotect(pages_, size_, PROT_NONE) != 0) qFatal("the pages cannot be protected");
  }
  ~StopsAtTouch() { ::sigaction(SIGSEGV, &before_, nullptr); }
  StopsAtTouch(const StopsAtTouch&) = delete;
  StopsAtTouch& operator=(const StopsAtTouch&) = delete;

 private:
  static inline StopsAtTouch* only_ = nullptr;
  std::stop_source stop_;
  void* pages_ = nullptr;
  std::size_t size_ = 0;
  struct sigaction before_ {};
};

engine::JobSettings Nano(engine::Precision precision) {
  engine::JobSettings settings;
  settings.model = *engine::FindModel("gpt-nano");
  settings.precision = precision;
  return settings;
}

ptc::Layout NanoOn(const engine::JobSettings& settings, const char* mesh, bool zero = false) {
  return *engine::MakeLayout(*engine::TensorsOf(settings, zero), *ptc::ParseDeviceMesh(mesh));
}

std::vector<int> Parameters(const ptc::Layout& layout, std::span<const std::vector<int>> legs) {
  std::vector<int> out;
  for (const std::vector<int>& leg : legs) {
    for (const int tensor : leg) {
      const auto& spec = layout.collection().tensors()[static_cast<std::size_t>(tensor)];
      if (spec.role == ptc::TensorRole::kParam) out.push_back(tensor);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<int> Joined(std::span<const std::vector<int>> legs) {
  std::vector<int> out;
  for (const std::vector<int>& leg : legs) out.insert(out.end(), leg.begin(), leg.end());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

class FollowTest : public QObject {
  Q_OBJECT

 private slots:
  void copiesFollowTheState_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<bool>("bf16");
    QTest::addColumn<bool>("one_host");
    const auto row = [](const char* name, const char* from, const char* to, bool bf16 = false,
                        bool one_host = false) {
      QTest::newRow(name) << QString::fromLatin1(from) << QString::fromLatin1(to) << bf16
                          << one_host;
    };
    row("to another node", "tp=2 on n0g0,n0g1", "tp=2 on n1g0,n1g1");
    row("some pieces stay", "dp=2 on n0g0,n1g0", "pp=2,dp=2 on n0g0,n1g0,n0g1,n1g1");
    row("repacked", "tp=2 on n0g0,n1g0", "dp=2,tp=2 on n0g0,n1g1,n1g0,n0g1");
    row("bf16", "tp=4 on n0g0,n0g1,n1g0,n1g1", "dp=2 on n0g0,n1g0", true);
    row("nodes of one host", "tp=2 on n0g0,n1g0", "tp=4 on n0g0,n0g1,n1g0,n1g1", false, true);
    row("stages", "pp=2 on n0g0,n0g1", "tp=2 on n0g1,n1g0", true);
  }

  void copiesFollowTheState() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(bool, bf16);
    QFETCH(bool, one_host);
    const bool skips = bf16;  // the last step that is followed changes no parameter
    std::mt19937_64 rng(test::Seed());
    const auto settings = Nano(bf16 ? engine::Precision::kBf16 : engine::Precision::kFp32);
    const ptc::Layout before = NanoOn(settings, from.toUtf8());
    const ptc::Layout after = NanoOn(settings, to.toUtf8());
    const ptc::Plan plan = *ptc::MakePlan(before, after, {});
    const auto outline = ptc::MakeOutline(before, after, {});
    const auto legs = engine::SpreadOverSteps(*outline, before, after, {1.7, 0.5, 1.0});
    QVERIFY(legs.size() >= 2);

    Nodes nodes(before, after, plan, engine::OldGradients::kKept, kBytes);
    if (one_host) nodes.ShareHost(false);
    std::set<std::int32_t> numbers;
    const auto follows = Parameters(before, std::span(legs).first(legs.size() - 1));
    for (const DeviceId device : ptc::DevicesOf(before, after)) {
      numbers.insert(device.node);
      MoveContext& context = nodes.Context(device.node);
      MoveContext::Local& local = context.local.at(device);
      context.follows = follows;
      if (!before.mesh().RankOf(device)) continue;
      auto saved =
          engine::AllocateSaved(local.old_table, local.next_table, follows, device, kBytes);
      VERIFY_OK(saved);
      local.saved = *saved;
      // Others of the host find it by the tables in the arena.
      if (one_host) {
        VERIFY_OK(local.next_table.Write(const_cast<engine::Arena&>(*local.arena),
                                         PieceTable::SlotOf(local.next_table.epoch())));
      }
    }

    Reference job(settings, before.collection_ptr(), rng);
    const auto for_each_device = [&](const auto& visit) {
      for (const std::int32_t node : numbers) {
        for (const auto& [device, local] : nodes.Context(node).local) visit(device, local);
      }
    };
    // As the ranks would: in place.
    const auto write = [&](PieceEntry::Kind kind) {
      for_each_device([&](DeviceId, const MoveContext::Local& local) {
        job.ForEachPiece(*local.arena, local.old_table, kind,
                         [](const engine::DeviceCell& cell, std::span<const std::byte> bytes) {
                           VERIFY_OK(cell.Unpack(0, bytes));
                         });
      });
    };
    constexpr std::int64_t kFirst = 7;
    write(PieceEntry::kState);
    const auto num_legs = static_cast<int>(legs.size());
    for (int leg = 1; leg <= num_legs; ++leg) {
      const auto index = static_cast<std::size_t>(leg);
      for (const std::int32_t node : numbers) {
        const MoveContext& context = nodes.Context(node);
        VERIFY_OK(nodes.RunMoves(LegOf(context, leg, legs[index - 1])).status);
        if (leg == 1) continue;
        const auto copied = LegOf(context, leg, Joined(std::span(legs).first(index - 1)));
        VERIFY_OK(nodes.RunMoves(SavedGradientsOf(*copied)).status);
        const StepUpdate update{engine::CoefficientsOf(settings, kFirst + leg - 1, 0.5),
                                kFirst + leg - 1, leg == num_legs && skips};
        VERIFY_OK(UpdateCopies(*copied, update, {}));
      }
      if (leg == num_legs) break;
      job.NewGradients();
      write(PieceEntry::kGradient);
      for (const std::int32_t node : numbers) VERIFY_OK(SaveGradients(nodes.Context(node), {}));
      const bool is_skipped = leg == num_legs - 1 && skips;
      if (!is_skipped) job.Update(kFirst + leg, 0.5);
      write(PieceEntry::kState);
      job.NewGradients();  // of the next step, over those that were kept
      write(PieceEntry::kGradient);
    }
    std::int64_t compared = 0;
    for_each_device([&](DeviceId device, const MoveContext::Local& local) {
      job.ForEachPiece(*local.arena, local.next_table, PieceEntry::kState,
                       [&](const engine::DeviceCell& cell, std::span<const std::byte> bytes) {
                         std::vector<std::byte> copy(bytes.size());
                         VERIFY_OK(cell.Pack(0, copy));
                         QVERIFY2(std::ranges::equal(copy, bytes),
                                  qPrintable(QString::fromStdString(ptc::ToString(device))));
                         ++compared;
                       });
    });
    QVERIFY(compared > 50);
    // The transfer itself finds no difference between old state and copies, and it finds one.
    std::vector<StateDigests> digests;
    const auto compare = [&] {
      digests.clear();
      for (const std::int32_t node : numbers) {
        MoveResult result =
            nodes.RunMoves(LegOf(nodes.Context(node), num_legs, {}), MoveMode::kVerifyFull);
        if (!result.status) return false;
        digests.push_back(result.digests);
      }
      std::vector<const SideDigests*> old_sides, new_sides;
      for (const StateDigests& node : digests) {
        old_sides.push_back(&node.before);
        new_sides.push_back(&node.after);
      }
      return FindDifferences(new_sides).empty() && AddUp(before.collection(), old_sides).digest ==
                                                       AddUp(before.collection(), new_sides).digest;
    };
    QVERIFY(compare());
    const DeviceId last = after.mesh().devices().back();
    const auto& piece = nodes.Context(last.node).local.at(last).next_table.entries().front();
    nodes.Damage(last, false, piece.tensor, piece.box);
    QVERIFY(!compare());
  }

  // With ZeRO a device lacks what the update of its parameters needs.
  void parametersNeedTheirWholeOptimizerState() {
    const auto settings = Nano(engine::Precision::kFp32);
    const ptc::Layout before = NanoOn(settings, "tp=2 on n0g0,n0g1");
    const ptc::Layout after = NanoOn(settings, "dp=2 on n1g0,n1g1", true);
    const ptc::Plan plan = *ptc::MakePlan(before, after, {});
    const Nodes nodes(before, after, plan, engine::OldGradients::kKept, kBytes);
    VERIFY_ERROR(Result<int>(UpdateCopies(nodes.Context(1), {{}, 8, false}, {}).error()),
                 ErrorCode::kFailedPrecondition,
                 "n1g0 lacks a piece of 'h.0.attn.proj.bias.exp_avg' [0:64]");
    VERIFY_OK(UpdateCopies(nodes.Context(1), {{}, 8, true}, {}));  // a step without an update
  }

  // The loop waits for it, and uses the memory again afterwards: it ends inside of the piece.
  void aRunThatIsStoppedEndsWithinALargePiece() {
    constexpr std::size_t kPart = 8192;  // elements
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    std::vector<ptc::TensorSpec> specs(3);
    specs[0].name = "w";
    specs[0].role = ptc::TensorRole::kParam;
    specs[1].name = "w.exp_avg";
    specs[1].role = ptc::TensorRole::kExpAvg;
    specs[2].name = "w.exp_avg_sq";
    specs[2].role = ptc::TensorRole::kExpAvgSq;
    const std::int64_t elements = std::int64_t{kPart} * 4 * (cores + 3);
    for (ptc::TensorSpec& spec : specs) {
      spec.dtype = ptc::DType::kF32;
      spec.shape = {elements};
      spec.rule.dims.emplace_back();
    }
    const ptc::CollectionPtr tensors = *ptc::Collection::Make(std::move(specs), 1);
    const ptc::Layout before = On("dp=1 on n0g0", tensors), after = On("dp=1 on n1g0", tensors);
    const ptc::Plan plan = *ptc::MakePlan(before, after, {});
    const Nodes nodes(before, after, plan, engine::OldGradients::kKept,
                      kBytes + 2 * 4 * 4 * elements);
    const MoveContext::Local& local = nodes.Context(1).local.at({1, 0});
    const auto piece = [&](PieceEntry::Kind kind, const char* name) {
      const PieceEntry* const entry =
          local.next_table.Find(kind, *tensors->Find(name), *Box::Whole({elements}));
      return std::span(reinterpret_cast<float*>(
                           local.arena->CellAt(entry->offset_bytes, entry->box, entry->box, 4)
                               .InPlace(0, entry->size_bytes)
                               .data()),
                       static_cast<std::size_t>(elements));
    };
    std::ranges::fill(piece(PieceEntry::kGradient, "w"), 1.0F);
    const std::span<float> moment = piece(PieceEntry::kState, "w.exp_avg");
    std::ranges::fill(moment, 0.0F);
    std::stop_source stop;
    const StepUpdate update{engine::CoefficientsOf(Nano(engine::Precision::kFp32), 8, 1), 8, false};
    Status ended = OkStatus();
    {
      const StopsAtTouch stops(moment.subspan(2 * kPart), stop);
      ended = UpdateCopies(nodes.Context(1), update, stop.get_token());
    }
    QVERIFY(!ended);
    VERIFY_ERROR(Result<int>(ended.error()), ErrorCode::kCancelled, "the transfer was cancelled");
    // Of more than four times as many: each core may have begun another part.
    int begun = 0;
    for (std::size_t at = 0; at < moment.size(); at += kPart) begun += moment[at] != 0 ? 1 : 0;
    QVERIFY2(begun >= 1 && begun <= 3 + cores, qPrintable(QString::number(begun)));
  }

  void theEndOfARunWaitsForItsThread() {
    std::optional<ErrorCode> ended;
    {
      const FollowRun run(
          [](const std::stop_token& stop) -> Status {
            std::mutex mutex;
            std::unique_lock lock(mutex);
            std::condition_variable_any().wait(lock, stop, [] { return false; });
            return Cancelled("stopped");
          },
          [&](const Status& status) { ended = status.error().code; });
    }
    QCOMPARE(ended, std::optional(ErrorCode::kCancelled));
  }

  void gradientsThatAreNotKeptAreNotServed() {
    const auto settings = Nano(engine::Precision::kFp32);
    const ptc::Layout before = NanoOn(settings, "dp=1 on n0g0");
    const ptc::Layout after = NanoOn(settings, "dp=1 on n1g0");
    const ptc::Plan plan = *ptc::MakePlan(before, after, {});
    const Nodes nodes(before, after, plan, engine::OldGradients::kKept, kBytes);
    const auto num_tensors = static_cast<int>(before.collection().tensors().size());
    int tensor = 0;
    while (before.collection().tensors()[static_cast<std::size_t>(tensor)].role !=
           ptc::TensorRole::kParam) {
      ++tensor;
    }
    const Box box = before.Boxes(0, tensor).front();
    VERIFY_OK(ResolveSource(nodes.ContextPtr(0), {0, num_tensors + tensor, box}));
    VERIFY_ERROR(ResolveSource(nodes.ContextPtr(0), {0, 2 * num_tensors + tensor, box}),
                 ErrorCode::kNotFound, "n0g0 does not hold the kept gradient of ");
    VERIFY_ERROR(ResolveSource(nodes.ContextPtr(0), {0, 3 * num_tensors + tensor, box}),
                 ErrorCode::kNotFound, "n0g0 does not hold");
  }
};

TESSERA_TEST_APPLESS(FollowTest)
#include "follow_test.moc"
