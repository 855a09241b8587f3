// SPDX-License-Identifier: Apache-2.0
#include "ui/models/draft.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTest>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/models/device_names.h"
#include "ui/models/draft_plan.h"

using namespace tessera;
using ui::Draft;
using ui::DraftPlan;

namespace {
using Devices = std::vector<ptc::DeviceId>;
const Devices kN1{{1, 0}, {1, 1}, {1, 2}, {1, 3}};
}  // namespace

class DraftTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_model = std::make_unique<ui::ClusterModel>();
    m_model->setLink(ui::LinkState::Connected, {});
    m_model->setSnapshot(test::PanelCluster());
    m_commands = std::make_unique<test::SpyCommands>(*m_model);
    m_draft = std::make_unique<Draft>(*m_model);
    m_plan = std::make_unique<DraftPlan>(*m_draft, *m_model, *m_commands);
    m_model->flush();
  }
  void cleanup() {
    m_plan.reset();
    m_draft.reset();
    m_commands.reset();
    m_model.reset();
  }

  void startsAsLive() {
    QVERIFY(m_draft->isEmpty());
    QCOMPARE(m_draft->job(), QStringLiteral("gpt-mini"));
    QCOMPARE(m_draft->devices(), (Devices{{0, 0}, {0, 1}, {0, 2}, {0, 3}}));
    QVERIFY(!m_draft->mesh());
  }

  // An undo or a choice may add a rare axis to the live mesh, or take one away.
  void replacingKeepsEveryAxisOfTheMesh() {
    ptc::MeshShape wide = test::Shape(2, 1, 1);
    wide[ptc::Axis::kCp] = 2;
    wide[ptc::Axis::kEp] = 2;
    Devices all = m_draft->devices();
    all.insert(all.end(), kN1.begin(), kN1.end());
    m_draft->replace(all, wide, QStringLiteral("undo change 1"));
    QCOMPARE(m_draft->request().mesh, std::optional(wide));
    QCOMPARE(m_draft->request().devices.size(), std::size_t{8});

    auto cluster = test::PanelCluster();
    cluster.jobs.front().mesh = test::Shape(1, 2, 1);
    cluster.jobs.front().mesh[ptc::Axis::kCp] = 2;
    cluster.jobs.front().epoch += 1;
    m_draft->clear();
    m_model->setSnapshot(cluster);
    m_model->flush();
    m_draft->replace(m_draft->devices(), test::Shape(2, 2, 1), QStringLiteral("undo change 2"));
    QCOMPARE(m_draft->request().mesh, std::optional(test::Shape(2, 2, 1)));
    // An axis that divides nothing has no pin, because its field is hidden.
    QVERIFY(m_draft->edits().pins[ptc::Axis::kCp].has_value());
    QVERIFY(!m_draft->edits().pins[ptc::Axis::kEp].has_value());
  }

  void everyEditIsOneStepAndUndoGivesLive() {
    const Devices live = m_draft->devices();
    m_draft->add({{1, 0}, {1, 1}});
    QCOMPARE(m_draft->undoStack()->undoText(), QStringLiteral("add n1g0–n1g1"));
    m_draft->remove({{0, 3}});
    QCOMPARE(m_draft->undoStack()->undoText(), QStringLiteral("remove n0g3"));
    m_draft->toggle({{0, 3}, {1, 0}});
    QCOMPARE(m_draft->undoStack()->undoText(), QStringLiteral("swap n1g0 for n0g3"));
    QCOMPARE(m_draft->undoStack()->count(), 3);
    const Draft::Edits edited = m_draft->edits();
    QCOMPARE(m_draft->devices(), (Devices{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 1}}));

    while (m_draft->undoStack()->canUndo()) m_draft->undoStack()->undo();
    QVERIFY(m_draft->isEmpty());
    QCOMPARE(m_draft->devices(), live);
    while (m_draft->undoStack()->canRedo()) m_draft->undoStack()->redo();
    QVERIFY(m_draft->edits() == edited);
  }

  void aJobStartedAgainHasNoDraft() {
    m_draft->add({{1, 0}, {1, 1}});
    QVERIFY(!m_draft->isEmpty());
    auto cluster = test::PanelCluster();
    cluster.jobs.front().origin = 7;  // all else is as before
    m_model->setSnapshot(cluster);
    m_model->flush();
    QVERIFY(m_draft->isEmpty());
    QCOMPARE(m_draft->undoStack()->count(), 0);
  }

  void aSwapExchangesPlacesInOneStep() {
    const Devices live = m_draft->devices();
    QVERIFY(m_draft->swap({{0, 1}}, {{0, 2}}, nullptr));
    QCOMPARE(m_draft->devices(), (Devices{{0, 0}, {0, 2}, {0, 1}, {0, 3}}));
    QCOMPARE(m_draft->undoStack()->count(), 1);
    QCOMPARE(m_draft->undoStack()->undoText(), QStringLiteral("swap n0g1 and n0g2"));
    QVERIFY(m_draft->added().empty() && m_draft->removed().empty());
    QVERIFY(m_draft->request().pinned);
    QCOMPARE(m_draft->request().mesh, std::optional(m_model->job()->mesh));
    // An idle GPU takes the place of one of the job.
    QVERIFY(m_draft->swap({{0, 1}}, {{1, 3}}, nullptr));
    QCOMPARE(m_draft->devices(), (Devices{{0, 0}, {0, 2}, {1, 3}, {0, 3}}));
    QCOMPARE(m_draft->added(), (Devices{{1, 3}}));
    QCOMPARE(m_draft->removed(), (Devices{{0, 1}}));
    m_draft->undoStack()->undo();
    m_draft->undoStack()->undo();
    QVERIFY(m_draft->isEmpty());
    QCOMPARE(m_draft->devices(), live);
    QVERIFY(!m_draft->request().pinned);
    m_draft->undoStack()->redo();
    // Swapped back is Live. Another number of GPUs lets the cluster assign the ranks again.
    QVERIFY(m_draft->swap({{0, 2}}, {{0, 1}}, nullptr));
    QVERIFY(m_draft->isEmpty());
    m_draft->undoStack()->undo();
    m_draft->add(kN1);
    QVERIFY(!m_draft->request().pinned);
    QCOMPARE(m_draft->added(), kN1);
  }

  // The plan has the ranks of a draft that adds or removes devices.
  void aSwapInAChangedDraftNeedsItsPlan() {
    m_draft->add(kN1);
    const ui::Draft::Edits before = m_draft->edits();
    const auto refused = m_draft->swap({{0, 0}}, {{1, 0}}, nullptr);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::kFailedPrecondition);
    QVERIFY(m_draft->edits() == before);
    QTRY_VERIFY(m_plan->summary() != nullptr);
    QVERIFY(m_draft->swap({{0, 0}}, {{1, 0}}, m_plan->summary().get()));
    QCOMPARE(m_draft->devices().front(), (ptc::DeviceId{1, 0}));
    QCOMPARE(m_draft->devices().size(), std::size_t{8});
    QCOMPARE(m_draft->request().mesh, std::optional(test::Shape(4, 2, 1)));
    QTRY_VERIFY(m_plan->summary() != nullptr && m_plan->summary()->to_devices.front().node == 1);
  }

  void editsThatChangeNothingAreNoSteps() {
    m_draft->add({{0, 0}});
    m_draft->remove({{1, 0}});
    m_draft->add({{7, 7}});
    QCOMPARE(m_draft->undoStack()->count(), 0);
    QVERIFY(m_draft->isEmpty());
  }

  void devicesOfOtherJobsStayAway() {
    auto cluster = test::PanelCluster();
    cluster.nodes[1].devices[2].job = "other";
    m_model->setSnapshot(cluster);
    m_model->flush();
    m_draft->add(kN1);
    QCOMPARE(m_draft->added(), (Devices{{1, 0}, {1, 1}, {1, 3}}));
  }

  void discardCanBeUndone() {
    m_draft->add(kN1);
    m_draft->discard();
    QVERIFY(m_draft->isEmpty());
    m_draft->undoStack()->undo();
    QCOMPARE(m_draft->added(), kN1);
  }

  void repeatedChangesOfAnAxisAreOneStep() {
    m_draft->add(kN1);
    m_draft->pin(ptc::Axis::kTp, 3);
    m_draft->pin(ptc::Axis::kTp, 4);
    QCOMPARE(m_draft->undoStack()->count(), 2);
    QCOMPARE(*m_draft->mesh(), test::Shape(2, 4, 1));
    m_draft->pin(ptc::Axis::kPp, 2);
    QCOMPARE(m_draft->undoStack()->count(), 3);
    QCOMPARE(*m_draft->mesh(), test::Shape(1, 4, 2));
    m_draft->undoStack()->undo();
    m_draft->undoStack()->undo();
    QVERIFY(!m_draft->mesh());
  }

  void aCommitClearsDraftAndStack() {
    m_draft->add(kN1);
    m_model->setSnapshot(test::PanelGrown());
    m_model->flush();
    QVERIFY(m_draft->isEmpty());
    QVERIFY(!m_draft->undoStack()->canUndo());
    QCOMPARE(m_draft->devices().size(), std::size_t{8});
  }

  void anothersCommitKeepsWhatIsWanted() {
    m_draft->add({{1, 0}, {1, 1}});
    auto cluster = test::PanelCluster();
    cluster.jobs.front().epoch = 9;
    cluster.jobs.front().devices.push_back({1, 0});
    cluster.nodes[1].devices[0].job = test::kJob;
    m_model->setSnapshot(cluster);
    m_model->flush();
    QCOMPARE(m_draft->added(), (Devices{{1, 1}}));
    QVERIFY(!m_draft->undoStack()->canUndo());
  }

  void plansAreAskedForOnceAfterABurst() {
    m_draft->add({{1, 0}});
    m_draft->add({{1, 1}});
    m_draft->add({{1, 2}, {1, 3}});
    QCOMPARE(m_plan->state(), DraftPlan::State::Planning);
    QTRY_COMPARE(m_plan->state(), DraftPlan::State::Ready);
    QCOMPARE(m_commands->planned.size(), std::size_t{1});
    QCOMPARE(m_commands->planned.front().devices.size(), std::size_t{8});
    QCOMPARE(m_plan->summary()->to_mesh, test::Shape(4, 2, 1));
  }

  void lateAnswersAreDropped() {
    m_commands->holdPlans = true;
    m_draft->add(kN1);
    QTRY_COMPARE(m_commands->heldPlans.size(), std::size_t{1});
    m_draft->remove({{1, 2}, {1, 3}});
    QTRY_COMPARE(m_commands->heldPlans.size(), std::size_t{2});
    m_commands->releasePlan(true);
    QCOMPARE(m_plan->state(), DraftPlan::State::Ready);
    m_commands->releasePlan();
    QCOMPARE(m_plan->summary()->to_mesh, test::Shape(3, 2, 1));
    m_draft->discard();
    QCOMPARE(m_plan->state(), DraftPlan::State::None);
  }

  void aChangeOfLiveMakesThePlanStaleAndPlansAgain() {
    m_draft->add(kN1);
    QTRY_COMPARE(m_plan->state(), DraftPlan::State::Ready);
    auto cluster = test::PanelCluster();
    cluster.jobs.front().layout_hash = "0000000000000001";
    m_model->setSnapshot(cluster);
    m_model->flush();
    QCOMPARE(m_plan->state(), DraftPlan::State::Stale);
    QVERIFY(!m_plan->problem().isEmpty());
    QTRY_COMPARE(m_plan->state(), DraftPlan::State::Ready);
    QCOMPARE(m_commands->planned.size(), std::size_t{2});
    QCOMPARE(m_plan->summary()->from_layout_hash, std::string("0000000000000001"));
  }

  void aMeshThatDoesNotMultiplyIsNotSent() {
    m_draft->add(kN1);
    m_draft->pin(ptc::Axis::kTp, 3);
    QCOMPARE(m_plan->state(), DraftPlan::State::Invalid);
    QCOMPARE(m_plan->problem(),
             QStringLiteral("2 × 3 × 1 uses 6 of 8 GPUs: remove 2 or raise a degree."));
    // A draft that is edited later is planned later.
    Draft later(*m_model);
    const DraftPlan plan(later, *m_model, *m_commands);
    later.add(kN1);
    QTRY_COMPARE(plan.state(), DraftPlan::State::Ready);
    QCOMPARE(m_commands->planned.size(), std::size_t{1});
    m_draft->remove({{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QCOMPARE(m_plan->problem(), QStringLiteral("A job needs at least one GPU."));
  }

  void theClustersRefusalIsSaid() {
    m_draft->remove({{0, 1}, {0, 2}, {0, 3}});
    QTRY_COMPARE(m_plan->state(), DraftPlan::State::Failed);
    QVERIFY2(m_plan->problem().contains(QStringLiteral("tp = 2 needs at least 2 devices")),
             qPrintable(m_plan->problem()));
    QVERIFY(!m_plan->summary());
  }

  // Once for a draft that stays: the answer takes a program seconds.
  void theProgramIsAskedOnceTheDraftRests() {
    m_commands->meshAnswer = FailedPrecondition("three is no power of two");
    m_draft->add({{1, 0}, {1, 1}});
    QTRY_COMPARE(m_plan->state(), DraftPlan::State::Ready);
    m_draft->add({{1, 2}, {1, 3}});
    QTRY_COMPARE(m_plan->state(), DraftPlan::State::Ready);
    QVERIFY(m_commands->checkedMeshes.empty());
    const ptc::MeshShape mesh = m_plan->summary()->to_mesh;
    QTRY_COMPARE(m_plan->state(), DraftPlan::State::Failed);
    QCOMPARE(m_commands->checkedMeshes.size(), std::size_t{1});
    QVERIFY(m_commands->checkedMeshes.front().job == test::kJob);
    QVERIFY(m_commands->checkedMeshes.front().mesh == mesh);
    QVERIFY2(m_plan->problem().contains(QStringLiteral("three is no power of two")),
             qPrintable(m_plan->problem()));
  }

  void aProgramThatCannotBeAskedIsNoProblemOfThePlan() {
    m_commands->meshAnswer = std::string("job 'gpt-mini' is suspended");
    m_draft->add(kN1);
    QTRY_VERIFY(m_plan->state() == DraftPlan::State::Ready && !m_plan->problem().isEmpty());
    QVERIFY(m_plan->summary());
    QCOMPARE(m_plan->problem(),
             QStringLiteral("The program was not asked whether it can run there: "
                            "job 'gpt-mini' is suspended"));
  }

  void namesOfDevices_data() {
    QTest::addColumn<QString>("devices");
    QTest::addColumn<QString>("names");
    QTest::newRow("one") << "n0g1"
                         << "n0g1";
    QTest::newRow("run") << "n1g2,n1g0,n1g1"
                         << "n1g0–n1g2";
    QTest::newRow("two runs") << "n0g3,n1g0"
                              << "n0g3, n1g0";
    QTest::newRow("gap") << "n0g0,n0g2"
                         << "n0g0, n0g2";
    QTest::newRow("many") << "n0g0,n0g2,n1g0,n1g2"
                          << "4 GPUs";
  }
  void namesOfDevices() {
    QFETCH(QString, devices);
    QFETCH(QString, names);
    QCOMPARE(ui::deviceNames(*ptc::ParseDevices(devices.toStdString())), names);
  }

  void coordinatesAreThoseOfTheMesh() {
    const ptc::MeshShape shape = test::Shape(2, 2, 2);
    Devices devices;
    for (int i = 0; i < 8; ++i) devices.push_back({0, i});
    const auto mesh = ptc::DeviceMesh::Make(shape, devices);
    QVERIFY(mesh.has_value());
    for (int rank = 0; rank < 8; ++rank) {
      for (const ptc::Axis axis : ptc::kAxes) {
        QCOMPARE(ui::coordinate(shape, rank, axis), mesh->Coordinate(rank, axis));
      }
    }
  }

 private:
  std::unique_ptr<ui::ClusterModel> m_model;
  std::unique_ptr<test::SpyCommands> m_commands;
  std::unique_ptr<Draft> m_draft;
  std::unique_ptr<DraftPlan> m_plan;
};

TESSERA_WIDGET_TEST(DraftTest)
#include "draft_test.moc"
