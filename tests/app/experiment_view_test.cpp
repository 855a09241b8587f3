// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an experiment shows: plots as text and as a picture, tables, rows; and what it trains on.

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <set>

#include "app/experiment/consistency.h"
#include "app/experiment/experiment_text.h"
#include "app/experiment/private_home.h"
#include "app/experiment/result_text.h"
#include "app/experiment/text_plot.h"
#include "engine/files/whole_file.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using app::Plot;

namespace {

/// Two straight lines that part in the middle.
Plot Forked() {
  Plot plot{"two lines", "samples", "loss", {{"right", {}}, {"a <wrong> & worse", {}}},
            50,          "change"};
  for (int i = 0; i <= 10; ++i) {
    plot.curves[0].points.emplace_back(i * 10, 4 - 0.1 * i);
    plot.curves[1].points.emplace_back(i * 10, i <= 5 ? 4 - 0.1 * i : 2.5 + 0.2 * i);
  }
  return plot;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (const QString& line : QString::fromStdString(text).split(u'\n'))
    lines.push_back(line.toStdString());
  return lines;
}

engine::ConsistencyResult Small() {
  engine::ConsistencyResult result;
  result.setup = {.model = "gpt-nano",
                  .data = "text",
                  .steps = 4,
                  .change_at = 2,
                  .global_batch = 2,
                  .sequence = 8,
                  .num_samples = 8,
                  .group = 1};
  for (const auto way : {engine::AtChange::kKeep, engine::AtChange::kLosePosition}) {
    engine::ConsistencyRun run;
    run.way = way;
    run.changed_after = 2;
    run.batch_before = run.batch_after = 2;
    run.read = {{0, 4},
                {way == engine::AtChange::kKeep ? 4 : 0, way == engine::AtChange::kKeep ? 8 : 4}};
    for (std::int64_t step = 1; step <= 4; ++step)
      run.points.push_back({step, 2 * step, 5 - 0.5 * static_cast<double>(step)});
    result.runs.push_back(run);
  }
  result.runs[0].held_out_losses = {3.0, 3.1};
  result.runs[1].held_out_losses = {3.2, 3.3};
  result.runs[0].pass_losses = std::vector<double>(8, 3.0);
  result.runs[1].pass_losses = {2.5, 2.7, 2.5, 2.7, 3.1, 3.1, 3.1, 3.1};
  return result;
}

}  // namespace

