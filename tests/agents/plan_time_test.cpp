// SPDX-License-Identifier: Apache-2.0
// A plan takes at most 100 ms for 16 GPUs and 290 tensors, and 1 s for 4,096 GPUs. The test allows
// five times that, for slow machines; tests/bench/live_plan_bench prints more.
#include <QElapsedTimer>
#include <QTest>
#include <algorithm>

#include "agents/registrar/planner.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/catalogue/catalogue.h"
#include "engine/model/job_layout.h"
#include "tests/support/test_main.h"

using namespace tessera;

namespace {

constexpr double kSlack = 5;
constexpr std::int32_t kPerNode = 8;
constexpr std::int64_t kDeviceBytes = std::int64_t{1} << 50;  // memory never limits here

std::vector<ptc::DeviceId> devicesOf(std::int64_t count) {
  std::vector<ptc::DeviceId> devices;
  for (std::int32_t i = 0; i < count; ++i) devices.push_back({i / kPerNode, i % kPerNode});
  return devices;
}

}  // namespace

class PlanTimeTest : public QObject {
  Q_OBJECT

 private slots:
  void aPlanIsQuick_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<std::size_t>("tensors");  // at least
    QTest::addColumn<double>("seconds");
    QTest::newRow("16 GPUs") << "llama-3-8b"
                             << "dp=2,tp=4,pp=2"
                             << "dp=2,tp=8" << std::size_t{290} << 0.1;
    QTest::newRow("4,096 GPUs") << "llama-3-405b"
                                << "dp=32,tp=8,pp=16"
                                << "dp=32,tp=16,pp=8" << std::size_t{1000} << 1.0;
  }
  void aPlanIsQuick() {
    QFETCH(QString, model);
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(std::size_t, tensors);
    QFETCH(double, seconds);
    const auto specs = engine::FindCatalogueTensors(model.toStdString());
    const auto rules = engine::FindRuleSet("llama");
    QVERIFY(specs && rules);
    agents::PlanBasis basis;
    basis.job.job = "llama";
    basis.job.settings.program = engine::OwnProgram{"true", *specs, *rules};
    const auto collection = engine::TensorsOf(basis.job.settings, false);
    QVERIFY2(collection, collection ? "" : collection.error().message.c_str());
    const auto shape = *ptc::ParseMeshShape(from.toStdString());
    const auto devices = devicesOf(shape.num_ranks());
    const auto layout = engine::MakeLayout(*collection, *ptc::DeviceMesh::Make(shape, devices));
    QVERIFY2(layout, layout ? "" : layout.error().message.c_str());
    QVERIFY(layout->collection().tensors().size() >= tensors);
    basis.job.layout = *layout;
    for (const ptc::DeviceId device : devices) basis.job.capacities[device] = kDeviceBytes;
    wire::PlanRequest request;
    agents::Encode(*ptc::ParseMeshShape(to.toStdString()), request.mutable_mesh());

    double best = 1e9;
    for (int run = 0; run < 3; ++run) {
      QElapsedTimer clock;
      clock.start();
      const auto planned = agents::PlanChange(basis, request, devices, {});
      QVERIFY2(planned, planned ? "" : planned.error().message.c_str());
      QVERIFY(planned->summary.moved() > 0);
      best = std::min(best, static_cast<double>(clock.nsecsElapsed()) * 1e-9);
    }
    qInfo("%zu tensors on %zu GPUs: %.0f ms", layout->collection().tensors().size(), devices.size(),
          1e3 * best);
    QVERIFY2(best < kSlack * seconds, qPrintable(QString::number(best)));
  }
};

TESSERA_TEST_APPLESS(PlanTimeTest)
#include "plan_time_test.moc"
