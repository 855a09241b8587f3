// SPDX-License-Identifier: Apache-2.0 The models of the Files view: the lazy tree, its requests,
// bytes and their holders.
#include <QAbstractItemModelTester>
#include <QGuiApplication>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <limits>
#include <memory>

#include "engine/vfs/content.h"
#include "tests/support/widget_test_main.h"
#include "tests/support/work.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_states.h"
#include "ui/format.h"
#include "ui/models/file_facts.h"
#include "ui/models/file_tree_model.h"
#include "ui/models/job_states.h"
#include "ui/models/placed_bytes.h"
#include "ui/models/placement_table_model.h"

using namespace tessera;
using ui::FileTreeModel;

namespace {

/// Checks the model at each change; it lists no folder that the test does not open.
std::unique_ptr<QAbstractItemModelTester> checked(FileTreeModel& files) {
  auto tester = std::make_unique<QAbstractItemModelTester>(
      &files, QAbstractItemModelTester::FailureReportingMode::Fatal);
  tester->setUseFetchMore(false);
  return tester;
}

const QString kJobFolder = QStringLiteral("jobs/gpt-mini");

/// Names of the rows below `parent`, as far as they are listed.
QStringList rowsOf(const FileTreeModel& files, const QModelIndex& parent) {
  QStringList names;
  for (int row = 0; row < files.rowCount(parent); ++row) {
    names << files.index(row, 0, parent).data().toString();
  }
  return names;
}

QModelIndex fileAt(FileTreeModel& files, const QString& below) {
  const QModelIndex index = files.indexOf(kJobFolder + QLatin1Char('/') + below);
  return QTest::qWaitFor([&] { return !files.isBusy(); }, 20'000) ? index : QModelIndex();
}

/// Devices that hold each byte of a run list, as text: equal lists have equal texts.
QString text(const ui::PlacedBytes& bytes) {
  QString out;
  for (int row = 0; row < bytes.rowCount(); ++row) {
    const auto run = bytes.row(row);
    out += QStringLiteral("%1-%2").arg(run.begin).arg(run.end);
    for (const auto device : *run.holders) out += QLatin1Char(' ') + ui::format::device(device);
    out += QLatin1Char('\n');
  }
  return out;
}

}  // namespace

class FileModelsTest : public QObject {
  Q_OBJECT

 private slots:
  void foldersAreListedWhenTheyAreOpened() {
    FileTreeModel files;
    const auto tester = checked(files);
    files.setJobs(test::StatesOf(test::PanelCluster()));
    const QModelIndex jobs = files.index(0, 0);
    QCOMPARE(jobs.data().toString(), QStringLiteral("jobs"));
    const QModelIndex job = files.indexOf(kJobFolder);
    QVERIFY(job.isValid());
    QVERIFY(files.canFetchMore(job));
    QCOMPARE(files.rowCount(job), 0);
    QVERIFY(!files.isBusy());  // no file was planned
    files.fetchMore(job);
    QCOMPARE(rowsOf(files, job), (QStringList{QStringLiteral("epoch"), QStringLiteral("step"),
                                              QStringLiteral("layout.json"),
                                              QStringLiteral("ranks"), QStringLiteral("full")}));
    QVERIFY(!files.isBusy());
    const QModelIndex rank = files.indexOf(kJobFolder + QStringLiteral("/ranks/3"));
    QCOMPARE(rank.data(FileTreeModel::DetailRole).toString(), QStringLiteral("n0g3"));
    files.fetchMore(rank);
    QVERIFY(files.isBusy());
    const QModelIndex model = fileAt(files, QStringLiteral("ranks/3/model.safetensors"));
    QVERIFY(files.rowCount(model) > 10);
  }

