// SPDX-License-Identifier: Apache-2.0
// The demo's scenario by keyboard in an off-screen panel: grow to eight GPUs, shrink to two, lose a
// node while its GPUs are joining.
#include <QDir>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

class E2eDemoTest : public QObject {
  Q_OBJECT

 private slots:
  void everyStepIsRight() {
    const LocalCluster cluster(
        {.nodes = 2, .devices = 4, .memory = "256M", .link = "20MB/s", .one_host = false});
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    QVERIFY(cluster.Configure({{"node_lost_seconds", 5}}));  // 10 by default
    const Outcome job = cluster.StartJob("nano", "dp=2,tp=2", FirstDevices(4));
    QVERIFY2(job.code == 0, job.Text());
    const QString folder = cluster.home() + "/pictures";

    QProcess panel;
    panel.setEnvironment(cluster.Environment() << "QT_QPA_PLATFORM=offscreen");
    panel.start(QStringLiteral(TESSERA_BIN_DIR "/tessera"),
                {"--connect", "t", "--play", "grow,shrink,lose", "--screenshots", folder,
                 "--frames", "1000"});
    const Outcome played = LocalCluster::Finish(panel, 240);
    qInfo("%s", qPrintable(played.output));
    QVERIFY2(played.code == 0, played.Text());
    // A film of a scenario that takes many seconds.
    const QDir frames(folder + QStringLiteral("/frames"));
    QVERIFY(frames.entryList({QStringLiteral("*.png")}).size() > 5);
    QCOMPARE(QImage(frames.filePath(QStringLiteral("0005.png"))).size(), QSize(1440, 900));

    QFile file(folder + "/report.json");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const Json report = Json::parse(file.readAll().toStdString(), nullptr, false);
    QCOMPARE(report["right"].dump(), Json(true).dump());
    QCOMPARE(report["steps"].size(), std::size_t{3});
    const std::vector<std::pair<std::string, int>> expected = {
        {"committed", 8}, {"committed", 2}, {"rolled_back", 2}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
      QCOMPARE(report["steps"][i]["record"]["result"].get<std::string>(), expected[i].first);
      QCOMPARE(report["steps"][i]["devices"].get<int>(), expected[i].second);
    }
    // The report agrees with the cluster.
    const Json history = cluster.Ask({"history"})["transactions"];
    QCOMPARE(history.size(), std::size_t{3});
    for (std::size_t i = 0; i < 3; ++i)
      QCOMPARE(history[2 - i]["result"].get<std::string>(), expected[i].first);
    QCOMPARE(cluster.Job("nano")["devices"].size(), std::size_t{2});
    QVERIFY(cluster.GoesOn("nano"));

    QVERIFY(report["pictures"].size() >= 4);
    for (const Json& name : report["pictures"]) {
      const QImage picture(folder + u'/' + QString::fromStdString(name.get<std::string>()));
      QVERIFY2(picture.width() >= 1024, name.dump().c_str());
    }
  }
};

TESSERA_TEST(E2eDemoTest)
#include "e2e_demo_test.moc"
