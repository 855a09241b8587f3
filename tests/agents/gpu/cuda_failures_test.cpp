// SPDX-License-Identifier: Apache-2.0
// Each call of the driver fails once, in turn: the error names device and call, nothing is left
// behind, and what was there before is unharmed. Every case is a process of its own, this program
// as its own child.
#include <unistd.h>

#include <QTest>
#include <set>
#include <string>
#include <vector>

#include "agents/gpu/cuda_memory.h"
#include "agents/gpu/cuda_region.h"
#include "tests/agents/gpu/emulated_child.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::CellView;
using ptc::Box;
using Region = std::unique_ptr<agents::CudaRegion>;

namespace {

constexpr char kTest[] = "cuda_failures_test";
constexpr std::int64_t kBytes = 4 << 20;
constexpr std::int64_t kGuard = 64 << 10;  // where something lies that nobody touches

QString InChild(const QString& settings) { return test::InChild(kTest, settings); }

/// Two devices, and what lay in the first one before.
struct Devices {
  std::shared_ptr<const agents::CudaDevice> first, second;
  Region region, other;
  bool is_guarded = false;
};

Box CellBox() { return *Box::Whole({1024}); }
CellView CellAt(std::byte* address) { return {CellBox(), CellBox(), 4, address}; }
CellView Indices() { return engine::IndicesOf(ptc::DType::kF32, {1024}, CellBox()); }
const std::vector<std::byte> kGuarded(4096, std::byte{42});

Status Open(Devices& devices) {
  TESSERA_TRY(devices.first, agents::CudaDevice::Open(0));
  TESSERA_TRY(devices.second, agents::CudaDevice::Open(1));
  TESSERA_RETURN_IF_ERROR(devices.first->Warm(2));
  TESSERA_TRY(devices.region, agents::CudaRegion::Create(devices.first, kBytes));
  TESSERA_TRY(devices.other, agents::CudaRegion::Create(devices.second, kBytes));
  const agents::CudaMemory memory(devices.first);
  const auto guard =
      memory.Unpack(CellAt(devices.region->address() + kGuard), nullptr, 0, kGuarded);
  devices.is_guarded = guard.has_value();
  return guard ? OkStatus() : Status(guard.error());
}

/// Everything that Tessera does with devices, once. Between two that do not reach each other, cells
/// go through the host.
Status Use(const Devices& devices) {
  TESSERA_TRY(const int fd, devices.region->Export());
  const auto imported = agents::CudaRegion::Import(devices.first, fd, kBytes);
  ::close(fd);
  if (!imported) return imported.error();
  const agents::CudaMemory memory(devices.first), far(devices.second);
  const CellView here = CellAt(devices.region->address());
  const CellView there = CellAt((*imported)->address());
  const CellView indices = Indices();
  const std::vector<std::byte> bytes(4096, std::byte{7});
  std::vector<std::byte> back(4096);
  TESSERA_TRY(const engine::HostBuffer buffer, memory.TakeHostBuffer(4096));
  TESSERA_RETURN_IF_ERROR(memory.Clear(devices.region->address(), 4096));
  TESSERA_TRY(const std::uint64_t written, memory.Unpack(here, &indices, 0, bytes));
  TESSERA_TRY(const std::uint64_t read, memory.Pack(there, &indices, 0, back));
  TESSERA_TRY(const std::uint64_t digest, memory.Digest(here, indices));
  TESSERA_RETURN_IF_ERROR(memory.Finish());
  if (written != read || read != digest || back != bytes) return DataLoss("other bytes");
  const engine::DeviceCell near(memory, CellAt(devices.region->address() + 8192));
  const engine::DeviceCell over(far, CellAt(devices.other->address()));
  TESSERA_TRY(const engine::CopyDigests copied,
              engine::CopyCellAndDigest(std::vector{near, over}, {memory, here}, indices));
  TESSERA_TRY(auto queue, devices.first->TakeQueue());
  TESSERA_RETURN_IF_ERROR(
      queue->Clear(reinterpret_cast<std::uint64_t>(devices.region->address()) + 16384, 4096));
  TESSERA_TRY([[maybe_unused]] const bool is_done, queue->IsDone());
  TESSERA_RETURN_IF_ERROR(queue->Wait());
  const bool is_equal = copied.copies[0] == copied.source && copied.copies[1] == copied.source;
  return is_equal ? OkStatus() : Status(DataLoss("a wrong copy"));
}

/// What is left of the guard after an error.
Status CheckGuard(const Devices& devices) {
  std::vector<std::byte> back(kGuarded.size());
  const agents::CudaMemory memory(devices.first);
  TESSERA_RETURN_IF_ERROR(
      memory.Pack(CellAt(devices.region->address() + kGuard), nullptr, 0, back));
  return back == kGuarded ? OkStatus() : Status(DataLoss("other memory has changed"));
}

Status UseDevices() {
  Devices devices;
  Status used = Open(devices);
  if (used) used = Use(devices);
  if (!devices.is_guarded) return used;
  const Status guard = CheckGuard(devices);
  // The emulation fails one call and carries out the later ones, so the guard can be read. A device
  // that has vanished fails all of them.
  const bool vanishes = qgetenv("TESSERA_CUDA_EMULATION").contains("vanish=");
  return guard || vanishes ? used : guard;
}

const QString kNothing =
    QStringLiteral("allocations=0 mappings=0 reservations=0 host=0 streams=0 events=0 modules=0 ");

/// Whether the function gives something back, or is called for that: there is nothing to do if it
/// fails.
bool Releases(const QString& symbol) {
  for (const char* const word :
       {"Free", "Unmap", "Release", "Destroy", "Unload", "CtxSetCurrent"}) {
    if (symbol.contains(QLatin1String(word))) return true;
  }
  return false;
}

/// Those that the product calls, and that can fail.
std::set<QString> Functions() {
  std::set<QString> all;
#define TESSERA_CUDA_INSERT(name, symbol, parameters) all.insert(QStringLiteral(symbol));
  TESSERA_CUDA_FUNCTIONS(TESSERA_CUDA_INSERT)
#undef TESSERA_CUDA_INSERT
  // These are for tests and benches, and these only say what an error is.
  for (const char* const other :
       {"cuEventCreate", "cuEventDestroy_v2", "cuEventRecord", "cuEventQuery", "cuEventSynchronize",
        "cuStreamWaitEvent", "cuMemGetInfo_v2", "cuMemcpyDtoDAsync_v2", "cuMemcpyHtoDAsync_v2",
        "cuGetErrorName", "cuGetErrorString"}) {
    all.erase(QString::fromLatin1(other));
  }
  return all;
}

}  // namespace

