// SPDX-License-Identifier: Apache-2.0
// Nodes in one process carry out plans with and without relay, and forward only verified cells.
#include "agents/move/mover.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QTest>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <future>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <semaphore>
#include <set>
#include <thread>

#include "agents/gpu/arena_memory.h"
#include "agents/move/kept_digests.h"
#include "agents/move/page_warmer.h"
#include "agents/net/socket.h"
#include "agents/views/disposal.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/store/allocate.h"
#include "ptc/digest.h"
#include "ptc/plan/refill.h"
#include "tests/agents/mover_nodes.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;
using namespace tessera::test;
using engine::PieceEntry;
using engine::PieceTable;
using ptc::Axis;
using ptc::Box;
using ptc::DeviceId;

namespace {

/// The cell of a move as its source knows it.
LaneCell CellOf(const ptc::Plan& plan, std::int64_t move) {
  const auto& copy = std::get<ptc::RemoteCopy>(plan.moves[static_cast<std::size_t>(move)]);
  return {copy.source.index, copy.tensor, copy.cell};
}

/// The digest of one side, of all nodes.
std::uint64_t DigestOf(const ptc::Collection& tensors, const std::vector<StateDigests>& nodes,
                       bool before) {
  std::vector<const SideDigests*> sides;
  for (const StateDigests& node : nodes) sides.push_back(before ? &node.before : &node.after);
  return AddUp(tensors, sides).digest;
}
std::vector<GroupDifference> Differing(const SideDigests& side) { return FindDifferences({&side}); }

/// The first move of this kind.
template <typename M>
const M* FindMove(const ptc::Plan& plan) {
  for (const ptc::Move& move : plan.moves) {
    if (const auto* found = std::get_if<M>(&move)) return found;
  }
  return nullptr;
}

ptc::Plan Relayed(const ptc::Layout& from, const ptc::Layout& to) {
  return *ptc::MakePlan(from, to, {}, {.relaying = ptc::Relaying::kIfFaster});
}

/// Indices of the first forwarded move, and of the move that brings its cell to the node.
struct Passing {
  std::int64_t forwarded = -1;
  std::int64_t arrival = -1;
};
Passing FindPassing(const ptc::Plan& plan) {
  for (std::int64_t f = 0; f < std::ssize(plan.moves); ++f) {
    const auto* to = std::get_if<ptc::RemoteCopy>(&plan.moves[static_cast<std::size_t>(f)]);
    if (!to || !to->forwarded) continue;
    for (std::int64_t a = 0; a < std::ssize(plan.moves); ++a) {
      const auto* in = std::get_if<ptc::RemoteCopy>(&plan.moves[static_cast<std::size_t>(a)]);
      if (in && !in->forwarded && in->device == to->source && in->tensor == to->tensor &&
          in->cell == to->cell) {
        return {f, a};
      }
    }
  }
  return {};
}

/// The state of the nodes of a MoverTest as one file.
class StoredFile final : public engine::ByteSource {
 public:
  explicit StoredFile(const ptc::Collection& tensors, std::function<void()> before_read = {})
      : before_read_(std::move(before_read)) {
    for (std::size_t t = 0; t < tensors.tensors().size(); ++t) {
      const ptc::TensorSpec& spec = tensors.tensors()[t];
      const Box whole = *Box::Whole(spec.shape);
      stored_.push_back({spec.name, spec.dtype, spec.shape, {{whole, 0, std::ssize(bytes_)}}});
      const auto size = static_cast<std::size_t>(ptc::SizeBytes(spec.dtype));
      for (std::int64_t i = 0; i < whole.num_elements(); ++i) {
        const std::uint64_t value = ptc::Mix(t * 1000003 + static_cast<std::uint64_t>(i) + 1);
        const auto* const from = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), from, from + size);
      }
    }
  }
  const std::string& name() const override { return name_; }
  std::int64_t size_bytes() const override { return std::ssize(bytes_); }
  std::string version() const override { return "1"; }
  Status ReadAt(std::int64_t offset, std::span<std::byte> out) const override {
    if (before_read_) before_read_();
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return OkStatus();
  }
  static OpenCheckpoint Opener(std::shared_ptr<const StoredFile> file) {
    return [file](const std::string&) {
      checkpoint::Contents contents;
      contents.path = file->name_;
      contents.files = {file->name_};
      contents.tensors = file->stored_;
      contents.open = [file](const std::string&) -> Result<checkpoint::FilePtr> {
        return checkpoint::File::Over(file);
      };
      return checkpoint::Checkpoint::Make(std::move(contents));
    };
  }

 private:
  const std::string name_ = "stored";
  const std::function<void()> before_read_;
  std::vector<std::byte> bytes_;
  std::vector<checkpoint::StoredTensor> stored_;
};

