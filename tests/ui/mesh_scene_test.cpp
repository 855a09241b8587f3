// SPDX-License-Identifier: Apache-2.0
#include "ui/canvas/mesh_scene.h"

#include <QTest>
#include <set>

#include "tests/support/test_main.h"
#include "tests/ui/sample_clusters.h"
#include "ui/canvas/flow_watch.h"
#include "ui/canvas/mesh_layout.h"
#include "ui/theme.h"

using namespace tessera;
using tessera::test::kJob;
using ui::makeScene;
using ui::MeshScene;
using State = MeshScene::Cell::State;

namespace {
// "n1g0 mesh 4 tp 0/dp 2 receiving": what a cell shows, as one line.
QString line(const MeshScene& scene, ptc::DeviceId id) {
  const MeshScene::Cell* cell = scene.find(id);
  if (!cell) return QStringLiteral("absent");
  static const char* const names[] = {"idle",    "healthy", "staying",   "joining",
                                      "leaving", "sending", "receiving", "stalled",
                                      "loading", "suspect", "dead"};
  QString text = cell->inMesh ? QStringLiteral("mesh") : QStringLiteral("pool");
  if (cell->taken) text += QStringLiteral(" taken");
  if (cell->rank) text += QStringLiteral(" rank %1").arg(*cell->rank);
  if (cell->piece)
    text += QStringLiteral(" [%1] %2/%3").arg(*cell->piece).arg(cell->label, cell->replica);
  return text + QLatin1Char(' ') + QLatin1String(names[static_cast<int>(cell->state)]) +
         QStringLiteral(" \"") + cell->note + QLatin1Char('"');
}
}  // namespace

class MeshSceneTest : public QObject {
  Q_OBJECT
 private slots:
  void groupsDifferInOneCoordinate() {
    using ptc::Axis;
    using Set = std::set<ptc::DeviceId>;
    auto cluster = test::IdleCluster(2, 8);
    ptc::MeshShape shape = test::Shape(2, 2, 1);
    shape[Axis::kEp] = 2;
    test::AddJob(&cluster, shape);  // ranks are row-major over (pp, dp, ep, cp, tp)
    const MeshScene scene = makeScene(cluster, kJob);
    QCOMPARE(groupAlong(scene, {0, 1}, Axis::kTp), (Set{{0, 0}, {0, 1}}));
    QCOMPARE(groupAlong(scene, {0, 1}, Axis::kEp), (Set{{0, 1}, {0, 3}}));
    QCOMPARE(groupAlong(scene, {0, 1}, Axis::kDp), (Set{{0, 1}, {0, 5}}));
    QVERIFY(groupAlong(scene, {0, 1}, Axis::kPp).empty());  // not cut along it
    QVERIFY(groupAlong(scene, {0, 1}, Axis::kCp).empty());
    QVERIFY(groupAlong(scene, {1, 0}, Axis::kTp).empty());  // idle
    QVERIFY(groupAlong(scene, {7, 0}, Axis::kTp).empty());  // unknown
  }

  // While a change runs, the ranks of now communicate; in a draft those to come.
  void groupsAreThoseOfTheShownMesh() {
    using ptc::Axis;
    using Set = std::set<ptc::DeviceId>;
    const MeshScene moving = makeScene(test::MovingCluster(), kJob);
    QCOMPARE(groupAlong(moving, {0, 0}, Axis::kDp), (Set{{0, 0}, {0, 2}}));
    QVERIFY(groupAlong(moving, {1, 0}, Axis::kDp).empty());
    const auto cluster = test::SmallCluster();
    const auto all = test::AllDevices(cluster);
    const auto plan = test::GrowthPlan();
    const MeshScene draft = makeScene(cluster, kJob, &all, &plan);
    QCOMPARE(groupAlong(draft, {1, 0}, Axis::kDp), (Set{{0, 0}, {0, 2}, {1, 0}, {1, 2}}));
    QCOMPARE(groupAlong(draft, {1, 0}, Axis::kTp), (Set{{1, 0}, {1, 1}}));
  }

