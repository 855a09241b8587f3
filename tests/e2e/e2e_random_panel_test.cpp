// SPDX-License-Identifier: Apache-2.0
// A user who does anything, in a panel on a simulated cluster to which anything happens. After each
// act the panel keeps what it promises. TESSERA_TEST_SEED=n tries the same acts again, TESSERA_ACTS
// is their number.
#include <QTest>
#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include "app/bridge.h"
#include "app/connections.h"
#include "tests/e2e/cluster_weather.h"
#include "tests/e2e/panel_user.h"
#include "tests/e2e/panel_watch.h"
#include "tests/support/digests.h"
#include "tests/support/heartbeat.h"
#include "tests/support/local_cluster.h"
#include "tests/support/random.h"
#include "tests/support/widget_test_main.h"
#include "ui/settings/settings.h"

using namespace tessera;

namespace {

constexpr int kUsualActs = 600, kAllActs = 10'000;
constexpr int kUndoEvery = 100, kRepairEvery = 60, kWeatherPercent = 4;
constexpr int kWarmUp = 300;  // acts until memory is compared
constexpr int kActsForMutation = 300;
constexpr std::int64_t kMostGrowth = std::int64_t{100} << 20;
constexpr int kMostReported = 12;
constexpr std::size_t kLastActs = 12;

/// The warnings of Qt since the last call.
QStringList& warnings() {
  static QStringList list;
  return list;
}

void onMessage(QtMsgType type, const QMessageLogContext&, const QString& text) {
  if (type == QtDebugMsg || type == QtInfoMsg) return;
  // Of the platform without a screen.
  if (text.startsWith(QLatin1String("This plugin does not support"))) return;
  warnings() << text;
}

int numActs() {
  bool given = false;
  const int number = qEnvironmentVariableIntValue("TESSERA_ACTS", &given);
  if (given && number > 0) return number;
  return qEnvironmentVariableIsSet("TESSERA_TEST_ALL") ? kAllActs : kUsualActs;
}

}  // namespace

class E2eRandomPanelTest : public QObject {
  Q_OBJECT

 private slots:
  void thePanelKeepsWhatItPromises() {
    std::mt19937_64 random(test::Seed());
    test::LocalCluster::Options options;
    options.simulate = QStringLiteral("4x4");
    options.more = QStringLiteral("--hardware demo --speed 20").split(u' ');
    const test::LocalCluster cluster(options);
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    qputenv("TESSERA_HOME", cluster.home().toUtf8());

    ui::ClusterModel model;
    app::Bridge bridge(model);
    app::AppConnections connections(model, bridge);
    QVERIFY(connections.open("t"));
    QTRY_VERIFY_WITH_TIMEOUT(model.snapshot().nodes.size() == 4, 20'000);
    test::WatchedCommands commands(connections);
    ui::Settings settings(cluster.home() + QStringLiteral("/panel.ini"));
    ui::MainWindow window(model, commands,
                          {.operate = true,
                           .liveCountdownSeconds = 1,
                           .settings = &settings,
                           .connections = &connections,
                           .notify = [](QWidget*, const ui::DesktopNotice&) {}});
    test::PanelWatch watch(window, model, commands);
    commands.forbidden = [&] { return watch.forbidden(); };
    window.resize(1440, 900);
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));

    test::ClusterWeather weather(model, bridge, random);
    weather.repair();
    QTRY_VERIFY_WITH_TIMEOUT(model.job() != nullptr && model.job()->step > 2, 30'000);
    test::PanelUser user(window, random);
    const auto previous = qInstallMessageHandler(onMessage);

    std::deque<QString> last;
    std::int64_t memory = 0;
    const int acts = numActs();
    // What reaches the cluster depends on when it answers; some seeds need more acts than usual.
    const auto goesOn = [&](int done) {
      if (watch.wrong().size() >= kMostReported) return false;
      return done < acts || (commands.mutations < acts / kActsForMutation && done < 4 * acts);
    };
    int done = 0;
    for (; goesOn(done); ++done) {
      const qsizetype known = watch.wrong().size();
      test::Heartbeat heartbeat;
      const bool outside = random() % 100 < kWeatherPercent;
      last.push_back(outside ? weather.act() : user.act());
      if (last.size() > kLastActs) last.pop_front();
      QTest::qWait(random() % 8 == 0 ? 25 : 1);
      watch.check();
      if (const auto gap = heartbeat.longestGap(); gap > test::Heartbeat::mostInTests())
        watch.report(
            QStringLiteral("'%1' kept the window for %2 ms").arg(last.back()).arg(gap.count()));
      for (const QString& warning : std::exchange(warnings(), {}))
        watch.report(QStringLiteral("Qt warns: ") + warning);
      if (done % kUndoEvery == kUndoEvery - 1) watch.checkUndo();
      if (done % kRepairEvery == 0) weather.repair();
      if (done == kWarmUp) memory = test::PanelWatch::residentBytes();
      for (qsizetype i = known; i < watch.wrong().size(); ++i)
        std::fprintf(stderr, "act %d: %s\n  after: %s\n", done, qPrintable(watch.wrong()[i]),
                     qPrintable(QStringList(last.begin(), last.end()).join(QLatin1String(" · "))));
    }
    qInstallMessageHandler(previous);
    const std::int64_t growth = memory == 0 ? 0 : test::PanelWatch::residentBytes() - memory;
    std::printf("%d acts, %d commands that change the cluster, %d jobs, %lld MiB more\n", done,
                commands.mutations, weather.jobsStarted(), static_cast<long long>(growth >> 20));
    QVERIFY2(watch.wrong().isEmpty(), qPrintable(watch.wrong().join(u'\n')));
    QVERIFY2(growth < kMostGrowth, qPrintable(QString::number(growth)));
    QVERIFY(commands.mutations >= acts / kActsForMutation);
    endsWell(cluster);
  }

 private:
  // Whatever was done to it, the cluster ends every change, and no committed one alters the state.
  static void endsWell(const test::LocalCluster& cluster) {
    test::Json history;
    const bool ended = test::LocalCluster::WaitFor(
        [&] {
          history = cluster.Ask({QStringLiteral("history")})["transactions"];
          return std::ranges::none_of(history,
                                      [](const test::Json& each) { return each["result"] == ""; });
        },
        60);
    QVERIFY2(ended, history.dump().c_str());
    std::printf("%zu changes in the history\n", history.size());
    for (const test::Json& each : history) {
      if (each["result"] != "committed") continue;
      const QString wrong = cluster.WrongDigestsOf(each);
      QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
  }
};

TESSERA_THEMED_TEST(E2eRandomPanelTest)
#include "e2e_random_panel_test.moc"
