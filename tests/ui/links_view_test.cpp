// SPDX-License-Identifier: Apache-2.0
// The Links view: sums, the matrix with its keys and names, the rows of a link, and what is shown
// when.
#include "ui/views/links_view.h"

#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QAccessibleActionInterface>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <map>

#include "engine/model/job_layout.h"
#include "ptc/plan/plan.h"
#include "tests/support/random.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_states.h"
#include "ui/language.h"
#include "ui/models/history_table_model.h"
#include "ui/models/job_states.h"
#include "ui/theme.h"
#include "ui/views/link_canvas.h"
#include "ui/views/selection_model.h"

using namespace tessera;
using ui::LinkCanvas;
using ui::LinkEnds;
using ui::LinkFlows;
using ui::LinkMatrix;
using ui::LinkTableModel;
using ui::LinkTime;

namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

engine::FlowStatus flow(ptc::DeviceId from, ptc::DeviceId to, std::int64_t bytes) {
  engine::FlowStatus made;
  made.source = from;
  made.destination = to;
  made.bytes_total = bytes;
  return made;
}

/// Flows between random devices of a cluster, each pair at most once.
std::vector<engine::FlowStatus> anyFlows(std::mt19937_64& rng, int nodes, int devices) {
  std::map<std::pair<ptc::DeviceId, ptc::DeviceId>, std::int64_t> pairs;
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng); };
  for (int i = below(60); i > 0; --i) {
    const ptc::DeviceId from{below(nodes), below(devices)}, to{below(nodes), below(devices)};
    if (from != to) pairs[{from, to}] = 1 + below(1 << 30);
  }
  std::vector<engine::FlowStatus> flows;
  for (const auto& [ends, bytes] : pairs) flows.push_back(flow(ends.first, ends.second, bytes));
  return flows;
}

/// n0 to n2 send to n6 and n7, and one flow stays inside n0.
LinkFlows someFlows() {
  LinkFlows flows;
  for (std::int32_t from = 0; from < 3; ++from) {
    for (std::int32_t i = 0; i < 4; ++i) {
      flows.flows.push_back(flow({from, i}, {6, i}, (from + 1) * kGiB));
      flows.flows.push_back(flow({from, i}, {7, i}, kGiB / 4));
    }
  }
  flows.flows.push_back(flow({0, 0}, {0, 1}, kGiB));
  return flows;
}

/// The plan of going from PanelCluster to 4 × 2 × 1, with the flows that it really has.
engine::PlanSummary realPlan(const engine::vfs::JobFactsPtr& state) {
  engine::PlanSummary plan = test::GrowthPlan();
  const ptc::Layout& from = state->info.layout;
  const auto mesh = ptc::DeviceMesh::Make(plan.to_mesh, plan.to_devices);
  const auto to = engine::MakeLayout({from.collection_ptr(), from.stage_rule()}, *mesh);
  const auto cluster = test::PanelCluster();
  ptc::Topology topology;
  for (const auto& node : cluster.nodes) topology.host_of_node[node.node] = 0;
  const auto outline = ptc::MakeOutline(from, *to, topology);
  plan.flows.clear();
  for (const auto& each : ptc::DeviceFlows(*outline)) {
    plan.flows.push_back(flow(each.source, each.device, each.bytes));
  }
  plan.from_layout_hash = ptc::Hex16(from.hash());
  return plan;
}

/// The view alone, and the layout that it shows.
struct Shown {
  explicit Shown(engine::ClusterSnapshot snapshot = test::PanelCluster()) : commands(model) {
    model.setSnapshot(snapshot);
    layout.cluster = std::make_shared<const engine::ClusterSnapshot>(std::move(snapshot));
    layout.job = layout.cluster->jobs.empty() ? std::string() : layout.cluster->jobs.front().name;
    layout.scene = layout.live = std::make_shared<const ui::MeshScene>();
    view.resize(900, 620);
    view.show();
  }
  void showLive() {
    layout.source = ui::LayoutSource::Live;
    layout.plan.reset();
    view.showLayout(layout);
  }
  void showDraft(std::optional<engine::PlanSummary> plan) {
    layout.source = ui::LayoutSource::Draft;
    layout.plan = plan ? std::make_shared<const engine::PlanSummary>(*plan) : nullptr;
    view.showLayout(layout);
  }
  void showCluster(engine::ClusterSnapshot snapshot) {
    layout.cluster = std::make_shared<const engine::ClusterSnapshot>(std::move(snapshot));
    showLive();
  }

