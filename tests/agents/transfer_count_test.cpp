// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/transfer_count.h"

#include <QTest>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

constexpr ptc::DeviceId kFlowSource{0, 0};
constexpr ptc::DeviceId kFlowDestination{1, 0};
constexpr std::int64_t kPlannedBytes = 100;

wire::TxnProgress ProgressOf(ptc::DeviceId source, ptc::DeviceId destination, std::int64_t bytes,
                             std::int64_t handed_in = 0) {
  wire::TxnProgress report;
  wire::FlowInfo* row = report.add_flows();
  Encode(source, row->mutable_source());
  Encode(destination, row->mutable_destination());
  row->set_bytes_done(bytes);
  report.set_storage_done(handed_in);
  return report;
}

TransferCount CountOfOneFlow() {
  return TransferCount({{kFlowSource, kFlowDestination, 0, kPlannedBytes, 0}});
}

}  // namespace

class TransferCountTest : public QObject {
  Q_OBJECT

 private slots:
  void largestReportStands() {
    TransferCount count = CountOfOneFlow();
    count.Note(1, ProgressOf(kFlowSource, kFlowDestination, 60), 2);
    count.Note(1, ProgressOf(kFlowSource, kFlowDestination, 40),
               1);  // an older one that arrives later
    QCOMPARE(count.bytes(), std::int64_t{60});
    QCOMPARE(count.flows().size(), std::size_t{1});
    QCOMPARE(count.flows()[0].bytes_total, kPlannedBytes);
  }

  void rateIsOverTheWholeTransfer() {
    TransferCount count = CountOfOneFlow();
    count.Note(1, ProgressOf(kFlowSource, kFlowDestination, 60), 2);
    QCOMPARE(count.flows()[0].bytes_per_second, 30.0);
    count.Note(1, ProgressOf(kFlowSource, kFlowDestination, 100), 0);
    QCOMPARE(count.flows()[0].bytes_per_second, 30.0);
  }

  // A flow that has begun and brings nothing for more than 3 s is stalled.
  void aFlowHasAState() {
    TransferCount count = CountOfOneFlow();
    const auto state_at = [&](double seconds) { return count.flows(seconds)[0].state; };
    QVERIFY(state_at(10) == engine::FlowState::kWaiting);
    count.Note(1, ProgressOf(kFlowSource, kFlowDestination, 60), 10);
    QVERIFY(state_at(12.9) == engine::FlowState::kMoving);
    QVERIFY(state_at(13.1) == engine::FlowState::kStalled);
    count.Note(1, ProgressOf(kFlowSource, kFlowDestination, 60), 14);  // nothing new
    QVERIFY(state_at(14) == engine::FlowState::kStalled);
    count.Note(1, ProgressOf(kFlowSource, kFlowDestination, 61), 15);
    QVERIFY(state_at(15) == engine::FlowState::kMoving);
    count.Note(1, ProgressOf(kFlowSource, kFlowDestination, kPlannedBytes), 16);
    QVERIFY(state_at(30) == engine::FlowState::kDone);
  }

  // What the node says about a flow, else that nothing arrives; nothing once it is done.
  void aFlowHasAReason() {
    TransferCount count = CountOfOneFlow();
    const auto reason_at = [&](double seconds) { return count.flows(seconds)[0].reason; };
    count.Note(1, ProgressOf(kFlowSource, kFlowDestination, 60), 10);
    QCOMPARE(reason_at(12), std::string());
    QCOMPARE(reason_at(15.5), std::string("nothing has arrived for 5 s"));
    wire::TxnProgress late = ProgressOf(kFlowSource, kFlowDestination, 60);
    late.mutable_flows(0)->set_reason("from n2 instead of n0: source n0 silent for 3 s");
    count.Note(1, late, 16);
    QCOMPARE(reason_at(16), late.flows(0).reason());
    late.mutable_flows(0)->set_reason(std::string(100'000, 'x'));
    count.Note(1, late, 16);
    QVERIFY(reason_at(16).size() < 1000);
    count.Note(1, ProgressOf(kFlowSource, kFlowDestination, kPlannedBytes), 17);
    QCOMPARE(reason_at(17), std::string());
  }

  void transferBeyondThePlanIsCounted() {
    TransferCount count = CountOfOneFlow();
    count.Note(1, ProgressOf(kFlowSource, kFlowDestination, kPlannedBytes + 30), 1);
    QCOMPARE(count.bytes(), kPlannedBytes + 30);
    QCOMPARE(count.flows()[0].bytes_done, kPlannedBytes + 30);
    QCOMPARE(count.flows()[0].bytes_total, kPlannedBytes);
  }

  void flowThatIsNotPlannedIsCounted() {
    TransferCount count = CountOfOneFlow();
    count.Note(1, ProgressOf({0, 3}, {1, 2}, 7), 1);
    QCOMPARE(count.bytes(), std::int64_t{7});
    QCOMPARE(count.flows().size(), std::size_t{2});
    QCOMPARE(count.flows()[1].bytes_total, std::int64_t{0});
  }

  void nodeReportsOnlyItsOwnDevices() {
    TransferCount count = CountOfOneFlow();
    count.Note(0, ProgressOf(kFlowSource, kFlowDestination, 60), 1);
    QCOMPARE(count.bytes(), std::int64_t{0});
  }

  void handInIsCountedByNode() {
    TransferCount count;
    count.Note(0, ProgressOf({0, 0}, {0, 1}, 0, 50), 1);
    count.Note(1, ProgressOf({1, 0}, {1, 1}, 0, 20), 1);
    count.Note(1, ProgressOf({1, 0}, {1, 1}, 0, 10), 1);
    QCOMPARE(count.bytes(), std::int64_t{70});
  }
};

TESSERA_TEST_APPLESS(TransferCountTest)
#include "transfer_count_test.moc"
