// SPDX-License-Identifier: Apache-2.0
// Calls of NCCL fail once, in turn: the error names the call, nobody waits for ever, and no
// communicator is left. Every case is a process of its own, this program as its own child.
#include <QTest>
#include <future>
#include <vector>

#include "agents/gpu/cuda_memory.h"
#include "agents/gpu/cuda_region.h"
#include "agents/gpu/nccl_exchange.h"
#include "tests/agents/gpu/emulated_child.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::CellView;
using engine::ExchangeFlow;
using ptc::Box;
using ptc::DeviceId;

namespace {

constexpr char kTest[] = "nccl_failures_test";
constexpr std::int64_t kBytes = 4 << 20;
constexpr DeviceId kSender{0, 0}, kReceiver{1, 0};
const std::vector<engine::ExchangeEnds> kFlows = {{kSender, kReceiver}};

Box CellBox() { return *Box::Whole({1024}); }
CellView CellAt(std::byte* address) { return {CellBox(), CellBox(), 4, address}; }

/// One end of the flow.
struct End {
  std::shared_ptr<const agents::CudaDevice> device;
  std::unique_ptr<agents::CudaRegion> region;
};

Result<End> OpenEnd(int number, std::byte value) {
  End end;
  TESSERA_TRY(end.device, agents::CudaDevice::Open(number));
  TESSERA_TRY(end.region, agents::CudaRegion::Create(end.device, kBytes));
  const agents::CudaMemory memory(end.device);
  const std::vector<std::byte> bytes(4096, value);
  TESSERA_TRY([[maybe_unused]] const std::uint64_t digest,
              memory.Unpack(CellAt(end.region->address()), nullptr, 0, bytes));
  return end;
}

bool Holds(const End& end, std::byte value) {
  std::vector<std::byte> back(4096);
  const agents::CudaMemory memory(end.device);
  const auto read = memory.Pack(CellAt(end.region->address()), nullptr, 0, back);
  return read && back == std::vector<std::byte>(4096, value);
}

/// Meets and exchanges. As agents do, whoever fails lets the other one no longer wait.
Status RunEnd(const std::string& meeting, const End& end, DeviceId own, int number,
              std::stop_source stop) {
  const auto run = [&]() -> Status {
    TESSERA_TRY(const auto exchange,
                agents::JoinNcclExchange(meeting, {{kSender, kReceiver}, {{own, number}}, kFlows},
                                         stop.get_token()));
    const agents::CudaMemory memory(end.device);
    const CellView indices = engine::IndicesOf(ptc::DType::kF32, {1024}, CellBox());
    std::vector<ExchangeFlow> flows{{kSender, kReceiver, own == kSender, {}}};
    flows[0].cells.push_back({{memory, CellAt(end.region->address())}, indices, 0});
    return exchange->Run(
        flows, [](const ExchangeFlow&, std::int64_t, std::int64_t, std::uint64_t) {},
        stop.get_token());
  };
  Status status = run();
  if (!status) stop.request_stop();
  return status;
}

Status Exchange() {
  constexpr std::byte kSent{7}, kBefore{9};
  TESSERA_TRY(const End sender, OpenEnd(0, kSent));
  TESSERA_TRY(const End receiver, OpenEnd(1, kBefore));
  TESSERA_TRY(const std::string meeting, agents::NcclGroup::NewMeeting());
  const std::stop_source stop;
  auto other =
      std::async(std::launch::async, [&] { return RunEnd(meeting, receiver, kReceiver, 1, stop); });
  const Status sent = RunEnd(meeting, sender, kSender, 0, stop);
  const Status received = other.get();
  if (!Holds(sender, kSent)) return DataLoss("the source has changed");
  if (sent && received && !Holds(receiver, kSent)) return DataLoss("other bytes");
  if (sent && received) return OkStatus();
  // The call has failed at one end, and the other one says what that means for it.
  return Unavailable((sent ? "" : sent.error().message + "\n") +
                     (received ? "" : received.error().message));
}

}  // namespace

class NcclFailuresTest : public QObject {
  Q_OBJECT
 private slots:
  void callsFailOnce_data() {
    QTest::addColumn<QString>("call");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* call, const char* said = "unknown result code (999)") {
      QTest::newRow(call) << QString::fromLatin1(call) << QString::fromLatin1(said);
    };
    row("ncclGetVersion#1", "does not say which version");
    row("ncclGetUniqueId#1");
    row("ncclCommInitRankConfig#1");
    row("ncclCommInitRankConfig#2");
    row("ncclCommGetAsyncError#1");
    row("ncclCommGetAsyncError#5");
    for (const char* const call : {"ncclGroupStart#1", "ncclGroupStart#3", "ncclGroupStart#5",
                                   "ncclGroupEnd#1", "ncclGroupEnd#3", "ncclGroupEnd#5"}) {
      row(call);
    }
    row("ncclSend#1");  // a few bytes, when they meet
    row("ncclSend#2");
    row("ncclRecv#1");
    row("ncclRecv#2");
    row("ncclCommAbort#1", "OK");
    row("ncclCommAbort#2", "OK");
  }
  void callsFailOnce() {
    QFETCH(QString, call);
    QFETCH(QString, said);
    const test::EmulationReport report;
    const QString usual = QStringLiteral("devices=2,memory=64M,") + report.setting();
    const QString text = test::InChild(kTest, usual + QStringLiteral(",fail=") + call);
    const QString left = report.Last(QStringLiteral("communicators="));
    const QByteArray what = (text + u'\n' + left).toUtf8();
    QVERIFY2(text.contains(said), what.constData());
    QCOMPARE(test::ValueOf(left, QStringLiteral("failed")), call.section(u'#', 0, 0));
    QVERIFY2(left.startsWith(QStringLiteral("communicators=0 ")), what.constData());
    const bool names_it = said == QStringLiteral("OK") || call.startsWith(u"ncclGetVersion") ||
                          text.contains(call.section(u'#', 0, 0));
    QVERIFY2(names_it, what.constData());
  }

  void withoutAFailureNothingIsLeft() {
    const test::EmulationReport report;
    const QString usual = QStringLiteral("devices=2,memory=64M,") + report.setting();
    QCOMPARE(test::InChild(kTest, usual), QStringLiteral("OK"));
    QVERIFY(report.Last(QStringLiteral("communicators=")).startsWith(u"communicators=0 "));
  }
};

TESSERA_TEST_MAIN(argc, argv) {
  if (qEnvironmentVariableIsSet(test::kChild)) return test::PrintAsChild(Exchange());
  const QCoreApplication application(argc, argv);
  NcclFailuresTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "nccl_failures_test.moc"