class CudaFailuresTest : public QObject {
  Q_OBJECT
 private slots:
  void everyCallFailsOnce_data() {
    QTest::addColumn<QString>("peers");
    QTest::newRow("devices that reach each other") << "all";
    QTest::newRow("devices that do not") << "none";
  }
  void everyCallFailsOnce() {
    QFETCH(QString, peers);
    const test::EmulationReport report;
    const QString usual =
        QStringLiteral("devices=2,memory=64M,peers=%1,%2").arg(peers, report.setting());
    QCOMPARE(InChild(usual), QStringLiteral("OK"));
    const auto left = [&report] { return report.Last(QStringLiteral("allocations=")); };
    QVERIFY2(left().startsWith(kNothing), qPrintable(left()));
    const int calls = test::ValueOf(left(), QStringLiteral("calls")).toInt();
    QVERIFY2(calls > 60, qPrintable(left()));
    std::set<QString> uncalled = Functions();
    for (const QString& symbol : test::ValueOf(left(), QStringLiteral("called")).split(u':')) {
      uncalled.erase(symbol);
    }
    const QStringList rest(uncalled.begin(), uncalled.end());
    QVERIFY2(rest.isEmpty(), qPrintable(rest.join(u' ')));
    for (int call = 1; call <= calls; ++call) {
      const QString said = InChild(usual + QStringLiteral(",fail=*#%1=999").arg(call));
      const QString symbol = test::ValueOf(left(), QStringLiteral("failed"));
      const QByteArray what = QStringLiteral("%1 (call %2): %3\n%4")
                                  .arg(symbol, QString::number(call), said, left())
                                  .toUtf8();
      if (said == QStringLiteral("OK")) {
        QVERIFY2(Releases(symbol), what.constData());
        continue;  // it changes nothing, and may leak
      }
      QVERIFY2(said.contains(QStringLiteral("unknown error (999)")), what.constData());
      QString name = symbol;
      QVERIFY2(said.contains(name.remove(QStringLiteral("_v2"))), what.constData());
      QVERIFY2(left().startsWith(kNothing), what.constData());
    }
  }

  void aDeviceThatVanishesIsNamed() {
    for (const int after : {5, 15, 25, 40}) {
      const QString said = InChild(QStringLiteral("devices=2,memory=64M,vanish=0@%1").arg(after));
      QVERIFY2(said.contains(QStringLiteral("unavailable (46)")), qPrintable(said));
    }
  }

  void withoutADriver() {
    const QString said = test::InChild(kTest, QStringLiteral("devices=2"), QString());
    if (!said.contains(QStringLiteral("libcuda.so.1"))) QSKIP("this machine has a driver");
    QVERIFY2(said.startsWith(QStringLiteral("no CUDA driver: ")), qPrintable(said));
  }

  void aDriverIsRefused_data() {
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QString>("said");
    QTest::newRow("without devices") << ""
                                     << "no CUDA-capable device is detected (100)";
    QTest::newRow("too old") << "devices=2,driver=11080"
                             << "the CUDA driver is of version 11.8, at least 12.0 is needed";
    QTest::newRow("settings that are none") << "devices=2,fail=cuNothing#1"
                                            << "invalid argument (1)";
    QTest::newRow("too little memory") << "devices=2,memory=2M"
                                       << "out of memory (2)";
  }
  void aDriverIsRefused() {
    QFETCH(QString, settings);
    QFETCH(QString, said);
    const QString text = InChild(settings);
    QVERIFY2(text.contains(said), qPrintable(text));
  }
};

TESSERA_TEST_MAIN(argc, argv) {
  if (qEnvironmentVariableIsSet(test::kChild)) return test::PrintAsChild(UseDevices());
  const QCoreApplication application(argc, argv);
  CudaFailuresTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "cuda_failures_test.moc"