  void sizesAreThoseOfTheFiles() {
    FileTreeModel files;
    const auto jobs = test::StatesOf(test::PanelCluster());
    files.setJobs(jobs);
    const auto& facts = *jobs.begin()->second;
    const QModelIndex model = fileAt(files, QStringLiteral("full/model.safetensors"));
    const auto plan =
        engine::vfs::FilePlan::Make(facts.info, std::nullopt, engine::vfs::StateFile::kModel);
    QCOMPARE(files.plan(model)->size(), plan->size());
    QCOMPARE(files.rowCount(model), static_cast<int>(plan->entries().size()));
    std::int64_t bytes = plan->data_begin();
    for (int row = 0; row < files.rowCount(model); ++row) {
      const QModelIndex name = files.index(row, 0, model);
      const auto tensor = files.tensor(name);
      QVERIFY(tensor.has_value());
      const auto& entry = tensor->plan->entries()[tensor->entry];
      QCOMPARE(name.siblingAtColumn(1).data().toString(),
               ui::format::bytes(entry.end - entry.begin));
      bytes += entry.end - entry.begin;
    }
    QCOMPARE(bytes, plan->size());
    const QModelIndex layout = fileAt(files, QStringLiteral("layout.json"));
    QCOMPARE(layout.siblingAtColumn(1).data().toString(),
             ui::format::bytes(std::ssize(ToJson(facts.info.layout)) + 1));
    QCOMPARE(files.path(files.index(0, 0, model)),
             kJobFolder + QStringLiteral("/full/model.safetensors"));
  }

  void theFilterIsForTensorsOrForRanks() {
    FileTreeModel files;
    const auto tester = checked(files);
    files.setJobs(test::StatesOf(test::PanelCluster()));
    const QPersistentModelIndex model = fileAt(files, QStringLiteral("full/model.safetensors"));
    const QPersistentModelIndex ranks = files.indexOf(kJobFolder + QStringLiteral("/ranks"));
    files.fetchMore(ranks);
    const int all = files.rowCount(model);
    files.setFilter(QStringLiteral(" QKV.w"));
    QVERIFY(files.rowCount(model) > 0 && files.rowCount(model) < all);
    for (const QString& name : rowsOf(files, model))
      QVERIFY(name.contains(QStringLiteral("qkv.w")));
    QVERIFY(QModelIndex(model)
                .data(FileTreeModel::DetailRole)
                .toString()
                .contains(QStringLiteral(" of ")));
    QCOMPARE(files.rowCount(ranks), 4);
    for (const auto& [filter, shown] :
         {std::pair("2", QStringList{QStringLiteral("2")}),
          std::pair("n0", QStringList{QStringLiteral("0"), QStringLiteral("1"), QStringLiteral("2"),
                                      QStringLiteral("3")}),
          std::pair("n0g1", QStringList{QStringLiteral("1")}), std::pair("n7", QStringList{})}) {
      files.setFilter(QString::fromLatin1(filter));
      QCOMPARE(rowsOf(files, ranks), shown);
      QCOMPARE(files.rowCount(model), all);
    }
    files.setFilter({});
    QCOMPARE(files.rowCount(ranks), 4);
  }

  // A plan that is made while a filter hides its rank, and a filter that comes while one is open.
  void whatIsHiddenStaysWhole() {
    FileTreeModel files;
    const auto tester = checked(files);
    files.setJobs(test::StatesOf(test::PanelCluster()));
    files.fetchMore(files.indexOf(kJobFolder + QStringLiteral("/ranks/1")));
    files.setFilter(QStringLiteral("n0g2"));
    QTRY_VERIFY(!files.isBusy());
    files.setFilter(QStringLiteral("mlp"));
    files.setFilter({});
    const QModelIndex model = fileAt(files, QStringLiteral("ranks/1/model.safetensors"));
    QVERIFY(model.isValid());
    QCOMPARE(files.rowCount(model), static_cast<int>(files.plan(model)->entries().size()));
  }

  void rowsStayWhileTheLayoutDoes() {
    FileTreeModel files;
    auto cluster = test::PanelCluster();
    files.setJobs(test::StatesOf(cluster));
    const QPersistentModelIndex model = fileAt(files, QStringLiteral("full/model.safetensors"));
    const QSignalSpy resets(&files, &QAbstractItemModel::modelReset);
    cluster.jobs.front().step = 999'999'999;
    files.setJobs(test::StatesOf(cluster));
    QCOMPARE(resets.size(), 0);
    QVERIFY(model.isValid());
    const QModelIndex step = files.indexOf(kJobFolder + QStringLiteral("/step"));
    QCOMPARE(step.siblingAtColumn(1).data().toString(), QStringLiteral("10 B"));
    files.setJobs(test::StatesOf(test::PanelGrown()));
    QCOMPARE(resets.size(), 1);
    QVERIFY(!model.isValid());
    files.fetchMore(files.indexOf(kJobFolder + QStringLiteral("/ranks")));
    QCOMPARE(files.rowCount(files.indexOf(kJobFolder + QStringLiteral("/ranks"))), 8);
  }