class ExperimentViewTest : public QObject {
  Q_OBJECT
 private slots:
  void ticksAreRoundAndInside() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 2000; ++i) {
      const double low = static_cast<double>(rng() % 20001) / 100 - 100;
      const double high = low + std::pow(10.0, static_cast<double>(rng() % 9) - 4) *
                                    static_cast<double>(1 + rng() % 99);
      const int count = static_cast<int>(2 + rng() % 10);
      const app::Ticks ticks = app::ticksOf(low, high, count);
      QVERIFY(!ticks.values.empty() && std::ssize(ticks.values) <= 2 * count + 2);
      std::set<std::string> texts;
      for (const double value : ticks.values) {
        QVERIFY(value >= low - 1e-6 * (high - low) && value <= high + 1e-6 * (high - low));
        texts.insert(app::tickText(value, ticks.decimals));
      }
      QCOMPARE(texts.size(), ticks.values.size());  // none reads like another
    }
    QVERIFY(app::ticksOf(1, 1, 4).values.empty());
    QCOMPARE(app::tickText(-0.001, 2), std::string("0.00"));
  }

  void aSmallPlotAsText() {
    const std::string text = app::drawText(Forked(), 43, 8, app::PlotStyle::Ascii);
    const auto lines = LinesOf(text);
    QCOMPARE(lines.size(), std::size_t{2 + 8 + 4 + 1});
    QCOMPARE(lines[0], std::string("two lines"));
    QCOMPARE(lines[1], std::string("loss"));
    QVERIFY2(lines[10].find("+-----") != std::string::npos, text.c_str());
    QVERIFY(lines[11].find("0") != std::string::npos && lines[11].find("100") != std::string::npos);
    QVERIFY(lines[12].find("samples") != std::string::npos);
    QVERIFY(lines[13].find("* right") != std::string::npos);
    QVERIFY(lines[13].find("o a <wrong> & worse") != std::string::npos);
    QVERIFY(lines[13].find(": change") != std::string::npos);
    // The right curve falls all the way; the other one rises again.
    const auto rowsWith = [&](char letter) {
      QList<std::size_t> rows;
      for (std::size_t i = 2; i < 10; ++i)
        if (lines[i].find(letter) != std::string::npos) rows << i;
      return rows;
    };
    QVERIFY2(rowsWith('*').last() > rowsWith('o').last(), text.c_str());
    QVERIFY2(rowsWith('o').first() < rowsWith('*').first(), text.c_str());
    for (const std::string& line : lines) QVERIFY(line.size() <= 43);
  }

  void brailleHasItsColours() {
    const std::string text = app::drawText(Forked(), 60, 6, app::PlotStyle::Braille);
    QVERIFY(text.find("\033[32m") != std::string::npos);
    const QString shown = QString::fromStdString(text);
    int dots = 0;
    for (const QChar c : shown)
      if (c.unicode() > 0x2800 && c.unicode() <= 0x28FF) ++dots;
    QVERIFY(dots > 40);
  }

  void noPointsAreNoPlot() {
    Plot plot{"nothing", "x", "y", {{"right", {}}}, {}, {}};
    QVERIFY(!app::drawText(plot, 40, 4, app::PlotStyle::Ascii).empty());
    plot.curves[0].points = {{3, 1.5}};
    QVERIFY(app::drawText(plot, 40, 4, app::PlotStyle::Ascii).find('*') != std::string::npos);
  }

  void rowsAndTable() {
    const auto result = Small();
    const auto rows = LinesOf(app::csvOf(result));
    QCOMPARE(rows.size(), std::size_t{1 + 8 + 1});
    QCOMPARE(rows[0], std::string("run,step,samples,loss,smoothed_loss"));
    QCOMPARE(rows[1], std::string("right,1,2,4.5,4.5"));
    QVERIFY(rows[8].starts_with("lose_position,4,8,3,"));
    const std::string table = app::tableOf(result);
    QVERIFY2(table.find("position lost") != std::string::npos, table.c_str());
    QVERIFY(table.find("3.250") != std::string::npos && table.find("step 2") != std::string::npos);
    const auto comparison = LinesOf(app::comparisonOf(result));
    QCOMPARE(comparison.size(), std::size_t{2 + 1});
    for (const char* each : {"position lost", "-0.400 +/- 0.058", "+0.100 +/- 0.000", "+0.200"})
      QVERIFY2(comparison[1].find(each) != std::string::npos, comparison[1].c_str());
    for (const std::string& line : LinesOf(app::wordsOf(result))) QVERIFY(line.size() <= 100);
    const Plot plot = app::plotOf(result);
    QCOMPARE(plot.curves.size(), std::size_t{2});
    QCOMPARE(plot.mark.value_or(0), 4.0);
  }

  void optionsAreChecked() {
    app::ConsistencyOptions good;
    QVERIFY(app::checkOptions(good).has_value());
    const auto refuses = [](auto change, const char* part) {
      app::ConsistencyOptions options;
      change(options);
      const Status status = app::checkOptions(options);
      if (!status && status.error().message.find(part) != std::string::npos) return true;
      qWarning("%s", status ? "accepted" : status.error().message.c_str());
      return false;
    };
    QVERIFY(refuses([](auto& o) { o.steps = 3; }, "--steps 3"));
    QVERIFY(refuses([](auto& o) { o.changeAt = o.steps; }, "--change-at"));
    QVERIFY(refuses([](auto& o) { o.from = o.to; }, "nothing would change"));
    QVERIFY(refuses([](auto& o) { o.to = 17; }, "--to 17"));
    QVERIFY(refuses([](auto& o) { o.globalBatch = 3; }, "--global-batch 3"));
    QVERIFY(refuses([](auto& o) { o.sequence = 65; }, "--sequence 65"));
    QVERIFY(refuses([](auto& o) { o.model = "gpt-none"; }, "gpt-none"));
  }

  // Every block of the text goes to one of the files at most, and to the same one each time.
  void textIsDealtOut() {
    const QTemporaryDir folder;
    std::string text;
    for (int i = 0; i < 100; ++i) text += std::string(255, static_cast<char>('!' + i % 90)) + '\n';
    const std::string file = folder.filePath("text").toStdString();
    QVERIFY(engine::WriteWholeFile(file, text, 0600).has_value());
    const auto write = [&](std::int64_t samples, std::int64_t seed) {
      return app::writeExperimentText({file}, samples, 20, 32, seed, folder.path().toStdString());
    };
    const auto first = write(100, 3);
    QVERIFY2(first.has_value(), first ? "" : first.error().message.c_str());
    const auto training = engine::ReadWholeFile(first->training);
    const auto heldOut = engine::ReadWholeFile(first->heldOut);
    QCOMPARE(training->size(), std::size_t{100 * 32 + 1});
    QCOMPARE(heldOut->size(), std::size_t{20 * 32 + 1});
    QVERIFY(write(100, 3).has_value());
    QVERIFY(*engine::ReadWholeFile(first->training) == *training);
    QVERIFY(write(100, 4).has_value());
    QVERIFY(*engine::ReadWholeFile(first->training) != *training);
    const auto tooMuch = write(10'000, 3);
    QVERIFY(!tooMuch);
    QVERIFY2(tooMuch.error().message.find("25600 bytes") != std::string::npos,
             tooMuch.error().message.c_str());
    QVERIFY(!app::writeExperimentText({"/nowhere/x"}, 10, 10, 32, 1, folder.path().toStdString()));
  }

  void aHomeIsGoneWithItsOwner() {
    const QTemporaryDir folder;
    qputenv("TMPDIR", folder.path().toUtf8());
    {
      const auto home = app::PrivateHome::make();
      QVERIFY2(home.has_value(), home ? "" : home.error().message.c_str());
      QVERIFY(QDir(QString::fromStdString(home->path())).exists());
      // Another one leaves it alone: its owner lives.
      const auto other = app::PrivateHome::make();
      QVERIFY(QDir(QString::fromStdString(home->path())).exists());
      // What a dead one left goes.
      const QString left = folder.filePath("tessera-experiment-left");
      QVERIFY(QDir().mkpath(left));
      QVERIFY(engine::WriteWholeFile(left.toStdString() + "/owner.json",
                                     R"({"pid":4194303,"start":1})", 0600)
                  .has_value());
      const auto third = app::PrivateHome::make();
      QVERIFY(!QDir(left).exists());
    }
    QCOMPARE(QDir(folder.path()).entryList(QDir::Dirs | QDir::NoDotAndDotDot), QStringList());
    qunsetenv("TMPDIR");
  }
};

TESSERA_TEST_APPLESS(ExperimentViewTest)
#include "experiment_view_test.moc"