/// A file system that hangs: whoever opens the file waits until it answers.
class HangingFile {
 public:
  HangingFile() {
    if (::mkfifo(path().c_str(), 0600) != 0) qFatal("no fifo");
  }
  std::string path() const { return folder_->filePath("fifo").toStdString(); }
  void Open() {
    began_.release();
    ::close(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
    ++answered_;
  }
  void WaitForReader() { began_.acquire(); }
  /// Lets those that wait go on, and those that come.
  void Answer() {
    const std::lock_guard lock(mutex_);
    if (writer_ < 0) writer_ = ::open(path().c_str(), O_RDWR | O_CLOEXEC);
  }
  int answered() const { return answered_; }
  ~HangingFile() { ::close(writer_); }

 private:
  const std::unique_ptr<QTemporaryDir> folder_ = test::TemporaryFolder();
  std::counting_semaphore<> began_{0};
  std::atomic<int> answered_ = 0;
  std::mutex mutex_;
  int writer_ = -1;  // under mutex_
};

/// Calls `late` if the test has not come to its end by then, so that it fails and does not hang.
class Watchdog {
 public:
  explicit Watchdog(std::function<void()> late)
      : thread_([this, late = std::move(late)](const std::stop_token& stop) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any().wait_for(lock, stop, std::chrono::seconds(40),
                                                 [] { return false; });
          if (!stop.stop_requested()) late();
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace

class MoverTest : public QObject {
  Q_OBJECT

 private slots:
  void newPiecesArePresentBeforeTheMove() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    QSKIP("a sanitizer notes each access in memory that has page faults, too");
#endif
    std::mt19937_64 rng(test::Seed());
    ptc::TensorSpec spec;
    spec.name = "t";
    spec.shape = {4, 32768};
    spec.rule.dims = {{}, {}};
    spec.rule.dims[0].axes = {Axis::kTp};
    const auto tensors = *ptc::Collection::Make({spec}, 1);
    const ptc::Layout from = On("tp=2 on n0g0,n0g1", tensors),
                      to = On("tp=2 on n0g2,n0g3", tensors);
    const ptc::Plan plan = *ptc::MakePlan(from, to, {});
    Nodes nodes(from, to, plan);
    const auto faults = [&](DeviceId device) {
      const MoveContext::Local& local = nodes.Context(0).local.at(device);
      rusage before{}, after{};
      getrusage(RUSAGE_THREAD, &before);
      for (const PieceEntry& piece : local.next_table.entries()) {
        for (std::int64_t at = 0; at < piece.size_bytes; at += 4096) {
          auto* const byte = local.arena->AddressOf(piece.offset_bytes + at);
          *static_cast<volatile std::byte*>(byte) = std::byte{1};
        }
      }
      getrusage(RUSAGE_THREAD, &after);
      return after.ru_minflt - before.ru_minflt;
    };
    QVERIFY(faults({0, 2}) >= 64);  // a piece has 64 pages
    std::promise<void> warm;
    const PageWarmer warmer(nodes.ContextPtr(0), [&] { warm.set_value(); });
    warm.get_future().wait();
    QCOMPARE(faults({0, 3}), 0L);
  }
  void plansAreCarriedOut_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    const auto row = [](const char* name, const char* from, const char* to) {
      QTest::newRow(name) << QString::fromLatin1(from) << QString::fromLatin1(to);
    };
    row("replicas on another node", "tp=2 on n0g0,n0g1", "dp=2,tp=2 on n1g0,n1g1,n1g2,n1g3");
    row("replicas on both", "tp=4 on n0g0,n0g1,n0g2,n0g3",
        "dp=8 on n0g0,n0g1,n0g2,n0g3,n1g0,n1g1,n1g2,n1g3");
    row("three nodes", "dp=2,tp=2 on n0g0,n0g1,n1g0,n1g1", "dp=6 on n1g0,n1g1,n1g2,n2g0,n2g1,n2g2");
    row("nothing to relay", "tp=2 on n0g0,n0g1", "tp=2 on n1g0,n1g1");
    row("inside a node", "tp=2 on n0g0,n0g1", "dp=4 on n0g0,n0g1,n0g2,n0g3");
  }

  // With and without relay the memory is equal in the end, every digest is compared and every byte
  // is counted. With relay, fewer bytes use the lanes. The digest of the state is the same, in the
  // pause from memory, and after the commit from what stayed and what arrived.
  void plansAreCarriedOut() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    std::mt19937_64 rng(test::Seed());
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On(from.toStdString(), tensors);
    const ptc::Layout after = On(to.toStdString(), tensors);
    const auto direct = ptc::MakePlan(before, after, {});
    VERIFY_OK(direct);
    std::optional<std::uint64_t> digest;
    const ptc::Plan relayed = Relayed(before, after);
    for (const auto& [plan, mode] :
         {std::pair(*direct, MoveMode::kVerifyMoved), std::pair(relayed, MoveMode::kVerifyMoved),
          std::pair(relayed, MoveMode::kVerifyFull)}) {
      Nodes nodes(before, after, plan);
      std::vector<StateDigests> digests;
      std::int64_t compared = 0;
      std::set<std::int32_t> numbers;
      for (const DeviceId device : ptc::DevicesOf(before, after)) numbers.insert(device.node);
      for (const std::int32_t node : numbers) {
        const MoveResult result = nodes.Run(node, mode);
        VERIFY_OK(result.status);
        const bool is_full = mode == MoveMode::kVerifyFull;
        QCOMPARE(result.digests.has_before, is_full);
        QCOMPARE(result.digests.has_after, is_full);
        const KeptResult kept = nodes.Keep(node, result);
        VERIFY_OK(kept.status);
        if (is_full) QCOMPARE(kept.digests.after.groups, result.digests.after.groups);
        digests.push_back(is_full ? result.digests : kept.digests);
        compared += result.checksums_equal;
      }
      QCOMPARE(nodes.CountWrong(), 0);
      QVERIFY(nodes.complete());
      QCOMPARE(nodes.arrived(), plan.bytes.moved());
      QCOMPARE(nodes.arrived(), direct->bytes.moved());
      QCOMPARE(nodes.sent(), plan.bytes.network);
      QCOMPARE(compared, std::ranges::count_if(plan.moves, [](const ptc::Move& move) {
                 return std::holds_alternative<ptc::RemoteCopy>(move);
               }));
      const std::uint64_t now = DigestOf(*tensors, digests, false);
      QCOMPARE(DigestOf(*tensors, digests, true), now);
      QCOMPARE(digest.value_or(now), now);
      digest = now;
      std::vector<const SideDigests*> sides;
      for (const StateDigests& node : digests) sides.push_back(&node.after);
      QVERIFY(FindDifferences(sides).empty());
      for (const DeviceId device : after.mesh().devices()) {
        QCOMPARE(nodes.HoldOf(device), std::uint64_t{0});
      }
    }
  }