  void aLargeModelOnAThousandRanksIsFluid() {
    FileTreeModel files;
    const auto big = test::BigState(500, test::Shape(32, 8, 4));
    files.setJobs({{big->info.name, big}});
    const QModelIndex ranks = files.indexOf(kJobFolder + QStringLiteral("/ranks"));
    files.fetchMore(ranks);
    QCOMPARE(files.rowCount(ranks), 1024);
    files.fetchMore(files.indexOf(kJobFolder + QStringLiteral("/ranks/1023")));
    files.fetchMore(files.indexOf(kJobFolder + QStringLiteral("/full")));
    QVERIFY(files.isBusy());  // the folders are listed before the plans of their files are made
    const QModelIndex optimizer = fileAt(files, QStringLiteral("full/optimizer.safetensors"));
    QCOMPARE(files.rowCount(optimizer), 500 * 27);
    files.setFilter(QStringLiteral("h.499.w1"));
    QVERIFY(files.rowCount(optimizer) > 0);
    const ui::FileFacts facts = makeFileFacts(files, optimizer, {});
    QCOMPARE(facts.bytes->columns(600).size(), std::size_t{600});
    QCOMPARE(facts.bytes->rowCount(), 500 * 27 + 1);
  }

  // The strip costs what its columns cost, not what the tensors of the file cost.
  void theStripOfALargerFileCostsTheSame() {
    const auto cost = [](int layers) {
      FileTreeModel files;
      const auto state = test::BigState(layers, test::Shape(32, 8, 4));
      files.setJobs({{state->info.name, state}});
      const QModelIndex optimizer = fileAt(files, QStringLiteral("full/optimizer.safetensors"));
      double least = std::numeric_limits<double>::infinity();
      for (int i = 0; i < 5; ++i) {
        const ui::FileFacts facts = makeFileFacts(files, optimizer, {});
        qsizetype columns = 0;
        least = std::min(least, test::ProcessorSecondsOf([&] {
          columns = std::ssize(facts.bytes->columns(200));
        }));
        if (columns != 200) return -1.0;
      }
      return least;
    };
    // Twenty times the tensors.
    const double small = cost(25), large = cost(500);
    QVERIFY(small > 0 && large > 0);
    QVERIFY2(large < 6 * small, qPrintable(QStringLiteral("%1 s, %2 s").arg(small).arg(large)));
  }

  void aTensorLiesWhereItsCutSays() {
    FileTreeModel files;
    files.setJobs(test::StatesOf(test::PanelCluster()));  // dp 2, tp 2 on n0g0 to n0g3
    const QModelIndex model = fileAt(files, QStringLiteral("full/model.safetensors"));
    const QModelIndex row = files.indexOf(model, QStringLiteral("h.0.mlp.fc1.weight"));
    const ui::FileFacts facts = makeFileFacts(files, row, {});
    QCOMPARE(facts.title, QStringLiteral("h.0.mlp.fc1.weight"));
    const std::int64_t begin = facts.bytes->begin(), size = facts.bytes->end() - begin;
    QCOMPARE(text(*facts.bytes), QStringLiteral("%1-%2 n0g0 n0g2\n%2-%3 n0g1 n0g3\n")
                                     .arg(begin)
                                     .arg(begin + size / 2)
                                     .arg(begin + size));
    QCOMPARE(facts.placement, QStringLiteral("2 ranges, each on 2 GPUs."));
    const auto columns = facts.bytes->columns(4);
    QCOMPARE(columns[0].front().holders, columns[1].front().holders);
    QVERIFY(columns[1].front().holders != columns[2].front().holders);
    QCOMPARE(columns[3].front().part, 1.0);
    // The same placement serves at the next step.
    const ui::FileFacts again = makeFileFacts(files, row, facts);
    QCOMPARE(again.bytes.get(), facts.bytes.get());
  }

