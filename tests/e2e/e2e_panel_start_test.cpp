// SPDX-License-Identifier: Apache-2.0
// A job that is started from the panel: the bridge on a real cluster.
#include <QTest>

#include "app/bridge.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"
#include "ui/models/start_form.h"

using namespace tessera;

class E2ePanelStartTest : public QObject {
  Q_OBJECT

 private slots:
  void thePanelProposesAndStartsAJob() {
    const test::LocalCluster cluster{{}};
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    qputenv("TESSERA_HOME", cluster.home().toUtf8());
    ui::ClusterModel model;
    app::Bridge bridge(model);
    QVERIFY(bridge.open("t"));
    QTRY_VERIFY_WITH_TIMEOUT(ui::idleDevices(model.snapshot()).size() == 8, 20'000);

    ui::StartForm form;
    form.model = QStringLiteral("gpt-nano");
    form.values[ui::start_field::kBatch] = QStringLiteral("8");
    ui::StartCheck check = ui::checkStart(form, model.snapshot());
    QVERIFY(check.isGood());
    std::optional<Result<engine::Proposal>> proposal;
    const auto propose = [&] {
      proposal.reset();
      bridge.proposeStart(check.request, [&](const auto& result) { proposal = result; });
      QTRY_VERIFY_WITH_TIMEOUT(proposal, 20'000);
    };
    propose();
    QVERIFY2(*proposal, *proposal ? "" : (*proposal)->why.c_str());
    const engine::Candidate best = (*proposal)->candidates.front();
    QVERIFY(best.recommended && best.fits() && best.moved_bytes == 0);
    QVERIFY(!(*proposal)->why.empty());
    QVERIFY(!best.devices.empty() && best.devices.size() + best.idle.size() == 8);
    // What the dialog says about memory is what the search counts with.
    const auto memory = ui::startMemory(check.settings, best);
    QVERIFY(memory);
    QCOMPARE(memory->parameters + memory->optimizer + memory->gradients + memory->other,
             best.peak_bytes);

    check.request.mesh = best.mesh;
    check.request.options = best.options;
    check.request.devices = best.devices;
    std::optional<Status> started;
    bridge.startJob(check.request, [&](const Status& result) { started = result; });
    QTRY_VERIFY_WITH_TIMEOUT(started, 120'000);
    QVERIFY2(*started, *started ? "" : started->error().message.c_str());
    QTRY_VERIFY(model.findJob("gpt-nano") != nullptr);
    const engine::JobStatus job = *model.findJob("gpt-nano");
    QCOMPARE(job.mesh, best.mesh);
    QCOMPARE(job.global_batch, std::int64_t{8});
    QVERIFY(cluster.WaitStep(QStringLiteral("gpt-nano"), 2));

    // The name is taken now. A second proposal and a second start fail with it, and nothing
    // changes.
    propose();
    QVERIFY(!*proposal);
    QCOMPARE(proposal->error().code, ErrorCode::kAlreadyExists);
    started.reset();
    bridge.startJob(check.request, [&](const Status& result) { started = result; });
    QTRY_VERIFY_WITH_TIMEOUT(started, 20'000);
    QVERIFY(!*started);
    QCOMPARE(started->error().code, ErrorCode::kAlreadyExists);
    QCOMPARE(model.snapshot().jobs.size(), std::size_t{1});
  }
};

TESSERA_TEST(E2ePanelStartTest)
#include "e2e_panel_start_test.moc"