  // After the state the gradients of the parameters move, over lanes, inside nodes and by relay,
  // and neither old state nor old gradients have changed then.
  void aCheckpointIsRead() {
    std::mt19937_64 rng(test::Seed());
    const auto tensors = AnyTensors(rng);
    const ptc::Layout from = On("tp=1 on n0g0", tensors), to = On("tp=2 on n1g0,n1g1", tensors);
    Nodes nodes(from, to, *ptc::MakePlan(from, to, {}));
    const MoveResult result = nodes.RunMoves(
        Loading(nodes, to, StoredFile::Opener(std::make_shared<const StoredFile>(*tensors))));
    VERIFY_OK(result.status);
    QCOMPARE(nodes.CountWrong(), 0);
    QVERIFY(result.digests.has_after);
  }

  /// The agent's loop destroys a transfer that is cancelled, and must not wait for a file system.
  /// What the reads bring later comes to nothing, because other state may lie there by then.
  void aFileSystemThatHangsIsLeftBehind_data() {
    QTest::addColumn<bool>("at_open");
    QTest::newRow("a file is opened") << true;
    QTest::newRow("elements are read") << false;
  }
  void aFileSystemThatHangsIsLeftBehind() {
    QFETCH(bool, at_open);
    std::mt19937_64 rng(test::Seed());
    const auto tensors = AnyTensors(rng);
    const ptc::Layout from = On("tp=1 on n0g0", tensors), to = On("tp=1 on n1g0", tensors);
    Nodes nodes(from, to, *ptc::MakePlan(from, to, {}));
    HangingFile hanging;
    std::atomic<int> left_waiting = -1;
    const Watchdog watchdog([&] { hanging.Answer(); });
    {
      Disposal left;
      const auto file = std::make_shared<const StoredFile>(*tensors, [&] {
        if (!at_open) hanging.Open();
      });
      const OpenCheckpoint open = [&, stored = StoredFile::Opener(file)](const std::string& path) {
        if (at_open) hanging.Open();
        return stored(path);
      };
      std::promise<MoveResult> done;
      auto mover = std::make_unique<Mover>(
          Loading(nodes, to, open), Mover::Wire{nullptr, AgentKeys(), nullptr, {}, &left},
          [&](MoveResult result) { done.set_value(std::move(result)); });
      hanging.WaitForReader();
      mover.reset();
      left_waiting = hanging.answered();
      VERIFY_ERROR(done.get_future().get().status, ErrorCode::kCancelled, "was cancelled");
      hanging.Answer();
    }  // the reads have ended
    QCOMPARE(left_waiting.load(), 0);
    QVERIFY(hanging.answered() > 0);
    for (std::size_t t = 0; t < tensors->tensors().size(); ++t) {
      const Box whole = *Box::Whole(tensors->tensors()[t].shape);
      QVERIFY(!nodes.IsTouched({1, 0}, static_cast<int>(t), whole));
    }
  }