  void cells_data() {
    QTest::addColumn<MeshScene>("scene");
    QTest::addColumn<QString>("n0g1");
    QTest::addColumn<QString>("n0g2");
    QTest::addColumn<QString>("n1g0");
    const auto row = [](const char* name, const MeshScene& scene, const char* n0g1,
                        const char* n0g2,
                        const char* n1g0) { QTest::newRow(name) << scene << n0g1 << n0g2 << n1g0; };
    const auto cluster = test::SmallCluster();
    const auto all = test::AllDevices(cluster), own = test::JobDevices(cluster);
    const auto plan = test::GrowthPlan();
    row("live", makeScene(cluster, kJob), "mesh rank 1 [1] tp 1/dp 0 healthy \"rank 1\"",
        "mesh rank 2 [0] tp 0/dp 1 healthy \"rank 2\"", "pool idle \"idle\"");
    auto slow = cluster;
    slow.nodes[0].devices[2].busy_seconds = 0.6;
    slow.nodes[0].devices[2].peers_seconds = 0.3;
    row("a straggler", makeScene(slow, kJob), "mesh rank 1 [1] tp 1/dp 0 healthy \"rank 1\"",
        "mesh rank 2 [0] tp 0/dp 1 healthy \"rank 2, slow\"", "pool idle \"idle\"");
    row("no job", makeScene(test::IdleCluster(2, 4), {}), "pool idle \"idle\"",
        "pool idle \"idle\"", "pool idle \"idle\"");
    row("another job", makeScene(cluster, "another"), "pool taken rank 1 healthy \"gpt-mini\"",
        "pool taken rank 2 healthy \"gpt-mini\"", "pool idle \"idle\"");
    row("moving", makeScene(test::MovingCluster(), kJob),
        "mesh rank 1 [1] tp 1/dp 0 sending \"sends\"",
        "mesh rank 2 [0] tp 0/dp 1 sending \"sends\"",
        "mesh rank 4 [0] tp 0/dp 2 receiving \"62 %\"");
    const auto preparing = test::MovingCluster({0, 0, 0, 0}, engine::TxnPhase::kPreparing);
    row("preparing", makeScene(preparing, kJob), "mesh rank 1 [1] tp 1/dp 0 staying \"stays\"",
        "mesh rank 2 [0] tp 0/dp 1 staying \"stays\"",
        "mesh rank 4 [0] tp 0/dp 2 joining \"starting\"");
    auto shrinking = cluster;
    shrinking.transaction.emplace();
    shrinking.transaction->job = kJob;
    shrinking.transaction->phase = engine::TxnPhase::kPausing;
    shrinking.transaction->to_mesh = test::Shape(1, 2, 1);
    shrinking.transaction->to_devices = {{0, 0}, {0, 1}};
    row("shrinking", makeScene(shrinking, kJob), "mesh rank 1 [1] tp 1/dp 0 staying \"stays\"",
        "mesh rank 2 [0] tp 0/dp 1 leaving \"leaves\"", "pool idle \"idle\"");
    auto over = test::MovingCluster({100, 100, 100, 100}, engine::TxnPhase::kRolledBack);
    for (auto& device : over.nodes[1].devices) device.joining = false;
    QVERIFY(makeScene(over, kJob).flows.empty());
    row("over", makeScene(over, kJob), "mesh rank 1 [1] tp 1/dp 0 healthy \"rank 1\"",
        "mesh rank 2 [0] tp 0/dp 1 healthy \"rank 2\"", "pool idle \"idle\"");
    row("draft with plan", makeScene(cluster, kJob, &all, &plan),
        "mesh rank 1 [1] tp 1/dp 0 staying \"stays\"",
        "mesh rank 2 [0] tp 0/dp 1 staying \"stays\"",
        "mesh rank 4 [0] tp 0/dp 2 joining \"receives 9.4 MiB\"");
    row("draft without plan", makeScene(cluster, kJob, &all),
        "mesh rank 1 [1] tp 1/dp 0 staying \"stays\"",
        "mesh rank 2 [0] tp 0/dp 1 staying \"stays\"", "mesh joining \"joins\"");
    auto fewer = own;
    fewer.erase({0, 2});
    row("plan of another draft", makeScene(cluster, kJob, &fewer, &plan),
        "mesh rank 1 [1] tp 1/dp 0 staying \"stays\"", "pool leaving \"leaves\"",
        "pool idle \"idle\"");
    row("draft without a change", makeScene(cluster, kJob, &own),
        "mesh rank 1 [1] tp 1/dp 0 healthy \"rank 1\"",
        "mesh rank 2 [0] tp 0/dp 1 healthy \"rank 2\"", "pool idle \"idle\"");
    auto more = own;
    more.insert({1, 0});
    auto unused = plan;
    unused.to_mesh = test::Shape(2, 2, 1);
    unused.to_devices = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
    unused.idle = {{1, 0}};
    unused.flows.clear();
    row("plan that leaves one over", makeScene(cluster, kJob, &more, &unused),
        "mesh rank 1 [1] tp 1/dp 0 staying \"stays\"",
        "mesh rank 2 [0] tp 0/dp 1 staying \"stays\"", "mesh idle \"unused\"");
    auto suspect = cluster;
    suspect.nodes[0].state = engine::NodeState::kSuspect;
    row("node suspect", makeScene(suspect, kJob), "mesh rank 1 [1] tp 1/dp 0 suspect \"no answer\"",
        "mesh rank 2 [0] tp 0/dp 1 suspect \"no answer\"", "pool idle \"idle\"");
    auto dead = cluster;
    dead.nodes[0].state = engine::NodeState::kDead;
    row("node lost", makeScene(dead, kJob), "mesh rank 1 [1] tp 1/dp 0 dead \"lost\"",
        "mesh rank 2 [0] tp 0/dp 1 dead \"lost\"", "pool idle \"idle\"");
    auto failed = cluster;
    failed.nodes[0].devices[2].failed = true;
    row("device failed", makeScene(failed, kJob), "mesh rank 1 [1] tp 1/dp 0 healthy \"rank 1\"",
        "mesh rank 2 [0] tp 0/dp 1 dead \"failed\"", "pool idle \"idle\"");
    auto odd = cluster;
    odd.jobs[0].mesh = test::Shape(3, 1, 1);
    row("mesh that does not add up", makeScene(odd, kJob), "mesh healthy \"\"", "mesh healthy \"\"",
        "pool idle \"idle\"");
  }
  void cells() {
    QFETCH(MeshScene, scene);
    QTEST(line(scene, {0, 1}), "n0g1");
    QTEST(line(scene, {0, 2}), "n0g2");
    QTEST(line(scene, {1, 0}), "n1g0");
  }

