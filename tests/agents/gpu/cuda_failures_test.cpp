// SPDX-License-Identifier: Apache-2.0
// Each call of the driver fails once, in turn: the error names device and call, nothing is left
// behind, and what was there before is unharmed. Every case is a process of its own, this program
// as its own child.
#include <unistd.h>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <cstdio>
#include <vector>

#include "agents/gpu/cuda_memory.h"
#include "agents/gpu/cuda_region.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::CellView;
using ptc::Box;

namespace {

constexpr std::int64_t kBytes = 4 << 20;

/// Everything that Tessera does with a device, once.
Status UseDevice() {
  TESSERA_TRY(const auto device, agents::CudaDevice::Open(0));
  TESSERA_TRY(const auto region, agents::CudaRegion::Create(device, kBytes));
  TESSERA_TRY(const int fd, region->Export());
  const auto imported = agents::CudaRegion::Import(device, fd, kBytes);
  ::close(fd);
  if (!imported) return imported.error();
  const agents::CudaMemory memory(device);
  const Box box = *Box::Whole({1024});
  const CellView here(box, box, 4, region->address()), there(box, box, 4, (*imported)->address());
  const CellView indices = engine::IndicesOf(ptc::DType::kF32, {1024}, box);
  const std::vector<std::byte> bytes(4096, std::byte{7});
  std::vector<std::byte> back(4096);
  TESSERA_TRY(const std::uint64_t written, memory.Unpack(here, &indices, 0, bytes));
  TESSERA_TRY(const std::uint64_t read, memory.Pack(there, &indices, 0, back));
  TESSERA_TRY(const std::uint64_t digest, memory.Digest(here, indices));
  TESSERA_RETURN_IF_ERROR(memory.Finish());
  if (written != read || read != digest || back != bytes) return DataLoss("other bytes");
  const engine::DeviceCell to(memory, CellView(box, box, 4, region->address() + 8192));
  TESSERA_TRY(const engine::CopyDigests copied,
              engine::CopyCellAndDigest({&to, 1}, {memory, here}, indices));
  return copied.copies[0] == copied.source ? OkStatus() : Status(DataLoss("a wrong copy"));
}

/// Runs UseDevice in a process with these settings.
/// \return what it printed
QString InChild(const QString& settings) {
  QProcess child;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("TESSERA_CUDA_EMULATION"), settings);
  environment.insert(QStringLiteral("TESSERA_CUDA_CHILD"), QStringLiteral("1"));
  child.setProcessEnvironment(environment);
  child.start(QCoreApplication::applicationFilePath(), {QStringLiteral("cuda_failures_test")});
  child.waitForFinished(30000);
  if (child.exitStatus() != QProcess::NormalExit) return QStringLiteral("crashed");
  return QString::fromUtf8(child.readAllStandardOutput()).trimmed();
}

}  // namespace

class CudaFailuresTest : public QObject {
  Q_OBJECT
 private slots:
  void everyCallFailsOnce() {
    QTemporaryDir folder;
    const QString report = folder.filePath(QStringLiteral("live"));
    const QString usual = QStringLiteral("devices=1,memory=64M,report=%1").arg(report);
    QCOMPARE(InChild(usual), QStringLiteral("OK"));
    const auto left = [&report] {
      QFile file(report);
      if (!file.open(QIODevice::ReadOnly)) qFatal("no report");
      return QString::fromLatin1(file.readAll().trimmed().split('\n').last());
    };
    static const QString kNothing = QStringLiteral(
        "allocations=0 mappings=0 reservations=0 host=0 streams=0 events=0 modules=0");
    QVERIFY2(left().startsWith(kNothing), qPrintable(left()));
    const int calls = left().section(QStringLiteral("calls="), 1).toInt();
    QVERIFY2(calls > 60, qPrintable(left()));
    int named = 0;
    for (int call = 1; call <= calls; ++call) {
      const QString said = InChild(usual + QStringLiteral(",fail=*#%1=999").arg(call));
      if (said == QStringLiteral("OK")) continue;  // of a release: it changes nothing, and may leak
      ++named;
      QVERIFY2(said.contains(QStringLiteral("unknown error (999)")), qPrintable(said));
      QVERIFY2(left().startsWith(kNothing), qPrintable(said + QLatin1Char('\n') + left()));
    }
    QVERIFY2(named > 55, qPrintable(QString::number(named)));
  }

  void aDeviceThatVanishesIsNamed() {
    for (const int after : {5, 15, 25, 40}) {
      const QString said = InChild(QStringLiteral("devices=1,memory=64M,vanish=0@%1").arg(after));
      QVERIFY2(said.contains(QStringLiteral("unavailable (46)")), qPrintable(said));
    }
  }

  void aDriverIsRefused_data() {
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QString>("said");
    QTest::newRow("without devices") << ""
                                     << "no CUDA-capable device is detected (100)";
    QTest::newRow("too old") << "devices=1,driver=11080"
                             << "the CUDA driver is of version 11.8, at least 12.0 is needed";
    QTest::newRow("settings that are none") << "devices=1,fail=cuNothing#1"
                                            << "invalid argument (1)";
    QTest::newRow("too little memory") << "devices=1,memory=2M"
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
  if (qEnvironmentVariableIsSet("TESSERA_CUDA_CHILD")) {
    const Status used = UseDevice();
    std::printf("%s\n", used ? "OK" : used.error().message.c_str());
    return 0;  // the emulation reports at the end of the process
  }
  const QCoreApplication application(argc, argv);
  CudaFailuresTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "cuda_failures_test.moc"
