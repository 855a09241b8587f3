// SPDX-License-Identifier: Apache-2.0
// History, its details and exports; events; configurations.
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QMouseEvent>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <cmath>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/models/candidate_table_model.h"
#include "ui/models/change_view.h"
#include "ui/models/draft.h"
#include "ui/models/draft_proposal.h"
#include "ui/models/export_text.h"
#include "ui/pages/change_details.h"
#include "ui/pages/events_page.h"
#include "ui/pages/history_page.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/timeline_page.h"
#include "ui/plots/job_plots.h"
#include "ui/plots/pareto_scatter.h"
#include "ui/settings/settings.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/phase_times_bar.h"

using namespace tessera;
using ui::ExportFormat;

namespace {
const std::vector<ptc::DeviceId> kN1{{1, 0}, {1, 1}, {1, 2}, {1, 3}};
}  // namespace

class RecordsTest : public QObject {
  Q_OBJECT

 private slots:
  void csvQuotesAndNamesEveryColumn() {
    auto entries = test::PanelHistory();
    entries.front().reason = "two \"words\", and\na line";
    const QByteArray csv = ui::exportText(entries, ExportFormat::Csv);
    QVERIFY(csv.startsWith("transaction,job,from,to,"));
    QVERIFY(csv.contains("\"two \"\"words\"\", and\na line\""));
    QVERIFY(csv.contains("n0g0>n0g2=9804186"));
    QCOMPARE(csv.count("\r\n"), qsizetype{4});
    // Devices hold commas.
    QVERIFY(csv.contains("\"dp=1,tp=2,pp=1 on n0g0,n0g1\""));
  }

  void jsonHoldsNumbersAndNullForUnknown() {
    const QByteArray text = ui::exportText(test::PanelHistory(), ExportFormat::Json);
    const QJsonArray rows = QJsonDocument::fromJson(text).array();
    QCOMPARE(rows.size(), 3);
    const QJsonObject first = rows.first().toObject();
    QCOMPARE(first[QStringLiteral("id")].toInt(), 3);
    QCOMPARE(first[QStringLiteral("pause_seconds")].toDouble(), 0.31);
    QCOMPARE(first[QStringLiteral("bytes")][QStringLiteral("network")].toInteger(),
             qint64{19'608'371});
    QCOMPARE(first[QStringLiteral("phase_seconds")].toObject().size(), 6);
    engine::HistoryEntry bare;
    bare.id = 9;
    const QJsonObject none =
        QJsonDocument::fromJson(ui::exportText(std::vector{bare}, ExportFormat::Json))
            .array()
            .first()
            .toObject();
    QVERIFY(none[QStringLiteral("bytes")][QStringLiteral("network")].isNull());
    QVERIFY(none[QStringLiteral("pause_estimate_seconds")].isNull());
  }