  void rangesBeyondTheTableAreCounted() {
    FileTreeModel files;
    files.setJobs(test::StatesOf(test::PanelCluster()));
    const QModelIndex model = fileAt(files, QStringLiteral("full/model.safetensors"));
    const QModelIndex row = files.indexOf(model, QStringLiteral("h.0.mlp.fc2.weight"));
    const ui::FileFacts facts = makeFileFacts(files, row, {});
    ui::PlacementTableModel table;
    const QAbstractItemModelTester tester(&table,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    table.setBytes(facts.bytes);
    QCOMPARE(table.rowCount(), ui::PlacedTensor::kMostRows);
    const auto& tensor = static_cast<const ui::PlacedTensor&>(*facts.bytes);
    const auto& spec = files.facts(row)->info.layout.collection();
    const auto& shape =
        spec.tensors()[static_cast<std::size_t>(*spec.Find("h.0.mlp.fc2.weight"))].shape;
    QCOMPARE(facts.bytes->more() + table.rowCount(), 2 * shape[0]);  // two in every row
    QCOMPARE(tensor.copies(), std::size_t{2});
    using ui::PlacementTableModel;
    const auto cell = [&](int column) { return table.index(1, column).data().toString(); };
    QCOMPARE(cell(PlacementTableModel::HoldersColumn), QStringLiteral("n0g1, n0g3"));
    QCOMPARE(cell(PlacementTableModel::HereColumn), QStringLiteral("—"));
    table.setIsHere([](std::int32_t node) { return node == 0; });
    QCOMPARE(cell(PlacementTableModel::HereColumn), QStringLiteral("yes"));
    table.setIsHere([](std::int32_t node) { return node == 1; });
    QCOMPARE(cell(PlacementTableModel::HereColumn), QStringLiteral("no"));
  }

  void theClusterIsAskedOnceALayout() {
    ui::ClusterModel model;
    test::SpyCommands commands(model);
    auto cluster = test::PanelCluster();
    commands.jobStates = test::StatesOf(cluster);
    ui::JobStates states(model, commands);
    model.setLink(ui::LinkState::Connected, {});
    model.setSnapshot(cluster);
    model.flush();
    QCOMPARE(commands.stateCalls, 0);  // nobody looks
    states.setActive(this, true);
    QTRY_VERIFY(states.isKnown());
    cluster.jobs.front().step += 5;
    model.setSnapshot(cluster);
    model.flush();
    QCOMPARE(commands.stateCalls, 1);
    QCOMPARE(states.jobs().begin()->second->info.step, cluster.jobs.front().step);
    cluster = test::PanelGrown();
    commands.jobStates = test::StatesOf(cluster);
    model.setSnapshot(cluster);
    model.flush();
    QTRY_COMPARE(states.jobs().begin()->second->info.layout.mesh().num_ranks(), 8);
    QCOMPARE(commands.stateCalls, 2);
    model.clear();
    QVERIFY(states.jobs().empty());
    QVERIFY(!states.isKnown());
  }

  void aQuestionThatFailsIsAskedAgain() {
    ui::ClusterModel model;
    test::SpyCommands commands(model);
    commands.jobStates = Unavailable("the registrar is busy");
    ui::JobStates states(model, commands);
    states.setActive(this, true);
    model.setLink(ui::LinkState::Connected, {});
    model.setSnapshot(test::PanelCluster());
    model.flush();
    QTRY_VERIFY(states.problem().contains(QStringLiteral("registrar is busy")));
    QCOMPARE(commands.stateCalls, 1);
    commands.jobStates = test::StatesOf(test::PanelCluster());
    QTRY_VERIFY_WITH_TIMEOUT(states.isKnown(), 5 * ui::JobStates::kRetryMs);
    QVERIFY(states.problem().isEmpty());
  }

  void pythonReadsAnyName() {
    ui::FileFacts facts;
    facts.safetensors = true;
    QCOMPARE(pythonLine(facts, QStringLiteral("/a \"b\"/m.safetensors")),
             QStringLiteral("safetensors.safe_open(\"/a \\\"b\\\"/m.safetensors\", "
                            "framework=\"pt\")"));
    facts.tensor = QStringLiteral("w%1\\");
    QCOMPARE(pythonLine(facts, QStringLiteral("m")),
             QStringLiteral("safetensors.safe_open(\"m\", framework=\"pt\")"
                            ".get_tensor(\"w%1\\\\\")"));
  }
};

TESSERA_WIDGET_TEST(FileModelsTest)
#include "file_models_test.moc"