  void flowsFollowThePhase() {
    const auto flows = [](engine::TxnPhase phase) {
      return makeScene(test::MovingCluster({62, 58, 64, 100}, phase), kJob).flows;
    };
    for (int i = 0; i <= static_cast<int>(engine::TxnPhase::kInDoubt); ++i) {
      const auto phase = static_cast<engine::TxnPhase>(i);
      const bool moves =
          phase == engine::TxnPhase::kPrecopying || phase == engine::TxnPhase::kTransferring;
      const bool waits =
          phase == engine::TxnPhase::kPlanned || phase == engine::TxnPhase::kPreparing ||
          phase == engine::TxnPhase::kPausing || phase == engine::TxnPhase::kNeedsDecision;
      QCOMPARE(flows(phase).size(), moves || waits ? 4U : 0U);
      if (!moves && !waits) continue;
      QCOMPARE(flows(phase)[0].live, moves);
      QVERIFY(!flows(phase)[3].live);  // it has arrived
      QVERIFY(flows(phase)[3].finished());
    }
  }

  void flowToALostNodeIsStalled() {
    auto cluster = test::MovingCluster();
    cluster.nodes[1].state = engine::NodeState::kDead;
    const auto scene = makeScene(cluster, kJob);
    QCOMPARE(scene.flows.size(), 4U);
    for (const auto& flow : scene.flows) QVERIFY(flow.stalled && !flow.live);
    QVERIFY(!scene.moving());
  }

