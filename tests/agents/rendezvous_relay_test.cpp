// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rendezvous_relay.h"

#include <QTest>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

wire::StoreSet SetOf(const std::string& job, const std::string& key, const std::string& value) {
  wire::StoreSet set;
  set.set_job(job);
  set.set_epoch(3);
  set.set_attempt(7);
  set.set_key(key);
  set.set_value(value);
  return set;
}

wire::StoreGet GetOf(const std::string& job, const std::string& key) {
  wire::StoreGet get;
  get.set_job(job);
  get.set_epoch(3);
  get.set_attempt(7);
  get.set_key(key);
  return get;
}

wire::StoreValue ValueFor(std::uint64_t ticket, const std::string& value) {
  wire::StoreValue out;
  out.set_ticket(ticket);
  out.set_present(true);
  out.set_value(value);
  return out;
}

}  // namespace

class RendezvousRelayTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_sent.clear();
    m_got.clear();
  }

  void anAnswerReachesWhoAsked() {
    RendezvousRelay relay = make();
    relay.Get(GetOf("nano", "a"), reply());
    relay.Get(GetOf("nano", "b"), reply());
    QCOMPARE(m_sent.size(), std::size_t{2});
    const auto second = m_sent[1].store_get().ticket();
    QVERIFY(m_sent[0].store_get().ticket() != second);
    relay.OnValue(ValueFor(second, "of b"));
    relay.OnValue(ValueFor(second, "again"));  // a repeated request is answered twice
    relay.OnValue(ValueFor(second + 1, "to nobody"));
    QCOMPARE(m_got, (std::vector<std::optional<std::string>>{"of b"}));
  }

  void whatTheRegistrarMayNotHaveHeardIsSaidAgain() {
    RendezvousRelay relay = make();
    relay.Set(SetOf("nano", "a", "old"));
    relay.Set(SetOf("nano", "a", "new"));
    relay.Get(GetOf("nano", "b"), reply());
    relay.Get(GetOf("nano", "c"), reply());
    relay.OnValue(ValueFor(m_sent[2].store_get().ticket(), "of b"));
    m_sent.clear();
    relay.Repeat();
    QCOMPARE(m_sent.size(), std::size_t{2});
    QCOMPARE(m_sent[0].store_set().value(), std::string("new"));
    QCOMPARE(m_sent[0].store_set().attempt(), 7);
    QCOMPARE(m_sent[1].store_get().key(), std::string("c"));
    relay.OnValue(ValueFor(m_sent[1].store_get().ticket(), "of c"));
    QCOMPARE(m_got, (std::vector<std::optional<std::string>>{"of b", "of c"}));
  }

  void aJobThatIsForgottenIsNotRepeated() {
    RendezvousRelay relay = make();
    relay.Set(SetOf("nano", "a", "1"));
    relay.Set(SetOf("mini", "a", "2"));
    relay.Get(GetOf("nano", "b"), reply());
    relay.Forget("nano");
    QCOMPARE(m_got, (std::vector<std::optional<std::string>>{std::nullopt}));
    m_sent.clear();
    relay.Repeat();
    QCOMPARE(m_sent.size(), std::size_t{1});
    QCOMPARE(m_sent[0].store_set().job(), std::string("mini"));
  }

  void aLaterAttemptIsNotForgotten() {
    RendezvousRelay relay = make();
    relay.Get(GetOf("nano", "a"), reply());
    wire::StoreGet later = GetOf("nano", "b");
    later.set_attempt(8);
    relay.Get(later, reply());
    relay.Forget("nano", 7);
    QCOMPARE(m_got, (std::vector<std::optional<std::string>>{std::nullopt}));
    m_sent.clear();
    relay.Repeat();
    QCOMPARE(m_sent.size(), std::size_t{1});
    QCOMPARE(m_sent[0].store_get().attempt(), 8);
  }

 private:
  RendezvousRelay make() {
    return RendezvousRelay(
        [this](wire::FromNode message) { m_sent.push_back(std::move(message)); });
  }
  RendezvousRelay::Reply reply() {
    return [this](std::optional<std::string> value) { m_got.push_back(std::move(value)); };
  }

  std::vector<wire::FromNode> m_sent;
  std::vector<std::optional<std::string>> m_got;
};

TESSERA_TEST(RendezvousRelayTest)
#include "rendezvous_relay_test.moc"