  void gradientsFollowTheState_data() { plansAreCarriedOut_data(); }
  void gradientsFollowTheState() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    std::mt19937_64 rng(test::Seed());
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On(from.toStdString(), tensors);
    const ptc::Layout after = On(to.toStdString(), tensors);
    const ptc::Plan plan = Relayed(before, after);
    Nodes nodes(before, after, plan, engine::OldGradients::kKept);
    std::set<std::int32_t> numbers;
    for (const DeviceId device : ptc::DevicesOf(before, after)) numbers.insert(device.node);
    for (const std::int32_t node : numbers) VERIFY_OK(nodes.Run(node).status);
    QCOMPARE(nodes.CountWrong(), 0);
    QVERIFY(nodes.CountWrong(PieceEntry::kGradient) > 0);
    const std::int64_t state = nodes.sent();
    for (const std::int32_t node : numbers) VERIFY_OK(nodes.RunGradients(node).status);
    QCOMPARE(nodes.CountWrong(PieceEntry::kGradient), 0);
    QCOMPARE(nodes.CountWrong(), 0);
    std::int64_t expected = 0;  // over lanes
    for (const ptc::Move& move : plan.moves) {
      const auto* copy = std::get_if<ptc::RemoteCopy>(&move);
      if (!copy || copy->forwarded || copy->source.node == copy->device.node) continue;
      const bool is_param = tensors->tensors()[static_cast<std::size_t>(copy->tensor)].role ==
                            ptc::TensorRole::kParam;
      if (is_param) expected += copy->cell.num_elements() * 4;
    }
    QCOMPARE(nodes.sent() - state, expected);
  }

  // Before the commit, while ranks compute, the digests are those of after it. Nothing is held, and
  // a device that has begun an update has none.
  void digestsAreTakenAhead() {
    std::mt19937_64 rng(test::Seed() + 9);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On("dp=2,tp=2 on n0g0,n0g1,n1g0,n1g1", tensors);
    const ptc::Layout after = On("dp=3,tp=2 on n0g0,n0g1,n1g0,n1g1,n1g2,n1g3", tensors);
    const ptc::Plan plan = *ptc::MakePlan(before, after, {});
    Nodes nodes(before, after, plan, engine::OldGradients::kKept);
    for (const std::int32_t node : {0, 1}) {
      const MoveResult result = nodes.Run(node);
      VERIFY_OK(result.status);
      const KeptResult early = nodes.TakeAhead(node, result);
      VERIFY_OK(early.status);
      const KeptResult late = nodes.Keep(node, result);
      VERIFY_OK(late.status);
      QCOMPARE(early.digests.after.groups, late.digests.after.groups);
      QCOMPARE(early.digests.after.sums, late.digests.after.sums);
      QCOMPARE(early.devices.size(), late.devices.size());
      for (const auto& [device, local] : nodes.Context(node).local) {
        QCOMPARE(nodes.HoldOf(device), std::uint64_t{0});
      }
    }
    const MoveResult again = nodes.Run(0);
    const KeptState state{nodes.ContextPtr(0), again.arrived, kStep - 1, true};
    std::promise<KeptResult> promise;
    auto future = promise.get_future();
    const KeptDigests run(state, [&](KeptResult kept) { promise.set_value(std::move(kept)); });
    VERIFY_ERROR(Result<int>(future.get().status.error()), ErrorCode::kDataLoss, "continued");
  }

  // The change drops the replicas of n1, which it neither moves nor keeps.
  void replicasThatAreDroppedAreComparedAhead() {
    std::mt19937_64 rng(test::Seed() + 10);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On("dp=2,tp=2 on n0g0,n0g1,n1g0,n1g1", tensors);
    const ptc::Layout after = On("dp=1,tp=2 on n0g0,n0g1", tensors);
    const ptc::Plan plan = *ptc::MakePlan(before, after, {});
    const DeviceId bad{1, 0};
    for (const bool is_damaged : {false, true}) {
      Nodes nodes(before, after, plan, engine::OldGradients::kKept);
      if (is_damaged) nodes.Damage(bad);
      std::vector<KeptResult> kept;
      for (const std::int32_t node : {0, 1}) {
        const MoveResult result = nodes.Run(node);
        VERIFY_OK(result.status);
        kept.push_back(nodes.TakeAhead(node, result));
        VERIFY_OK(kept.back().status);
        QCOMPARE(kept.back().before.size(), std::size_t{2});
        QVERIFY(!kept.back().digests.before.groups.empty());
      }
      const auto differences = FindDifferences({&kept[0].digests.before, &kept[1].digests.before});
      if (!is_damaged) {
        QVERIFY(differences.empty());
        continue;
      }
      QCOMPARE(differences.size(), std::size_t{1});
      const std::vector<DeviceId>& named = differences.front().devices;
      QVERIFY(named.size() > 1 && std::ranges::count(named, bad) == 1);
      const ptc::DeviceCells cells(before, after, ptc::CellOwners::kHolders);
      std::vector<DeviceDigests> rows;
      for (const KeptResult& one : kept) {
        for (const DeviceDigests& device : one.before) {
          auto digests = OfGroup(cells, device, differences.front().group);
          if (!digests.empty()) rows.push_back({device.device, std::move(digests)});
        }
      }
      const std::string text =
          DescribeDifference(before.collection(), cells, differences.front().group, rows);
      QVERIFY2(text.find("n1g0 holds ") != std::string::npos, text.c_str());
    }
  }

  // The same in the pause, before the transfer: only what the change drops is read.
  void replicasThatAreDroppedAreReadBeforeATransfer() {
    std::mt19937_64 rng(test::Seed() + 12);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On("dp=2,tp=2 on n0g0,n0g1,n1g0,n1g1", tensors);
    const auto differencesTo = [&](const char* mesh, bool is_damaged) {
      const ptc::Layout after = On(mesh, tensors);
      const ptc::Plan plan = *ptc::MakePlan(before, after, {});
      Nodes nodes(before, after, plan);
      if (is_damaged) nodes.Damage({1, 0});
      std::vector<MoveResult> read;
      for (const std::int32_t node : {0, 1}) {
        read.push_back(nodes.Run(node, MoveMode::kReplicas));
        if (!read.back().status) return std::ptrdiff_t{-1};
        if (!read.back().digests.before.sums.empty()) return std::ptrdiff_t{-2};
      }
      if (nodes.arrived() != 0) return std::ptrdiff_t{-3};
      return std::ssize(FindDifferences({&read[0].digests.before, &read[1].digests.before}));
    };
    QCOMPARE(differencesTo("dp=1,tp=2 on n0g0,n0g1", false), 0);
    QCOMPARE(differencesTo("dp=1,tp=2 on n0g0,n0g1", true), 1);
    QCOMPARE(differencesTo("dp=1,tp=2 on n1g0,n1g1", true), 1);
    // All replicas stay: they are compared after the commit.
    QCOMPARE(differencesTo("dp=3,tp=2 on n0g0,n0g1,n1g0,n1g1,n0g2,n1g2", true), 0);
  }

  // A node that could not read in advance reads in the pause. The others have read more groups.
  void nodesMayReadReplicasInBothWays() {
    std::mt19937_64 rng(test::Seed() + 13);
    const auto tensors = AnyTensors(rng);
    // The replicas on n0g0 and n1g0 stay.
    const ptc::Layout before = On("dp=2,tp=2 on n0g0,n0g1,n1g0,n1g1", tensors);
    const ptc::Layout after = On("dp=2,tp=2 on n0g0,n2g0,n1g0,n2g1", tensors);
    const ptc::Plan plan = *ptc::MakePlan(before, after, {});
    for (const bool is_damaged : {false, true}) {
      Nodes nodes(before, after, plan, engine::OldGradients::kKept);
      if (is_damaged) nodes.Damage({1, 1});
      const MoveResult moved = nodes.Run(0);
      VERIFY_OK(moved.status);
      const KeptResult ahead = nodes.TakeAhead(0, moved);
      VERIFY_OK(ahead.status);
      const MoveResult read = nodes.Run(1, MoveMode::kReplicas);
      VERIFY_OK(read.status);
      QVERIFY(!read.digests.before.groups.empty());
      QVERIFY(read.digests.before.groups.size() < ahead.digests.before.groups.size());
      QCOMPARE(FindDifferences({&ahead.digests.before, &read.digests.before}).empty(), !is_damaged);
    }
  }

  // What a node says of its host and its arenas is a claim: the path may lead to an arena of
  // another cluster.
  void onlyTheArenaThatIsMeantIsMapped() {
    std::mt19937_64 rng(test::Seed() + 11);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On("tp=2 on n0g0,n0g1", tensors);
    const ptc::Layout after = On("tp=2 on n1g0,n1g1", tensors);
    ptc::Topology one_host;
    one_host.host_of_node = {{0, 0}, {1, 0}};
    const ptc::Plan plan = *ptc::MakePlan(before, after, one_host);
    for (const bool differ : {false, true}) {
      Nodes nodes(before, after, plan);
      nodes.ShareHost(differ);
      const MoveResult result = nodes.Run(1);
      if (differ) {
        VERIFY_ERROR(result.status, ErrorCode::kPermissionDenied,
                     "is not the arena that its node names");
        continue;
      }
      VERIFY_OK(result.status);
      QCOMPARE(nodes.CountWrong(), 0);
      QCOMPARE(nodes.sent(), std::int64_t{0});
    }
  }

  // Neither waits for the other: a copy that lasts until lanes have brought bytes ends.
  void lanesBringCellsDuringCopies() {
    std::mt19937_64 rng(test::Seed() + 9);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On("dp=2 on n0g0,n1g0", tensors);
    const ptc::Layout after = On("dp=2,tp=2 on n1g1,n1g2,n1g3,n1g4", tensors);
    ptc::Plan plan = *ptc::MakePlan(before, after, {});
    // Half of the copies come from the other node.
    int copies = 0;
    for (ptc::Move& move : plan.moves) {
      auto* copy = std::get_if<ptc::RemoteCopy>(&move);
      if (copy != nullptr && ++copies % 2 == 0) copy->source = {0, 0};
    }
    Nodes nodes(before, after, plan);
    std::atomic<bool> has_waited = false, has_arrived = false;
    const MoveResult result = nodes.Run(1, MoveMode::kVerifyMoved, [&](Mover::Moment moment) {
      if (moment != Mover::Moment::kSourceDigested || has_waited.exchange(true)) return;
      has_arrived = QTest::qWaitFor([&] { return nodes.sent() > 0; }, 10'000);
    });
    VERIFY_OK(result.status);
    QVERIFY(has_waited);
    QVERIFY(has_arrived);
    QCOMPARE(nodes.CountWrong(), 0);
  }

  // The reason of the side that failed is reported, not that the other was cancelled.
  void theSideThatFailedIsReported() {
    std::mt19937_64 rng(test::Seed() + 10);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On("dp=2 on n0g0,n1g0", tensors);
    const ptc::Layout after = On("dp=4 on n1g0,n1g1,n1g2,n1g3", tensors);
    ptc::Plan plan = *ptc::MakePlan(before, after, {});
    for (ptc::Move& move : plan.moves) {
      auto* copy = std::get_if<ptc::RemoteCopy>(&move);
      if (copy != nullptr && copy->device == DeviceId{1, 3}) copy->source = {0, 0};
    }
    Nodes nodes(before, after, plan);
    std::once_flag once;
    const MoveResult result = nodes.Run(1, MoveMode::kVerifyMoved, [&](Mover::Moment moment) {
      if (moment != Mover::Moment::kSourceDigested) return;
      std::call_once(once, [&] {
        for (const ptc::Move& move : plan.moves) {
          const auto* copy = std::get_if<ptc::RemoteCopy>(&move);
          if (copy == nullptr || copy->device != DeviceId{1, 1}) continue;
          nodes.Damage({1, 0}, true, copy->tensor, copy->cell);
        }
      });
    });
    VERIFY_ERROR(result.status, ErrorCode::kDataLoss, "on its source n1g0");
  }

  // A cell that differs from its source ends the transfer before it is forwarded.
  void whatIsNotVerifiedIsNotPassedOn() {
    std::mt19937_64 rng(test::Seed() + 1);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On("tp=2 on n0g0,n0g1", tensors);
    const ptc::Layout after = On("dp=3 on n1g0,n1g1,n1g2", tensors);
    const ptc::Plan plan = Relayed(before, after);
    const Passing passing = FindPassing(plan);
    QVERIFY(passing.arrival >= 0);
    Nodes nodes(before, after, plan);
    nodes.LieAbout(CellOf(plan, passing.arrival));
    const MoveResult result = nodes.Run(1);
    VERIFY_ERROR(result.status, ErrorCode::kDataLoss, "at the source");
    for (const ptc::Move& move : plan.moves) {
      const auto* copy = std::get_if<ptc::RemoteCopy>(&move);
      if (copy == nullptr) continue;
      if (copy->forwarded) {
        QVERIFY(!nodes.IsTouched(copy->device, copy->tensor, copy->cell));
      }
    }
  }

  // A node serves any box of its old pieces, and nothing of its new ones, which it forwards from.
  void onlyOldPiecesAreServed() {
    std::mt19937_64 rng(test::Seed() + 2);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On("dp=1 on n0g0", tensors);
    const ptc::Layout after = On("dp=2 on n1g0,n1g1", tensors);
    const ptc::Plan plan = Relayed(before, after);
    const Passing passing = FindPassing(plan);
    QVERIFY(passing.forwarded >= 0);
    Nodes nodes(before, after, plan);
    const LaneCell arrival = CellOf(plan, passing.arrival);
    const auto served = [&](std::int32_t node, const LaneCell& cell) {
      return ResolveSource(nodes.ContextPtr(node), cell);
    };
    VERIFY_OK(served(0, arrival));
    const std::string& name = tensors->tensors()[static_cast<std::size_t>(arrival.tensor)].name;
    const std::string named = "tensor '" + name + "' " + ToString(arrival.box);
    VERIFY_ERROR(
        served(1, CellOf(plan, passing.forwarded)), ErrorCode::kNotFound,
        "n1g" + std::to_string(CellOf(plan, passing.forwarded).device) + " does not hold " + named);
    VERIFY_ERROR(served(1, arrival), ErrorCode::kNotFound, "n1g0 does not hold " + named);
    // Cells that a peer may name, but that nobody holds.
    LaneCell wrong = arrival;
    wrong.device = 7;
    VERIFY_ERROR(served(0, wrong), ErrorCode::kNotFound, "n0g7 does not hold " + named);
    wrong = arrival;
    const auto count = static_cast<std::int32_t>(std::ssize(tensors->tensors()));
    for (const std::int32_t unknown : {3 * count, std::numeric_limits<std::int32_t>::max(), -1}) {
      wrong.tensor = unknown;
      VERIFY_ERROR(served(0, wrong), ErrorCode::kNotFound, "tensor " + std::to_string(unknown));
    }
    wrong = arrival;
    std::vector<ptc::Interval> dims(static_cast<std::size_t>(arrival.box.rank()) + 1, {0, 1});
    wrong.box = *Box::Make(dims);
    VERIFY_ERROR(served(0, wrong), ErrorCode::kNotFound, "n0g0 does not hold tensor ");
    const auto has_dims = std::ranges::find_if(
        tensors->tensors(), [](const ptc::TensorSpec& spec) { return !spec.shape.empty(); });
    QVERIFY(has_dims != tensors->tensors().end());
    wrong.tensor = static_cast<std::int32_t>(has_dims - tensors->tensors().begin());
    dims.assign(has_dims->shape.size(), {1 << 20, 1 << 21});
    wrong.box = *Box::Make(dims);
    VERIFY_ERROR(served(0, wrong), ErrorCode::kNotFound, ToString(wrong.box));
  }

  // ---- a wrong byte, and when it is found. A byte that changes on the wire:
  // tests/agents/lanes_test.

  // A source that changes between its digest and its copy ends the transfer.
  void aSourceThatChangesIsFound_data() { BothModes(); }
  void aSourceThatChangesIsFound() {
    QFETCH(bool, full);
    std::mt19937_64 rng(test::Seed() + 3);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On("dp=1 on n0g0", tensors);
    const ptc::Layout after = On("dp=2 on n0g0,n0g1", tensors);
    const ptc::Plan plan = *ptc::MakePlan(before, after, {});
    Nodes nodes(before, after, plan);
    std::once_flag once;
    const MoveResult result = nodes.Run(0, ModeOf(full), [&](Mover::Moment moment) {
      if (moment != Mover::Moment::kSourceDigested) return;
      std::call_once(once, [&] {
        for (const ptc::Move& move : plan.moves) {
          const auto* copy = std::get_if<ptc::RemoteCopy>(&move);
          if (copy != nullptr) nodes.Damage({0, 0}, true, copy->tensor, copy->cell);
        }
      });
    });
    VERIFY_ERROR(result.status, ErrorCode::kDataLoss, "on its source n0g0");
  }

  // A source is digested block by block, each before its copies. A block that changes before it is
  // digested is copied as it is, unless the digest of the whole cell was taken before.
  void aLaterBlockThatChanges_data() { BothModes(); }
  void aLaterBlockThatChanges() {
    QFETCH(bool, full);
    constexpr std::int64_t kElements = 100'000;
    ptc::TensorSpec spec;
    spec.name = "w";
    spec.shape = {kElements};
    spec.rule.dims.resize(1);
    const auto tensors = *ptc::Collection::Make({spec}, 1);
    const ptc::Layout before = On("dp=1 on n0g0", tensors);
    const ptc::Layout after = On("dp=3 on n0g0,n0g1,n0g2", tensors);
    const ptc::Plan plan = *ptc::MakePlan(before, after, {});
    const auto transfer = [&](bool changes_digested) {
      Nodes nodes(before, after, plan);
      int blocks = 0;
      MoveResult result = nodes.Run(0, ModeOf(full), [&](Mover::Moment moment) {
        if (moment != Mover::Moment::kSourceDigested || ++blocks != 2) return;
        // The second of seven blocks has been digested, the last has not.
        const std::int64_t at = changes_digested ? kElements / 4 : kElements - 1;
        nodes.Damage({0, 0}, true, 0, *Box::Make(std::vector<ptc::Interval>{{at, at + 1}}));
      });
      return result;
    };
    VERIFY_ERROR(transfer(true).status, ErrorCode::kDataLoss, "tensor 'w' [0:100000]: digest on");
    const MoveResult later = transfer(false);
    if (full) {
      VERIFY_ERROR(later.status, ErrorCode::kDataLoss, "tensor 'w' [0:100000]: digest on");
      return;
    }
    VERIFY_OK(later.status);
  }

  // The same for a cell that is repacked on its device.
  void aRepackedCellThatChangesIsFound_data() { BothModes(); }
  void aRepackedCellThatChangesIsFound() {
    QFETCH(bool, full);
    ptc::TensorSpec spec;
    spec.name = "w";
    spec.shape = {8, 8};
    spec.rule.dims.resize(2);
    spec.rule.dims[1].axes = {Axis::kTp};
    const auto tensors = *ptc::Collection::Make({spec}, 1);
    const ptc::Layout before = On("tp=1 on n0g0", tensors);
    const ptc::Layout after = On("tp=2 on n0g0,n0g1", tensors);
    const ptc::Plan plan = *ptc::MakePlan(before, after, {});
    const auto* local = FindMove<ptc::LocalCopy>(plan);
    QVERIFY(local != nullptr);
    Nodes nodes(before, after, plan);
    std::once_flag once;
    const MoveResult result = nodes.Run(0, ModeOf(full), [&](Mover::Moment moment) {
      if (moment != Mover::Moment::kSourceDigested) return;
      std::call_once(once, [&] {
        nodes.Damage({0, 0}, true, local->tensor, FindMove<ptc::RemoteCopy>(plan)->cell);
        nodes.Damage({0, 0}, true, local->tensor, local->cell);
      });
    });
    QCOMPARE(result.status.has_value(), false);
    QCOMPARE(result.status.error().code, ErrorCode::kDataLoss);
  }

  // A cell that changes after it was compared is found only where all is verified.
  void aCellThatChangesAfterItWasCompared_data() { BothModes(); }
  void aCellThatChangesAfterItWasCompared() {
    QFETCH(bool, full);
    std::mt19937_64 rng(test::Seed() + 5);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout before = On("dp=1 on n0g0", tensors);
    const ptc::Layout after = On("dp=1 on n1g0", tensors);
    const ptc::Plan plan = *ptc::MakePlan(before, after, {});
    const auto* copy = FindMove<ptc::RemoteCopy>(plan);
    Nodes nodes(before, after, plan);
    const MoveResult result = nodes.Run(1, ModeOf(full), [&](Mover::Moment moment) {
      if (moment == Mover::Moment::kTransferred) {
        nodes.Damage(copy->device, false, copy->tensor, copy->cell);
      }
    });
    if (full) {
      VERIFY_ERROR(result.status, ErrorCode::kDataLoss, "became");
      return;
    }
    VERIFY_OK(result.status);
  }

  // A kept cell without a replica that changes in the pause: full verification reads it twice.
  // Otherwise it is what it is, and no digest tells.
  void aKeptCellThatChanges_data() { BothModes(); }
  void aKeptCellThatChanges() {
    QFETCH(bool, full);
    std::mt19937_64 rng(test::Seed() + 6);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout layout = On("dp=1 on n0g0", tensors);
    const ptc::Plan plan = *ptc::MakePlan(layout, layout, {});
    const auto* kept = FindMove<ptc::Keep>(plan);
    QVERIFY(kept != nullptr);
    Nodes nodes(layout, layout, plan);
    const MoveResult result = nodes.Run(0, ModeOf(full), [&](Mover::Moment moment) {
      if (moment == Mover::Moment::kReceived) {
        nodes.Damage(kept->device, true, kept->tensor, kept->piece);
      }
    });
    if (full) {
      VERIFY_ERROR(result.status, ErrorCode::kDataLoss, "became");
      return;
    }
    VERIFY_OK(result.status);
    const KeptResult after = nodes.Keep(0, result);
    VERIFY_OK(after.status);
    QVERIFY(Differing(after.digests.after).empty());
    QCOMPARE(DigestOf(*tensors, {after.digests}, true), DigestOf(*tensors, {after.digests}, false));
  }

  // A wrong replica that nobody moves is found after the commit, or in the pause if all is
  // verified. The cells of the group name it.
  void aReplicaThatDiffers_data() { BothModes(); }
  void aReplicaThatDiffers() {
    QFETCH(bool, full);
    std::mt19937_64 rng(test::Seed() + 7);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout layout = On("dp=3 on n0g0,n0g1,n0g2", tensors);
    const ptc::Plan plan = *ptc::MakePlan(layout, layout, {});
    const auto* kept = FindMove<ptc::Keep>(plan);
    QVERIFY(kept != nullptr);
    Nodes nodes(layout, layout, plan);
    nodes.Damage({0, 2}, true, kept->tensor, kept->piece);
    const MoveResult result = nodes.Run(0, ModeOf(full));
    VERIFY_OK(result.status);
    const KeptResult after = nodes.Keep(0, result);
    VERIFY_OK(after.status);
    const auto differing = Differing(full ? result.digests.before : after.digests.after);
    QCOMPARE(differing.size(), std::size_t{1});
    QVERIFY(differing[0].devices == layout.mesh().devices());
    const ptc::DeviceCells cells(layout, layout, ptc::CellOwners::kNeeders);
    std::vector<DeviceDigests> rows;
    for (const DeviceDigests& device : full ? result.before : after.devices) {
      rows.push_back({device.device, OfGroup(cells, device, differing[0].group)});
    }
    const std::string text = DescribeDifference(*tensors, cells, differing[0].group, rows);
    const std::string wanted =
        "tensor '" + tensors->tensors()[static_cast<std::size_t>(kept->tensor)].name + "' ";
    QVERIFY2(text.starts_with(wanted), text.c_str());
    QVERIFY2(text.find(": n0g0 holds digest ") != std::string::npos, text.c_str());
    QVERIFY2(text.find(", n0g2 holds ") != std::string::npos, text.c_str());
  }

  // A device that continues although it is held has no digests, and the others are held no longer.
  void aDeviceThatContinuesHasNoDigests() {
    std::mt19937_64 rng(test::Seed() + 8);
    const auto tensors = AnyTensors(rng);
    const ptc::Layout layout = On("dp=2 on n0g0,n0g1", tensors);
    Nodes nodes(layout, layout, *ptc::MakePlan(layout, layout, {}));
    const MoveResult result = nodes.Run(0);
    VERIFY_OK(result.status);
    const KeptResult kept = nodes.Keep(0, result, [&] {
      QCOMPARE(nodes.HoldOf({0, 0}), static_cast<std::uint64_t>(kStep + 1));
      QCOMPARE(nodes.HoldOf({0, 1}), static_cast<std::uint64_t>(kStep + 1));
      nodes.HeaderOf({0, 1}).end = static_cast<std::uint64_t>(kStep + 1);
    });
    VERIFY_ERROR(kept.status, ErrorCode::kDataLoss, "n0g1 continued from step 41");
    QCOMPARE(nodes.HoldOf({0, 0}), std::uint64_t{0});
    QCOMPARE(nodes.HoldOf({0, 1}), std::uint64_t{0});
  }

 private:
  static MoveMode ModeOf(bool full) {
    return full ? MoveMode::kVerifyFull : MoveMode::kVerifyMoved;
  }
  /// The transfer that fills the new pieces of node 1 from a checkpoint.
  static std::shared_ptr<const MoveContext> Loading(const Nodes& nodes, const ptc::Layout& to,
                                                    const OpenCheckpoint& open) {
    auto context = std::make_shared<MoveContext>(nodes.Context(1));
    std::vector<DeviceId> own;
    for (const auto& [device, local] : context->local) own.push_back(device);
    context->plan = std::make_shared<const ptc::DeviceMoves>(ptc::RefillMoves(to, own));
    context->open_checkpoint = [open, tensors = to.collection_ptr()] {
      return StoredTensors::Open({"stored", false, 0}, *tensors, open);
    };
    return context;
  }
  static void BothModes() {
    QTest::addColumn<bool>("full");
    QTest::newRow("moved") << false;
    QTest::newRow("full") << true;
  }
};

TESSERA_TEST(MoverTest)
#include "mover_test.moc"