  void aFlowThatTheClusterCallsStalledDoesNotMove() {
    auto cluster = test::MovingCluster();
    QVERIFY(makeScene(cluster, kJob).moving());
    for (auto& flow : cluster.transaction->flows) flow.state = engine::FlowState::kStalled;
    const MeshScene scene = makeScene(cluster, kJob);
    QVERIFY(!scene.moving());
    for (const auto& flow : scene.flows) QVERIFY(flow.stalled);
  }

  void subtitlesAndHighlights() {
    auto scene = makeScene(test::SmallCluster(), kJob);
    QCOMPARE(scene.nodes[0].subtitle, QStringLiteral("4 GPUs"));
    QVERIFY(!scene.nodes[0].highlighted);
    scene = makeScene(test::MovingCluster(), kJob);
    QCOMPARE(scene.nodes[0].subtitle, QStringLiteral("sends 94 MB/s"));
    QCOMPARE(scene.nodes[1].subtitle, QStringLiteral("receives 94 MB/s"));
    QVERIFY(scene.nodes[1].highlighted);
    const auto cluster = test::SmallCluster();
    const auto all = test::AllDevices(cluster);
    scene = makeScene(cluster, kJob, &all);
    QCOMPARE(scene.nodes[1].subtitle, QStringLiteral("+4 GPUs"));
    const std::set<ptc::DeviceId> fewer{{0, 0}, {1, 0}};
    scene = makeScene(cluster, kJob, &fewer);
    QCOMPARE(scene.nodes[0].subtitle, QStringLiteral("−3 GPUs"));
  }

  // A larger window has larger cells, until they are legible from afar; nothing scrolls.
  void cellsGrowWithTheWindow() {
    const auto scene = makeScene(test::SmallCluster(), kJob);
    int before = 0;
    for (const QSize room : {QSize(500, 400), QSize(891, 566), QSize(1370, 750)}) {
      const ui::MeshLayout layout(scene, room, 1, true);
      QVERIFY(layout.metrics().width > before);
      before = layout.metrics().width;
      QVERIFY(layout.contentSize().width() <= room.width());
      QVERIFY(layout.contentSize().height() <= room.height());
      QCOMPARE(layout.cellRect({0, 0}).width(), before);
    }
    const ui::MeshLayout huge(scene, QSize(9000, 5000), 1, true);
    QCOMPARE(huge.metrics().width, before);
  }

  // Parts of a shard keep its hue and differ by their patterns, so that a change reads without a
  // legend.
  void partsOfAShardKeepItsHue() {
    const auto at = [](const ptc::MeshShape& shape, int pp, int tp,
                       const std::optional<ptc::MeshShape>& from) {
      return ui::swatchesAt(shape, pp, tp, from).piece;
    };
    const auto hue = [](int swatch) { return swatch % ui::kNumHues; };
    const auto two = test::Shape(2, 2, 1), four = test::Shape(1, 4, 1);
    QCOMPARE(at(four, 0, 0, two), at(two, 0, 0, {}));
    QCOMPARE(hue(at(four, 0, 1, two)), hue(at(two, 0, 0, {})));
    QCOMPARE(hue(at(four, 0, 2, two)), hue(at(two, 0, 1, {})));
    QCOMPARE(hue(at(four, 0, 3, two)), hue(at(two, 0, 1, {})));
    QVERIFY(ui::pattern(at(four, 0, 0, two)) != ui::pattern(at(four, 0, 1, two)));
    // Merged shards have the hue of the first.
    QCOMPARE(at(two, 0, 1, four), at(four, 0, 2, {}));
    // Whatever splits into whatever, different shards have different swatches.
    for (const auto& from : {two, four, test::Shape(1, 3, 2), test::Shape(1, 4, 4),
                             test::Shape(1, 1, 12), test::Shape(1, 16, 1)}) {
      for (const auto& to : {two, four, test::Shape(1, 3, 2), test::Shape(1, 6, 4),
                             test::Shape(1, 2, 24), test::Shape(1, 32, 1)}) {
        std::set<int> seen, plain;
        for (int pp = 0; pp < to[ptc::Axis::kPp]; ++pp) {
          for (int tp = 0; tp < to[ptc::Axis::kTp]; ++tp) {
            QVERIFY(seen.insert(at(to, pp, tp, from)).second);
            QVERIFY(plain.insert(at(to, pp, tp, {})).second);
          }
        }
      }
    }
    // Above nine shards the hue is the stage, the pattern the slice.
    const auto many = test::Shape(1, 4, 4);
    QCOMPARE(hue(at(many, 2, 3, {})), 2);
    QCOMPARE(ui::pattern(at(many, 2, 3, {})), ui::pattern(3 * ui::kNumHues));
  }

