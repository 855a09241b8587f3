// SPDX-License-Identifier: Apache-2.0
// The largest simulated cluster in the panel: a picture in which each GPU is to be seen, those of
// the job and the idle ones. Nobody waits for a step of its job, which takes half a minute.
#include <QElapsedTimer>
#include <QImage>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/support/home_guard.h"
#include "tests/support/program.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
constexpr int kLeastCell = 5;      // pixels; smaller ones are drawn as one block per node
constexpr int kLeastAhead = 20;    // seconds
constexpr int kMostWait = 15'000;  // ms; 2 s on an idle machine
}  // namespace

class E2eLargePanelTest : public QObject {
  Q_OBJECT

 private slots:
  void cleanupTestCase() {
    const Outcome down =
        RunProgram("tesseractl", {"down", "--all", "--yes"}, EnvironmentWithHome(m_home.path()));
    QVERIFY2(down.code == 0, down.Text());
  }

  void everyGpuIsDrawn() {
    const QString file = m_home.path() + QStringLiteral("/large.png");
    QStringList environment = EnvironmentWithHome(m_home.path());
    environment << QStringLiteral("QT_QPA_PLATFORM=offscreen")
                << QStringLiteral("XDG_RUNTIME_DIR=") + m_home.path();
    QElapsedTimer clock;
    clock.start();
    const Outcome outcome = RunProgram("tessera",
                                       {"--simulate", "512x8", "--screenshot", file, "--quit",
                                        "--print-geometry", "--size", "1440x900", "--keep"},
                                       environment, 120);
    QVERIFY2(outcome.code == 0, outcome.Text());
    qInfo("the picture was there after %lld ms", clock.elapsed());
    QVERIFY(clock.elapsed() < kMostWait);
    ItIsSaidThatTheClockRanAhead(environment);
    const Json geometry = outcome.LastJson();
    QVERIFY(geometry.is_object());
    const QImage picture(file);
    QCOMPARE(picture.size(), QSize(1440, 900));
    QCOMPARE(geometry["cells"].size(), std::size_t{4096});
    QImage seen(picture.size(), QImage::Format_RGB32);  // no pixel is of two cells
    seen.fill(Qt::white);
    std::vector<QRect> cells;
    for (const auto& [gpu, at] : geometry["cells"].items()) {
      const QRect rect(at[0], at[1], at[2], at[3]);
      QVERIFY2(picture.rect().contains(rect.adjusted(-1, -1, 1, 1)), gpu.c_str());
      for (int y = rect.top(); y <= rect.bottom(); ++y) {
        for (int x = rect.left(); x <= rect.right(); ++x) {
          QVERIFY2(seen.pixelColor(x, y) == QColor(Qt::white), gpu.c_str());
          seen.setPixelColor(x, y, Qt::black);
        }
      }
      QVERIFY2(rect.width() >= kLeastCell, gpu.c_str());
      cells.push_back(rect);
    }
    // The platform without a screen puts the window some pixels beside the corner of the screen.
    std::size_t best = 0;
    for (int offset = 0; offset < 5; ++offset) {
      const auto stands = [&](const QRect& cell) {
        const QPoint middle = cell.center() - QPoint(offset, offset);
        const QPoint gap(cell.left() - 1 - offset, middle.y());
        return picture.pixel(middle) != picture.pixel(gap);
      };
      best = std::max(best, static_cast<std::size_t>(std::ranges::count_if(cells, stands)));
    }
    QCOMPARE(best, cells.size());
  }

 private:
  static void ItIsSaidThatTheClockRanAhead(const QStringList& environment) {
    const Outcome events =
        RunProgram("tesseractl", {"events", "--cluster", "simulated"}, environment);
    QVERIFY2(events.code == 0, events.Text());
    static const QRegularExpression ahead(
        QStringLiteral("the simulated clock has run ahead by (\\d+) s"));
    const auto match = ahead.match(events.output);
    QVERIFY2(match.hasMatch(), qPrintable(events.output.right(400)));
    QVERIFY2(match.captured(1).toInt() >= kLeastAhead, qPrintable(match.captured()));
    const Outcome status =
        RunProgram("tesseractl", {"status", "--cluster", "simulated", "--json"}, environment);
    const Json shown = status.LastJson();
    QVERIFY2(shown.is_object(), status.Text());
    QCOMPARE(shown["simulation"]["speed"].get<double>(), 1.0);  // from then on
    QVERIFY(shown["jobs"][0]["step"].get<int>() >= 1);
  }

  const QTemporaryDir m_home{QStringLiteral("/tmp/tsr.XXXXXX")};
  const HomeGuard m_guard{m_home.path()};
};

TESSERA_TEST(E2eLargePanelTest)
#include "e2e_large_panel_test.moc"