  void filesAreWrittenWholeOrNotAtAll() {
    QTemporaryDir dir;
    const QString name = dir.filePath(QStringLiteral("events.json"));
    QVERIFY(ui::exportFormatOf(name) == ExportFormat::Json);
    const QByteArray bytes = ui::exportText(test::PanelEvents(), ui::exportFormatOf(name));
    QVERIFY(ui::writeFile(name, bytes).has_value());
    QFile file(name);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), bytes);
    const Status failed = ui::writeFile(dir.filePath(QStringLiteral("none/x.csv")), bytes);
    QVERIFY(!failed.has_value());
    QVERIFY(failed.error().ToString().find("none/x.csv") != std::string::npos);
  }

  void theTimelineIsExportedInFourForms() {
    test::Panel panel;
    auto* timeline = panel.window->findChild<ui::TimelinePage*>();
    QTRY_VERIFY(timeline->words().isEmpty());
    QVERIFY(timeline->exportBlockedReason().isEmpty());
    QTemporaryDir dir;
    const auto exported = [&](const char* name) {
      const QString path = dir.filePath(QString::fromLatin1(name));
      if (!timeline->exportTo(path)) return QByteArray();
      QFile file(path);
      return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    QVERIFY(!QImage::fromData(exported("a.png"), "PNG").isNull());
    QVERIFY(exported("a.SVG").contains("<svg"));
    const auto& points = timeline->samples().series().points();
    const QByteArray csv = exported("a.csv");
    QVERIFY(csv.startsWith("job,step,time [s since 1970],time [UTC],loss,"));
    QCOMPARE(csv.count('\n'), std::ssize(points) + 1);
    const auto rows = QJsonDocument::fromJson(exported("a.json")).array();
    QCOMPARE(rows.size(), std::ssize(points));
    QCOMPARE(rows.first()[QStringLiteral("step")].toInteger(), qint64{points.front().step});
    QVERIFY(!timeline->exportTo(dir.filePath(QStringLiteral("none/a.png"))));

    test::Panel none({}, test::IdleCluster(2, 4));
    none.commands.recorded.clear();
    QVERIFY(!none.window->findChild<ui::TimelinePage*>()->exportButton()->isEnabled());
    const QAction* action = none.window->actions()->find(QStringLiteral("history.exportPlots"));
    QVERIFY(!action->isEnabled() && action->toolTip().contains(QStringLiteral("no samples")));
  }

  // The selection chooses the GPUs whose computing is drawn.
  void selectedGpusShowWhatTheyCompute() {
    auto cluster = test::PanelCluster();
    for (auto& device : cluster.nodes[0].devices) device.busy_seconds = 0.2;
    test::Panel panel({}, cluster);
    auto* timeline = panel.window->findChild<ui::TimelinePage*>();
    QTRY_VERIFY(timeline->samples().state() == ui::SampleHistory::State::Following);
    panel.window->meshView()->setSelection({{0, 1}, {1, 0}});
    QVERIFY(timeline->plots()->computing().empty());  // that plot is not drawn
    timeline->chooseCurves({{ui::PlotCurve::Kind::StepTime}});
    QCOMPARE(timeline->plots()->computing().size(), std::size_t{1});  // n1g0 has no rank
    const auto before = timeline->plots()->computing().front().values.size();
    const ui::SampleSeries& series = timeline->samples().series();
    engine::Sample sample = series.sampleOf(test::kJob, series.points().size() - 1);
    ++sample.step;
    sample.time += 0.3;
    panel.model.addSample(sample);
    panel.model.flush();
    QCOMPARE(timeline->plots()->computing().front().device, (ptc::DeviceId{0, 1}));
    QCOMPARE(timeline->plots()->computing().front().values.size(), before + 1);
    const QString text = timeline->plots()->readout(sample.time);
    QVERIFY2(text.contains(QStringLiteral("n0g1 computes 0.20 s")), qPrintable(text));
    panel.window->meshView()->setSelection({});
    QVERIFY(timeline->plots()->computing().empty());
  }

  void metricsOfAProgramAreDrawnOnRequestAndExported() {
    ui::Settings settings;
    test::Panel panel({.settings = &settings});
    auto* timeline = panel.window->findChild<ui::TimelinePage*>();
    QTRY_VERIFY(timeline->samples().state() == ui::SampleHistory::State::Following);
    const auto entry = [&](const QString& text) -> QAction* {
      emit timeline->curvesMenu()->aboutToShow();
      for (QAction* action : timeline->curvesMenu()->actions()) {
        if (action->text().contains(text)) return action;
      }
      return nullptr;
    };
    // Before the program has logged anything the menu says how it can.
    QVERIFY(entry(QStringLiteral("job.log(")) && !entry(QStringLiteral("job.log("))->isEnabled());
    QVERIFY(entry(QStringLiteral("loss"))->isChecked());
    QVERIFY(!entry(QStringLiteral("gradient norm"))->isChecked());

    const ui::SampleSeries& series = timeline->samples().series();
    engine::Sample sample = series.sampleOf(test::kJob, series.points().size() - 1);
    sample.grad_norm = 1.5;
    for (int i = 0; i < 3; ++i) {
      ++sample.step;
      sample.time += 1;
      sample.metrics = {{"accuracy", 0.25 + i}, {"val/loss", std::nan("")}};
      if (i == 1) sample.metrics.clear();
      panel.model.addSample(sample);
    }
    panel.model.flush();
    QVERIFY(!entry(QStringLiteral("job.log(")));
    QVERIFY(!entry(QStringLiteral("accuracy"))->isChecked());
    entry(QStringLiteral("accuracy"))->trigger();
    QCOMPARE(timeline->plots()->curves().size(), std::size_t{3});
    QVERIFY(timeline->plots()->readout(sample.time).contains(QStringLiteral("accuracy 2.25")));
    QCOMPARE(settings.entry(QStringLiteral("plots/curves")),
             QStringLiteral("loss,tokens_per_second,metrics.accuracy"));
    test::Panel again({.settings = &settings});
    again.model.addSample(sample);
    again.model.flush();
    auto* sameTimeline = again.window->findChild<ui::TimelinePage*>();
    QTRY_COMPARE(sameTimeline->plots()->curves().size(), std::size_t{3});
    // One curve is always drawn.
    entry(QStringLiteral("accuracy"))->trigger();
    entry(QStringLiteral("tokens/s"))->trigger();
    QCOMPARE(timeline->plots()->curves().size(), std::size_t{1});
    QVERIFY(!entry(QStringLiteral("loss"))->isEnabled());

    QTemporaryDir dir;
    const auto exported = [&](const char* name) {
      const QString path = dir.filePath(QString::fromLatin1(name));
      QFile file(path);
      return timeline->exportTo(path) && file.open(QIODevice::ReadOnly) ? file.readAll()
                                                                        : QByteArray();
    };
    const QList<QByteArray> lines = exported("a.csv").trimmed().split('\n');
    QVERIFY2(lines.first().trimmed().endsWith(",metrics.accuracy,metrics.val/loss"),
             lines.first().constData());
    QVERIFY(lines[lines.size() - 1].trimmed().endsWith(",2.25,NaN"));
    QVERIFY(lines[lines.size() - 2].trimmed().endsWith(",,"));  // not logged, so empty
    const auto rows = QJsonDocument::fromJson(exported("a.json")).array();
    QCOMPARE(rows.last()[QStringLiteral("metrics")][QStringLiteral("accuracy")].toDouble(), 2.25);
    QVERIFY(rows.last()[QStringLiteral("metrics")][QStringLiteral("val/loss")].isNull());
    QCOMPARE(rows.last()[QStringLiteral("grad_norm")].toDouble(), sample.grad_norm);
  }

  void phasesStandInOrderAndKnowThePause() {
    const auto phases = ui::phasesOf(test::PanelHistory().front());
    QCOMPARE(phases.size(), std::size_t{6});
    QCOMPARE(QString::fromStdString(phases[0].phase), QStringLiteral("preparing"));
    QVERIFY(!phases[0].pauses);
    QVERIFY(phases[2].pauses);
    QCOMPARE(QString::fromStdString(phases[5].phase), QStringLiteral("resuming"));
  }

  void choosingARowShowsItsDetailsAndMarksItsBand() {
    test::Panel panel;
    auto* history = panel.window->findChild<ui::HistoryPage*>();
    auto* details = panel.window->findChild<ui::ChangeDetails*>();
    auto* timeline = panel.window->findChild<ui::TimelinePage*>();
    QTRY_COMPARE(history->model()->rowCount(), 3);
    QVERIFY(!details->isVisible());
    QVERIFY(history->choose(3));
    QVERIFY(details->isVisible());
    QCOMPARE(timeline->plots()->selectedBand(), std::optional<std::int64_t>(3));
    QCOMPARE(details->facts()->value(QStringLiteral("requested by")),
             QStringLiteral("tessera by operator"));
    QVERIFY(details->facts()->value(QStringLiteral("digests")).startsWith(QStringLiteral("equal")));
    QCOMPARE(details->comparison()->value(QStringLiteral("pause")), QStringLiteral("0.31 s"));
    QCOMPARE(details->comparison()->value(QStringLiteral("pause (estimate)")),
             QStringLiteral("≈ 0.28 s"));
    QCOMPARE(details->phases()->phases().size(), std::size_t{6});
    QVERIFY(details->reverseButton()->isEnabled());

    // The plan of an older entry is not known, and it was never committed.
    history->choose(1);
    QCOMPARE(details->comparison()->value(QStringLiteral("planned to move")), QString());
    QVERIFY(!details->reverseButton()->isEnabled());
    QVERIFY(!details->reverseButton()->toolTip().isEmpty());

    details->closeButton()->click();
    QVERIFY(!details->isVisible());
    QVERIFY(!timeline->plots()->selectedBand());
  }

  void aBandChoosesItsRow() {
    test::Panel panel;
    auto* history = panel.window->findChild<ui::HistoryPage*>();
    auto* plots = panel.window->findChild<ui::TimelinePage*>()->plots();
    QTRY_COMPARE(plots->bands().size(), std::size_t{3});
    QTest::keyClick(plots, Qt::Key_Left);
    QVERIFY(history->chosen() != nullptr);
    QCOMPARE(history->chosen()->id, std::int64_t{3});
  }

  void theTimelineSaysWhatIsMissing() {
    test::Panel none({}, test::IdleCluster(2, 4));
    QVERIFY(none.window->findChild<ui::TimelinePage*>()->words().contains(
        QStringLiteral("No job is running")));
    test::Panel panel;
    auto* timeline = panel.window->findChild<ui::TimelinePage*>();
    QTRY_VERIFY(timeline->words().isEmpty());
    QVERIFY(timeline->plots()->segments() >= 4);
  }

  void eventsCanBeFilteredBySeverity() {
    ui::EventsPage page;
    page.append(test::PanelEvents());
    QCOMPARE(page.shown().size(), std::size_t{7});
    page.severityBox()->setCurrentIndex(2);
    QCOMPARE(page.shown().size(), std::size_t{2});
    page.severityBox()->setCurrentIndex(3);
    QCOMPARE(page.shown().size(), std::size_t{1});
    QCOMPARE(page.shown().front().sequence, std::int64_t{7});
  }

  void configurationsFollowTheDraftAndAreChosenFromTable() {
    test::Panel panel({.operate = true});
    auto* draft = panel.window->draft();
    auto* plan = panel.window->planPanel();
    QCOMPARE(panel.commands.proposed.size(), std::size_t{0});  // nobody looks yet
    draft->add(kN1);
    panel.window->actions()->find(QStringLiteral("view.draft"))->trigger();
    QTRY_VERIFY(plan->candidates()->rowCount() > 3);
    QCOMPARE(panel.commands.proposed.back().size(), std::size_t{8});
    QVERIFY(plan->recommendationText().startsWith(QStringLiteral("Recommended: ")));
    const auto asked = panel.commands.proposed.size();

    plan->candidateTable()->selectRow(1);
    const engine::Candidate& second = plan->candidates()->candidates()[1];
    QVERIFY(draft->mesh() == second.mesh);
    QVERIFY(draft->options() == second.options);
    QCOMPARE(plan->scatter()->chosen(), std::optional<int>(1));
    QVERIFY(!plan->scatter()->isOutdated());  // choosing sends no new request

    // The other way: the fields lead, the table follows.
    emit plan->scatter()->candidateChosen(0);
    QCOMPARE(plan->candidateTable()->selectionModel()->selectedRows().first().row(), 0);
    QVERIFY(panel.commands.mutations() == 0);
    draft->discard();
    QVERIFY(plan->scatter()->isOutdated());
    QTRY_VERIFY(panel.commands.proposed.size() > asked);
    QCOMPARE(panel.commands.proposed.size(), asked + 1);
    QCOMPARE(panel.commands.proposed.back().size(), std::size_t{4});
  }

  void hoveringAPointMarksItsRowAndBack() {
    test::Panel panel({.operate = true});
    auto* plan = panel.window->planPanel();
    panel.window->draft()->add(kN1);
    panel.window->actions()->find(QStringLiteral("view.draft"))->trigger();
    QTRY_VERIFY(plan->candidates()->rowCount() > 3);
    ui::ParetoScatter* scatter = plan->scatter();
    QVERIFY(!scatter->isVisible());
    plan->detailsButton()->click();
    QTRY_VERIFY(scatter->isVisible());
    QCoreApplication::processEvents();
    const int wanted = scatter->indexAt(scatter->pointOf(2)).value();
    const QPointF at = scatter->pointOf(wanted);
    QMouseEvent move(QEvent::MouseMove, at, scatter->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    QCoreApplication::sendEvent(scatter, &move);  // the pane scrolls: the point may be out of sight
    QCOMPARE(plan->candidates()->hovered(), std::optional<int>(wanted));
    const QModelIndex cell = plan->candidates()->index(wanted, 1);
    QVERIFY(cell.data(ui::CandidateTableModel::HoveredRole).toBool());
    QCOMPARE(scatter->hovered(), std::optional<int>(wanted));
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(scatter, &leave);
    QVERIFY(!plan->candidates()->hovered());

    QTableView* table = plan->candidateTable();
    emit table->entered(plan->candidates()->index(1, 2));
    QCOMPARE(scatter->hovered(), std::optional<int>(1));
    QCOMPARE(plan->candidates()->hovered(), std::optional<int>(1));
    QCoreApplication::sendEvent(table->viewport(), &leave);
    QVERIFY(!scatter->hovered() && !plan->candidates()->hovered());
    QCOMPARE(panel.commands.mutations(), 0);
  }

  void unknownNumbersAreDashes() {
    ui::CandidateTableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    engine::Candidate candidate;
    candidate.mesh = test::Shape(2, 2, 1);
    model.setCandidates({candidate}, {});
    for (const int column :
         {ui::CandidateTableModel::StepColumn, ui::CandidateTableModel::TokensColumn,
          ui::CandidateTableModel::PauseColumn, ui::CandidateTableModel::PeakColumn}) {
      QCOMPARE(model.index(0, column).data().toString(), QStringLiteral("—"));
    }
    candidate.peak_bytes = 95;
    candidate.capacity = 100;
    QVERIFY(ui::fitOf(candidate) == ui::Fit::Tight);
    candidate.peak_bytes = 101;
    QVERIFY(ui::fitOf(candidate) == ui::Fit::TooLarge);
    model.setCandidates({candidate, candidate}, {});
    QCOMPARE(model.rowCount(), 2);
  }

  void candidatesSayWhatTheyAreBestIn() {
    ui::CandidateTableModel model;
    engine::Candidate kept, fast, lean;
    kept.mesh = test::Shape(4, 1, 1);
    fast.mesh = test::Shape(2, 1, 1);
    fast.idle = {{0, 2}, {0, 3}};
    fast.fastest = true;
    lean.mesh = test::Shape(1, 2, 2);
    lean.moves_least = true;
    lean.options.zero = true;
    lean.survival = engine::Survival{1, std::int64_t{18} << 20U};
    model.setCandidates({kept, fast, lean}, {});
    QCOMPARE(model.describe(0).split(QStringLiteral(" · ")).at(1), QStringLiteral("all GPUs"));
    QCOMPARE(model.describe(1).split(QStringLiteral(" · ")).at(1), QStringLiteral("fastest"));
    QVERIFY(model.describe(2).contains(QStringLiteral("moves least · all GPUs")));
    QVERIFY(model.describe(2).endsWith(QStringLiteral("loss of any node: n1 would lose 18 MiB")));
    QVERIFY(!model.describe(1).contains(QStringLiteral("loss of any node")));
    QCOMPARE(model.index(2, 0).data(ui::CandidateTableModel::MeritsRole).toString(),
             QStringLiteral("moves least, all GPUs"));
    // Where no configuration leaves GPUs idle, all of them use all.
    model.setCandidates({kept, lean}, {});
    QCOMPARE(model.index(0, 0).data(ui::CandidateTableModel::MeritsRole).toString(), QString());
  }

  void optionsAreEditsLikeOthers() {
    test::Panel panel;
    ui::Draft* draft = panel.window->draft();
    engine::StepOptions options = draft->options();
    options.zero = true;
    draft->setOptions(options);
    QVERIFY(!draft->isEmpty());
    QVERIFY(draft->request().options == options);
    options.zero = false;
    draft->setOptions(options);
    QVERIFY(draft->isEmpty());
    QVERIFY(!draft->request().options);
  }
};

TESSERA_THEMED_TEST(RecordsTest)
#include "records_test.moc"
