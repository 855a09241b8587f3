// SPDX-License-Identifier: Apache-2.0
// The transfer of a transaction at one node. The test ends its moves by hand.
#include "agents/node/change_transfer.h"

#include <QTest>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/keeper/packet.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/model/gpt.h"
#include "engine/store/allocate.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

constexpr std::int64_t kStep = 5;  // of the state that moves
constexpr std::int64_t kCapacity =
    static_cast<std::int64_t>(engine::kArenaDataOffset) + (std::int64_t{1} << 20);

ptc::Layout LayoutOn(const std::string& mesh) {
  return *ptc::ParseLayout(
      R"({"mesh":")" + mesh +
      R"(","num_layers":1,"tensors":[{"dtype":"f32","name":"w","place":"all","role":"param",)"
      R"("rule":[["tp"]],"shape":[8]}]})");
}

/// What a move or a run of digests has become.
struct Work {
  std::function<void(MoveResult)> done;
  bool is_cancelled = false;
  bool has_ended = false;  // it was destroyed, for which its threads are waited for
};

class HeldMove final : public Move {
 public:
  explicit HeldMove(Work& work) : work_(work) {}
  ~HeldMove() override { work_.has_ended = true; }
  void Cancel() override { work_.is_cancelled = true; }
  const std::vector<std::unique_ptr<MoveFlow>>& flows() const override { return flows_; }
  std::int64_t storage_done() const override { return 0; }

 private:
  Work& work_;
  const std::vector<std::unique_ptr<MoveFlow>> flows_;
};

/// The only node of a job, which leaves the second of its two GPUs.
struct Node {
  std::deque<Work> moves;
  std::function<void(KeptResult)> digests_done;
  std::function<void()> pages_done;
  int done = 0;  // how often the transfer has reported its end

  const ptc::Layout from = LayoutOn("dp=1,tp=2,pp=1 on n0g0,n0g1");
  const ptc::Layout to = LayoutOn("dp=1,tp=1,pp=1 on n0g0");
  AgentConfig config;
  NodeWorld world;
  Uplink uplink{config, world};
  DeviceStore devices;
  CommittedDigests digests{world, uplink};
  PlanMemo memo;
  PreparedChange change{Message()};
  ChangeTransfer transfer{change, 0, world, devices, digests, uplink};

  Node() {
    world.send = [](const wire::FromNode&) {};
    world.start_move = [this](std::shared_ptr<const MoveContext>, MoveMode,
                              std::function<void(MoveResult)> then) {
      return std::make_unique<HeldMove>(moves.emplace_back(Work{std::move(then)}));
    };
    world.start_kept_digests = [this](KeptState, std::function<void(KeptResult)> then) {
      digests_done = std::move(then);
      return std::make_unique<KeptRun>();
    };
    world.warm_pages = [this](std::shared_ptr<const MoveContext>, std::function<void()> then) {
      pages_done = std::move(then);
      return std::make_shared<int>();
    };
    for (int rank = 0; rank < 2; ++rank) AddDevice(rank);
    VERIFY_OK(change.Build(memo));
    VERIFY_OK(change.Allocate(devices, true, memo));
    QVERIFY2(change.keeps_gradients(), change.why_plain().c_str());
  }
  wire::Prepare Message() const {
    wire::Prepare out;
    out.set_transaction(7);
    out.set_job("job");
    out.set_epoch(2);
    out.set_settings(engine::ToJson({.model = *engine::FindModel("gpt-nano")}));
    out.set_from_layout(ptc::ToJson(from));
    out.set_to_layout(ptc::ToJson(to));
    out.set_from_hash(from.hash());
    out.set_to_hash(to.hash());
    out.set_plan_hash(ptc::MakeOutline(from, to, {})->hash);
    out.set_precopy(true);
    return out;
  }
  void AddDevice(int rank) {
    const UniqueFd fd(*engine::Arena::CreateMemfd("transfer", kCapacity));
    DeviceStore::Device device;
    device.id = {0, rank};
    device.arena = std::make_unique<engine::Arena>(*engine::Arena::Map(fd.get(), true));
    device.table = *engine::AllocateInitial("job", 1, from, rank, kCapacity);
    device.arena->header().begin.store(kStep);
    device.arena->header().end.store(kStep);
    devices.devices().emplace(device.id, std::move(device));
  }
  /// Begins the transfer in the pause, before the update of the next step.
  Status Start() {
    wire::StepDecision pending;
    pending.set_step(kStep + 1);
    return transfer.Start(kStep, pending, [this](const Status&) { ++done; });
  }
  /// The last move has ended, and the loop learns it now.
  void EndMove() { moves.back().done(MoveResult{}); }
};

}  // namespace

class ChangeTransferTest : public QObject {
  Q_OBJECT

 private slots:
  void movesFollowEachOther() {
    Node node;
    node.transfer.Warm([] {});
    VERIFY_OK(node.Start());
    for (std::size_t moves = 1; moves <= 3; ++moves) {  // replicas, state, gradients
      QCOMPARE(node.moves.size(), moves);
      QCOMPARE(node.done, 0);
      node.EndMove();
    }
    QCOMPARE(node.moves.size(), std::size_t{3});
    QCOMPARE(node.done, 1);
  }

  // The result of a move that had ended before may reach the loop after the cancellation.
  void nothingOfACancelledTransferBegins_data() {
    QTest::addColumn<int>("ended");
    QTest::newRow("while replicas are read") << 0;
    QTest::newRow("while the state moves") << 1;
    QTest::newRow("while gradients move") << 2;
  }
  void nothingOfACancelledTransferBegins() {
    QFETCH(int, ended);
    Node node;
    node.transfer.Warm([] {});
    VERIFY_OK(node.Start());
    for (int i = 0; i < ended; ++i) node.EndMove();
    const std::size_t begun = node.moves.size();
    QCOMPARE(begun, static_cast<std::size_t>(ended) + 1);

    node.transfer.Cancel();
    QVERIFY(node.moves.back().is_cancelled);
    QVERIFY(!node.moves.back().has_ended);  // the loop does not wait for its threads
    node.EndMove();
    QCOMPARE(node.moves.size(), begun);
    QCOMPARE(node.done, 0);

    node.transfer.Stop();
    for (const Work& move : node.moves) QVERIFY(move.has_ended);
  }

  void noEndIsReportedForDigestsOfACancelledTransfer() {
    Node node;
    node.transfer.Warm([] {});
    node.transfer.Precopy({.step = kStep}, {}, [](bool) {});
    node.EndMove();  // the digests begin
    VERIFY_OK(node.Start());
    node.EndMove();  // of gradients
    QCOMPARE(node.moves.size(), std::size_t{2});
    QCOMPARE(node.done, 0);  // it waits for the digests
    node.transfer.Cancel();
    node.digests_done(KeptResult{});
    QCOMPARE(node.done, 0);
  }

  void noMemoryOfACancelledTransferIsWaitedFor() {
    Node node;
    int warm = 0;
    node.transfer.Warm([&warm] { ++warm; });
    QVERIFY(node.transfer.is_warming());
    node.transfer.Cancel();
    node.pages_done();
    QCOMPARE(warm, 0);
  }
};

TESSERA_TEST_APPLESS(ChangeTransferTest)
#include "change_transfer_test.moc"
