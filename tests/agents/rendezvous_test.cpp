// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/rendezvous.h"

#include <QTest>

#include "agents/wire/tessera/wire/node.pb.h"
#include "tests/support/test_main.h"

using namespace tessera;
using agents::Rendezvous;

namespace {

wire::StoreSet Value(std::int64_t attempt, const char* key, const char* value) {
  wire::StoreSet m;
  m.set_job("nano");
  m.set_epoch(1);
  m.set_attempt(attempt);
  m.set_key(key);
  m.set_value(value);
  return m;
}
wire::StoreGet Question(std::int64_t attempt, const char* key, std::uint64_t ticket) {
  wire::StoreGet m;
  m.set_job("nano");
  m.set_epoch(1);
  m.set_attempt(attempt);
  m.set_key(key);
  m.set_ticket(ticket);
  return m;
}

}  // namespace

class RendezvousTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { m_sent.clear(); }

  void aValueAnswersThoseWhoWaitAndThoseWhoComeLater() {
    Rendezvous rendezvous = make();
    rendezvous.Get(1, Question(0, "world", 7));
    rendezvous.Get(1, Question(0, "world", 7));  // a repeated request
    rendezvous.Get(2, Question(0, "world", 8));
    QVERIFY(m_sent.isEmpty());
    rendezvous.Set(Value(0, "world", "here"));
    QCOMPARE(m_sent, (QStringList{"n1 7 here", "n2 8 here"}));
    rendezvous.Get(3, Question(0, "world", 9));
    QCOMPARE(m_sent.last(), "n3 9 here");
  }

  void attemptsAreApart() {
    Rendezvous rendezvous = make();
    rendezvous.Set(Value(1, "world", "old"));
    rendezvous.Get(1, Question(2, "world", 7));
    QVERIFY(m_sent.isEmpty());
    rendezvous.Forget("nano", 1, 1);
    QCOMPARE(rendezvous.num_attempts(), 1U);
    rendezvous.Forget("nano");
    QCOMPARE(rendezvous.num_attempts(), 0U);
  }

  // Messages about attempts that are over may arrive for ever.
  void oldAttemptsAreDropped() {
    Rendezvous rendezvous = make();
    for (std::int64_t attempt = 1; attempt <= 100; ++attempt) {
      rendezvous.Set(Value(attempt, "world", "here"));
    }
    QCOMPARE(rendezvous.num_attempts(), std::size_t{Rendezvous::kMostAttempts});
    rendezvous.Get(1, Question(100, "world", 7));
    QCOMPARE(m_sent, (QStringList{"n1 7 here"}));
  }

 private:
  Rendezvous make() {
    return Rendezvous([this](std::int32_t node, const wire::ToNode& message) {
      m_sent << QStringLiteral("n%1 %2 %3")
                    .arg(node)
                    .arg(message.store_value().ticket())
                    .arg(QString::fromStdString(message.store_value().value()));
    });
  }
  QStringList m_sent;
};

TESSERA_TEST_APPLESS(RendezvousTest)
#include "rendezvous_test.moc"
