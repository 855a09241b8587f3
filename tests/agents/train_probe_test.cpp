// SPDX-License-Identifier: Apache-2.0
// The probe as an agent runs it: one line of JSON that is a plausible calibration.
#include <QProcess>
#include <QTest>

#include "engine/search/calibration.h"
#include "tests/folders.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;

class TrainProbeTest : public QObject {
  Q_OBJECT
 private slots:
  void whatIsMeasuredIsPlausible() {
    QProcess process;
    process.start(QStringLiteral(TESSERA_BIN_DIR "/tessera-train"), {QStringLiteral("--probe")});
    QVERIFY(process.waitForFinished(120'000));
    const QByteArray errors = process.readAllStandardError();
    QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0,
             errors.constData());
    const QByteArray output = process.readAllStandardOutput();
    QCOMPARE(output.count('\n'), 1);
    QVERIFY(output.endsWith('\n'));
    const auto calibration = engine::ParseCalibration(output.trimmed().toStdString());
    VERIFY_OK(calibration);
    const engine::Calibration& c = *calibration;
    QVERIFY(c.measured_at > 1.7e9);
    QVERIFY(!c.cpu.empty());
    QVERIFY(c.cores >= 1);
    QVERIFY(c.all_cores_speed >= 1 && c.all_cores_speed <= static_cast<double>(c.cores));
    QVERIFY(c.flops_per_second > 1e8);
    QVERIFY(c.layer_seconds < 0.1);
    QVERIFY(c.update_seconds > 1e-11 && c.update_seconds < 1e-6);
    for (const engine::CollectiveCost& cost : {c.shared_all_reduce, c.shared_gather}) {
      for (const engine::LinkCost& link : {cost.two, cost.four, cost.eight}) {
        QVERIFY(link.At(1 << 20) > 1e-5 && link.At(1 << 20) < 1);
      }
    }
    QVERIFY(c.shared_send.At(1 << 20) > 1e-6);
    // The result is a measurement, not the built-in values.
    QVERIFY(c.shared_all_reduce != engine::Calibration{}.shared_all_reduce);
  }
};
TESSERA_TEST(TrainProbeTest)
#include "train_probe_test.moc"
