// SPDX-License-Identifier: Apache-2.0
// The rows that retention removes and keeps, and the bound of one call.
#include <QElapsedTimer>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "engine/history/history.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine;

namespace {

constexpr double kNow = 2e9;
constexpr double kDay = 86400;

/// One sample per second, the last one `until` seconds before kNow.
std::vector<Sample> Seconds(const std::string& job, std::int64_t count, double until) {
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < count; ++i) {
    samples.push_back({job, i + 1, 3.0 + 0.001 * static_cast<double>(i % 50), 0.5, 1e5,
                       kNow - until - static_cast<double>(count - i)});
  }
  return samples;
}

void AddEvents(History& history, int count, double until) {
  for (int i = 0; i < count; ++i) {
    Event event;
    event.time = kNow - until - (count - i);
    event.source = "n0";
    event.text = "event with a text of ordinary length, number " + std::to_string(i);
    QVERIFY(history.AddEvent(event));
  }
}

void AddTransactions(History& history, int count, double until) {
  for (int i = 1; i <= count; ++i) {
    HistoryEntry entry;
    entry.id = i;
    entry.job = "j";
    entry.started = kNow - until - (count - i);
    entry.phases = {{"pausing", 0.1}, {"transferring", 0.2}};
    for (int g = 0; g < 8; ++g) entry.flows.push_back({{0, g}, {1, g}, 1000, 1000, 1e6});
    QVERIFY(history.PutTransaction(entry));
  }
}

/// Calls Retain until there is nothing more to do.
/// \return the longest call in milliseconds
double RetainAll(History& history, const Retention& retention) {
  double longest = 0;
  for (int calls = 0; calls < 10000; ++calls) {
    QElapsedTimer timer;
    timer.start();
    const auto more = history.Retain(retention, kNow);
    longest = std::max(longest, static_cast<double>(timer.nsecsElapsed()) * 1e-6);
    if (!more) qFatal("%s", more.error().ToString().c_str());
    if (!*more) return longest;
  }
  qFatal("retention does not end");
}

}  // namespace

class HistoryRetentionTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_folder = test::TemporaryFolder();
    QVERIFY(m_folder->isValid());
    m_path = m_folder->filePath("history.db").toStdString();
    auto history = History::Open(m_path);
    VERIFY_OK(history);
    m_history = std::move(*history);
  }

  void whatIsYoungAndSmallStays() {
    QVERIFY(m_history->AddSamples(Seconds("j", 1000, 0)));
    AddEvents(*m_history, 100, 0);
    AddTransactions(*m_history, 10, 0);
    RetainAll(*m_history, {});
    QCOMPARE(std::ssize(*m_history->Samples("j", 0, 0)), 1000);
    QCOMPARE(std::ssize(*m_history->Events(0, 0)), 100);
    QCOMPARE(std::ssize(*m_history->Transactions("", 0)), 10);
  }

  void whatIsTooOldGoes() {
    QVERIFY(m_history->AddSamples(Seconds("j", 1000, 100 * kDay)));
    QVERIFY(m_history->AddSamples(Seconds("k", 1000, 0)));
    AddEvents(*m_history, 100, 100 * kDay);
    AddEvents(*m_history, 7, 0);
    AddTransactions(*m_history, 10, 100 * kDay);
    RetainAll(*m_history, {});
    QVERIFY(m_history->Samples("j", 0, 0)->empty());
    QCOMPARE(std::ssize(*m_history->Samples("k", 0, 0)), 1000);
    QCOMPARE(std::ssize(*m_history->Events(0, 0)), 7);
    QCOMPARE(m_history->Events(0, 0)->front().sequence, 101);
    // The newest transaction stays whatever its age.
    QCOMPARE(std::ssize(*m_history->Transactions("", 0)), 1);
    QCOMPARE(m_history->Transactions("", 0)->front().id, 10);
  }

  // Too many bytes: old samples are thinned, and a spike of a minute is still there.
  void samplesAreThinnedFirst() {
    auto samples = Seconds("j", 60000, 2 * 3600);
    samples[30000].loss = 77;
    samples[40000].loss = std::nan("");
    samples[50000].loss = 0.5;
    QVERIFY(m_history->AddSamples(samples));
    QVERIFY(m_history->AddSamples(Seconds("recent", 3000, 0)));
    AddEvents(*m_history, 2000, 0);
    AddTransactions(*m_history, 200, 0);
    const auto before = m_history->SizeBytes();
    VERIFY_OK(before);
    RetainAll(*m_history, {*before / 2, 90 * kDay});
    QVERIFY(*m_history->SizeBytes() <= *before / 2);
    const auto left = m_history->Samples("j", 0, 0);
    VERIFY_OK(left);
    QVERIFY(std::ssize(*left) >= 1000 && std::ssize(*left) < 40000);
    std::set<double> minutes;
    for (const Sample& sample : *left) minutes.insert(std::floor(sample.time / 60));
    QVERIFY2(minutes.size() >= 1000, std::to_string(minutes.size()).c_str());
    for (const std::int64_t step : {30001, 40001, 50001}) {
      QCOMPARE(std::ranges::count(*left, step, &Sample::step), 1);
    }
    QCOMPARE(std::ssize(*m_history->Samples("recent", 0, 0)), 3000);
    QCOMPARE(std::ssize(*m_history->Events(0, 0)), 2000);
    QCOMPARE(std::ssize(*m_history->Transactions("", 0)), 200);
  }

  void theFileShrinks() {
    QVERIFY(m_history->AddSamples(Seconds("j", 60000, 2 * 3600)));
    AddTransactions(*m_history, 100, 0);
    m_history.reset();
    const auto before = QFileInfo(QString::fromStdString(m_path)).size();
    auto history = History::Open(m_path);
    VERIFY_OK(history);
    m_history = std::move(*history);
    const double longest = RetainAll(*m_history, {1 << 20, 90 * kDay});
    QVERIFY(*m_history->SizeBytes() <= 1 << 20);
    m_history.reset();
    const auto after = QFileInfo(QString::fromStdString(m_path)).size();
    qInfo("file %lld -> %lld KiB, longest call %.1f ms", static_cast<long long>(before >> 10),
          static_cast<long long>(after >> 10), longest);
    QVERIFY(after <= (1 << 20) + (1 << 16));
    QVERIFY(before > 4 * after);
    QVERIFY2(longest < 500, std::to_string(longest).c_str());  // 50 promised; machines are loaded
  }

  void lastComesWhatIsPrecious() {
    QVERIFY(m_history->AddSamples(Seconds("j", 20000, 2 * 3600)));
    QVERIFY(m_history->AddSamples(Seconds("recent", 500, 0)));
    AddEvents(*m_history, 3000, 0);
    AddTransactions(*m_history, 300, 0);
    // Room for the protected rows and a little more.
    RetainAll(*m_history, {600 << 10, 90 * kDay});
    QVERIFY(*m_history->SizeBytes() <= 600 << 10);
    QVERIFY(std::ssize(*m_history->Transactions("", 0)) >= 100);
    QVERIFY(std::ssize(*m_history->Events(0, 0)) >= 1000);
    // No room at all: one transaction stays as the record of the cluster's state.
    RetainAll(*m_history, {1, 90 * kDay});
    QVERIFY(m_history->Samples("recent", 0, 0)->empty());
    QVERIFY(m_history->Events(0, 0)->empty());
    QCOMPARE(std::ssize(*m_history->Transactions("", 0)), 1);
    QCOMPARE(m_history->Transactions("", 0)->front().id, 300);
    // Sequence numbers continue.
    Event event;
    QVERIFY(m_history->AddEvent(event));
    QCOMPARE(event.sequence, 3001);
  }

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  std::string m_path;
  std::unique_ptr<History> m_history;
};

TESSERA_TEST_APPLESS(HistoryRetentionTest)
#include "history_retention_test.moc"
