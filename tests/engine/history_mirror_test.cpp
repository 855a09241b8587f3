// SPDX-License-Identifier: Apache-2.0
// A mirror follows a history in parts, without holes, despite kills of either side.
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <string>

#include "engine/history/history.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine;

namespace {

void AddSome(History& history, int round, double time) {
  Event event;
  event.time = time;
  event.text = "round " + std::to_string(round);
  if (round % 2 == 1) event.note = NodeNote{round, NodeState::kSuspect, {0, 3}};
  QVERIFY(history.AddEvent(event));
  std::vector<Sample> samples;
  for (int i = 1; i <= 5; ++i) {
    samples.push_back({"j", round * 5 + i, 3, 1, 1e5, time});
    if (i % 2 == 0) samples.back().metrics = {{"accuracy", i}, {"lr", round}};
  }
  QVERIFY(history.AddSamples(samples));
  HistoryEntry entry;
  entry.id = 1 + round / 2;
  entry.job = "j";
  entry.result = round % 2 == 0 ? "" : "committed";
  entry.flows = {{{0, 0}, {1, 0}, round, 100, 5}};
  QVERIFY(history.PutTransaction(entry));
}

/// One request of the mirror and its reply.
/// \return whether there is more
Result<bool> Follow(History& mirror, History& source, std::int64_t limit, double now) {
  TESSERA_TRY(const auto cursor, mirror.Cursor());
  TESSERA_TRY(const auto changes, source.ChangesSince(cursor, limit));
  TESSERA_RETURN_IF_ERROR(mirror.ApplyChanges("lab", cursor, changes, now));
  return changes.more;
}

void VerifyEqual(History& mirror, History& source) {
  QVERIFY(*mirror.Events(0, 0) == *source.Events(0, 0));
  QVERIFY(*mirror.Samples("j", 0, 0) == *source.Samples("j", 0, 0));
  QVERIFY(*mirror.SamplesBetween("j", {}, 0) == *source.SamplesBetween("j", {}, 0));
  QVERIFY(*mirror.Transactions("", 0) == *source.Transactions("", 0));
}

}  // namespace

class HistoryMirrorTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_folder = test::TemporaryFolder();
    QVERIFY(m_folder->isValid());
    m_source = Open("source.db");
    m_mirror = Open("mirror.db");
    QVERIFY(m_source && m_mirror);
  }

  void followsInPieces() {
    std::mt19937_64 rng(test::Seed());
    double now = 1000;
    for (int round = 0; round < 60; ++round, ++now) {
      AddSome(*m_source, round, now);
      if (rng() % 3 == 0) continue;
      if (rng() % 8 == 0) m_mirror = nullptr, m_mirror = Open("mirror.db");
      const auto followed = Follow(*m_mirror, *m_source, 1 + static_cast<int>(rng() % 7), now);
      VERIFY_OK(followed);
    }
    for (;;) {
      const auto more = Follow(*m_mirror, *m_source, 10, now);
      VERIFY_OK(more);
      if (!*more) break;
    }
    VerifyEqual(*m_mirror, *m_source);
    QCOMPARE(*m_mirror->MirrorOf(), std::optional<std::string>("lab"));
    QCOMPARE(*m_source->MirrorOf(), std::optional<std::string>());
    QVERIFY((*m_mirror->Covered() == std::vector<TimeSpan>{{1000, now}}));
    QVERIFY(m_mirror->Gaps()->empty());
  }

  void followsAJobThatGoesBack() {
    for (int round = 0; round < 6; ++round) AddSome(*m_source, round, 1000 + round);
    QVERIFY(Follow(*m_mirror, *m_source, 100, 1010));
    AddSome(*m_source, 2, 1020);  // steps 11… again
    QVERIFY(Follow(*m_mirror, *m_source, 100, 1021));
    VerifyEqual(*m_mirror, *m_source);
    QCOMPARE(m_mirror->Samples("j", 0, 0)->back().step, 15);
    // The newest step again: another row replaces it.
    const Sample again{"j", 15, 9, 9, 9, 1022};
    QVERIFY(m_source->AddSamples(std::span(&again, 1)));
    QVERIFY(Follow(*m_mirror, *m_source, 100, 1023));
    VerifyEqual(*m_mirror, *m_source);
  }

  void anAnswerThatCameTwiceCountsOnce() {
    AddSome(*m_source, 0, 1000);
    const auto changes = m_source->ChangesSince({}, 100);
    VERIFY_OK(changes);
    QVERIFY(m_mirror->ApplyChanges("lab", {}, *changes, 1001));
    QVERIFY(m_mirror->ApplyChanges("lab", {}, *changes, 1002));
    VerifyEqual(*m_mirror, *m_source);
    QCOMPARE(m_mirror->Covered()->front().to, 1001.0);
  }

  void whatTheClusterLetGoIsAGap() {
    AddSome(*m_source, 0, 1000);
    QVERIFY(Follow(*m_mirror, *m_source, 100, 1001));
    for (int round = 1; round < 20; ++round) AddSome(*m_source, round, 2000 + round);
    for (Result<bool> more = true; *more;) {
      more = m_source->Retain({1LL << 40, 1000}, 3015);  // rounds 1…14 are too old by then
      VERIFY_OK(more);
    }
    QVERIFY(Follow(*m_mirror, *m_source, 1000, 3016));
    QVERIFY((*m_mirror->Covered() == std::vector<TimeSpan>{{1000, 1001}, {2015, 3016}}));
    QVERIFY((*m_mirror->Gaps() == std::vector<TimeSpan>{{1001, 2015}}));
    // The mirror keeps the rows that it has.
    QCOMPARE(m_mirror->Events(0, 0)->front().text, std::string("round 0"));
  }

  void anotherHistoryIsNotMixedIn() {
    AddSome(*m_source, 0, 1000);
    QVERIFY(Follow(*m_mirror, *m_source, 100, 1001));
    auto other = Open("other.db");
    QVERIFY(other);
    AddSome(*other, 5, 2000);
    VERIFY_ERROR(Follow(*m_mirror, *other, 100, 2001), ErrorCode::kFailedPrecondition,
                 "a mirror of history");
    VerifyEqual(*m_mirror, *m_source);
  }

 private:
  std::unique_ptr<History> Open(const char* name) {
    auto history = History::Open(m_folder->filePath(QString::fromLatin1(name)).toStdString());
    return history ? std::move(*history) : nullptr;
  }
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<History> m_source, m_mirror;
};

TESSERA_TEST_APPLESS(HistoryMirrorTest)
#include "history_mirror_test.moc"