  void aDraftAndItsLegendKeepTheHues() {
    auto plan = test::GrowthPlan();
    plan.to_mesh = test::Shape(2, 4, 1);
    const auto cluster = test::SmallCluster();
    const auto all = test::AllDevices(cluster);
    const auto draft = makeScene(cluster, kJob, &all, &plan);
    const auto now = makeScene(cluster, kJob);
    QCOMPARE(draft.legend.size(), 4U);
    std::set<int> swatches;
    for (const auto& entry : draft.legend) swatches.insert(entry.swatch);
    QCOMPARE(swatches.size(), 4U);
    for (const auto& node : draft.nodes) {
      for (const auto& cell : node.cells) QVERIFY(swatches.contains(*cell.swatch));
    }
    QCOMPARE(draft.legend[1].swatch % ui::kNumHues, now.legend[0].swatch);
    QCOMPARE(draft.legend[2].swatch, now.legend[1].swatch);
  }

  void legendNamesThePieces() {
    QCOMPARE(makeScene(test::SmallCluster(), kJob).legend.size(), 2U);
    auto cluster = test::IdleCluster(2, 4);
    test::AddJob(&cluster, test::Shape(2, 2, 2));
    const auto legend = makeScene(cluster, kJob).legend;
    QCOMPARE(legend.size(), 4U);
    QCOMPARE(legend[3].swatch, 3);
    QCOMPARE(legend[3].text, QStringLiteral("pp 1 · tp 1"));
    QVERIFY(makeScene(cluster, {}).legend.empty());
  }

  void emptyHints() {
    QCOMPARE(makeScene({}, kJob).emptyHint, QStringLiteral("No cluster yet"));
    QCOMPARE(makeScene(test::IdleCluster(1, 1), kJob).emptyHint,
             QStringLiteral("No job is running"));
    QVERIFY(makeScene(test::SmallCluster(), kJob).emptyHint.isEmpty());
  }

  // Or every snapshot would repaint a canvas on which nothing happens.
  void idleSceneDoesNotChangeWithTime() {
    auto cluster = test::SmallCluster();
    const auto before = makeScene(cluster, kJob);
    for (auto& node : cluster.nodes) node.last_seen += 0.7;
    ++cluster.sequence;
    ++cluster.jobs[0].step;
    QCOMPARE(makeScene(cluster, kJob) == before, true);
  }

  void describesACellInWords() {
    auto cluster = test::IdleCluster(2, 4);
    test::AddJob(&cluster, test::Shape(2, 2, 2));
    const auto scene = makeScene(cluster, kJob);
    QCOMPARE(ui::describe(*scene.find({1, 3})), QStringLiteral("n1 GPU 3, rank 7, DP 1 TP 1 PP 1"));
    QCOMPARE(ui::describe(*makeScene(test::MovingCluster(), kJob).find({1, 0})),
             QStringLiteral("n1 GPU 0, rank 4, DP 2 TP 0 PP 0, receiving 62 percent"));
    QCOMPARE(ui::describe(*makeScene(test::SmallCluster(), kJob).find({1, 0})),
             QStringLiteral("n1 GPU 0, in the pool, idle"));
  }