  ui::ClusterModel model;
  test::SpyCommands commands;
  ui::JobStates states{model, commands};
  ui::SelectionModel selection;
  ui::HistoryTableModel history;
  QStringList said, problems;
  ui::LinksView view{{model, commands, nullptr, states, selection, history,
                      [this](const QString& text) { said << text; },
                      [this](const QString& text) { problems << text; }, [] {}},
                     nullptr};
  ui::ShownLayout layout;
};

QString cellText(const QTableView* table, int row, int column) {
  return table->model()->index(row, column).data().toString();
}

}  // namespace

class LinksViewTest : public QObject {
  Q_OBJECT

 private slots:
  void totalsAreSumsOfTheFlows() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 300; ++i) {
      const int nodes = 1 + static_cast<int>(rng() % 9), devices = 1 + static_cast<int>(rng() % 9);
      const LinkFlows flows{LinkTime::Planned, anyFlows(rng, nodes, devices)};
      for (const LinkEnds ends : {LinkEnds::Nodes, LinkEnds::Gpus}) {
        const LinkMatrix matrix = makeLinkMatrix(flows, test::IdleCluster(nodes, devices), ends);
        const bool grouped = ends == LinkEnds::Nodes || nodes * devices > 64;
        QCOMPARE(matrix.ends, grouped ? LinkEnds::Nodes : LinkEnds::Gpus);
        QCOMPARE(matrix.size(), grouped ? nodes : nodes * devices);
        std::vector<std::int64_t> sends(static_cast<std::size_t>(matrix.size())), receives(sends),
            inside(sends);
        std::int64_t all = 0, count = 0;
        for (const auto& each : flows.flows) {
          const auto from = static_cast<std::size_t>(matrix.partyOf(each.source));
          const auto to = static_cast<std::size_t>(matrix.partyOf(each.destination));
          (from == to ? inside : sends)[from] += each.bytes_total;
          if (from != to) receives[to] += each.bytes_total;
          all += each.bytes_total;
        }
        QCOMPARE(matrix.bytes, all);
        for (const auto& link : matrix.links) {
          all -= link.bytes;
          count += link.flows;
          const auto rows = flowsOf(flows, matrix, &link);
          QCOMPARE(static_cast<std::int64_t>(rows.size()), link.flows);
          std::int64_t sum = 0;
          for (const auto& row : rows) sum += row.bytes_total;
          QCOMPARE(sum, link.bytes);
          QCOMPARE(matrix.find(link.from, link.to), &link);
        }
        QCOMPARE(all, std::int64_t{0});
        QCOMPARE(count, static_cast<std::int64_t>(flows.flows.size()));
        for (int p = 0; p < matrix.size(); ++p) {
          QCOMPARE(matrix.party(p).sends, sends[static_cast<std::size_t>(p)]);
          QCOMPARE(matrix.party(p).receives, receives[static_cast<std::size_t>(p)]);
          QCOMPARE(matrix.party(p).inside, inside[static_cast<std::size_t>(p)]);
        }
      }
    }
  }

  void sixtyFiveGpusAreGroupedByNode() {
    const auto of = [](int nodes, int devices) {
      return makeLinkMatrix({}, test::IdleCluster(nodes, devices), LinkEnds::Gpus);
    };
    QCOMPARE(of(8, 8).size(), 64);
    QCOMPARE(of(8, 8).ends, LinkEnds::Gpus);
    QCOMPARE(of(5, 13).size(), 5);
    QCOMPARE(of(5, 13).ends, LinkEnds::Nodes);
  }

  void unusualMatrices() {
    const LinkMatrix none = makeLinkMatrix({}, {}, LinkEnds::Nodes);
    QCOMPARE(none.size(), 0);
    QVERIFY(!none.busiest);
    QCOMPARE(none.find(0, 0), nullptr);
    // One node: everything stays inside it, and no port to the network is busy.
    const LinkFlows inside{LinkTime::Past, {flow({0, 0}, {0, 1}, 5), flow({0, 1}, {0, 2}, 6)}};
    const LinkMatrix one = makeLinkMatrix(inside, test::IdleCluster(1, 4), LinkEnds::Nodes);
    QCOMPARE(one.size(), 1);
    QCOMPARE(one.party(0).inside, std::int64_t{11});
    QCOMPARE(one.largestPort, std::int64_t{0});
    QVERIFY(!one.busiest);
    QCOMPARE(describeLink(one, 0, 0), QStringLiteral("inside n0: 11 B in 2 flows"));
    // Devices that the cluster has lost since then still have rows; only those of the job appear.
    const LinkFlows gone{LinkTime::Past, {flow({9, 0}, {0, 1}, 5)}, {{0, 0}, {0, 1}}};
    const LinkMatrix past = makeLinkMatrix(gone, test::IdleCluster(4, 4), LinkEnds::Nodes);
    QCOMPARE(past.size(), 2);
    QCOMPARE(partyName(past.party(1)), QStringLiteral("n9"));
  }

  void theBusiestPortIsThatOfThePlan() {
    LinkFlows flows = someFlows();
    const auto cluster = test::IdleCluster(8, 4);
    LinkMatrix matrix = makeLinkMatrix(flows, cluster, LinkEnds::Nodes);
    QCOMPARE(matrix.busiest->party, std::optional(6));
    QVERIFY(matrix.busiest->in);
    QCOMPARE(matrix.busiest->sentence, QStringLiteral("n6 in: the busiest port, 24 GiB"));

    engine::PlanCertificate& plan = flows.certificate;
    plan.port = "n6 in";
    plan.port_bytes = plan.direct_bound = plan.relayed_bound = 24 * kGiB;
    plan.port_seconds = plan.direct_seconds = plan.relayed_seconds = 2;
    plan.network_bytes_per_second = 12 * static_cast<double>(kGiB);
    plan.bandwidths_from = "assumed";
    matrix = makeLinkMatrix(flows, cluster, LinkEnds::Nodes);
    QCOMPARE(matrix.busiest->party, std::optional(6));
    QCOMPARE(matrix.busiest->sentence,
             QStringLiteral("n6 in: the busiest port; no plan can load it less (bound 24 GiB)"));
    QCOMPARE(matrix.aloneSeconds(*matrix.find(2, 6)), std::optional(1.0));
    QCOMPARE(aloneText(matrix, *matrix.find(2, 6)),
             QStringLiteral("12.9 GB/s (assumed), alone ≈ 1.0 s"));
    QVERIFY(!matrix.aloneSeconds(*matrix.find(0, 0)));  // memory: not known

    plan.relayed_bound = 12 * kGiB;
    plan.relayed_seconds = 1;
    matrix = makeLinkMatrix(flows, cluster, LinkEnds::Nodes);
    QVERIFY(matrix.busiest->sentence.contains(QStringLiteral("without relays")));

    plan.port_seconds = 2.5;
    matrix = makeLinkMatrix(flows, cluster, LinkEnds::Nodes);
    QCOMPARE(matrix.busiest->sentence,
             QStringLiteral("n6 in: the busiest port, 25 % more than the bound of 24 GiB"));
    // The port of a rack has no row.
    plan.port = "rack 1 out";
    matrix = makeLinkMatrix(flows, cluster, LinkEnds::Nodes);
    QVERIFY(!matrix.busiest->party && !matrix.busiest->in);
    QVERIFY(matrix.busiest->sentence.startsWith(QStringLiteral("rack 1 out:")));
  }

  void strongerColoursMeanMoreBytesAndAllNumbersAreLegible() {
    const LinkMatrix matrix = makeLinkMatrix(someFlows(), test::IdleCluster(8, 4), LinkEnds::Nodes);
    QCOMPARE(linkStrength(matrix, matrix.largest), 1.0);
    double before = 0;
    for (std::int64_t bytes = matrix.smallest; bytes <= matrix.largest; bytes *= 2) {
      const double strength = linkStrength(matrix, bytes);
      QVERIFY(strength > before && strength <= 1);
      before = strength;
    }
    for (const auto mode : {ui::ThemeMode::Dark, ui::ThemeMode::Light}) {
      ui::applyTheme(*qApp, mode);
      for (int i = 0; i <= 100; ++i) {
        for (const bool inside : {false, true}) {
          const QColor fill = LinkCanvas::fillOf(i / 100.0, inside);
          QVERIFY2(ui::contrast(ui::ink(fill), fill) >= 4.5,
                   qPrintable(QStringLiteral("%1 %2").arg(i).arg(fill.name())));
        }
      }
    }
  }

  void theSizeOfCellsFollowsFromRowsAndWindow() {
    LinkCanvas canvas;
    canvas.resize(900, 480);
    canvas.show();
    LinkFlows flows = someFlows();
    const auto cluster = test::IdleCluster(8, 4);
    canvas.setMatrix(makeLinkMatrix({}, cluster, LinkEnds::Nodes));
    const int size = canvas.cellSize();
    QVERIFY(size >= 26);
    canvas.setMatrix(makeLinkMatrix(flows, cluster, LinkEnds::Nodes));
    QCOMPARE(canvas.cellSize(), size);
    for (auto& each : flows.flows) each.bytes_total *= 1000;
    canvas.setMatrix(makeLinkMatrix(flows, cluster, LinkEnds::Nodes));
    QCOMPARE(canvas.cellSize(), size);
    test::settle();
    const int paints = canvas.paintCount();
    canvas.setMatrix(makeLinkMatrix(flows, cluster, LinkEnds::Nodes));
    test::settle();
    QCOMPARE(canvas.paintCount(), paints);  // equal matrices cause no paint event

    canvas.setMatrix(makeLinkMatrix(flows, test::IdleCluster(512, 8), LinkEnds::Nodes));
    QCOMPARE(canvas.cellSize(), LinkCanvas::kLeastCell);
    QVERIFY(canvas.verticalScrollBar()->maximum() > 0);
    canvas.setCurrent({511, 511});
    QVERIFY(canvas.viewport()->rect().contains(canvas.cellRect({511, 511})));
    QCOMPARE(canvas.cellAt(canvas.cellRect({511, 511}).center()),
             std::optional(LinkCanvas::Cell{511, 511}));
    canvas.grab();
  }

  void keysMoveAndChoose() {
    LinkCanvas canvas;
    canvas.resize(800, 480);
    canvas.show();
    canvas.setMatrix(makeLinkMatrix(someFlows(), test::IdleCluster(8, 4), LinkEnds::Nodes));
    QSignalSpy chosen(&canvas, &LinkCanvas::chosenChanged);
    using Cell = std::optional<LinkCanvas::Cell>;
    canvas.setCurrent({0, 0});
    const auto press = [&](Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
      QTest::keyClick(&canvas, key, modifiers);
    };
    press(Qt::Key_Up);
    press(Qt::Key_Left);
    QCOMPARE(canvas.current(), (Cell{{0, 0}}));
    press(Qt::Key_Down);
    press(Qt::Key_Down);
    for (int i = 0; i < 6; ++i) press(Qt::Key_Right);
    QCOMPARE(canvas.current(), (Cell{{2, 6}}));
    QVERIFY(!canvas.chosen());
    press(Qt::Key_Return);
    QCOMPARE(canvas.chosen(), (Cell{{2, 6}}));
    press(Qt::Key_Home);
    QCOMPARE(canvas.current(), (Cell{{2, 0}}));
    press(Qt::Key_End, Qt::ControlModifier);
    QCOMPARE(canvas.current(), (Cell{{7, 7}}));
    press(Qt::Key_Escape);
    QVERIFY(!canvas.chosen());
    QCOMPARE(chosen.count(), 2);
    // Without a choice Esc is left to the window.
    QKeyEvent escape(QEvent::KeyPress, Qt::Key_Escape, {});
    QCoreApplication::sendEvent(&canvas, &escape);
    QVERIFY(!escape.isAccepted());
    QTest::mouseClick(canvas.viewport(), Qt::LeftButton, {}, canvas.cellRect({1, 7}).center());
    QCOMPARE(canvas.chosen(), (Cell{{1, 7}}));
    // Another cluster without n7: nothing is chosen. With it: the choice stays on its nodes.
    canvas.setMatrix(makeLinkMatrix(someFlows(), test::IdleCluster(9, 4), LinkEnds::Nodes));
    QCOMPARE(canvas.chosen(), (Cell{{1, 7}}));
    canvas.setMatrix(makeLinkMatrix({}, test::IdleCluster(5, 4), LinkEnds::Nodes));
    QVERIFY(!canvas.chosen());
  }

  void everyCellIsAnAccessibleChild() {
    QAccessible::setActive(true);
    LinkCanvas canvas;
    canvas.resize(800, 480);
    canvas.show();
    LinkFlows flows = someFlows();
    auto cluster = test::IdleCluster(8, 4);
    cluster.nodes[5].state = engine::NodeState::kDead;
    canvas.setMatrix(makeLinkMatrix(flows, cluster, LinkEnds::Nodes));
    QAccessibleInterface* table = QAccessible::queryAccessibleInterface(&canvas);
    QVERIFY(table != nullptr);
    QCOMPARE(table->role(), QAccessible::Table);
    QVERIFY(!table->text(QAccessible::Name).isEmpty());
    QCOMPARE(table->childCount(), 64);
    const auto name = [&](int from, int to) {
      return table->child(from * 8 + to)->text(QAccessible::Name);
    };
    QCOMPARE(name(2, 6), QStringLiteral("n2 to n6: 12 GiB in 4 flows"));
    QCOMPARE(name(0, 0), QStringLiteral("inside n0: 1 GiB in 1 flow"));
    QCOMPARE(name(3, 4), QStringLiteral("n3 to n4: nothing"));
    QCOMPARE(name(3, 5), QStringLiteral("n3 to n5: nothing, n5 is lost"));
    QAccessibleInterface* child = table->child(22);
    QCOMPARE(child->parent(), table);
    QCOMPARE(table->indexOfChild(child), 22);
    const QPoint middle = child->rect().center();
    QCOMPARE(table->childAt(middle.x(), middle.y()), child);
    QVERIFY(!table->child(64) && !table->child(-1));
    child->actionInterface()->doAction(QAccessibleActionInterface::pressAction());
    QCOMPARE(canvas.chosen(), std::optional(LinkCanvas::Cell{2, 6}));
    QVERIFY(child->state().selected);
    QAccessible::setActive(false);
  }

  void aLostNodeIsCrossedOut() {
    LinkCanvas canvas;
    canvas.resize(800, 480);
    canvas.show();
    auto cluster = test::IdleCluster(8, 4);
    canvas.setMatrix(makeLinkMatrix(someFlows(), cluster, LinkEnds::Nodes));
    const QImage before = canvas.grab().toImage();
    cluster.nodes[5].state = engine::NodeState::kDead;
    canvas.setMatrix(makeLinkMatrix(someFlows(), cluster, LinkEnds::Nodes));
    const QImage after = canvas.grab().toImage();
    const QPoint middle = canvas.cellRect({5, 2}).center();
    QVERIFY(before.pixelColor(middle) != after.pixelColor(middle));
    QVERIFY(describeParty(canvas.matrix(), 5).contains(QStringLiteral("n5 is lost")));
  }

  void hoverMarksTheDevicesOfBothEnds() {
    Shown shown;
    shown.showDraft(test::GrowthPlan());
    LinkCanvas* canvas = shown.view.canvas();
    const auto moveTo = [&](LinkCanvas::Cell cell) {
      QTest::mouseMove(canvas->viewport(), canvas->cellRect(cell).center());
    };
    moveTo({0, 1});
    QCOMPARE(shown.selection.hovered(), test::AllDevices(*shown.layout.cluster));
    moveTo({1, 0});  // nothing is sent
    QVERIFY(shown.selection.hovered().empty());
    moveTo({0, 1});
    shown.view.hide();
    QVERIFY(shown.selection.hovered().empty());
  }

  void theSourceDecidesWhatIsShownUntilTheUserDoes() {
    Shown shown;
    shown.showLive();
    QCOMPARE(shown.view.words(),
             QStringLiteral("Nothing is moving. Draft a change to see its links, or choose one in "
                            "the history."));
    for (const auto time : {LinkTime::Planned, LinkTime::Moving, LinkTime::Past}) {
      QVERIFY(!shown.view.chip(time)->isEnabled());
    }
    shown.history.setEntries(test::PanelHistory());
    QVERIFY(shown.view.chip(LinkTime::Past)->isEnabled());
    QVERIFY(!shown.view.words().isEmpty());

    shown.showDraft(test::GrowthPlan());
    QCOMPARE(shown.view.words(), QString());
    QCOMPARE(shown.view.time(), LinkTime::Planned);
    QVERIFY(shown.view.chip(LinkTime::Planned)->isChecked());
    QVERIFY(!shown.view.chip(LinkTime::Moving)->isEnabled());
    shown.view.chip(LinkTime::Past)->click();
    QCOMPARE(shown.view.time(), LinkTime::Past);
    QCOMPARE(shown.view.canvas()->matrix().bytes, std::int64_t{19'608'371});
    shown.showDraft(test::GrowthPlan());
    QCOMPARE(shown.view.time(), LinkTime::Past);

    shown.showCluster(test::PanelMove(engine::TxnPhase::kTransferring, {62, 58, 64, 41}));
    QCOMPARE(shown.view.time(), LinkTime::Moving);
    QVERIFY(
        describeLink(shown.view.canvas()->matrix(), 0, 1).endsWith(QStringLiteral("56 % done")));

    shown.layout.change = std::make_shared<const engine::HistoryEntry>(test::PanelHistory().back());
    shown.layout.source = ui::LayoutSource::Past;
    shown.view.showLayout(shown.layout);
    QCOMPARE(shown.view.time(), LinkTime::Past);
    QCOMPARE(shown.view.words(), QStringLiteral("The history contains no flows of this change."));
  }

  void emptyPlansHaveWords() {
    Shown shown;
    auto plan = test::GrowthPlan();
    plan.flows.clear();
    shown.showDraft(plan);
    QCOMPARE(shown.view.words(), QStringLiteral("Nothing would move."));
    plan.storage = kGiB;
    shown.showDraft(plan);
    QVERIFY(shown.view.words().contains(QStringLiteral("1 GiB would be read from snapshots")));
    Shown idle(test::IdleCluster(2, 4));
    idle.showLive();
    QCOMPARE(idle.view.words(), QStringLiteral("No job is running."));
  }

  void theLastPlanStaysWhileTheNextIsMade() {
    Shown shown;
    shown.showDraft(std::nullopt);
    QVERIFY(shown.view.words().contains(QStringLiteral("plan of the draft")));
    shown.showDraft(test::GrowthPlan());
    shown.showDraft(std::nullopt);
    QCOMPARE(shown.view.words(), QString());
    QVERIFY(shown.view.caption().contains(QStringLiteral("planning…")));
    shown.showLive();
    QVERIFY(!shown.view.words().isEmpty());
    shown.showDraft(std::nullopt);
    QVERIFY(!shown.view.words().isEmpty());
  }

  void oldDataSayTheirTime() {
    Shown shown;
    shown.showDraft(test::GrowthPlan());
    const QImage before = shown.view.canvas()->grab().toImage();
    shown.view.setStale(4, QStringLiteral("as of 14:02:31"));
    QVERIFY(shown.view.caption().startsWith(QStringLiteral("as of 14:02:31")));
    QVERIFY(shown.view.canvas()->grab().toImage() != before);
    shown.view.setStale(0, {});
    QCOMPARE(shown.view.canvas()->grab().toImage(), before);
  }

  void aChosenLinkFiltersTheRows() {
    Shown shown;
    shown.showDraft(test::GrowthPlan());
    QCOMPARE(shown.view.linkTitle(), QStringLiteral("All links"));
    QCOMPARE(shown.view.rows()->rowCount(), 4);
    shown.view.canvas()->setChosen(LinkCanvas::Cell{0, 1});
    QCOMPARE(shown.view.linkTitle(), QStringLiteral("n0 → n1"));
    QVERIFY(shown.view.linkFacts().startsWith(QStringLiteral("37.6 MiB in 4 flows")));
    QVERIFY(shown.view.table()->isColumnHidden(LinkTableModel::StateColumn));
    shown.view.canvas()->setChosen(LinkCanvas::Cell{1, 0});
    QCOMPARE(shown.view.rows()->rowCount(), 0);
    QVERIFY(!shown.view.exportButton()->isEnabled());
    shown.view.chip(LinkEnds::Gpus)->click();
    QCOMPARE(shown.view.canvas()->matrix().size(), 8);
    shown.view.canvas()->setChosen(LinkCanvas::Cell{2, 6});
    QCOMPARE(shown.view.linkTitle(), QStringLiteral("n0g2 → n1g2"));
    QCOMPARE(shown.view.rows()->rowCount(), 1);
  }

  void aPlanIsListedByTensorIfItCanBeMadeAgain() {
    Shown shown;
    shown.layout.state = test::StatesOf(*shown.layout.cluster).at(test::kJob);
    const engine::PlanSummary plan = realPlan(shown.layout.state);
    QVERIFY(!plan.flows.empty());
    shown.showDraft(plan);
    shown.view.canvas()->setChosen(LinkCanvas::Cell{0, 1});
    QTRY_VERIFY(shown.view.rows()->hasTensors());
    const std::int64_t bytes = shown.view.canvas()->matrix().find(0, 1)->bytes;
    QCOMPARE(shown.view.rows()->totalBytes(), bytes);
    QVERIFY(shown.view.rows()->rowCount() > 50);
    QVERIFY(!shown.view.table()->isColumnHidden(LinkTableModel::TensorColumn));
    std::int64_t before = bytes;
    for (int i = 0; i < shown.view.rows()->rowCount(); ++i) {
      const ui::LinkRow& row = shown.view.rows()->row(i);
      QVERIFY(row.bytes <= before && row.from.node == 0 && row.to.node == 1);
      before = row.bytes;
      QVERIFY(!cellText(shown.view.table(), i, LinkTableModel::TensorColumn).isEmpty());
      QVERIFY(!cellText(shown.view.table(), i, LinkTableModel::RangeColumn).isEmpty());
    }
    // The same selection is not reset by an update.
    QSignalSpy resets(shown.view.rows(), &QAbstractItemModel::modelReset);
    shown.view.showLayout(shown.layout);
    QCOMPARE(resets.count(), 0);

    // A plan with other flows is not what the panel derives: only the flows are shown.
    engine::PlanSummary other = plan;
    other.flows.front().bytes_total += 4;
    shown.showDraft(other);
    QTest::qWait(50);
    QTRY_COMPARE(shown.view.rows()->rowCount(), 4);
    QVERIFY(!shown.view.rows()->hasTensors());
    const auto made = ui::PlannedMoves::make(shown.layout.state, other, *shown.layout.cluster);
    QCOMPARE(made.error().code, ErrorCode::kFailedPrecondition);
  }

  void rowsKeepTheirPlacesUntilTheyAreSortedAgain() {
    LinkTableModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    std::vector<engine::FlowStatus> flows{flow({0, 0}, {1, 0}, 10), flow({0, 1}, {1, 1}, 30),
                                          flow({0, 2}, {1, 2}, 20)};
    model.setFlows(flows);
    const auto bytes = [&](int row) { return model.row(row).bytes; };
    QCOMPARE(bytes(0), std::int64_t{30});
    model.sort(LinkTableModel::RateColumn, Qt::DescendingOrder);
    const QPersistentModelIndex slowest = model.index(0, 0);
    flows[2].bytes_per_second = 5;
    flows[2].state = engine::FlowState::kMoving;
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    model.setFlows(flows);
    QCOMPARE(resets.count(), 0);
    QCOMPARE(bytes(2), std::int64_t{20});
    model.sortAgain();
    QCOMPARE(bytes(0), std::int64_t{20});
    QCOMPARE(slowest.row(), 1);
    QCOMPARE(model.index(0, LinkTableModel::StateColumn).data().toString(),
             QStringLiteral("moving"));
    QCOMPARE(model.index(1, LinkTableModel::RateColumn).data().toString(), QStringLiteral("—"));
    flows.pop_back();
    model.setFlows(flows);
    QCOMPARE(resets.count(), 1);
    QCOMPARE(model.rowCount(), 2);
    for (int column = 0; column < model.columnCount(); ++column) {
      model.sort(column, Qt::AscendingOrder);
      model.sort(column, Qt::DescendingOrder);
    }
    const auto state = test::StatesOf(test::PanelCluster()).at(test::kJob);
    const auto plans = ui::PlannedMoves::make(state, realPlan(state), test::PanelCluster());
    QVERIFY(plans.has_value());
    model.setMoves(state, *(*plans)->between({{0, 0}}, {{1, 0}}));
    QVERIFY(model.rowCount() > 10);
    model.setFlows({});
    QCOMPARE(model.rowCount(), 0);
  }

  void reasonsAreInTheLanguageOfThePanel() {
    const ui::Language german{QLocale(QLocale::German)};
    LinkTableModel model;
    auto stalled = flow({0, 1}, {1, 1}, 30);
    stalled.bytes_done = 12;
    stalled.state = engine::FlowState::kStalled;
    stalled.reason = "nothing has arrived for 4 s";
    model.setFlows({stalled});
    QCOMPARE(model.index(0, LinkTableModel::ReasonColumn).data().toString(),
             QStringLiteral("seit 4 s ist nichts angekommen"));
    // Programs read what is exported.
    QVERIFY(model.exported(ui::ExportFormat::Csv).contains("nothing has arrived for 4 s"));
  }

  void exportedRows() {
    LinkTableModel model;
    auto moving = flow({0, 1}, {1, 1}, 30);
    moving.bytes_done = 12;
    moving.bytes_per_second = 2.5;
    moving.state = engine::FlowState::kMoving;
    model.setFlows({flow({0, 0}, {1, 0}, 10), moving});
    QCOMPARE(model.exported(ui::ExportFormat::Csv),
             QByteArray("from,to,bytes,bytes_done,bytes_per_second,state,reason\n"
                        "n0g1,n1g1,30,12,2.5,moving,\n"
                        "n0g0,n1g0,10,0,0,waiting,\n"));
    const auto list = QJsonDocument::fromJson(model.exported(ui::ExportFormat::Json)).array();
    QCOMPARE(list.size(), 2);
    QCOMPARE(list[0][u"bytes_done"].toInteger(), 12);
    QCOMPARE(list[0][u"state"].toString(), QStringLiteral("moving"));

    const auto state = test::StatesOf(test::PanelCluster()).at(test::kJob);
    const auto plans = ui::PlannedMoves::make(state, realPlan(state), test::PanelCluster());
    model.setMoves(state, *(*plans)->between({{0, 0}}, {{1, 0}, {1, 1}, {1, 2}, {1, 3}}));
    const QList<QByteArray> lines = model.exported(ui::ExportFormat::Csv).split('\n');
    QCOMPARE(lines.front(), QByteArray("tensor,range,from,to,bytes"));
    QCOMPARE(lines.size(), model.rowCount() + 2);
    QVERIFY(lines[1].contains("\"[0:") || lines[1].contains(",[0:"));
    const auto moves = QJsonDocument::fromJson(model.exported(ui::ExportFormat::Json)).array();
    QCOMPARE(moves.size(), model.rowCount());
    QVERIFY(moves[0][u"range"].isArray());
  }
};

TESSERA_THEMED_TEST(LinksViewTest)
#include "links_view_test.moc"
