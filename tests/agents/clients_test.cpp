// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/clients.h"

#include <QTest>
#include <utility>
#include <vector>

#include "agents/sim/memory_store.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

/// The clients of a registrar, and the replies that they got.
struct Office {
  std::vector<std::pair<std::string, wire::Reply>> replies;
  sim::MemoryStore journal;
  test::PartOffice around{journal, [this](const std::string& identity, const wire::Reply& reply) {
                            replies.emplace_back(identity, reply);
                          }};
  Clients clients{around.common()};
};

wire::Request RequestOf(const std::string& id, std::uint64_t sequence) {
  wire::Request request;
  request.set_id(id);
  request.set_sequence(sequence);
  return request;
}

}  // namespace

class ClientsTest : public QObject {
  Q_OBJECT

 private slots:
  // A client that reconnects while a plan is made sends its request again.
  void anActThatIsNotAnsweredYetIsDoneOnce_data() {
    QTest::addColumn<int>("field");
    QTest::newRow("apply") << int{wire::Request::kApply};
    QTest::newRow("hand-in") << int{wire::Request::kHandIn};
    QTest::newRow("start of a job") << int{wire::Request::kStartJob};
    QTest::newRow("decision") << int{wire::Request::kDecision};
  }
  void anActThatIsNotAnsweredYetIsDoneOnce() {
    QFETCH(int, field);
    const auto act = [&](std::uint64_t sequence) {
      wire::Request request = RequestOf("act", sequence);
      const auto* of_field = wire::Request::descriptor()->FindFieldByNumber(field);
      request.GetReflection()->MutableMessage(&request, of_field);
      return request;
    };
    Office office;
    const ReplyPtr reply = office.clients.Admit("old", act(1));
    QVERIFY(reply);
    QVERIFY(!office.clients.Admit("new", act(2)));
    QVERIFY(office.replies.empty());
    wire::Reply done;
    done.mutable_apply()->set_transaction(7);
    reply->Done(done);
    QCOMPARE(office.replies.size(), std::size_t{2});
    // Again, after the answer.
    QVERIFY(!office.clients.Admit("newest", act(3)));
    QCOMPARE(office.replies.size(), std::size_t{3});
    const std::vector<std::string> identities = {"old", "new", "newest"};
    for (std::size_t i = 0; i < identities.size(); ++i) {
      QCOMPARE(office.replies[i].first, identities[i]);
      QCOMPARE(office.replies[i].second.sequence(), std::uint64_t{i + 1});
      QCOMPARE(office.replies[i].second.apply().transaction(), std::int64_t{7});
    }
  }

  void aQuestionIsAnsweredEachTime() {
    Office office;
    wire::Request status = RequestOf("question", 1);
    status.mutable_status();
    const ReplyPtr first = office.clients.Admit("old", status);
    const ReplyPtr second = office.clients.Admit("new", status);
    QVERIFY(first && second && first != second);
  }
};

TESSERA_TEST_APPLESS(ClientsTest)
#include "clients_test.moc"