  static engine::ClusterSnapshot twoJobs() {
    auto cluster = test::IdleCluster(4, 4);
    test::AddJob(&cluster, test::Shape(2, 2, 2));
    for (std::size_t n = 0; n < 4; ++n) cluster.nodes[n].host = n < 1 ? "left" : "right";
    engine::JobStatus other;
    other.name = "other";
    other.state = engine::JobState::kPaused;
    other.devices = {{2, 1}, {2, 2}};
    for (const auto id : other.devices) {
      auto& device = cluster.nodes[2].devices[static_cast<std::size_t>(id.index)];
      device.job = other.name;
    }
    cluster.jobs.push_back(other);
    return cluster;
  }
  // "n0: 4", "[other: 2] paused · 2 GPUs on 1 node", "(n3: 4)": mesh, other jobs, pool.
  static QStringList framesOf(const MeshScene& scene) {
    QStringList lines;
    for (const auto& group : scene.groups) {
      const QString line = QStringLiteral("%1: %2").arg(group.name).arg(group.cells.size());
      lines << (group.kind == MeshScene::Group::Kind::Mesh ? line
                : group.kind == MeshScene::Group::Kind::Job
                    ? QStringLiteral("[%1] %2").arg(line, group.subtitle)
                    : QStringLiteral("(%1)").arg(line));
    }
    return lines;
  }

  void framesAreNodesHostsRacksOrStages() {
    auto scene = makeScene(twoJobs(), kJob);
    const QStringList rest{QStringLiteral("[other: 2] paused · 2 GPUs on 1 node"),
                           QStringLiteral("(n2: 2)"), QStringLiteral("(n3: 4)")};
    QCOMPARE(framesOf(scene),
             (QStringList{QStringLiteral("n0: 4"), QStringLiteral("n1: 4")} + rest));
    ui::groupScene(&scene, ui::GroupBy::Host);
    QCOMPARE(framesOf(scene),
             (QStringList{QStringLiteral("left: 4"), QStringLiteral("right: 4")} + rest));
    ui::groupScene(&scene, ui::GroupBy::Rack);
    QCOMPARE(framesOf(scene), QStringList{QStringLiteral("no rack: 8")} + rest);
    ui::groupScene(&scene, ui::GroupBy::Stage);
    QCOMPARE(framesOf(scene),
             (QStringList{QStringLiteral("pp 0: 4"), QStringLiteral("pp 1: 4")} + rest));
    for (const auto& group : scene.groups) {
      if (group.kind != MeshScene::Group::Kind::Mesh) continue;
      int last = -1;
      for (const auto place : group.cells) {  // by rank
        QVERIFY(*scene.at(place).rank > last);
        last = *scene.at(place).rank;
        QCOMPARE(group.name, QStringLiteral("pp %1").arg(scene.at(place).pp));
      }
    }
  }

  // In the order of their first node, those without a rack last.
  void framesAreRacks() {
    auto cluster = test::LargeCluster(8, 2, 0, 0);
    QVERIFY(!makeScene(cluster, kJob).hasRacks());
    const char* racks[] = {"", "r7", "r7", "r1", "", "r1", "r10", "r10"};
    for (std::size_t n = 0; n < 8; ++n) cluster.nodes[n].rack = racks[n];
    auto scene = makeScene(cluster, kJob);
    QVERIFY(scene.hasRacks());
    ui::groupScene(&scene, ui::GroupBy::Rack);
    QCOMPARE(framesOf(scene),
             (QStringList{QStringLiteral("r7: 4"), QStringLiteral("r1: 4"),
                          QStringLiteral("r10: 4"), QStringLiteral("no rack: 4")}));
    QCOMPARE(scene.groups[1].subtitle, QStringLiteral("4 GPUs on 2 nodes"));
  }

