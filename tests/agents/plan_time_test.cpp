// SPDX-License-Identifier: Apache-2.0
// What a plan costs, and that a proposal shows the same pause. A plan takes at most 100 ms for 16
// GPUs and 290 tensors, and 1 s for 4,096 GPUs. The test counts units of work and allows five times
// that; tests/bench/live_plan_bench prints times.
#include <QTest>
#include <cmath>

#include "agents/registrar/planner.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/catalogue/catalogue.h"
#include "engine/model/job_layout.h"
#include "tests/support/test_main.h"
#include "tests/support/work.h"

using namespace tessera;

namespace {

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
    QTest::addColumn<double>("most");  // units of work
    QTest::newRow("16 GPUs") << "llama-3-8b"
                             << "dp=2,tp=4,pp=2"
                             << "dp=2,tp=8" << std::size_t{290} << 500.0;
    QTest::newRow("4,096 GPUs") << "llama-3-405b"
                                << "dp=32,tp=8,pp=16"
                                << "dp=32,tp=16,pp=8" << std::size_t{1000} << 5000.0;
  }
  void aPlanIsQuick() {
    QFETCH(QString, model);
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(std::size_t, tensors);
    QFETCH(double, most);
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

    QString wrong;
    const double units = test::UnitsOf(3, [&](int) {
      const auto planned = agents::PlanChange(basis, request, devices, {});
      if (!planned) wrong = QString::fromStdString(planned.error().message);
      if (planned && planned->summary.moved() == 0) wrong = QStringLiteral("nothing moves");
    });
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    qInfo("%zu tensors on %zu GPUs: %.0f units of work", layout->collection().tensors().size(),
          devices.size(), units);
    QVERIFY2(units < most, qPrintable(QString::number(units)));
  }

  // Both count what is copied while the job trains.
  void aProposalHasThePauseOfThePlan_data() {
    QTest::addColumn<bool>("paused");
    QTest::newRow("trains") << false;
    QTest::newRow("paused") << true;
  }
  void aProposalHasThePauseOfThePlan() {
    QFETCH(bool, paused);
    agents::PlanBasis basis;
    engine::SearchInput& job = basis.job;
    job.job = "mini";
    job.settings.model = *engine::FindModel("gpt-10m");
    job.settings.global_batch = 16;
    job.layout = *ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=1,tp=2 on n0g0,n0g1"),
                                    *engine::MakeCollection(job.settings, false));
    job.step_seconds = 10;
    job.is_paused = paused;
    for (const std::int32_t node : {0, 1}) {
      for (const std::int32_t index : {0, 1}) {
        job.devices.push_back({node, index});
        job.capacities[{node, index}] = kDeviceBytes;
      }
    }
    const auto proposal = engine::Propose(job);
    QVERIFY2(proposal, proposal ? "" : proposal.error().message.c_str());
    int compared = 0, overlapped = 0;
    for (const engine::Candidate& candidate : proposal->candidates) {
      if (candidate.current || !candidate.fits() || !candidate.idle.empty()) continue;
      wire::PlanRequest request;
      agents::Encode(candidate.mesh, request.mutable_mesh());
      agents::Encode(candidate.options, request.mutable_options());
      const auto planned = agents::PlanChange(basis, request, candidate.devices, {});
      QVERIFY2(planned, planned ? "" : planned.error().message.c_str());
      overlapped += planned->summary.overlap.chosen ? 1 : 0;
      QVERIFY(std::abs(planned->summary.pause_estimate - candidate.pause_seconds) < 1e-6);
      ++compared;
    }
    QVERIFY(compared > 0);
    QVERIFY(paused ? overlapped == 0 : overlapped > 0);
  }
};

TESSERA_TEST_APPLESS(PlanTimeTest)
#include "plan_time_test.moc"
