// SPDX-License-Identifier: Apache-2.0
// One change, from the draft to the history: the panel, the command line and the agents name the
// same bytes, and a change goes on without the panel that has begun it.
#include <QMessageBox>
#include <QProcess>
#include <QPushButton>
#include <QTest>
#include <nlohmann/json.hpp>
#include <set>

#include "app/bridge.h"
#include "app/commands/json.h"
#include "app/connections.h"
#include "tests/e2e/watched_commands.h"
#include "tests/folders.h"
#include "tests/support/local_cluster.h"
#include "tests/support/widget_test_main.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/format.h"
#include "ui/main_window.h"
#include "ui/models/draft.h"
#include "ui/models/history_table_model.h"
#include "ui/pages/apply_sheet.h"
#include "ui/pages/history_page.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/progress_panel.h"
#include "ui/views/link_canvas.h"
#include "ui/views/links_view.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/stacked_bar.h"

using namespace tessera;
using test::Json;
using test::LocalCluster;

namespace {

constexpr int kPatienceMs = 120'000;
const QString kJob = QStringLiteral("small");
const QList<ptc::DeviceId> kN1{{1, 0}, {1, 1}, {1, 2}, {1, 3}};

QStringList words(const char* text) { return QString::fromLatin1(text).split(u' '); }

/// A whole panel on a cluster.
struct Front {
  explicit Front(bool operate) : window(model, commands, {.operate = operate}) {
    isOpen = connections.open("t").has_value();
    window.resize(1440, 900);
    window.show();
  }
  template <typename T>
  T* child() const {
    return window.findChild<T*>();
  }
  QAction* action(const char* id) const { return window.actions()->find(QString::fromLatin1(id)); }

  ui::ClusterModel model;
  app::Bridge bridge{model};
  app::AppConnections connections{model, bridge};
  test::WatchedCommands commands{connections};
  ui::MainWindow window;
  bool isOpen = false;
};

std::int64_t sumOf(const Json& flows, const char* key) {
  std::int64_t sum = 0;
  for (const Json& flow : flows) sum += flow[key].get<std::int64_t>();
  return sum;
}

}  // namespace

class E2ePanelChangeTest : public QObject {
  Q_OBJECT

 private slots:
  void cleanup() { m_cluster.reset(); }