  // In each grouping, and in a draft whose joining GPUs have no stage yet, every cell is in one
  // frame.
  void everyCellIsInOneFrame() {
    const auto cluster = twoJobs();
    const std::set<ptc::DeviceId> draft{{0, 0}, {0, 1}, {3, 3}};
    for (const auto* devices : {static_cast<const std::set<ptc::DeviceId>*>(nullptr), &draft}) {
      for (int by = 0; by < ui::kNumGroupings; ++by) {
        auto scene = makeScene(cluster, kJob, devices);
        ui::groupScene(&scene, static_cast<ui::GroupBy>(by));
        std::set<ptc::DeviceId> seen;
        for (const auto& group : scene.groups) {
          for (const auto place : group.cells) {
            const auto& cell = scene.at(place);
            QVERIFY(seen.insert(cell.id).second);
            QCOMPARE(group.kind, cell.inMesh  ? MeshScene::Group::Kind::Mesh
                                 : cell.taken ? MeshScene::Group::Kind::Job
                                              : MeshScene::Group::Kind::Pool);
          }
        }
        QCOMPARE(seen.size(), 16U);
        if (devices && by == static_cast<int>(ui::GroupBy::Stage)) {
          QVERIFY(framesOf(scene).contains(QStringLiteral("no stage yet: 1")));
        }
      }
    }
  }

  void differencesAreMarked() {
    auto scene = makeScene(test::SmallCluster(), kJob);
    ui::markScene(&scene, {{0, 2}}, {{1, 0}}, {{0, 0}, {0, 1}});
    using Mark = MeshScene::Cell::Mark;
    QCOMPARE(scene.find({0, 2})->mark, Mark::Joined);
    QCOMPARE(scene.find({1, 0})->mark, Mark::Left);
    QCOMPARE(scene.find({0, 1})->mark, Mark::Moved);
    QCOMPARE(scene.find({0, 3})->mark, Mark::None);
    QVERIFY(ui::describe(*scene.find({1, 0}))
                .endsWith(QStringLiteral("left since the earlier change")));
    QCOMPARE(scene.find({0, 0})->note, QStringLiteral("other shard"));
    QCOMPARE(scene.find({0, 3})->note, QStringLiteral("same"));
  }

  // Devices of either mesh are in the same frames of both scenes.
  void comparedScenesHaveTheSameFrames() {
    auto few = test::IdleCluster(2, 4), many = few;
    test::AddJob(&few, test::Shape(1, 2, 1));
    test::AddJob(&many, test::Shape(2, 2, 1));
    for (const auto by : {ui::GroupBy::Node, ui::GroupBy::Host}) {
      auto a = makeScene(few, kJob), b = makeScene(many, kJob);
      ui::groupScene(&a, by);
      ui::groupScene(&b, by);
      QVERIFY(a.groups.front().cells != b.groups.front().cells);
      ui::alignScenes(&a, &b);
      QCOMPARE(a.groups.size(), b.groups.size());
      for (std::size_t i = 0; i < a.groups.size(); ++i) {
        QCOMPARE(a.groups[i].kind, b.groups[i].kind);
        QCOMPARE(a.groups[i].cells, b.groups[i].cells);
      }
      const ui::MeshLayout left(a, {500, 500}, 1, false), right(b, {500, 500}, 1, false);
      for (const ptc::DeviceId id : left.order()) QCOMPARE(left.cellRect(id), right.cellRect(id));
    }
  }

  void watchMarksFlowsWithoutNewBytes() {
    ui::FlowWatch watch;
    const auto at = [&](int first, std::int64_t now, bool* changed = nullptr) {
      auto scene = makeScene(test::MovingCluster({first, 58, 64, 41}), kJob);
      const bool marked = watch.mark(&scene, now);
      if (changed) *changed = marked;
      return scene;
    };
    bool changed = false;
    at(62, 0);
    QVERIFY(!at(62, 2999, &changed).flows[1].stalled);
    QVERIFY(!changed);
    const auto late = at(63, 3000, &changed);
    QVERIFY(changed);
    QVERIFY(!late.flows[0].stalled);  // it got a byte
    QVERIFY(late.flows[1].stalled);
    QCOMPARE(late.find({1, 1})->state, State::Stalled);
    QCOMPARE(late.find({1, 0})->state, State::Receiving);
    QVERIFY(late.moving());
    QVERIFY(!at(63, 6001).moving());
    QVERIFY(at(64, 6002).moving());
  }
};
TESSERA_TEST_APPLESS(MeshSceneTest)
#include "mesh_scene_test.moc"