  void thePanelTheCommandLineAndTheAgentsNameTheSameBytes() {
    up({});
    const auto start =
        m_cluster->StartJob(kJob, QStringLiteral("dp=2,tp=2"), test::FirstDevices(4));
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    Front front(true);
    QVERIFY(front.isOpen);
    QTRY_VERIFY_WITH_TIMEOUT(!front.window.draft()->job().isEmpty() && front.window.isOperating(),
                             20'000);

    // The draft, and what its copied command prints.
    emit front.window.meshView()->devicesDropped(kN1, true);
    const ui::PlanPanel* panel = front.window.planPanel();
    QTRY_VERIFY2_WITH_TIMEOUT(panel->applyButton()->isEnabled(),
                              qPrintable(panel->applyButton()->toolTip()), 20'000);
    const engine::PlanSummary plan = front.commands.planned()->summary;
    QStringList copied = panel->command().split(u' ');
    QCOMPARE(copied.takeFirst(), QStringLiteral("tesseractl"));
    const Json printed = m_cluster->Ask(copied);
    Json shown = app::toJson(plan);
    shown.erase("step_seconds");  // follows the steps as they are measured
    QVERIFY2(printed.is_object(), qPrintable(panel->command()));
    for (const auto& [key, value] : shown.items())
      QVERIFY2(printed.contains(key) && printed[key] == value,
               (key + ": " + value.dump() + " | " + printed.value(key, Json()).dump()).c_str());

    // What the panel writes is what is printed.
    const Json& bytes = printed["bytes"];
    const auto sum = [&](std::initializer_list<const char*> keys) {
      std::int64_t all = 0;
      for (const char* key : keys) all += bytes[key].get<std::int64_t>();
      return all;
    };
    const auto& parts = panel->bar()->segments();
    QCOMPARE(parts[0].bytes, sum({"kept", "device"}));
    QCOMPARE(parts[1].bytes, sum({"host"}));
    QCOMPARE(parts[2].bytes, sum({"network"}));
    QCOMPARE(panel->facts()->value(QStringLiteral("pause (estimate)")),
             QStringLiteral("≈ ") +
                 ui::format::seconds(printed["pause_estimate_seconds"].get<double>()));
    QCOMPARE(panel->productText(), QStringLiteral("4 × 2 × 1 = 8 of 8 ✓"));

    // The total is the sum of the matrix, of its flows and of the moves of tensors.
    const std::int64_t moved = plan.moved();
    QVERIFY(moved > 0);
    QCOMPARE(sum({"host", "network", "snapshot", "storage"}), moved);
    QCOMPARE(sumOf(printed["flows"], "bytes"), moved);
    front.action("view.links")->trigger();
    auto* links = front.child<ui::LinksView>();
    QTRY_COMPARE(links->canvas()->matrix().bytes, moved);
    QCOMPARE(links->rows()->totalBytes(), moved);
    std::int64_t listed = 0;
    const std::vector<ui::LinkMatrix::Link> all = links->canvas()->matrix().links;
    for (const ui::LinkMatrix::Link& link : all) {
      links->canvas()->setChosen(ui::LinkCanvas::Cell{link.from, link.to});
      QTRY_VERIFY(links->rows()->hasTensors());
      QCOMPARE(links->rows()->totalBytes(), link.bytes);
      listed += links->rows()->totalBytes();
    }
    QCOMPARE(listed, moved);

    // The agents report the same.
    std::set<std::int64_t> totals;
    connect(&front.model, &ui::ClusterModel::changed, &front.window, [&] {
      const engine::TxnStatus* txn = front.model.runningTxn();
      if (txn != nullptr && txn->bytes_total > 0) totals.insert(txn->bytes_total);
    });
    front.action("plan.apply")->trigger();
    auto* sheet = front.child<ui::ApplySheet>();
    QVERIFY(sheet != nullptr);
    sheet->applyButton()->click();
    QTRY_VERIFY_WITH_TIMEOUT(
        front.window.progressPanel()->headline().startsWith(QStringLiteral("Reconfigured")),
        kPatienceMs);
    QCOMPARE(totals, std::set<std::int64_t>{moved});
    const Json history = m_cluster->Ask({QStringLiteral("history")})["transactions"];
    QCOMPARE(history.size(), std::size_t{1});
    QCOMPARE(history[0]["result"].get<std::string>(), std::string("committed"));
    QCOMPARE(history[0]["moved_bytes"].get<std::int64_t>(), moved);
    QCOMPARE(sumOf(history[0]["flows"], "bytes"), moved);
    QVERIFY2(front.commands.wrong.isEmpty(), qPrintable(front.commands.wrong.join(u'\n')));
  }

  // Both answers of the question do what they say.
  void closingDuringAChangeAsks() {
    upSimulated();
    const auto apply =
        m_cluster->Start(words("apply small --devices 2x4 --mesh dp=4,tp=2 --at-step "
                               "1000000 --yes --json"));
    QVERIFY(LocalCluster::WaitFor([&] { return !m_cluster->Phase().empty(); }));
    Front front(true);
    QVERIFY(front.isOpen);
    QTRY_VERIFY_WITH_TIMEOUT(front.model.runningTxn() != nullptr && front.window.isOperating() &&
                                 front.model.runningTxn()->can_cancel,
                             20'000);
    const auto question = [&] { return front.child<QMessageBox>(); };
    front.window.close();
    QVERIFY(front.window.isVisible() && question() != nullptr);
    question()->defaultButton()->click();  // keeps the window
    QTRY_VERIFY(question() == nullptr);
    QVERIFY(front.window.isVisible());
    QVERIFY(!m_cluster->Phase().empty());
    QCOMPARE(front.commands.mutations, 0);

    front.window.close();
    QVERIFY(question() != nullptr);
    for (QAbstractButton* button : question()->buttons())
      if (question()->buttonRole(button) == QMessageBox::DestructiveRole) button->click();
    QTRY_VERIFY_WITH_TIMEOUT(!front.window.isVisible(), 30'000);
    const Json history = m_cluster->Ask({QStringLiteral("history")})["transactions"];
    QCOMPARE(history.size(), std::size_t{1});
    QCOMPARE(history[0]["result"].get<std::string>(), std::string("rolled_back"));
    // The command that started the change reports that it was rolled back.
    QTRY_COMPARE_WITH_TIMEOUT(apply->state(), QProcess::NotRunning, 30'000);
    QCOMPARE(apply->exitCode(), 1);
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // A panel that is killed leaves a change that ends as if it had been watched; the next panel
  // shows it, and its outcome.
  void aKilledPanelLeavesItsChange() {
    upSimulated();
    QVERIFY(m_cluster->Run(words("simulate port n1 0.001")).code == 0);
    QProcess panel;
    QStringList environment = m_cluster->Environment();
    environment << QStringLiteral("QT_QPA_PLATFORM=offscreen")
                << QStringLiteral("XDG_RUNTIME_DIR=") + m_cluster->home();
    panel.setEnvironment(environment);
    panel.setWorkingDirectory(m_cluster->home());
    panel.start(QStringLiteral(TESSERA_BIN_DIR "/tessera"), words("--connect t --play grow"));
    QVERIFY(panel.waitForStarted());
    QVERIFY2(LocalCluster::WaitFor([&] { return m_cluster->IsMoving(); }),
             "the panel has begun no transfer");
    panel.kill();
    QVERIFY(panel.waitForFinished());
    QVERIFY(m_cluster->IsMoving());

    Front front(false);
    QVERIFY(front.isOpen);
    QTRY_VERIFY_WITH_TIMEOUT(front.window.progressPanel()->isVisible(), 20'000);
    QVERIFY(front.model.runningTxn() != nullptr);
    QTRY_VERIFY(front.window.windowTitle().contains(u'%'));
    QVERIFY(m_cluster->Run(words("simulate port n1 1")).code == 0);
    QTRY_VERIFY_WITH_TIMEOUT(
        front.window.progressPanel()->headline().startsWith(QStringLiteral("Reconfigured")),
        kPatienceMs);
    const auto* rows = front.child<ui::HistoryPage>()->model();
    QTRY_COMPARE(rows->rowCount(), 1);
    const auto cell = [rows](int column) { return rows->index(0, column).data().toString(); };
    QTRY_COMPARE(cell(ui::HistoryTableModel::ResultColumn), QStringLiteral("committed"));
    QCOMPARE(cell(ui::HistoryTableModel::DigestsColumn), QStringLiteral("equal"));
    QCOMPARE(m_cluster->Job(kJob)["devices"].size(), std::size_t{8});
    QVERIFY(m_cluster->GoesOn(kJob));

    // Later it is history, and no news.
    const Front later(false);
    QTRY_COMPARE_WITH_TIMEOUT(later.child<ui::HistoryPage>()->model()->rowCount(), 1, 20'000);
    QVERIFY(!later.window.progressPanel()->isVisible());
  }

 private:
  void up(const LocalCluster::Options& options) {
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    qputenv("TESSERA_HOME", m_cluster->home().toUtf8());
  }

  void upSimulated() {
    LocalCluster::Options options;
    options.simulate = QStringLiteral("2x4");
    options.more = words("--hardware demo --speed 4");
    up(options);
    const auto start =
        m_cluster->Run(words("job start gpt-10m --name small --mesh dp=2,tp=2 --devices 1x4"));
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
  }

  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_THEMED_TEST(E2ePanelChangeTest)
#include "e2e_panel_change_test.moc"
